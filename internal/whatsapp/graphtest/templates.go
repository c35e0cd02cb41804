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
	"carillon/internal/content"
)

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
	for _, h := range ts.all {
		if h.Name == name && h.Language == language {
			return h
		}
	}
	return nil
}

func (ts *templates) byID(id string) *held {
	for _, h := range ts.all {
		if h.ProviderID == id {
			return h
		}
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
	h := &held{Template: carillon.Template{
		Name: b.Name, Language: b.Language, Category: b.Category, ParameterFormat: b.ParameterFormat, Components: b.Components,
	}}
	if e := ts.review(h); e != nil {
		return e
	}
	if ts.find(b.Name, b.Language) != nil {
		return refusal(2388024, "There is already content in this language for this template.")
	}
	ts.add(h)
	respond(w, 200, map[string]any{"id": h.ProviderID, "status": h.status, "category": h.Category})
	return nil
}

// strict decodes one JSON value without unknown members.
func strict(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil || !d.More() {
		return err
	}
	return errors.New("unexpected data after the body")
}

// refusal is the channel's error about a template.
func refusal(subcode int, reason string) *Error {
	return &Error{HTTP: 400, Code: 100, Subcode: subcode, Message: "Invalid parameter", UserMsg: reason}
}

// review sets the status of a created or edited template, if its form is right.
func (ts *templates) review(h *held) *Error {
	h.status = "PENDING"
	if ts.autoApprove {
		h.status = "APPROVED"
	}
	return h.check()
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
		return refusal(2388073, err.Error())
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
	return refusal(2388043, "The "+strings.ToLower(c.Type)+" lacks a sample for each of its variables.")
}

func namesAre(given []carillon.NamedExample, names []string) bool {
	return slices.EqualFunc(given, names, func(g carillon.NamedExample, n string) bool {
		return g.ParamName == n && g.Example != ""
	})
}

func (ts *templates) list(w http.ResponseWriter, r *http.Request, _ []byte) *Error {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	q := r.URL.Query()
	limit, err := strconv.Atoi(q.Get("limit"))
	if err != nil || limit < 1 {
		limit = 25
	}
	at, _ := strconv.Atoi(q.Get("after"))
	found := []map[string]any{}
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
	respond(w, 200, map[string]any{"data": found, "paging": paging})
	return nil
}

func (ts *templates) delete(w http.ResponseWriter, r *http.Request, _ []byte) *Error {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	id, name := r.URL.Query().Get("hsm_id"), r.URL.Query().Get("name")
	before := len(ts.all)
	ts.all = slices.DeleteFunc(ts.all, func(h *held) bool {
		return h.Name == name && (id == "" || h.ProviderID == id)
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
	h := ts.byID(r.PathValue("id"))
	if h == nil {
		return noObject(r.PathValue("id"))
	}
	respond(w, 200, h.view())
	return nil
}

func (ts *templates) edit(w http.ResponseWriter, r *http.Request, body []byte) *Error {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	h := ts.byID(r.PathValue("id"))
	if h == nil {
		return noObject(r.PathValue("id"))
	}
	var b templateBody
	if err := strict(body, &b); err != nil {
		return invalid(err.Error())
	}
	switch {
	case b.Name != "" || b.Language != "":
		return invalid("name and language cannot be edited")
	case !slices.Contains([]string{"APPROVED", "REJECTED", "PAUSED"}, h.status):
		return refusal(2593012, "This template cannot be edited now.")
	case h.status == "APPROVED" && b.Category != "":
		return refusal(2388025, "The category of an approved template cannot change.")
	}
	next := &held{Template: h.Template}
	next.Components, next.Shape = b.Components, nil
	next.Category = cmp.Or(b.Category, h.Category)
	next.ParameterFormat = cmp.Or(b.ParameterFormat, h.ParameterFormat)
	if e := ts.review(next); e != nil {
		return e
	}
	*h = *next
	respond(w, 200, map[string]any{"success": true})
	return nil
}
