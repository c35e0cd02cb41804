package catalog

import (
	"context"
	"errors"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/limit"
	"carillon/internal/base/content"
)

const maxID = 32 // digits

// ParseID checks an id in a path. Our ids and the channel's are decimal. Errors: not_found.
func ParseID(id string) (string, error) {
	if id == "" || len(id) > maxID || strings.Trim(id, "0123456789") != "" {
		return "", carillon.Absent("Template")
	}
	return id, nil
}

// CreateFrom creates a template from a creation payload. of returns the template's sender and is called only for a
// valid payload. Errors: those of Create and of the payload; rate_limit_exceeded beyond the daily limit.
func CreateFrom(
	ctx context.Context, c *Catalog, company *carillon.Company, body []byte, of func() (*carillon.Sender, error),
) (*carillon.Template, error) {
	draft, err := content.ParseDraft(body)
	if err != nil {
		return nil, err
	}
	t, err := draft.Template()
	if err != nil {
		return nil, err
	}
	sender, err := of()
	if err != nil {
		return nil, err
	}
	made, err := c.Create(ctx, company, sender, *t, draft.Submit)
	if errors.Is(err, ErrCreatedToday) {
		err = createdToday(company.Limits.TemplatesPerDay, time.Now())
	}
	return made, err
}

// createdToday returns the error for a company that has reached its daily number of templates.
func createdToday(perDay int, now time.Time) *carillon.Error {
	const window = 24 * time.Hour
	reset := now.UTC().Truncate(window).Add(window)
	return limit.Exceeded("Too many templates were created today", perDay, window, reset, now)
}

// EditFrom changes the fields of a template that a payload contains, unless admit refuses the current template. With
// submit it submits the edited draft. Errors: those of Edit, of Submit, of the payload and of admit.
func EditFrom(
	ctx context.Context, c *Catalog, companyID, id string, body []byte, admit func(t *carillon.Template) error,
) (*carillon.Template, error) {
	submit := false
	t, err := c.Edit(ctx, companyID, id, func(t carillon.Template) (carillon.Template, error) {
		if err := admit(&t); err != nil {
			return t, err
		}
		draft := content.DraftOf(&t)
		if err := draft.Edit(body); err != nil {
			return t, err
		}
		submit = draft.Submit
		edited, err := draft.Template()
		if err != nil {
			return t, err
		}
		if draft.Variables == nil && draft.Samples == nil {
			keepSamples(edited, &t)
		}
		return *edited, nil
	})
	if err == nil && submit {
		t, err = c.Submit(ctx, companyID, t.ID)
	}
	return t, err
}

// keepSamples copies the sample values of a body if its text was not edited.
func keepSamples(edited, before *carillon.Template) {
	for i := range edited.Components {
		body := &edited.Components[i]
		for _, old := range before.Components {
			if body.Type == content.TypeBody && old.Type == body.Type && old.Text == body.Text {
				body.Example = old.Example
			}
		}
	}
}
