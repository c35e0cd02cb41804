// Package calls is the SQL of calls. A call waits in a lane until it is dialed, is in progress on one node from
// dialing to its end, and may be redialed. The database counts a line's calls in progress, so that its limit holds
// when its shard moves.
package calls

import (
	"context"
	"fmt"
	"slices"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/store/audit"
	"carillon/internal/store/db"
	"carillon/internal/store/work"
)

// Call is a stored call.
type Call struct {
	Key        carillon.MessageKey
	CompanyID  string
	SenderUID  int64
	Number     string
	Queued     bool
	UnderWay   bool
	Held       bool
	Due        time.Time // queued: next dial time
	Attempts   int       // number of starts
	Dials      int       // attempts that reached the network
	Node       string    // node of a call in progress
	State      carillon.State
	Reason     carillon.Reason
	Detail     string
	Cause      string // reason reported by the network
	EndedBy    string // agent, callee, caller, system
	AnsweredBy string // human, machine, unknown
	Talk
	Times
}

// Talk is the transcript of a call.
type Talk struct {
	ConversationID string // empty if nobody talked
	Recording      string // file id; empty if none
	NoRecording    NoRecording
	WACID          string // WhatsApp's id of the call; empty for telephone calls
}

// NoRecording is the reason why a recorded call has no recording; empty if it has one, or was not recorded.
type NoRecording string

// The reasons.
const (
	Refused NoRecording = "refused" // by the other side
	Expired NoRecording = "expired" // deleted after the company's retention of recordings
)

// Times are when a call or an attempt reached each state; zero if it did not.
type Times struct {
	DialedAt, RingingAt, AnsweredAt, EndedAt time.Time
}

// Attempt is one dialing of a call.
type Attempt struct {
	N      int
	State  carillon.State
	Reason carillon.Reason
	Detail string
	Cause  string
	Counts bool // it reached the network
	Times
}

// Outcome is the part of a result about the call: the end of the attempt, and with work.MoveDone the end of the call.
type Outcome struct {
	State      carillon.State
	Reason     carillon.Reason
	Cause      string
	EndedBy    string
	AnsweredBy string
	Counts     bool             // the attempt reached the network
	Result     carillon.Details // the agent's findings, for the event
	RingingAt  time.Time
	AnsweredAt time.Time
}

// Store reads and writes the tables of calls. Make it with New.
type Store struct {
	*work.Table
	batches  *db.Kind[*work.Batch]
	progress *db.Kind[db.Func]
	node     func() string
	followed func(ctx context.Context, lineUID int64) bool
	changed  func(seq carillon.Seq, err error)
}

// New returns the tables of calls. Batches of starts and results, and changes of calls in progress, have their places
// in the lock order. node is this node's id; followed reports whether the events of a line's company are written;
// changed is called after each commit that may have changed a call of a notification.
func New(
	d *db.DB, batches, progress db.Place, node func() string, followed func(ctx context.Context, lineUID int64) bool,
	changed func(seq carillon.Seq, err error),
) *Store {
	s := &Store{
		Table: &work.Table{DB: d, Name: "call"}, progress: db.Funcs("call", progress), node: node, followed: followed, changed: changed,
	}
	s.batches = &db.Kind[*work.Batch]{
		Name: "calls", Place: batches, Background: true, Unrepeatable: true, Apply: s.apply, Rows: (*work.Batch).Rows,
	}
	return s
}

const columns = `id, company_id, sender, number, q, hold, due_at, attempt, dials, node, state, reason, detail, cause, ended_by, answered_by,
	dialed_at, ringing_at, answered_at, ended_at, conversation_id, recording, no_recording, wacid`

func scan(row func(...any) error) (*Call, error) {
	var c Call
	var q int
	var hold string
	var due, dialed, ringing, answered, ended int64
	err := row(&c.Key, &c.CompanyID, &c.SenderUID, &c.Number, &q, &hold, &due, &c.Attempts, &c.Dials, &c.Node, &c.State, &c.Reason,
		&c.Detail,
		&c.Cause, &c.EndedBy, &c.AnsweredBy, &dialed, &ringing, &answered, &ended, &c.ConversationID, &c.Recording, &c.NoRecording,
		&c.WACID)
	c.Queued, c.UnderWay, c.Held, c.Due = q == 1, q == 2, hold != "", db.Instant(due)
	c.Times = times(dialed, ringing, answered, ended)
	return &c, err
}

func times(dialed, ringing, answered, ended int64) Times {
	return Times{db.Instant(dialed), db.Instant(ringing), db.Instant(answered), db.Instant(ended)}
}

// Find reads a call by its key; nil when there is none.
func (s *Store) Find(ctx context.Context, key carillon.MessageKey) (*Call, error) {
	return db.Find(ctx, s.DB, "call", scan, "SELECT "+columns+" FROM call WHERE id = $1", int64(key))
}

// Of reads the calls of notifications.
func (s *Store) Of(ctx context.Context, seqs []carillon.Seq) (map[carillon.Seq]*Call, error) {
	found := make(map[carillon.Seq]*Call, len(seqs))
	if len(seqs) == 0 {
		return found, nil
	}
	keys := make([]int64, len(seqs))
	for i, seq := range seqs {
		keys[i] = int64(seq.Message(0))
	}
	all, err := s.read(ctx, "SELECT "+columns+" FROM call WHERE id "+s.DB.In(1), s.DB.List(keys))
	for _, c := range all {
		found[c.Key.Seq()] = c
	}
	return found, err
}

// All reads the calls of a notification and the attempts at them, by the keys of the calls.
func (s *Store) All(
	ctx context.Context, seq carillon.Seq,
) (found map[carillon.MessageKey]*Call, attempts map[carillon.MessageKey][]Attempt, err error) {
	all, err := s.read(ctx, "SELECT "+columns+" FROM call WHERE id BETWEEN $1 AND $2", int64(seq.Message(0)), int64(seq.LastMessage()))
	if err != nil {
		return nil, nil, err
	}
	found = make(map[carillon.MessageKey]*Call, len(all))
	for _, c := range all {
		found[c.Key] = c
	}
	attempts, err = s.attempts(ctx, seq.Message(0), seq.LastMessage())
	return found, attempts, err
}

func (s *Store) read(ctx context.Context, query string, args ...any) ([]*Call, error) {
	return db.Collect(ctx, s.DB, "calls", scan, query, args...)
}

// Attempts reads the attempts at a call.
func (s *Store) Attempts(ctx context.Context, key carillon.MessageKey) ([]Attempt, error) {
	all, err := s.attempts(ctx, key, key)
	return all[key], err
}

func (s *Store) attempts(ctx context.Context, first, last carillon.MessageKey) (map[carillon.MessageKey][]Attempt, error) {
	all := map[carillon.MessageKey][]Attempt{}
	err := db.Each(ctx, s.DB, func(scan db.Scan) error {
		var key carillon.MessageKey
		var a Attempt
		var dialed, ringing, answered, ended int64
		err := scan(&key, &a.N, &a.State, &a.Reason, &a.Detail, &a.Cause, &a.Counts, &dialed, &ringing, &answered, &ended)
		a.Times = times(dialed, ringing, answered, ended)
		all[key] = append(all[key], a)
		return err
	}, `SELECT call, attempt, state, reason, detail, cause, counts, dialed_at, ringing_at, answered_at, ended_at
		FROM call_attempt WHERE call BETWEEN $1 AND $2 ORDER BY call, attempt`, int64(first), int64(last))
	return all, db.Wrap(err, "read attempts")
}

// SetTalk stores the transcript of an attempt, while it is the last of the call.
func (s *Store) SetTalk(ctx context.Context, key carillon.MessageKey, attempt int, t Talk) error {
	_, err := s.DB.Exec(ctx,
		"UPDATE call SET conversation_id = $1, recording = $2, no_recording = $3, wacid = $6 WHERE id = $4 AND attempt = $5",
		t.ConversationID, t.Recording, string(t.NoRecording), int64(key), attempt, t.WACID)
	return db.Wrap(err, "record a talk")
}

// UnderWay counts a line's calls in progress on all nodes, in both directions.
func (s *Store) UnderWay(ctx context.Context, senderUID int64) (int, error) {
	n, err := underWay(ctx, s.DB, senderUID)
	return n, db.Wrap(err, "count calls")
}

// NewRows returns an insert of accepted calls, which Add fills.
func NewRows() *db.Bulk {
	return db.NewBulk("call", "", "id:bigint", "company_id:text", "shard:bigint", "sender:bigint", "class:bigint", "number:text",
		"due_at:bigint",
		"q:bigint", "state:text", "reason:text", "ended_at:bigint")
}

// Add adds a call that is due at an instant, or ends immediately if there is a reason to skip it.
func Add(b *db.Bulk, key carillon.MessageKey, companyID string, senderUID int64, class carillon.Class, number string, due,
	now time.Time, skip carillon.Reason,
) {
	q, state, ended := 1, carillon.StateQueued, int64(0)
	if skip != "" {
		q, state, ended = 0, carillon.StateSkipped, db.Millis(now)
	}
	b.Add(int64(key), companyID, senderUID%carillon.Shards, senderUID, int64(class), number, db.Millis(due), int64(q),
		string(state), string(skip), ended)
}

// Cancel cancels the queued calls of a notification. It returns them, and the number of calls already begun.
func Cancel(ctx context.Context, tx *db.Tx, seq carillon.Seq, now time.Time) (canceled []carillon.MessageKey, begun int, err error) {
	first, last := int64(seq.Message(0)), int64(seq.LastMessage())
	canceled, err = db.Collect(ctx, tx, "canceled calls", func(scan db.Scan) (key carillon.MessageKey, err error) {
		err = scan(&key)
		return key, err
	}, "UPDATE call SET q = 0, state = $1, reason = $2, ended_at = $3 WHERE id BETWEEN $4 AND $5 AND q + 0 = 1 RETURNING id",
		string(carillon.StateCanceled), string(carillon.ReasonCanceled), db.Millis(now), first, last)
	if err != nil {
		return nil, 0, fmt.Errorf("cancel: %w", err)
	}
	slices.Sort(canceled)
	err = tx.Row(ctx, []any{&begun}, `SELECT COUNT(CASE WHEN state NOT IN ('canceled', 'skipped') THEN 1 END) FROM call
		WHERE id BETWEEN $1 AND $2`, first, last)
	return canceled, begun, db.Wrap(err, "cancel")
}

// CancelOne cancels a queued call of a company, and reports whether it was queued.
func CancelOne(ctx context.Context, tx *db.Tx, companyID string, key carillon.MessageKey, now time.Time) (bool, error) {
	n, err := tx.Exec(ctx, "UPDATE call SET q = 0, state = $1, reason = $2, ended_at = $3 WHERE id = $4 AND company_id = $5 AND q + 0 = 1",
		string(carillon.StateCanceled), string(carillon.ReasonCanceled), db.Millis(now), int64(key), companyID)
	return n > 0, db.Wrap(err, "cancel a call")
}

// HangUpAll requests the end of a notification's calls in progress, on any node, and returns their number.
func HangUpAll(ctx context.Context, tx *db.Tx, seq carillon.Seq) (int, error) {
	n, err := tx.Exec(ctx, "UPDATE call SET hang_up = TRUE WHERE id BETWEEN $1 AND $2 AND q + 0 = 2 AND NOT hang_up",
		int64(seq.Message(0)), int64(seq.LastMessage()))
	return int(n), db.Wrap(err, "hang up")
}

// Move changes the time of the queued call of a notification, unless it was dialed before. It returns the number of
// calls moved and the total.
func Move(ctx context.Context, tx *db.Tx, seq carillon.Seq, due time.Time) (moved, all int64, err error) {
	key := int64(seq.Message(0))
	if moved, err = tx.Exec(ctx, "UPDATE call SET due_at = $1 WHERE id = $2 AND q + 0 = 1 AND attempt = 0", db.Millis(due),
		key); err != nil {
		return 0, 0, fmt.Errorf("move: %w", err)
	}
	err = tx.Row(ctx, []any{&all}, "SELECT COUNT(*) FROM call WHERE id = $1 AND state <> 'skipped'", key)
	return moved, all, db.Wrap(err, "move")
}

// HangUp requests the end of a call in progress on any node and returns its state and node; "" when it is not in
// progress.
func (s *Store) HangUp(ctx context.Context, companyID string, key carillon.MessageKey) (state carillon.State, node string, err error) {
	type call struct {
		state carillon.State
		node  string
	}
	c, err := db.Returning(ctx, s.DB, func(ctx context.Context, tx *db.Tx) (c call, err error) {
		err = tx.Row(ctx, []any{&c.state, &c.node}, `UPDATE call SET hang_up = TRUE WHERE id = $1 AND company_id = $2 AND q + 0 = 2
			RETURNING state, node`, int64(key), companyID)
		if err != nil {
			return c, db.Ignore(err)
		}
		var id string
		var channel carillon.Channel
		if err := tx.Row(ctx, []any{&id, &channel}, "SELECT id, channel FROM notification WHERE seq = $1", int64(key.Seq())); err != nil {
			return c, err
		}
		id = provider.CallID(id, channel, key)
		return c, audit.Record(ctx, tx, time.Now(), audit.Entry{CompanyID: companyID, Kind: audit.Call, ID: id, Action: audit.HungUp})
	})
	return c.state, c.node, db.Wrap(err, "hang up")
}

// ToHangUp reads the calls in progress on this node that should end.
func (s *Store) ToHangUp(ctx context.Context) (keys []carillon.MessageKey, err error) {
	return db.Collect(ctx, s.DB, "calls to hang up", func(scan db.Scan) (key carillon.MessageKey, err error) {
		err = scan(&key)
		return key, err
	}, "SELECT id FROM call WHERE q = 2 AND hang_up AND node = $1", s.node())
}
