package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"carillon"
	"carillon/internal/db"
)

// Company is a company by id, from the cache. Errors: not_found.
func (s *Store) Company(ctx context.Context, id string) (*carillon.Company, error) {
	return s.caches.companies.Get(ctx, id, func(ctx context.Context) (*carillon.Company, string, error) {
		c := &carillon.Company{ID: id}
		var hours, limits string
		err := s.Row(ctx, []any{&c.Name, &c.Suspended, &c.StrictRecipientID, &hours, &limits, &c.RetentionDays, &c.Suppresses},
			`SELECT name, suspended, strict, hours, limits, retention, (SELECT MIN(number) FROM suppression WHERE company_id = company.id) IS NOT NULL
			FROM company WHERE id = $1`, id)
		if err != nil {
			return nil, "", db.Absent(err, "Company")
		}
		if err := json.Unmarshal([]byte(limits), &c.Limits); err != nil {
			return nil, "", fmt.Errorf("read limits of company %s: %w", id, err)
		}
		if hours != "" {
			c.CallingHours = new(carillon.CallingHours)
			if err := json.Unmarshal([]byte(hours), c.CallingHours); err != nil {
				return nil, "", fmt.Errorf("read calling hours of company %s: %w", id, err)
			}
		}
		return c, id, nil
	})
}

// PutCompany inserts or replaces a company, inside Configure.
func (tx *Tx) PutCompany(ctx context.Context, c *carillon.Company, now time.Time) error {
	tx.changes(c.ID)
	limits, err := json.Marshal(c.Limits)
	if err != nil {
		return fmt.Errorf("write limits: %w", err)
	}
	hours := []byte{}
	if c.CallingHours != nil {
		if hours, err = json.Marshal(c.CallingHours); err != nil {
			return fmt.Errorf("write calling hours: %w", err)
		}
	}
	_, err = tx.Exec(ctx, `INSERT INTO company (id, name, suspended, strict, hours, limits, retention, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $8, $7, $7) ON CONFLICT (id) DO UPDATE SET name = excluded.name, suspended = excluded.suspended,
		strict = excluded.strict, hours = excluded.hours, limits = excluded.limits, retention = excluded.retention, updated_at = excluded.updated_at`,
		c.ID, c.Name, c.Suspended, c.StrictRecipientID, string(hours), string(limits), db.Millis(now), c.RetentionDays)
	if db.Duplicate(err) {
		return carillon.InConflict("Another company has the name " + c.Name)
	}
	return err
}
