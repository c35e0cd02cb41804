// Package identity models who a person is to a company: the numbers and ids that identify a contact, and which numbers
// are forms of the same line. No other package compares the number of a caller or sender with a dialed number. The
// text of a number is not enough, because a channel may report it in another form than it was given
// (docs/reference/contacts.md).
package identity

import (
	"regexp"

	"carillon"
)

// Key identifies a person: by a line, in any form of its number, or by a channel's id of the person. The zero value
// matches nobody. Keys are comparable. Only the database uses their texts.
type Key struct{ text string }

// Number returns the key of the line with a number.
func Number(number string) Key {
	if line, _ := forms(number); line != "" {
		return Key{line}
	}
	return Key{number}
}

// User returns the key of a channel's id of a person.
func User(id string) Key { return Key{id} }

// Numbers returns the keys of numbers, in the same order.
func Numbers(numbers ...string) []Key {
	keys := make([]Key, len(numbers))
	for i, number := range numbers {
		keys[i] = Number(number)
	}
	return keys
}

// Stored returns the key for a text that String returned.
func Stored(text string) Key { return Key{text} }

// String returns the key as the database stores it; for a line, the dialed form.
func (k Key) String() string { return k.text }

// IsZero reports whether the key matches nobody.
func (k Key) IsZero() bool { return k.text == "" }

// IsLine reports whether the key is that of a line.
func (k Key) IsLine() bool { return carillon.ValidNumber(k.text) }

// Other returns the other form of a line's number, or "" if there is none.
func (k Key) Other() string {
	_, other := forms(k.text)
	return other
}

// Forms returns the texts under which a line's numbers or an id may be stored.
func (k Key) Forms() []string {
	if k.text == "" {
		return nil
	}
	if other := k.Other(); other != "" {
		return []string{k.text, other}
	}
	return []string{k.text}
}

// Is reports whether address is a number of the line, or the person's id.
func (k Key) Is(address string) bool {
	return k.text != "" && (k.text == address || Number(address) == k)
}

// userForm matches the ids by which WhatsApp identifies people: the country, and up to 128 letters and digits.
var userForm = regexp.MustCompile(`^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$`)

// ValidUser reports whether s has the form of a channel's id of a person.
func ValidUser(s string) bool { return userForm.MatchString(s) }

// Of returns the key of an address: of a line if it is a number, else of an id.
func Of(address string) Key {
	if carillon.ValidNumber(address) {
		return Number(address)
	}
	return User(address)
}

// Split returns an address as a number or as an id; the other is empty.
func Split(address string) (number, userID string) {
	if ValidUser(address) {
		return "", address
	}
	return address, ""
}

// Kind is the source of an identity.
type Kind string

// The kinds of identities. Within a company, each kind, scope and key identifies one contact.
const (
	// Line is a number that the channel vouches for, or that the company called.
	Line Kind = "line"
	// Caller is a number from which somebody called. A caller can present any number.
	Caller Kind = "caller"
	// Person is a channel's id of a person. Its scope is the channel account that issued the id.
	Person Kind = "person"
	// Claimed is a number that a teammate entered. Its scope is the contact, because several contacts may claim it. It
	// does not identify an incoming sender, but opt-outs of its owner apply to it.
	Claimed Kind = "claimed"
)

// Identity is one of the ways in which a contact is known.
type Identity struct {
	Kind  Kind
	Scope string
	Key   Key
}

// Has reports whether a number belongs to one of the lines.
func Has(lines []Key, number string) bool {
	for _, k := range lines {
		if k.Is(number) {
			return true
		}
	}
	return false
}
