// Package person exports and erases all data stored about one person of a company. The person is given by a number, a
// channel's ID or a contact, and includes all linked identities (docs/reference/people.md). The rows and tables are in
// internal/store/people.
package person

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/jsonbody"
	"carillon/internal/base/share"
	"carillon/internal/store"
	"carillon/internal/store/people"
)

// People exports and erases personal data. Its methods are safe for concurrent use.
type People struct {
	store  *store.Store
	places *share.Share // limits exports and erasures, which are heavy reads
}

// New returns People for a store.
func New(s *store.Store, shares *share.Set) *People {
	return &People{s, shares.Of(share.Exports)}
}

// Read reads the person from a request: one of number, user_id and contact_id.
func Read(o *jsonbody.Object) (q people.Query, err error) {
	given := 0
	for _, field := range []struct {
		name string
		to   *string
	}{{"number", &q.Number}, {"user_id", &q.UserID}, {"contact_id", &q.ContactID}} {
		if *field.to, _, err = o.String(field.name, field.name); err != nil {
			return q, err
		}
		if *field.to != "" {
			given++
		}
	}
	switch {
	case given == 0:
		return q, carillon.Missing("number")
	case given > 1:
		return q, carillon.Invalid("number", "Give one of number, user_id and contact_id")
	case q.Number != "" && !carillon.ValidNumber(q.Number):
		return q, carillon.BadNumber("number", carillon.Shorten(q.Number))
	case q.UserID != "" && !identity.ValidUser(q.UserID):
		return q, carillon.Invalid("user_id", "Must be the channel's id of a person, such as US.13491208655302741918")
	case q.ContactID != "" && !carillon.ValidUUID(q.ContactID):
		return q, carillon.Invalid("contact_id", "Must be a UUID")
	}
	return q, nil
}

// Contact is one of the contacts of a person.
type Contact struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Email    string `json:"email"`
	Number   string `json:"number"`
	UserID   string `json:"user_id"`
	Username string `json:"username"`
}

// Found summarizes the data stored about a person.
type Found struct {
	Identities    []string  `json:"identities"` // all forms of their numbers, and the channel's IDs
	Contacts      []Contact `json:"contacts"`
	Conversations int       `json:"conversations"`
	Notifications int       `json:"notifications"`
	Calls         int       `json:"calls"` // made by the person
}

// Find summarizes the data stored about a person. Errors: not_found for an unknown contact.
func (x *People) Find(ctx context.Context, companyID string, q people.Query) (*Found, error) {
	p, err := x.person(ctx, companyID, q)
	if err != nil {
		return nil, err
	}
	f := &Found{
		Identities: append([]string{}, p.Keys...), Contacts: []Contact{},
		Conversations: len(p.Conversations), Notifications: len(p.Notifications), Calls: len(p.Calls),
	}
	for _, place := range people.Places() {
		if place.Table != "contact" {
			continue
		}
		if err := place.Rows(ctx, x.store.DB, p, func(row map[string]any) error {
			text := func(column string) string { s, _ := row[column].(string); return s }
			f.Contacts = append(f.Contacts, Contact{
				text("id"), text("name"), text("email"), text("number"), text("user_id"), text("username"),
			})
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (x *People) person(ctx context.Context, companyID string, q people.Query) (*people.Person, error) {
	p, err := x.store.Person(ctx, companyID, q)
	if err == nil && q.ContactID != "" && len(p.Contacts) == 0 {
		return nil, carillon.Absent("Contact")
	}
	return p, err
}

// Erasure summarizes the deleted data.
type Erasure struct {
	Hash string         `json:"hash"` // identifies the person in the change log
	Rows map[string]int `json:"rows"` // by table
}

// Erase deletes all data stored about a person. Errors: conflict while a message or a call is in progress, not_found,
// those of share.Share.Take.
func (x *People) Erase(ctx context.Context, by share.Holder, q people.Query) (*Erasure, error) {
	place, err := x.places.Take(by)
	if err != nil {
		return nil, err
	}
	defer place.Release()
	p, err := x.person(ctx, by.Company, q)
	if err != nil {
		return nil, err
	}
	// A partial erasure is worse than a late one, so it completes even if the client disconnects.
	e, err := x.store.Erase(context.WithoutCancel(ctx), p, time.Now())
	if err != nil {
		return nil, err
	}
	return &Erasure{e.Hash, e.Rows}, nil
}
