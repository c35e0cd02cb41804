package stats

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/store/db"
)

const (
	stepBlocks = 64   // maximum of blocks counted in a step
	stepRows   = 2000 // number of rows after which a step counts no further block: on SQLite it must not delay checkpoints
)

// Step counts some of the changed blocks and reports whether others wait.
func (s *Store) Step(ctx context.Context, now time.Time) (more bool, err error) {
	if err := s.enter(ctx, now); err != nil {
		return false, err
	}
	if importing, err := db.Importing(ctx, s.d, now); importing || err != nil {
		return false, err
	}
	if len(s.pass.blocks) == 0 {
		blocks, left, lost := s.touched.take(now)
		if lost { // its row stays like that of a dead node, and everything is counted again
			s.id, s.entered = carillon.NewID(now), false
			return false, s.enter(ctx, now)
		}
		slices.Sort(blocks)
		s.pass = pass{blocks, now, !left}
		if len(blocks) == 0 && now.Sub(s.noted) < noteEvery {
			return false, nil
		}
	}
	if len(s.pass.blocks) > 0 {
		done, err := s.count(ctx, s.pass.blocks[:min(len(s.pass.blocks), stepBlocks)])
		if err != nil {
			s.touched.back(s.pass.blocks)
			s.pass = pass{}
			return false, err
		}
		s.pass.blocks = s.pass.blocks[done:]
	}
	if len(s.pass.blocks) > 0 || !s.pass.whole {
		return len(s.pass.blocks) > 0, nil
	}
	return false, s.note(ctx, s.pass.since)
}

// count counts blocks and returns their number, at least one. Counts of the same block must not overlap: one process
// runs them one after the other, and on PostgreSQL nodes lock each other out.
func (s *Store) count(ctx context.Context, blocks []Block) (done int, err error) {
	if s.d.SQLite() { // reading must not occupy the writer
		t, done, err := read(ctx, s.d, blocks)
		if err != nil {
			return 0, fmt.Errorf("count recipients: %w", err)
		}
		err = s.writes.Commit(ctx, s.d, func(ctx context.Context, tx *db.Tx) error { return replace(ctx, tx, t, blocks[:done]) })
		return done, db.Wrap(err, "write counts")
	}
	done, err = db.Returning(ctx, s.d, func(ctx context.Context, tx *db.Tx) (int, error) {
		if err := Lock(ctx, tx); err != nil {
			return 0, err
		}
		t, done, err := read(ctx, tx, blocks)
		if err != nil {
			return 0, err
		}
		return done, replace(ctx, tx, t, blocks[:done])
	})
	return done, db.Wrap(err, "count recipients")
}

// statsLock is the key of the advisory lock for writing counts.
const statsLock = 0x6361_7273

// Lock keeps the nodes from writing counts until the transaction ends.
func Lock(ctx context.Context, tx *db.Tx) error {
	if tx.SQLite() {
		return nil
	}
	_, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", statsLock)
	return err
}

// read counts the recipients of the first of some sorted blocks.
func read(ctx context.Context, q db.Querier, blocks []Block) (t *tally, done int, err error) {
	t = newTally()
	for done < len(blocks) && (done == 0 || t.rows < stepRows) {
		n := 1
		for done+n < len(blocks) && n < adjacent && blocks[done+n] == blocks[done]+Block(n) {
			n++
		}
		if err := t.read(ctx, q, blocks[done].first(), (blocks[done] + Block(n)).first()); err != nil {
			return nil, 0, err
		}
		done += n
	}
	return t, done, nil
}

// adjacent is the number of consecutive blocks read at a time.
const adjacent = 4

// read reads the notifications in [from, to) and then their recipients.
func (t *tally) read(ctx context.Context, q db.Querier, from, to carillon.Seq) error {
	if err := db.Each(ctx, q, t.notification, "SELECT "+NotificationColumns+" FROM notification WHERE seq >= $1 AND seq < $2",
		int64(from), int64(to)); err != nil {
		return err
	}
	first, end := int64(from.Message(0)), int64(to.Message(0))
	if err := db.Each(ctx, q, t.message, "SELECT "+MessageColumns+" FROM message WHERE id >= $1 AND id < $2", first, end); err != nil {
		return err
	}
	return db.Each(ctx, q, t.call, "SELECT "+CallColumns+" FROM call WHERE id >= $1 AND id < $2", first, end)
}

// replace replaces the counts of blocks by those of a tally, and adds the differences to the hours and campaigns.
func replace(ctx context.Context, tx *db.Tx, t *tally, blocks []Block) error {
	before, err := documents(ctx, tx, blocks)
	if err != nil {
		return err
	}
	change, called := map[key]*counted{}, calls{}
	for _, b := range blocks {
		addAll(change, t.blocks[b], 1)
		addAll(change, before.blocks[b], -1)
		called.add(t.calls[b], 1)
		called.add(before.calls[b], -1)
	}
	if err := store(ctx, tx, blocks, before, t); err != nil {
		return err
	}
	if err := addHours(ctx, tx, change); err != nil {
		return err
	}
	return addCalls(ctx, tx, called)
}

// documents reads the last counts of blocks.
func documents(ctx context.Context, tx *db.Tx, blocks []Block) (*tally, error) {
	all := newTally()
	err := db.Each(ctx, tx, func(scan db.Scan) error {
		var b Block
		var doc, called string
		err := scan(&b, &doc, &called)
		if err == nil {
			all.blocks[b], err = parsed(doc)
		}
		if err == nil {
			all.calls[b], err = parsedCalls(called)
		}
		return err
	}, "SELECT block, doc, calls FROM stat_block WHERE block "+tx.DB().In(1), tx.DB().List(blocks))
	return all, err
}

// store writes the non-zero counts of blocks.
func store(ctx context.Context, tx *db.Tx, blocks []Block, before, after *tally) error {
	rows := db.NewBulk("stat_block", "ON CONFLICT (block) DO UPDATE SET doc = excluded.doc, calls = excluded.calls",
		"block:bigint", "doc:text", "calls:text")
	var empty []Block
	for _, b := range blocks {
		if doc := document(after.blocks[b]); doc != "" {
			rows.Add(int64(b), doc, after.calls[b].document())
		} else if _, there := before.blocks[b]; there {
			empty = append(empty, b)
		}
	}
	if err := rows.Write(ctx, tx); err != nil || len(empty) == 0 {
		return err
	}
	_, err := tx.Exec(ctx, "DELETE FROM stat_block WHERE block "+tx.DB().In(1), tx.DB().List(empty))
	return err
}

// addAll adds counts by key, sign times.
func addAll(to, from map[key]*counted, sign int64) {
	for k, c := range from {
		in := to[k]
		if in == nil {
			in = &counted{}
			to[k] = in
		}
		in.Add(c.Counts, sign)
		in.accepted(c.first, c.at)
	}
}

//nolint:gochecknoglobals // constant texts
var (
	hourColumns = append([]string{
		"company_id:text", "campaign:text", "hour:bigint", "class:bigint", "sender:bigint", "template:text", "language:text",
		"channel:text",
	}, bigints(names)...)
	hourSuffix = "ON CONFLICT (company_id, campaign, hour, class, sender, template, language) DO UPDATE SET " +
		each(names, func(name string) string { return name + " = stat." + name + " + excluded." + name })
	campaignColumns = append([]string{"company_id:text", "campaign:text", "name:text", "first_at:bigint", "at:bigint"},
		bigints(campaignNames)...)
	campaignSuffix = `ON CONFLICT (company_id, campaign) DO UPDATE SET
		first_at = CASE WHEN excluded.at > 0
			AND excluded.first_at < stat_campaign.first_at THEN excluded.first_at ELSE stat_campaign.first_at END,
		at = CASE WHEN excluded.at > stat_campaign.at THEN excluded.at ELSE stat_campaign.at END, ` +
		each(campaignNames, func(name string) string { return name + " = stat_campaign." + name + " + excluded." + name })
)

func bigints(columns []string) []string {
	all := make([]string, len(columns))
	for i, name := range columns {
		all[i] = name + ":bigint"
	}
	return all
}

// hourKey is a row of stat; campaign is the digest, "" for all campaigns.
type hourKey struct {
	company, campaign  string
	hour               int64
	class              carillon.Class
	sender             int64
	template, language string
	channel            carillon.Channel
}

type campaignKey struct{ company, campaign string }

type campaignChange struct {
	counted

	name string
}

// addHours adds counts to the hours and to the campaigns, in key order.
func addHours(ctx context.Context, tx *db.Tx, change map[key]*counted) error {
	hours, campaigns := map[hourKey]*Counts{}, map[campaignKey]*campaignChange{}
	for k, c := range change {
		if c.zero() {
			continue
		}
		of := digest(k.Campaign)
		for _, campaign := range []string{"", of} {
			at := hourKey{k.Company, campaign, k.Hour, k.Class, k.Sender, k.Template, k.Language, k.Channel}
			if hours[at] == nil {
				hours[at] = &Counts{}
			}
			hours[at].Add(c.Counts, 1)
		}
		in := campaigns[campaignKey{k.Company, of}]
		if in == nil {
			in = &campaignChange{name: k.Campaign}
			campaigns[campaignKey{k.Company, of}] = in
		}
		in.Add(c.answeredOn(k.Channel), 1)
		in.accepted(c.first, c.at)
	}
	rows := db.NewBulk("stat", hourSuffix, hourColumns...)
	for _, k := range slices.SortedFunc(maps.Keys(hours), hourKey.compare) {
		rows.Add(append([]any{k.company, k.campaign, k.hour, int64(k.class), k.sender, k.template, k.language, string(k.channel)},
			values(hours[k], len(names))...)...)
	}
	if err := rows.Write(ctx, tx); err != nil {
		return err
	}
	rows = db.NewBulk("stat_campaign", campaignSuffix, campaignColumns...)
	for _, k := range slices.SortedFunc(maps.Keys(campaigns), func(a, b campaignKey) int {
		return cmp.Or(strings.Compare(a.company, b.company), strings.Compare(a.campaign, b.campaign))
	}) {
		c := campaigns[k]
		rows.Add(append([]any{k.company, k.campaign, c.name, c.first, c.at}, append(values(&c.Counts, campaignFields), c.Answered)...)...)
	}
	return rows.Write(ctx, tx)
}

func (k hourKey) compare(other hourKey) int {
	return cmp.Or(strings.Compare(k.company, other.company), strings.Compare(k.campaign, other.campaign), cmp.Compare(k.hour, other.hour),
		cmp.Compare(k.class, other.class), cmp.Compare(k.sender, other.sender), strings.Compare(k.template, other.template),
		strings.Compare(k.language, other.language), strings.Compare(string(k.channel), string(other.channel)))
}

func values(c *Counts, n int) []any {
	all := make([]any, n)
	for i, field := range c.fields()[:n] {
		all[i] = *field
	}
	return all
}

// Gone collects the rows deleted by a purge, so that the hours keep their counts.
type Gone struct{ t *tally }

// NewGone returns an empty collection.
func NewGone() Gone { return Gone{newTally()} }

// Notification reads a deleted row of NotificationColumns, before its recipients; Message one of MessageColumns, Call one of
// CallColumns.
func (g Gone) Notification(scan db.Scan) error { return g.t.notification(scan) }

// Has reports whether a notification was read.
func (g Gone) Has(seq carillon.Seq) bool {
	_, ok := g.t.of[seq]
	return ok
}

// Message reads a deleted row of MessageColumns.
func (g Gone) Message(scan db.Scan) error { return g.t.message(scan) }

// Call reads a deleted row of CallColumns.
func (g Gone) Call(scan db.Scan) error { return g.t.call(scan) }

// TouchGone marks the blocks to be counted again: a count may have read them before the purge and been written after
// it.
func (s *Store) TouchGone(g Gone, err error) {
	if g.t == nil {
		return
	}
	for b := range g.t.blocks {
		s.Touch(b.first(), err)
	}
}

// Forget subtracts the rows deleted in a transaction from the last counts of their blocks. If a block had changed
// since its last count, the next count adds the difference.
func Forget(ctx context.Context, tx *db.Tx, g Gone) error {
	if len(g.t.blocks) == 0 {
		return nil
	}
	if err := Lock(ctx, tx); err != nil {
		return err
	}
	blocks := slices.Sorted(maps.Keys(g.t.blocks))
	before, err := documents(ctx, tx, blocks)
	if err != nil {
		return err
	}
	after := newTally()
	for _, b := range blocks {
		after.blocks[b], after.calls[b] = map[key]*counted{}, calls{}
		addAll(after.blocks[b], before.blocks[b], 1)
		addAll(after.blocks[b], g.t.blocks[b], -1)
		after.calls[b].add(before.calls[b], 1)
		after.calls[b].add(g.t.calls[b], -1)
	}
	return store(ctx, tx, blocks, before, after)
}
