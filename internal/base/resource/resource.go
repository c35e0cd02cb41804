// Package resource is what agents, knowledge, flows, widgets and webhooks have in common: typed things of a company that
// the declarative set-up and the panel put in the same way. The areas own the types and their validation; the reader of
// the set-up, the store and the panel know them only as a Resource of a Kind.
package resource

import (
	"cmp"
	"strings"
)

// Kind describes one kind of resources.
type Kind struct {
	Name   string // as it is stored and reported: agent
	Plural string // its list in the set-up and its path in the panel: agents
	Phrase string // as a message names one: an agent
	New    func() Resource

	// Local marks ids that are names within the company; others are unique over all companies.
	Local bool
	// NewSecret makes the secret that a new resource lacks; nil: it stays without one.
	NewSecret func() string
	// SearchVersion rises with every change of what Passages returns for the same resource, which is stored again then; 0: the
	// kind is not Searchable.
	SearchVersion int
	// NewHead returns an empty head, which JSON is read into; nil: the kind is not Headed.
	NewHead func() any
	// MaxBytes bounds the stored JSON of one resource, and MaxAll that of all resources of a company; 0: DefaultBytes and DefaultAll.
	MaxBytes, MaxAll int
	// Most bounds the number of resources of a company; 0: DefaultLimit.
	Most int
	// Mention is the prefix of an id that is mentioned within a text of another resource; empty: references are whole JSON strings.
	Mention string
}

// The bounds of most kinds: bytes of stored JSON of one resource and of all resources of a company, and their number.
const (
	DefaultBytes = 256 << 10
	DefaultAll   = 16 << 20
	DefaultLimit = 10_000
)

// Bounds returns the limits in bytes on one resource of the kind and on all of a company.
func (k Kind) Bounds() (one, all int) {
	return cmp.Or(k.MaxBytes, DefaultBytes), cmp.Or(k.MaxAll, DefaultAll)
}

// Title is the kind's name as a sentence begins with it.
func (k Kind) Title() string { return strings.ToUpper(k.Name[:1]) + k.Name[1:] }

// Resource is a typed thing of a company, a pointer to a struct with JSON tags. A string field tagged `secret:"true"`
// may be written as {env: NAME} or {file: PATH} in the set-up.
type Resource interface {
	// Key returns where the id and the name stand. The id may be empty until the resource is stored; the name is unique
	// among the company's resources of the kind. Both may be the same field.
	Key() (id, name *string)
	// Validate fills in the defaults and checks the rest. The error joins one *carillon.Error of code validation_failed
	// for each fault, whose field is a path such as steps.2.choices.
	Validate() error
}

// Referrer is a resource that refers to others of its company.
type Referrer interface {
	References() []Reference
}

// Reference is a field that names another resource by id or name. Storing the resource replaces the name by the id.
type Reference struct {
	Field string // its path
	Kind  string
	To    *string // empty: no reference
	// Check returns why it may not refer to the resource of this document, empty where it may; nil: it may refer to each.
	Check func(doc []byte) (reason string)
}

// Headed is a resource with a short summary, stored next to the document so that lists need not read all of it.
type Headed interface {
	// Head returns the summary, of the type of Kind.NewHead.
	Head() any
}

// Searchable is a resource whose texts are searched. Its passages are stored once it is stored.
type Searchable interface {
	// Passages are its texts in order, each with the terms that find it.
	Passages() []Passage
}

// Passage is a part of a text, as long as an answer may be.
type Passage struct {
	Article  int // the text that it is a part of, counted from 0 within the resource
	Title    string
	Text     string
	URL      string
	Language string // BCP 47; "": unknown
	Terms    []Term // each once
}

// Term is a word of a passage in the form in which it is searched.
type Term struct {
	Text  string
	Title bool // it stands in the title
}
