package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"carillon"
	"carillon/internal/db"
)

// Fence proves that a node still owns a shard: a start is committed only with it (engine.md, section 2).
type Fence struct {
	Shard int
	Owner string
	Epoch int64
}

// Start is a message that is about to be sent. The store fills Attempt; 0: the row was not ours to start any more.
type Start struct {
	Key     carillon.MessageKey
	Shard   int
	Attempt int
}

// Move says what a result does to the message's place in the queue.
type Move int

// The moves.
const (
	MoveDone    Move = iota // ended: Rank says how
	MoveRetry               // queued again for Due
	MoveUnknown             // outcome unknown until Due
	MoveHold                // held back under Hold
	MoveUnsent              // its start was committed, but nothing left: queued again for Due
)

// Result is what became of one attempt. It is accepted from anyone, by message and attempt.
type Result struct {
	Key        carillon.MessageKey
	Attempt    int
	Move       Move
	Rank       carillon.Rank
	Due        time.Time
	Hold       string
	ProviderID string
	Reason     carillon.Reason
	Detail     string
	At         time.Time
}

// Delivery is one commit of a node's deliveries: the results since the last one and the next starts, each sorted by
// key.
type Delivery struct {
	Fences  []Fence // of the shards of the starts, sorted by shard
	Starts  []*Start
	Results []Result
	Later   []Queued // moved to their Due without an attempt, sorted by key: a recipient's interval
	Now     time.Time
	Lost    []int // filled: shards whose fence no longer held; their starts were dropped
}

// Deliver commits results and starts together. It is not repeated when the COMMIT got no response: a start would find its
// rows started and take them for another's.
func (s *Store) Deliver(ctx context.Context, d *Delivery) error {
	return s.deliveries.Commit(ctx, s.DB, d)
}

func deliveryKind() *db.Kind[*Delivery] {
	return &db.Kind[*Delivery]{
		Name: "delivery", Place: placeDelivery, Background: true, Unrepeatable: true, Apply: applyDeliveries, Flush: flushDeliveries,
		Rows: func(d *Delivery) int { return len(d.Starts) + len(d.Results) + len(d.Later) },
	}
}

func applyDeliveries(ctx context.Context, tx *db.Tx, all []*Delivery, _ bool) error {
	for _, d := range all {
		if err := d.apply(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

func (d *Delivery) apply(ctx context.Context, tx *db.Tx) error {
	d.Lost = d.Lost[:0]
	epochs := map[int]int64{}
	for _, f := range d.Fences {
		held, err := fence(ctx, tx, f)
		if err != nil {
			return err
		}
		if !held {
			d.Lost = append(d.Lost, f.Shard)
			continue
		}
		epochs[f.Shard] = f.Epoch
	}
	if err := tx.Run(ctx, resultStatements(d.Results, tx.SQLite())...); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	if err := tx.Run(ctx, postponed(d.Later, tx.SQLite())...); err != nil {
		return fmt.Errorf("postpone: %w", err)
	}
	return writeStarts(ctx, tx, d.startable(epochs), epochs, db.Millis(d.Now))
}

// startable are the starts of shards whose fence holds, as they were before anything was tried.
func (d *Delivery) startable(epochs map[int]int64) []*Start {
	starts := make([]*Start, 0, len(d.Starts))
	for _, st := range d.Starts {
		st.Attempt = 0
		if _, ok := epochs[st.Shard]; ok {
			starts = append(starts, st)
		}
	}
	return starts
}

// flushDeliveries returns the statements for the usual case that every fence holds. One that does not divides by zero, and
// the deliveries are applied.
func flushDeliveries(_ *db.Tx, all []*Delivery) ([]db.Statement, bool) {
	var statements []db.Statement
	for _, d := range all {
		d.Lost = d.Lost[:0]
		epochs := make(map[int]int64, len(d.Fences))
		for _, f := range d.Fences {
			epochs[f.Shard] = f.Epoch
			statements = append(statements, f.shared())
		}
		statements = append(statements, resultStatements(d.Results, false)...)
		statements = append(statements, postponed(d.Later, false)...)
		if starts := d.startable(epochs); len(starts) > 0 {
			statements = append(statements, startStatement(starts, epochs, db.Millis(d.Now)))
		}
	}
	return statements, true
}

// sharedFence locks a shard's row until the commit. Whoever frees or takes the shard updates the row, so that one waits for
// the other's end and sees what it left. No version of the row is written: while a snapshot is held none can be cleaned
// away, and each look at the row would pass all of them (docs/adr/0014-share-locks-as-fences.md).
const sharedFence = "SELECT 1 / COUNT(*) FROM (SELECT 1 FROM shard WHERE id = $1 AND owner = $2 AND epoch = $3 FOR SHARE) AS held"

func (f Fence) shared() db.Statement {
	return db.Statement{SQL: sharedFence, Args: []any{f.Shard, f.Owner, f.Epoch}}
}

// fence locks a shard's row against everybody, this node's own deliveries too, and reports whether the node still owns it.
func fence(ctx context.Context, tx *db.Tx, f Fence) (held bool, err error) {
	n, err := tx.Exec(ctx, "UPDATE shard SET writes = writes + 1 WHERE id = $1 AND owner = $2 AND epoch = $3", f.Shard, f.Owner, f.Epoch)
	if err != nil {
		return false, fmt.Errorf("fence: %w", err)
	}
	return n == 1, nil
}

func writeStarts(ctx context.Context, tx *db.Tx, starts []*Start, epochs map[int]int64, now int64) error {
	if len(starts) == 0 {
		return nil
	}
	if tx.SQLite() {
		return startInRuns(ctx, tx, starts, epochs, now)
	}
	return tx.Run(ctx, startStatement(starts, epochs, now))
}

// startInRuns starts the neighbours among the recipients of a notification with one statement: what a statement costs
// beside its rows is more than they cost.
func startInRuns(ctx context.Context, tx *db.Tx, starts []*Start, epochs map[int]int64, now int64) error {
	for len(starts) > 0 {
		n := 1
		for n < len(starts) && follows(starts[n-1], starts[n]) {
			n++
		}
		if err := startRun(ctx, tx, starts[:n], epochs[starts[0].Shard], now); err != nil {
			return fmt.Errorf("start: %w", err)
		}
		starts = starts[n:]
	}
	return nil
}

func follows(a, b *Start) bool {
	return b.Key == a.Key+1 && b.Shard == a.Shard
}

// runShort is when one statement that returns its rows costs less than two that do not.
const runShort = 4

// startRun fills the attempts of those that start, and of no other. Mostly all of a run may: when a look finds that they
// all do, and were attempted as often as is known, their rows need not be returned one by one. Nothing comes between the
// look and the start: there is one writer.
func startRun(ctx context.Context, tx *db.Tx, run []*Start, epoch, now int64) error {
	first, last := run[0].Key, run[len(run)-1].Key
	if len(run) >= runShort {
		var count, least, most int
		if err := tx.Row(ctx, []any{&count, &least, &most}, `SELECT COUNT(*), COALESCE(MIN(attempt), 0), COALESCE(MAX(attempt), 0)
			FROM message WHERE id BETWEEN ?1 AND ?2 AND q + 0 = 1 AND hold || '' = '' AND due_at <= ?3`,
			int64(first), int64(last), now); err != nil {
			return err
		}
		if count == len(run) && least == most {
			_, err := tx.Exec(ctx, `UPDATE message SET q = 2, attempt = attempt + 1, epoch = ?1, started_at = ?2
				WHERE id BETWEEN ?3 AND ?4 AND q + 0 = 1`, epoch, now, int64(first), int64(last))
			for _, st := range run {
				st.Attempt = most + 1
			}
			return err
		}
	}
	rows, err := tx.Query(ctx, `UPDATE message SET q = 2, attempt = attempt + 1, epoch = ?1, started_at = ?2
		WHERE id BETWEEN ?3 AND ?4 AND q + 0 = 1 AND hold || '' = '' AND due_at <= ?2
		RETURNING id, attempt`, epoch, now, int64(first), int64(last))
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var key carillon.MessageKey
		var attempt int
		if err := rows.Scan(&key, &attempt); err != nil {
			return err
		}
		run[key-first].Attempt = attempt
	}
	return rows.Err()
}

// startStatement starts messages on PostgreSQL and fills the attempts of those that did. Its conditions are written so
// that no partial index serves them: a planner without fresh statistics takes the due index for empty and reads all that
// is due, once a batch. By the primary key each row is found.
func startStatement(starts []*Start, epochs map[int]int64, now int64) db.Statement {
	byKey := make(map[carillon.MessageKey]*Start, len(starts))
	ids, es := make([]int64, len(starts)), make([]int64, len(starts))
	for i, st := range starts {
		ids[i], es[i] = int64(st.Key), epochs[st.Shard]
		byKey[st.Key] = st
	}
	return db.Statement{
		SQL: `UPDATE message AS m SET q = 2, attempt = m.attempt + 1, epoch = u.epoch, started_at = $3
		FROM (SELECT unnest($1::bigint[]) AS id, unnest($2::bigint[]) AS epoch) AS u
		WHERE m.id = u.id AND m.q + 0 = 1 AND m.hold || '' = '' AND m.due_at <= $3
		RETURNING m.id, m.attempt`, Args: []any{ids, es, now},
		Scan: func(rows db.Rows) error {
			for rows.Next() {
				var k carillon.MessageKey
				var attempt int
				if err := rows.Scan(&k, &attempt); err != nil {
					return fmt.Errorf("start: %w", err)
				}
				byKey[k].Attempt = attempt
			}
			return rows.Err()
		},
	}
}

// The statements of results, by move, in the order of Move. A result may come after a receipt that knew more: rank only
// rises, a time once written stays. `q + 0` keeps them to the primary key, as startStatement says.
const (
	resultDone = `UPDATE message SET q = 0,
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

// resultStatements are the statements of results: on PostgreSQL one for all successes of a batch, the rest one by one.
func resultStatements(results []Result, sqlite bool) []db.Statement {
	if !sqlite {
		return resultsTogether(results)
	}
	all := make([]db.Statement, len(results))
	for i := range results {
		all[i] = results[i].statement()
	}
	return all
}

func (r *Result) statement() db.Statement {
	switch r.Move {
	case MoveRetry:
		return db.Statement{SQL: resultRetry, Args: []any{int64(r.Key), r.Attempt, db.Millis(r.Due), orNil(r.Detail)}}
	case MoveUnknown:
		return db.Statement{SQL: resultUnknown, Args: []any{int64(r.Key), r.Attempt, db.Millis(r.Due), orNil(r.Detail)}}
	case MoveUnsent:
		return db.Statement{SQL: resultUnsent, Args: []any{int64(r.Key), r.Attempt, db.Millis(r.Due), orNil(r.Detail)}}
	case MoveHold:
		return db.Statement{SQL: resultHold, Args: []any{int64(r.Key), r.Attempt, r.Hold, orNil(r.Detail)}}
	case MoveDone:
	}
	sent, ended := doneTimes(r)
	return db.Statement{SQL: resultDone, Args: []any{
		int64(r.Key), int(r.Rank), orNil(string(r.Reason)), orNil(r.Detail),
		orZero(ended), orNil(r.ProviderID), orZero(sent), r.Attempt,
	}}
}

func doneTimes(r *Result) (sent, ended int64) {
	if r.Rank == carillon.RankSent || r.Rank == carillon.RankDialing {
		return db.Millis(r.At), 0
	}
	return 0, db.Millis(r.At)
}

// resultsTogether are the statements of results on PostgreSQL: one, the same as resultDone, for all successes of a batch
// when there are several; the rest goes one by one.
func resultsTogether(results []Result) []db.Statement {
	var all []db.Statement
	var providers []string
	var ids, attempts, ranks, sents []int64
	for i := range results {
		r := &results[i]
		if sent, _ := doneTimes(r); r.Move == MoveDone && sent > 0 && len(results) >= togetherLeast {
			ids, providers = append(ids, int64(r.Key)), append(providers, storable(r.ProviderID))
			attempts = append(attempts, int64(r.Attempt))
			ranks, sents = append(ranks, int64(r.Rank)), append(sents, sent)
			continue
		}
		all = append(all, r.statement())
	}
	if len(ids) == 0 {
		return all
	}
	return append(all, db.Statement{SQL: `UPDATE message AS m SET q = 0,
		reason = CASE WHEN m.rank < u.rank THEN NULL ELSE m.reason END,
		detail = CASE WHEN m.rank < u.rank THEN NULL ELSE m.detail END,
		ended_at = CASE WHEN m.rank < u.rank THEN NULL ELSE m.ended_at END,
		rank = GREATEST(m.rank, u.rank),
		provider_id = COALESCE(m.provider_id, NULLIF(u.provider, '')), sent_at = COALESCE(m.sent_at, u.sent)
		FROM (SELECT unnest($1::bigint[]) AS id, unnest($2::bigint[]) AS attempt,
			unnest($3::bigint[]) AS rank, unnest($4::text[]) AS provider, unnest($5::bigint[]) AS sent) AS u
		WHERE m.id = u.id AND m.attempt = u.attempt`, Args: []any{ids, attempts, ranks, providers, sents}})
}

// togetherLeast is how many results are worth a statement of their own.
const togetherLeast = 4

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return storable(s)
}

// storable is a text of a provider's as every database takes it: what PostgreSQL refused would be refused again with each
// commit, and everything beside it.
func storable(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

func orZero(ms int64) any {
	if ms == 0 {
		return nil
	}
	return ms
}

// Receive writes what a provider reported later. Receipts come unordered and repeated: rank only rises, each time is
// written once; a receipt of an earlier attempt takes a queued one out of the queue. What is held after a restore may have
// had attempts that this database does not know of.
func (s *Store) Receive(ctx context.Context, receipts []carillon.Receipt) error {
	return s.receipts.Commit(ctx, s.DB, receipts)
}

func receiptKind() *db.Kind[[]carillon.Receipt] {
	return &db.Kind[[]carillon.Receipt]{Name: "receipt", Place: placeReceipt, Apply: applyReceipts}
}

// applyReceipts writes the receipts of all callbacks of a transaction, in the order of locks.
func applyReceipts(ctx context.Context, tx *db.Tx, callbacks [][]carillon.Receipt, _ bool) error {
	all := slices.Concat(callbacks...)
	sortReceipts(all)
	for i := range all {
		if err := receive(ctx, tx, &all[i]); err != nil {
			return fmt.Errorf("write receipt: %w", err)
		}
	}
	return nil
}

func sortReceipts(receipts []carillon.Receipt) { // in the order of locks
	slices.SortStableFunc(receipts, func(a, b carillon.Receipt) int {
		return cmp.Compare(a.Ref.Key(), b.Ref.Key())
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
	receiptFailed    = `UPDATE message SET q = 0, rank = $3, reason = $5, detail = $6, ended_at = $7, provider_id = COALESCE(provider_id, $4)` +
		receiptWhere + ` AND rank < $3 AND (attempt = $8 OR $8 = 0)`
	receiptEnded = `UPDATE message SET q = 0, rank = $3, reason = NULL, detail = NULL, ended_at = $5, provider_id = COALESCE(provider_id, $4)` +
		receiptWhere + ` AND rank < $3`
)

func receive(ctx context.Context, tx *db.Tx, r *carillon.Receipt) error {
	id, at := int64(r.Ref.Key()), db.Millis(r.At)
	rank := int(carillon.RankOf(r.Channel, r.State))
	provider := orNil(r.ProviderID)
	var err error
	switch r.State {
	case carillon.StateSent, carillon.StateDialing:
		_, err = tx.Exec(ctx, receiptSent, id, r.SenderUID, rank, provider, at)
	case carillon.StateDelivered, carillon.StateInProgress:
		_, err = tx.Exec(ctx, receiptDelivered, id, r.SenderUID, rank, provider, at)
	case carillon.StateRead, carillon.StateRinging: // a call is never read: the column holds when it rang
		_, err = tx.Exec(ctx, receiptRead, id, r.SenderUID, rank, provider, at)
	case carillon.StateFailed:
		_, err = tx.Exec(ctx, receiptFailed, id, r.SenderUID, rank, provider, string(r.Reason), orNil(r.Detail), at, r.Ref.Attempt)
	default:
		_, err = tx.Exec(ctx, receiptEnded, id, r.SenderUID, rank, provider, at)
	}
	return err
}
