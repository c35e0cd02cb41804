package chats

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/db"
)

// MostCanned is how many canned replies a company has at most.
const MostCanned = 500

// Canned is an answer that teammates write often.
type Canned struct {
	ID       string `json:"id"`
	Shortcut string `json:"shortcut"` // unique in the company
	Text     string `json:"text"`
}

// CannedReplies returns those of a company by their shortcuts.
func (s *Store) CannedReplies(ctx context.Context, companyID string) ([]Canned, error) {
	return db.Collect(ctx, s.d, "canned replies", func(scan db.Scan) (c Canned, err error) {
		err = scan(&c.ID, &c.Shortcut, &c.Text)
		return c, err
	}, "SELECT id, shortcut, text FROM canned_reply WHERE company_id = $1 ORDER BY shortcut LIMIT $2", companyID, MostCanned)
}

// AddCanned stores one and sets its id. Errors: conflict where the shortcut is in use, limit_exceeded.
func (s *Store) AddCanned(ctx context.Context, companyID string, c *Canned, now time.Time) error {
	c.ID = carillon.NewID(now)
	return inUse(s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		var n int
		if err := tx.Row(ctx, []any{&n}, "SELECT COUNT(*) FROM canned_reply WHERE company_id = $1", companyID); err != nil {
			return err
		}
		if n >= MostCanned {
			return &carillon.Error{Code: carillon.LimitExceeded, Message: "The company has too many canned replies", Details: carillon.Details{
				{Key: "limit", Value: MostCanned}, {Key: "used", Value: n},
			}}
		}
		_, err := tx.Exec(ctx, "INSERT INTO canned_reply (id, company_id, shortcut, text, updated_at) VALUES ($1, $2, $3, $4, $5)", c.ID, companyID,
			c.Shortcut, c.Text, db.Millis(now))
		return err
	}))
}

// ReplaceCanned writes one of a company's. Errors: not_found, conflict where the shortcut is in use.
func (s *Store) ReplaceCanned(ctx context.Context, companyID string, c Canned, now time.Time) error {
	n, err := s.d.Exec(ctx, "UPDATE canned_reply SET shortcut = $1, text = $2, updated_at = $3 WHERE id = $4 AND company_id = $5", c.Shortcut, c.Text,
		db.Millis(now), c.ID, companyID)
	if err == nil && n == 0 {
		return carillon.Absent("Canned reply")
	}
	return inUse(err)
}

// DeleteCanned deletes one of a company's. Errors: not_found.
func (s *Store) DeleteCanned(ctx context.Context, companyID, id string) error {
	n, err := s.d.Exec(ctx, "DELETE FROM canned_reply WHERE id = $1 AND company_id = $2", id, companyID)
	if err == nil && n == 0 {
		return carillon.Absent("Canned reply")
	}
	return db.Wrap(err, "delete canned reply")
}

func inUse(err error) error {
	if db.Duplicate(err) {
		return carillon.InConflict("Another canned reply has the shortcut")
	}
	return db.Wrap(err, "write canned reply")
}
