package request

import (
	"time"
	"unicode/utf8"

	"carillon"
	"carillon/internal/content"
	"carillon/internal/jsonbody"
)

// maxEvent is the length of name_event in code points.
const maxEvent = 255

// Request is a request to send whose body and fields are valid.
type Request struct {
	Channel      carillon.Channel
	Contacts     []Contact
	Bulk         bool // the recipients are in contacts
	TemplateName string
	Language     string
	RecipientID  string
	Campaign     string
	Event        string // name_event, may be empty
	AgentID      string // voice
	Class        carillon.Class
	Scheduled    bool
	At           time.Time // when Scheduled: the instant, UTC

	root       *jsonbody.Object
	flat       bool
	components []content.Component
}

// Source returns the body that the request was read from.
func (r *Request) Source() string { return r.root.Source() }

// Parse reads a body and checks all of it. flat selects the form with dotted keys. A schedule must be later than now; a
// zero now omits that check, for a stored body that is read again on delivery.
func Parse(ch carillon.Channel, body []byte, flat bool, now time.Time) (*Request, error) {
	root, err := jsonbody.Parse(body)
	if err != nil {
		return nil, err
	}
	if flat {
		if err := checkFlat(root, ch); err != nil {
			return nil, err
		}
	}
	r := &Request{Channel: ch, root: root, flat: flat}
	f := findFields(root)
	if err := r.readContacts(&f); err != nil {
		return nil, err
	}
	if err := r.readLabels(&f); err != nil {
		return nil, err
	}
	if r.At, r.Scheduled, err = readSchedule(f.local, f.zone, now); err != nil {
		return nil, err
	}
	if ch == carillon.Messaging {
		if err := r.readComponents(&f); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// fields are the values of the keys that the interface defines.
type fields struct {
	contact, contacts, language, template, recipient, class jsonbody.Value
	campaign, event, local, zone, components, agent         jsonbody.Value
}

// findFields finds all of them in one pass over the body.
func findFields(root *jsonbody.Object) fields {
	var f fields
	for key, v := range root.Members() {
		switch key {
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
		case scheduleKey:
			f.local = v
		case zoneKey:
			f.zone = v
		case content.ComponentsKey:
			f.components = v
		case "agent_id":
			f.agent = v
		}
	}
	return f
}

// readLabels reads the fields other than contacts, schedule and components. Of several invalid fields the error names
// the first in this order.
func (r *Request) readLabels(f *fields) error {
	var err error
	if r.Channel == carillon.Messaging {
		if r.Language, err = f.language.Required("language_template"); err != nil {
			return err
		}
		if r.TemplateName, err = f.template.Required("name_template"); err != nil {
			return err
		}
	}
	if r.RecipientID, err = f.recipient.Required("recipient_id"); err != nil {
		return err
	}
	if r.Channel == carillon.Voice {
		if r.AgentID, err = f.agent.Required("agent_id"); err != nil {
			return err
		}
	}
	if err := r.readClass(f.class); err != nil {
		return err
	}
	if r.Campaign, err = f.campaign.Required("campaign_name"); err != nil {
		return err
	}
	if r.Event, _, err = f.event.String("name_event"); err != nil {
		return err
	}
	if len(r.Event) > maxEvent && utf8.RuneCountInString(r.Event) > maxEvent {
		return carillon.InvalidValue("name_event", "An event's name has at most 255 characters", r.Event)
	}
	return nil
}

func (r *Request) readClass(v jsonbody.Value) error {
	const field = "notification_type"
	text, err := v.Required(field)
	if err != nil {
		return err
	}
	class, ok := carillon.ParseClass(text)
	switch {
	case r.Channel == carillon.Voice && (!ok || class == carillon.Utility):
		return carillon.InvalidValue(field, "Must be one of marketing, transactional", text)
	case !ok:
		return carillon.InvalidValue(field, "Must be one of marketing, transactional, utility", text)
	}
	r.Class = class
	return nil
}

// readComponents reads components_push: an object or, in the flat form, the keys of the body that begin with its name.
func (r *Request) readComponents(f *fields) error {
	if r.flat {
		var err error
		r.components, err = content.ReadComponents(r.root, content.ComponentsKey+".")
		return err
	}
	o, present, err := f.components.Object(content.ComponentsKey)
	if err != nil || !present {
		return err
	}
	r.components, err = content.ReadComponents(o, "")
	return err
}
