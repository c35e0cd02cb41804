package messages

import (
	"context"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/store/db"
	"carillon/internal/store/events"
	"carillon/internal/store/rank"
	"carillon/internal/store/work"
)

// Outcome is the part of a result about the message.
type Outcome struct {
	// Of, SenderID and Number identify the message that ended: with them its event is known without reading the
	// message again.
	Of       *Notification // nil if unknown
	SenderID string
	Number   string // of the recipient

	Rank       rank.Rank
	Hold       string // with work.MoveHold: the name under which the message is held
	ProviderID string
	Reason     carillon.Reason
}

// OutcomeOf returns the part of a result about the message.
func OutcomeOf(r *work.Result) Outcome {
	o, _ := r.Outcome.(Outcome)
	return o
}

// endsOf returns the ends of the messages whose company subscribes to events (Followed).
func endsOf(results []work.Result) (all []events.End) {
	for i := range results {
		if results[i].Followed {
			all = append(all, endOf(&results[i]))
		}
	}
	return all
}

func endOf(r *work.Result) events.End {
	o := OutcomeOf(r)
	sent, ended := doneTimes(o.Rank, r.At)
	return events.End{Key: carillon.MessageKey(r.Key), Attempt: r.Attempt, Rank: o.Rank, Reason: o.Reason, Sent: sent, Ended: ended}
}

// The statements of results, in the order of Move. A result may arrive after a later receipt: the rank only rises, and a time
// is written once. `q + 0` forces the primary key, as in startStatements.
const (
	resultDone = `UPDATE message AS m SET q = 0,
		reason = CASE WHEN rank < $2 THEN $3 ELSE reason END, detail = CASE WHEN rank < $2 THEN $4 ELSE detail END,
		ended_at = CASE WHEN rank < $2 THEN CAST($5 AS BIGINT) ELSE ended_at END,
		rank = CASE WHEN rank < $2 THEN $2 ELSE rank END,
		provider_id = COALESCE(provider_id, $6), sent_at = COALESCE(sent_at, CAST($7 AS BIGINT))
		WHERE id = $1 AND attempt = $8`
	resultRetry = `UPDATE message SET q = 1, due_at = $3, detail = $4
		WHERE id = $1 AND attempt = $2 AND q + 0 >= 2`
	resultUnsent = `UPDATE message SET q = 1, due_at = $3, detail = $4
		WHERE id = $1 AND attempt = $2 AND q + 0 = 2`
	resultUnknown = `UPDATE message SET q = 3, due_at = $3, detail = $4
		WHERE id = $1 AND attempt = $2 AND q + 0 = 2`
	resultHold = `UPDATE message SET q = 1, hold = $3, detail = $4
		WHERE id = $1 AND attempt = $2 AND q + 0 >= 2`
)

// writeResults writes results, on PostgreSQL with one statement for all successes of a batch, and records their
// events.
func writeResults(ctx context.Context, tx *db.Tx, results []work.Result) error {
	if !tx.SQLite() {
		if err := events.Ends(ctx, tx, endsOf(results)); err != nil {
			return err
		}
		return tx.Run(ctx, resultsTogether(results, false)...)
	}
	for i := range results {
		written, err := writeUsual(ctx, tx, &results[i])
		if err == nil && !written {
			err = events.Ends(ctx, tx, endsOf(results[i:i+1]))
		}
		if err == nil && !written {
			err = tx.Run(ctx, resultStatement(&results[i]))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeUsual writes a result whose event is known without reading the message.
func writeUsual(ctx context.Context, tx *db.Tx, r *work.Result) (written bool, err error) {
	if !r.Followed || OutcomeOf(r).Of == nil {
		return false, nil
	}
	st := resultStatement(r)
	n, err := tx.Exec(ctx, st.SQL+stillSending, st.Args...)
	if n > 0 {
		recordEnd(tx, r)
	}
	return n > 0, err
}

// recordEnd records the event of a message that was in flight.
func recordEnd(tx *db.Tx, r *work.Result) {
	o, end := OutcomeOf(r), endOf(r)
	of := events.Notification{CompanyID: o.Of.CompanyID, ID: o.Of.ID, Campaign: o.Of.Campaign, SenderID: o.SenderID}
	of.SendingEnded(tx, o.Number, &end)
}

// usualResults returns the statements of results for the usual case, and records their events. They fail if a message
// whose end has an event is no longer in flight. ok is false if an event is unknown without reading the message.
func usualResults(tx *db.Tx, results []work.Result) (all []db.Statement, ok bool) {
	var followed, others []work.Result
	for i := range results {
		r := &results[i]
		if !r.Followed {
			others = append(others, *r)
			continue
		}
		if OutcomeOf(r).Of == nil {
			return nil, false
		}
		recordEnd(tx, r)
		followed = append(followed, *r)
	}
	return append(resultsTogether(followed, true), resultsTogether(others, false)...), true
}

// stillSending is appended to the condition of a statement of successes or failures.
const stillSending = " AND m.q + 0 >= 2 AND m.rank = 0 AND m.sent_at IS NULL"

// sendingOnly restricts a statement of successes or failures to messages in flight. It divides by zero if it updates
// fewer rows than given.
func sendingOnly(st db.Statement, rows int) db.Statement {
	st.Args = append(st.Args, rows)
	st.SQL = "WITH ended AS (" + st.SQL + stillSending + ` RETURNING 1)
		SELECT 1 / CAST(COUNT(*) = $` + strconv.Itoa(len(st.Args)) + " AS INTEGER) FROM ended"
	return st
}

func resultStatement(r *work.Result) db.Statement {
	o := OutcomeOf(r)
	switch r.Move {
	case work.MoveRetry:
		return db.Statement{SQL: resultRetry, Args: []any{int64(r.Key), r.Attempt, db.Millis(r.Due), orNil(r.Detail)}}
	case work.MoveUnknown:
		return db.Statement{SQL: resultUnknown, Args: []any{int64(r.Key), r.Attempt, db.Millis(r.Due), orNil(r.Detail)}}
	case work.MoveUnsent:
		return db.Statement{SQL: resultUnsent, Args: []any{int64(r.Key), r.Attempt, db.Millis(r.Due), orNil(r.Detail)}}
	case work.MoveHold:
		return db.Statement{SQL: resultHold, Args: []any{int64(r.Key), r.Attempt, o.Hold, orNil(r.Detail)}}
	case work.MoveDone:
	}
	sent, ended := doneTimes(o.Rank, r.At)
	return db.Statement{SQL: resultDone, Args: []any{
		int64(r.Key), int(o.Rank), orNil(string(o.Reason)), orNil(r.Detail),
		orZero(ended), orNil(o.ProviderID), orZero(sent), r.Attempt,
	}}
}

func doneTimes(r rank.Rank, at time.Time) (sent, ended int64) {
	if r == rank.Sent {
		return db.Millis(at), 0
	}
	return 0, db.Millis(at)
}

// resultsTogether returns the statements of results on PostgreSQL: one like resultDone for all successes of a batch if
// there are several; the others one by one. With sending, each statement fails unless all of its messages are in
// flight.
func resultsTogether(results []work.Result, sending bool) []db.Statement {
	var all []db.Statement
	add := func(st db.Statement, rows int) {
		if sending {
			st = sendingOnly(st, rows)
		}
		all = append(all, st)
	}
	var providers []string
	var ids, attempts, ranks, sents []int64
	for i := range results {
		r := &results[i]
		o := OutcomeOf(r)
		if sent, _ := doneTimes(o.Rank, r.At); r.Move == work.MoveDone && sent > 0 && len(results) >= minTogether {
			ids, providers = append(ids, int64(r.Key)), append(providers, o.ProviderID)
			attempts = append(attempts, int64(r.Attempt))
			ranks, sents = append(ranks, int64(o.Rank)), append(sents, sent)
			continue
		}
		add(resultStatement(r), 1)
	}
	if len(ids) == 0 {
		return all
	}
	add(db.Statement{SQL: `UPDATE message AS m SET q = 0,
		reason = CASE WHEN m.rank < u.rank THEN NULL ELSE m.reason END,
		detail = CASE WHEN m.rank < u.rank THEN NULL ELSE m.detail END,
		ended_at = CASE WHEN m.rank < u.rank THEN NULL ELSE m.ended_at END,
		rank = GREATEST(m.rank, u.rank),
		provider_id = COALESCE(m.provider_id, NULLIF(u.provider, '')), sent_at = COALESCE(m.sent_at, u.sent)
		FROM (SELECT unnest($1::bigint[]) AS id, unnest($2::bigint[]) AS attempt,
			unnest($3::bigint[]) AS rank, unnest($4::text[]) AS provider, unnest($5::bigint[]) AS sent) AS u
		WHERE m.id = u.id AND m.attempt = u.attempt`, Args: []any{ids, attempts, ranks, providers, sents}}, len(ids))
	return all
}

// minTogether is the number of results from which a shared statement is cheaper.
const minTogether = 4

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func orZero(ms int64) any {
	if ms == 0 {
		return nil
	}
	return ms
}
