package messages

import (
	"cmp"
	"math"
	"slices"
	"time"

	"carillon/internal/store/db"
	"carillon/internal/store/events"
)

// On PostgreSQL a batch of accepts is stored in one round trip. With a round trip per statement, waiting would take
// longer than the work, and the company's quota would stay locked meanwhile.

type quotaSum struct {
	quotaKey
	charge, limit amount // limit is math.MaxInt if there is none
	at            time.Time
}

// unlimited is the limit of a company without a quota.
var unlimited = amount{math.MaxInt, math.MaxInt, math.MaxInt} //nolint:gochecknoglobals // a constant

const (
	quotaSpan = 15 * time.Second // period after which a committer uses a new row
)

// charged returns the statement that charges a company. It divides by zero if the quota would be exceeded.
//
// A company without a quota is only counted, in one row per committer and quarter of a minute: no commit waits for
// another, and no row gets many versions, which could not be vacuumed under a held snapshot (docs/adr/0014).
func (q *quotaSum) charged(slot int) db.Statement {
	if q.limit == unlimited {
		at := q.at.UTC()
		span := at.Sub(at.Truncate(24*time.Hour)) / quotaSpan
		return db.Statement{
			SQL: `INSERT INTO quota (company_id, day, part, used, bytes, calls) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (company_id, day, part) DO UPDATE SET used = quota.used + excluded.used, calls = quota.calls + excluded.calls,
			bytes = quota.bytes + excluded.bytes`,
			Args: []any{q.company, q.day, 1 + int(span)*db.Slots + slot, q.charge.recipients, q.charge.bytes, q.charge.calls},
		}
	}
	return db.Statement{
		SQL: `INSERT INTO quota (company_id, day, part, used, bytes, calls)
		VALUES ($1, $2, 0, CAST($3 AS BIGINT) / ` + quotaFits("CAST($3 AS BIGINT)", "CAST($4 AS BIGINT)", "CAST($5 AS BIGINT)") + `, $4, $5)
		ON CONFLICT (company_id, day, part) DO UPDATE SET bytes = quota.bytes + excluded.bytes, calls = quota.calls + excluded.calls,
		used = (quota.used + excluded.used) / ` +
			quotaFits("quota.used + excluded.used", "quota.bytes + excluded.bytes", "quota.calls + excluded.calls"),
		Args: []any{
			q.company, q.day, q.charge.recipients, q.charge.bytes, q.charge.calls, q.limit.recipients, q.limit.bytes, q.limit.calls,
		},
	}
}

// quotaFits is an SQL expression: 1 if the row's new counts plus the use without a quota are within the limits, 0
// otherwise.
func quotaFits(used, bytes, calls string) string {
	return `(SELECT CASE WHEN ` + used + ` + CAST(COALESCE(SUM(o.used), 0) AS BIGINT) <= $6
		AND ` + bytes + ` + CAST(COALESCE(SUM(o.bytes), 0) AS BIGINT) <= $7
		AND ` + calls + ` + CAST(COALESCE(SUM(o.calls), 0) AS BIGINT) <= $8 THEN 1 ELSE 0 END
		FROM quota AS o WHERE o.company_id = $1 AND o.day = $2 AND o.part > 0)`
}

// quotaSums adds up the charges of a batch; ok is false if they cannot fit a quota.
func quotaSums(accepts []*Accept) (sums []quotaSum, ok bool) {
	for _, a := range accepts {
		k, limit := a.quotaKey(), unlimited
		if a.Quota.Limit > 0 {
			limit.recipients = a.Quota.Limit
		}
		if a.Quota.BytesLimit > 0 {
			limit.bytes = a.Quota.BytesLimit
		}
		if a.Quota.CallsLimit > 0 {
			limit.calls = a.Quota.CallsLimit
		}
		i := slices.IndexFunc(sums, func(s quotaSum) bool { return s.quotaKey == k })
		if i < 0 {
			i, sums = len(sums), append(sums, quotaSum{quotaKey: k, limit: limit, at: a.Notification.CreatedAt})
		}
		s := &sums[i]
		s.charge = s.charge.plus(a.Quota.charge())
		s.limit = amount{min(s.limit.recipients, limit.recipients), min(s.limit.bytes, limit.bytes), min(s.limit.calls, limit.calls)}
		if !s.charge.within(s.limit) {
			return nil, false
		}
	}
	slices.SortFunc(sums, func(a, b quotaSum) int { return cmp.Or(cmp.Compare(a.company, b.company), cmp.Compare(a.day, b.day)) })
	return sums, true
}

// flushAccepts returns the statements of a batch for the usual case, in which every request is new and fits its quota. An exceeded
// quota or a used idempotency key divides by zero; then nothing is stored, and the batch is applied statement by statement
// (applyAccepts). Locks are acquired in this order: idempotency keys, sorted; the new rows; quotas, sorted, last, so that they
// are held for little more than the commit. applyAccepts locks quotas before the new rows, because it must decide first
// which requests fit.
func flushAccepts(tx *db.Tx, accepts []*Accept) ([]db.Statement, bool) {
	quotas, ok := quotaSums(accepts)
	if !ok {
		return nil, false
	}
	for _, a := range accepts {
		if a.skipped { // its event is read from its row
			return nil, false
		}
		a.reset()
	}
	var all []db.Statement
	if keys := keysOf(accepts); keys.Rows() > 0 {
		all = append(all, keys.Statement(earliest(accepts)))
	}
	notifications, messages := notificationBulk(""), newMessages()
	for _, a := range inOrder(accepts) {
		a.Notification.addTo(notifications)
		a.addTo(messages)
		events.Record(tx, a.events...)
	}
	for _, b := range append([]*db.Bulk{notifications}, messages.all()...) {
		if b.Rows() > 0 {
			all = append(all, b.Statement())
		}
	}
	for i := range quotas {
		all = append(all, quotas[i].charged(tx.Slot()))
	}
	return all, true
}

// keysOf returns the batch's idempotency keys, sorted. $8 is the time after which a stored key has not expired.
func keysOf(accepts []*Accept) *db.Bulk {
	b := db.NewBulk("idempotency", `ON CONFLICT (company_id, route, key) DO UPDATE SET hash = excluded.hash,
		notification_id = excluded.notification_id, answer = excluded.answer,
		expires_at = excluded.expires_at / CASE WHEN idempotency.expires_at <= $8 THEN 1 ELSE 0 END`,
		"company_id:text", "route:text", "key:text", "hash:text", "notification_id:text", "answer:text", "expires_at:bigint")
	for _, a := range keyed(accepts) {
		k := a.Idempotency
		b.Add(a.Notification.CompanyID, k.Route, k.Key, k.Hash, a.Notification.ID, k.Answer, db.Millis(k.ExpiresAt))
	}
	return b
}

// earliest returns the arrival time of the first request in a batch.
func earliest(accepts []*Accept) int64 {
	now := int64(math.MaxInt64)
	for _, a := range accepts {
		now = min(now, db.Millis(a.Notification.CreatedAt))
	}
	return now
}
