package graphtest

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"carillon"
	"carillon/internal/content"
)

var errTrailing = errors.New("unexpected data after the body")

// templates are the account's, in the order of their creation.
type templates struct {
	mu          sync.Mutex
	autoApprove bool
	last        int64
	all         []*held
}

// held is a template as the channel holds it: Status in the channel's words.
type held struct {
	carillon.Template
	status string
	reason string
}

const firstTemplateID = 900_000_000

func (ts *templates) declare(given []carillon.Template) error {
	for i := range given {
		h := &held{Template: given[i], status: "APPROVED"}
		if h.Status != "" {
			h.status = strings.ToUpper(string(h.Status))
		}
		if err := content.Compile(&h.Template); err != nil {
			return fmt.Errorf("template %s: %w", h.Name, err)
		}
		ts.add(h)
	}
	return nil
}

func (ts *templates) add(h *held) {
	ts.last++
	if h.ProviderID == "" {
		h.ProviderID = strconv.FormatInt(firstTemplateID+ts.last, 10)
	}
	ts.all = append(ts.all, h)
}

func (ts *templates) find(name, language string) *held {
	return ts.first(func(h *held) bool { return h.Name == name && h.Language == language })
}

func (ts *templates) byID(id string) *held {
	return ts.first(func(h *held) bool { return h.ProviderID == id })
}

func (ts *templates) first(match func(*held) bool) *held {
	if at := slices.IndexFunc(ts.all, match); at >= 0 {
		return ts.all[at]
	}
	return nil
}

// sendable is the template of a message, or the channel's error where it may not be sent.
func (ts *templates) sendable(name, language string) (*carillon.Template, *Error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	h := ts.find(name, language)
	switch {
	case h == nil:
		return nil, &Error{HTTP: 404, Code: 132001, Message: "Template name does not exist in the translation"}
	case h.status == "PAUSED":
		return nil, &Error{HTTP: 400, Code: 132015, Message: "Template is paused"}
	case h.status == "DISABLED":
		return nil, &Error{HTTP: 400, Code: 132016, Message: "Template is disabled"}
	case h.status != "APPROVED":
		return nil, &Error{HTTP: 404, Code: 132001, Message: "Template is not approved"}
	}
	t := h.Template
	return &t, nil
}

// SetTemplate sets a template's status, in the channel's terms, as its reviewer would; false when there is none.
func (ts *templates) SetTemplate(name, language, status, reason string) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	h := ts.find(name, language)
	if h == nil {
		return false
	}
	h.status, h.reason = status, reason
	return true
}

// TemplateID is the channel's id of a template, empty when there is none.
func (ts *templates) TemplateID(name, language string) string {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if h := ts.find(name, language); h != nil {
		return h.ProviderID
	}
	return ""
}

func (h *held) view() map[string]any {
	v := map[string]any{
		"id": h.ProviderID, "name": h.Name, "language": h.Language, "status": h.status, "category": h.Category,
		"parameter_format": h.ParameterFormat, "components": h.Components,
	}
	if h.reason != "" {
		v["rejected_reason"] = h.reason
	}
	return v
}

// serveList is the account's list: read it, add to it, delete from it.
func (ts *templates) serveList(w http.ResponseWriter, r *http.Request, body []byte) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	switch r.Method {
	case http.MethodPost:
		ts.create(w, body)
	case http.MethodGet:
		ts.list(w, r)
	case http.MethodDelete:
		ts.delete(w, r)
	default:
		invalid("Unsupported request").write(w)
	}
}

var nameForm = regexp.MustCompile(`^[a-z0-9_]{1,512}$`)

type templateBody struct {
	Name            string               `json:"name"`
	Language        string               `json:"language"`
	Category        string               `json:"category"`
	ParameterFormat string               `json:"parameter_format"`
	Components      []carillon.Component `json:"components"`
}

func (ts *templates) create(w http.ResponseWriter, body []byte) {
	var b templateBody
	if err := strict(body, &b); err != nil {
		invalid(err.Error()).write(w)
		return
	}
	h := &held{status: "PENDING", Template: carillon.Template{
		Name: b.Name, Language: b.Language, Category: b.Category, ParameterFormat: b.ParameterFormat, Components: b.Components,
	}}
	if e := h.check(); e != nil {
		e.write(w)
		return
	}
	if ts.find(b.Name, b.Language) != nil {
		(&Error{
			HTTP: 400, Code: 100, Subcode: 2388024, Message: "Invalid parameter",
			UserMsg: "There is already content in this language for this template.",
		}).write(w)
		return
	}
	if ts.autoApprove {
		h.status = "APPROVED"
	}
	ts.add(h)
	respond(w, 200, map[string]any{"id": h.ProviderID, "status": h.status, "category": h.Category})
}

// check is the channel's: form, names and samples.
func (h *held) check() *Error {
	switch {
	case !nameForm.MatchString(h.Name):
		return invalid("name must be lower case letters, digits and underscores")
	case h.Language == "":
		return invalid("The parameter language is required")
	case !slices.Contains([]string{"MARKETING", "UTILITY", "AUTHENTICATION"}, h.Category):
		return invalid("category must be one of MARKETING, UTILITY, AUTHENTICATION")
	}
	if err := content.Compile(&h.Template); err != nil {
		return &Error{HTTP: 400, Code: 100, Subcode: 2388073, Message: "Invalid parameter", UserMsg: err.Error()}
	}
	for i := range h.Components {
		if e := h.checkSample(&h.Components[i]); e != nil {
			return e
		}
	}
	return nil
}

func (h *held) checkSample(c *carillon.Component) *Error {
	var ex carillon.ComponentExample
	if c.Example != nil {
		ex = *c.Example
	}
	ok := true
	switch {
	case c.Type == content.TypeHeader && h.Shape.HeaderFormat != content.FormatText:
		ok = len(ex.HeaderHandle) == 1 && ex.HeaderHandle[0] != "" && !strings.Contains(ex.HeaderHandle[0], "://")
	case c.Type == content.TypeHeader && h.Shape.HeaderVariable != "" && h.ParameterFormat == content.Named:
		ok = namesAre(ex.HeaderTextNamedParams, []string{h.Shape.HeaderVariable})
	case c.Type == content.TypeHeader && h.Shape.HeaderVariable != "":
		ok = len(ex.HeaderText) == 1
	case c.Type == content.TypeBody && len(h.Shape.Markers) > 0 && h.ParameterFormat == content.Named:
		ok = namesAre(ex.BodyTextNamedParams, h.Shape.Markers)
	case c.Type == content.TypeBody && len(h.Shape.Markers) > 0:
		ok = len(ex.BodyText) == 1 && len(ex.BodyText[0]) == len(h.Shape.Markers)
	case c.Type == content.TypeButtons:
		for i, b := range h.Shape.Buttons {
			ok = ok && (!b.Variable || len(c.Buttons[i].Example) == 1)
		}
	}
	if ok {
		return nil
	}
	return &Error{
		HTTP: 400, Code: 100, Subcode: 2388043, Message: "Invalid parameter",
		UserMsg: "The " + strings.ToLower(c.Type) + " lacks a sample for each of its variables.",
	}
}

func namesAre(given []carillon.NamedExample, names []string) bool {
	return slices.EqualFunc(given, names, func(g carillon.NamedExample, n string) bool {
		return g.ParamName == n && g.Example != ""
	})
}

func (ts *templates) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	limit, err := strconv.Atoi(q.Get("limit"))
	if err != nil || limit < 1 {
		limit = 25
	}
	from, _ := strconv.Atoi(q.Get("after"))
	var found []map[string]any
	at := max(from, 0)
	for ; at < len(ts.all) && len(found) < limit; at++ {
		h := ts.all[at]
		if strings.Contains(h.Name, q.Get("name")) && (q.Get("language") == "" || q.Get("language") == h.Language) {
			found = append(found, h.view())
		}
	}
	paging := map[string]any{"cursors": map[string]string{"after": strconv.Itoa(at)}}
	if at < len(ts.all) {
		paging["next"] = "http://" + r.Host + r.URL.Path
	}
	respond(w, 200, map[string]any{"data": append([]map[string]any{}, found...), "paging": paging})
}

func (ts *templates) delete(w http.ResponseWriter, r *http.Request) {
	id, name := r.URL.Query().Get("hsm_id"), r.URL.Query().Get("name")
	before := len(ts.all)
	ts.all = slices.DeleteFunc(ts.all, func(h *held) bool {
		return h.Name == name && (id == "" || h.ProviderID == id)
	})
	if len(ts.all) == before {
		(&Error{HTTP: 400, Code: 100, Subcode: 2593002, Message: "Message template not found"}).write(w)
		return
	}
	respond(w, 200, map[string]any{"success": true})
}

// serveOne is one template by its id: read it or edit it.
func (ts *templates) serveOne(w http.ResponseWriter, r *http.Request, id string, body []byte) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	h := ts.byID(id)
	switch {
	case h == nil:
		noObject(id).write(w)
	case r.Method == http.MethodGet:
		respond(w, 200, h.view())
	case r.Method == http.MethodPost:
		ts.edit(w, h, body)
	default:
		invalid("Unsupported request").write(w)
	}
}

func (ts *templates) edit(w http.ResponseWriter, h *held, body []byte) {
	var b templateBody
	if err := strict(body, &b); err != nil {
		invalid(err.Error()).write(w)
		return
	}
	switch {
	case b.Name != "" || b.Language != "":
		invalid("name and language cannot be edited").write(w)
		return
	case !slices.Contains([]string{"APPROVED", "REJECTED", "PAUSED"}, h.status):
		(&Error{HTTP: 400, Code: 100, Subcode: 2593012, Message: "Invalid parameter", UserMsg: "This template cannot be edited now."}).write(w)
		return
	case h.status == "APPROVED" && b.Category != "":
		(&Error{HTTP: 400, Code: 100, Subcode: 2388025, Message: "Invalid parameter", UserMsg: "The category of an approved template cannot change."}).write(w)
		return
	}
	next := &held{Template: h.Template, status: "PENDING"}
	next.Components, next.Shape = b.Components, nil
	if b.Category != "" {
		next.Category = b.Category
	}
	if b.ParameterFormat != "" {
		next.ParameterFormat = b.ParameterFormat
	}
	if e := next.check(); e != nil {
		e.write(w)
		return
	}
	if ts.autoApprove {
		next.status = "APPROVED"
	}
	*h = *next
	respond(w, 200, map[string]any{"success": true})
}
