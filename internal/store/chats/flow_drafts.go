package chats

import (
	"context"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/base/resource"
	"carillon/internal/store/db"
)

// Bounds of a company's drafts: their number, and bytes of one and of all.
const (
	MaxFlowDrafts      = 500
	MaxFlowDraftBytes  = resource.DefaultBytes
	MaxFlowDraftsBytes = resource.DefaultAll
)

// FlowDraft is an unpublished edit of a flow.
type FlowDraft struct {
	FlowID     string
	Name       string
	Definition string // JSON, possibly with errors
	SavedAt    time.Time
}

// Draft returns the draft of a company's flow; nil if there is none.
func (s *Runs) Draft(ctx context.Context, companyID, flowID string) (*FlowDraft, error) {
	return db.Find(ctx, s.d, "flow draft", func(row db.Scan) (*FlowDraft, error) {
		x := FlowDraft{FlowID: flowID}
		var at int64
		err := row(&x.Name, &x.Definition, &at)
		x.SavedAt = db.Instant(at)
		return &x, err
	}, "SELECT name, definition, saved_at FROM flow_draft WHERE company_id = $1 AND flow_id = $2", companyID, flowID)
}

// Drafts returns the drafts of a company without their definitions.
func (s *Runs) Drafts(ctx context.Context, companyID string) ([]FlowDraft, error) {
	return db.Collect(ctx, s.d, "flow drafts", func(row db.Scan) (x FlowDraft, err error) {
		var at int64
		err = row(&x.FlowID, &x.Name, &at)
		x.SavedAt = db.Instant(at)
		return x, err
	}, "SELECT flow_id, name, saved_at FROM flow_draft WHERE company_id = $1 ORDER BY flow_id LIMIT $2", companyID, MaxFlowDrafts)
}

// SaveDraft replaces the draft saved at an instant, zero if there was none, and sets SavedAt. Errors: conflict if
// somebody else has saved or removed it since, limit_exceeded.
func (s *Runs) SaveDraft(ctx context.Context, companyID string, x *FlowDraft, seen time.Time) error {
	if !x.SavedAt.After(seen) {
		x.SavedAt = seen.Add(time.Millisecond)
	}
	return s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := roomForFlowDraft(ctx, tx, companyID, x); err != nil {
			return err
		}
		if seen.IsZero() {
			return addFlowDraft(ctx, tx, companyID, x)
		}
		n, err := tx.Exec(ctx, "UPDATE flow_draft SET name = $1, definition = $2, saved_at = $3 WHERE company_id = $4 AND flow_id = "+
			"$5 AND saved_at = $6",
			x.Name, x.Definition, db.Millis(x.SavedAt), companyID, x.FlowID, db.Millis(seen))
		if err == nil && n == 0 {
			return draftOvertaken()
		}
		return db.Wrap(err, "save flow draft")
	})
}

func draftOvertaken() error {
	return carillon.InConflict("Somebody else has changed the draft meanwhile")
}

// roomForFlowDraft refuses a draft that is too large, or that makes a company's total too large; a draft that does not
// grow is accepted.
func roomForFlowDraft(ctx context.Context, tx *db.Tx, companyID string, x *FlowDraft) error {
	var used, before int
	if err := tx.Row(ctx, []any{&used, &before}, `SELECT COALESCE(SUM(OCTET_LENGTH(definition)), 0),
		COALESCE(SUM(CASE WHEN flow_id = $2 THEN OCTET_LENGTH(definition) END), 0) FROM flow_draft WHERE company_id = $1`,
		companyID, x.FlowID); err != nil {
		return db.Wrap(err, "measure flow drafts")
	}
	switch size := len(x.Definition); {
	case size <= before:
		return nil
	case size > MaxFlowDraftBytes:
		return carillon.Invalid("flow", "Must have at most "+strconv.Itoa(MaxFlowDraftBytes)+" bytes as JSON, and has "+strconv.Itoa(size))
	case used-before+size > MaxFlowDraftsBytes:
		return &carillon.Error{
			Code:    carillon.LimitExceeded,
			Message: "The company's drafts of flows are too large together, in bytes", Details: carillon.Details{
				{Key: "limit", Value: MaxFlowDraftsBytes}, {Key: "used", Value: used},
			},
		}
	}
	return nil
}

func addFlowDraft(ctx context.Context, tx *db.Tx, companyID string, x *FlowDraft) error {
	var n int
	if err := tx.Row(ctx, []any{&n}, "SELECT COUNT(*) FROM flow_draft WHERE company_id = $1", companyID); err != nil {
		return err
	}
	if n >= MaxFlowDrafts {
		return &carillon.Error{Code: carillon.LimitExceeded, Message: "The company has too many drafts of flows", Details: carillon.Details{
			{Key: "limit", Value: MaxFlowDrafts}, {Key: "used", Value: n},
		}}
	}
	added, err := tx.Exec(ctx, "INSERT INTO flow_draft (company_id, flow_id, name, definition, saved_at) VALUES ($1, $2, $3, $4, "+
		"$5) ON CONFLICT DO NOTHING",
		companyID, x.FlowID, x.Name, x.Definition, db.Millis(x.SavedAt))
	if err == nil && added == 0 {
		return draftOvertaken()
	}
	return db.Wrap(err, "add flow draft")
}

// DropDraft removes the draft of a company's flow that was saved at an instant, or any draft if that is zero. It
// reports whether there was one.
func (s *Runs) DropDraft(ctx context.Context, companyID, flowID string, seen time.Time) (bool, error) {
	n, err := s.d.Exec(ctx, "DELETE FROM flow_draft WHERE company_id = $1 AND flow_id = $2 AND (saved_at = $3 OR $3 = 0)",
		companyID, flowID, db.Millis(seen))
	return n > 0, db.Wrap(err, "remove flow draft")
}
