package chats

import (
	"cmp"
	"context"
	"time"

	"carillon"
	"carillon/internal/store/audit"
	"carillon/internal/store/db"
)

// MaxCanned bounds a company's canned replies.
const MaxCanned = 500

// Canned is a prepared reply of teammates.
type Canned struct {
	ID       string `json:"id"`
	Shortcut string `json:"shortcut"` // unique in the company
	Text     string `json:"text"`
}

// List returns those of a company by their shortcuts.
func (s *CannedReplies) List(ctx context.Context, companyID string) ([]Canned, error) {
	return db.Collect(ctx, s.d, "canned replies", func(scan db.Scan) (c Canned, err error) {
		err = scan(&c.ID, &c.Shortcut, &c.Text)
		return c, err
	}, "SELECT id, shortcut, text FROM canned_reply WHERE company_id = $1 ORDER BY shortcut LIMIT $2", companyID, MaxCanned)
}

// Add stores a canned reply and sets its id. Errors: conflict where the shortcut is in use, limit_exceeded.
func (s *CannedReplies) Add(ctx context.Context, companyID string, c *Canned, now time.Time) error {
	c.ID = carillon.NewID(now)
	return inUse(s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		var n int
		if err := tx.Row(ctx, []any{&n}, "SELECT COUNT(*) FROM canned_reply WHERE company_id = $1", companyID); err != nil {
			return err
		}
		if n >= MaxCanned {
			return &carillon.Error{
				Code: carillon.LimitExceeded, Message: "The company has too many canned replies",
				Details: carillon.Details{
					{Key: "limit", Value: MaxCanned}, {Key: "used", Value: n},
				},
			}
		}
		_, err := tx.Exec(ctx, "INSERT INTO canned_reply (id, company_id, shortcut, text, updated_at) VALUES ($1, $2, $3, $4, $5)",
			c.ID, companyID,
			c.Shortcut, c.Text, db.Millis(now))
		if err != nil {
			return err
		}
		return recordCanned(ctx, tx, companyID, audit.Created, nil, c)
	}))
}

// recordCanned records a change of a canned reply; before or after is nil where there is none.
func recordCanned(ctx context.Context, tx *db.Tx, companyID string, action audit.Action, before, after *Canned) error {
	of := cmp.Or(after, before)
	e := audit.Entry{CompanyID: companyID, Kind: audit.Canned, ID: of.ID, Name: of.Shortcut, Action: action}
	if before != nil {
		e.Before = before
	}
	if after != nil {
		e.After = after
	}
	return audit.Record(ctx, tx, time.Now(), e)
}

// findCanned reads a company's canned reply inside a transaction. Errors: not_found.
func findCanned(ctx context.Context, tx *db.Tx, companyID, id string) (*Canned, error) {
	c := &Canned{ID: id}
	err := tx.Row(ctx, []any{&c.Shortcut, &c.Text}, "SELECT shortcut, text FROM canned_reply WHERE id = $1 AND company_id = $2", id,
		companyID)
	return c, db.Absent(err, "Canned reply")
}

// Replace writes a company's canned reply. Errors: not_found, conflict where the shortcut is in use.
func (s *CannedReplies) Replace(ctx context.Context, companyID string, c Canned, now time.Time) error {
	return inUse(s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		before, err := findCanned(ctx, tx, companyID, c.ID)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "UPDATE canned_reply SET shortcut = $1, text = $2, updated_at = $3 WHERE id = $4 AND company_id = $5",
			c.Shortcut, c.Text,
			db.Millis(now), c.ID, companyID); err != nil {
			return err
		}
		return recordCanned(ctx, tx, companyID, audit.Changed, before, &c)
	}))
}

// Delete deletes a company's canned reply. Errors: not_found.
func (s *CannedReplies) Delete(ctx context.Context, companyID, id string) error {
	err := s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		before, err := findCanned(ctx, tx, companyID, id)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "DELETE FROM canned_reply WHERE id = $1 AND company_id = $2", id, companyID); err != nil {
			return err
		}
		return recordCanned(ctx, tx, companyID, audit.Deleted, before, nil)
	})
	return db.Wrap(err, "delete canned reply")
}

func inUse(err error) error {
	if db.Duplicate(err) {
		return carillon.InConflict("Another canned reply has the shortcut")
	}
	return db.Wrap(err, "write canned reply")
}
