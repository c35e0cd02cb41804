package settings

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// TemplateRecord is a stored template with its life-cycle fields. ClaimedUntil is set during a request to the channel; its
// value identifies the claim, because a new claim ends later than the former one.
type TemplateRecord struct {
	carillon.Template
	PollAt       time.Time // time of the next poll of the channel; zero for none
	ClaimedUntil time.Time
	Imported     bool // made at the channel, not here
}

const templateColumns = `company_id, id, provider_id, sender, name, language, category, status, parameter_format, components,
	reason, poll_at, claimed_until, created_at, updated_at, send_ttl, report, imported`

const (
	templateSelect       = "SELECT " + templateColumns + " FROM template "
	templateList         = templateSelect + "WHERE sender = $1 ORDER BY sender, name, language"
	templateByID         = templateSelect + "WHERE company_id = $1 AND id = $2"
	templateByProviderID = templateSelect + `WHERE provider_id <> '' AND provider_id = $2
		AND sender IN (SELECT uid FROM sender WHERE company_id = $1) ORDER BY created_at, id LIMIT 1`
	templateOfProvider = templateSelect + "WHERE sender = $1 AND provider_id <> '' AND provider_id = $2"
	templateNamed      = templateSelect + "WHERE sender = $1 AND name = $2 AND language = $3"
	templatePolls      = templateSelect + "WHERE poll_at > 0 AND poll_at <= $1" + db.Here + " ORDER BY poll_at LIMIT $2"
	templateNextPoll   = "SELECT poll_at FROM template WHERE poll_at > 0 AND poll_at > $1 ORDER BY poll_at LIMIT 1"
)

func scanTemplate(scan db.Scan) (*TemplateRecord, error) {
	var r TemplateRecord
	var components, report string
	var poll, claimed, created, updated int64
	err := scan(&r.CompanyID, &r.ID, &r.ProviderID, &r.SenderUID, &r.Name, &r.Language, &r.Category, &r.Status,
		&r.ParameterFormat, &components, &r.Reason, &poll, &claimed, &created, &updated, &r.SendTTL, &report, &r.Imported)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(components), &r.Components); err != nil {
		return nil, fmt.Errorf("read components of template %s: %w", r.ID, err)
	}
	if report != "" {
		if err := json.Unmarshal([]byte(report), &r.Report); err != nil {
			return nil, fmt.Errorf("read report of template %s: %w", r.ID, err)
		}
	}
	r.PollAt, r.ClaimedUntil = db.Instant(poll), db.Instant(claimed)
	r.CreatedAt, r.UpdatedAt = db.Instant(created), db.Instant(updated)
	// A template that does not compile keeps a nil Shape and fails on use.
	_ = content.Compile(&r.Template)
	return &r, nil
}

// scan reads a template, with its counted links marked.
func (s *Templates) scan(scan db.Scan) (*TemplateRecord, error) {
	r, err := scanTemplate(scan)
	if prefix := s.Links(); err == nil && r.Shape != nil && prefix != "" {
		content.CountClicks(r.Shape, prefix)
	}
	return r, err
}

func (s *Templates) templates(ctx context.Context, query string, args ...any) ([]*TemplateRecord, error) {
	return db.Collect(ctx, s.d, "templates", s.scan, query, args...)
}

func (s *Templates) find(ctx context.Context, query string, args ...any) (*TemplateRecord, error) {
	return db.Find(ctx, s.d, "template", s.scan, query, args...)
}

// Templates returns a sender's templates of every status, compiled, by name and language, from the cache. They are shared and
// must not be changed.
func (s *Templates) Templates(ctx context.Context, senderUID int64) ([]*carillon.Template, error) {
	return s.bySender.Get(ctx, configure.UIDKey(senderUID), func(ctx context.Context) ([]*carillon.Template, string, error) {
		records, err := s.templates(ctx, templateList, senderUID)
		if err != nil {
			return nil, "", err
		}
		company := ""
		all := make([]*carillon.Template, len(records))
		for i, r := range records {
			all[i], company = &r.Template, r.CompanyID
		}
		return all, company, nil
	})
}

// Template reads a company's template by our id or the channel's, from the database. Errors: not_found.
func (s *Templates) Template(ctx context.Context, companyID, idOrProviderID string) (*TemplateRecord, error) {
	found, err := s.find(ctx, templateByID, companyID, idOrProviderID)
	if err == nil && found == nil && idOrProviderID != "" {
		found, err = s.find(ctx, templateByProviderID, companyID, idOrProviderID)
	}
	if err == nil && found == nil {
		err = carillon.Absent("Template")
	}
	return found, err
}

// ReportedTemplate reads the sender's template of a channel's report: the one with the channel's id, or with the name
// and language while its channel's id is unknown; nil if there is none.
func (s *Templates) ReportedTemplate(ctx context.Context, senderUID int64, providerID, name, language string) (*TemplateRecord, error) {
	if providerID != "" {
		found, err := s.find(ctx, templateOfProvider, senderUID, providerID)
		if found != nil || err != nil {
			return found, err
		}
	}
	found, err := s.find(ctx, templateNamed, senderUID, name, language)
	if found != nil && providerID != "" && found.ProviderID != "" {
		return nil, nil
	}
	return found, err
}

// TemplatePolls reads at most limit templates that are due for a poll, longest due first, and the due time of the next
// one (zero for none).
func (s *Templates) TemplatePolls(ctx context.Context, now time.Time, limit int) (due []*TemplateRecord, next time.Time, err error) {
	due, err = s.templates(ctx, templatePolls, db.Millis(now), limit)
	if err != nil {
		return nil, time.Time{}, err
	}
	var at int64
	err = s.d.Row(ctx, []any{&at}, templateNextPoll, db.Millis(now))
	return due, db.Instant(at), db.Wrap(db.Ignore(err), "read next poll")
}
