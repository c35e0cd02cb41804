package messages

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/store/audit"
	"carillon/internal/store/calls"
	"carillon/internal/store/db"
	"carillon/internal/store/events"
	"carillon/internal/store/rank"
)

// FallbackState is the state of a recipient's fallback.
type FallbackState string

// States of a fallback. Waiting is the only one that changes.
const (
	FallbackWaiting   FallbackState = "waiting"
	FallbackCalled    FallbackState = "called"     // its call was queued
	FallbackNotNeeded FallbackState = "not_needed" // the message was delivered in time
	FallbackSkipped   FallbackState = "skipped"    // it could not be called
	FallbackCanceled  FallbackState = "canceled"
)

// Fallback is the call to recipients whose message is not delivered within a time after it was sent.
type Fallback struct {
	LineUID int64
	Wait    time.Duration
}

// Fallbacks is the table of fallbacks: a row for each message with one, with the key of the message. The call gets the
// same key, so a message has one at most.
type Fallbacks struct {
	d          *db.DB
	subscribed func(ctx context.Context, companyID, topic string) bool
	touch      func(seq carillon.Seq, err error)
}

// NewFallbacks returns the fallbacks of a database.
func NewFallbacks(o *Options) *Fallbacks { return &Fallbacks{o.DB, o.Subscribed, o.Touch} }

func newFallbacks() *db.Bulk {
	return db.NewBulk("fallback", "", "id:bigint", "company_id:text", "sender:bigint", "wait:bigint", "due_at:bigint")
}

// addFallbacks adds a row for each message that will be sent. The row is first examined when the wait would be over if
// the message were sent at its due time.
func (a *Accept) addFallbacks(b *db.Bulk) {
	if a.Fallback == nil {
		return
	}
	n := &a.Notification
	for i, m := range a.Messages {
		if m.Skip == "" {
			b.Add(int64(n.Seq().Message(i)), n.CompanyID, a.Fallback.LineUID, a.Fallback.Wait.Milliseconds(),
				db.Millis(n.DueAt.Add(a.Fallback.Wait)))
		}
	}
}

// hasten returns the statement that makes fallbacks due immediately, because their messages failed or were
// delivered.
func hasten(d *db.DB, keys []int64) db.Statement {
	return db.Statement{SQL: "UPDATE fallback SET due_at = 1 WHERE id " + d.In(1) + " AND due_at + 0 > 1", Args: []any{d.List(keys)}}
}

// WaitingFallback is a waiting fallback that is due, with its message.
type WaitingFallback struct {
	Key     carillon.MessageKey
	LineUID int64
	Class   carillon.Class
	Number  string
	Wait    time.Duration
	Due     time.Time

	Q            int
	Rank         rank.Rank
	MessageDue   time.Time
	Started      time.Time // of the last attempt
	Sent         time.Time
	ReachedPhone bool // delivered, read or replied to
}

// Next returns what follows for a fallback: FallbackCalled, FallbackNotNeeded or FallbackCanceled, or FallbackWaiting
// until an instant. An unknown outcome counts as sent when the attempt began. For a message that has not been sent, the
// instant is the end of the wait if it were sent now, so its fallback is never late.
func (w *WaitingFallback) Next(now time.Time) (next FallbackState, until time.Time) {
	if w.ReachedPhone {
		return FallbackNotNeeded, time.Time{}
	}
	sent := w.Started
	switch w.Rank {
	case rank.Delivered, rank.Read:
		return FallbackNotNeeded, time.Time{}
	case rank.Skipped, rank.Canceled:
		return FallbackCanceled, time.Time{}
	case rank.Failed:
		return FallbackCalled, time.Time{}
	case rank.Sent:
		if !w.Sent.IsZero() {
			sent = w.Sent
		}
	case rank.FailedUnknown:
	case rank.None:
		if w.Q != unknownOutcome {
			sent = now
			if w.MessageDue.After(now) {
				sent = w.MessageDue
			}
		}
	}
	if until = sent.Add(w.Wait); until.After(now) {
		return FallbackWaiting, until
	}
	return FallbackCalled, time.Time{}
}

// unknownOutcome is the q of a message whose outcome is unknown.
const unknownOutcome = 3

// Companies returns up to limit companies with due fallbacks, by id, after a company. It jumps in the index from
// company to company.
func (s *Fallbacks) Companies(ctx context.Context, after string, now time.Time, limit int) ([]string, error) {
	return db.Collect(ctx, s.d, "companies with due fallbacks", func(scan db.Scan) (id string, err error) {
		err = scan(&id)
		return id, err
	}, `WITH RECURSIVE waiting (company) AS (SELECT MIN(company_id) FROM fallback WHERE due_at > 0 AND company_id > $1
		UNION ALL SELECT (SELECT MIN(f.company_id) FROM fallback AS f WHERE f.due_at > 0 AND f.company_id > waiting.company)
		FROM waiting WHERE waiting.company IS NOT NULL)
		SELECT company FROM waiting WHERE company IS NOT NULL
		AND (SELECT MIN(f.due_at) FROM fallback AS f WHERE f.due_at > 0 AND f.company_id = waiting.company) <= $2
		AND company NOT IN (SELECT company_id FROM company_move) LIMIT $3`,
		after, db.Millis(now), limit)
}

// Due returns a company's due fallbacks, up to limit.
func (s *Fallbacks) Due(ctx context.Context, companyID string, now time.Time, limit int) ([]WaitingFallback, error) {
	return db.Collect(ctx, s.d, "due fallbacks", func(scan db.Scan) (w WaitingFallback, err error) {
		var wait, due, messageDue, started, sent int64
		err = scan(&w.Key, &w.LineUID, &wait, &due, &w.Class, &w.Number, &w.Q, &w.Rank, &messageDue, &started, &sent, &w.ReachedPhone)
		w.Wait, w.Due, w.MessageDue = time.Duration(wait)*time.Millisecond, db.Instant(due), db.Instant(messageDue)
		w.Started, w.Sent = db.Instant(started), db.Instant(sent)
		return w, err
	}, `SELECT f.id, f.sender, f.wait, f.due_at, m.class, m.number, m.q, m.rank, m.due_at, COALESCE(m.started_at, 0),
		COALESCE(m.sent_at, 0), `+reached("m.")+`
		FROM fallback AS f CROSS JOIN message AS m WHERE f.due_at > 0 AND f.company_id = $1 AND f.due_at <= $2 AND m.id = f.id
		ORDER BY f.due_at LIMIT $3`, companyID, db.Millis(now), limit)
}

// reached is an SQL condition: the message was delivered, read or replied to.
func reached(alias string) string {
	return "COALESCE(" + alias + "delivered_at, " + alias + "read_at, " + alias + "replied_at, 0) > 0"
}

// FallbackStep is the next step of a due fallback.
type FallbackStep struct {
	Of     *WaitingFallback
	State  FallbackState
	Until  time.Time       // of FallbackWaiting: the next look
	Reason carillon.Reason // of FallbackSkipped
	DialAt time.Time       // of FallbackCalled
}

// Decide writes what follows for due fallbacks of a company, queues their calls, and charges these to the company's day;
// those beyond the quota are skipped. A fallback that has changed since it was read, and one whose message has arrived
// meanwhile, stay as they are. Decide returns the steps that were written.
func (s *Fallbacks) Decide(ctx context.Context, companyID string, steps []FallbackStep, quota int, now time.Time) ([]FallbackStep, error) {
	slices.SortFunc(steps, func(a, b FallbackStep) int { return cmp.Compare(a.Of.Key, b.Of.Key) }) // in lock order
	written, err := db.Returning(ctx, s.d, func(ctx context.Context, tx *db.Tx) (written []FallbackStep, err error) {
		day := quotaKey{companyID, now.UTC().Format(time.DateOnly)}
		left, err := callsLeft(ctx, tx, day, quota, steps)
		if err != nil {
			return nil, err
		}
		rows, called := calls.NewRows(), 0
		for _, x := range steps {
			if x.State == FallbackCalled && left == 0 {
				x.State, x.Reason = FallbackSkipped, carillon.ReasonQuotaExceeded
			}
			done, err := x.write(ctx, tx, now)
			if err != nil {
				return nil, fmt.Errorf("decide a fallback: %w", err)
			}
			if !done {
				continue
			}
			if written = append(written, x); x.State == FallbackCalled {
				calls.Add(rows, x.Of.Key, companyID, x.Of.LineUID, x.Class(), x.Of.Number, x.DialAt, now, "")
				left--
				called++
			}
		}
		if called == 0 {
			return written, nil
		}
		if err := rows.Write(ctx, tx); err != nil {
			return nil, err
		}
		return written, ChargeQuota(ctx, tx, companyID, day.day, 0, 0, called)
	})
	for i := range written {
		s.touch(written[i].Of.Key.Seq(), err)
	}
	return written, db.Wrap(err, "decide fallbacks")
}

// write writes a step and reports whether it was still possible.
func (x *FallbackStep) write(ctx context.Context, tx *db.Tx, now time.Time) (bool, error) {
	key, due := int64(x.Of.Key), db.Millis(x.Of.Due)
	if x.State == FallbackWaiting {
		n, err := tx.Exec(ctx, "UPDATE fallback SET due_at = $3 WHERE id = $1 AND due_at + 0 = $2", key, due, db.Millis(x.Until))
		return n > 0, err
	}
	query := "UPDATE fallback SET due_at = 0, state = $3, reason = $4, decided_at = $5 WHERE id = $1 AND due_at + 0 = $2"
	if x.State == FallbackCalled {
		query += " AND NOT EXISTS (SELECT 1 FROM message AS m WHERE m.id = $1 AND (m.rank IN (10, 20) OR m.rank >= 60 OR " +
			reached("m.") + "))"
	}
	n, err := tx.Exec(ctx, query, key, due, string(x.State), string(x.Reason), db.Millis(now))
	return n > 0, err
}

// callClass returns the class of a message's call: a call is marketing or transactional.
func callClass(of carillon.Class) carillon.Class {
	if of == carillon.Marketing {
		return of
	}
	return carillon.Transactional
}

// callsLeft returns how many more calls a company may place on a day, and locks its quota; more than there are steps if
// it has no limit.
func callsLeft(ctx context.Context, tx *db.Tx, day quotaKey, limit int, steps []FallbackStep) (int, error) {
	called := func(x FallbackStep) bool { return x.State == FallbackCalled }
	if limit == 0 || !slices.ContainsFunc(steps, called) {
		return len(steps) + 1, nil
	}
	var used, others amount
	if err := chargeQuota(ctx, tx, day, amount{}, &used); err != nil {
		return 0, err
	}
	if err := tx.Row(ctx, []any{&others.recipients, &others.bytes, &others.calls}, quotaOthers, day.company, day.day); err != nil {
		return 0, err
	}
	return max(0, limit-used.calls-others.calls), nil
}

// Class returns the class of the fallback's call.
func (x *FallbackStep) Class() carillon.Class { return callClass(x.Of.Class) }

// CancelCall cancels the queued call that follows a message of a company. Errors: not_found; conflict if it is not
// queued.
func (s *Fallbacks) CancelCall(ctx context.Context, companyID, id string, now time.Time) error {
	notificationID, key, of, ok := provider.ParseCallID(id)
	if !ok || of != carillon.Messaging {
		return carillon.Absent("Call")
	}
	followed := s.subscribed(ctx, companyID, events.Calls)
	err := s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if _, err := own(ctx, tx, companyID, notificationID); err != nil {
			return err
		}
		canceled, err := calls.CancelOne(ctx, tx, companyID, key, now)
		if err == nil && !canceled {
			err = carillon.InConflict("Nothing is left to cancel")
		}
		if err == nil && followed {
			err = events.Call(ctx, tx, key, nil)
		}
		if err != nil {
			return err
		}
		if err := closeIfDone(ctx, tx, key.Seq(), false, now); err != nil {
			return err
		}
		return audit.Record(ctx, tx, now, audit.Entry{CompanyID: companyID, Kind: audit.Call, ID: id, Action: audit.Canceled})
	})
	s.touch(key.Seq(), err)
	return err
}

// StoredFallback is a fallback with its state.
type StoredFallback struct {
	Key       carillon.MessageKey
	LineUID   int64
	Wait      time.Duration
	Due       time.Time // of the next examination; zero once it is decided
	State     FallbackState
	Reason    carillon.Reason
	DecidedAt time.Time
}

// Of returns the fallbacks of a notification's recipients, in order.
func (s *Fallbacks) Of(ctx context.Context, seq carillon.Seq) ([]StoredFallback, error) {
	return db.Collect(ctx, s.d, "fallbacks", func(scan db.Scan) (f StoredFallback, err error) {
		var wait, due, decided int64
		err = scan(&f.Key, &f.LineUID, &wait, &due, &f.State, &f.Reason, &decided)
		f.Wait, f.Due, f.DecidedAt = time.Duration(wait)*time.Millisecond, db.Instant(due), db.Instant(decided)
		return f, err
	}, "SELECT id, sender, wait, due_at, state, reason, decided_at FROM fallback WHERE id BETWEEN $1 AND $2 ORDER BY id",
		int64(seq.Message(0)), int64(seq.LastMessage()))
}

// cancelFallbacks cancels the waiting fallbacks of the messages in a range of keys, and returns how many of these
// messages were sent.
func cancelFallbacks(ctx context.Context, tx *db.Tx, first, last int64, now time.Time) (ofSent int, err error) {
	err = db.Each(ctx, tx, func(scan db.Scan) error {
		var r rank.Rank
		err := scan(&r)
		if r != rank.Canceled && r != rank.Skipped {
			ofSent++
		}
		return err
	}, `UPDATE fallback SET due_at = 0, state = 'canceled', reason = $1, decided_at = $2 WHERE id BETWEEN $3 AND $4 AND due_at + 0 > 0
		RETURNING (SELECT m.rank FROM message AS m WHERE m.id = fallback.id)`, string(carillon.ReasonCanceled), db.Millis(now), first, last)
	return ofSent, db.Wrap(err, "cancel fallbacks")
}
