package purge

import (
	"context"
	"time"

	"carillon/internal/store/db"
	"carillon/internal/store/stats"
)

// Store is the SQL of deleting. Its methods are safe for concurrent use.
type Store struct {
	d      *db.DB
	purges *db.Kind[db.Func] // deletions, on SQLite
	stats  *stats.Store
}

// NewStore returns the deletions of a database. place is their place in the lock order.
func NewStore(d *db.DB, place db.Place, s *stats.Store) *Store {
	return &Store{d, db.Funcs("purge", place), s}
}

// Importing reports whether the rows of a company are being imported.
func (s *Store) Importing(ctx context.Context, now time.Time) (bool, error) {
	return db.Importing(ctx, s.d, now)
}

// expired returns the name of a kind for errors, and the statement that deletes its rows: at most $2 of those before
// $1, or at most $3 of a company $1 of those before $2.
func expired(what string) (name, query string) {
	switch what {
	case Keys:
		return "idempotency keys", `DELETE FROM idempotency WHERE (company_id, route, key) IN (
			SELECT company_id, route, key FROM idempotency WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)`
	case Events:
		return "events", `DELETE FROM event WHERE (company_id, topic, seq) IN (
			SELECT company_id, topic, seq FROM event WHERE created_at < $1 ORDER BY created_at LIMIT $2)`
	case Files:
		return "files", `DELETE FROM file WHERE id IN (
			SELECT id FROM file WHERE expires_at > 0 AND expires_at < $1 ORDER BY expires_at LIMIT $2)`
	case Addresses:
		return "signed addresses", `DELETE FROM signed_address WHERE id IN (
			SELECT id FROM signed_address WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)`
	case Inbound: // processed ones only; they are kept until then to recognize repetitions
		return "inbound messages", `DELETE FROM inbound_message WHERE (sender_uid, provider_id) IN (
			SELECT sender_uid, provider_id FROM inbound_message WHERE received_at < $1 AND due_at = 0 ORDER BY received_at LIMIT $2)`
	case PastParts: // read ones only
		return "parts of histories", `DELETE FROM past_part WHERE (sender_uid, digest) IN (
			SELECT sender_uid, digest FROM past_part WHERE received_at < $1 AND due_at = 0 ORDER BY received_at LIMIT $2)`
	case PastMessages: // turns only
		return "messages of histories", `DELETE FROM past_message WHERE (sender_uid, provider_id) IN (
			SELECT sender_uid, provider_id FROM past_message WHERE received_at < $1 AND seq > 0 ORDER BY received_at LIMIT $2)`
	case Phones:
		return "phones", `DELETE FROM sandbox_phone WHERE (sender_uid, number) IN (
			SELECT sender_uid, number FROM sandbox_phone WHERE changed_at < $1 ORDER BY changed_at LIMIT $2)`
	case Changes:
		return "recorded changes", "DELETE FROM audit WHERE (company_id, id) IN (SELECT company_id, id FROM audit WHERE at < $1 " +
			"ORDER BY at LIMIT $2)"
	case Incoming:
		return "calls to lines", `DELETE FROM incoming_call WHERE id IN (SELECT id FROM incoming_call
			WHERE NOT under_way AND company_id = $1 AND ended_at < $2 ORDER BY ended_at LIMIT $3)`
	default: // Contacts without conversations
		return "contacts", `DELETE FROM contact WHERE seen_at < $2 AND id IN (
			SELECT k.id FROM contact AS k WHERE k.company_id = $1 AND k.seen_at < $2
			AND NOT EXISTS (SELECT 1 FROM conversation AS c WHERE c.contact_id = k.id) ORDER BY k.seen_at LIMIT $3)`
	}
}

// Drop deletes at most `most` rows of a kind from before an instant.
func (s *Store) Drop(ctx context.Context, what string, before time.Time, most int) (Purged, error) {
	return s.drop(ctx, what, most, db.Millis(before), most)
}

// DropOf deletes at most `most` rows of a kind of a company from before an instant.
func (s *Store) DropOf(ctx context.Context, what, companyID string, before time.Time, most int) (Purged, error) {
	return s.drop(ctx, what, most, companyID, db.Millis(before), most)
}

func (s *Store) drop(ctx context.Context, what string, most int, args ...any) (p Purged, err error) {
	name, query := expired(what)
	err = s.step(ctx, &p, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, query, args...)
		p.Rows, p.More = int(n), int(n) == most
		return err
	})
	return p, db.Wrap(err, "delete "+name)
}

// DropSecrets deletes at most `most` requests with one-time codes: those that were due before an instant, and those whose
// messages have ended, except of the sandbox, whose phones show them. The notifications and messages are kept.
func (s *Store) DropSecrets(ctx context.Context, before time.Time, most int) (p Purged, err error) {
	err = s.step(ctx, &p, func(ctx context.Context, tx *db.Tx) error {
		if tx.DB().SQLite() { // overwrite the deleted bytes too
			if _, err := tx.Exec(ctx, "PRAGMA secure_delete = ON"); err != nil {
				return err
			}
			defer func() { _, _ = tx.Exec(context.WithoutCancel(ctx), "PRAGMA secure_delete = OFF") }()
		}
		n, err := tx.Exec(ctx, `UPDATE notification SET body = '', secret = FALSE WHERE seq IN (
			SELECT seq FROM notification WHERE secret AND (due_at < $1 OR open + 0 = 0
				AND NOT EXISTS (SELECT 1 FROM sender WHERE sender.uid = notification.sender AND provider = 'sandbox')) LIMIT $2)`,
			db.Millis(before), most)
		p.Rows, p.More = int(n), int(n) == most
		return err
	})
	return p, db.Wrap(err, "delete requests with one-time codes")
}

// Next returns the next company, by id, with rows of a kind; "" if there is none.
func (s *Store) Next(ctx context.Context, what, companyID string) (next string, err error) {
	name, tables := "contacts", []string{"contact"}
	switch what {
	case Incoming:
		name, tables = "calls to lines", []string{"incoming_call"}
	case Jobs:
		name, tables = "jobs", []string{"bulk_job"}
	case Recordings:
		name, tables = "recordings", []string{"file"}
	case APICalls:
		name, tables = "calls of the interface", []string{"api_call", "api_accepted"}
	}
	for _, table := range tables {
		var id string
		query := "SELECT company_id FROM " + table + " WHERE company_id > $1 ORDER BY company_id LIMIT 1"
		if what == Recordings {
			query = "SELECT company_id FROM file WHERE company_id > $1 AND sent_by = 'call' ORDER BY company_id LIMIT 1"
		}
		if err := db.Ignore(s.d.Row(ctx, []any{&id}, query, companyID)); err != nil {
			return "", db.Wrap(err, "find "+name)
		}
		if id != "" && (next == "" || id < next) {
			next = id
		}
	}
	return next, nil
}
