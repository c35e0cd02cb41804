package settings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"carillon"
	"carillon/internal/store/audit"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
	"carillon/internal/store/events"
)

// MaxActiveTemplates bounds a company's templates at the channel (docs/reference/templates.md).
const MaxActiveTemplates = 100

// TemplateLimits are the limits of a creation or a submission (docs/reference/templates.md); 0 means none.
type TemplateLimits struct {
	Active  int // pending, approved or paused templates of the company; checked when a template becomes one
	Created int // creations per UTC day
}

// ErrTemplatesToday means that a company has reached its daily limit of creations.
var ErrTemplatesToday = errors.New("the day's templates are used up")

func day(now time.Time) string { return now.UTC().Format(time.DateOnly) }

// CreateTemplate stores a new template with the first entries of its history, and counts it. Errors: conflict if the
// sender has one of that name and language, limit_exceeded, ErrToday.
func (s *Templates) CreateTemplate(ctx context.Context, r *TemplateRecord, limits TemplateLimits, changes ...TemplateChange) error {
	_, err := s.config.ChangeIf(ctx, func(ctx context.Context, tx *configure.Tx) (bool, error) {
		if templateActive(r.Status) {
			if err := checkActive(ctx, tx, r.CompanyID, limits.Active); err != nil {
				return false, err
			}
		}
		if err := countCreation(ctx, tx, r.CompanyID, day(r.CreatedAt), limits.Created); err != nil {
			return false, err
		}
		if err := insertTemplate(ctx, tx, r); err != nil {
			return false, err
		}
		return true, recordTemplate(ctx, tx, nil, &r.Template, changes)
	})
	return err
}

func insertTemplate(ctx context.Context, tx *configure.Tx, r *TemplateRecord) error {
	tx.Changes(r.CompanyID)
	_, err := insertTemplateUnless(ctx, tx, r, "")
	if db.Duplicate(err) {
		return carillon.InConflict("The sender has a template of this name and language")
	}
	return db.Wrap(err, "insert template")
}

// insertTemplateUnless inserts a template; clause says what happens if the sender has one of its name and language.
func insertTemplateUnless(ctx context.Context, tx *configure.Tx, r *TemplateRecord, clause string) (int64, error) {
	components, err := json.Marshal(r.Components)
	if err != nil {
		return 0, fmt.Errorf("write components: %w", err)
	}
	report, err := reportText(&r.Template)
	if err != nil {
		return 0, err
	}
	return tx.Exec(ctx, `INSERT INTO template (`+templateColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`+clause,
		r.CompanyID, r.ID, r.ProviderID, r.SenderUID, r.Name, r.Language, r.Category, string(r.Status), r.ParameterFormat,
		string(components), r.Reason, db.Millis(r.PollAt), db.Millis(r.ClaimedUntil), db.Millis(r.CreatedAt), db.Millis(r.UpdatedAt),
		r.SendTTL, report, r.Imported)
}

// reportText returns the stored form of the report on a template.
func reportText(t *carillon.Template) (string, error) {
	if t.Report == (carillon.TemplateReport{}) {
		return "", nil
	}
	text, err := json.Marshal(t.Report)
	return string(text), db.Wrap(err, "write report of template")
}

const activeTemplates = `SELECT COUNT(*) FROM template WHERE company_id = $1 AND status IN ('pending', 'approved', 'paused')
	AND NOT imported`

// ActiveTemplates counts a company's templates at the channel that were made here: pending, approved or paused.
func ActiveTemplates(ctx context.Context, tx *configure.Tx, companyID string) (int, error) {
	return countActive(ctx, tx, companyID)
}

func countActive(ctx context.Context, tx *configure.Tx, companyID string) (n int, err error) {
	err = tx.Row(ctx, []any{&n}, activeTemplates, companyID)
	return n, db.Wrap(err, "count active templates")
}

func checkActive(ctx context.Context, tx *configure.Tx, companyID string, limit int) error {
	if limit == 0 {
		return nil
	}
	used, err := countActive(ctx, tx, companyID)
	if err != nil || used < limit {
		return err
	}
	return &carillon.Error{
		Code: carillon.LimitExceeded, Message: "The company has all the active templates it may have",
		Details: carillon.Details{
			{Key: "limit", Value: limit}, {Key: "used", Value: used},
		},
	}
}

func countCreation(ctx context.Context, tx *configure.Tx, companyID, day string, limit int) error {
	var used int
	err := tx.Row(ctx, []any{&used}, `INSERT INTO template_creation (company_id, day, used) VALUES ($1, $2, 1)
		ON CONFLICT (company_id, day) DO UPDATE SET used = template_creation.used + 1 RETURNING used`, companyID, day)
	if err != nil {
		return fmt.Errorf("count creation: %w", err)
	}
	if limit > 0 && used > limit {
		return ErrTemplatesToday
	}
	if used > 1 {
		return nil
	}
	_, err = tx.Exec(ctx, "DELETE FROM template_creation WHERE company_id = $1 AND day < $2", companyID, day)
	return db.Wrap(err, "forget earlier days")
}

// UndoCreateTemplate reverts a creation and its count after a failed submission, if the template is unchanged.
func (s *Templates) UndoCreateTemplate(ctx context.Context, r *TemplateRecord) (bool, error) {
	return s.config.ChangeIf(ctx, func(ctx context.Context, tx *configure.Tx) (bool, error) {
		gone, err := deleteTemplate(ctx, tx, r)
		if err != nil || !gone {
			return false, err
		}
		_, err = tx.Exec(ctx, "UPDATE template_creation SET used = used - 1 WHERE company_id = $1 AND day = $2 AND used > 0",
			r.CompanyID, day(r.CreatedAt))
		return true, err
	})
}

// asRead guards a write by the state on which it was decided.
const asRead = " WHERE company_id = $1 AND id = $2 AND status = $3 AND updated_at = $4 AND claimed_until = $5"

// DeleteTemplate removes a template if it is unchanged since it was read.
func (s *Templates) DeleteTemplate(ctx context.Context, read *TemplateRecord) (bool, error) {
	return s.config.ChangeIf(ctx, func(ctx context.Context, tx *configure.Tx) (bool, error) { return deleteTemplate(ctx, tx, read) })
}

func deleteTemplate(ctx context.Context, tx *configure.Tx, read *TemplateRecord) (bool, error) {
	tx.Changes(read.CompanyID)
	n, err := tx.Exec(ctx, "DELETE FROM template"+asRead, read.CompanyID, read.ID, string(read.Status), db.Millis(read.UpdatedAt),
		db.Millis(read.ClaimedUntil))
	if err != nil || n == 0 {
		return false, db.Wrap(err, "delete template")
	}
	return true, audit.Record(ctx, tx.Tx, time.Now(), audit.Entry{
		CompanyID: read.CompanyID, Kind: audit.Template, ID: read.ID, Name: read.Name + " (" + read.Language + ")", Action: audit.Deleted,
		Before: auditDoc(&read.Template),
	})
}

// SwapTemplate replaces read by next and adds changes to its history if the stored template is unchanged; otherwise it
// returns false. It sets next.UpdatedAt to now, or a moment later than before, so that no two states look alike. A
// template that becomes active must keep the limit. Errors: conflict if another template has the name and language of
// next, limit_exceeded.
func (s *Templates) SwapTemplate(ctx context.Context, read, next *TemplateRecord, now time.Time, limits TemplateLimits,
	changes ...TemplateChange,
) (bool, error) {
	next.UpdatedAt = now.UTC().Truncate(time.Millisecond) // as stored: two states of one millisecond must differ
	if !next.UpdatedAt.After(read.UpdatedAt) {
		next.UpdatedAt = read.UpdatedAt.Add(time.Millisecond)
	}
	followed := next.Status != read.Status && s.subscribed(ctx, next.CompanyID, events.Templates)
	return s.config.ChangeIf(ctx, func(ctx context.Context, tx *configure.Tx) (bool, error) {
		if templateActive(next.Status) && !templateActive(read.Status) {
			if err := checkActive(ctx, tx, read.CompanyID, limits.Active); err != nil {
				return false, err
			}
		}
		swapped, err := swapTemplate(ctx, tx, read, next)
		if err != nil || !swapped {
			return false, err
		}
		if followed {
			if err := recordTemplateEvent(ctx, tx.Tx, &read.Template, &next.Template); err != nil {
				return false, err
			}
		}
		return true, recordTemplate(ctx, tx, &read.Template, &next.Template, changes)
	})
}

// templateEvent is the payload of a template's event. Version 1; fields are only added.
type templateEvent struct {
	Version    int    `json:"v"`
	TemplateID string `json:"template_id"`
	Name       string `json:"name"`
	Language   string `json:"language"`
	Category   string `json:"category"`
	SenderID   string `json:"sender_id"`
	State      string `json:"state"`
	Previous   string `json:"previous_state"`
	Reason     string `json:"reason"`
}

// recordTemplateEvent records the event of a template that was approved, rejected or paused.
func recordTemplateEvent(ctx context.Context, tx *db.Tx, read, next *carillon.Template) error {
	switch next.Status {
	case carillon.TemplateApproved, carillon.TemplateRejected, carillon.TemplatePaused:
	default:
		return nil
	}
	var sender string
	if err := tx.Row(ctx, []any{&sender}, "SELECT id FROM sender WHERE uid = $1", next.SenderUID); err != nil {
		return fmt.Errorf("read sender: %w", err)
	}
	text, err := json.Marshal(templateEvent{
		Version: 1, TemplateID: next.ID, Name: next.Name, Language: next.Language, Category: next.Category, SenderID: sender,
		State: strings.ToLower(string(next.Status)), Previous: strings.ToLower(string(read.Status)), Reason: next.Reason,
	})
	if err != nil {
		return fmt.Errorf("write an event: %w", err)
	}
	events.Record(tx, &events.Event{
		CompanyID: next.CompanyID, Topic: events.Templates, Kind: "template." + strings.ToLower(string(next.Status)),
		Subject: next.ID, Payload: text, At: next.UpdatedAt,
	})
	return nil
}

func templateActive(s carillon.TemplateStatus) bool {
	return s == carillon.TemplatePending || s == carillon.TemplateApproved || s == carillon.TemplatePaused
}

func swapTemplate(ctx context.Context, tx *configure.Tx, read, next *TemplateRecord) (bool, error) {
	tx.Changes(read.CompanyID)
	components, err := json.Marshal(next.Components)
	if err != nil {
		return false, fmt.Errorf("write components: %w", err)
	}
	report, err := reportText(&next.Template)
	if err != nil {
		return false, err
	}
	n, err := tx.Exec(ctx, `UPDATE template SET provider_id = $6, name = $7, language = $8, category = $9, status = $10,
		parameter_format = $11, components = $12, reason = $13, poll_at = $14, claimed_until = $15, updated_at = $16, send_ttl = $17,
		report = $18`+asRead,
		read.CompanyID, read.ID, string(read.Status), db.Millis(read.UpdatedAt), db.Millis(read.ClaimedUntil),
		next.ProviderID, next.Name, next.Language, next.Category, string(next.Status), next.ParameterFormat,
		string(components), next.Reason, db.Millis(next.PollAt), db.Millis(next.ClaimedUntil), db.Millis(next.UpdatedAt),
		next.SendTTL, report)
	if db.Duplicate(err) {
		return false, carillon.InConflict("The sender has another template of this name and language")
	}
	return n == 1, db.Wrap(err, "change template")
}

// PostponePoll moves a template's poll, unless another node has: the node that moves it polls the channel.
func (s *Templates) PostponePoll(ctx context.Context, read *TemplateRecord, next time.Time) (mine bool, err error) {
	n, err := s.d.Exec(context.WithoutCancel(ctx), "UPDATE template SET poll_at = $4 WHERE company_id = $1 AND id = $2 AND poll_at = $3",
		read.CompanyID, read.ID, db.Millis(read.PollAt), db.Millis(next))
	return n == 1, db.Wrap(err, "postpone poll")
}

// PutTemplate inserts or replaces a template by sender, name and language, inside Configure, and fills its ID: the
// existing id, or else x.ID. The declared status applies until the channel reports on the template: once it has the
// channel's id, its status is left unchanged (docs/reference/templates.md). Putting a template twice changes nothing.
func PutTemplate(ctx context.Context, tx *configure.Tx, x *carillon.Template, now time.Time) error {
	tx.Changes(x.CompanyID)
	read, err := db.Find(ctx, tx, "template", scanTemplate, templateNamed, x.SenderUID, x.Name, x.Language)
	if err != nil {
		return err
	}
	components, err := json.Marshal(x.Components)
	if err != nil {
		return fmt.Errorf("write components: %w", err)
	}
	poll := int64(0)
	if x.Status == carillon.TemplatePending || x.Status == carillon.TemplatePaused {
		poll = db.Millis(now.Add(time.Minute))
	}
	written, err := tx.Exec(ctx, `INSERT INTO template (company_id, id, provider_id, sender, name, language, category, status,
		parameter_format, components, reason, poll_at, created_at, updated_at, send_ttl)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13, $14)
		ON CONFLICT (sender, name, language) DO UPDATE SET category = excluded.category, components = excluded.components,
		parameter_format = excluded.parameter_format, send_ttl = excluded.send_ttl,
		updated_at = CASE WHEN template.updated_at < excluded.updated_at
			THEN excluded.updated_at ELSE template.updated_at + 1 END,
		status = CASE WHEN template.provider_id = '' THEN excluded.status ELSE template.status END,
		reason = CASE WHEN template.provider_id = '' THEN excluded.reason ELSE template.reason END,
		poll_at = CASE WHEN template.provider_id = '' THEN excluded.poll_at ELSE template.poll_at END
		WHERE template.category <> excluded.category OR template.components <> excluded.components
		OR template.parameter_format <> excluded.parameter_format OR template.send_ttl <> excluded.send_ttl
		OR template.provider_id = '' AND template.status <> excluded.status`,
		x.CompanyID, x.ID, x.ProviderID, x.SenderUID, x.Name, x.Language, x.Category, string(x.Status), x.ParameterFormat,
		string(components), x.Reason, poll, db.Millis(now), x.SendTTL)
	if err != nil {
		return fmt.Errorf("put template: %w", err)
	}
	if read != nil {
		x.ID, x.ProviderID = read.ID, read.ProviderID
	}
	if written == 0 {
		return nil
	}
	return recordPut(ctx, tx, read, x, now)
}

// recordPut records a change by a set-up. A change of the status alone is a decision.
func recordPut(ctx context.Context, tx *configure.Tx, read *TemplateRecord, x *carillon.Template, now time.Time) error {
	next, change := *x, TemplateChange{Action: TemplateCreated, By: TemplateAuthor{Kind: "setup"}}
	next.UpdatedAt = now
	if read == nil {
		return recordTemplate(ctx, tx, nil, &next, []TemplateChange{change})
	}
	if read.ProviderID != "" {
		next.Status = read.Status
	}
	change.Action = TemplateDecided
	before, err := templateTextOf(&read.Template)
	if err != nil {
		return err
	}
	after, err := templateTextOf(&next)
	if err != nil {
		return err
	}
	if before != after {
		change.Action = TemplateEdited
	}
	return recordTemplate(ctx, tx, &read.Template, &next, []TemplateChange{change})
}
