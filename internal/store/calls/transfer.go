package calls

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/store/db"
)

// TransferMode is the way in which a call is transferred.
type TransferMode string

// Modes of transfers.
const (
	Bridge TransferMode = "bridge" // a second leg, connected with the call here
	Refer  TransferMode = "refer"  // the telephone company calls the number, at our REFER
)

// Transfer is the second leg of a call, to the number it is transferred to.
type Transfer struct {
	ID             string
	CompanyID      string
	ConversationID string // id of the call
	SenderUID      int64
	Number         string
	Mode           TransferMode
	State          carillon.State  // dialing, in_progress, completed, busy, no_answer, rejected, canceled or failed
	Outcome        TransferOutcome // empty until somebody takes the call or the leg ends
	Cause          string          // reason reported by the network
	DialedAt       time.Time
	// AnsweredAt is the answer of the leg, TakenAt the connection with the caller.
	AnsweredAt, TakenAt, EndedAt time.Time
}

// TransferOutcome is the result of a second leg.
type TransferOutcome string

// Results of second legs.
const (
	Taken          TransferOutcome = "taken"      // accepted by a key, and connected
	Declined       TransferOutcome = "declined"   // by a key, by hanging up or by the network
	Unanswered     TransferOutcome = "unanswered" // not answered, or no key was pressed, for example by a voicemail
	Busy           TransferOutcome = "busy"
	Failed         TransferOutcome = "failed"
	CallerLeft     TransferOutcome = "caller_left"     // hung up before anybody took the call
	CallerReturned TransferOutcome = "caller_returned" // to the agent, by a key
	Canceled       TransferOutcome = "canceled"        // the call was hung up by the company or a stop
	Interrupted    TransferOutcome = "interrupted"     // the node died
)

// TransferEnd is the end of a second leg.
type TransferEnd struct {
	State   carillon.State
	Outcome TransferOutcome
	Cause   string
	TakenAt time.Time // zero unless taken
	At      time.Time
}

// Transfer stores a second leg that is being dialed, unless the line has reached its limit; limit 0 means none. A leg of
// the telephone company takes no place on the line.
func (s *Incoming) Transfer(ctx context.Context, t *Transfer, limit int) (full bool, err error) {
	full, err = db.Returning(ctx, s.d, func(ctx context.Context, tx *db.Tx) (bool, error) {
		if t.Mode == Refer {
			limit = 0
		}
		if full, err := isFull(ctx, tx, t.SenderUID, limit); full || err != nil {
			return full, err
		}
		_, err := tx.Exec(ctx, `INSERT INTO call_transfer (id, company_id, conversation_id, sender, number, mode, state, dialed_at)
			VALUES ($1, $2, $3, $4, $5, $6, 'dialing', $7)`, t.ID, t.CompanyID, t.ConversationID, t.SenderUID, t.Number, string(t.Mode),
			db.Millis(t.DialedAt))
		return false, err
	})
	return full, db.Wrap(err, "transfer a call")
}

// TransferAnswered records that a second leg was answered.
func (s *Incoming) TransferAnswered(ctx context.Context, id string, at time.Time) error {
	_, err := s.d.Exec(ctx, "UPDATE call_transfer SET state = 'in_progress', answered_at = $1 WHERE id = $2 AND under_way",
		db.Millis(at), id)
	return db.Wrap(err, "record that a transfer was answered")
}

// TransferTaken records that somebody took the call of a second leg.
func (s *Incoming) TransferTaken(ctx context.Context, id string, at time.Time) error {
	_, err := s.d.Exec(ctx, "UPDATE call_transfer SET outcome = 'taken', taken_at = $1 WHERE id = $2 AND under_way", db.Millis(at), id)
	return db.Wrap(err, "record that a transfer was taken")
}

// EndTransfer ends a second leg, and frees its slot on the line.
func (s *Incoming) EndTransfer(ctx context.Context, id string, e TransferEnd) error {
	_, err := s.d.Exec(ctx, `UPDATE call_transfer SET under_way = FALSE, state = $1, outcome = $2, cause = $3, taken_at = $4,
		ended_at = $5 WHERE id = $6 AND under_way`, string(e.State), string(e.Outcome), e.Cause, db.Millis(e.TakenAt), db.Millis(e.At), id)
	return db.Wrap(err, "end a transfer")
}

// endTransfers ends the second legs of a call that ends, and gives up its place in the queue. A call does both itself
// unless its node died, or could not store it.
func endTransfers(ctx context.Context, tx *db.Tx, conversationID string, reason carillon.Reason, at int64) error {
	if conversationID == "" {
		return nil
	}
	text := `UPDATE call_transfer SET under_way = FALSE, state = CASE WHEN taken_at > 0 THEN 'completed' ELSE 'failed' END,
		outcome = CASE WHEN taken_at > 0 THEN 'taken' ELSE 'failed' END, ended_at = $1 WHERE conversation_id = $2 AND under_way`
	if reason == carillon.ReasonInterrupted {
		text = `UPDATE call_transfer SET under_way = FALSE, state = 'failed', outcome = 'interrupted', ended_at = $1
			WHERE conversation_id = $2 AND under_way`
	}
	if _, err := tx.Exec(ctx, text, at, conversationID); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "DELETE FROM transfer_queue WHERE conversation_id = $1", conversationID)
	return err
}

// Transfers returns the second legs of a call, by its conversation.
func (s *Incoming) Transfers(ctx context.Context, companyID, conversationID string) ([]Transfer, error) {
	return db.Collect(ctx, s.d, "transfers", func(scan db.Scan) (t Transfer, err error) {
		var dialed, answered, taken, ended int64
		err = scan(&t.ID, &t.Number, &t.Mode, &t.State, &t.Outcome, &t.Cause, &dialed, &answered, &taken, &ended)
		t.DialedAt, t.AnsweredAt, t.TakenAt, t.EndedAt = db.Instant(dialed), db.Instant(answered), db.Instant(taken), db.Instant(ended)
		return t, err
	}, `SELECT id, number, mode, state, outcome, cause, dialed_at, answered_at, taken_at, ended_at FROM call_transfer
		WHERE conversation_id = $1 AND company_id = $2 ORDER BY id`, conversationID, companyID)
}
