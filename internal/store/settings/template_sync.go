package settings

import (
	"context"
	"time"

	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// TemplateSync is the result of comparing a sender's templates with those of its channel.
type TemplateSync struct {
	SenderUID   int64
	At          time.Time
	Found       int    // templates at the channel
	Imported    int    // new here
	Changed     int    // changed here
	Gone        int    // no longer at the channel
	Missing     int    // templates of the channel that are not stored here: a draft has their name
	Unsupported int    // templates of the channel that cannot be sent from here
	Error       string // error message for people; empty after success
	DueAt       time.Time
}

// PutSync stores the last comparison of a sender, and when the next one is due (zero for never).
func (s *Templates) PutSync(ctx context.Context, x TemplateSync) error {
	_, err := s.d.Exec(ctx, `INSERT INTO template_sync (sender, at, found, changed, missing, error, imported, gone, unsupported, due_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (sender) DO UPDATE SET at = excluded.at, found = excluded.found, changed = excluded.changed, missing = excluded.missing,
		error = excluded.error, imported = excluded.imported, gone = excluded.gone, unsupported = excluded.unsupported,
		due_at = excluded.due_at`,
		x.SenderUID, db.Millis(x.At), x.Found, x.Changed, x.Missing, x.Error, x.Imported, x.Gone, x.Unsupported, db.Millis(x.DueAt))
	return db.Wrap(err, "keep comparison of templates")
}

const syncColumns = "sender, at, found, changed, missing, error, imported, gone, unsupported, due_at"

func scanSync(scan db.Scan) (x TemplateSync, err error) {
	var at, due int64
	err = scan(&x.SenderUID, &at, &x.Found, &x.Changed, &x.Missing, &x.Error, &x.Imported, &x.Gone, &x.Unsupported, &due)
	x.At, x.DueAt = db.Instant(at), db.Instant(due)
	return x, err
}

// Syncs reads the last comparison of each of a company's senders that had one.
func (s *Templates) Syncs(ctx context.Context, companyID string) ([]TemplateSync, error) {
	return db.Collect(ctx, s.d, "comparisons of templates", scanSync, "SELECT "+syncColumns+` FROM template_sync
		WHERE at > 0 AND sender IN (SELECT uid FROM sender WHERE company_id = $1)`, companyID)
}

// DueSyncs reads at most limit comparisons that are due, longest due first, and the due time of the next one (zero for
// none).
func (s *Templates) DueSyncs(ctx context.Context, now time.Time, limit int) (due []TemplateSync, next time.Time, err error) {
	due, err = db.Collect(ctx, s.d, "comparisons of templates", scanSync, "SELECT "+syncColumns+` FROM template_sync
		WHERE due_at > 0 AND due_at <= $1 AND sender NOT IN (
			SELECT uid FROM sender WHERE company_id IN (SELECT company_id FROM company_move)) ORDER BY due_at LIMIT $2`,
		db.Millis(now), limit)
	if err != nil {
		return nil, time.Time{}, err
	}
	var at int64
	err = s.d.Row(ctx, []any{&at}, "SELECT due_at FROM template_sync WHERE due_at > 0 AND due_at > $1 ORDER BY due_at LIMIT 1",
		db.Millis(now))
	return due, db.Instant(at), db.Wrap(db.Ignore(err), "read next comparison")
}

// PostponeSync moves a comparison, unless another node has: the node that moves it asks the channel.
func (s *Templates) PostponeSync(ctx context.Context, read TemplateSync, next time.Time) (mine bool, err error) {
	n, err := s.d.Exec(ctx, "UPDATE template_sync SET due_at = $3 WHERE sender = $1 AND due_at = $2",
		read.SenderUID, db.Millis(read.DueAt), db.Millis(next))
	return n == 1, db.Wrap(err, "postpone comparison of templates")
}

// RequestSync makes a sender's comparison due now, or, if the last one is more recent than rest, once rest has
// passed since then.
func (s *Templates) RequestSync(ctx context.Context, senderUID int64, now time.Time, rest time.Duration) error {
	_, err := s.d.Exec(ctx, `INSERT INTO template_sync (sender, at, found, changed, missing, error, due_at)
		VALUES ($1, 0, 0, 0, 0, '', $2)
		ON CONFLICT (sender) DO UPDATE SET due_at = CASE WHEN template_sync.at + $3 > excluded.due_at THEN template_sync.at + $3
			ELSE excluded.due_at END
		WHERE template_sync.due_at = 0 OR template_sync.due_at > excluded.due_at`, senderUID, db.Millis(now), rest.Milliseconds())
	return db.Wrap(err, "request comparison of templates")
}

// requestSync makes the first comparison of a new or changed sender due.
func requestSync(ctx context.Context, tx *configure.Tx, senderUID int64, now time.Time) error {
	_, err := tx.Exec(ctx, `INSERT INTO template_sync (sender, at, found, changed, missing, error, due_at) VALUES ($1, 0, 0, 0, 0, '', $2)
		ON CONFLICT (sender) DO UPDATE SET due_at = excluded.due_at`, senderUID, db.Millis(now))
	return db.Wrap(err, "request comparison of templates")
}

// SenderTemplates reads a sender's templates of every status from the database, by name and language.
func (s *Templates) SenderTemplates(ctx context.Context, senderUID int64) ([]*TemplateRecord, error) {
	return s.templates(ctx, templateList, senderUID)
}

// ImportTemplates inserts templates of one company's channel with the first entry of their history, except those whose
// name and language the sender has. It returns the number of inserted ones.
func (s *Templates) ImportTemplates(ctx context.Context, all []*TemplateRecord, by TemplateAuthor) (inserted int, err error) {
	_, err = s.config.ChangeIf(ctx, func(ctx context.Context, tx *configure.Tx) (bool, error) {
		inserted = 0 // the transaction may be repeated
		for _, r := range all {
			tx.Changes(r.CompanyID)
			n, err := insertTemplateUnless(ctx, tx, r, " ON CONFLICT (sender, name, language) DO NOTHING")
			if err != nil {
				return false, db.Wrap(err, "import template")
			}
			if n == 0 {
				continue
			}
			inserted++
			if err := recordTemplate(ctx, tx, nil, &r.Template, []TemplateChange{{Action: TemplateCreated, By: by}}); err != nil {
				return false, err
			}
		}
		return inserted > 0, nil
	})
	return inserted, err
}
