package graphtest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/content"
)

// message is all that the channel accepts. Pointers distinguish absent from empty.
type message struct {
	MessagingProduct string `json:"messaging_product"`
	RecipientType    string `json:"recipient_type"`
	To               string `json:"to"`
	Type             string `json:"type"`
	Data             string `json:"biz_opaque_callback_data"`
	Template         *struct {
		Name     string `json:"name"`
		Language struct {
			Code   string `json:"code"`
			Policy string `json:"policy"`
		} `json:"language"`
		Components []component `json:"components"`
	} `json:"template"`
}

type component struct {
	Type       string      `json:"type"`
	SubType    string      `json:"sub_type"`
	Index      *string     `json:"index"`
	Parameters []parameter `json:"parameters"`
}

type parameter struct {
	Type     string  `json:"type"`
	Name     string  `json:"parameter_name"`
	Text     *string `json:"text"`
	Payload  *string `json:"payload"`
	Image    *media  `json:"image"`
	Video    *media  `json:"video"`
	Document *media  `json:"document"`
}

type media struct {
	Link     string `json:"link"`
	ID       string `json:"id"`
	Filename string `json:"filename"`
}

var (
	toForm   = regexp.MustCompile(`^\+?[0-9]{7,15}$`)
	badSpace = regexp.MustCompile("[\n\t]| {5,}")
)

func (s *Server) message(w http.ResponseWriter, r *http.Request, body []byte) {
	p, refused := s.read(body)
	p = s.record.add(p)
	if f := s.failures.of(p); f != nil {
		if f.Accepted {
			s.accepted(p)
		}
		f.play(w, r, s.stop)
		return
	}
	if refused != nil {
		refused.write(w)
		return
	}
	s.accepted(p)
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	_, _ = io.WriteString(w, `{"messaging_product":"whatsapp","contacts":[{"input":"`+p.To+`","wa_id":"`+strings.TrimPrefix(p.To, "+")+
		`"}],"messages":[{"id":"`+p.ID+`","message_status":"accepted"}]}`)
}

func (s *Server) accepted(p Post) {
	s.record.accept(p)
	if s.poster != nil {
		s.poster.add(p)
	}
}

// read parses the message; it returns what is wrong along with what could be read.
func (s *Server) read(body []byte) (Post, *Error) {
	p := Post{At: time.Now()}
	if s.o.Loose {
		p.Ref, p.To = member(body, `"biz_opaque_callback_data":"`), member(body, `"to":"`)
		if p.To == "" {
			return p, invalid("The parameter to is required")
		}
		return p, nil
	}
	p.Body = body
	var m message
	if err := strict(body, &m); err != nil {
		return p, invalid(err.Error())
	}
	p.Ref, p.To = m.Data, m.To
	if m.Template != nil {
		p.Template = m.Template.Name
	}
	return p, s.check(&m)
}

// member finds a string without escapes, as refs and numbers are.
func member(body []byte, key string) string {
	i := bytes.Index(body, []byte(key))
	if i < 0 {
		return ""
	}
	rest := body[i+len(key):]
	if before, _, ok := bytes.Cut(rest, []byte{'"'}); ok {
		return string(before)
	}
	return ""
}

// strict decodes one JSON value without unknown members.
func strict(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errTrailing
	}
	return nil
}

func (s *Server) check(m *message) *Error {
	switch {
	case m.MessagingProduct != "whatsapp":
		return invalid("The parameter messaging_product is required")
	case m.RecipientType != "" && m.RecipientType != "individual":
		return invalid("recipient_type must be individual")
	case m.To == "":
		return invalid("The parameter to is required")
	case !toForm.MatchString(m.To):
		return &Error{HTTP: 400, Code: 131009, Message: "Parameter value is not valid: to"}
	case m.Type != "template" || m.Template == nil:
		return &Error{HTTP: 400, Code: 131051, Message: "Unsupported message type"}
	case len(m.Data) > 512:
		return invalid("biz_opaque_callback_data is too long")
	case m.Template.Language.Policy != "" && m.Template.Language.Policy != "deterministic":
		return invalid("language.policy must be deterministic")
	}
	t, e := s.templates.sendable(m.Template.Name, m.Template.Language.Code)
	if e != nil {
		return e
	}
	return checkComponents(t, m.Template.Components)
}

// checkComponents counts off each component against a place of the template.
func checkComponents(t *carillon.Template, components []component) *Error {
	var header, body bool
	filled := make(map[int]bool)
	for i := range components {
		c := &components[i]
		var e *Error
		switch {
		case c.Type == "header" && !header:
			header, e = true, checkHeader(t, c)
		case c.Type == "body" && !body:
			body, e = true, checkBody(t, c)
		case c.Type == "button":
			e = checkButton(t, c, filled)
		default:
			e = invalid("Unexpected component " + strconv.Quote(c.Type))
		}
		if e != nil {
			return e
		}
	}
	switch {
	case !header && t.Shape.HeaderFormat != "" && (t.Shape.HeaderFormat != content.FormatText || t.Shape.HeaderVariable != ""):
		return mismatch("header: number of parameters differs")
	case !body && len(t.Shape.Markers) > 0:
		return mismatch("body: number of parameters differs")
	}
	for i, b := range t.Shape.Buttons {
		if b.Variable && !filled[i] {
			return mismatch("button " + strconv.Itoa(i) + ": number of parameters differs")
		}
	}
	return nil
}

func mismatch(what string) *Error { return &Error{HTTP: 400, Code: 132000, Message: what} }

func wrongFormat(what string) *Error { return &Error{HTTP: 400, Code: 132012, Message: what} }

func checkHeader(t *carillon.Template, c *component) *Error {
	if c.SubType != "" || c.Index != nil {
		return invalid("A header has no sub_type and no index")
	}
	switch f := t.Shape.HeaderFormat; f {
	case "":
		return mismatch("the template has no header")
	case content.FormatText:
		var names []string
		if t.Shape.HeaderVariable != "" {
			names = []string{t.Shape.HeaderVariable}
		}
		return checkTexts(t, c.Parameters, names)
	default:
		return checkMedia(f, c.Parameters)
	}
}

func checkBody(t *carillon.Template, c *component) *Error {
	if c.SubType != "" || c.Index != nil {
		return invalid("A body has no sub_type and no index")
	}
	return checkTexts(t, c.Parameters, t.Shape.Markers)
}

func checkTexts(t *carillon.Template, given []parameter, names []string) *Error {
	if len(given) != len(names) {
		return mismatch("number of parameters differs")
	}
	var seen []string
	for _, p := range given {
		switch {
		case p.Type != "text" || p.Text == nil || p.Payload != nil || p.Image != nil || p.Video != nil || p.Document != nil:
			return wrongFormat("the parameter must be a text")
		case *p.Text == "":
			return &Error{HTTP: 400, Code: 131008, Message: "Required parameter is missing: text"}
		case badSpace.MatchString(*p.Text):
			return &Error{HTTP: 400, Code: 132018, Message: "Param text cannot have new-line/tab characters or more than 4 consecutive spaces"}
		case t.ParameterFormat != content.Named && p.Name != "":
			return wrongFormat("a positional parameter has no name")
		case t.ParameterFormat == content.Named && (!slices.Contains(names, p.Name) || slices.Contains(seen, p.Name)):
			return invalid("Parameter name is missing or unknown")
		}
		seen = append(seen, p.Name)
	}
	return nil
}

func checkMedia(format string, given []parameter) *Error {
	if len(given) != 1 {
		return mismatch("a media header has one parameter")
	}
	p := given[0]
	objects := map[string]*media{"IMAGE": p.Image, "VIDEO": p.Video, "DOCUMENT": p.Document}
	m := objects[format]
	delete(objects, format)
	for _, other := range objects {
		if other != nil {
			return wrongFormat("the header is of another kind")
		}
	}
	switch {
	case p.Type != strings.ToLower(format) || m == nil || p.Text != nil || p.Payload != nil || p.Name != "":
		return wrongFormat("the header must be " + format)
	case (m.Link == "") == (m.ID == ""):
		return invalid("Media has either a link or an id")
	case m.Filename != "" && format != content.FormatDocument:
		return invalid("Unexpected key filename")
	case m.Link != "" && !strings.HasPrefix(m.Link, "https://") && !strings.HasPrefix(m.Link, "http://"):
		return &Error{HTTP: 400, Code: 131009, Message: "Parameter value is not valid: link"}
	}
	return nil
}

func checkButton(t *carillon.Template, c *component, filled map[int]bool) *Error {
	if c.Index == nil {
		return invalid("A button needs its index")
	}
	at, err := strconv.Atoi(*c.Index)
	if err != nil || at < 0 || at >= len(t.Shape.Buttons) || filled[at] {
		return invalid("Button index invalid")
	}
	filled[at] = true
	if len(c.Parameters) != 1 {
		return mismatch("a button has one parameter")
	}
	p, b := c.Parameters[0], t.Shape.Buttons[at]
	if p.Name != "" || p.Image != nil || p.Video != nil || p.Document != nil {
		return invalid("Unexpected key in a button's parameter")
	}
	switch {
	case c.SubType == "url" && b.Variable && p.Type == "text" && p.Text != nil && *p.Text != "" && p.Payload == nil:
		return nil
	case c.SubType == "quick_reply" && b.Type == content.ButtonQuickReply && p.Type == "payload" && p.Payload != nil &&
		*p.Payload != "" && len(*p.Payload) <= 256 && p.Text == nil:
		return nil
	}
	return wrongFormat("button " + *c.Index + " does not fit the template")
}
