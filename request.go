package carillon

import (
	"time"
	"unicode/utf8"
)

// maxEvent is the length of name_event in code points (decisions.md, section 3).
const maxEvent = 255

// Request is a send request that passed every check of the body and its fields. What it says of contacts, components
// and the body's own values stays in one copy of the body until it is asked for.
type Request struct {
	Channel      Channel
	Contacts     []Contact
	Bulk         bool // the recipients came in contacts
	TemplateName string
	Language     string
	RecipientID  string
	Campaign     string
	Event        string // name_event, empty when there is none
	AgentID      string // voice
	Class        Class
	Scheduled    bool
	At           time.Time // when Scheduled: the instant, UTC

	root       *Object
	flat       bool
	components []component
}

// Source is the body that the request was read from.
func (r *Request) Source() string { return r.root.doc.src }

// ParseRequest does every check of the step "body and fields" (decisions.md, section 1, order of the checks). flat is
// the query's unflatten. now is the instant a schedule must lie behind; a zero now leaves that check out, for a stored
// body that is read again at delivery.
func ParseRequest(ch Channel, body []byte, flat bool, now time.Time) (*Request, error) {
	root, err := ParseObject(body)
	if err != nil {
		return nil, err
	}
	r := &Request{Channel: ch, root: root, flat: flat}
	if flat {
		if err := checkFlat(root, ch); err != nil {
			return nil, err
		}
	}
	f := gather(root)
	if err := r.readContacts(root, f.contact, f.contacts); err != nil {
		return nil, err
	}
	if err := r.readLabels(&f); err != nil {
		return nil, err
	}
	if r.At, r.Scheduled, err = schedule(f.local, f.zone, now); err != nil {
		return nil, err
	}
	if ch == Voice {
		return r, nil
	}
	if err := r.readComponents(root, f.components); err != nil {
		return nil, err
	}
	return r, nil
}

// fields are the values of the keys that the contract names.
type fields struct {
	contact, contacts, language, template, recipient, class Value
	campaign, event, local, zone, components, agent         Value
}

// gather finds them all in one walk over the body.
func gather(root *Object) fields {
	var f fields
	for i := root.first(); i < root.end(); i = root.doc.after(i) {
		v := Value{root.doc, i}
		switch root.doc.key(i) {
		case contactKey:
			f.contact = v
		case contactsKey:
			f.contacts = v
		case "language_template":
			f.language = v
		case "name_template":
			f.template = v
		case "recipient_id":
			f.recipient = v
		case "notification_type":
			f.class = v
		case "campaign_name":
			f.campaign = v
		case "name_event":
			f.event = v
		case "datetime_sending":
			f.local = v
		case "timezone":
			f.zone = v
		case componentsKey:
			f.components = v
		case "agent_id":
			f.agent = v
		}
	}
	return f
}

// readLabels reads what is neither contact, schedule nor component, in the order of the contract's tables.
func (r *Request) readLabels(f *fields) error {
	var err error
	if r.Channel == Messaging {
		if r.Language, err = required(f.language, "language_template"); err != nil {
			return err
		}
		if r.TemplateName, err = required(f.template, "name_template"); err != nil {
			return err
		}
	}
	if r.RecipientID, err = required(f.recipient, "recipient_id"); err != nil {
		return err
	}
	if r.Channel == Voice {
		if r.AgentID, err = required(f.agent, "agent_id"); err != nil {
			return err
		}
	}
	if err := r.readClass(f.class); err != nil {
		return err
	}
	if r.Campaign, err = required(f.campaign, "campaign_name"); err != nil {
		return err
	}
	if r.Event, _, err = f.event.String("name_event"); err != nil {
		return err
	}
	if len(r.Event) > maxEvent && utf8.RuneCountInString(r.Event) > maxEvent {
		return InvalidValue("name_event", "An event's name has at most 255 characters", shortened(r.Event))
	}
	return nil
}

func (r *Request) readClass(v Value) error {
	const field = "notification_type"
	text, err := required(v, field)
	if err != nil {
		return err
	}
	class, ok := ParseClass(text)
	switch {
	case r.Channel == Voice && (!ok || class == Utility):
		return InvalidValue(field, "Must be one of marketing, transactional", shortened(text))
	case !ok:
		return InvalidValue(field, "Must be one of marketing, transactional, utility", shortened(text))
	}
	r.Class = class
	return nil
}

// required reads a string that must be there and must say something.
func required(v Value, field string) (string, error) {
	s, present, err := v.String(field)
	if err != nil {
		return "", err
	}
	if !present || blank(s) {
		return "", Missing(field)
	}
	return s, nil
}
