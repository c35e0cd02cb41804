package whatsapp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
)

// A number in coexistence is used here and in the WhatsApp Business app at the same time. Callbacks report messages
// written in the app, its earlier conversations, and its contacts.

// appValue holds the members of the fields smb_message_echoes, history and smb_app_state_sync. There may be thousands of
// earlier conversations and contacts, so they are read in the background (ReadHistory).
type appValue struct {
	Echoes  list[inbound]         `json:"message_echoes"`
	History list[json.RawMessage] `json:"history"`
	Synced  list[json.RawMessage] `json:"state_sync"`
	Errors  list[json.RawMessage] `json:"errors"`
}

// addEchoes adds messages that the team wrote in the app.
func (cb *Callback) addEchoes(v *value) {
	add := cb.addInbound(cb.number(v))
	if len(v.Echoes) == 0 {
		cb.Ignored++
	}
	for i := range v.Echoes {
		add(v.Echoes[i].echo(v.Contacts))
	}
}

// echo returns a message that the team wrote in the app. It returns false if it names no recipient.
func (m *inbound) echo(names []profile) (provider.Inbound, bool) {
	x := provider.Inbound{ID: m.ID, At: m.Timestamp.instant(), ReplyTo: m.Context.ID, Echo: true}
	x.From = m.To.number()
	x.UserID = userID(m.ToUserID, m.ToParentUserID, string(m.To))
	called(&x, names)
	x, ok := m.complete(x)
	switch x.Kind { //nolint:exhaustive // the others can be written in the app
	case provider.InboundNumber, provider.InboundIdentity:
		m.unsupported(&x)
	}
	x.Shared, x.Became = "", nil
	return x, ok
}

// The kinds of provider.HistoryPart.
const (
	partThreads  = "history"
	partFiles    = "history_files" // messages whose files were absent before
	partContacts = "smb_app_state_sync"
)

// addHistory adds the parts of earlier conversations, or of the app's contacts, unread.
func (cb *Callback) addHistory(field string, v *value) {
	id := cb.number(v)
	add := func(kind string, content any) {
		if id == "" {
			return
		}
		if cb.History == nil {
			cb.History = map[string][]provider.HistoryPart{}
		}
		raw, _ := json.Marshal(content) // raw messages and texts cannot fail
		cb.History[id] = append(cb.History[id], provider.HistoryPart{Kind: kind, Content: raw})
	}
	before := len(cb.History[id])
	switch {
	case field == partContacts && len(v.Synced) > 0:
		add(partContacts, v.Synced)
	case field == partThreads:
		for _, chunk := range v.History {
			add(partThreads, chunk)
		}
		if len(v.Errors) > 0 {
			add(partThreads, map[string]any{"errors": v.Errors})
		}
		if all := filesOf(v); len(all) > 0 {
			add(partFiles, provider.History{Progress: -1, Messages: all})
		}
	}
	if len(cb.History[id]) == before {
		cb.Ignored++
	}
}

// filesOf returns the messages of a change whose files were absent in an earlier part. Messages of the business name no
// person.
func filesOf(v *value) (all []provider.PastMessage) {
	for i := range v.Messages {
		m := &v.Messages[i]
		if x, ok := m.past("", digitsOf(string(v.Metadata.Display))); ok || x.File != nil && validInboundID(m.ID) {
			all = append(all, x)
		}
	}
	return all
}

// HistoryFor returns the parts that concern the sender with these settings.
func (cb *Callback) HistoryFor(raw json.RawMessage) []provider.HistoryPart {
	if id := PhoneNumberID(raw); id != "" {
		return cb.History[id]
	}
	return nil
}

// notShared is the channel's code for a business that does not share its history.
const notShared = 2593109

// chunk is a part of the earlier conversations.
type chunk struct {
	Metadata struct {
		Phase    loose `json:"phase"`
		Progress loose `json:"progress"`
	} `json:"metadata"`
	Threads list[struct {
		ID       loose         `json:"id"` // number or id of the person
		Messages list[inbound] `json:"messages"`
	}] `json:"threads"`
	Errors list[struct {
		Code loose `json:"code"`
	}] `json:"errors"`
}

// ReadHistory reads a part of the history of a number.
func ReadHistory(number string, part provider.HistoryPart) (provider.History, error) {
	h := provider.History{Progress: -1}
	var err error
	switch part.Kind {
	case partThreads:
		var c chunk
		err = decode(part.Content, &c)
		c.read(&h, number)
	case partFiles:
		err = json.Unmarshal(part.Content, &h)
	case partContacts:
		var all list[synced]
		err = decode(part.Content, &all)
		for i := range all {
			if n, ok := all[i].read(); ok {
				h.Names = append(h.Names, n)
			} else {
				h.Ignored++
			}
		}
	default:
		err = fmt.Errorf("unknown kind of history %q", part.Kind)
	}
	return h, err
}

func (c *chunk) read(h *provider.History, number string) {
	if n, err := strconv.Atoi(string(c.Metadata.Phase)); err == nil && n >= 0 && n <= maxPhase {
		h.Phase = n
	}
	if n, err := strconv.Atoi(string(c.Metadata.Progress)); err == nil && n >= 0 && n <= 100 {
		h.Progress = n
	}
	for i := range c.Errors {
		h.Refused = h.Refused || string(c.Errors[i].Code) == strconv.Itoa(notShared)
	}
	for i := range c.Threads {
		t := &c.Threads[i]
		for j := range t.Messages {
			if m, ok := t.Messages[j].past(string(t.ID), number); ok {
				h.Messages = append(h.Messages, m)
			} else {
				h.Ignored++
			}
		}
	}
}

const maxPhase = 9 // the channel has three

// past returns a message of a thread with a person. thread is the person's number or id, "" if unknown; number is that
// of the business. It returns false for a message without a person or a time, or of a group.
func (m *inbound) past(thread, number string) (provider.PastMessage, bool) {
	person, from := provider.Inbound{From: loose(thread).number(), UserID: userID(thread)}, m.From.number()
	own := m.To != "" || m.ToUserID != "" || from != "" && identity.Number(number).Is(from)
	if person.From != "" && from != "" {
		own = !identity.Number(person.From).Is(from)
	}
	var x provider.Inbound
	if own {
		x, _ = m.echo(nil)
	} else {
		x, _ = m.read(nil)
	}
	x.From, x.UserID = cmp.Or(person.From, x.From), cmp.Or(person.UserID, x.UserID)
	p := provider.PastMessage{Inbound: x, Absent: m.Type == "media_placeholder"}
	if own {
		p.State = pastStates[word(m.History.Status)]
	}
	return p, x.Person() != "" && x.Group == "" && !x.At.IsZero() && validInboundID(m.ID)
}

// pastStates are the channel's states of earlier messages.
var pastStates = map[string]carillon.State{ //nolint:gochecknoglobals // read only
	"SENT": carillon.StateSent, "DELIVERED": carillon.StateDelivered, "READ": carillon.StateRead, "PLAYED": carillon.StateRead,
	"ERROR": carillon.StateFailed,
}

// synced is a change of the app's contacts.
type synced struct {
	Type    string `json:"type"`
	Action  string `json:"action"`
	Contact struct {
		FullName  loose  `json:"full_name"`
		FirstName loose  `json:"first_name"`
		Number    loose  `json:"phone_number"`
		UserID    string `json:"user_id"`
	} `json:"contact"`
}

func (s *synced) read() (provider.PersonName, bool) {
	c := &s.Contact
	n := provider.PersonName{
		Number: c.Number.number(), UserID: userID(c.UserID), Name: cmp.Or(c.FullName.line(), c.FirstName.line()),
		Removed: s.Action == "remove",
	}
	known := s.Action == "add" && n.Name != "" || n.Removed
	return n, s.Type == "contact" && known && cmp.Or(n.Number, n.UserID) != ""
}
