package calls

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/store/audit"
	"carillon/internal/store/db"
	"carillon/internal/store/events"
)

// IncomingCall is a stored call to a line.
type IncomingCall struct {
	ID        string // UUIDv7 of the time it rang
	CompanyID string
	SenderUID int64 // number of the line
	AgentID   string
	Number    string // number of the caller; empty if withheld
	Node      string // node that took it
	UnderWay  bool
	State     carillon.State // ringing, in_progress, completed, canceled or failed
	Reason    carillon.Reason
	Detail    string
	Cause     string // reason reported by the network
	EndedBy   string // agent, caller, system
	Talk
	RingingAt, AnsweredAt, EndedAt time.Time
}

// IncomingEnd is the result of a call to a line.
type IncomingEnd struct {
	State      carillon.State
	Reason     carillon.Reason
	Detail     string
	Cause      string
	EndedBy    string
	Result     carillon.Details // the agent's findings, for the event
	AnsweredAt time.Time        // zero if unanswered
	At         time.Time
}

// Incoming reads and writes the table of calls to lines. Make it with NewIncoming.
type Incoming struct {
	d        *db.DB
	node     func() string
	followed func(ctx context.Context, lineUID int64) bool
}

// NewIncoming returns the table of calls to lines. node is this node's id; followed reports whether the events of a line's
// company are to be written.
func NewIncoming(d *db.DB, node func() string, followed func(ctx context.Context, lineUID int64) bool) *Incoming {
	return &Incoming{d, node, followed}
}

const incomingColumns = `id, company_id, sender, agent_id, number, node, under_way, state, reason, detail, cause, ended_by,
	conversation_id, recording, no_recording, wacid,
	ringing_at, answered_at, ended_at`

func scanIncoming(row db.Scan) (*IncomingCall, error) {
	var c IncomingCall
	var ringing, answered, ended int64
	err := row(&c.ID, &c.CompanyID, &c.SenderUID, &c.AgentID, &c.Number, &c.Node, &c.UnderWay, &c.State, &c.Reason, &c.Detail,
		&c.Cause, &c.EndedBy,
		&c.ConversationID, &c.Recording, &c.NoRecording, &c.WACID, &ringing, &answered, &ended)
	c.RingingAt, c.AnsweredAt, c.EndedAt = db.Instant(ringing), db.Instant(answered), db.Instant(ended)
	return &c, err
}

// Take stores a call that rings on this node, unless the line has reached its limit on all nodes; limit 0 means none.
// The line's shard is locked, as at the start of an outgoing call, so that neither starts meanwhile.
func (s *Incoming) Take(ctx context.Context, c *IncomingCall, limit int) (full bool, err error) {
	followed := s.followed(ctx, c.SenderUID)
	full, err = db.Returning(ctx, s.d, func(ctx context.Context, tx *db.Tx) (bool, error) {
		if full, err := isFull(ctx, tx, c.SenderUID, limit); full || err != nil {
			return full, err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO incoming_call (id, company_id, sender, agent_id, number, node, state, ringing_at)
			VALUES ($1, $2, $3, $4, $5, $6, 'ringing', $7)`, c.ID, c.CompanyID, c.SenderUID, c.AgentID, c.Number, s.node(),
			db.Millis(c.RingingAt)); err != nil {
			return false, err
		}
		if followed {
			return false, events.Incoming(ctx, tx, &events.IncomingCall{
				ID: c.ID, CompanyID: c.CompanyID, SenderUID: c.SenderUID, AgentID: c.AgentID, Number: c.Number,
				State: carillon.StateRinging, At: c.RingingAt,
			})
		}
		return false, nil
	})
	return full, db.Wrap(err, "take a call")
}

// isFull reports whether a line has reached its limit of calls; limit 0 means none. The line's shard stays locked.
func isFull(ctx context.Context, tx *db.Tx, senderUID int64, limit int) (bool, error) {
	if limit == 0 {
		return false, nil
	}
	if !tx.SQLite() {
		if _, err := tx.Exec(ctx, "SELECT 1 FROM shard WHERE id = $1 FOR UPDATE", senderUID%carillon.Shards); err != nil {
			return false, err
		}
	}
	n, err := underWay(ctx, tx, senderUID)
	return n >= limit, err
}

// underWay counts a line's calls on all nodes: outgoing, incoming, and second legs of transfers here.
func underWay(ctx context.Context, q db.Querier, senderUID int64) (n int, err error) {
	err = q.Row(ctx, []any{&n}, `SELECT (SELECT COUNT(*) FROM call WHERE q = 2 AND shard = $1 AND sender = $2)
		+ (SELECT COUNT(*) FROM incoming_call WHERE under_way AND sender = $2)
		+ (SELECT COUNT(*) FROM call_transfer WHERE under_way AND mode = 'bridge' AND sender = $2)`, senderUID%carillon.Shards, senderUID)
	return n, err
}

// Answered records that a call was answered, and its conversation.
func (s *Incoming) Answered(ctx context.Context, id, conversationID string, at time.Time) error {
	_, err := s.d.Exec(ctx, `UPDATE incoming_call SET state = 'in_progress', conversation_id = $1, answered_at = $2 WHERE id = $3 `+
		`AND under_way`,
		conversationID, db.Millis(at), id)
	return db.Wrap(err, "record that a call was answered")
}

// Recorded records the file of a call's recording.
func (s *Incoming) Recorded(ctx context.Context, id, fileID string) error {
	_, err := s.d.Exec(ctx, "UPDATE incoming_call SET recording = $1 WHERE id = $2", fileID, id)
	return db.Wrap(err, "record a recording")
}

// RecordingRefused records that the caller refused the recording.
func (s *Incoming) RecordingRefused(ctx context.Context, id string) error {
	_, err := s.d.Exec(ctx, "UPDATE incoming_call SET no_recording = $1 WHERE id = $2", string(Refused), id)
	return db.Wrap(err, "record the refusal of a recording")
}

// End ends a call, unless it has ended.
func (s *Incoming) End(ctx context.Context, id string, e IncomingEnd) error {
	c, err := s.find(ctx, id)
	if err != nil || c == nil || !c.UnderWay {
		return err
	}
	followed := s.followed(ctx, c.SenderUID)
	if c.AnsweredAt.IsZero() {
		c.AnsweredAt = e.AnsweredAt
	}
	err = s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE incoming_call SET under_way = FALSE, state = $2, reason = $3, detail = $4, cause = $5, ended_by = $6,
			answered_at = $7, ended_at = $8 WHERE id = $1 AND under_way`, id, string(e.State), string(e.Reason), e.Detail, e.Cause,
			e.EndedBy, db.Millis(c.AnsweredAt), db.Millis(e.At))
		if err == nil && n > 0 && followed {
			err = events.Incoming(ctx, tx, &events.IncomingCall{
				ID: id, CompanyID: c.CompanyID, SenderUID: c.SenderUID, AgentID: c.AgentID, Number: c.Number, State: e.State,
				Reason: e.Reason, EndedBy: e.EndedBy, NoRecording: string(c.NoRecording),
				Result: e.Result, AnsweredAt: c.AnsweredAt, At: e.At,
			})
		}
		if err == nil && n > 0 {
			err = endTransfers(ctx, tx, c.ConversationID, e.Reason, db.Millis(e.At))
		}
		return err
	})
	return db.Wrap(err, "end a call")
}

func (s *Incoming) find(ctx context.Context, id string) (*IncomingCall, error) {
	return db.Find(ctx, s.d, "call", scanIncoming, "SELECT "+incomingColumns+" FROM incoming_call WHERE id = $1", id)
}

// Find reads a company's call; nil if there is none.
func (s *Incoming) Find(ctx context.Context, companyID, id string) (*IncomingCall, error) {
	return db.Find(ctx, s.d, "call", scanIncoming,
		"SELECT "+incomingColumns+" FROM incoming_call WHERE id = $1 AND company_id = $2", id, companyID)
}

// Foreign reads the calls in progress on other nodes.
func (s *Incoming) Foreign(ctx context.Context) ([]ForeignIncoming, error) {
	return db.Collect(ctx, s.d, "calls on other nodes", func(scan db.Scan) (f ForeignIncoming, err error) {
		err = scan(&f.ID, &f.Node, &f.Gone)
		return f, err
	}, `SELECT id, node, NOT EXISTS (SELECT 1 FROM node WHERE node.id = incoming_call.node) FROM incoming_call
		WHERE under_way AND node > '' AND node <> $1`, s.node())
}

// ForeignIncoming is a call to a line in progress on another node.
type ForeignIncoming struct {
	ID, Node string
	Gone     bool // the node was declared dead or has left
}

// Own reads this node's calls that the database has in progress since before an instant.
func (s *Incoming) Own(ctx context.Context, before time.Time) (ids []string, err error) {
	return db.Collect(ctx, s.d, "calls under way", func(scan db.Scan) (id string, err error) {
		err = scan(&id)
		return id, err
	}, "SELECT id FROM incoming_call WHERE under_way AND node = $1 AND ringing_at < $2", s.node(), db.Millis(before))
}

// HangUp requests the end of a call in progress on any node, and returns its state and node; "" when it is not in
// progress.
func (s *Incoming) HangUp(ctx context.Context, companyID, id string) (state carillon.State, node string, err error) {
	type call struct {
		state carillon.State
		node  string
	}
	c, err := db.Returning(ctx, s.d, func(ctx context.Context, tx *db.Tx) (c call, err error) {
		err = tx.Row(ctx, []any{&c.state, &c.node}, `UPDATE incoming_call SET hang_up = TRUE WHERE id = $1 AND company_id = $2 AND under_way
			RETURNING state, node`, id, companyID)
		if err != nil {
			return c, db.Ignore(err)
		}
		return c, audit.Record(ctx, tx, time.Now(), audit.Entry{CompanyID: companyID, Kind: audit.Call, ID: id, Action: audit.HungUp})
	})
	return c.state, c.node, db.Wrap(err, "hang up")
}

// ToHangUp reads the calls in progress on this node that should end.
func (s *Incoming) ToHangUp(ctx context.Context) (ids []string, err error) {
	return db.Collect(ctx, s.d, "calls to hang up", func(scan db.Scan) (id string, err error) {
		err = scan(&id)
		return id, err
	}, "SELECT id FROM incoming_call WHERE under_way AND hang_up AND node = $1", s.node())
}
