// Package stats counts what became of a company's recipients, for the overview and for the results of campaigns: how many of
// those that were accepted in an hour were sent, delivered, read, and how late, by campaign, type, template, sender and channel.
//
// Nothing is counted where requests are accepted or messages delivered. Whoever changes a message names the notification's
// block (Touch), which is kept in memory; a block is a second of notification numbers. Every other second the blocks that
// were named are counted again from the messages themselves, and what differs from their last count (table stat_block) is added
// to the hours:
//
//	change ─▶ Touch ─▶ Step: count the block, minus its last count ─▶ stat, stat_campaign
//	purge  ─▶ Forget: takes what is deleted off the block's last count, so that the hours keep it
//
// A node that ends without a last Step leaves its row in stat_node, and everything is counted again (Sweep); so the counts are
// exact in the end whatever happened. AsOf is until when all changes have been counted.
package stats

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/store/db"
)

// Store counts and reads counts. Its methods are safe for concurrent use, but for Step, Sweep and Leave, which one goroutine of
// the process calls.
type Store struct {
	d       *db.DB
	writes  *db.Kind[db.Func]
	id      string // of this process, among the nodes
	touched touched
	entered bool      // its row in stat_node is there
	noted   time.Time // the row's time
	pass    pass
	sweep   sweep
}

// New returns the counts of a database. place is that of their writes in the order of locks.
func New(d *db.DB, place db.Place, now time.Time) *Store {
	return &Store{d: d, writes: db.Funcs("stats", place), id: carillon.NewID(now)}
}

// Bounds are the upper ends of the classes of lateness; the last class has none.
//
//nolint:gochecknoglobals // a constant table
var Bounds = [lates - 1]time.Duration{
	50 * time.Millisecond, 250 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second, 15 * time.Second, time.Minute,
	5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour,
}

// lates is how many classes of lateness there are.
const lates = 12

// Counts are of recipients. Sent, Delivered and Read include those that came further; a failed one may have been sent. Each is in
// Accepted. A call counts as sent when it was dialed and as delivered when it was answered.
type Counts struct {
	Accepted, Waiting, Sent, Delivered, Read, Failed, Skipped, Canceled int64
	LateMillis                                                          int64 // sum of all sent messages' lateness: from due to sent
	Late                                                                [lates]int64
}

// fields are the counts in the order of the columns.
func (c *Counts) fields() []*int64 {
	all := []*int64{&c.Accepted, &c.Waiting, &c.Sent, &c.Delivered, &c.Read, &c.Failed, &c.Skipped, &c.Canceled, &c.LateMillis}
	for i := range c.Late {
		all = append(all, &c.Late[i])
	}
	return all
}

// campaignFields is how many of the fields the table of campaigns has.
const campaignFields = 8

// names are the columns in the order of fields.
//
//nolint:gochecknoglobals // a constant table
var names = func() []string {
	all := []string{"accepted", "waiting", "sent", "delivered", "read", "failed", "skipped", "canceled", "late_ms"}
	for i := range lates {
		all = append(all, "late_"+strconv.Itoa(i))
	}
	return all
}()

// each joins the columns, as made from each name.
func each(columns []string, made func(name string) string) string {
	all := make([]string, len(columns))
	for i, name := range columns {
		all[i] = made(name)
	}
	return strings.Join(all, ", ")
}

// Add adds counts, sign times.
func (c *Counts) Add(other Counts, sign int64) {
	c.Accepted += sign * other.Accepted
	c.Waiting += sign * other.Waiting
	c.Sent += sign * other.Sent
	c.Delivered += sign * other.Delivered
	c.Read += sign * other.Read
	c.Failed += sign * other.Failed
	c.Skipped += sign * other.Skipped
	c.Canceled += sign * other.Canceled
	c.LateMillis += sign * other.LateMillis
	for i := range c.Late {
		c.Late[i] += sign * other.Late[i]
	}
}

// zero reports whether nothing is counted.
func (c *Counts) zero() bool {
	return !slices.ContainsFunc(c.fields(), func(n *int64) bool { return *n != 0 })
}

// late adds a message that was sent so late.
func (c *Counts) late(by time.Duration) {
	by = max(by, 0) // by the provider's clock
	c.LateMillis += by.Milliseconds()
	i := 0
	for i < len(Bounds) && by > Bounds[i] {
		i++
	}
	c.Late[i]++
}

// Timed is how many messages have a lateness.
func (c *Counts) Timed() (n int64) {
	for _, in := range c.Late {
		n += in
	}
	return n
}

// Lateness estimates the lateness that a share of the messages, as 0.95, does not exceed: within its class it is taken to be spread evenly.
// Of the class without an end the beginning is returned.
func (c *Counts) Lateness(share float64) time.Duration {
	left := share * float64(c.Timed())
	var from time.Duration
	for i, bound := range Bounds {
		if n := float64(c.Late[i]); n > 0 && left <= n {
			return from + time.Duration(left/n*float64(bound-from))
		}
		left -= float64(c.Late[i])
		from = bound
	}
	return from
}

// digest stands for a campaign's name: an index has no room for long ones.
func digest(campaign string) string {
	sum := sha256.Sum256([]byte(campaign))
	return hex.EncodeToString(sum[:16])
}

// commit runs a write: on SQLite with the background writes of others, on PostgreSQL in a transaction of its own.
func (s *Store) commit(ctx context.Context, fn db.Func) error {
	if s.d.SQLite() {
		return s.writes.Commit(ctx, s.d, fn)
	}
	return s.d.Update(ctx, fn)
}
