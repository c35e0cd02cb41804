package purge

import (
	"context"
	"time"

	"carillon/internal/store/db"
)

// quiet is a conversation to be deleted in a step, with the numbers of its turns and of the bytes of its files.
type quiet struct {
	id    string
	turns int
	bytes int64
}

// rowBytes is the number of bytes of files that take about as long to delete as a row.
const rowBytes = 8 << 10

// DropConversations deletes a company's conversations without activity since an instant, in any state, with their
// turns and files: about `most` rows, oldest first.
func (s *Store) DropConversations(ctx context.Context, companyID string, before time.Time, most int) (p Purged, err error) {
	page, err := db.Collect(ctx, s.d, "quiet conversations", func(scan db.Scan) (q quiet, err error) {
		err = scan(&q.id, &q.turns, &q.bytes)
		return q, err
	}, `SELECT c.id, c.last_seq, (SELECT CAST(COALESCE(SUM(f.size), 0) AS BIGINT) FROM file AS f WHERE f.conversation_id = c.id)
		FROM conversation AS c WHERE c.company_id = $1 AND c.last_at < $2 ORDER BY c.last_at, c.id LIMIT $3`, companyID,
		db.Millis(before), most)
	if err != nil || len(page) == 0 {
		return Purged{}, err
	}
	more := len(page) == most
	var ids []string
	rows := 0
	for _, q := range page {
		if rows += 1 + q.turns + int(q.bytes/rowBytes); rows > most && len(ids) > 0 {
			more = true
			break
		}
		ids = append(ids, q.id)
	}
	err = s.step(ctx, &p, func(ctx context.Context, tx *db.Tx) error {
		// The turns and files are deleted with them. A conversation with a new turn is kept.
		n, err := tx.Exec(ctx, "DELETE FROM conversation WHERE id "+tx.DB().In(1)+" AND last_at < $2", tx.DB().List(ids), db.Millis(before))
		p.Rows = int(n)
		return err
	})
	p.More = more && p.Rows > 0
	return p, db.Wrap(err, "delete conversations")
}

// DropQuestions deletes at most `most` open questions of a company that were last asked before an instant.
func (s *Store) DropQuestions(ctx context.Context, companyID string, before time.Time, most int) (p Purged, err error) {
	old, err := db.Collect(ctx, s.d, "old questions", func(scan db.Scan) (id string, err error) {
		err = scan(&id)
		return id, err
	}, "SELECT id FROM question WHERE company_id = $1 AND last_at < $2 ORDER BY last_at, id LIMIT $3", companyID, db.Millis(before), most)
	if err != nil || len(old) == 0 {
		return Purged{}, err
	}
	err = s.step(ctx, &p, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, "DELETE FROM question WHERE id "+tx.DB().In(1)+" AND last_at < $2", tx.DB().List(old), db.Millis(before))
		p.Rows, p.More = int(n), len(old) == most && n > 0
		return err
	})
	return p, db.Wrap(err, "delete questions")
}
