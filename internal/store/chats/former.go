package chats

import (
	"cmp"
	"context"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/store/db"
)

// Address is the number and the channel's id that messages to a person are sent to. Either may be empty.
type Address struct{ Number, UserID string }

// former is an identity that a contact had until an instant.
type former struct {
	contactID string
	until     time.Time
}

// Present returns the present address of a person who sent a message at an instant from a former number or id; nil if
// they are not former. A number is the former owner's only before the change, because it may be somebody else's by now.
func (s *Contacts) Present(ctx context.Context, companyID string, known []identity.Identity, at time.Time) (*Address, error) {
	owned, err := owners(ctx, s.d, s.d, companyID, known)
	if err != nil {
		return nil, err
	}
	return present(ctx, s.d, s.d, companyID, known, owned, at)
}

func present(
	ctx context.Context, q db.Querier, d *db.DB, companyID string, known []identity.Identity, owned map[identity.Identity]string,
	at time.Time,
) (*Address, error) {
	formers, err := formersOf(ctx, q, d, companyID, known)
	if err != nil || len(formers) == 0 {
		return nil, err
	}
	person, line := split(known)
	contactID, scope := "", ""
	if line != nil && !at.IsZero() && at.Before(formers[*line].until) {
		contactID = formers[*line].contactID
	}
	if person != nil {
		scope = person.Scope
		switch owner := owned[*person]; {
		case owner == "":
			contactID = cmp.Or(formers[*person].contactID, contactID)
		case owner != contactID: // the id is present, and the number was never the owner's
			contactID = ""
		}
	}
	if contactID == "" {
		return nil, nil
	}
	return addressOf(ctx, q, companyID, contactID, scope)
}

// formersOf returns those of identities that are former.
func formersOf(
	ctx context.Context, q db.Querier, d *db.DB, companyID string, all []identity.Identity,
) (map[identity.Identity]former, error) {
	found := map[identity.Identity]former{}
	if len(all) == 0 {
		return found, nil
	}
	values := make([]string, len(all))
	for i, x := range all {
		values[i] = x.Key.String()
	}
	var until int64
	rows, err := db.Collect(ctx, q, "former identities", func(row db.Scan) (f struct {
		identity.Identity
		former
	}, err error,
	) {
		var value string
		err = row(&f.contactID, &f.Kind, &f.Scope, &value, &until)
		f.Key, f.until = identity.Stored(value), db.Instant(until)
		return f, err
	}, "SELECT contact_id, kind, scope, value, until_at FROM contact_former WHERE company_id = $1 AND value "+d.In(2), companyID,
		d.List(values))
	for _, f := range rows {
		found[f.Identity] = f.former
	}
	return found, err
}

// addressOf returns the number and the id of a contact in a scope; nil if it has neither.
func addressOf(ctx context.Context, q db.Querier, companyID, contactID, scope string) (*Address, error) {
	all, err := identitiesOf(ctx, q, companyID, contactID)
	if err != nil {
		return nil, err
	}
	var number string
	if err := q.Row(ctx, []any{&number}, "SELECT number FROM contact WHERE id = $1 AND company_id = $2", contactID, companyID); err != nil {
		return nil, db.Wrap(db.Ignore(err), "read contact")
	}
	a := &Address{}
	for _, x := range all {
		switch {
		case x.Kind == identity.Line && (a.Number == "" || x.Key.Is(number)):
			a.Number = x.Key.String()
			if x.Key.Is(number) {
				a.Number = number // as it is dialed
			}
		case x.Kind == identity.Person && x.Scope == scope:
			a.UserID = x.Key.String()
		}
	}
	if a.Number == "" && a.UserID == "" {
		return nil, nil
	}
	return a, nil
}

// moved replaces former identities of an open that is not a message by the present ones.
func (s *Store) moved(ctx context.Context, tx *db.Tx, o *Open, at time.Time) error {
	owned, err := owners(ctx, tx, s.d, o.Contact.CompanyID, o.Known)
	if err != nil {
		return err
	}
	a, err := present(ctx, tx, s.d, o.Contact.CompanyID, o.Known, owned, at)
	if err != nil || a == nil {
		return err
	}
	person, _ := split(o.Known)
	o.Known, o.Contact.Number, o.Contact.UserID = nil, a.Number, a.UserID
	if a.Number != "" {
		o.Known = append(o.Known, identity.Identity{Kind: identity.Line, Key: identity.Number(a.Number)})
	}
	if a.UserID != "" && person != nil {
		o.Known = append(o.Known, identity.Identity{Kind: identity.Person, Scope: person.Scope, Key: identity.User(a.UserID)})
	}
	return nil
}

// maxOvertaken bounds the time from a change to a later one that was reported first: the channel repeats reports for a
// week. After that a number may be somebody else's.
const maxOvertaken = 7 * 24 * time.Hour

// overtaken returns the contact with a later change of the same person; "" if there is none. It replaces the
// identities in o.Became with the contact's present ones.
func (c *claimer) overtaken(ctx context.Context, o *Open) (string, error) {
	formers, err := formersOf(ctx, c.tx, c.s.d, c.companyID, o.Became)
	if err != nil || o.At.IsZero() {
		return "", err
	}
	contactID := ""
	for _, x := range o.Became {
		f, ok := formers[x]
		late := f.until.Sub(o.At)
		if ok && late >= 0 && late <= maxOvertaken && (contactID == "" || x.Kind == identity.Person) {
			contactID = f.contactID
		}
	}
	if contactID == "" {
		return "", nil
	}
	person, line := split(o.Became)
	scope := ""
	if person != nil {
		scope = person.Scope
	}
	a, err := addressOf(ctx, c.tx, c.companyID, contactID, scope)
	if err != nil || a == nil {
		return "", err
	}
	var became []identity.Identity
	if line != nil && a.Number != "" {
		became = append(became, identity.Identity{Kind: identity.Line, Key: identity.Number(a.Number)})
	}
	if person != nil && a.UserID != "" {
		became = append(became, identity.Identity{Kind: identity.Person, Scope: scope, Key: identity.User(a.UserID)})
	}
	if len(became) == 0 { // the later contact no longer has such an address
		return "", nil
	}
	o.Became, o.Contact.Number, o.Contact.UserID = became, a.Number, a.UserID
	return contactID, nil
}

// remember stores that the identities which a change has replaced were the contact's until then, unless they are another's.
func (c *claimer) remember(ctx context.Context, contactID string, o *Open) error {
	for _, x := range o.Known {
		if len(o.Became) == 0 || c.owned[x] != "" {
			continue
		}
		if _, err := c.tx.Exec(ctx, `INSERT INTO contact_former (company_id, value, kind, scope, contact_id, until_at)
			VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (company_id, value, kind, scope) DO UPDATE SET contact_id = excluded.contact_id, until_at = excluded.until_at`,
			c.companyID, x.Key.String(), string(x.Kind), x.Scope, contactID, db.Millis(cmp.Or(o.At, o.Now))); err != nil {
			return db.Wrap(err, "write a former identity")
		}
	}
	return nil
}

// changed is the error of an open by identities that have become former after the caller looked them up.
func changed() error {
	return &carillon.Error{Code: carillon.ServiceUnavailable, Message: "The person's identities have just changed"}
}
