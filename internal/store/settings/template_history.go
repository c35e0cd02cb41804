package settings

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"carillon"
	"carillon/internal/store/audit"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// TemplateAuthor is the author of a template's change.
type TemplateAuthor struct {
	Kind string // account, key, channel, setup, or system for automatic changes
	ID   string // of the account or access key
}

// TemplateAction is the kind of a template's change.
type TemplateAction string

// The actions.
const (
	TemplateCreated     TemplateAction = "created"
	TemplateEdited      TemplateAction = "edited"
	TemplateSubmitted   TemplateAction = "submitted"
	TemplateRefused     TemplateAction = "refused" // the channel rejected the submission itself
	TemplateDecided     TemplateAction = "decided" // the channel set the status
	TemplateCategorized TemplateAction = "categorized"
)

// TemplateChange is an entry for a template's history.
type TemplateChange struct {
	Action TemplateAction
	By     TemplateAuthor
	Reason string // of a refusal; a decision has the template's
}

// TemplateHistoryEntry is a change in a template's history. Former and Present are the text before and after an edit.
type TemplateHistoryEntry struct {
	TemplateChange
	At              time.Time
	Status          carillon.TemplateStatus // status after the change
	Former, Present *TemplateText
}

// TemplateText holds the parts of a template written by authors.
type TemplateText struct {
	Name       string               `json:"name"`
	Language   string               `json:"language"`
	Category   string               `json:"category"`
	Components []carillon.Component `json:"components"`
	SendTTL    int                  `json:"message_send_ttl_seconds,omitempty"`
}

// maxHistory is the number of changes kept for a template; older ones are dropped.
const maxHistory = 100

func templateTextOf(t *carillon.Template) (string, error) {
	if t == nil {
		return "", nil
	}
	text, err := json.Marshal(TemplateText{t.Name, t.Language, t.Category, t.Components, t.SendTTL})
	if err != nil {
		return "", fmt.Errorf("write text of template: %w", err)
	}
	return string(text), nil
}

// recordTemplate adds changes of a template to its history, in the transaction that changes it. read is nil for a new one.
func recordTemplate(ctx context.Context, tx *configure.Tx, read, next *carillon.Template, changes []TemplateChange) error {
	for _, c := range changes {
		former, present := read, next
		if c.Action != TemplateEdited && c.Action != TemplateCategorized {
			former = nil
			if c.Action != TemplateCreated {
				present = nil
			}
		}
		before, err := templateTextOf(former)
		if err != nil {
			return err
		}
		after, err := templateTextOf(present)
		if err != nil {
			return err
		}
		if c.Action == TemplateDecided {
			c.Reason = next.Reason
		}
		var seq int64
		err = tx.Row(ctx, []any{&seq},
			`INSERT INTO template_change (company_id, template_id, seq, at, action, by_kind, by_id, status, reason, former, present)
			SELECT $1, $2, COALESCE(MAX(seq), 0) + 1, $3, $4, $5, $6, $7, $8, $9, $10 FROM template_change WHERE company_id = $1
				AND template_id = $2
			RETURNING seq`, next.CompanyID, next.ID, db.Millis(next.UpdatedAt), string(c.Action), c.By.Kind, c.By.ID, string(next.Status),
			c.Reason, before, after)
		if err != nil {
			return fmt.Errorf("record change of template: %w", err)
		}
		if err := recordTemplateAudit(ctx, tx, read, next, c); err != nil {
			return err
		}
		if seq <= maxHistory {
			continue
		}
		if _, err := tx.Exec(ctx, "DELETE FROM template_change WHERE company_id = $1 AND template_id = $2 AND seq <= $3",
			next.CompanyID, next.ID, seq-maxHistory); err != nil {
			return fmt.Errorf("forget changes of template: %w", err)
		}
	}
	return nil
}

// recordTemplateAudit records a change of a template in the change log.
func recordTemplateAudit(ctx context.Context, tx *configure.Tx, read, next *carillon.Template, c TemplateChange) error {
	e := audit.Entry{
		CompanyID: next.CompanyID, Kind: audit.Template, ID: next.ID, Name: next.Name + " (" + next.Language + ")",
		Action: audit.Action(c.Action), After: auditDoc(next),
	}
	if read != nil {
		e.Before = auditDoc(read)
	}
	switch {
	case c.Action == TemplateEdited:
		e.Action = audit.Changed
	case read == nil && c.Action != TemplateCreated: // in the transaction that creates it
		e.After = map[string]any{"status": next.Status}
	case c.Action == TemplateRefused:
		e.Before, e.After = nil, map[string]any{"reason": c.Reason}
	}
	if by := audit.AuthorOf(ctx); by.Kind == "" && by.Origin == audit.System {
		switch c.By.Kind {
		case "channel":
			ctx = audit.By(ctx, audit.Author{Origin: audit.Channel})
		case "setup":
			ctx = audit.By(ctx, audit.Author{Origin: audit.SetUp})
		}
	}
	return audit.Record(ctx, tx.Tx, next.UpdatedAt, e)
}

// auditDoc returns the recorded form of a template.
func auditDoc(t *carillon.Template) map[string]any {
	doc := map[string]any{
		"name": t.Name, "language": t.Language, "category": t.Category, "components": t.Components, "status": t.Status, "reason": t.Reason,
	}
	if t.SendTTL != 0 {
		doc["message_send_ttl_seconds"] = t.SendTTL
	}
	return doc
}

// History reads the history of a company's template by our id, newest first.
func (s *Templates) History(ctx context.Context, companyID, id string) ([]TemplateHistoryEntry, error) {
	return db.Collect(ctx, s.d, "history", func(scan db.Scan) (x TemplateHistoryEntry, err error) {
		var at int64
		var former, present string
		if err := scan(&at, &x.Action, &x.By.Kind, &x.By.ID, &x.Status, &x.Reason, &former, &present); err != nil {
			return x, err
		}
		x.At = db.Instant(at)
		if x.Former, err = templateTextFrom(former); err != nil {
			return x, err
		}
		x.Present, err = templateTextFrom(present)
		return x, err
	}, `SELECT at, action, by_kind, by_id, status, reason, former, present FROM template_change
		WHERE company_id = $1 AND template_id = $2 ORDER BY seq DESC`, companyID, id)
}

func templateTextFrom(s string) (*TemplateText, error) {
	if s == "" {
		return nil, nil
	}
	x := &TemplateText{}
	if err := json.Unmarshal([]byte(s), x); err != nil {
		return nil, fmt.Errorf("read text of template: %w", err)
	}
	return x, nil
}
