// Package resource defines the common interface of agents, knowledge, flows, widgets and webhooks: typed objects of a
// company that the declarative set-up and the panel store in the same way. Other packages own the types and their
// validation. The set-up reader, the store and the panel know them only as a Resource of a Kind.
package resource

import (
	"cmp"
	"strings"
)

// Kind describes a kind of resources.
type Kind struct {
	Name   string // stored and reported name: agent
	Plural string // list in the set-up and path in the panel: agents
	Phrase string // name in messages: an agent
	New    func() Resource

	// Local means that ids are names within the company. Otherwise they are unique across all companies.
	Local bool
	// NewSecret generates the secret that a new resource lacks. If nil, it has none.
	NewSecret func() string
	// SearchVersion is incremented whenever Passages returns something else for the same resource; the passages are
	// then stored again. 0 if the kind is not Searchable.
	SearchVersion int
	// NewHead returns an empty head for decoding JSON. It is nil if the kind is not Headed.
	NewHead func() any
	// MaxBytes bounds the stored JSON of one resource, MaxAll that of all resources of a company. 0: DefaultBytes and
	// DefaultAll.
	MaxBytes, MaxAll int
	// Most bounds the number of resources per company. 0: DefaultLimit.
	Most int
	// Mention is the prefix of an id that is referenced within a text of another resource. Empty: references are
	// complete JSON strings.
	Mention string
}

// The default bounds of a kind: bytes of stored JSON per resource and per company, and number of resources.
const (
	DefaultBytes = 256 << 10
	DefaultAll   = 16 << 20
	DefaultLimit = 10_000
)

// Bounds returns the limits in bytes for one resource of the kind and for all of a company.
func (k Kind) Bounds() (one, all int) {
	return cmp.Or(k.MaxBytes, DefaultBytes), cmp.Or(k.MaxAll, DefaultAll)
}

// Title returns the kind's name with a capital letter.
func (k Kind) Title() string { return strings.ToUpper(k.Name[:1]) + k.Name[1:] }

// Resource is a typed object of a company: a pointer to a struct with JSON tags. A string field tagged `secret:"true"`
// may be written as {env: NAME} or {file: PATH} in the set-up.
type Resource interface {
	// Key returns pointers to the id and the name. The id may be empty until the resource is stored. The name is
	// unique among the company's resources of the kind. Both may be the same field.
	Key() (id, name *string)
	// Validate sets the defaults and checks the other fields. The error joins one *carillon.Error of code
	// validation_failed for each fault, whose field is a path such as steps.2.choices.
	Validate() error
}

// Referrer is a resource that refers to other resources of its company.
type Referrer interface {
	References() []Reference
}

// Reference is a field that names another resource by id or name. Storing the resource replaces a name by the id.
type Reference struct {
	Field string // path of the field
	Kind  string
	To    *string // empty: no reference
	// Check returns the reason why the field must not refer to the resource with this document, or "". nil allows
	// every resource.
	Check func(doc []byte) (reason string)
}

// Keeper is a resource with parts that the program adds. A set-up file does not have them, and applying it again must
// not remove them.
type Keeper interface {
	// Keep takes over such parts of the stored resource.
	Keep(stored Resource)
}

// Headed is a resource with a short summary, which is stored next to the document so that lists need not read all of
// it.
type Headed interface {
	// Head returns the summary, which has the type of Kind.NewHead.
	Head() any
}

// Searchable is a resource whose texts are searched. Its passages are stored together with it.
type Searchable interface {
	// Passages returns its texts in order, each with the terms by which it is found.
	Passages() []Passage
	// SearchSynonyms returns groups of words with the same meaning, one group per line.
	SearchSynonyms() string
}

// Embedded is a resource whose passages may have vectors of an embeddings server.
type Embedded interface {
	// EmbeddedBy returns the server; one without a model means none.
	EmbeddedBy() Embedder
}

// Embedder is a server that makes vectors.
type Embedder struct {
	BaseURL string
	Model   string
	// QuestionPrefix and PassagePrefix precede the texts that it gets.
	QuestionPrefix, PassagePrefix string
	// Settings is a digest of all that determines the vectors of passages.
	Settings string
}

// Passage is a part of a text, short enough for an answer.
type Passage struct {
	Article  int // index of the text within the resource
	Title    string
	Text     string
	URL      string
	Language string // BCP 47; empty if unknown
	// Questions are other wordings of the question that it answers, one per line.
	Questions string
	Terms     []Term // without duplicates
	Hash      string // digest of the text that an embeddings server gets
}

// Term is a word of a passage in its searchable form.
type Term struct {
	Text  string
	Title bool // it occurs in the title
}
