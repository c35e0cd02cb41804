package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// The quick way to accept on PostgreSQL: a batch is one flush of statements and one answer. Between statements that wait
// for each other's answers the round trips take longer than the work, and the company's quota stays locked meanwhile.
//
// Nothing is decided on the way: the statements are written for the rule, that every request is new and fits in its
// quota, and raise an error where one does not. Then nothing is stored, and the batch goes the careful way
// (acceptBatch). Locked are, in this order: the shards of what is stored as started; idempotency keys, sorted; the new rows,
// which nobody else knows; quotas, sorted, last, so that they are held for little more than the commit. The careful way
// takes the quotas before the new rows: it must know who is admitted.

// carefulBatches is how many batches go the careful way at once after one was not all new or did not all fit: a company
// at its quota would have every batch tried twice.
const carefulBatches = 16

// inOneFlush stores the accepts of a batch, all or none. quick is false when they must go the careful way.
func (c *committer) inOneFlush(ctx context.Context, tx *Tx, accepts []*Accept) (quick bool, err error) {
	if tx.careful > 0 {
		tx.careful--
		return false, nil
	}
	quotas, ok := quotaSums(accepts)
	if !ok {
		return false, nil
	}
	for _, a := range accepts {
		a.reset()
		a.Started = a.Start != nil && (a.Timeline == 0 || a.Timeline == tx.s.Timeline())
	}
	if err := tx.acquire(ctx); err != nil {
		tx.release()
		return true, &connectionError{err}
	}
	err = tx.flush(ctx, flushOf(accepts, quotas, tx.slot))
	var pe *pgconn.PgError
	switch {
	case err == nil:
		tx.s.committed()
		return true, nil
	case errors.As(err, &pe) && !ends(pe):
		tx.careful = carefulBatches
		return false, nil
	}
	tx.release()
	return true, &connectionError{&commitError{err}}
}

// statement is one of a flush.
type statement struct {
	query string
	args  []any
}

// flush runs statements as one transaction: without BEGIN, what stands before a flush's end is committed there together.
func (t *Tx) flush(ctx context.Context, all []statement) error {
	var b pgx.Batch
	for _, st := range all {
		t.s.watched(st.query, st.args)
		b.Queue(st.query, st.args...)
	}
	var err error
	raw := t.conn.Raw(func(driver any) error {
		conn, ok := driver.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("not a connection of pgx: %T", driver)
		}
		err = conn.Conn().SendBatch(ctx, &b).Close()
		return nil
	})
	return errors.Join(err, raw)
}

type quotaSum struct {
	quotaKey
	charge, limit int // limit: math.MaxInt where there is none
	at            time.Time
}

const (
	quotaSlots = 64               // committers, of all nodes, that are told apart
	quotaSpan  = 15 * time.Second // after which a committer counts in another row
)

// charged is the statement that charges a company, and divides by zero where its quota would be passed.
//
// A company without a quota is only counted, each quarter of a minute and by each committer in a row of its own: none waits
// for another's commit, and no row has many versions. Those of one row that has as many as there were commits cannot be
// cleaned away while a snapshot is held, and each look at it passes all of them.
func (q *quotaSum) charged(slot int) statement {
	if q.limit == math.MaxInt {
		at := q.at.UTC()
		span := at.Sub(at.Truncate(24*time.Hour)) / quotaSpan
		return statement{
			`INSERT INTO quota (company_id, day, part, used) VALUES ($1, $2, $3, $4)
			ON CONFLICT (company_id, day, part) DO UPDATE SET used = quota.used + excluded.used`,
			[]any{q.company, q.day, 1 + int(span)*quotaSlots + slot, q.charge},
		}
	}
	return statement{
		`INSERT INTO quota (company_id, day, part, used) VALUES ($1, $2, 0, CAST($3 AS BIGINT) / CASE WHEN CAST($3 AS BIGINT) + ` + quotaOthers + ` <= $4 THEN 1 ELSE 0 END)
		ON CONFLICT (company_id, day, part) DO UPDATE SET used = (quota.used + excluded.used) /
		CASE WHEN quota.used + excluded.used + ` + quotaOthers + ` <= $4 THEN 1 ELSE 0 END`,
		[]any{q.company, q.day, q.charge, q.limit},
	}
}

// quotaSums adds up what a batch charges; ok is false when it cannot fit.
func quotaSums(accepts []*Accept) (sums []quotaSum, ok bool) {
	for _, a := range accepts {
		k, limit := a.quotaKey(), a.Quota.Limit
		if limit <= 0 {
			limit = math.MaxInt
		}
		i := slices.IndexFunc(sums, func(s quotaSum) bool { return s.quotaKey == k })
		if i < 0 {
			i, sums = len(sums), append(sums, quotaSum{quotaKey: k, limit: limit, at: a.Notification.CreatedAt})
		}
		s := &sums[i]
		s.charge, s.limit = s.charge+a.Quota.Charge, min(s.limit, limit)
		if s.charge > s.limit {
			return nil, false
		}
	}
	slices.SortFunc(sums, func(a, b quotaSum) int { return cmp.Or(cmp.Compare(a.company, b.company), cmp.Compare(a.day, b.day)) })
	return sums, true
}

// flushOf writes the statements of a batch. A quota that is passed and a key that is taken divide by zero.
func flushOf(accepts []*Accept, quotas []quotaSum, slot int) []statement {
	all := fencesOf(accepts)
	if keys := keysOf(accepts); keys.rows() > 0 {
		all = append(all, keys.postgres(earliest(accepts)))
	}
	notifications, messages := notificationBulk(""), newMessages()
	for _, a := range inOrder(accepts) {
		a.Notification.addTo(notifications)
		a.addTo(messages)
	}
	for _, b := range append([]*bulk{notifications}, messages.all()...) {
		if b.rows() > 0 {
			all = append(all, b.postgres())
		}
	}
	for i := range quotas {
		all = append(all, quotas[i].charged(slot))
	}
	return all
}

// fencesOf proves that the shards of what is stored as started are still the node's, sorted. One that is not divides by
// zero, and the careful way starts nothing.
func fencesOf(accepts []*Accept) []statement {
	var held []Fence
	for _, a := range accepts {
		if a.Started && !slices.Contains(held, *a.Start) {
			held = append(held, *a.Start)
		}
	}
	slices.SortFunc(held, func(a, b Fence) int { return cmp.Compare(a.Shard, b.Shard) })
	all := make([]statement, len(held), len(held)+5)
	for i, f := range held {
		all[i] = f.shared()
	}
	return all
}

// keysOf gathers the batch's idempotency keys, sorted. $8 is the time after which one that is there has not expired.
func keysOf(accepts []*Accept) *bulk {
	b := newBulk("idempotency", `ON CONFLICT (company_id, route, key) DO UPDATE SET hash = excluded.hash,
		notification_id = excluded.notification_id, answer = excluded.answer,
		expires_at = excluded.expires_at / CASE WHEN idempotency.expires_at <= $8 THEN 1 ELSE 0 END`,
		"company_id:text", "route:text", "key:text", "hash:text", "notification_id:text", "answer:text", "expires_at:bigint")
	for _, a := range keyed(accepts) {
		k := a.Idempotency
		b.add(a.Notification.CompanyID, k.Route, k.Key, k.Hash, a.Notification.ID, k.Answer, millis(k.ExpiresAt))
	}
	return b
}

// earliest is when the first of a batch came.
func earliest(accepts []*Accept) int64 {
	now := int64(math.MaxInt64)
	for _, a := range accepts {
		now = min(now, millis(a.Notification.CreatedAt))
	}
	return now
}
