// Package templates serves message templates: drafts, review and history.
package templates

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/content"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/member"
	"carillon/internal/send/catalog"
	"carillon/internal/store"
	"carillon/internal/store/settings"
)

// Templates serves the routes of templates.
type Templates struct {
	Gate    *member.Gate
	Store   *store.Store
	Catalog *catalog.Catalog
	Decide  Decide // decision of the sandbox's reviewer
}

func (x Templates) Routes() []httpio.Route {
	const read, write = auth.MayReadTemplates, auth.MayWriteTemplates
	return []httpio.Route{
		member.Route(x.Gate, "GET", "/templates", read, x.list),
		member.Route(x.Gate, "POST", "/templates", write, x.create),
		member.Route(x.Gate, "GET", "/templates/sync", read, x.synced),
		member.Route(x.Gate, "POST", "/templates/sync", write, x.sync),
		member.Route(x.Gate, "GET", "/templates/{id}", read, member.With(templateID, x.read)),
		member.Route(x.Gate, "PATCH", "/templates/{id}", write, x.edit),
		member.Route(x.Gate, "DELETE", "/templates/{id}", write, member.With(templateID, x.delete)),
		member.Route(x.Gate, "POST", "/templates/{id}/submit", write, member.With(templateID, x.submit)),
		member.Route(x.Gate, "GET", "/templates/{id}/history", read, member.With(templateID, x.history)),
		member.Route(x.Gate, "GET", "/templates/{id}/statistics", read, member.With(templateID, x.statistics)),
		member.Route(x.Gate, "POST", "/templates/{id}/statistics", auth.MayWriteSenders, member.With(templateID, x.count)),
		member.Route(x.Gate, "POST", "/templates/{id}/review", write, x.reviewTemplate),
	}
}

// templateID returns the id in the path. Errors: not_found.
func templateID(r *http.Request) (string, error) { return catalog.ParseID(r.PathValue("id")) }

// templateRow is a template, in the list and alone.
type templateRow struct {
	ID              string                  `json:"id"`
	ProviderID      string                  `json:"provider_id,omitempty"` // the channel's id
	Name            string                  `json:"name"`
	Language        string                  `json:"language"`
	Status          carillon.TemplateStatus `json:"status"`
	Reason          string                  `json:"reason,omitempty"` // reason for a rejection, a pause or an interrupted submission
	Category        string                  `json:"category"`
	Sender          string                  `json:"sender"` // sender id
	Number          string                  `json:"number"`
	Provider        string                  `json:"provider"`
	ParameterFormat string                  `json:"parameter_format"`
	SendTTL         int                     `json:"message_send_ttl_seconds,omitempty"` // -1: 30 days
	Components      []carillon.Component    `json:"components"`
	Variables       []string                `json:"variables"` // the variables that must be filled in
	Body            string                  `json:"body"`
	CreatedAt       string                  `json:"created_at"`
	UpdatedAt       string                  `json:"updated_at"`
	Version         string                  `json:"version"` // version of the text and status, which differs after each change

	Unsupported    []string                `json:"unsupported,omitempty"` // names of the parts that cannot be sent from here
	Quality        string                  `json:"quality,omitempty"`     // the channel's score: GREEN, YELLOW or RED
	CategoryChange *catalog.CategoryChange `json:"category_change,omitempty"`
}

func templateRowOf(t *carillon.Template, s *carillon.Sender) templateRow {
	return templateRow{
		ID: t.ID, ProviderID: t.ProviderID, Name: t.Name, Language: t.Language, Status: t.Status, Reason: t.Reason, Category: t.Category,
		Sender: s.ID, Number: s.Number, Provider: s.Provider, ParameterFormat: t.ParameterFormat, SendTTL: t.SendTTL,
		Components: t.Components, Variables: content.Keys(t.Shape),
		CreatedAt: carillon.FormatTime(t.CreatedAt), UpdatedAt: carillon.FormatTime(t.UpdatedAt),
		Version:     strconv.FormatInt(t.UpdatedAt.UnixMilli(), 10),
		Unsupported: content.Unsupported(t), Quality: t.Report.Quality, CategoryChange: catalog.ComingCategory(t),
		Body: content.BodyText(t),
	}
}

// list responds with the templates of all senders of the company. It is not paginated, because a company has few.
func (x Templates) list(r *http.Request, by member.Member) (httpio.List[templateRow], error) {
	senders, err := x.Store.Senders.Senders(r.Context(), by.CompanyID)
	if err != nil {
		return httpio.List[templateRow]{}, err
	}
	rows := httpio.List[templateRow]{Data: []templateRow{}}
	for _, s := range senders {
		all, err := x.Store.Templates.Templates(r.Context(), s.UID)
		if err != nil {
			return httpio.List[templateRow]{}, err
		}
		for _, t := range all {
			rows.Data = append(rows.Data, templateRowOf(t, s))
		}
	}
	return rows, nil
}

// row returns the response for a template, or the error of finding or changing it.
func (x Templates) row(ctx context.Context, t *carillon.Template, err error) (templateRow, error) {
	if err != nil {
		return templateRow{}, err
	}
	s, err := x.Store.Senders.Sender(ctx, t.SenderUID)
	if err != nil {
		return templateRow{}, err
	}
	return templateRowOf(t, s), nil
}

// by returns the catalog with a member as the author of changes.
func (x Templates) by(m member.Member) *catalog.Catalog {
	return x.Catalog.By(catalog.Account(m.AccountID))
}

func (x Templates) read(r *http.Request, by member.Member, id string) (templateRow, error) {
	t, err := x.Catalog.Find(r.Context(), by.CompanyID, id)
	return x.row(r.Context(), t, err)
}

// create creates a template from the payload of the public interface, for the sender named in the query or else the
// default sender.
func (x Templates) create(r *http.Request, by member.Member) (httpio.Created[templateRow], error) {
	body, err := httpio.Body(r)
	if err != nil {
		return httpio.Created[templateRow]{}, err
	}
	company, err := x.Store.Accounts.Company(r.Context(), by.CompanyID)
	if err != nil {
		return httpio.Created[templateRow]{}, err
	}
	t, err := catalog.CreateFrom(r.Context(), x.by(by), company, body, func() (*carillon.Sender, error) {
		return x.senderOf(r.Context(), by.CompanyID, r.URL.Query().Get("sender"))
	})
	row, err := x.row(r.Context(), t, err)
	if err != nil {
		return httpio.Created[templateRow]{}, err
	}
	return httpio.Created[templateRow]{Value: row}, nil
}

// senderOf returns the company's messaging sender with an id, or its default one.
func (x Templates) senderOf(ctx context.Context, companyID, id string) (*carillon.Sender, error) {
	senders, err := x.Store.Senders.Senders(ctx, companyID)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(senders, func(s *carillon.Sender) bool {
		return s.Channel == carillon.Messaging && (s.ID == id || id == "" && s.Default)
	})
	if at < 0 {
		return nil, carillon.Invalid("sender", "The company has no such messaging sender")
	}
	return senders[at], nil
}

// edit changes the fields in the body, unless the template's version differs from the one in the query.
func (x Templates) edit(r *http.Request, by member.Member) (templateRow, error) {
	body, err := httpio.Body(r)
	if err != nil {
		return templateRow{}, err
	}
	id, err := catalog.ParseID(r.PathValue("id"))
	if err != nil {
		return templateRow{}, err
	}
	version := r.URL.Query().Get("version")
	t, err := catalog.EditFrom(r.Context(), x.by(by), by.CompanyID, id, body, func(t *carillon.Template) error {
		if version != "" && version != strconv.FormatInt(t.UpdatedAt.UnixMilli(), 10) {
			return carillon.InConflict("The template has changed since it was opened")
		}
		return nil
	})
	return x.row(r.Context(), t, err)
}

func (x Templates) delete(r *http.Request, by member.Member, id string) (httpio.None, error) {
	return nil, x.by(by).Delete(r.Context(), by.CompanyID, id)
}

func (x Templates) submit(r *http.Request, by member.Member, id string) (templateRow, error) {
	t, err := x.by(by).Submit(r.Context(), by.CompanyID, id)
	return x.row(r.Context(), t, err)
}

// syncRow is the result of the last comparison of a sender's templates with those of its channel.
type syncRow struct {
	Sender      string `json:"sender"`
	Number      string `json:"number"`
	At          string `json:"at"`
	Found       int    `json:"found"`
	Imported    int    `json:"imported"` // new here
	Changed     int    `json:"changed"`
	Gone        int    `json:"gone"`        // no longer at the channel, and disabled
	Missing     int    `json:"missing"`     // templates of the channel that are not stored here, because a draft has their name
	Unsupported int    `json:"unsupported"` // have parts that cannot be sent from here
	Error       string `json:"error,omitempty"`
}

func (x Templates) synced(r *http.Request, by member.Member) (httpio.List[syncRow], error) {
	all, err := x.Store.Templates.Syncs(r.Context(), by.CompanyID)
	return x.syncRows(r.Context(), by, all, err)
}

func (x Templates) sync(r *http.Request, by member.Member) (httpio.List[syncRow], error) {
	all, err := x.Catalog.Sync(r.Context(), by.CompanyID)
	return x.syncRows(r.Context(), by, all, err)
}

func (x Templates) syncRows(ctx context.Context, by member.Member, all []settings.TemplateSync, err error) (httpio.List[syncRow], error) {
	if err != nil {
		return httpio.List[syncRow]{}, err
	}
	senders, err := x.Store.Senders.Senders(ctx, by.CompanyID)
	if err != nil {
		return httpio.List[syncRow]{}, err
	}
	rows := httpio.List[syncRow]{Data: []syncRow{}}
	for _, s := range senders {
		at := slices.IndexFunc(all, func(y settings.TemplateSync) bool { return y.SenderUID == s.UID })
		if at >= 0 {
			y := all[at]
			rows.Data = append(rows.Data, syncRow{
				s.ID, s.Number, carillon.FormatTime(y.At), y.Found, y.Imported, y.Changed, y.Gone, y.Missing, y.Unsupported, y.Error,
			})
		}
	}
	return rows, nil
}

// Decide approves or rejects a template that waits for the sandbox's review.
type Decide func(ctx context.Context, s *carillon.Sender, t *carillon.Template, approve bool, reason string) error

// reviewTemplate approves or rejects a pending template of a sandbox sender. Other channels review templates
// themselves.
func (x Templates) reviewTemplate(r *http.Request, by member.Member) (httpio.None, error) {
	approve, reason, err := readDecision(r)
	if err != nil {
		return nil, err
	}
	id, err := catalog.ParseID(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	t, err := x.Store.Templates.Template(r.Context(), by.CompanyID, id)
	if err != nil {
		return nil, err
	}
	s, err := x.Store.Senders.Sender(r.Context(), t.SenderUID)
	if err != nil {
		return nil, err
	}
	if s.Provider != "sandbox" {
		return nil, carillon.InConflict(
			"Templates of this sender are reviewed by its channel; only the sandbox's reviewer takes decisions here",
		)
	}
	if t.Status != carillon.TemplatePending {
		return nil, carillon.InConflict("The template is " + string(t.Status) + ", not pending")
	}
	return nil, x.Decide(r.Context(), s, &t.Template, approve, reason)
}

func readDecision(r *http.Request) (approve bool, reason string, err error) {
	o, err := httpio.Object(r)
	if err != nil {
		return false, "", err
	}
	approve, given, err := o.Bool("approve", "approve")
	if err == nil && !given {
		err = carillon.Missing("approve")
	}
	if err != nil {
		return false, "", err
	}
	reason, _, err = o.String("reason", "reason")
	if err == nil && len(reason) > maxReason {
		err = carillon.Invalid("reason", "At most 500 bytes")
	}
	return approve, reason, err
}

const maxReason = 500

// changeRow is a change in the history of a template.
type changeRow struct {
	At     string                  `json:"at"`
	Action settings.TemplateAction `json:"action"`
	By     changedBy               `json:"by"`
	Status carillon.TemplateStatus `json:"status"` // status after the change
	Reason string                  `json:"reason,omitempty"`
	Before *settings.TemplateText  `json:"before,omitempty"`
	After  *settings.TemplateText  `json:"after,omitempty"`
}

// changedBy is the author of a change: the name of a person or the label of a key, if it still exists.
type changedBy struct {
	Kind string `json:"kind" enum:"account,key,channel,setup,system"`
	Name string `json:"name,omitempty"`
}

func (x Templates) history(r *http.Request, by member.Member, id string) (httpio.List[changeRow], error) {
	t, err := x.Catalog.Find(r.Context(), by.CompanyID, id)
	if err != nil {
		return httpio.List[changeRow]{}, err
	}
	all, err := x.Store.Templates.History(r.Context(), by.CompanyID, t.ID)
	if err != nil {
		return httpio.List[changeRow]{}, err
	}
	names := map[settings.TemplateAuthor]string{}
	rows := httpio.List[changeRow]{Data: make([]changeRow, len(all))}
	for i, c := range all {
		name, known := names[c.By]
		if !known {
			if name, err = x.nameOf(r.Context(), c.By); err != nil {
				return httpio.List[changeRow]{}, err
			}
			names[c.By] = name
		}
		rows.Data[i] = changeRow{carillon.FormatTime(c.At), c.Action, changedBy{c.By.Kind, name}, c.Status, c.Reason, c.Former, c.Present}
	}
	return rows, nil
}

// nameOf returns the name of the author of a change, or "" if the account or key no longer exists.
func (x Templates) nameOf(ctx context.Context, by settings.TemplateAuthor) (string, error) {
	switch by.Kind {
	case "account":
		a, err := x.Store.Accounts.Account(ctx, by.ID)
		if err != nil || a == nil {
			return "", err
		}
		if a.Name != "" {
			return a.Name, nil
		}
		return a.Email, nil
	case "key":
		k, err := x.Store.Keys.AccessKeyByID(ctx, by.ID)
		if err != nil || k == nil {
			return "", err
		}
		return k.Label, nil
	}
	return "", nil
}
