package chats

import (
	"context"
	"slices"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/store/db"
)

// Report is a channel's report of the recipient of a message.
type Report struct {
	Number string             // number that it was sent to
	As     string             // the channel's own form of the number; empty if not reported
	Person *identity.Identity // the channel's id of the person; nil if not reported
}

// identities returns the identities that a report assigns to one person.
func (r *Report) identities() []identity.Identity {
	all := []identity.Identity{{Kind: identity.Line, Key: identity.Number(r.Number)}}
	if r.Person != nil {
		all = append(all, *r.Person)
	}
	return all
}

// as returns the channel's form of the number, if it is a different line.
func (r *Report) as() string {
	if identity.Number(r.Number).Is(r.As) {
		return ""
	}
	return r.As
}

// open returns a report as an open of the contact.
func (r *Report) open(companyID string, now time.Time) *Open {
	o := &Open{
		Contact: Contact{ID: carillon.NewID(now), CompanyID: companyID, Number: r.Number}, Known: r.identities(), Shared: r.as(), Now: now,
	}
	if r.Person != nil {
		o.Contact.UserID = r.Person.Key.String()
	}
	return o
}

// Renew replaces a contact's former identities by its new ones, which it has had since an instant. Nothing is stored for
// unknown people.
func (s *Contacts) Renew(ctx context.Context, companyID string, known, became []identity.Identity, at, now time.Time) error {
	o := &Open{Contact: Contact{ID: carillon.NewID(now), CompanyID: companyID}, Known: known, Became: became, At: at, Now: now}
	if person, _ := split(became); person != nil {
		o.Contact.UserID = person.Key.String()
	}
	return db.Wrap(s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := lockIdentities(ctx, tx, []*Open{o}); err != nil {
			return err
		}
		id, claims, err := s.chats.claim(ctx, tx, o)
		if err != nil || id == "" {
			return err
		}
		if _, err := touchContact(ctx, tx, id, o.Contact, now); err != nil {
			return err
		}
		if err := claims.give(ctx, id, became...); err != nil {
			return err
		}
		return claims.remember(ctx, id, o)
	}), "renew a contact")
}

// Learn stores a channel's reports of people: the other form of a number, beyond the known ones of its country, and
// the link between a number and an id. For people not yet known it stores only the form, because their messages use
// it. A number that seems to have changed hands stays with its contact: reports arrive late and out of order.
func (s *Contacts) Learn(ctx context.Context, companyID string, reports []Report, now time.Time) error {
	opens := make([]*Open, len(reports))
	var all []identity.Identity
	for i := range reports {
		opens[i] = reports[i].open(companyID, now)
		all = slices.Concat(all, opens[i].Known, opens[i].shared())
	}
	known, err := owners(ctx, s.d, s.d, companyID, all)
	if err != nil {
		return err
	}
	formers, err := formersOf(ctx, s.d, s.d, companyID, all)
	if err != nil {
		return err
	}
	for i, o := range opens {
		if slices.ContainsFunc(o.Known, func(x identity.Identity) bool { return known[x] == "" && formers[x].contactID != "" }) {
			continue // a late report of a message to an address that has been given up
		}
		of := map[string]bool{} // contact ids; empty for none
		for _, x := range slices.Concat(o.Known, o.shared()) {
			of[known[x]] = true
		}
		if o.Shared == "" && (reports[i].Person == nil || len(of) == 1 && of[""]) || len(of) == 1 && !of[""] {
			continue
		}
		if err := s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error { return s.learn(ctx, tx, o) }); err != nil {
			return db.Wrap(err, "write what a channel reports of a person")
		}
	}
	return nil
}

func (s *Contacts) learn(ctx context.Context, tx *db.Tx, o *Open) error {
	if err := lockIdentities(ctx, tx, []*Open{o}); err != nil {
		return err
	}
	if person, line := split(o.Known); person != nil {
		c := &claimer{s: s.chats, tx: tx, companyID: o.Contact.CompanyID}
		var err error
		if c.owned, err = owners(ctx, tx, s.d, c.companyID, o.Known); err != nil {
			return err
		}
		if moved, err := c.moved(ctx, person, line); moved || err != nil {
			return err
		}
	}
	_, err := s.chats.contactOf(ctx, tx, o)
	return err
}
