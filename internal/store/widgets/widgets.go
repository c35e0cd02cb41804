// Package widgets is the SQL of the sites that loaded widgets, and of logos. The widgets themselves are resources.
package widgets

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/store/db"
)

const (
	// MaxSites bounds the sites that are kept of a widget.
	MaxSites = 20
	// MaxLogos bounds a company's logos.
	MaxLogos = 100
	// maxListed bounds the sites in a list of all widgets of a company.
	maxListed = 1000
	// SeenEvery is the shortest interval between two updates of the time of a site.
	SeenEvery = 5 * time.Minute
	// unusedAge is the age from which a logo that no widget has may be deleted; a younger one may belong to an unsaved draft.
	unusedAge = 24 * time.Hour
)

// Store reads and writes the tables.
type Store struct{ d *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }

// Site is a site that loaded a widget.
type Site struct {
	WidgetID string
	Origin   string // empty: an app, or a page without an origin
	SeenAt   time.Time
}

// Saw records that a page of a site loaded a widget. Of a widget with many sites, the latest are kept.
func (s *Store) Saw(ctx context.Context, companyID string, x Site) error {
	err := s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, `INSERT INTO widget_site (company_id, kind, widget_id, origin, seen_at) VALUES ($1, 'widget', $2, $3, $4)
			ON CONFLICT (company_id, widget_id, origin) DO UPDATE SET seen_at = excluded.seen_at
			WHERE widget_site.seen_at <= excluded.seen_at - $5`,
			companyID, x.WidgetID, x.Origin, db.Millis(x.SeenAt), SeenEvery.Milliseconds())
		if err != nil || n == 0 {
			return err
		}
		_, err = tx.Exec(ctx, `DELETE FROM widget_site WHERE company_id = $1 AND widget_id = $2 AND origin NOT IN (SELECT origin
			FROM widget_site WHERE company_id = $1 AND widget_id = $2 ORDER BY seen_at DESC, origin LIMIT $3)`,
			companyID, x.WidgetID, MaxSites)
		return err
	})
	return db.Wrap(err, "record a widget's site")
}

func scanSite(scan db.Scan) (x Site, err error) {
	var at int64
	err = scan(&x.WidgetID, &x.Origin, &at)
	x.SeenAt = time.UnixMilli(at).UTC()
	return x, err
}

// Sites returns the sites that loaded a widget, latest first.
func (s *Store) Sites(ctx context.Context, companyID, widgetID string) ([]Site, error) {
	return db.Collect(ctx, s.d, "sites of a widget", scanSite, `SELECT widget_id, origin, seen_at FROM widget_site
		WHERE company_id = $1 AND widget_id = $2 ORDER BY seen_at DESC, origin LIMIT $3`, companyID, widgetID, MaxSites)
}

// Latest returns for each widget of a company the site that loaded it last. Of a company with many sites, the widgets of the
// latest are returned.
func (s *Store) Latest(ctx context.Context, companyID string) ([]Site, error) {
	all, err := db.Collect(ctx, s.d, "sites of widgets", scanSite, `SELECT widget_id, origin, seen_at FROM widget_site
		WHERE company_id = $1 ORDER BY seen_at DESC LIMIT $2`, companyID, maxListed)
	seen := map[string]bool{}
	var latest []Site
	for _, x := range all {
		if !seen[x.WidgetID] {
			seen[x.WidgetID] = true
			latest = append(latest, x)
		}
	}
	return latest, err
}

// PutLogo stores a logo of a company, by its digest. used are the digests of the logos that widgets have: old ones besides
// them are deleted. Errors: limit_exceeded.
func (s *Store) PutLogo(ctx context.Context, companyID, digest string, content []byte, used []string, now time.Time) error {
	err := s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		unused, args := db.NotIn("digest", used, []any{companyID, db.Millis(now.Add(-unusedAge))})
		if _, err := tx.Exec(ctx, "DELETE FROM widget_logo WHERE company_id = $1 AND created_at < $2"+unused, args...); err != nil {
			return err
		}
		var n int
		if err := tx.Row(ctx, []any{&n}, "SELECT COUNT(*) FROM widget_logo WHERE company_id = $1 AND digest <> $2",
			companyID, digest); err != nil {
			return err
		}
		if n >= MaxLogos {
			return &carillon.Error{
				Code: carillon.LimitExceeded, Message: "The company has too many logos",
				Details: carillon.Details{{Key: "limit", Value: MaxLogos}, {Key: "used", Value: n}},
			}
		}
		_, err := tx.Exec(ctx, `INSERT INTO widget_logo (company_id, digest, created_at, bytes) VALUES ($1, $2, $3, $4)
			ON CONFLICT (company_id, digest) DO UPDATE SET created_at = excluded.created_at`,
			companyID, digest, db.Millis(now), content)
		return err
	})
	return db.Wrap(err, "store a logo")
}

// Logo returns a logo of a company. Errors: not_found.
func (s *Store) Logo(ctx context.Context, companyID, digest string) (content []byte, err error) {
	err = s.d.Row(ctx, []any{&content}, "SELECT bytes FROM widget_logo WHERE company_id = $1 AND digest = $2", companyID, digest)
	return content, db.Absent(err, "Logo")
}
