package config

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"carillon"
	"carillon/internal/resource"
)

// Provision is a declarative set-up, read and checked: what there shall be. What it leaves out stays as it is. Ids may
// be empty: whoever applies it finds the thing by its natural key, or makes an id and keeps it.
type Provision struct {
	Companies []Company
}

// Company is one company and all that belongs to it. Its natural key, without an id, is its name. Of the company itself
// only what the file says is meant: Over puts that over what there is.
type Company struct {
	ID           string
	Name         string
	At           Position
	Status       string // active or suspended; empty: as it is
	Strict       *bool
	Hours        *carillon.CallingHours
	Redial       *carillon.Redial
	Limits       Limits
	Retention    *int // days; nil: as it is
	Users        []User
	Keys         []Key
	Senders      []Sender
	Templates    []Template
	Resources    []Resource // in the order of their kinds: what refers to another comes after it
	Suppressions []string
}

// Limits are those that the file names; nil: as it is.
type Limits struct {
	SendsPerMinute, TemplateListsPerMinute, DailyRecipients, TemplatesPerDay, WidgetCallsPerMinute *int
}

// Over is the company as it shall be, where it is so now. A new one begins as carillon.NewCompany.
func (c *Company) Over(now carillon.Company) carillon.Company {
	now.Name = c.Name
	if c.Status != "" {
		now.Suspended = c.Status == "suspended"
	}
	if c.Strict != nil {
		now.StrictRecipientID = *c.Strict
	}
	if c.Hours != nil {
		now.CallingHours = c.Hours
	}
	if c.Redial != nil {
		now.Redial = *c.Redial
	}
	for _, l := range []struct {
		given *int
		to    *int
	}{
		{c.Retention, &now.RetentionDays},
		{c.Limits.SendsPerMinute, &now.Limits.SendsPerMinute},
		{c.Limits.TemplateListsPerMinute, &now.Limits.TemplateListsPerMinute},
		{c.Limits.DailyRecipients, &now.Limits.DailyRecipients},
		{c.Limits.TemplatesPerDay, &now.Limits.TemplatesPerDay},
		{c.Limits.WidgetCallsPerMinute, &now.Limits.WidgetCallsPerMinute},
	} {
		if l.given != nil {
			*l.to = *l.given
		}
	}
	return now
}

// User is a member of the company. The natural key is the e-mail address, in lower case. What is empty stays as it is.
type User struct {
	At       Position
	Email    string
	Name     string
	Role     string // a new member's is viewer
	Password string // a new user without one cannot sign in before it is set
}

// Key is an access key. The natural key is the key itself, or the label when the file leaves the key out: then one is
// made once and kept.
type Key struct {
	At        Position
	Key       string
	Label     string
	Scopes    []string
	ExpiresAt time.Time // zero: never
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

// ProvisionOptions are what reading a set-up may reach outside.
type ProvisionOptions struct {
	// Env looks up `{env: NAME}`; nil: the process's environment.
	Env func(name string) (string, bool)
	// File reads `{file: PATH}`; nil: ReadSecretFile. Relative paths begin at the folder of the set-up's file.
	File func(path string) (string, error)
	// CheckSettings checks a sender's settings by provider, and gives a *carillon.Error whose field is settings.<key>.
	// The settings of a provider without an entry are kept unchecked.
	CheckSettings map[string]func(json.RawMessage) error
	// Kinds are the resources that a set-up may hold, in an order in which each refers only to kinds before its own.
	Kinds []resource.Kind
}

// maxProvision bounds a set-up's file.
const maxProvision = 4 << 20

// ReadProvision reads files that together are one set-up: a company may be spread over several. The error, when
// something in them is wrong, is a Problems.
func ReadProvision(files []string, o ProvisionOptions) (*Provision, error) {
	r := newReader(o)
	for _, name := range files {
		text, err := readBounded(name)
		if err != nil {
			return nil, err
		}
		r.file(name, text)
	}
	return r.end()
}

// ParseProvision is ReadProvision for a text that is already there; name stands in its problems.
func ParseProvision(name string, text []byte, o ProvisionOptions) (*Provision, error) {
	r := newReader(o)
	r.file(name, text)
	return r.end()
}

func readBounded(name string) ([]byte, error) {
	f, err := os.Open(name) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("read the set-up: %w", err)
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxProvision+1))
	if err != nil {
		return nil, fmt.Errorf("read the set-up %s: %w", name, err)
	}
	return text, nil
}
