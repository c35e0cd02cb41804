package messages

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"carillon"
	"carillon/internal/store/calls"
	"carillon/internal/store/db"
	"carillon/internal/store/events"
	"carillon/internal/store/rank"
)

// Accept is one notification to be stored, with the decisions made in the same transaction: quota and idempotency. The
// store sets Replay.
type Accept struct {
	Notification Notification
	Messages     []NewMessage
	DialAt       time.Time // for a call: dial time, if it differs from the notification's due time
	Fallback     *Fallback // nil: messages that are not delivered are not followed by a call
	Quota        Quota
	Idempotency  *Idempotency

	// Replay is the stored response for the same idempotency key; then nothing else was stored.
	Replay string

	err     error           // the caller's error, decided inside the batch
	first   *Accept         // first accept of the batch with the same key, whose response is Replay
	events  []*events.Event // subscribed events, except of skipped calls; recorded once it is admitted
	skipped bool            // a call is skipped, and the company subscribes to calls
}

// Notification is one accepted request. Its body is stored as received and parsed again on delivery; it is empty if
// every recipient is skipped. Lists and views show the Labels instead, and their notifications have no Body.
type Notification struct {
	ID         string
	CompanyID  string
	Channel    carillon.Channel
	SenderUID  int64
	TemplateID string
	Class      carillon.Class
	Campaign   string
	Labels     Labels
	Flat       bool
	Body       string
	Notes      string // timeline notes, separated by spaces
	Total      int
	Open       int
	Scheduled  bool
	Canceled   bool
	Secret     bool // the body holds one-time codes: it is not shown, and deleted soon
	CreatedAt  time.Time
	DueAt      time.Time
	MovedAt    time.Time // zero if it was not moved
	DoneAt     time.Time
}

// Labels are the fields of a request that lists and views show, as given.
type Labels struct{ RecipientID, TemplateName, Language, AgentID, Event string }

// Seq returns the key of the stored notification.
func (n *Notification) Seq() carillon.Seq { return carillon.SeqOf(n.ID) }

// NewMessage is one recipient's row. Skip is empty for a message that will be sent.
type NewMessage struct {
	Number string
	Skip   carillon.Reason
}

// Quota charges the company's UTC day with Charge recipients, some of them called, and with Bytes of storage; beyond
// the limits (0 for none) the request is refused.
type Quota struct {
	Day        string
	Charge     int
	Limit      int
	Calls      int
	CallsLimit int
	Bytes      int
	BytesLimit int
}

// amount is the quota use of a request or a company's day.
type amount struct{ recipients, bytes, calls int }

func (q *Quota) charge() amount { return amount{q.Charge, q.Bytes, q.Calls} }

func (x amount) plus(y amount) amount {
	return amount{x.recipients + y.recipients, x.bytes + y.bytes, x.calls + y.calls}
}

func (x amount) minus(y amount) amount {
	return amount{x.recipients - y.recipients, x.bytes - y.bytes, x.calls - y.calls}
}

// within reports whether no part exceeds its limit.
func (x amount) within(limit amount) bool {
	return x.recipients <= limit.recipients && x.bytes <= limit.bytes && x.calls <= limit.calls
}

// recipientBytes is the approximate size of a recipient's row and index entries.
const recipientBytes = 200

// Size returns the approximate stored size of a request in bytes.
func (a *Accept) Size() int {
	n := &a.Notification
	l := &n.Labels
	return len(n.Body) + len(n.Notes) + len(n.Campaign) + len(l.RecipientID) + len(l.TemplateName) + len(l.Language) + len(l.AgentID) +
		len(l.Event) + recipientBytes*len(a.Messages)
}

// Idempotency is the key of the stored response.
type Idempotency struct {
	Route, Key, Hash string
	Answer           string
	ExpiresAt        time.Time
}

// ErrIDTaken means that another notification has the number of this id: the caller retries with another id.
var ErrIDTaken error = idTaken{}

type idTaken struct{}

func (idTaken) Error() string { return "the notification's number is taken" }

// Refused implements db.Refusal.
func (idTaken) Refused() {}

// NewID returns an id for a notification that this node accepts now.
func (s *Notifications) NewID(now time.Time) string { return s.ids.Next(now) }

// OtherID returns another id for a notification accepted at that time, after ErrIDTaken.
func (s *Notifications) OtherID(at time.Time) string { return s.ids.Other(at) }

// Accept stores a notification and its messages. Errors: quota_exceeded, idempotency_key_reused, service_unavailable,
// ErrIDTaken.
func (s *Notifications) Accept(ctx context.Context, a *Accept) error {
	a.events, a.skipped = nil, false // from an attempt with another id
	if of := s.followed(ctx, a.Notification.CompanyID); of != (followed{}) {
		sender, err := s.sender(context.WithoutCancel(ctx), a.Notification.SenderUID) // independent of the caller's context
		if err != nil {
			return err
		}
		a.announce(of, sender.ID)
	}
	err := s.accepts.Commit(ctx, s.d, a)
	s.touch(a.Notification.Seq(), err)
	if err != nil {
		if db.Duplicate(err) { // all other keys have their ON CONFLICT
			return ErrIDTaken
		}
		return err
	}
	return a.err
}

func acceptKind(place db.Place) *db.Kind[*Accept] {
	return &db.Kind[*Accept]{
		Name: "accept", Place: place, Apply: applyAccepts, Flush: flushAccepts,
		Bytes: func(a *Accept) int { return len(a.Notification.Body) + 64*len(a.Messages) },
	}
}

// applyAccepts writes the accepts of one transaction in the lock order. In a replay (a single accept whose COMMIT got no
// response) the notification goes first: if its row exists, everything was committed.
func applyAccepts(ctx context.Context, tx *db.Tx, accepts []*Accept, replay bool) error {
	for _, a := range accepts {
		a.reset()
	}
	if replay {
		there, err := accepted(ctx, tx, accepts[0])
		if there || err != nil {
			return err
		}
	}
	if err := claimKeys(ctx, tx, accepts); err != nil {
		return err
	}
	quotas, err := lockQuotas(ctx, tx, accepts)
	if err != nil {
		return err
	}
	admit(accepts, quotas)
	if err := dropKeys(ctx, tx, accepts); err != nil {
		return err
	}
	if err := correctQuotas(ctx, tx, quotas); err != nil {
		return err
	}
	if replay && !accepts[0].admitted() {
		return unaccept(ctx, tx, accepts[0])
	}
	news := inOrder(accepts)
	if err := insertNotifications(ctx, tx, news, replay); err != nil {
		return err
	}
	if err := insertMessages(ctx, tx, news); err != nil {
		return err
	}
	return recordAccepted(ctx, tx, news)
}

// reset restores the state before the first attempt.
func (a *Accept) reset() { a.Replay, a.err, a.first = "", nil, nil }

func (a *Accept) admitted() bool { return a.err == nil && a.Replay == "" }

type quotaKey struct{ company, day string }

func (a *Accept) quotaKey() quotaKey { return quotaKey{a.Notification.CompanyID, a.Quota.Day} }

// quotaUse is a company's use of a day: in the row that enforces the limit, as decided by the batch and as stored; and
// in the other rows, from the time before the company had a quota (accept_flush.go).
type quotaUse struct{ used, written, others amount }

// lockQuotas locks the rows of the batch's companies, sorted, and charges every new request in the same statement, because
// usually all fit.
func lockQuotas(ctx context.Context, tx *db.Tx, accepts []*Accept) (map[quotaKey]*quotaUse, error) {
	charges := map[quotaKey]amount{}
	for _, a := range accepts {
		if a.admitted() {
			charges[a.quotaKey()] = charges[a.quotaKey()].plus(a.Quota.charge())
		}
	}
	quotas := make(map[quotaKey]*quotaUse, len(charges))
	for _, k := range sortedQuotas(charges) {
		u := &quotaUse{}
		err := chargeQuota(ctx, tx, k, charges[k], &u.written)
		if err == nil && !tx.SQLite() { // SQLite has no other rows
			err = tx.Row(ctx, []any{&u.others.recipients, &u.others.bytes, &u.others.calls}, quotaOthers, k.company, k.day)
		}
		if err != nil {
			return nil, fmt.Errorf("charge quota: %w", err)
		}
		u.used = u.written.minus(charges[k])
		quotas[k] = u
	}
	return quotas, nil
}

// ChargeQuota adds to the row that enforces a company's limit on a day.
func ChargeQuota(ctx context.Context, tx *db.Tx, companyID, day string, recipients, bytes, calls int) error {
	var used amount
	return chargeQuota(ctx, tx, quotaKey{companyID, day}, amount{recipients, bytes, calls}, &used)
}

// chargeQuota adds to the row that enforces a company's limit, and reads the new counts.
func chargeQuota(ctx context.Context, tx *db.Tx, k quotaKey, charge amount, used *amount) error {
	return tx.Row(ctx, []any{&used.recipients, &used.bytes, &used.calls}, `INSERT INTO quota (company_id, day, part, used, bytes, calls)
		VALUES ($1, $2, 0, $3, $4, $5) ON CONFLICT (company_id, day, part) DO UPDATE SET used = quota.used + excluded.used,
		calls = quota.calls + excluded.calls, bytes = quota.bytes + excluded.bytes
		RETURNING used, bytes, calls`, k.company, k.day, charge.recipients, charge.bytes, charge.calls)
}

// quotaOthers reads the use of a company before it had a quota.
const quotaOthers = `SELECT CAST(COALESCE(SUM(used), 0) AS BIGINT), CAST(COALESCE(SUM(bytes), 0) AS BIGINT),
	CAST(COALESCE(SUM(calls), 0) AS BIGINT) FROM quota WHERE company_id = $1 AND day = $2 AND part > 0`

func sortedQuotas[V any](m map[quotaKey]V) []quotaKey {
	return slices.SortedFunc(maps.Keys(m), func(a, b quotaKey) int {
		return cmp.Or(cmp.Compare(a.company, b.company), cmp.Compare(a.day, b.day))
	})
}

// admit decides in order which requests fit the quotas. A request that would exceed one is refused whole, and so is its repeat.
func admit(accepts []*Accept, quotas map[quotaKey]*quotaUse) {
	for _, a := range accepts {
		if a.first != nil && a.first.err != nil {
			a.Replay, a.err = "", a.first.err
		}
		if !a.admitted() {
			continue
		}
		u := quotas[a.quotaKey()]
		if a.err = a.Quota.exceeded(u.used.plus(u.others), a.Notification.CreatedAt); a.err == nil {
			u.used = u.used.plus(a.Quota.charge())
		}
	}
}

// exceeded returns the error of a request that exceeds the day's quota; nil if it fits.
func (q *Quota) exceeded(used amount, now time.Time) error {
	switch {
	case q.Limit > 0 && used.recipients+q.Charge > q.Limit:
		return quotaExceeded("Daily notification quota used up", q.Limit, used.recipients, now)
	case q.CallsLimit > 0 && used.calls+q.Calls > q.CallsLimit:
		return quotaExceeded("Daily quota of calls used up", q.CallsLimit, used.calls, now)
	case q.BytesLimit > 0 && used.bytes+q.Bytes > q.BytesLimit:
		return quotaExceeded("Daily quota of stored bytes used up", q.BytesLimit, used.bytes, now)
	}
	return nil
}

// correctQuotas reverts the charges of requests that were refused or replayed.
func correctQuotas(ctx context.Context, tx *db.Tx, quotas map[quotaKey]*quotaUse) error {
	for _, k := range sortedQuotas(quotas) {
		u := quotas[k]
		if u.used == u.written {
			continue
		}
		if _, err := tx.Exec(ctx, "UPDATE quota SET used = $1, bytes = $2, calls = $3 WHERE company_id = $4 AND day = $5 AND part = 0",
			u.used.recipients, u.used.bytes, u.used.calls, k.company, k.day); err != nil {
			return fmt.Errorf("correct quota: %w", err)
		}
	}
	return nil
}

func quotaExceeded(message string, quota, used int, now time.Time) *carillon.Error {
	reset := now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	return &carillon.Error{
		Code: carillon.QuotaExceeded, Message: message,
		Details: carillon.Details{
			{Key: "quota", Value: quota}, {Key: "used", Value: used}, {Key: "reset_time", Value: carillon.FormatTime(reset)},
		},
		RetryAfter: max(1, int(reset.Sub(now)/time.Second)+1),
	}
}

// claimKeys inserts the idempotency keys of the batch, sorted. A request whose key exists gets the stored response or an error.
func claimKeys(ctx context.Context, tx *db.Tx, accepts []*Accept) error {
	var last *Accept // the last accept of the batch with the same key
	for _, a := range keyed(accepts) {
		if err := claimKey(ctx, tx, a); err != nil {
			return fmt.Errorf("claim idempotency key: %w", err)
		}
		if a.admitted() {
			last = a
		} else if last != nil && sameKey(a, last) {
			a.first = last
		}
	}
	return nil
}

// keyed returns the accepts of a batch that have an idempotency key, sorted by it.
func keyed(accepts []*Accept) []*Accept {
	var all []*Accept
	for _, a := range accepts {
		if a.Idempotency != nil {
			all = append(all, a)
		}
	}
	slices.SortStableFunc(all, func(a, b *Accept) int {
		return cmp.Or(cmp.Compare(a.Notification.CompanyID, b.Notification.CompanyID),
			cmp.Compare(a.Idempotency.Route, b.Idempotency.Route), cmp.Compare(a.Idempotency.Key, b.Idempotency.Key))
	})
	return all
}

func sameKey(a, b *Accept) bool {
	return a.Notification.CompanyID == b.Notification.CompanyID && a.Idempotency.Route == b.Idempotency.Route &&
		a.Idempotency.Key == b.Idempotency.Key
}

func claimKey(ctx context.Context, tx *db.Tx, a *Accept) error {
	k, company := a.Idempotency, a.Notification.CompanyID
	n, err := tx.Exec(ctx, `INSERT INTO idempotency (company_id, route, key, hash, notification_id, answer, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (company_id, route, key) DO UPDATE SET hash = excluded.hash,
		notification_id = excluded.notification_id, answer = excluded.answer, expires_at = excluded.expires_at
		WHERE idempotency.expires_at <= $8`,
		company, k.Route, k.Key, k.Hash, a.Notification.ID, k.Answer, db.Millis(k.ExpiresAt), db.Millis(a.Notification.CreatedAt))
	if err != nil || n == 1 {
		return err
	}
	var hash, answer string
	if err := tx.Row(ctx, []any{&hash, &answer}, "SELECT hash, answer FROM idempotency WHERE company_id = $1 AND route = $2 AND key = $3",
		company, k.Route, k.Key); err != nil {
		return err
	}
	if hash != k.Hash {
		a.err = KeyReused()
		return nil
	}
	a.Replay = answer
	return nil
}

// KeyReused returns the 422 for an idempotency key that was used with other content.
func KeyReused() *carillon.Error {
	return &carillon.Error{
		Code: carillon.IdempotencyKeyReused, Message: "Idempotency key was used with another request",
		Details: carillon.Details{
			{Key: "field", Value: "Idempotency-Key"}, {Key: "reason", Value: "The key belongs to a request with other content"},
		},
	}
}

// dropKeys deletes the keys of requests refused by the quota, because only successful responses are stored.
func dropKeys(ctx context.Context, tx *db.Tx, accepts []*Accept) error {
	for _, a := range accepts {
		if a.Idempotency == nil || !carillon.IsCode(a.err, carillon.QuotaExceeded) {
			continue
		}
		if _, err := tx.Exec(ctx, "DELETE FROM idempotency WHERE company_id = $1 AND route = $2 AND key = $3 AND notification_id = $4",
			a.Notification.CompanyID, a.Idempotency.Route, a.Idempotency.Key, a.Notification.ID); err != nil {
			return fmt.Errorf("give back idempotency key: %w", err)
		}
	}
	return nil
}

// LookupIdempotent returns the response stored under a key; "" if there is none. Errors: idempotency_key_reused.
func (s *Notifications) LookupIdempotent(ctx context.Context, companyID, route, key, hash string, now time.Time) (answer string,
	err error,
) {
	ctx, cancel := context.WithTimeout(ctx, s.d.Timeout()) // a request that waits for a frozen server holds its key
	defer cancel()
	var had string
	err = s.d.Row(ctx, []any{&had, &answer}, "SELECT hash, answer FROM idempotency WHERE company_id = $1 AND route = $2 AND key = "+
		"$3 AND expires_at > $4",
		companyID, route, key, db.Millis(now))
	if err == nil && had != hash {
		return "", KeyReused()
	}
	return answer, db.Wrap(db.Ignore(err), "look up idempotency key")
}

// AcceptedAs returns the response to an earlier request with a key, regardless of its content; "" if there is none.
func (s *Notifications) AcceptedAs(ctx context.Context, companyID, route, key string, now time.Time) (answer string, err error) {
	err = s.d.Row(ctx, []any{&answer}, "SELECT answer FROM idempotency WHERE company_id = $1 AND route = $2 AND key = $3 AND "+
		"expires_at > $4", companyID, route, key, db.Millis(now))
	return answer, db.Wrap(db.Ignore(err), "look up idempotency key")
}

const notificationConflict = "ON CONFLICT (seq) DO NOTHING"

func notificationBulk(suffix string) *db.Bulk {
	return db.NewBulk("notification", suffix, "seq:bigint", "id:text", "company_id:text", "channel:text", "sender:bigint",
		"template_id:text",
		"class:bigint", "campaign:text", "flat:boolean", "body:text", "notes:text", "total:bigint", "open:bigint",
		"scheduled:boolean", "created_at:bigint", "due_at:bigint", "done_at:bigint",
		"recipient_id:text", "name_template:text", "language:text", "agent_id:text", "name_event:text", "secret:boolean")
}

func (n *Notification) addTo(b *db.Bulk) {
	b.Add(int64(n.Seq()), n.ID, n.CompanyID, string(n.Channel), n.SenderUID, n.TemplateID, int64(n.Class), n.Campaign, n.Flat,
		n.Body, n.Notes,
		int64(n.Total), int64(n.Open), n.Scheduled, db.Millis(n.CreatedAt), db.Millis(n.DueAt), db.Millis(n.DoneAt),
		n.Labels.RecipientID, n.Labels.TemplateName, n.Labels.Language, n.Labels.AgentID, n.Labels.Event, n.Secret)
}

// inOrder returns the admitted accepts of a batch, sorted by key: rows with ascending keys are appended to the table
// and most indexes, while other rows cost searches and page splits.
func inOrder(accepts []*Accept) []*Accept {
	all := slices.DeleteFunc(slices.Clone(accepts), func(a *Accept) bool { return !a.admitted() })
	slices.SortFunc(all, func(a, b *Accept) int { return cmp.Compare(a.Notification.Seq(), b.Notification.Seq()) })
	return all
}

func insertNotifications(ctx context.Context, tx *db.Tx, accepts []*Accept, replay bool) error {
	b := notificationBulk("")
	if replay {
		b.Suffix = notificationConflict
	}
	for _, a := range accepts {
		a.Notification.addTo(b)
	}
	return b.Write(ctx, tx)
}

// accepted inserts the notification of a replay and reports whether it existed.
func accepted(ctx context.Context, tx *db.Tx, a *Accept) (bool, error) {
	b := notificationBulk(notificationConflict + " RETURNING id")
	a.Notification.addTo(b)
	if err := b.Write(ctx, tx); err != nil {
		return false, err
	}
	var id string
	var messages int
	seq := a.Notification.Seq()
	err := tx.Row(ctx, []any{&id, &messages}, `SELECT id, (SELECT COUNT(*) FROM message WHERE id BETWEEN $2 AND $3)
		+ (SELECT COUNT(*) FROM call WHERE id BETWEEN $2 AND $3) FROM notification WHERE seq = $1`, int64(seq),
		int64(seq.Message(0)), int64(seq.LastMessage()))
	if err == nil && id != a.Notification.ID {
		err = ErrIDTaken
	}
	return messages > 0, err
}

// unaccept deletes the notification that accepted inserted, for a request that is refused later.
func unaccept(ctx context.Context, tx *db.Tx, a *Accept) error {
	_, err := tx.Exec(ctx, "DELETE FROM notification WHERE seq = $1", int64(a.Notification.Seq()))
	return db.Wrap(err, "take back notification")
}

// messages are the rows of a batch: messages to send, which are nearly all and need the fewest values, skipped ones,
// calls, and fallbacks.
type messages struct{ queued, skipped, calls, fallbacks *db.Bulk }

func (m messages) all() []*db.Bulk { return []*db.Bulk{m.queued, m.skipped, m.calls, m.fallbacks} }

func newMessages() messages {
	return messages{
		queued: db.NewBulk("message", "", "id:bigint", "shard:bigint", "sender:bigint", "class:bigint", "number:text",
			"due_at:bigint", "q=1"),
		skipped: db.NewBulk("message", "", "id:bigint", "shard:bigint", "sender:bigint", "class:bigint", "number:text",
			"due_at:bigint", "rank:bigint", "reason:text", "ended_at:bigint", "q=0"),
		calls: calls.NewRows(), fallbacks: newFallbacks(),
	}
}

func (a *Accept) addTo(b messages) {
	n := &a.Notification
	seq := n.Seq()
	if n.Channel == carillon.Voice {
		for i, m := range a.Messages {
			calls.Add(b.calls, seq.Message(i), n.CompanyID, n.SenderUID, n.Class, m.Number, a.due(), n.CreatedAt, m.Skip)
		}
		return
	}
	a.addFallbacks(b.fallbacks)
	// converted to any once for all rows
	var shard, sender, class, due any = n.SenderUID % carillon.Shards, n.SenderUID, int64(n.Class), db.Millis(n.DueAt)
	for i, m := range a.Messages {
		switch {
		case m.Skip != "":
			a.addSkipped(b, i)
		default:
			b.queued.Add(int64(seq.Message(i)), shard, sender, class, m.Number, due)
		}
	}
}

// due returns the dial time of the call: the notification's due time, or the start of the calling hours.
func (a *Accept) due() time.Time {
	if !a.DialAt.IsZero() {
		return a.DialAt
	}
	return a.Notification.DueAt
}

func (a *Accept) addSkipped(b messages, i int) {
	n, m := &a.Notification, a.Messages[i]
	b.skipped.Add(int64(n.Seq().Message(i)), n.SenderUID%carillon.Shards, n.SenderUID, int64(n.Class), m.Number, db.Millis(n.DueAt),
		int64(rank.Skipped), string(m.Skip), db.Millis(n.CreatedAt))
}

func insertMessages(ctx context.Context, tx *db.Tx, accepts []*Accept) error {
	b := newMessages()
	for _, a := range accepts {
		if !tx.SQLite() || len(a.Messages) < longRun {
			a.addTo(b)
		} else if err := a.insertRuns(ctx, tx, b); err != nil {
			return fmt.Errorf("insert into message: %w", err)
		}
	}
	for _, rows := range b.all() {
		if err := rows.Write(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}
