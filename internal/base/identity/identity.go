// Package identity knows who a person is to a company: by which numbers and ids a contact is known, and which numbers are forms of one
// line. Nothing else in the program compares the number of somebody who writes or calls with one that was dialled: the text of a number
// says too little, since a channel may report another form of it than the one that it was given (docs/reference/contacts.md).
package identity

import (
	"regexp"

	"carillon"
)

// Key matches a person: it is a line, in any form of its number, or the id by which a channel names a person. The zero value matches
// nobody. Keys are comparable; their texts are for the database alone.
type Key struct{ text string }

// Number is the key of the line with a number.
func Number(number string) Key {
	if line, _ := forms(number); line != "" {
		return Key{line}
	}
	return Key{number}
}

// User is the key of a channel's id of a person.
func User(id string) Key { return Key{id} }

// Numbers are the keys of numbers, in their order.
func Numbers(numbers ...string) []Key {
	keys := make([]Key, len(numbers))
	for i, number := range numbers {
		keys[i] = Number(number)
	}
	return keys
}

// Stored is the key with a text that String returned.
func Stored(text string) Key { return Key{text} }

// String is the key as the database has it: of a line the form that is dialled.
func (k Key) String() string { return k.text }

// IsZero reports whether the key matches nobody.
func (k Key) IsZero() bool { return k.text == "" }

// IsLine reports whether the key is a line's.
func (k Key) IsLine() bool { return carillon.ValidNumber(k.text) }

// Other is the form of a line's number that its text is not; "": there is none.
func (k Key) Other() string {
	_, other := forms(k.text)
	return other
}

// Forms are the texts under which numbers of a line, or an id, may be stored.
func (k Key) Forms() []string {
	if k.text == "" {
		return nil
	}
	if other := k.Other(); other != "" {
		return []string{k.text, other}
	}
	return []string{k.text}
}

// Is reports whether a number is one of the line, or an id the person's.
func (k Key) Is(address string) bool {
	return k.text != "" && (k.text == address || Number(address) == k)
}

// userForm is the form of the ids by which WhatsApp names people: the country, and up to 128 letters and digits.
var userForm = regexp.MustCompile(`^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$`)

// ValidUser reports whether s has the form of a channel's id of a person.
func ValidUser(s string) bool { return userForm.MatchString(s) }

// Of is the key of an address: of a line where it is a number, else of an id.
func Of(address string) Key {
	if carillon.ValidNumber(address) {
		return Number(address)
	}
	return User(address)
}

// Kind is the source of an identity.
type Kind string

// The kinds of identities. Of one kind, scope and key a company has one contact.
const (
	// Line is a number that the channel vouches for, or that the company called.
	Line Kind = "line"
	// Caller is a number with which somebody called: anybody can call with any number.
	Caller Kind = "caller"
	// Person is a channel's id of a person; its scope is the account of the channel whose id it is.
	Person Kind = "person"
	// Claimed is a number that a teammate noted; its scope is the contact, since any number of contacts may have it. Nobody is found by
	// it, but what its owner does not want is not sent to it.
	Claimed Kind = "claimed"
)

// Identity is one of the ways in which a contact is known.
type Identity struct {
	Kind  Kind
	Scope string
	Key   Key
}

// Has reports whether a number is one of some lines.
func Has(lines []Key, number string) bool {
	for _, k := range lines {
		if k.Is(number) {
			return true
		}
	}
	return false
}
