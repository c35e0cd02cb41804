package carillon

import (
	"strconv"
	"strings"
)

const (
	contactKey    = "contact"
	contactPrefix = contactKey + "."
	contactsKey   = "contacts"

	maxContacts = 100
)

// Contact is one recipient of a request. All but the number stays in the body until it is looked up.
type Contact struct {
	Number string

	doc  *document
	at   int  // the object that holds the fields
	flat bool // the object is the body's, and the fields are the keys that begin with `contact.`
}

// Field is the text of one field, custom ones included, numbers and booleans as the body writes them; false where
// there is none or null.
func (c Contact) Field(name string) (string, bool) {
	end := c.doc.after(c.at)
	for i := c.at + 1; i < end; i = c.doc.after(i) {
		if key, ok := c.key(i); ok && key == name {
			return c.doc.scalar(i)
		}
	}
	return "", false
}

// Fields are all fields of the contact as text, the number included.
func (c Contact) Fields() map[string]string {
	fields := make(map[string]string)
	end := c.doc.after(c.at)
	for i := c.at + 1; i < end; i = c.doc.after(i) {
		key, ok := c.key(i)
		if !ok {
			continue
		}
		if text, ok := c.doc.scalar(i); ok {
			fields[key] = text
		}
	}
	return fields
}

// key is the field's name; false for what is no field of the contact.
func (c Contact) key(i int) (string, bool) {
	if c.flat {
		return strings.CutPrefix(c.doc.key(i), contactPrefix)
	}
	return c.doc.key(i), true
}

// readContacts reads contact or contacts, whichever the request has.
func (r *Request) readContacts(root *Object, one, many Value) error {
	switch {
	case many.Present() && r.Channel == Voice:
		return Invalid(contactsKey, "A voice notification has one contact")
	case many.Present() && one.Present():
		return Invalid(contactsKey, "contact and contacts must not both be present")
	case many.Present():
		return r.readMany(many)
	case r.flat:
		return r.addContact(root, "")
	}
	o, present, err := one.Object(contactKey)
	switch {
	case err != nil:
		return err
	case present:
		return r.addContact(o, "")
	case r.Channel == Voice:
		return Missing(contactPrefix + "number")
	}
	return Missing(contactKey)
}

func (r *Request) readMany(many Value) error {
	elements, _, err := many.Array(contactsKey)
	if err != nil {
		return err
	}
	if len(elements) == 0 || len(elements) > maxContacts {
		return Invalid(contactsKey, "A request has 1 to "+strconv.Itoa(maxContacts)+" contacts, this one "+strconv.Itoa(len(elements)))
	}
	r.Bulk = true
	r.Contacts = make([]Contact, 0, len(elements))
	for i, e := range elements {
		if !e.Present() {
			return Missing(contactsKey + "." + strconv.Itoa(i))
		}
		if e.kind() != kindObject {
			return e.bad(contactsKey+"."+strconv.Itoa(i), "object", map[string]string{"number": exampleNumber})
		}
		if err := r.addContact(&Object{e.doc, e.at}, strconv.Itoa(i)); err != nil {
			return err
		}
	}
	return nil
}

const exampleNumber = "34600111222"

// addContact checks one contact's fields and adds it; index is its place in contacts, empty for contact.
func (r *Request) addContact(o *Object, index string) error {
	c := Contact{doc: o.doc, at: o.at, flat: r.flat}
	for i := o.first(); i < o.end(); i = o.doc.after(i) {
		v, name := Value{o.doc, i}, o.doc.key(i)
		if r.flat {
			var ok bool
			if name, ok = strings.CutPrefix(name, contactPrefix); !ok {
				continue
			}
		}
		if err := c.checkField(v, name, index); err != nil {
			return err
		}
	}
	switch field := "number"; {
	case blank(c.Number):
		return Missing(contactField(index, field))
	case !ValidNumber(c.Number):
		return BadNumber(contactField(index, field), shortened(c.Number))
	}
	r.Contacts = append(r.Contacts, c)
	return nil
}

// checkField holds the fields that the contract names to their type; all others are custom and scalar.
func (c *Contact) checkField(v Value, name, index string) error {
	if !v.Present() {
		return nil
	}
	k := v.kind()
	switch name {
	case "number", "name", "first_name", "last_name", "email":
		if k != kindString && k != kindEscaped {
			return v.bad(contactField(index, name), "string", exampleOf(name))
		}
		if name == "number" {
			c.Number = v.doc.text(v.at)
		}
	default:
		if k == kindObject || k == kindArray {
			return Invalid(contactField(index, name), "A contact's field must not be an object or an array")
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

// contactField is a contact's field in details.field, whatever the body's form.
func contactField(index, name string) string {
	if index == "" {
		return contactPrefix + shortened(name)
	}
	return contactsKey + "." + index + "." + shortened(name)
}
