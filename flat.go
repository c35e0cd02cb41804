package carillon

import (
	"slices"
	"strings"
)

// checkFlat holds a body to the flat form (decisions.md, section 3): no object or array, no contacts, no key that is
// both a value and the parent of others, one dot at most under contact. A field that the contract names is left to
// the check of its type, which tells more.
func checkFlat(root *Object, ch Channel) error {
	var dotted bool
	for i := root.first(); i < root.end(); i = root.doc.after(i) {
		v, key := Value{root.doc, i}, root.doc.key(i)
		if !v.Present() {
			continue
		}
		composite := v.kind() == kindObject || v.kind() == kindArray
		name, ofContact := strings.CutPrefix(key, contactPrefix)
		switch {
		case key == contactsKey || strings.HasPrefix(key, contactsKey+"."):
			return Invalid(shortened(key), "contacts cannot be used with unflatten=true")
		case composite && !namedScalar(key, ch):
			return Invalid(shortened(key), "A flat body holds no object or array")
		case ofContact && strings.Contains(name, "."):
			return Invalid(shortened(key), "A contact's field is written with one dot")
		case key == contactKey:
			return v.bad(key, "keys of the form contact.<field>", "contact.number")
		case key == componentsKey && ch == Messaging:
			return v.bad(key, "keys of the form components_push.<component>", "components_push.body_text_0")
		}
		dotted = dotted || strings.Contains(key, ".")
	}
	if !dotted {
		return nil
	}
	return checkParents(root)
}

// namedScalar tells whether the contract gives the key, in the flat form, the type string.
func namedScalar(key string, ch Channel) bool {
	switch key {
	case "recipient_id", "notification_type", "campaign_name", "name_event", "datetime_sending", "timezone":
		return true
	case "language_template", "name_template":
		return ch == Messaging
	case "agent_id":
		return ch == Voice
	case "contact.number", "contact.name", "contact.first_name", "contact.last_name", "contact.email":
		return true
	}
	return ch == Messaging && strings.HasPrefix(key, componentsPrefix)
}

// checkParents finds a key that is both a value and the parent of others. In the order in which a dot comes before
// everything else the first child of a key stands right behind it, however many keys and dots a body has.
func checkParents(root *Object) error {
	keys := make([]string, 0, 32)
	for i := root.first(); i < root.end(); i = root.doc.after(i) {
		if (Value{root.doc, i}).Present() {
			keys = append(keys, root.doc.key(i))
		}
	}
	slices.SortFunc(keys, compareDotted)
	for i := 1; i < len(keys); i++ {
		parent, key := keys[i-1], keys[i]
		if len(key) > len(parent) && key[len(parent)] == '.' && strings.HasPrefix(key, parent) {
			return Invalid(shortened(parent), "The key is both a value and the parent of others")
		}
	}
	return nil
}

func compareDotted(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		switch {
		case a[i] == b[i]:
		case a[i] == '.':
			return -1
		case b[i] == '.':
			return 1
		default:
			return int(a[i]) - int(b[i])
		}
	}
	return len(a) - len(b)
}
