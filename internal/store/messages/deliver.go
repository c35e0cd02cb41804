package messages

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/base/provider"
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

// Commit stores results and starts together. It is not repeated after a COMMIT without a response, because a start would find
// its rows started and consider them another's.
func (s *Messages) Commit(ctx context.Context, b *work.Batch) error {
	b.Follow(ctx, false, s.followed)
	err := s.deliveries.Commit(ctx, s.DB, b)
	for i := range b.Results {
		if r := &b.Results[i]; r.Move == work.MoveDone {
			s.touch(carillon.MessageKey(r.Key).Seq(), err)
		}
	}
	return err
}

func deliveryKind(t *work.Table, place db.Place) *db.Kind[*work.Batch] {
	k := deliveries{t}
	return &db.Kind[*work.Batch]{
		Name: "delivery", Place: place, Background: true, Unrepeatable: true, Apply: k.apply, Flush: k.flush,
		Rows: (*work.Batch).Rows,
	}
}

// deliveries writes the batches of messages.
type deliveries struct{ table *work.Table }

func (k deliveries) apply(ctx context.Context, tx *db.Tx, all []*work.Batch, _ bool) error {
	for _, b := range all {
		epochs, err := b.TakeAll(ctx, tx)
		if err != nil {
			return err
		}
		if err := writeResults(ctx, tx, b.Results); err != nil {
			return fmt.Errorf("write results: %w", err)
		}
		if failed := failures(b.Results); len(failed) > 0 {
			if err := tx.Run(ctx, hasten(tx.DB(), failed)); err != nil {
				return fmt.Errorf("hasten fallbacks: %w", err)
			}
		}
		if err := tx.Run(ctx, k.table.Postpone(b.Later)...); err != nil {
			return fmt.Errorf("postpone: %w", err)
		}
		if err := tx.Run(ctx, startStatements(tx.DB(), b.Startable(epochs), b.Now)...); err != nil {
			return fmt.Errorf("start: %w", err)
		}
	}
	return nil
}

// failures returns the keys of the messages that failed, sorted.
func failures(results []work.Result) (keys []int64) {
	for i := range results {
		if r := &results[i]; r.Move == work.MoveDone && OutcomeOf(r).Rank == rank.Failed {
			keys = append(keys, int64(r.Key))
		}
	}
	slices.Sort(keys)
	return keys
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

// flush returns the statements for the usual case that every fence holds and that each message whose end has an event
// is still in flight: no receipt came before the result. Otherwise one of them fails, because it divides by zero, and the
// batches are applied.
func (k deliveries) flush(tx *db.Tx, all []*work.Batch) ([]db.Statement, bool) {
	var statements []db.Statement
	for _, b := range all {
		b.Lost = b.Lost[:0]
		epochs := make(map[int]int64, len(b.Fences))
		for _, f := range b.Fences {
			epochs[f.Shard] = f.Epoch
			statements = append(statements, f.Share())
		}
		results, ok := usualResults(tx, b.Results)
		if !ok {
			return nil, false
		}
		statements = append(statements, results...)
		if failed := failures(b.Results); len(failed) > 0 {
			statements = append(statements, hasten(tx.DB(), failed))
		}
		statements = append(statements, k.table.Postpone(b.Later)...)
		statements = append(statements, startStatements(tx.DB(), b.Startable(epochs), b.Now)...)
	}
	return statements, true
}

// startStatements start messages and set the attempts of those that start. The fences lock the epochs of the shards.
// No partial index is used: with stale statistics the planner considers the due index empty and would read all due
// rows for each batch. The primary key finds each row.
func startStatements(d *db.DB, starts []*work.Start, now time.Time) []db.Statement {
	if len(starts) == 0 {
		return nil
	}
	byKey, keys := make(map[work.Key]*work.Start, len(starts)), make([]int64, len(starts))
	for i, st := range starts {
		byKey[st.Key], keys[i] = st, int64(st.Key)
	}
	return []db.Statement{{
		SQL: `UPDATE message SET q = 2, attempt = attempt + 1, started_at = $1,
		epoch = (SELECT s.epoch FROM shard AS s WHERE s.id = message.shard)
		WHERE id ` + d.In(2) + ` AND q + 0 = 1 AND hold || '' = '' AND due_at <= $1
		RETURNING id, attempt`, Args: []any{db.Millis(now), d.List(keys)},
		Scan: func(scan db.Scan) error {
			var k work.Key
			var attempt int
			if err := scan(&k, &attempt); err != nil {
				return err
			}
			byKey[k].Attempt = attempt
			return nil
		},
	}}
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

// Receive stores receipts, which arrive out of order and repeatedly: the rank only rises, and each time is written
// once. A receipt of an earlier attempt removes a queued message from the queue. A message that is held after a
// restore may have had attempts that this database does not know.
func (s *Messages) Receive(ctx context.Context, receipts []provider.Receipt) error {
	all := make([]receipt, len(receipts))
	for i, r := range receipts {
		all[i] = receipt{r, s.followed(ctx, r.SenderUID)}
	}
	err := s.receipts.Commit(ctx, s.DB, all)
	for i := range all {
		s.touch(all[i].Ref.Key().Seq(), err)
	}
	return err
}

// receipt is a receipt to be stored.
type receipt struct {
	provider.Receipt
	followed bool // its company subscribes to events
}

func receiptKind(place db.Place) *db.Kind[[]receipt] {
	return &db.Kind[[]receipt]{Name: "receipt", Place: place, Apply: applyReceipts}
}

// applyReceipts writes the receipts of all callbacks of a transaction, in the lock order.
func applyReceipts(ctx context.Context, tx *db.Tx, callbacks [][]receipt, _ bool) error {
	every := slices.Concat(callbacks...)
	slices.SortStableFunc(every, func(a, b receipt) int { return cmp.Compare(a.Ref.Key(), b.Ref.Key()) })
	for all := every; len(all) > 0; {
		n := 1
		for n < len(all) && all[n].followed == all[0].followed {
			n++
		}
		if err := receiveRun(ctx, tx, all[:n]); err != nil {
			return fmt.Errorf("write receipts: %w", err)
		}
		all = all[n:]
	}
	var decisive []int64
	for i := range every {
		if every[i].State != carillon.StateSent {
			decisive = append(decisive, int64(every[i].Ref.Key()))
		}
	}
	if len(decisive) > 0 {
		if err := tx.Run(ctx, hasten(tx.DB(), slices.Compact(decisive))); err != nil {
			return fmt.Errorf("hasten fallbacks: %w", err)
		}
	}
	return countCharges(ctx, tx, every)
}

// receiveRun writes receipts of which either all or none may have events.
func receiveRun(ctx context.Context, tx *db.Tx, run []receipt) error {
	var followed []carillon.MessageKey
	if run[0].followed {
		for i := range run {
			followed = append(followed, run[i].Ref.Key())
		}
	}
	return events.Messages(ctx, tx, followed, func() error {
		for i := range run {
			if err := receive(ctx, tx, &run[i].Receipt); err != nil {
				return err
			}
		}
		return nil
	})
}

const (
	receiptUp = `UPDATE message SET q = 0,
		reason = CASE WHEN rank < $3 THEN NULL ELSE reason END, detail = CASE WHEN rank < $3 THEN NULL ELSE detail END,
		ended_at = CASE WHEN rank < $3 THEN NULL ELSE ended_at END, rank = CASE WHEN rank < $3 THEN $3 ELSE rank END,
		provider_id = COALESCE(provider_id, $4), `
	receiptWhere = ` WHERE id = $1 AND sender = $2 AND rank <> 10 AND (attempt > 0 OR hold LIKE 'restored/%')`

	receiptSent      = receiptUp + `sent_at = COALESCE(sent_at, $5)` + receiptWhere + ` AND (rank < $3 OR sent_at IS NULL)`
	receiptDelivered = receiptUp + `delivered_at = COALESCE(delivered_at, $5)` + receiptWhere + ` AND (rank < $3 OR delivered_at IS NULL)`
	receiptRead      = receiptUp + `read_at = COALESCE(read_at, $5)` + receiptWhere + ` AND (rank < $3 OR read_at IS NULL)`
	receiptFailed    = `UPDATE message SET q = 0, rank = $3, reason = $5, detail = $6, ended_at = $7, provider_id = ` +
		`COALESCE(provider_id, $4)` +
		receiptWhere + ` AND rank < $3 AND (attempt = $8 OR $8 = 0)`
)

func receive(ctx context.Context, tx *db.Tx, r *provider.Receipt) error {
	id, at := int64(r.Ref.Key()), db.Millis(r.At)
	to := int(rank.Of(r.State))
	provider := orNil(r.ProviderID)
	var err error
	switch r.State {
	case carillon.StateSent:
		_, err = tx.Exec(ctx, receiptSent, id, r.SenderUID, to, provider, at)
	case carillon.StateDelivered:
		_, err = tx.Exec(ctx, receiptDelivered, id, r.SenderUID, to, provider, at)
	case carillon.StateRead:
		_, err = tx.Exec(ctx, receiptRead, id, r.SenderUID, to, provider, at)
	case carillon.StateFailed:
		_, err = tx.Exec(ctx, receiptFailed, id, r.SenderUID, to, provider, string(r.Reason), orNil(r.Detail), at, r.Ref.Attempt)
	default: // not reported by any provider
	}
	return err
}
