package store

import (
	"context"
	"time"

	"carillon/internal/store/db"
)

// ContactsAfter returns the next company, by id, that has contacts; "" when there is none.
func (s *Store) ContactsAfter(ctx context.Context, companyID string) (company string, err error) {
	err = s.Row(ctx, []any{&company}, "SELECT company_id FROM contact WHERE company_id > $1 ORDER BY company_id LIMIT 1", companyID)
	return company, db.Wrap(db.Ignore(err), "find contacts")
}

// quiet is a conversation that a step deletes, with the numbers of its turns and of the bytes of its files.
type quiet struct {
	id    string
	turns int
	bytes int64
}

// rowBytes is how many bytes of files take about as long to delete as a row.
const rowBytes = 8 << 10

// DropConversations deletes a company's conversations in which nothing was said since an instant, whatever their state, with
// their turns and files: about `most` rows, the oldest first.
func (s *Store) DropConversations(ctx context.Context, companyID string, before time.Time, most int) (p Purged, err error) {
	page, err := db.Collect(ctx, s, "quiet conversations", func(scan db.Scan) (q quiet, err error) {
		err = scan(&q.id, &q.turns, &q.bytes)
		return q, err
	}, `SELECT c.id, c.last_seq, (SELECT CAST(COALESCE(SUM(f.size), 0) AS BIGINT) FROM file AS f WHERE f.conversation_id = c.id)
		FROM conversation AS c WHERE c.company_id = $1 AND c.last_at < $2 ORDER BY c.last_at, c.id LIMIT $3`, companyID, db.Millis(before), most)
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
	err = s.chore(ctx, &p, func(ctx context.Context, tx *Tx) error {
		// The turns and files go with them. What was said meanwhile keeps a conversation.
		n, err := tx.Exec(ctx, "DELETE FROM conversation WHERE id "+tx.DB().In(1)+" AND last_at < $2", tx.DB().List(ids), db.Millis(before))
		p.Rows = int(n)
		return err
	})
	p.More = more && p.Rows > 0
	return p, db.Wrap(err, "delete conversations")
}

// DropContacts deletes a company's contacts without conversations that were last there before an instant, at most `most` of them.
func (s *Store) DropContacts(ctx context.Context, companyID string, before time.Time, most int) (p Purged, err error) {
	err = s.chore(ctx, &p, func(ctx context.Context, tx *Tx) error {
		n, err := tx.Exec(ctx, `DELETE FROM contact WHERE seen_at < $2 AND id IN (
			SELECT k.id FROM contact AS k WHERE k.company_id = $1 AND k.seen_at < $2
			AND NOT EXISTS (SELECT 1 FROM conversation AS c WHERE c.contact_id = k.id) ORDER BY k.seen_at LIMIT $3)`, companyID, db.Millis(before), most)
		p.Rows, p.More = int(n), int(n) == most
		return err
	})
	return p, db.Wrap(err, "delete contacts")
}

// DropQuestions deletes a company's questions without an answer that were last asked before an instant, at most `most` of them.
func (s *Store) DropQuestions(ctx context.Context, companyID string, before time.Time, most int) (p Purged, err error) {
	old, err := db.Collect(ctx, s, "old questions", func(scan db.Scan) (id string, err error) {
		err = scan(&id)
		return id, err
	}, "SELECT id FROM question WHERE company_id = $1 AND last_at < $2 ORDER BY last_at, id LIMIT $3", companyID, db.Millis(before), most)
	if err != nil || len(old) == 0 {
		return Purged{}, err
	}
	err = s.chore(ctx, &p, func(ctx context.Context, tx *Tx) error {
		n, err := tx.Exec(ctx, "DELETE FROM question WHERE id "+tx.DB().In(1)+" AND last_at < $2", tx.DB().List(old), db.Millis(before))
		p.Rows, p.More = int(n), len(old) == most && n > 0
		return err
	})
	return p, db.Wrap(err, "delete questions")
}

// IncomingAfter returns the next company, by id, that has calls to its lines; "" when there is none.
func (s *Store) IncomingAfter(ctx context.Context, companyID string) (company string, err error) {
	err = s.Row(ctx, []any{&company}, "SELECT company_id FROM incoming_call WHERE company_id > $1 ORDER BY company_id LIMIT 1", companyID)
	return company, db.Wrap(db.Ignore(err), "find calls to lines")
}

// DropIncoming deletes a company's calls to its lines that ended before an instant, at most `most` of them.
func (s *Store) DropIncoming(ctx context.Context, companyID string, before time.Time, most int) (p Purged, err error) {
	err = s.chore(ctx, &p, func(ctx context.Context, tx *Tx) error {
		n, err := tx.Exec(ctx, `DELETE FROM incoming_call WHERE id IN (SELECT id FROM incoming_call
			WHERE NOT under_way AND company_id = $1 AND ended_at < $2 ORDER BY ended_at LIMIT $3)`, companyID, db.Millis(before), most)
		p.Rows, p.More = int(n), int(n) == most
		return err
	})
	return p, db.Wrap(err, "delete calls to lines")
}
