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
		"parameter_format": t.ParameterFormat, "components": listed(t),
	}
	if t.SendTTL != 0 {
		v["message_send_ttl_seconds"] = t.SendTTL
	}
	if t.Reason != "" {
		v["rejected_reason"] = t.Reason
	}
	return v
}

// listed returns a template's components as the channel lists them: a sample's handle as an address, and the button of
// a one-time code as a URL, below the channel's texts.
func listed(t *carillon.Template) []carillon.Component {
	all := slices.Clone(t.Components)
	for i := range all {
		c := &all[i]
		if c.Example != nil && len(c.Example.HeaderHandle) > 0 {
			c.Example = &carillon.ComponentExample{HeaderHandle: []string{"https://scontent.example.com/" + strconv.Itoa(i) + "?oe=1"}}
		}
		switch {
		case t.Category != "AUTHENTICATION":
		case c.Type == "BODY" && c.Text == "":
			c.Text = "*{{1}}* is your verification code."
			if c.AddSecurityRecommendation {
				c.Text += " For your security, do not share this code."
			}
			c.Example = &carillon.ComponentExample{BodyText: [][]string{{"123456"}}}
		case c.Type == "FOOTER" && c.Text == "":
			c.Text = "This code expires in " + strconv.Itoa(c.CodeExpirationMinutes) + " minutes."
		case c.Type == "BUTTONS":
			c.Buttons = slices.Clone(c.Buttons)
			for k := range c.Buttons {
				if b := &c.Buttons[k]; b.Type == "OTP" {
					address := "https://www.whatsapp.com/otp/code/?otp_type=" + b.OTPType + "&code=otp"
					*b = carillon.Button{
						Type: "URL", Text: cmp.Or(b.Text, "Copy code"), URL: address + "{{1}}", Example: []string{address + "123456"},
					}
				}
			}
		}
	}
	return all
}

var nameForm = regexp.MustCompile(`^[a-z0-9_]{1,512}$`)

type templateBody struct {
	Name            string          `json:"name"`
	Language        string          `json:"language"`
	Category        string          `json:"category"`
	ParameterFormat string          `json:"parameter_format"`
	SendTTL         *int            `json:"message_send_ttl_seconds"`
	Components      json.RawMessage `json:"components"`
}

func (ts *templates) create(w http.ResponseWriter, _ *http.Request, body []byte) *Error {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	var b templateBody
	if err := strict(body, &b); err != nil {
		return invalid(err.Error())
	}
	t := &carillon.Template{Name: b.Name, Language: b.Language, Category: b.Category, ParameterFormat: b.ParameterFormat}
	if e := ts.review(t, &b); e != nil {
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
func (ts *templates) review(t *carillon.Template, b *templateBody) *Error {
	switch {
	case !nameForm.MatchString(t.Name):
		return invalid("name must be lower case letters, digits and underscores")
	case t.Language == "":
		return invalid("The parameter language is required")
	case !slices.Contains([]string{"MARKETING", "UTILITY", "AUTHENTICATION"}, t.Category):
		return invalid("category must be one of MARKETING, UTILITY, AUTHENTICATION")
	}
	var parts []part
	if err := strict(b.Components, &parts); err != nil {
		return invalid("components: " + err.Error())
	}
	if err := json.Unmarshal(b.Components, &t.Components); err != nil {
		return invalid("components: " + err.Error())
	}
	t.Shape = nil
	if err := content.Compile(t); err != nil {
		return refusal(2388073, err.Error())
	}
	d := draft{category: t.Category, named: t.ParameterFormat == content.Named, parts: parts}
	if e := d.review(b.SendTTL); e != nil {
		return e
	}
	if b.SendTTL != nil {
		t.SendTTL = *b.SendTTL
	}
	t.Status, t.Reason = "PENDING", ""
	if ts.autoApprove {
		t.Status = approved
	}
	return nil
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
	next.Components = nil
	next.Category = cmp.Or(b.Category, t.Category)
	next.ParameterFormat = cmp.Or(b.ParameterFormat, t.ParameterFormat)
	if e := ts.review(&next, &b); e != nil {
		return e
	}
	*t = next
	respond(w, 200, map[string]any{"success": true})
	return nil
}
