package graphtest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"carillon"
	"carillon/internal/base/content"
)

// templates are the account's templates in the order of their creation. Their status is in the channel's terms.
type templates struct {
	mu          sync.Mutex
	autoApprove bool
	last        int64
	all         []*carillon.Template
	listed      []json.RawMessage // made by others; see SetListed
}

const (
	firstTemplateID = 900_000_000
	approved        = "APPROVED"
)

func (ts *templates) declare(given []carillon.Template) error {
	for _, t := range given {
		t.Status = cmp.Or(carillon.TemplateStatus(strings.ToUpper(string(t.Status))), approved)
		if err := content.Compile(&t); err != nil {
			return fmt.Errorf("template %s: %w", t.Name, err)
		}
		ts.add(&t)
	}
	return nil
}

func (ts *templates) add(t *carillon.Template) {
	ts.last++
	t.ProviderID = cmp.Or(t.ProviderID, strconv.FormatInt(firstTemplateID+ts.last, 10))
	ts.all = append(ts.all, t)
}

func (ts *templates) find(name, language string) *carillon.Template {
	for _, t := range ts.all {
		if t.Name == name && t.Language == language {
			return t
		}
	}
	return nil
}

func (ts *templates) byID(id string) *carillon.Template {
	for _, t := range ts.all {
		if t.ProviderID == id {
			return t
		}
	}
	return nil
}

// sendable returns the template of a message, or the channel's error if it may not be sent.
func (ts *templates) sendable(name, language string) (*carillon.Template, *Error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.find(name, language)
	switch {
	case t == nil:
		return nil, &Error{HTTP: 404, Code: 132001, Message: "Template name does not exist in the translation"}
	case t.Status == "PAUSED":
		return nil, &Error{HTTP: 400, Code: 132015, Message: "Template is paused"}
	case t.Status == "DISABLED":
		return nil, &Error{HTTP: 400, Code: 132016, Message: "Template is disabled"}
	case t.Status != approved:
		return nil, &Error{HTTP: 404, Code: 132001, Message: "Template is not approved"}
	}
	sendable := *t
	return &sendable, nil
}

// SetTemplate sets the status of an existing template, in the channel's terms, as its reviewer would.
func (ts *templates) SetTemplate(name, language, status, reason string) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.find(name, language)
	t.Status, t.Reason = carillon.TemplateStatus(status), reason
}

// TemplateID returns the channel's id of a template, or "" if there is none.
func (ts *templates) TemplateID(name, language string) string {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t := ts.find(name, language); t != nil {
		return t.ProviderID
	}
	return ""
}

func view(t *carillon.Template) map[string]any {
	v := map[string]any{
		"id": t.ProviderID, "name": t.Name, "language": t.Language, "status": t.Status, "category": t.Category,
		"parameter_format": t.ParameterFormat, "components": t.Components,
	}
	if t.Reason != "" {
		v["rejected_reason"] = t.Reason
	}
	return v
}

var nameForm = regexp.MustCompile(`^[a-z0-9_]{1,512}$`)

type templateBody struct {
	Name            string               `json:"name"`
	Language        string               `json:"language"`
	Category        string               `json:"category"`
	ParameterFormat string               `json:"parameter_format"`
	Components      []carillon.Component `json:"components"`
}

func (ts *templates) create(w http.ResponseWriter, _ *http.Request, body []byte) *Error {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	var b templateBody
	if err := strict(body, &b); err != nil {
		return invalid(err.Error())
	}
	t := &carillon.Template{
		Name: b.Name, Language: b.Language, Category: b.Category, ParameterFormat: b.ParameterFormat, Components: b.Components,
	}
	if e := ts.review(t); e != nil {
		return e
	}
	if ts.find(b.Name, b.Language) != nil {
		return refusal(2388024, "There is already content in this language for this template.")
	}
	ts.add(t)
	respond(w, 200, map[string]any{"id": t.ProviderID, "status": t.Status, "category": t.Category})
	return nil
}

// strict decodes one JSON value and refuses unknown members.
func strict(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil || !d.More() {
		return err
	}
	return errors.New("unexpected data after the body")
}

// refusal returns the channel's error about a template.
func refusal(subcode int, reason string) *Error {
	return &Error{HTTP: 400, Code: 100, Subcode: subcode, Message: "Invalid parameter", UserMsg: reason}
}

// review checks the format, names and samples of a created or edited template, and sets its status.
func (ts *templates) review(t *carillon.Template) *Error {
	switch {
	case !nameForm.MatchString(t.Name):
		return invalid("name must be lower case letters, digits and underscores")
	case t.Language == "":
		return invalid("The parameter language is required")
	case !slices.Contains([]string{"MARKETING", "UTILITY", "AUTHENTICATION"}, t.Category):
		return invalid("category must be one of MARKETING, UTILITY, AUTHENTICATION")
	}
	if err := content.Compile(t); err != nil {
		return refusal(2388073, err.Error())
	}
	for i := range t.Components {
		if c := &t.Components[i]; !sampled(t, c) {
			return refusal(2388043, "The "+strings.ToLower(c.Type)+" lacks a sample for each of its variables.")
		}
	}
	t.Status, t.Reason = "PENDING", ""
	if ts.autoApprove {
		t.Status = approved
	}
	return nil
}

// sampled reports whether a component has a sample for each of its variables, or of its media.
func sampled(t *carillon.Template, c *carillon.Component) bool {
	var ex carillon.ComponentExample
	if c.Example != nil {
		ex = *c.Example
	}
	named := t.ParameterFormat == content.Named
	switch {
	case c.Type == content.TypeHeader && t.Shape.HeaderFormat != content.FormatText:
		return len(ex.HeaderHandle) == 1 && ex.HeaderHandle[0] != "" && !strings.Contains(ex.HeaderHandle[0], "://")
	case c.Type == content.TypeHeader && t.Shape.HeaderVariable != "" && named:
		return namesAre(ex.HeaderTextNamedParams, []string{t.Shape.HeaderVariable})
	case c.Type == content.TypeHeader && t.Shape.HeaderVariable != "":
		return len(ex.HeaderText) == 1
	case c.Type == content.TypeBody && len(t.Shape.Markers) > 0 && named:
		return namesAre(ex.BodyTextNamedParams, t.Shape.Markers)
	case c.Type == content.TypeBody && len(t.Shape.Markers) > 0:
		return len(ex.BodyText) == 1 && len(ex.BodyText[0]) == len(t.Shape.Markers)
	}
	for i, b := range c.Buttons {
		if t.Shape.Buttons[i].Variable && len(b.Example) != 1 {
			return false
		}
	}
	return true
}

func namesAre(given []carillon.NamedExample, names []string) bool {
	return slices.EqualFunc(given, names, func(g carillon.NamedExample, n string) bool {
		return g.ParamName == n && g.Example != ""
	})
}

func (ts *templates) delete(w http.ResponseWriter, r *http.Request, _ []byte) *Error {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	id, name := r.URL.Query().Get("hsm_id"), r.URL.Query().Get("name")
	before := len(ts.all)
	ts.all = slices.DeleteFunc(ts.all, func(t *carillon.Template) bool {
		return t.Name == name && (id == "" || t.ProviderID == id)
	})
	if len(ts.all) == before {
		return refusal(2593002, "Message template not found")
	}
	respond(w, 200, map[string]any{"success": true})
	return nil
}

func (ts *templates) show(w http.ResponseWriter, r *http.Request, _ []byte) *Error {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.byID(r.PathValue("id"))
	if t == nil {
		if node := ts.listedNode(r.PathValue("id")); node != nil {
			respond(w, 200, node)
			return nil
		}
		return noObject(r.PathValue("id"))
	}
	respond(w, 200, view(t))
	return nil
}

func (ts *templates) edit(w http.ResponseWriter, r *http.Request, body []byte) *Error {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.byID(r.PathValue("id"))
	if t == nil {
		return noObject(r.PathValue("id"))
	}
	var b templateBody
	if err := strict(body, &b); err != nil {
		return invalid(err.Error())
	}
	switch {
	case b.Name != "" || b.Language != "":
		return invalid("name and language cannot be edited")
	case !slices.Contains([]string{"APPROVED", "REJECTED", "PAUSED"}, string(t.Status)):
		return refusal(2593012, "This template cannot be edited now.")
	case t.Status == approved && b.Category != "":
		return refusal(2388025, "The category of an approved template cannot change.")
	}
	next := *t
	next.Components, next.Shape = b.Components, nil
	next.Category = cmp.Or(b.Category, t.Category)
	next.ParameterFormat = cmp.Or(b.ParameterFormat, t.ParameterFormat)
	if e := ts.review(&next); e != nil {
		return e
	}
	*t = next
	respond(w, 200, map[string]any{"success": true})
	return nil
}
