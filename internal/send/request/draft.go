package request

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/content"
)

// Draft is a request made by the program itself: in a flow, for the rows of a file, in the panel. It has the fields of
// a body in the nested form, in the order in which they are stored.
type Draft struct {
	Channel    carillon.Channel    `json:"-"`
	AgentID    string              `json:"agent_id,omitempty"`
	Campaign   string              `json:"campaign_name"`
	Components map[string]string   `json:"components_push,omitzero"`
	Contact    map[string]string   `json:"contact,omitempty"`
	Contacts   []map[string]string `json:"contacts,omitempty"` // instead of Contact
	At         string              `json:"datetime_sending,omitempty"`
	Language   string              `json:"language_template,omitempty"`
	Fallback   *FallbackDraft      `json:"fallback,omitempty"`
	Event      string              `json:"name_event,omitempty"`
	Template   string              `json:"name_template,omitempty"`
	Type       string              `json:"notification_type"`
	Sender     string              `json:"recipient_id"`
	Timezone   string              `json:"timezone,omitempty"`
}

// New checks a draft in the way that Parse checks a body. A schedule must be later than now; a zero now skips that
// check.
func New(d *Draft, now time.Time) (*Request, error) {
	r := &Request{Channel: d.Channel}
	own := fields{
		{"agent_id", d.AgentID},
		{"campaign_name", d.Campaign},
		{scheduleKey, d.At},
		{"language_template", d.Language},
		{"name_event", d.Event},
		{"name_template", d.Template},
		{"notification_type", d.Type},
		{"recipient_id", d.Sender},
		{zoneKey, d.Timezone},
	}
	r.shared = slices.DeleteFunc(own, func(f field) bool { return f.text == "" })
	contacts := make([]fields, 0, max(1, len(d.Contacts)))
	for _, c := range d.Contacts {
		contacts = append(contacts, sorted(c))
	}
	if d.Contacts == nil {
		contacts = append(contacts, sorted(d.Contact))
	}
	components := sorted(d.Components)
	for _, all := range append(contacts, r.shared, components) {
		if slices.ContainsFunc(all, func(f field) bool { return strings.Contains(f.name+f.text, "\x00") }) {
			return nil, carillon.Invalid("body", "The character U+0000 is not allowed")
		}
	}
	if err := r.add(contacts, d.Contacts != nil); err != nil {
		return nil, err
	}
	if err := r.readLabels(r.shared); err != nil {
		return nil, err
	}
	var err error
	if r.At, r.Scheduled, err = Schedule(r.shared, now); err != nil {
		return nil, err
	}
	if d.Fallback != nil {
		if r.Fallback, err = r.readFallback(d.Fallback.fields()); err != nil {
			return nil, err
		}
	}
	if r.components, err = content.ReadComponents(components.values()); err != nil {
		return nil, err
	}
	source, err := json.Marshal(d)
	r.source = string(source)
	return r, err
}

// add checks and adds contacts.
func (r *Request) add(contacts []fields, list bool) error {
	if list {
		if err := r.begin(len(contacts)); err != nil {
			return err
		}
	}
	for i, all := range contacts {
		index := ""
		if list {
			index = strconv.Itoa(i)
		}
		for _, f := range all {
			if err := r.checkField(f.name, f.text, index); err != nil {
				return err
			}
		}
		if err := r.addContact(all, index); err != nil {
			return err
		}
	}
	return nil
}

// sorted returns the entries of a map in the order of their keys, converted to valid UTF-8.
func sorted(from map[string]string) fields {
	all := make(fields, 0, len(from))
	for _, key := range slices.Sorted(maps.Keys(from)) {
		all = append(all, field{strings.ToValidUTF8(key, "\ufffd"), strings.ToValidUTF8(from[key], "\ufffd")})
	}
	return all
}

// given adapts a text to content.Text.
type given string

// String implements content.Text.
func (g given) String(string) (text string, present bool, err error) { return string(g), true, nil }

func (all fields) values() iter.Seq2[string, given] {
	return func(yield func(string, given) bool) {
		for _, f := range all {
			if !yield(f.name, given(f.text)) {
				return
			}
		}
	}
}

// Again returns the same request for some of its recipients, without a schedule and without a fallback, because the
// failed recipients were already called. Its stored form keeps the original values.
func (r *Request) Again(recipients []int) (*Request, error) {
	var body map[string]json.RawMessage
	if err := json.Unmarshal([]byte(r.source), &body); err != nil {
		return nil, err
	}
	delete(body, scheduleKey)
	delete(body, zoneKey)
	maps.DeleteFunc(body, func(key string, _ json.RawMessage) bool {
		return key == fallbackKey || r.Flat && strings.HasPrefix(key, fallbackPrefix)
	})
	subset := *r
	subset.Scheduled, subset.At, subset.Fallback = false, time.Time{}, nil
	subset.shared = slices.DeleteFunc(slices.Clone(r.shared), func(f field) bool { return f.name == scheduleKey || f.name == zoneKey })
	if r.Bulk {
		var all, some []json.RawMessage
		if err := json.Unmarshal(body[contactsKey], &all); err != nil {
			return nil, err
		}
		subset.Contacts = nil
		for _, i := range recipients {
			if i < len(all) {
				some, subset.Contacts = append(some, all[i]), append(subset.Contacts, r.Contacts[i])
			}
		}
		list, err := json.Marshal(some)
		if err != nil {
			return nil, err
		}
		body[contactsKey] = list
	}
	source, err := json.Marshal(body)
	subset.source = string(source)
	return &subset, err
}
