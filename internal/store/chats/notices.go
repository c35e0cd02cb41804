package chats

import (
	"context"
	"time"

	"carillon/internal/store/db"
)

// Noticed returns conversations of any company with a notice to teammates that is due, longest due first.
func (s *Store) Noticed(ctx context.Context, now time.Time, most int) ([]*Conversation, error) {
	return db.Collect(ctx, s.d, "conversations", scan, "SELECT "+columns+
		" FROM conversation WHERE notice_at > 0 AND notice_at <= $1"+db.Here+`
		ORDER BY notice_at LIMIT $2`, db.Millis(now), most)
}

// Notice claims the due notice of a conversation, and sets when the next one is due; zero for none. It reports whether
// the conversation still waits and no other node has claimed it.
func (s *Store) Notice(ctx context.Context, c *Conversation, next time.Time) (bool, error) {
	n, err := s.d.Exec(ctx, `UPDATE conversation SET notice_at = $1
		WHERE id = $2 AND company_id = $3 AND notice_at = $4 AND waiting_at = $5`+db.Here,
		db.Millis(next), c.ID, c.CompanyID, db.Millis(c.NoticeAt), db.Millis(c.WaitingAt))
	return n > 0, db.Wrap(err, "claim a notice")
}
