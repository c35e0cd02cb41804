// Package stats counts the states of a company's recipients for the overview and the results of campaigns: how many of those
// accepted in an hour were sent, delivered, read, and how late, by campaign, type, template, sender and channel.
//
// Nothing is counted during acceptance and delivery. A change of a message marks the notification's block (Touch) in memory;
// a block is a second of notification numbers. Every other second the marked blocks are counted again from the messages, and
// the difference from their last count (table stat_block) is added to the hours:
//
//	change ─▶ Touch ─▶ Step: count the block, minus its last count ─▶ stat, stat_campaign
//	purge  ─▶ Forget: subtract deleted rows from the block's last count, so that the hours keep them
//
// A node that ends without a last Step leaves its row in stat_node, and everything is counted again (Sweep); so the counts
// are exact in the end. AsOf is the time up to which all changes are counted.
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

// Store counts and reads counts. Its methods are safe for concurrent use, except Step, Sweep and Leave, which are
// called by one goroutine of the process.
type Store struct {
	d       *db.DB
	writes  *db.Kind[db.Func]
	id      string // id of this process among the nodes
	touched touched
	entered bool      // its row in stat_node exists
	noted   time.Time // the row's time
	pass    pass
	sweep   sweep
}

// New returns the counts of a database. place is the place of their writes in the lock order.
func New(d *db.DB, place db.Place, now time.Time) *Store {
	return &Store{d: d, writes: db.Funcs("stats", place), id: carillon.NewID(now)}
}

// Bounds are the upper bounds of the lateness classes; the last class has none.
//
//nolint:gochecknoglobals // a constant table
var Bounds = [lates - 1]time.Duration{
	50 * time.Millisecond, 250 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second, 15 * time.Second, time.Minute,
	5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour,
}

// lates is the number of lateness classes.
const lates = 12

// Counts are numbers of recipients. Sent, Delivered and Read include recipients in later states; a failed one may have
// been sent. Each is in Accepted. A call counts as sent when dialed and as delivered when answered.
type Counts struct {
	Accepted, Waiting, Sent, Delivered, Read, Failed, Skipped, Canceled int64
	Answered                                                            int64 // calls counted in Delivered, which cannot be read
	Replied                                                             int64 // recipients who wrote back within a week
	Clicked                                                             int64 // recipients who followed a counted link
	LateMillis                                                          int64 // total lateness of sent messages: from due to sent
	Late                                                                [lates]int64
}

// fields returns the counts in the order of the columns of stat. Answered follows from a row's channel; Replied and
// Clicked are not counted by block (Store.Replied, Store.Clicked).
func (c *Counts) fields() []*int64 {
	all := []*int64{&c.Accepted, &c.Waiting, &c.Sent, &c.Delivered, &c.Read, &c.Failed, &c.Skipped, &c.Canceled, &c.LateMillis}
	for i := range c.Late {
		all = append(all, &c.Late[i])
	}
	return all
}

// campaignFields is the number of fields in the table of campaigns, which has the calls answered as well.
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

// campaignNames are the counts in the table of campaigns.
//
//nolint:gochecknoglobals // a constant table
var campaignNames = append(slices.Clone(names[:campaignFields]), "answered")

// answeredOn returns the counts of recipients of a channel, with the calls answered.
func (c Counts) answeredOn(ch carillon.Channel) Counts {
	c.Answered = 0
	if ch == carillon.Voice {
		c.Answered = c.Delivered
	}
	return c
}

// each joins the columns, as generated from their names.
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
	c.Answered += sign * other.Answered
	c.Replied += sign * other.Replied
	c.Clicked += sign * other.Clicked
	c.LateMillis += sign * other.LateMillis
	for i := range c.Late {
		c.Late[i] += sign * other.Late[i]
	}
}

// zero reports whether all counts are zero.
func (c *Counts) zero() bool {
	return !slices.ContainsFunc(c.fields(), func(n *int64) bool { return *n != 0 })
}

// late adds a message with the given lateness.
func (c *Counts) late(by time.Duration) {
	by = max(by, 0) // by the provider's clock
	c.LateMillis += by.Milliseconds()
	i := 0
	for i < len(Bounds) && by > Bounds[i] {
		i++
	}
	c.Late[i]++
}

// Timed returns the number of messages with a lateness.
func (c *Counts) Timed() (n int64) {
	for _, in := range c.Late {
		n += in
	}
	return n
}

// Lateness estimates the lateness that a share of the messages, such as 0.95, does not exceed, assuming an even
// distribution within its class. For the unbounded class its lower bound is returned.
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

// digest is the key of a campaign's name: an index has no room for long ones.
func digest(campaign string) string {
	sum := sha256.Sum256([]byte(campaign))
	return hex.EncodeToString(sum[:16])
}

// commit runs a write: on SQLite with other background writes, on PostgreSQL in its own transaction.
func (s *Store) commit(ctx context.Context, fn db.Func) error {
	if s.d.SQLite() {
		return s.writes.Commit(ctx, s.d, fn)
	}
	return s.d.Update(ctx, fn)
}
