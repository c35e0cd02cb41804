package graphtest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// replies records the messages that people wrote to the number, because only those people may get replies.
type replies struct {
	mu    sync.Mutex
	wrote map[string]time.Time // time of a number's last message
	files map[string]*File
	marks []Mark
	known map[string]bool   // ids of messages that people wrote
	lines map[string]string // numbers by the ids of people who show them
}

// Shows records that the channel reports the number of a person to the business from now on.
func (s *Server) Shows(userID, number string) {
	s.replies.mu.Lock()
	defer s.replies.mu.Unlock()
	if s.replies.lines == nil {
		s.replies.lines = map[string]string{}
	}
	s.replies.lines[userID] = number
}

// numberOf returns the number of a person with an id, or "" if the channel does not report it.
func (s *Server) numberOf(userID string) string {
	s.replies.mu.Lock()
	defer s.replies.mu.Unlock()
	return s.replies.lines[userID]
}

// Mark is a read receipt for a message.
type Mark struct {
	ID     string
	Typing bool
}

const window = 24 * time.Hour

// recipientForm is the format of a person's id.
var recipientForm = regexp.MustCompile(`^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$`)

// Inbound is a message in the channel's format: from, id, timestamp, type, and the member of the type.
type Inbound map[string]any

// Text returns an inbound message of type text.
func Text(from, id, text string, at time.Time) Inbound {
	return Inbound{
		"from": from, "id": id, "timestamp": strconv.FormatInt(at.Unix(), 10), "type": "text", "text": map[string]any{"body": text},
	}
}

// Wrote records a message of a person with a number or an id. From now on the person may get replies.
func (s *Server) Wrote(address, id string, at time.Time) {
	s.replies.mu.Lock()
	defer s.replies.mu.Unlock()
	if s.replies.wrote == nil {
		s.replies.wrote, s.replies.known = map[string]time.Time{}, map[string]bool{}
	}
	if at.After(s.replies.wrote[address]) {
		s.replies.wrote[address] = at
	}
	s.replies.known[id] = true
}

// knows reports whether an id is that of a message that a person wrote or that was sent.
func (s *Server) knows(id string) bool {
	s.replies.mu.Lock()
	defer s.replies.mu.Unlock()
	return s.replies.known[id] || s.record.has(id)
}

// InboundBody returns the body of a callback with messages of a person, who may get replies from now on.
func (s *Server) InboundBody(name string, messages ...Inbound) []byte {
	contact := map[string]any{"profile": map[string]string{"name": name}}
	for _, m := range messages {
		from, _ := m["from"].(string)
		if from != "" {
			contact["wa_id"] = from
		}
		if id, _ := m["from_user_id"].(string); id != "" {
			contact["user_id"], from = id, cmp.Or(from, id)
		}
		seconds, _ := strconv.ParseInt(m["timestamp"].(string), 10, 64)
		s.Wrote(from, m["id"].(string), time.Unix(seconds, 0))
	}
	return s.envelope("messages", map[string]any{
		"messaging_product": "whatsapp",
		"metadata":          map[string]string{"display_phone_number": "15555550100", "phone_number_id": s.o.PhoneNumberID},
		"contacts":          []map[string]any{contact},
		"messages":          messages,
	})
}

// Marks returns the messages that were marked as read.
func (s *Server) Marks() []Mark {
	s.replies.mu.Lock()
	defer s.replies.mu.Unlock()
	return slices.Clone(s.replies.marks)
}

type mark struct {
	Product string `json:"messaging_product"`
	Status  string `json:"status"`
	ID      string `json:"message_id"`
	Typing  *struct {
		Type string `json:"type"`
	} `json:"typing_indicator"`
}

func markIn(body []byte) (m mark, is bool) {
	return m, json.Unmarshal(body, &m) == nil && m.Status != ""
}

func (s *Server) marked(w http.ResponseWriter, m mark) *Error {
	s.replies.mu.Lock()
	defer s.replies.mu.Unlock()
	switch {
	case m.Product != "whatsapp", m.Status != "read", m.Typing != nil && m.Typing.Type != "text":
		return invalid("Invalid parameter")
	case !s.replies.known[m.ID]:
		return invalid("No such message")
	}
	s.replies.marks = append(s.replies.marks, Mark{m.ID, m.Typing != nil})
	_, _ = io.WriteString(w, `{"success":true}`)
	return nil
}

// reply is a message that is not a template. It lists all valid members: others are refused.
type reply struct {
	Product       string    `json:"messaging_product"`
	RecipientType string    `json:"recipient_type"`
	To            string    `json:"to"`
	Recipient     string    `json:"recipient"`
	Type          string    `json:"type"`
	Data          string    `json:"biz_opaque_callback_data"`
	Text          *bodyText `json:"text"`
	Context       *struct {
		ID string `json:"message_id"`
	} `json:"context"`
	Interactive json.RawMessage `json:"interactive"`
	Image       *link           `json:"image"`
	Video       *link           `json:"video"`
	Audio       *link           `json:"audio"`
	Document    *link           `json:"document"`
	Sticker     *link           `json:"sticker"`
	Location    json.RawMessage `json:"location"`
	Reaction    json.RawMessage `json:"reaction"`
	Contacts    json.RawMessage `json:"contacts"`
}

type bodyText struct {
	Body    string `json:"body"`
	Preview *bool  `json:"preview_url"`
}

type link struct {
	Link     string `json:"link"`
	Caption  string `json:"caption"`
	Filename string `json:"filename"`
	Voice    *bool  `json:"voice"`
}

func replyIn(body []byte) (*reply, bool) {
	var kind struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(body, &kind) != nil || kind.Type == "template" || kind.Type == "" {
		return nil, false
	}
	var x reply
	_ = json.Unmarshal(body, &x) // checkReply decodes it again, and reports errors
	return &x, true
}

func (s *Server) checkReply(body []byte, x *reply) *Error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&reply{}); err != nil {
		return invalid(err.Error())
	}
	if x.Product != "whatsapp" || x.RecipientType != "individual" || x.Data == "" || len(x.Data) > 512 {
		return invalid("Invalid parameter")
	}
	if e := checkRecipient(x.To, x.Recipient); e != nil {
		return e
	}
	if x.Context != nil && !s.knows(x.Context.ID) {
		return &Error{HTTP: 400, Code: 131009, Message: "Parameter value is not valid: context.message_id"}
	}
	if what := x.fault(s.knows); what != "" {
		return &Error{HTTP: 400, Code: 131009, Message: "Parameter value is not valid: " + what}
	}
	s.replies.mu.Lock()
	wrote := s.replies.wrote[cmp.Or(strings.TrimPrefix(x.To, "+"), x.Recipient)]
	s.replies.mu.Unlock()
	if time.Since(wrote) > window {
		return &Error{HTTP: 400, Code: 131047, Message: "Re-engagement message"}
	}
	var i interactive
	if json.Unmarshal(x.Interactive, &i) == nil && i.Type == "call_permission_request" {
		return s.account.ask(cmp.Or(strings.TrimPrefix(x.To, "+"), x.Recipient))
	}
	return nil
}

func within(s string, least, most int) bool {
	n := utf8.RuneCountInString(s)
	return n >= least && n <= most
}
