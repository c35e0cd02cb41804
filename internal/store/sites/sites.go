// Package sites is the SQL of the sites that are read into knowledge: when each is due, which node reads it, and the
// changes that were found. The sites themselves are resources.
package sites

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/store/db"
)

// maxLooks bounds the stored looks at a site.
const maxLooks = 30

// Store reads and writes the tables.
type Store struct{ d *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }

// Key identifies a site.
type Key struct{ CompanyID, ID string }

// State is the state of a site.
type State struct {
	DueAt    time.Time
	Whole    bool // the next look accepts all that it finds
	Reading  bool
	BegunAt  time.Time // of the current look
	Done     int       // pages of the current look
	Found    int
	LookedAt time.Time // end of the last look; zero before the first one
	ReadAt   time.Time // end of the last look without a fault
	Fault    string    // of the last look; empty if there was none
	Detail   string
}

// Look is a look that found a change or a fault.
type Look struct {
	ID                            string
	At                            time.Time
	Pages                         int
	Added, Changed, Removed, Kept int
	Fault, Detail                 string
	Changes                       string // JSON
}

// Begin makes a site due, after it was created or changed.
func Begin(ctx context.Context, tx *db.Tx, companyID, id string, now time.Time) error {
	_, err := tx.Exec(ctx, `INSERT INTO site_state (company_id, kind, site_id, due_at, whole, node, lease_until, begun_at, done, found,
		looked_at, read_at, fault, detail, pages) VALUES ($1, 'site', $2, $3, FALSE, '', 0, 0, 0, 0, 0, 0, '', '', '')
		ON CONFLICT (company_id, site_id) DO UPDATE SET due_at = excluded.due_at`, companyID, id, db.Millis(now))
	return db.Wrap(err, "begin site")
}

// Due returns sites of any company that are due and that nobody reads, except those of the companies in without,
// longest waiting first.
func (s *Store) Due(ctx context.Context, now time.Time, limit int, without []string) ([]Key, error) {
	others, args := db.NotIn("company_id", without, []any{db.Millis(now), limit})
	return db.Collect(ctx, s.d, "due sites", func(scan db.Scan) (k Key, err error) {
		err = scan(&k.CompanyID, &k.ID)
		return k, err
	}, "SELECT company_id, site_id FROM site_state WHERE due_at <= $1 AND lease_until <= $1"+
		db.Here+others+" ORDER BY due_at LIMIT $2", args...)
}

// Claim begins a look, unless another node has. It returns the pages of the last one.
func (s *Store) Claim(ctx context.Context, k Key, node string, now, until time.Time) (pages string, whole, ok bool, err error) {
	err = s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		err := tx.Row(ctx, []any{&pages, &whole}, `UPDATE site_state SET node = $3, lease_until = $4, begun_at = $5, done = 0, found = 0
			WHERE company_id = $1 AND site_id = $2 AND due_at <= $5 AND lease_until <= $5`+db.Here+` RETURNING pages, whole`,
			k.CompanyID, k.ID, node, db.Millis(until), db.Millis(now))
		ok = err == nil
		return db.Ignore(err)
	})
	return pages, whole, ok, db.Wrap(err, "claim site")
}

// Progress renews the lease, and reports whether the node still has it.
func (s *Store) Progress(ctx context.Context, k Key, node string, done, found int, until time.Time) (ok bool, err error) {
	n, err := s.d.Exec(ctx, `UPDATE site_state SET done = $4, found = $5, lease_until = $6
		WHERE company_id = $1 AND site_id = $2 AND node = $3`, k.CompanyID, k.ID, node, done, found, db.Millis(until))
	return n == 1, db.Wrap(err, "save progress")
}

// Release gives up a look, which is due again immediately or later.
func (s *Store) Release(ctx context.Context, k Key, node string, due time.Time) error {
	_, err := s.d.Exec(ctx, `UPDATE site_state SET node = '', lease_until = 0, due_at = $4
		WHERE company_id = $1 AND site_id = $2 AND node = $3`, k.CompanyID, k.ID, node, db.Millis(due))
	return db.Wrap(err, "release site")
}

// ReleaseAll gives up the looks of nodes that have ended: no other process uses this database.
func (s *Store) ReleaseAll(ctx context.Context) error {
	_, err := s.d.Exec(ctx, "UPDATE site_state SET node = '', lease_until = 0 WHERE due_at >= 0 AND lease_until > 0")
	return db.Wrap(err, "release sites")
}

// Finish ends a look in the transaction that changes the articles. pages are the pages for the next look; empty leaves
// them as they are. A look without a change and a fault is not kept.
func Finish(ctx context.Context, tx *db.Tx, k Key, node string, l *Look, pages string, due time.Time) error {
	n, err := tx.Exec(ctx, `UPDATE site_state SET node = '', lease_until = 0, due_at = $4, whole = FALSE, looked_at = $5,
		read_at = CASE WHEN $6 = '' THEN $5 ELSE read_at END, fault = $6, detail = $7, pages = CASE WHEN $8 = '' THEN pages ELSE $8 END
		WHERE company_id = $1 AND site_id = $2 AND node = $3`,
		k.CompanyID, k.ID, node, db.Millis(due), db.Millis(l.At), l.Fault, l.Detail, pages)
	if err != nil {
		return db.Wrap(err, "finish site")
	}
	if n == 0 {
		return carillon.InConflict("Another node reads the site")
	}
	if l.Added+l.Changed+l.Removed+l.Kept == 0 && l.Fault == "" {
		return nil
	}
	if _, err := tx.Exec(ctx, `INSERT INTO site_look (company_id, site_id, id, at, pages, added, changed, removed, kept, fault,
		detail, changes) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`, k.CompanyID, k.ID, l.ID,
		db.Millis(l.At), l.Pages, l.Added, l.Changed, l.Removed, l.Kept, l.Fault, l.Detail, l.Changes); err != nil {
		return db.Wrap(err, "keep look")
	}
	_, err = tx.Exec(ctx, `DELETE FROM site_look WHERE company_id = $1 AND site_id = $2 AND id NOT IN
		(SELECT id FROM site_look WHERE company_id = $1 AND site_id = $2 ORDER BY id DESC LIMIT $3)`, k.CompanyID, k.ID, maxLooks)
	return db.Wrap(err, "drop old looks")
}

// FinishAlone is Finish in its own transaction, for a look that changes no articles.
func (s *Store) FinishAlone(ctx context.Context, k Key, node string, l *Look, pages string, due time.Time) error {
	return s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error { return Finish(ctx, tx, k, node, l, pages, due) })
}

// Ask makes a site due immediately. whole makes the look accept everything that it finds. A look in progress
// continues. Errors: not_found.
func (s *Store) Ask(ctx context.Context, k Key, whole bool, now time.Time) error {
	n, err := s.d.Exec(ctx, "UPDATE site_state SET due_at = $3, whole = whole OR $4 WHERE company_id = $1 AND site_id = $2",
		k.CompanyID, k.ID, db.Millis(now), whole)
	if err == nil && n == 0 {
		return carillon.Absent("Site")
	}
	return db.Wrap(err, "ask for a look")
}

// Find returns the state of a site. Errors: not_found.
func (s *Store) Find(ctx context.Context, k Key, now time.Time) (*State, error) {
	var x State
	var due, until, begun, looked, read int64
	err := s.d.Row(ctx, []any{&due, &x.Whole, &until, &begun, &x.Done, &x.Found, &looked, &read, &x.Fault, &x.Detail},
		`SELECT due_at, whole, lease_until, begun_at, done, found, looked_at, read_at, fault, detail FROM site_state
		WHERE company_id = $1 AND site_id = $2`, k.CompanyID, k.ID)
	if err != nil {
		return nil, db.Absent(err, "Site")
	}
	x.DueAt, x.BegunAt, x.LookedAt, x.ReadAt = db.Instant(due), db.Instant(begun), db.Instant(looked), db.Instant(read)
	x.Reading = until > db.Millis(now)
	return &x, nil
}

// Looks returns the stored looks at a site, the latest first, without their changes.
func (s *Store) Looks(ctx context.Context, k Key) ([]Look, error) {
	return db.Collect(ctx, s.d, "looks", func(scan db.Scan) (l Look, err error) {
		var at int64
		err = scan(&l.ID, &at, &l.Pages, &l.Added, &l.Changed, &l.Removed, &l.Kept, &l.Fault, &l.Detail)
		l.At = db.Instant(at)
		return l, err
	}, `SELECT id, at, pages, added, changed, removed, kept, fault, detail FROM site_look WHERE company_id = $1 AND site_id = $2
		ORDER BY id DESC LIMIT $3`, k.CompanyID, k.ID, maxLooks)
}

// Changes returns the changes of a look. Errors: not_found.
func (s *Store) Changes(ctx context.Context, k Key, look string) (changes string, err error) {
	err = s.d.Row(ctx, []any{&changes}, "SELECT changes FROM site_look WHERE company_id = $1 AND site_id = $2 AND id = $3",
		k.CompanyID, k.ID, look)
	return changes, db.Absent(err, "Look")
}
