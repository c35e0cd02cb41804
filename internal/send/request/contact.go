package request

import (
	"strconv"
	"strings"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/jsonbody"
)

const (
	contactKey    = "contact"
	contactPrefix = contactKey + "."
	contactsKey   = "contacts"

	maxContacts = content.MaxRecipients

	exampleNumber = "34600111222"
)

// Contact is one recipient of a request. Everything but the number stays in the body until it is read.
type Contact struct {
	Number string

	object jsonbody.Object // has the fields
	flat   bool            // the object is the body, and the fields are the keys that begin with `contact.`
}

// Field returns the text of one field, custom ones included; numbers and booleans as the body spells them. It is false
// for a field that is absent or null.
func (c *Contact) Field(name string) (string, bool) {
	for key, v := range c.object.Members() {
		if key, ok := c.fieldName(key); ok && key == name {
			return v.Scalar()
		}
	}
	return "", false
}

// Fields returns all fields as text, including the number.
func (c *Contact) Fields() map[string]string {
	fields := make(map[string]string)
	for key, v := range c.object.Members() {
		key, ok := c.fieldName(key)
		if !ok {
			continue
		}
		if text, ok := v.Scalar(); ok {
			fields[key] = text
		}
	}
	return fields
}

// fieldName returns the name of the field at a key; false if the key is not a field of the contact.
func (c *Contact) fieldName(key string) (string, bool) {
	if c.flat {
		return strings.CutPrefix(key, contactPrefix)
	}
	return key, true
}

// readContacts reads contact or contacts, whichever the request has.
func (r *Request) readContacts() error {
	contact, contacts := r.root.Find(contactKey), r.root.Find(contactsKey)
	switch {
	case contacts.Present() && r.Channel == carillon.Voice:
		return carillon.Invalid(contactsKey, "A voice notification has one contact")
	case contacts.Present() && contact.Present():
		return carillon.Invalid(contactsKey, "contact and contacts must not both be present")
	case contacts.Present():
		return r.readList(contacts)
	case r.flat:
		return r.addContact(r.root, "")
	}
	o, present, err := contact.Object(contactKey)
	switch {
	case err != nil:
		return err
	case present:
		return r.addContact(o, "")
	case r.Channel == carillon.Voice:
		return carillon.Missing(contactPrefix + "number")
	}
	return carillon.Missing(contactKey)
}

func (r *Request) readList(list jsonbody.Value) error {
	elements, _, err := list.Array(contactsKey)
	if err != nil {
		return err
	}
	if len(elements) == 0 || len(elements) > maxContacts {
		return carillon.Invalid(contactsKey, "A request has 1 to "+strconv.Itoa(maxContacts)+" contacts, this one "+strconv.Itoa(len(elements)))
	}
	r.Bulk = true
	r.Contacts = make([]Contact, 0, len(elements))
	for i, e := range elements {
		index := strconv.Itoa(i)
		switch {
		case !e.Present():
			return carillon.Missing(contactsKey + "." + index)
		case !e.IsObject():
			return e.Mismatch(contactsKey+"."+index, "object", map[string]string{"number": exampleNumber})
		}
		o, _, _ := e.Object("") // IsObject was just checked
		if err := r.addContact(o, index); err != nil {
			return err
		}
	}
	return nil
}

// addContact checks the fields of one contact and adds it; index is its place in contacts, empty for contact.
func (r *Request) addContact(o *jsonbody.Object, index string) error {
	c := Contact{object: *o, flat: r.flat}
	for key, v := range o.Members() {
		if name, ok := c.fieldName(key); ok && v.Present() {
			if err := c.readField(v, name, index); err != nil {
				return err
			}
		}
	}
	switch field := "number"; {
	case strings.TrimSpace(c.Number) == "":
		return carillon.Missing(contactField(index, field))
	case !carillon.ValidNumber(c.Number):
		return carillon.BadNumber(contactField(index, field), c.Number)
	}
	r.Contacts = append(r.Contacts, c)
	return nil
}

// readField checks the type of one field: a string for those the interface defines, any scalar for custom ones.
func (c *Contact) readField(v jsonbody.Value, name, index string) error {
	switch name {
	case "number", "name", "first_name", "last_name", "email":
		if !v.IsString() {
			return v.Mismatch(contactField(index, name), "string", exampleOf(name))
		}
		if name == "number" {
			c.Number, _ = v.Scalar()
		}
	default:
		if v.IsComposite() {
			return carillon.Invalid(contactField(index, name), "A contact's field must not be an object or an array")
		}
		if text, ok := v.Scalar(); ok {
			return checkLength(contactField(index, name), text, maxCustom)
		}
	}
	return nil
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

// contactField is the name of a contact's field in an error, the same for both forms of the body.
func contactField(index, name string) string {
	if index == "" {
		return contactPrefix + name
	}
	return contactsKey + "." + index + "." + name
}
