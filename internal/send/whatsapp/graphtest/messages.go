package graphtest

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"carillon"
	"carillon/internal/base/content"
)

//go:embed message.schema.json
var messageForm []byte

// messageSchema is the JSON schema of all messages.
var messageSchema = sync.OnceValue(func() *jsonschema.Schema {
	form, err := jsonschema.UnmarshalJSON(bytes.NewReader(messageForm))
	if err != nil {
		panic(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("message.schema.json", form); err != nil {
		panic(err)
	}
	return c.MustCompile("message.schema.json")
})

// message holds the parts of a message that are compared with its template.
type message struct {
	To       string `json:"to"`
	Person   string `json:"recipient"`
	Data     string `json:"biz_opaque_callback_data"`
	Template struct {
		Name     string `json:"name"`
		Language struct {
			Code string `json:"code"`
		} `json:"language"`
		Components []component `json:"components"`
	} `json:"template"`
}

type component struct {
	Type       string      `json:"type"`
	SubType    string      `json:"sub_type"`
	Index      string      `json:"index"`
	Parameters []parameter `json:"parameters"`
}

type parameter struct {
	Type string `json:"type"`
	Name string `json:"parameter_name"`
	Text string `json:"text"`
}

var (
	toForm   = regexp.MustCompile(`^\+?[0-9]{7,15}$`)
	badSpace = regexp.MustCompile("[\n\t]| {5,}")
)

func (s *Server) message(w http.ResponseWriter, r *http.Request, body []byte) *Error {
	if mark, is := markIn(body); is {
		return s.marked(w, mark)
	}
	p, refused := s.read(body)
	p = s.record.add(p)
	f := s.failures.of(p)
	if f == nil && refused != nil {
		return refused
	}
	if f == nil || f.Accepted {
		s.record.accept(p)
		if s.poster != nil {
			s.poster.add(p)
		}
	}
	if f != nil {
		f.play(w, r, s.stop)
		return nil
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	contact := `"wa_id":"` + strings.TrimPrefix(p.To, "+") + `"`
	if recipientForm.MatchString(p.To) {
		contact = `"user_id":"` + p.To + `"`
		if number := s.numberOf(p.To); number != "" {
			contact = `"wa_id":"` + number + `",` + contact
		}
	}
	_, _ = io.WriteString(w, `{"messaging_product":"whatsapp","contacts":[{"input":"`+p.To+`",`+contact+`}],"messages":[{"id":"`+p.ID+
		`","message_status":"accepted"}]}`)
	return nil
}

// read parses the message. It returns the parts that could be read even if there is an error.
func (s *Server) read(body []byte) (Post, *Error) {
	p := Post{At: time.Now()}
	if x, is := replyIn(body); is {
		p.Ref, p.To, p.Body = x.Data, cmp.Or(x.To, x.Recipient), body
		return p, s.checkReply(body, x)
	}
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		return p, invalid(err.Error())
	}
	p.Ref, p.To = m.Data, cmp.Or(m.To, m.Person)
	switch {
	case p.To == "":
		return p, invalid("The parameter to is required")
	case s.o.Loose:
		return p, nil
	}
	p.Body = body
	return p, s.check(body, &m)
}

func (s *Server) check(body []byte, m *message) *Error {
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return invalid(err.Error())
	}
	if err := messageSchema().Validate(whole); err != nil {
		return invalid(err.Error())
	}
	if e := checkRecipient(m.To, m.Person); e != nil {
		return e
	}
	t, e := s.templates.sendable(m.Template.Name, m.Template.Language.Code)
	if e != nil {
		return e
	}
	if m.To == "" && t.Category == "AUTHENTICATION" {
		return &Error{HTTP: 400, Code: 131062, Message: "Business-scoped User ID (BSUID) recipients are not supported for this message"}
	}
	return checkComponents(t, m.Template.Components)
}

// checkRecipient checks the recipient of a message: a number in to, or else an id in recipient. The real channel accepts
// an id in to, but delivers to nobody.
func checkRecipient(to, recipient string) *Error {
	switch {
	case recipientForm.MatchString(to):
		return invalid("Invalid parameter: to is an id")
	case to != "" && !toForm.MatchString(to):
		return &Error{HTTP: 400, Code: 131009, Message: "Parameter value is not valid: to"}
	case to == "" && !recipientForm.MatchString(recipient):
		return &Error{HTTP: 400, Code: 131009, Message: "Parameter value is not valid: recipient"}
	}
	return nil
}

// place is a part of a template that takes one component of a message, with parameters of one type.
type place struct {
	subType  string   // for a button
	kind     string   // type of the parameters
	names    []string // of the parameters; positional ones are only counted
	optional bool
}

// places returns the places of a template, by type and index of the component.
func places(t *carillon.Template) map[string]place {
	all := map[string]place{"body": {kind: "text", names: t.Shape.Markers, optional: len(t.Shape.Markers) == 0}}
	switch f := t.Shape.HeaderFormat; {
	case f == content.FormatText && t.Shape.HeaderVariable != "":
		all["header"] = place{kind: "text", names: []string{t.Shape.HeaderVariable}}
	case f == content.FormatText:
		all["header"] = place{optional: true}
	case f != "":
		all["header"] = place{kind: strings.ToLower(f), names: []string{f}}
	}
	for i, b := range t.Shape.Buttons {
		at := "button" + strconv.Itoa(i)
		switch {
		case b.Variable:
			all[at] = place{subType: "url", kind: "text", names: []string{at}}
		case b.Type == content.ButtonQuickReply:
			all[at] = place{subType: "quick_reply", kind: "payload", names: []string{at}, optional: true}
		}
	}
	return all
}

// checkComponents matches each component with a place of the template.
func checkComponents(t *carillon.Template, components []component) *Error {
	left := places(t)
	for _, c := range components {
		at := c.Type + c.Index
		p, ok := left[at]
		if !ok {
			return invalid("Unexpected component " + strconv.Quote(at))
		}
		delete(left, at)
		if e := p.check(&c, c.Type != "button" && t.ParameterFormat == content.Named); e != nil {
			return e
		}
	}
	for at, p := range left {
		if !p.optional {
			return mismatch(at)
		}
	}
	return nil
}

func (p *place) check(c *component, named bool) *Error {
	switch {
	case c.SubType != p.subType:
		return wrongFormat(c)
	case len(c.Parameters) != len(p.names):
		return mismatch(c.Type + c.Index)
	}
	names := slices.Clone(p.names)
	for _, given := range c.Parameters {
		named := named && given.Type == "text"
		at := slices.Index(names, given.Name)
		switch {
		case given.Type != p.kind, !named && given.Name != "":
			return wrongFormat(c)
		case c.Type != "button" && badSpace.MatchString(given.Text):
			return &Error{
				HTTP: 400, Code: 132018, Message: "Param text cannot have new-line/tab characters or more than 4 consecutive spaces",
			}
		case named && at < 0:
			return invalid("Parameter name is missing or unknown")
		case named:
			names = slices.Delete(names, at, at+1)
		}
	}
	return nil
}

func mismatch(at string) *Error {
	return &Error{HTTP: 400, Code: 132000, Message: at + ": number of parameters differs"}
}

func wrongFormat(c *component) *Error {
	return &Error{HTTP: 400, Code: 132012, Message: c.Type + c.Index + ": a parameter does not fit the template"}
}
