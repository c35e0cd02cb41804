// Package request models the request to send a notification: a template or an agent's call, its recipients and its
// time. Parse reads and checks the body of an HTTP request, field by field in the order of this file. New checks a
// Draft made by the program itself. Decode reads a stored request. All three return the same Request, which is not
// parsed again on its way to the database.
//
// Its methods match it with a template and find recipients that would get the same message twice.
package request

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/identity"
	"carillon/internal/base/jsonbody"
	"carillon/internal/base/provider"
	"carillon/internal/base/schedule"
)

// Maximum lengths of texts, in code points (docs/reference/limits.md).
const (
	maxLabel        = 255
	maxTemplateName = 512
	maxCustom       = 4096
	usualFields     = 4 // of a contact
)

const (
	contactKey    = "contact"
	contactPrefix = contactKey + "."
	contactsKey   = "contacts"
	scheduleKey   = "datetime_sending"
	zoneKey       = "timezone"

	maxContacts = content.MaxRecipients

	exampleNumber = "34600111222"
	exampleUser   = "US.13491208655302741918"
)

// Request is a valid request to send. Its texts are slices of one copy of the body.
type Request struct {
	Channel      carillon.Channel
	Contacts     []Contact
	Bulk         bool // the recipients are in contacts, not contact
	TemplateName string
	Language     string
	RecipientID  string
	Campaign     string
	Event        string    // name_event; may be empty
	AgentID      string    // voice only
	Over         string    // voice only: CallPhone, CallWhatsApp or empty, for any line
	Fallback     *Fallback // messaging only; may be nil
	Class        carillon.Class
	Scheduled    bool
	At           time.Time // if Scheduled: the instant in UTC
	Flat         bool      // the body has the flat form with dotted keys

	source     string // the body
	shared     fields // top-level values of the body
	room       fields // of the contacts, one after the other
	components []content.Component
}

// Source returns the body as it is stored.
func (r *Request) Source() string { return r.source }

// Contact is one recipient of a request. It has a number, or else the channel's id of a person without a known number.
type Contact struct {
	Number string
	UserID string // also next to a number, if it has the form of an id
	fields fields
}

// Address returns the number, or the id of a person without a number.
func (c *Contact) Address() string { return cmp.Or(c.Number, c.UserID) }

// Keys returns the keys of the contact's number and id.
func (c *Contact) Keys() []identity.Key {
	keys := []identity.Key{identity.Of(c.Address())}
	if c.Number != "" && c.UserID != "" {
		keys = append(keys, identity.User(c.UserID))
	}
	return keys
}

// Field returns the text of one field, including custom fields; numbers and booleans as spelled in the body. It
// returns false for a field that is absent or null.
func (c *Contact) Field(name string) (string, bool) { return c.fields.find(name) }

// Fields returns all fields as text, including the number.
func (c *Contact) Fields() map[string]string {
	all := make(map[string]string, len(c.fields))
	for _, f := range c.fields {
		all[f.name] = f.text
	}
	return all
}

// Name returns the recipient's name, or "" if the request has none.
func (c *Contact) Name() string {
	first, _ := c.Field("first_name")
	last, _ := c.Field("last_name")
	name, _ := c.Field("name")
	if whole := strings.TrimSpace(first + " " + last); whole != "" {
		return whole
	}
	return name
}

type field struct{ name, text string }

type fields []field

func (all fields) find(name string) (string, bool) {
	for i := range all {
		if all[i].name == name {
			return all[i].text, true
		}
	}
	return "", false
}

// String implements texts.
func (all fields) String(_, key string) (text string, present bool, err error) {
	text, present = all.find(key)
	return text, present, nil
}

// texts is the common interface for reading the strings of a body or a draft.
type texts interface {
	String(field, key string) (text string, present bool, err error)
}

// Parse reads and checks a complete body. flat selects the form with dotted keys. A schedule must be later than now; a
// zero now skips that check.
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
	r := &Request{Channel: ch, Flat: flat, source: root.Source()}
	if err := r.readContacts(root); err != nil {
		return nil, err
	}
	if err := r.readLabels(root); err != nil {
		return nil, err
	}
	if ch == carillon.Voice && !now.IsZero() { // a stored body has its line
		if err := r.readOver(root); err != nil {
			return nil, err
		}
	}
	if err := r.readShared(root); err != nil {
		return nil, err
	}
	if r.At, r.Scheduled, err = Schedule(root, now); err != nil {
		return nil, err
	}
	// A stored body of an older program may have anything under this name.
	if r.Fallback, err = r.bodyFallback(root); err != nil && !now.IsZero() {
		return nil, err
	}
	if ch == carillon.Messaging {
		r.components, err = r.readComponents(root)
	}
	return r, err
}

// Decode reads a stored body. It may return an error for a body that an older version accepted.
func Decode(ch carillon.Channel, body string, flat bool) (*Request, error) {
	return Parse(ch, []byte(body), flat, time.Time{})
}

// checkFlat checks the rules of the flat form: no object or array, no contacts, no key that is both a value and the
// parent of others, at most one dot under contact. An object in place of a string that the API defines is left to the
// check of that field, whose error is more specific.
func checkFlat(root *jsonbody.Object, ch carillon.Channel) error {
	var dotted bool
	for key, v := range root.Members() {
		if !v.Present() {
			continue
		}
		name, ofContact := strings.CutPrefix(key, contactPrefix)
		switch {
		case key == contactsKey || strings.HasPrefix(key, contactsKey+"."):
			return carillon.Invalid(key, "contacts cannot be used with unflatten=true")
		case v.IsComposite() && !definedString(key, ch):
			return carillon.Invalid(key, "A flat body holds no object or array")
		case ofContact && strings.Contains(name, "."):
			return carillon.Invalid(key, "A contact's field is written with one dot")
		case key == contactKey:
			return v.Mismatch(key, "keys of the form contact.<field>", "contact.number")
		case key == content.ComponentsKey && ch == carillon.Messaging:
			return v.Mismatch(key, "keys of the form components_push.<component>", "components_push.body_text_0")
		}
		dotted = dotted || strings.Contains(key, ".")
	}
	if !dotted {
		return nil
	}
	return checkParents(root)
}

// definedString reports whether the API defines the key, in the flat form, as a string.
func definedString(key string, ch carillon.Channel) bool {
	switch key {
	case "recipient_id", "notification_type", "campaign_name", "name_event", scheduleKey, zoneKey:
		return true
	case "language_template", "name_template":
		return ch == carillon.Messaging
	case "agent_id":
		return ch == carillon.Voice
	case "contact.number", "contact.name", "contact.first_name", "contact.last_name", "contact.email":
		return true
	}
	return ch == carillon.Messaging && (strings.HasPrefix(key, content.ComponentsKey+".") || strings.HasPrefix(key, fallbackPrefix))
}

// checkParents finds a key that is both a value and the parent of others. Keys never contain U+0000. If the keys are
// sorted with U+0000 in place of the dots, a key is directly followed by its first child, so one pass suffices for any
// number of keys and dots.
func checkParents(root *jsonbody.Object) error {
	const dot = "\x00"
	keys := make([]string, 0, 32)
	for key, v := range root.Members() {
		if v.Present() {
			keys = append(keys, strings.ReplaceAll(key, ".", dot))
		}
	}
	slices.Sort(keys)
	for i, key := range keys[1:] {
		if parent := keys[i]; strings.HasPrefix(key, parent+dot) {
			return carillon.Invalid(strings.ReplaceAll(parent, dot, "."), "The key is both a value and the parent of others")
		}
	}
	return nil
}

// readContacts reads contact or contacts. The request must have exactly one of them.
func (r *Request) readContacts(root *jsonbody.Object) error {
	contact, contacts := root.Find(contactKey), root.Find(contactsKey)
	switch {
	case contacts.Present() && r.Channel == carillon.Voice:
		return carillon.Invalid(contactsKey, "A voice notification has one contact")
	case contacts.Present() && contact.Present():
		return carillon.Invalid(contactsKey, "contact and contacts must not both be present")
	case contacts.Present():
		return r.readList(contacts)
	case r.Flat:
		return r.readContact(under(root, contactPrefix), "")
	}
	o, present, err := contact.Object(contactKey)
	switch {
	case err != nil:
		return err
	case present:
		return r.readContact(under(o, ""), "")
	case r.Channel == carillon.Voice:
		return carillon.Missing(contactPrefix + "number")
	}
	return carillon.Missing(contactKey)
}

// under iterates over the values whose keys begin with a prefix, and removes the prefix from the keys.
func under(o *jsonbody.Object, prefix string) iter.Seq2[string, jsonbody.Value] {
	return func(yield func(string, jsonbody.Value) bool) {
		for key, v := range o.Members() {
			if name, ok := strings.CutPrefix(key, prefix); ok && v.Present() && !yield(name, v) {
				return
			}
		}
	}
}

func (r *Request) readList(list jsonbody.Value) error {
	elements, _, err := list.Array(contactsKey)
	if err != nil {
		return err
	}
	if err := r.begin(len(elements)); err != nil {
		return err
	}
	for i, e := range elements {
		index := strconv.Itoa(i)
		switch {
		case !e.Present():
			return carillon.Missing(contactsKey + "." + index)
		case !e.IsObject():
			return e.Mismatch(contactsKey+"."+index, "object", map[string]string{"number": exampleNumber})
		}
		o, _, _ := e.Object("") // IsObject was already checked
		if err := r.readContact(under(o, ""), index); err != nil {
			return err
		}
	}
	return nil
}

// begin starts a list of contacts and checks its length.
func (r *Request) begin(n int) error {
	if n == 0 || n > maxContacts {
		return carillon.Invalid(contactsKey, "A request has 1 to "+strconv.Itoa(maxContacts)+" contacts, this one "+strconv.Itoa(n))
	}
	r.Bulk, r.Contacts = true, make([]Contact, 0, n)
	r.room = make(fields, 0, usualFields*n)
	return nil
}

// readContact reads one contact. index is its index in contacts, empty for contact. Fields defined by the API are
// strings; custom fields may be any scalar.
func (r *Request) readContact(values iter.Seq2[string, jsonbody.Value], index string) error {
	if r.room == nil {
		r.room = make(fields, 0, usualFields)
	}
	begin := len(r.room)
	for name, v := range values {
		text, scalar := v.Scalar()
		switch {
		case !v.IsString() && definedString(contactPrefix+name, r.Channel):
			return v.Mismatch(contactField(index, name), "string", exampleOf(name))
		case !scalar:
			return carillon.Invalid(contactField(index, name), "A contact's field must not be an object or an array")
		}
		if err := r.checkField(name, text, index); err != nil {
			return err
		}
		r.room = append(r.room, field{name, text})
	}
	return r.addContact(r.room[begin:len(r.room):len(r.room)], index)
}

// checkField checks the length of a custom field of a contact.
func (r *Request) checkField(name, text, index string) error {
	if len(text) <= maxCustom || definedString(contactPrefix+name, r.Channel) {
		return nil
	}
	return checkLength(contactField(index, name), text, maxCustom)
}

// addContact checks a contact's number, or the id in its place, and adds the contact.
func (r *Request) addContact(all fields, index string) error {
	number, _ := all.find("number")
	id, _ := all.find("user_id")
	c := Contact{fields: all}
	if identity.ValidUser(id) {
		c.UserID = id
	}
	switch {
	case carillon.ValidNumber(number):
		c.Number = number
	case strings.TrimSpace(number) != "":
		return carillon.BadNumber(contactField(index, "number"), number)
	case strings.TrimSpace(id) == "":
		return carillon.Missing(contactField(index, "number"))
	case r.Channel == carillon.Voice:
		return carillon.InvalidValue(contactField(index, "user_id"), "A call needs contact.number: nobody can be called by an id", id)
	case c.UserID == "":
		return carillon.BadFormat(contactField(index, "user_id"), id, "The channel's id of a person: country, dot, letters and digits",
			exampleUser)
	}
	r.Contacts = append(r.Contacts, c)
	return nil
}

// ContactField returns the name of a field of contact i in an error.
func (r *Request) ContactField(i int, name string) string {
	if r.Bulk {
		return contactField(strconv.Itoa(i), name)
	}
	return contactField("", name)
}

func exampleOf(name string) string {
	switch name {
	case "number":
		return exampleNumber
	case "email":
		return "ana@example.com"
	default:
		return "Ana"
	}
}

// contactField returns the name of a contact's field in an error, which is the same for both forms of the body.
func contactField(index, name string) string {
	if index == "" {
		return contactPrefix + name
	}
	return contactsKey + "." + index + "." + name
}

// readLabels reads the fields other than contacts, schedule and components. If several fields are invalid, the error
// names the first in this order.
func (r *Request) readLabels(from texts) error {
	var class string
	for _, label := range []struct {
		key string
		to  *string
		max int
		of  carillon.Channel // the only channel that has the field; empty means both
	}{
		{"language_template", &r.Language, maxLabel, carillon.Messaging},
		{"name_template", &r.TemplateName, maxTemplateName, carillon.Messaging},
		{"recipient_id", &r.RecipientID, maxLabel, ""},
		{"agent_id", &r.AgentID, maxLabel, carillon.Voice},
		{"notification_type", &class, maxLabel, ""},
		{"campaign_name", &r.Campaign, maxLabel, ""},
		{"name_event", &r.Event, maxLabel, ""},
	} {
		if label.of != "" && label.of != r.Channel {
			continue
		}
		text, _, err := from.String(label.key, label.key)
		if err != nil {
			return err
		}
		if label.key != "name_event" && strings.TrimSpace(text) == "" {
			return carillon.Missing(label.key)
		}
		if err := checkLength(label.key, text, label.max); err != nil {
			return err
		}
		*label.to = text
		if label.key == "notification_type" {
			if err := r.readClass(label.key, text); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Request) readClass(field, text string) error {
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

func checkLength(field, text string, most int) error {
	if len(text) > most && utf8.RuneCountInString(text) > most {
		return carillon.InvalidValue(field, "At most "+strconv.Itoa(most)+" characters", text)
	}
	return nil
}

// The values of the field channel of a voice notification.
const (
	CallPhone    = "phone"
	CallWhatsApp = "whatsapp"
)

// readOver reads the channel of a call.
func (r *Request) readOver(root *jsonbody.Object) error {
	const key = "channel"
	text, present, err := root.String(key, key)
	if err == nil && present && text != CallPhone && text != CallWhatsApp {
		err = carillon.InvalidValue(key, "Must be one of "+CallPhone+", "+CallWhatsApp, text)
	}
	r.Over = text
	return err
}

// readShared reads the top-level values of the body, and checks the lengths of custom values. In the flat form a key
// with a dot is part of another value.
func (r *Request) readShared(root *jsonbody.Object) error {
	for key, v := range root.Members() {
		text, scalar := v.Scalar()
		if !scalar {
			continue
		}
		dotted := strings.Contains(key, ".")
		defined := (r.Flat || !dotted) && definedString(key, r.Channel) || r.Flat && strings.HasPrefix(key, contactPrefix)
		if !defined {
			if err := checkLength(key, text, maxCustom); err != nil {
				return err
			}
		}
		if !r.Flat || !dotted {
			r.shared = append(r.shared, field{key, text})
		}
	}
	return nil
}

// Schedule reads datetime_sending and timezone. It returns the instant in UTC, and whether one is given. The instant
// must be later than now, unless now is zero. The timezone is checked even if it is not used.
func Schedule(from texts, now time.Time) (at time.Time, given bool, err error) {
	text, given, err := from.String(scheduleKey, scheduleKey)
	if err != nil {
		return time.Time{}, false, err
	}
	zone, named, err := from.String(zoneKey, zoneKey)
	if err != nil {
		return time.Time{}, false, err
	}
	if !named {
		zone = "UTC"
	}
	if !given {
		_, err := schedule.Zone(zone)
		return time.Time{}, false, err
	}
	at, err = schedule.Parse(text, zone)
	if err != nil {
		return time.Time{}, false, err
	}
	if !now.IsZero() && !at.After(now) {
		return time.Time{}, false, pastSchedule(text, now)
	}
	return at, true, nil
}

// pastSchedule returns the 400 for a schedule that is not in the future.
func pastSchedule(provided string, now time.Time) error {
	return &carillon.Error{Code: carillon.ValidationFailed, Message: "Scheduled time must be in the future", Details: carillon.Details{
		{Key: "field", Value: scheduleKey}, {Key: "provided", Value: provided}, {Key: "current_time", Value: carillon.FormatTime(now)},
	}}
}

// readComponents reads components_push: an object or, in the flat form, the keys of the body that begin with its name.
func (r *Request) readComponents(root *jsonbody.Object) ([]content.Component, error) {
	if r.Flat {
		return content.ReadComponents(under(root, content.ComponentsKey+"."))
	}
	o, present, err := root.Find(content.ComponentsKey).Object(content.ComponentsKey)
	if err != nil || !present {
		return nil, err
	}
	return content.ReadComponents(under(o, ""))
}

// CheckAgainst reports whether the request fits the template. See content.Check for the errors.
func (r *Request) CheckAgainst(t *carillon.Template) error {
	src := r.filling()
	return content.Check(t, &src)
}

// Content returns the content for contact i. A request that no longer fits the template gets the same 422 as in
// CheckAgainst.
func (r *Request) Content(t *carillon.Template, i int) (provider.Content, error) {
	src := r.filling()
	return content.Fill(t, &src, i)
}

// Destination returns the address that the counted link of a button leads contact i to. ok is false if the request has
// no such address. The card is -1 for the template itself.
func (r *Request) Destination(i, card, button int) (address string, ok bool) {
	src := r.filling()
	return content.Destination(&src, i, card, button)
}

func (r *Request) filling() content.Source {
	return content.Source{Components: r.components, Recipients: len(r.Contacts), Bulk: r.Bulk, Lookup: r}
}

// Field returns a field of a contact.
func (r *Request) Field(recipient int, name string) (string, bool) {
	return r.Contacts[recipient].Field(name)
}

// Shared returns a top-level value of the body.
func (r *Request) Shared(name string) (string, bool) { return r.shared.find(name) }
