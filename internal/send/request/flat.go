package request

import (
	"slices"
	"strings"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/jsonbody"
)

// checkFlat checks the rules of the flat form: no object or array, no contacts, no key that is both a value and the
// parent of others, at most one dot under contact. An object where the interface defines a string is left to the check
// of that field, whose error is more specific.
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

// definedString reports whether the interface defines the key, in the flat form, as a string.
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
	return ch == carillon.Messaging && strings.HasPrefix(key, content.ComponentsKey+".")
}

// checkParents finds a key that is both a value and the parent of others. No key holds U+0000; sorted with it in place of the
// dots, the first child of a key directly follows it, so one pass is enough for any number of keys and dots.
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
