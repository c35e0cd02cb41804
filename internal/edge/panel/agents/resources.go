// Package agents serves agents, knowledge and the other resources of a company, and the ways to try an agent: in
// writing, by its voice, and in a conversation. Start reading with Resources.
package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/agent/tools"
	"carillon/internal/base/config"
	"carillon/internal/base/resource"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/flows"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/event/hook"
	"carillon/internal/store"
	"carillon/internal/talk/flow"
)

// Resources serves agents, knowledge, flows, widgets, secrets and webhooks, with the same routes for each kind. A body
// has the fields of a set-up file, in JSON and with secrets as values. A secret is never returned, except a generated
// one in the response that created it.
type Resources struct {
	Gate    *member.Gate
	Store   *store.Store
	Hooks   *hook.Deliverer
	Kinds   []resource.Kind                // each kind refers only to earlier kinds
	Unbuilt func(resource.Resource) string // returns why this version does not use the resource yet; empty if it does
	kind    resource.Kind
}

// Routes returns the routes of each kind.
func (s Resources) Routes() (all []httpio.Route) {
	for _, k := range s.Kinds {
		x := s
		x.kind = k
		read, write := auth.MayReadResources, auth.MayWriteResources
		switch k.Name {
		case "webhook":
			read, write = auth.MayReadWebhooks, auth.MayWriteWebhooks
		case "secret":
			read, write = auth.MayReadSecrets, auth.MayWriteSecrets
		}
		list, one, kind := "/"+k.Plural, "/"+k.Plural+"/{id}", k.New()
		listed := member.Route(s.Gate, "GET", list, read, x.list).Listing(kind)
		if k.Name == "secret" {
			listed = member.Route(s.Gate, "GET", list, read, flows.ListSecrets(s.Store))
		}
		all = append(all,
			listed,
			member.Write(s.Gate, "POST", list, write, x.add).Taking(kind).Giving(httpio.Created[resource.Resource]{Value: kind}),
			member.Route(s.Gate, "GET", one, read, member.With(x.id, x.get)).Giving(kind),
			member.Write(s.Gate, "PUT", one, write, member.With(x.id, x.replace)).Taking(kind).Giving(kind),
			member.Write(s.Gate, "DELETE", one, write, member.With(x.id, x.remove)),
		)
	}
	return all
}

func (s Resources) list(r *http.Request, by member.Member) (httpio.List[row], error) {
	page, err := httpio.ReadPage(r.URL.Query(), s.kind.Name)
	if err != nil {
		return httpio.List[row]{}, err
	}
	var rows []row
	for after := page.After; len(rows) <= page.Limit; {
		part, err := s.Store.Resources.Resources(r.Context(), by.CompanyID, s.kind, after, batch)
		if err != nil {
			return httpio.List[row]{}, err
		}
		for _, x := range part {
			hideRequests(by, x)
			rows = append(rows, row{idOf(x), s.show(x, false, "")})
		}
		if len(part) < batch || httpio.Fit(rows) < len(rows) {
			break
		}
		after = rows[len(rows)-1].id
	}
	return httpio.ListOf(page, s.kind.Name, rows, func(x row) string { return x.id }, func(x row) row { return x }), nil
}

// hideRequests hides the confidential parts of requests to servers from members who may not change them.
func hideRequests(by member.Member, x resource.Resource) {
	if t, ok := x.(*tools.Tool); ok && !by.Role.Can(auth.MayWriteResources) {
		t.HideRequests()
	}
	flows.HideRequests(by, x)
}

// batch is the number of resources read at a time. It is small because a document may have a megabyte, which is also
// the limit of a page.
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

func (s Resources) get(r *http.Request, by member.Member, id string) (json.RawMessage, error) {
	x, err := s.Store.Resources.Resource(r.Context(), by.CompanyID, s.kind, id)
	if err != nil {
		return nil, err
	}
	hideRequests(by, x)
	return s.show(x, false, ""), nil
}

// id reads the id from the path. Ids not chosen by the company are UUIDs, in any letter case. Errors: not_found for an
// invalid id.
func (s Resources) id(r *http.Request) (string, error) {
	id := r.PathValue("id")
	switch {
	case s.kind.Local && resource.ValidIdentifier(id):
		return id, nil
	case !s.kind.Local && carillon.ValidUUID(id):
		return strings.ToLower(id), nil
	}
	return "", carillon.Absent(s.kind.Title())
}

// show returns a resource for a response, with a warning if there is one or if this version does not use it yet.
func (s Resources) show(x resource.Resource, made bool, warning string) json.RawMessage {
	if !made {
		resource.HideSecrets(x)
	}
	text, err := json.Marshal(x)
	if err != nil {
		return nil // the response then fails
	}
	if warning = cmp.Or(s.Unbuilt(x), warning); warning == "" {
		return text
	}
	quoted, _ := json.Marshal(warning) // a string always marshals
	return json.RawMessage(strings.TrimSuffix(string(text), "}") + `,"warning":` + string(quoted) + "}")
}

// warning returns what a member should know of a resource that was stored.
func (s Resources) warning(ctx context.Context, x resource.Resource) string {
	if w, ok := x.(*hook.Webhook); ok {
		return s.Hooks.Warning(ctx, w)
	}
	return ""
}

// admit refuses a webhook to which nothing could be delivered, and a flow with a template that could not be sent.
func (s Resources) admit(ctx context.Context, companyID string, x resource.Resource) error {
	switch x := x.(type) {
	case *hook.Webhook:
		return s.Hooks.Admit(ctx, companyID, x)
	case *flow.Flow:
		return flows.Admit(ctx, s.Store, companyID, x)
	}
	return nil
}

func (s Resources) add(r *http.Request, by member.Member) (httpio.Created[json.RawMessage], error) {
	o, err := httpio.Object(r)
	if err != nil {
		return httpio.Created[json.RawMessage]{}, err
	}
	x, err := config.ResourceOf(o, s.kind)
	if err != nil {
		return httpio.Created[json.RawMessage]{}, err
	}
	if err := s.admit(r.Context(), by.CompanyID, x); err != nil {
		return httpio.Created[json.RawMessage]{}, err
	}
	made, err := s.Store.Resources.AddResource(r.Context(), by.CompanyID, s.kind, x)
	if err != nil {
		return httpio.Created[json.RawMessage]{}, err
	}
	return httpio.Created[json.RawMessage]{Value: s.show(x, made, s.warning(r.Context(), x))}, nil
}

func (s Resources) replace(r *http.Request, by member.Member, id string) (json.RawMessage, error) {
	o, err := httpio.Object(r)
	if err != nil {
		return nil, err
	}
	if err := form.SameID(o, id); err != nil {
		return nil, err
	}
	x, err := config.ResourceOf(o, s.kind)
	if err != nil {
		return nil, err
	}
	to, _ := x.Key()
	*to = id
	if err := s.admit(r.Context(), by.CompanyID, x); err != nil {
		return nil, err
	}
	made, err := s.Store.Resources.ReplaceResource(r.Context(), by.CompanyID, s.kind, x)
	if err != nil {
		return nil, err
	}
	return s.show(x, made, s.warning(r.Context(), x)), nil
}

func (s Resources) remove(r *http.Request, by member.Member, id string) (httpio.None, error) {
	if err := s.Store.Resources.DeleteResource(r.Context(), by.CompanyID, s.Kinds, s.kind, id); err != nil ||
		s.kind.Name != flow.Kind().Name {
		return nil, err
	}
	_, err := s.Store.Runs.DropDraft(r.Context(), by.CompanyID, id, time.Time{}) // otherwise the list would still show the flow
	return nil, err
}
