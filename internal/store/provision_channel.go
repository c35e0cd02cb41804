package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"carillon"
	"carillon/internal/base/config"
	"carillon/internal/store/db"
	"carillon/internal/store/resources"
	"carillon/internal/store/settings"
)

func (a *applying) senders(ctx context.Context, companyID string, c *config.Company) error {
	for i := range c.Senders {
		x := &c.Senders[i]
		e, err := a.sender(ctx, companyID, x)
		if err := a.count("sender", x.At, e, err); err != nil {
			return err
		}
	}
	return nil
}

func (a *applying) sender(ctx context.Context, companyID string, x *config.Sender) (effect, error) {
	want := x.Sender
	want.CompanyID = companyID
	e, err := settings.DeclareSender(ctx, a.tx, &want, a.now)
	if err != nil {
		return e, err
	}
	proved, err := settings.ProveNumber(ctx, a.tx, &want, true, a.now) // declared by the operator
	if proved && e == unchanged {
		e = updated
	}
	return e, err
}

// resources puts agents, knowledge, flows, widgets and webhooks; referenced objects come first.
func (a *applying) resources(ctx context.Context, companyID string, c *config.Company) error {
	for i := range c.Resources {
		x := &c.Resources[i]
		if err := resources.Keep(ctx, a.tx, companyID, x.Kind, x.Resource); err != nil {
			return err
		}
		e, _, err := resources.PutResource(ctx, a.tx, companyID, x.Kind, x.Resource, a.now)
		if carillon.IsCode(err, carillon.ValidationFailed) {
			a.problems = append(a.problems, x.Problems(err)...)
			continue
		}
		if err := a.count(x.Kind.Name, x.At, e, err); err != nil {
			return err
		}
		id, _ := x.Key()
		a.put = append(a.put, putResource{companyID, x.Kind, *id})
	}
	return nil
}

// lineAgents checks that the agents of the file's lines exist, after those of the file are put.
func (a *applying) lineAgents(ctx context.Context, companyID string, c *config.Company) error {
	for i := range c.Senders {
		x := &c.Senders[i]
		var line struct {
			Agent string `json:"agent"`
		}
		if x.Channel != carillon.Voice || x.Provider != "sip" || json.Unmarshal(x.Settings, &line) != nil || line.Agent == "" {
			continue
		}
		known := false
		err := a.tx.Row(ctx, []any{&known},
			"SELECT TRUE FROM resource WHERE company_id = $1 AND kind = 'agent' AND id = $2 AND active", companyID, line.Agent)
		if err := db.Ignore(err); err != nil {
			return err
		}
		if !known {
			a.problem(x.At, "the line "+x.ID+" has calls answered by an agent that the company does not have: "+line.Agent)
		}
	}
	return nil
}

// templates puts the file's templates. It refuses additional active ones beyond the limit, but not existing ones,
// which the channel may have activated.
func (a *applying) templates(ctx context.Context, companyID string, c *config.Company) error {
	if len(c.Templates) == 0 {
		return nil
	}
	before, err := settings.ActiveTemplates(ctx, a.tx, companyID)
	if err != nil {
		return err
	}
	for i := range c.Templates {
		t := &c.Templates[i]
		uid, err := settings.MessagingSender(ctx, a.tx, companyID, t.SenderID)
		if err != nil {
			return err
		}
		if uid == 0 {
			a.problem(t.SenderAt, "the company has no messaging sender "+t.SenderID)
			continue
		}
		e, err := a.template(ctx, companyID, uid, t)
		if err := a.count("template", t.At, e, err); err != nil {
			return err
		}
	}
	n, err := settings.ActiveTemplates(ctx, a.tx, companyID)
	if err == nil && n > settings.MaxActiveTemplates && n > before {
		a.problem(c.At, fmt.Sprintf("the company would have %d active templates, more than %d", n, settings.MaxActiveTemplates))
	}
	return err
}

// template puts one template with the file's content. The file's status counts only until the channel has reported on
// the template, which then has the channel's id: from then on the channel decides, however often the file is applied.
func (a *applying) template(ctx context.Context, companyID string, uid int64, t *config.Template) (effect, error) {
	want := t.Template
	want.CompanyID, want.SenderUID = companyID, uid
	components, err := json.Marshal(want.Components)
	if err != nil {
		return 0, fmt.Errorf("write components: %w", err)
	}
	var providerID, category, status, format, stored string
	err = a.tx.Row(ctx, []any{&providerID, &category, &status, &format, &stored}, `SELECT provider_id, category, status, parameter_format,
		components FROM template WHERE sender = $1 AND name = $2 AND language = $3`, uid, want.Name, want.Language)
	e := updated
	switch {
	case errors.Is(err, sql.ErrNoRows):
		e = created
		a.made++ // ids have few random digits, so each template of a set-up gets its own instant
		want.ID = carillon.NewTemplateID(a.now.Add(time.Duration(a.made) * time.Millisecond))
	case err != nil:
		return 0, fmt.Errorf("look up template: %w", err)
	case category == want.Category && format == want.ParameterFormat && stored == string(components) &&
		(providerID != "" || status == string(want.Status)):
		return unchanged, nil
	}
	return e, settings.PutTemplate(ctx, a.tx, &want, a.now)
}
