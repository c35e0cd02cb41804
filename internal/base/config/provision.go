package config

import (
	"encoding/json"
	"time"

	"carillon"
	"carillon/internal/base/resource"
)

// Provision is a validated declarative set-up. Omitted fields keep their stored values. An object with an empty id
// is found by its natural key, or gets a new id when the set-up is applied.
type Provision struct {
	Companies []Company
}

// Company is one company with everything that belongs to it. Its natural key is its name. Company fields that the file
// omits keep their stored values (see Over).
type Company struct {
	ID           string
	Name         string
	At           Position
	Users        []User
	Keys         []Key
	Senders      []Sender
	Templates    []Template
	Resources    []Resource // sorted by kind, so that a resource comes after those that it references
	Suppressions []string

	changes []func(*carillon.Company) // of the company's own fields
}

// Over returns the stored company with the set-up's fields applied. For a new company, pass carillon.NewCompany.
func (c *Company) Over(now carillon.Company) carillon.Company {
	now.Name = c.Name
	for _, change := range c.changes {
		change(&now)
	}
	return now
}

// User is a member of the company. The natural key is the e-mail address in lower case. Empty fields keep their stored
// values.
type User struct {
	At       Position
	Email    string
	Name     string
	Role     string // empty: viewer, for a new member
	Password string // empty: a new user cannot sign in until a password is set
}

// Key is an access key. Its natural key is the key itself, or the label if the file has no key; then a key is
// generated once.
type Key struct {
	At        Position
	Key       string
	Label     string
	Scopes    []string
	ExpiresAt time.Time // zero value: never
	Revoked   bool
}

// Sender is a sender of the company. The natural key is its id.
type Sender struct {
	carillon.Sender
	At Position
}

// Template is a template, compiled. The natural key is its sender, name and language.
type Template struct {
	carillon.Template
	At       Position
	SenderID string // the sender's id or number
	SenderAt Position
}

// ProvisionOptions are the external inputs of a set-up.
type ProvisionOptions struct {
	// Env looks up `{env: NAME}`. If nil, it reads the process environment.
	Env func(name string) (string, bool)
	// File reads `{file: PATH}`. If nil, it is ReadSecretFile. Paths are relative to the folder of the set-up's file.
	File func(path string) (string, error)
	// CheckSettings validates a sender's settings, by provider. Its error is a *carillon.Error with the field
	// settings.<key>. Settings of a provider without an entry are not validated.
	CheckSettings map[string]func(json.RawMessage) error
	// Kinds are the resource kinds of a set-up. A kind only references kinds before it.
	Kinds []resource.Kind
}

// maxProvision bounds a set-up's file, in bytes.
const maxProvision = 4 << 20

// ReadProvision reads files that together form one set-up; a company may be spread over several. Errors in them are
// Problems.
func ReadProvision(files []string, o ProvisionOptions) (*Provision, error) {
	_, p, err := ReadBundle(files, o)
	return p, err
}

// ParseProvision reads a set-up from a text. Problems show name as its file.
func ParseProvision(name string, text []byte, o ProvisionOptions) (*Provision, error) {
	r := newReader(o)
	r.file(name, text)
	return r.end()
}
