package agents

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/agent"
	"carillon/internal/agent/tools"
	"carillon/internal/base/jsonbody"
	"carillon/internal/base/share"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
)

// Tools lets an administrator try a stored tool, and read the tools of an MCP server for their approval.
type Tools struct {
	Gate    *member.Gate
	Store   *store.Store
	Toolbox *tools.Box
	Trials  *share.Share
}

const (
	maxTools       = 20 // calls that a response of the playground lists
	maxMemory      = 64 << 10
	maxArguments   = 16 << 10
	maxToolName    = 128
	maxToolTimeout = 40 * time.Second
)

// Routes returns the routes for tools besides those of all resources.
func (x Tools) Routes() []httpio.Route {
	return []httpio.Route{
		member.Route(x.Gate, "POST", "/tools/{id}/try", auth.MayWriteResources, x.try).Taking(toolRequest{}),
		member.Route(x.Gate, "GET", "/tools/{id}/remote", auth.MayWriteResources, x.remote),
	}
}

// tool returns the tool named in the path. Errors: not_found.
func (x Tools) tool(r *http.Request, by member.Member) (*tools.Tool, error) {
	id, err := form.ID(r, tools.Kind().Title())
	if err != nil {
		return nil, err
	}
	stored, err := x.Store.Resources.Resource(r.Context(), by.CompanyID, tools.Kind(), id)
	t, _ := stored.(*tools.Tool)
	return t, err
}

// tried is the result of a trial.
type tried struct {
	Request string       `json:"request,omitempty"` // as sent, with the secrets hidden
	Body    string       `json:"body,omitempty"`
	Status  agent.Status `json:"status"`
	Code    int          `json:"code,omitempty"`
	Text    string       `json:"text"` // result for an engine
	Say     string       `json:"say"`  // result for a person
	Reason  string       `json:"reason,omitempty"`
	MS      int64        `json:"ms"`
}

// toolRequest calls a tool.
type toolRequest struct {
	Name      string         `json:"name,omitempty"`
	Arguments map[string]any `json:"arguments,omitempty"`
	Language  string         `json:"language,omitempty"`
}

// try calls a tool with given arguments. A change is made without a further question.
func (x Tools) try(r *http.Request, by member.Member) (tried, error) {
	t, err := x.tool(r, by)
	if err != nil {
		return tried{}, err
	}
	o, err := form.Body[toolRequest](r)
	if err != nil {
		return tried{}, err
	}
	name, _, err := o.String("name", "name")
	if err != nil {
		return tried{}, err
	}
	if len(name) > maxToolName {
		return tried{}, carillon.Invalid("name", "Must have at most 128 bytes")
	}
	var arguments map[string]any
	if err := decoded(o, "arguments", maxArguments, &arguments); err != nil {
		return tried{}, err
	}
	language, err := form.Language(o, "en")
	if err != nil {
		return tried{}, err
	}
	place, err := x.Trials.Take(by.Holder())
	if err != nil {
		return tried{}, err
	}
	defer place.Release()
	ctx, cancel := context.WithTimeout(r.Context(), maxToolTimeout)
	defer cancel()
	trial, err := x.Toolbox.Try(ctx, by.CompanyID, t, name, arguments, language)
	if err != nil {
		return tried{}, err
	}
	ran := trial.Ran
	return tried{trial.Request, trial.Body, ran.Status, ran.Code, ran.Text, ran.Say, ran.Reason, ran.MS}, nil
}

// remoteTools are the tools of an MCP server.
type remoteTools struct {
	Tools  []tools.Listed `json:"tools"`
	Reason string         `json:"reason,omitempty"` // why they cannot be read
}

// remote reads the tools of an MCP server.
func (x Tools) remote(r *http.Request, by member.Member) (remoteTools, error) {
	t, err := x.tool(r, by)
	if err != nil {
		return remoteTools{}, err
	}
	if t.MCP == nil {
		return remoteTools{}, carillon.InConflict("The tool is no MCP server")
	}
	place, err := x.Trials.Take(by.Holder())
	if err != nil {
		return remoteTools{}, err
	}
	defer place.Release()
	all, reason, err := x.Toolbox.List(r.Context(), by.CompanyID, t)
	if all == nil {
		all = []tools.Listed{}
	}
	return remoteTools{all, reason}, err
}

// memory reads what the agent keeps between two messages of the playground.
func memory(o *jsonbody.Object) (m agent.Memory, err error) {
	return m, decoded(o, "memory", maxMemory, &m)
}

// decoded decodes a field of a body, if it is there.
func decoded(o *jsonbody.Object, name string, maxBytes int, to any) error {
	text := o.Find(name).Raw()
	if len(text) > maxBytes || len(text) > 0 && json.Unmarshal(text, to) != nil {
		return carillon.Invalid(name, "Must be a smaller object")
	}
	return nil
}
