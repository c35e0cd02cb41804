package api

import (
	"net/http"
	"strings"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/account/limit"
	"carillon/internal/edge/httpio"
	"carillon/internal/send/catalog"
	"carillon/internal/store"
)

// templates serves the endpoints of templates (docs/reference/templates.md).
type templates struct {
	guard
	store   *store.Store
	limits  *limit.Limits
	catalog *catalog.Catalog
}

func (s templates) routes() []httpio.Route {
	const read, write = auth.TemplatesRead, auth.TemplatesWrite
	return []httpio.Route{
		s.keyRoute("GET "+prefix+"/notify/templates", read, s.list),
		s.valueRoute("POST "+prefix+"/notify/templates", write, s.create),
		s.valueRoute("GET "+prefix+"/notify/templates/{id}", read, s.read),
		s.valueRoute("PATCH "+prefix+"/notify/templates/{id}", write, s.edit),
		s.valueRoute("DELETE "+prefix+"/notify/templates/{id}", write, s.delete),
		s.valueRoute("POST "+prefix+"/notify/templates/{id}/submit", write, s.submit),
		s.valueRoute("GET "+prefix+"/notify/template/components", read, s.components),
	}
}

// list responds with a bare array of one number's approved templates.
func (s templates) list(w http.ResponseWriter, r *http.Request, p *auth.Principal) error {
	quota, err := s.limits.Allow(r.Context(), "templates/"+p.KeyID, p.Company.Limits.TemplateListsPerMinute, 1)
	if err != nil {
		return err
	}
	httpio.MinuteHeaders(w.Header(), quota.Limit, quota.Remaining, quota.Seconds)
	number, err := phoneNumber(r)
	if err != nil {
		return err
	}
	if number == "" {
		return carillon.Missing("phone_number")
	}
	sender, err := s.messagingSender(r, p.Company, number)
	if err != nil {
		return err
	}
	if sender == nil {
		return httpio.JSON(w, http.StatusOK, []catalog.Record{})
	}
	list, err := s.catalog.Approved(r.Context(), sender.UID)
	if err != nil {
		return err
	}
	return httpio.JSON(w, http.StatusOK, list)
}

// phoneNumber reads the query's phone_number; "" if it is absent.
func phoneNumber(r *http.Request) (string, error) {
	number := r.URL.Query().Get("phone_number")
	if strings.TrimSpace(number) == "" {
		return "", nil
	}
	if !carillon.ValidNumber(number) {
		return "", carillon.BadNumber("phone_number", carillon.Shorten(number))
	}
	return number, nil
}

// messagingSender returns the company's messaging sender with a number, or nil if there is none. Errors: forbidden if
// the number is proven to belong to another company.
func (s templates) messagingSender(r *http.Request, company *carillon.Company, number string) (*carillon.Sender, error) {
	named, err := s.store.Senders.SendersNamed(r.Context(), company.ID, number)
	if err != nil {
		return nil, err
	}
	own := false
	for _, x := range named {
		if x.Number == number && x.Channel == carillon.Messaging {
			return x, nil
		}
		own = own || x.Number == number
	}
	if own { // a voice line has no templates
		return nil, nil // not an error
	}
	elsewhere, err := s.store.Senders.ProvedElsewhere(r.Context(), company.ID, number)
	if err == nil && elsewhere {
		err = carillon.Denied("The phone_number belongs to another company")
	}
	return nil, err
}

// creationSender returns the sender of a new template: the sender with the number, or else the company's default
// sender.
func (s templates) creationSender(r *http.Request, company *carillon.Company, number string) (*carillon.Sender, error) {
	if number != "" {
		sender, err := s.messagingSender(r, company, number)
		if err == nil && sender == nil {
			err = carillon.InvalidValue("phone_number", "The company has no messaging sender with this number", number)
		}
		return sender, err
	}
	sender, err := s.store.Senders.DefaultSender(r.Context(), company.ID, carillon.Messaging)
	if err == nil && sender == nil {
		err = carillon.Invalid("phone_number", "The company has no default messaging sender; say which one")
	}
	return sender, err
}

func (s templates) create(r *http.Request, p *auth.Principal) (any, error) {
	body, err := httpio.Body(r)
	if err != nil {
		return nil, err
	}
	number, err := phoneNumber(r)
	if err != nil {
		return nil, err
	}
	made, err := catalog.CreateFrom(r.Context(), s.by(p), p.Company, body, func() (*carillon.Sender, error) {
		return s.creationSender(r, p.Company, number)
	})
	if err != nil {
		return nil, err
	}
	c := createdTemplate{Success: true, Message: "Template created successfully"}
	c.Template.ID, c.Template.Name, c.Template.Status = made.PublicID(), made.Name, made.Status
	return c, nil
}

// by returns the catalog with the access key as the author of changes.
func (s templates) by(p *auth.Principal) *catalog.Catalog {
	return s.catalog.By(catalog.Key(p.KeyID))
}

// createdTemplate is the response to a creation.
type createdTemplate struct {
	Success  bool   `json:"success"`
	Message  string `json:"message"`
	Template struct {
		ID     string                  `json:"id"`
		Name   string                  `json:"name"`
		Status carillon.TemplateStatus `json:"status"`
	} `json:"template"`
}

// templateView is a template's record with the reason for its rejection or pause.
type templateView struct {
	catalog.Record
	Reason string `json:"reason,omitempty"`
}

// viewOf converts the result of finding or changing a template.
func viewOf(t *carillon.Template, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return templateView{catalog.RecordOf(t), t.Reason}, nil
}

func (s templates) read(r *http.Request, p *auth.Principal) (any, error) {
	id, err := catalog.ParseID(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return viewOf(s.catalog.Find(r.Context(), p.Company.ID, id))
}

// edit changes the fields present in the body. With submit it then submits the draft.
func (s templates) edit(r *http.Request, p *auth.Principal) (any, error) {
	body, err := httpio.Body(r)
	if err != nil {
		return nil, err
	}
	id, err := catalog.ParseID(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return viewOf(catalog.EditFrom(r.Context(), s.by(p), p.Company.ID, id, body, func(*carillon.Template) error { return nil }))
}

func (s templates) delete(r *http.Request, p *auth.Principal) (any, error) {
	id, err := catalog.ParseID(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return nil, s.by(p).Delete(r.Context(), p.Company.ID, id)
}

func (s templates) submit(r *http.Request, p *auth.Principal) (any, error) {
	id, err := catalog.ParseID(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return viewOf(s.by(p).Submit(r.Context(), p.Company.ID, id))
}

// components responds with one template, found by id or name.
func (s templates) components(r *http.Request, p *auth.Principal) (any, error) {
	q := r.URL.Query()
	which := q.Get("template")
	if strings.TrimSpace(which) == "" {
		return nil, carillon.Missing("template")
	}
	view, err := viewOf(s.catalog.FindNamed(r.Context(), p.Company.ID, which, q.Get("language")))
	return struct {
		Template any `json:"template"`
	}{view}, err
}
