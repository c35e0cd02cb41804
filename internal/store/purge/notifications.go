package purge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"carillon"
	"carillon/internal/store/db"
	"carillon/internal/store/messages"
	"carillon/internal/store/stats"
)

// Expired data is deleted in steps. A step finds the rows on a reader, and on the writer only deletes by key; it
// reports its duration, so that the caller keeps steps short.

// Purged is the result of one step.
type Purged struct {
	Notifications int
	Rows          int           // of all tables
	Took          time.Duration // time on the writer; on PostgreSQL in its transaction
	Next          time.Time     // start of the next step: everything that closed earlier is deleted
	More          bool          // there may be more to delete
	Busy          bool          // another node is purging; nothing was done
	Unsearched    bool          // stopped at a notification that is not in the search table yet
}

// Closed is a company with closed notifications, and the time when the oldest of them closed.
type Closed struct {
	CompanyID string
	Oldest    time.Time
}

// ClosedAfter returns the next company, by id, with closed notifications; its id is "" if there is none.
func (s *Store) ClosedAfter(ctx context.Context, companyID string) (c Closed, err error) {
	var at int64
	err = s.d.Row(ctx, []any{&c.CompanyID, &at}, `SELECT company_id, done_at FROM notification WHERE open = 0 AND company_id > $1
		ORDER BY company_id, done_at LIMIT 1`, companyID)
	c.Oldest = time.UnixMilli(at).UTC()
	return c, db.Wrap(db.Ignore(err), "find closed notifications")
}

// doomed is a notification to be deleted in a step, with its search entries.
type doomed struct {
	seq      carillon.Seq
	campaign string
	doneAt   int64
	messages int
	numbers  []string // of its messages, without duplicates
}

// Purge deletes a company's notifications that closed in [from, before), oldest first, with their messages and search entries,
// about `most` rows. Open notifications are never deleted.
func (s *Store) Purge(ctx context.Context, companyID string, from, before time.Time, most int) (p Purged, err error) {
	all, found, err := s.doomed(ctx, companyID, from, before, most)
	if err != nil {
		return Purged{}, fmt.Errorf("purge: %w", err)
	}
	if len(all) > 0 {
		var counts stats.Gone
		err = s.step(ctx, &p, func(ctx context.Context, tx *db.Tx) error {
			counts = stats.NewGone()
			return deleteAll(ctx, tx, &p, companyID, all, db.Millis(before), counts)
		})
		s.stats.TouchGone(counts, err)
	}
	p.Next, p.More, p.Unsearched = found.Next, found.More, found.Unsearched
	return p, db.Wrap(err, "purge")
}

// doomed finds the rows to be deleted in a step. Notifications that are not in the search table yet are kept, because
// their entries would be added later and stay.
func (s *Store) doomed(ctx context.Context, companyID string, from, before time.Time, most int) (all []doomed, found Purged, err error) {
	horizon, err := messages.Horizon(ctx, s.d)
	if err != nil {
		return nil, found, err
	}
	limit := max(most/fewestRows, 1)
	page, err := s.closedPage(ctx, companyID, from, before, limit)
	if err != nil {
		return nil, found, err
	}
	found.Next, found.More = from, len(page) == limit
	rows := 0
	for i := range page {
		d := &page[i]
		if d.seq > horizon {
			found.More, found.Unsearched = false, true
			break
		}
		if rows += 2 + 2*d.messages; rows > most && i > 0 {
			found.More = true
			break
		}
		all, found.Next = append(all, *d), time.UnixMilli(d.doneAt)
	}
	return all, found, s.recipients(ctx, all)
}

// fewestRows is the number of rows of a notification with one message: itself, the message, two search entries.
const fewestRows = 4

func (s *Store) closedPage(ctx context.Context, companyID string, from, before time.Time, limit int) ([]doomed, error) {
	return db.Collect(ctx, s.d, "closed notifications", func(scan db.Scan) (d doomed, err error) {
		err = scan(&d.seq, &d.campaign, &d.doneAt, &d.messages)
		return d, err
	}, `SELECT seq, campaign, done_at, total FROM notification
		WHERE open = 0 AND company_id = $1 AND done_at >= $2 AND done_at < $3 ORDER BY done_at LIMIT $4`,
		companyID, max(from.UnixMilli(), 1), before.UnixMilli(), limit)
}

// recipients reads the numbers of the notifications' messages and calls.
func (s *Store) recipients(ctx context.Context, all []doomed) error {
	bySeq := make(map[carillon.Seq]*doomed, len(all))
	var keys []int64
	for i := range all {
		bySeq[all[i].seq] = &all[i]
		keys = all[i].addKeys(keys)
	}
	if err := db.Each(ctx, s.d, func(scan db.Scan) error {
		var key carillon.MessageKey
		var number string
		if err := scan(&key, &number); err != nil {
			return err
		}
		d := bySeq[key.Seq()]
		d.numbers = append(d.numbers, number)
		return nil
	}, "SELECT id, number FROM message WHERE id "+s.d.In(1)+" UNION ALL SELECT id, number FROM call WHERE id "+s.d.In(1),
		s.d.List(keys)); err != nil {
		return err
	}
	for i := range all {
		slices.Sort(all[i].numbers)
		all[i].numbers = slices.Compact(all[i].numbers)
	}
	return nil
}

// addKeys adds the keys of the notification's messages.
func (d *doomed) addKeys(keys []int64) []int64 {
	for n := range d.messages {
		keys = append(keys, int64(d.seq.Message(n)))
	}
	return keys
}

// purgeLock is the key of the advisory lock under which one node at a time deletes.
const purgeLock = 0x6361_7270

// step runs and times a step. On SQLite it shares the transaction and the sync of waiting writes; on PostgreSQL it has
// its own transaction, and one node at a time deletes.
func (s *Store) step(ctx context.Context, p *Purged, fn db.Func) error {
	timed := func(ctx context.Context, tx *db.Tx) error {
		*p = Purged{}
		begin := time.Now()
		defer func() { p.Took = time.Since(begin) }()
		return fn(ctx, tx)
	}
	if s.d.SQLite() {
		// It outlives its caller's context, because it writes into p.
		return s.purges.Commit(context.WithoutCancel(ctx), s.d, timed)
	}
	return s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		var ours bool
		if err := tx.Row(ctx, []any{&ours}, "SELECT pg_try_advisory_xact_lock($1)", purgeLock); err != nil {
			return err
		}
		if !ours {
			*p = Purged{Busy: true}
			return nil
		}
		return timed(ctx, tx)
	})
}

// Delete deletes a closed notification to a single person with these numbers, and returns the number of deleted ones.
func (s *Store) Delete(ctx context.Context, n *messages.Notification, numbers []string, now time.Time) (int, error) {
	all := []doomed{{seq: n.Seq(), campaign: n.Campaign, doneAt: db.Millis(n.DoneAt), messages: n.Total, numbers: numbers}}
	var gone Purged
	counts := stats.NewGone()
	err := s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		counts, gone = stats.NewGone(), Purged{}
		return deleteAll(ctx, tx, &gone, n.CompanyID, all, db.Millis(now)+1, counts)
	})
	s.stats.TouchGone(counts, err)
	return gone.Notifications, err
}

// deleteAll deletes those of the notifications that are still closed. Their statistics are kept.
func deleteAll(ctx context.Context, tx *db.Tx, p *Purged, companyID string, all []doomed, before int64, counts stats.Gone) error {
	slices.SortFunc(all, func(a, b doomed) int { return cmp.Compare(a.seq, b.seq) }) // in lock order
	gone, err := deleteClosed(ctx, tx, all, before, counts)
	if err != nil {
		return err
	}
	var recipients []int64
	var entries [][]any
	for i := range all {
		d := &all[i]
		if !gone[d.seq] {
			continue
		}
		p.Notifications++
		p.Rows++
		recipients = d.addKeys(recipients)
		entries = append(entries, []any{"campaign", messages.CampaignKey(d.campaign), d.seq})
		for _, number := range d.numbers {
			entries = append(entries, []any{"number", number, d.seq})
		}
	}
	if len(entries) == 0 {
		return nil
	}
	if err := deleteRecipients(ctx, tx, p, recipients, counts); err != nil {
		return err
	}
	if err := stats.Forget(ctx, tx, counts); err != nil {
		return err
	}
	n, err := tx.Exec(ctx, `DELETE FROM search WHERE (company_id, field, value, seq) IN (SELECT CAST($1 AS TEXT), value ->> 0, value ->> 1,
		CAST(value ->> 2 AS BIGINT) FROM `+tx.DB().Elements(2)+")", companyID, db.JSON(entries))
	p.Rows += int(n)
	return err
}

// deleteRecipients deletes messages and calls by their keys.
func deleteRecipients(ctx context.Context, tx *db.Tx, p *Purged, keys []int64, counts stats.Gone) error {
	in, list := tx.DB().In(1), tx.DB().List(keys)
	counted := func(read func(scan db.Scan) error) func(scan db.Scan) error {
		return func(scan db.Scan) error {
			p.Rows++
			return read(scan)
		}
	}
	if err := db.Each(ctx, tx, counted(counts.Message), "DELETE FROM message WHERE id "+in+" RETURNING "+stats.MessageColumns,
		list); err != nil {
		return err
	}
	if err := db.Each(ctx, tx, counted(counts.Call), "DELETE FROM call WHERE id "+in+" RETURNING "+stats.CallColumns, list); err != nil {
		return err
	}
	for _, query := range []string{"DELETE FROM call_attempt WHERE call ", "DELETE FROM fallback WHERE id "} {
		n, err := tx.Exec(ctx, query+in, list)
		if err != nil {
			return err
		}
		p.Rows += int(n)
	}
	return nil
}

func deleteClosed(ctx context.Context, tx *db.Tx, all []doomed, before int64, counts stats.Gone) (gone map[carillon.Seq]bool, err error) {
	seqs := make([]int64, len(all))
	for i := range all {
		seqs[i] = int64(all[i].seq)
	}
	gone = make(map[carillon.Seq]bool, len(seqs))
	err = db.Each(ctx, tx, counts.Notification,
		"DELETE FROM notification WHERE seq "+tx.DB().In(1)+" AND open + 0 = 0 AND done_at < $2 RETURNING "+
			stats.NotificationColumns, tx.DB().List(seqs), before)
	for _, seq := range seqs {
		gone[carillon.Seq(seq)] = counts.Has(carillon.Seq(seq))
	}
	return gone, err
}

// QuotaAfter returns the next company, by id, with quota rows, and its first day; both are empty if there is none.
func (s *Store) QuotaAfter(ctx context.Context, companyID string) (company, day string, err error) {
	err = s.d.Row(ctx, []any{&company, &day},
		"SELECT company_id, day FROM quota WHERE company_id > $1 ORDER BY company_id, day LIMIT 1", companyID)
	return company, day, db.Wrap(db.Ignore(err), "find old quotas")
}

// FoldQuotas merges a day's rows of a company without a quota (accept_flush.go) into one, for days before the given
// one; one day per step.
func (s *Store) FoldQuotas(ctx context.Context, companyID, before string) (p Purged, err error) {
	if s.d.SQLite() {
		return Purged{}, nil
	}
	var day string
	err = db.Ignore(s.d.Row(ctx, []any{&day},
		"SELECT day FROM quota WHERE company_id = $1 AND day < $2 AND part > 0 ORDER BY day LIMIT 1", companyID, before))
	if err == nil && day != "" {
		err = s.step(ctx, &p, func(ctx context.Context, tx *db.Tx) error {
			var recipients, bytes, calls int
			err := tx.Row(ctx, []any{&p.Rows, &recipients, &bytes, &calls}, `WITH parts AS (
				DELETE FROM quota WHERE company_id = $1 AND day = $2 AND part > 0 RETURNING used, bytes, calls)
				SELECT count(*), COALESCE(SUM(used), 0)::bigint, COALESCE(SUM(bytes), 0)::bigint,
				COALESCE(SUM(calls), 0)::bigint FROM parts`, companyID, day)
			if err != nil {
				return err
			}
			p.More = true
			return messages.ChargeQuota(ctx, tx, companyID, day, recipients, bytes, calls)
		})
	}
	return p, db.Wrap(err, "fold quotas")
}

// DropStats deletes the counts of recipients who were accepted before an instant, at most `most` rows of each table.
func (s *Store) DropStats(ctx context.Context, before time.Time, most int) (p Purged, err error) {
	err = s.step(ctx, &p, func(ctx context.Context, tx *db.Tx) (err error) {
		p.Rows, err = stats.Drop(ctx, tx, before, most)
		p.More = p.Rows >= most
		return err
	})
	return p, db.Wrap(err, "delete old counts")
}

// DropQuotas deletes a company's quota rows of days before the given one.
func (s *Store) DropQuotas(ctx context.Context, companyID, day string) (p Purged, err error) {
	err = s.step(ctx, &p, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, "DELETE FROM quota WHERE company_id = $1 AND day < $2", companyID, day)
		p.Rows = int(n)
		return err
	})
	return p, db.Wrap(err, "delete old quotas")
}
