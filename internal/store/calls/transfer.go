package calls

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/store/db"
)

// Transfer is the second leg of a call, to the number it is transferred to.
type Transfer struct {
	ID                            string
	CompanyID                     string
	ConversationID                string // id of the call
	SenderUID                     int64
	Number                        string
	State                         carillon.State // dialing, in_progress, completed, busy, no_answer, rejected or failed
	Cause                         string         // reason reported by the network
	DialedAt, AnsweredAt, EndedAt time.Time
}

// Transfer stores a second leg that is being dialed, unless the line has reached its limit; limit 0 means none.
func (s *Incoming) Transfer(ctx context.Context, t *Transfer, limit int) (full bool, err error) {
	full, err = db.Returning(ctx, s.d, func(ctx context.Context, tx *db.Tx) (bool, error) {
		if full, err := isFull(ctx, tx, t.SenderUID, limit); full || err != nil {
			return full, err
		}
		_, err := tx.Exec(ctx, `INSERT INTO call_transfer (id, company_id, conversation_id, sender, number, state, dialed_at)
			VALUES ($1, $2, $3, $4, $5, 'dialing', $6)`, t.ID, t.CompanyID, t.ConversationID, t.SenderUID, t.Number, db.Millis(t.DialedAt))
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

// EndTransfer ends a second leg, and frees its slot on the line.
func (s *Incoming) EndTransfer(ctx context.Context, id string, state carillon.State, cause string, at time.Time) error {
	_, err := s.d.Exec(ctx, "UPDATE call_transfer SET under_way = FALSE, state = $1, cause = $2, ended_at = $3 WHERE id = $4 AND under_way",
		string(state), cause, db.Millis(at), id)
	return db.Wrap(err, "end a transfer")
}

// endTransfers ends the second legs of a call that ends.
func endTransfers(ctx context.Context, tx *db.Tx, conversationID string, at int64) error {
	if conversationID == "" {
		return nil
	}
	_, err := tx.Exec(ctx,
		`UPDATE call_transfer SET under_way = FALSE, state = CASE WHEN answered_at > 0 THEN 'completed' ELSE 'failed' END, ended_at = $1
		WHERE conversation_id = $2 AND under_way`, at, conversationID)
	return err
}

// Transfers returns the second legs of a call, by its conversation.
func (s *Incoming) Transfers(ctx context.Context, companyID, conversationID string) ([]Transfer, error) {
	return db.Collect(ctx, s.d, "transfers", func(scan db.Scan) (t Transfer, err error) {
		var dialed, answered, ended int64
		err = scan(&t.ID, &t.Number, &t.State, &t.Cause, &dialed, &answered, &ended)
		t.DialedAt, t.AnsweredAt, t.EndedAt = db.Instant(dialed), db.Instant(answered), db.Instant(ended)
		return t, err
	}, `SELECT id, number, state, cause, dialed_at, answered_at, ended_at FROM call_transfer WHERE conversation_id = $1 AND `+
		`company_id = $2 ORDER BY id`,
		conversationID, companyID)
}
