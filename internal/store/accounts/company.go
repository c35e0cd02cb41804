package accounts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"carillon"
	"carillon/internal/store/audit"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// Company returns a company by id, from the cache. Errors: not_found.
func (s *Store) Company(ctx context.Context, id string) (*carillon.Company, error) {
	return s.companies.Get(ctx, id, func(ctx context.Context) (*carillon.Company, string, error) {
		var suppresses bool
		var move string
		c, err := scanCompany(func(dest ...any) error {
			return s.d.Row(ctx, append(dest, &suppresses, &move), "SELECT "+companyColumns+`,
				(SELECT MIN(number) FROM suppression WHERE company_id = company.id) IS NOT NULL,
				COALESCE((SELECT state FROM company_move WHERE company_id = company.id), '') FROM company WHERE id = $1`, id)
		})
		if err != nil {
			return nil, "", db.Absent(err, "Company")
		}
		c.Suppresses, c.Move = suppresses, move
		return c, id, nil
	})
}

// Moving reports whether a company is being moved to or from another installation.
func Moving(ctx context.Context, q db.Querier, id string) (bool, error) {
	var n int
	err := db.Each(ctx, q, func(scan db.Scan) error { return scan(&n) }, "SELECT COUNT(*) FROM company_move WHERE company_id = $1", id)
	return n > 0, db.Wrap(err, "read whether a company is being moved")
}

const companyColumns = "id, name, suspended, strict, hours, redial, limits, retention, recording_days, inbox"

// scanCompany reads the columns of companyColumns.
func scanCompany(scan db.Scan) (*carillon.Company, error) {
	// A limit that was added after the company was created has its default.
	standard := carillon.NewCompany("").Limits
	c := &carillon.Company{Limits: carillon.Limits{DailyCalls: standard.DailyCalls, EngineTurnsPerDay: standard.EngineTurnsPerDay}}
	var hours, redial, limits, inbox string
	err := scan(&c.ID, &c.Name, &c.Suspended, &c.StrictRecipientID, &hours, &redial, &limits, &c.RetentionDays, &c.RecordingDays, &inbox)
	if err != nil {
		return nil, err
	}
	for _, part := range []struct {
		name, text string
		to         any
	}{
		{"calling hours", hours, &c.CallingHours},
		{"redial policy", redial, &c.Redial},
		{"limits", limits, &c.Limits},
		{"inbox rules", inbox, &c.Inbox},
	} {
		if err := json.Unmarshal([]byte(part.text), part.to); err != nil {
			return nil, fmt.Errorf("read %s of company %s: %w", part.name, c.ID, err)
		}
	}
	return c, nil
}

// FindCompany reads a company by id or name, either of which may be empty; nil when there is none.
func FindCompany(ctx context.Context, tx *configure.Tx, id, name string) (*carillon.Company, error) {
	for _, by := range []struct{ column, value string }{{"id", id}, {"name", name}} {
		if by.value == "" {
			continue
		}
		c, err := db.Find(ctx, tx, "company", scanCompany, "SELECT "+companyColumns+" FROM company WHERE "+by.column+" = $1", by.value)
		if c != nil || err != nil {
			return c, err
		}
	}
	return nil, nil
}

// PutCompany inserts or replaces a company, inside Configure.
func PutCompany(ctx context.Context, tx *configure.Tx, c *carillon.Company, now time.Time) error {
	tx.Changes(c.ID)
	before, err := FindCompany(ctx, tx, c.ID, "")
	if err != nil {
		return err
	}
	hours, hoursErr := json.Marshal(c.CallingHours)
	redial, redialErr := json.Marshal(c.Redial)
	limits, limitsErr := json.Marshal(c.Limits)
	inbox, inboxErr := json.Marshal(c.Inbox)
	if err := errors.Join(hoursErr, redialErr, limitsErr, inboxErr); err != nil {
		return fmt.Errorf("write company: %w", err)
	}
	_, err = tx.Exec(ctx, `INSERT INTO company (`+companyColumns+`, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11) ON CONFLICT (id) DO UPDATE SET name = excluded.name,
		suspended = excluded.suspended, strict = excluded.strict, hours = excluded.hours, redial = excluded.redial,
		limits = excluded.limits, retention = excluded.retention,
		recording_days = excluded.recording_days, inbox = excluded.inbox, updated_at = excluded.updated_at`,
		c.ID, c.Name, c.Suspended, c.StrictRecipientID, string(hours), string(redial), string(limits), c.RetentionDays,
		c.RecordingDays, string(inbox), db.Millis(now))
	if db.Duplicate(err) {
		return carillon.InConflict("Another company has the name " + c.Name)
	}
	if err != nil {
		return fmt.Errorf("write company: %w", err)
	}
	if before == nil {
		if err := configure.NewKey(ctx, tx, c.ID, now); err != nil {
			return err
		}
	}
	e := audit.Entry{CompanyID: c.ID, Kind: audit.Company, ID: c.ID, Name: c.Name, Action: audit.Created, After: companyDoc(c)}
	if before != nil {
		e.Action, e.Before = audit.Changed, companyDoc(before)
	}
	return audit.Record(ctx, tx.Tx, now, e)
}

// companyDoc returns the recorded form of a company.
func companyDoc(c *carillon.Company) map[string]any {
	return map[string]any{
		"name": c.Name, "suspended": c.Suspended, "strict_recipient_id": c.StrictRecipientID, "calling_hours": c.CallingHours,
		"redial": c.Redial,
		"limits": c.Limits, "retention_days": c.RetentionDays, "recording_days": c.RecordingDays, "inbox": c.Inbox,
	}
}
