package chats

import (
	"context"
	"time"

	"carillon/internal/store/db"
)

// Queue queues a turn of the company for sending, in the transaction that stores it, if its conversation has a window.
// It is due immediately unless an earlier reply of the conversation is queued.
func Queue(ctx context.Context, tx *db.Tx, companyID, conversationID string, seq int64, now time.Time) error {
	if err := lock(ctx, tx, companyID, conversationID); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `INSERT INTO reply (conversation_id, seq, company_id, sender_uid, number, state, due_at, changed_at)
		SELECT conversation_id, CAST($1 AS BIGINT), company_id, sender_uid, number, 'queued', CASE WHEN EXISTS (
			SELECT 1 FROM reply AS r WHERE r.conversation_id = $2
				AND r.state IN ('queued', 'sending')) THEN 0 ELSE CAST($3 AS BIGINT) END, CAST($3 AS BIGINT)
		FROM reply_window WHERE conversation_id = $2 AND company_id = $4`, seq, conversationID, db.Millis(now), companyID)
	return db.Wrap(err, "queue reply")
}

// lock serializes queuing and finishing replies of a conversation: otherwise a reply queued while the previous one
// finishes would wait forever. SQLite has one writer anyway.
func lock(ctx context.Context, tx *db.Tx, companyID, conversationID string) error {
	if tx.SQLite() {
		return nil
	}
	_, err := tx.Exec(ctx, "SELECT 1 FROM reply_window WHERE conversation_id = $1 AND company_id = $2 FOR UPDATE", conversationID,
		companyID)
	return db.Wrap(err, "lock replies")
}
