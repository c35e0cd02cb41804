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
	"strings"
	"sync"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"carillon"
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
	Cards      []sentCard  `json:"cards"`
}

type sentCard struct {
	Index      int         `json:"card_index"`
	Components []component `json:"components"`
}

type parameter struct {
	Type    string `json:"type"`
	Name    string `json:"parameter_name"`
	Text    string `json:"text"`
	Payload string `json:"payload"`
	Action  *struct {
		Thumbnail string          `json:"thumbnail_product_retailer_id"`
		Sections  []sentSection   `json:"sections"`
		FlowToken string          `json:"flow_token"`
		FlowData  json.RawMessage `json:"flow_action_data"`
	} `json:"action"`
}

type sentSection struct {
	Title string `json:"title"`
	Items []struct {
		ID string `json:"product_retailer_id"`
	} `json:"product_items"`
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
	if e := checkComponents(t, m.Template.Components); e != nil || !slices.ContainsFunc(t.Components, asksForCalls) {
		return e
	}
	return s.account.ask(cmp.Or(strings.TrimPrefix(m.To, "+"), m.Person))
}

func asksForCalls(c carillon.Component) bool {
	return strings.EqualFold(c.Type, "call_permission_request")
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
