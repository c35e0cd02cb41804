package panel

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/config"
	"carillon/internal/base/httpio"
	"carillon/internal/base/jsonbody"
	"carillon/internal/base/resource"
	"carillon/internal/event/hook"
	"carillon/internal/talk/flow"
)

// resources serves agents, knowledge, flows, widgets, secrets and webhooks: the routes of one kind. A body is what a set-up has, in JSON
// and with secrets as values. A secret is never read back, but for one that was made: the response that made it shows it.
type resources struct {
	*Panel
	kind resource.Kind
}

// resourceRoutes are the routes of each kind.
func (p *Panel) resourceRoutes() (all []httpio.Route) {
	for _, k := range p.Kinds {
		x := resources{p, k}
		read, write, listed := auth.MayReadResources, auth.MayWriteResources, x.list
		switch k.Name {
		case "webhook":
			read, write = auth.MayReadWebhooks, auth.MayWriteWebhooks
		case "secret":
			read, write, listed = auth.MayReadSecrets, auth.MayWriteSecrets, secrets{p}.list
		}
		list, one := "/"+k.Plural, "/"+k.Plural+"/{id}"
		all = append(all, p.route("GET", list, read, listed), writeRoute(p, "POST", list, write, x.add), p.route("GET", one, read, x.get),
			writeRoute(p, "PUT", one, write, x.replace), writeRoute(p, "DELETE", one, write, x.remove))
	}
	return all
}

const (
	// writesPerMinute bounds what a company writes of its resources in a minute: a write of more than writeBytes counts as several.
	writesPerMinute = 240
	writeBytes      = 64 << 10
)

// writeRoute is a route that writes a resource, a draft or a canned reply. What is refused writes nothing, and does not count.
func writeRoute(p *Panel, method, path string, needed auth.Permission, handle func(r *http.Request, by member) (any, error)) httpio.Route {
	return p.route(method, path, needed, func(r *http.Request, by member) (any, error) {
		name := "resources/" + by.companyID
		if _, err := p.Limits.Check(r.Context(), name, writesPerMinute); err != nil {
			return nil, err
		}
		done, err := handle(r, by)
		if err != nil {
			return nil, err
		}
		size := r.ContentLength
		if size < 0 { // it was not announced
			size = httpio.DefaultMaxBody
		}
		for range 1 + size/writeBytes {
			if _, err := p.Limits.Allow(context.WithoutCancel(r.Context()), name, writesPerMinute, 1); err != nil {
				break // the minute is full; this one is written
			}
		}
		return done, nil
	})
}

func (s resources) list(r *http.Request, by member) (any, error) {
	page, err := httpio.ReadPage(r.URL.Query(), s.kind.Name)
	if err != nil {
		return nil, err
	}
	var rows []row
	for after := page.After; len(rows) <= page.Limit; {
		part, err := s.Store.Resources.Resources(r.Context(), by.companyID, s.kind, after, batch)
		if err != nil {
			return nil, err
		}
		for _, x := range part {
			hideRequests(by, x)
			rows = append(rows, row{idOf(x), s.show(x, false)})
		}
		if len(part) < batch || httpio.Fit(rows) < len(rows) {
			break
		}
		after = rows[len(rows)-1].id
	}
	return httpio.ListOf(page, s.kind.Name, rows, func(x row) string { return x.id }, func(x row) row { return x }), nil
}

// batch is how many resources are read at once: a document may have a megabyte, and a page has no more.
const batch = 4

// row is a resource in a response.
type row struct {
	id   string
	text json.RawMessage
}

// MarshalJSON implements json.Marshaler.
func (x row) MarshalJSON() ([]byte, error) { return x.text, nil }

func idOf(x resource.Resource) string {
	id, _ := x.Key()
	return *id
}

func (s resources) get(r *http.Request, by member) (any, error) {
	id, err := s.id(r)
	if err != nil {
		return nil, err
	}
	x, err := s.Store.Resources.Resource(r.Context(), by.companyID, s.kind, id)
	if err != nil {
		return nil, err
	}
	hideRequests(by, x)
	return s.show(x, false), nil
}

// hideRequests hides what a flow's requests may show to a company's servers alone, from who may not change flows.
func hideRequests(by member, x resource.Resource) {
	if f, ok := x.(*flow.Flow); ok && !by.role.Can(auth.MayWriteResources) {
		f.HideRequests()
	}
}

// shownTo is the definition of a flow as a member gets it.
func shownTo(by member, definition json.RawMessage) (json.RawMessage, error) {
	if by.role.Can(auth.MayWriteResources) {
		return definition, nil
	}
	f := new(flow.Flow)
	if err := json.Unmarshal(definition, f); err != nil {
		return nil, err
	}
	if !f.HideRequests() {
		return definition, nil
	}
	return json.Marshal(f)
}

// id is the path's: ids that the company does not choose are UUIDs, in any letter case. Errors: not_found for what is no id.
func (s resources) id(r *http.Request) (string, error) {
	id := r.PathValue("id")
	switch {
	case s.kind.Local && resource.ValidIdentifier(id):
		return id, nil
	case !s.kind.Local && carillon.ValidUUID(id):
		return strings.ToLower(id), nil
	}
	return "", carillon.Absent(s.kind.Title())
}

// show is a resource in a response. It has a warning where this version does not use it yet.
func (s resources) show(x resource.Resource, made bool) json.RawMessage {
	if !made {
		resource.HideSecrets(x)
	}
	text, err := json.Marshal(x)
	if err != nil {
		return nil // the response then fails
	}
	reason := s.Unbuilt(x)
	if reason == "" {
		return text
	}
	warning, _ := json.Marshal(reason) // a text cannot fail
	return json.RawMessage(strings.TrimSuffix(string(text), "}") + `,"warning":` + string(warning) + "}")
}

// admit refuses a webhook that nothing could be delivered to.
func (s resources) admit(ctx context.Context, companyID string, x resource.Resource) error {
	if w, ok := x.(*hook.Webhook); ok {
		return s.Hooks.Admit(ctx, companyID, w)
	}
	return nil
}

func (s resources) add(r *http.Request, by member) (any, error) {
	o, err := httpio.Object(r)
	if err != nil {
		return nil, err
	}
	x, err := config.ResourceOf(o, s.kind)
	if err != nil {
		return nil, err
	}
	if err := s.admit(r.Context(), by.companyID, x); err != nil {
		return nil, err
	}
	made, err := s.Store.Resources.AddResource(r.Context(), by.companyID, s.kind, x)
	if err != nil {
		return nil, err
	}
	return httpio.Created{Value: s.show(x, made)}, nil
}

func (s resources) replace(r *http.Request, by member) (any, error) {
	id, err := s.id(r)
	if err != nil {
		return nil, err
	}
	o, err := httpio.Object(r)
	if err != nil {
		return nil, err
	}
	if err := idOfPath(o, id); err != nil {
		return nil, err
	}
	x, err := config.ResourceOf(o, s.kind)
	if err != nil {
		return nil, err
	}
	to, _ := x.Key()
	*to = id
	if err := s.admit(r.Context(), by.companyID, x); err != nil {
		return nil, err
	}
	made, err := s.Store.Resources.ReplaceResource(r.Context(), by.companyID, s.kind, x)
	if err != nil {
		return nil, err
	}
	return s.show(x, made), nil
}

// idOfPath checks that a body has no other id than the path.
func idOfPath(o *jsonbody.Object, id string) error {
	given, present, err := o.String("id", "id")
	if err == nil && present && !strings.EqualFold(given, id) {
		err = carillon.Invalid("id", "Must be the id of the path, or be left out")
	}
	return err
}

func (s resources) remove(r *http.Request, by member) (any, error) {
	id, err := s.id(r)
	if err != nil {
		return nil, err
	}
	if err := s.Store.Resources.DeleteResource(r.Context(), by.companyID, s.Kinds, s.kind, id); err != nil || s.kind.Name != flow.Kind().Name {
		return nil, err
	}
	_, err = s.Store.Runs.DropDraft(r.Context(), by.companyID, id, time.Time{}) // else the list would still show the flow
	return nil, err
}
