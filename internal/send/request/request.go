package request

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/jsonbody"
)

// The lengths of texts, in code points (docs/reference/limits.md).
const (
	maxLabel        = 255
	maxTemplateName = 512
	maxCustom       = 4096
)

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
	if err := r.readContacts(); err != nil {
		return nil, err
	}
	if err := r.readLabels(); err != nil {
		return nil, err
	}
	if r.At, r.Scheduled, err = Schedule(root, now); err != nil {
		return nil, err
	}
	if ch == carillon.Messaging {
		if err := r.readComponents(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// readLabels reads the fields other than contacts, schedule and components. Of several invalid fields the error names
// the first in this order.
func (r *Request) readLabels() error {
	var err error
	if r.Channel == carillon.Messaging {
		if r.Language, err = r.required("language_template", maxLabel); err != nil {
			return err
		}
		if r.TemplateName, err = r.required("name_template", maxTemplateName); err != nil {
			return err
		}
	}
	if r.RecipientID, err = r.required("recipient_id", maxLabel); err != nil {
		return err
	}
	if r.Channel == carillon.Voice {
		if r.AgentID, err = r.required("agent_id", maxLabel); err != nil {
			return err
		}
	}
	if err := r.readClass(); err != nil {
		return err
	}
	if r.Campaign, err = r.required("campaign_name", maxLabel); err != nil {
		return err
	}
	if r.Event, _, err = r.root.String("name_event", "name_event"); err != nil {
		return err
	}
	if err := checkLength("name_event", r.Event, maxLabel); err != nil {
		return err
	}
	return r.checkCustom()
}

// required reads a text of the body that must not be blank, and bounds its code points.
func (r *Request) required(key string, most int) (string, error) {
	text, err := r.root.Find(key).Required(key)
	if err == nil {
		err = checkLength(key, text, most)
	}
	return text, err
}

func checkLength(field, text string, most int) error {
	if len(text) > most && utf8.RuneCountInString(text) > most {
		return carillon.InvalidValue(field, "At most "+strconv.Itoa(most)+" characters", text)
	}
	return nil
}

// checkCustom checks the lengths of the body's custom values, those of contacts apart.
func (r *Request) checkCustom() error {
	for key, v := range r.root.Members() {
		ofForm := r.flat || !strings.Contains(key, ".") // a key with a dot is an ordinary one in the nested form
		if ofForm && definedString(key, r.Channel) || r.flat && strings.HasPrefix(key, contactPrefix) {
			continue
		}
		if text, ok := v.Scalar(); ok {
			if err := checkLength(key, text, maxCustom); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Request) readClass() error {
	const field = "notification_type"
	text, err := r.required(field, maxLabel)
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
func (r *Request) readComponents() error {
	if r.flat {
		var err error
		r.components, err = content.ReadComponents(r.root, content.ComponentsKey+".")
		return err
	}
	o, present, err := r.root.Find(content.ComponentsKey).Object(content.ComponentsKey)
	if err != nil || !present {
		return err
	}
	r.components, err = content.ReadComponents(o, "")
	return err
}
