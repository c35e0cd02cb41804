// Package people is the SQL of everything stored about one person: the rows that an export reads and an erasure
// deletes, over all tables. Places lists the tables; a table that is in neither it nor Impersonal fails a test.
package people

import (
	"context"
	"slices"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/store/db"
)

// Query identifies a person of a company: by a number, a channel's id, or a contact.
type Query struct {
	Number, UserID, ContactID string
}

// Person holds all keys by which the rows of one person are found.
type Person struct {
	CompanyID     string
	Keys          []string // numbers in every form, and the channel's ids
	Contacts      []string
	Conversations []string
	Notifications []carillon.Seq // notifications with the person among their recipients
	Messages      []int64        // the person's messages in them
	Calls         []string       // ids of the person's incoming calls
	Said          []said         // turns in groups
	Files         []string       // ids of the files sent to groups
}

// Empty reports whether nothing is stored about the person.
func (p *Person) Empty() bool {
	return len(p.Contacts)+len(p.Conversations)+len(p.Notifications)+len(p.Calls)+len(p.Said) == 0
}

// Find finds a person. A number leads to the contacts identified by it through the channel or a call, and from them to
// their other numbers and ids confirmed by the channel. A number noted by a teammate may be a typo: it leads only to
// contacts without any other identity.
func Find(ctx context.Context, d *db.DB, companyID string, q Query) (*Person, error) {
	p := &Person{CompanyID: companyID}
	if q.Number != "" {
		p.Keys = identity.Number(q.Number).Forms()
	}
	if q.UserID != "" {
		p.Keys = append(p.Keys, q.UserID)
	}
	if q.ContactID != "" {
		if err := p.contact(ctx, d, q.ContactID); err != nil {
			return nil, err
		}
	}
	for {
		known := len(p.Keys) + len(p.Contacts)
		if err := p.follow(ctx, d); err != nil {
			return nil, err
		}
		if len(p.Keys)+len(p.Contacts) == known {
			break
		}
	}
	if err := p.groups(ctx, d); err != nil {
		return nil, err
	}
	return p, p.rows(ctx, d)
}

func (p *Person) contact(ctx context.Context, d *db.DB, id string) error {
	found, err := texts(ctx, d, "SELECT id FROM contact WHERE company_id = $1 AND id = $2", p.CompanyID, id)
	p.Contacts = found
	return err
}

// follow adds the contacts of the keys, and the keys of the contacts, repeatedly.
func (p *Person) follow(ctx context.Context, d *db.DB) error {
	visitors := make([]string, len(p.Keys))
	for i, key := range p.Keys {
		visitors[i] = "tel:" + key
	}
	contacts, err := texts(ctx, d, "SELECT contact_id FROM contact_identity AS i WHERE company_id = $1 AND value "+d.In(2)+
		` AND (kind <> 'claimed'
			OR NOT EXISTS (SELECT 1 FROM contact_identity AS o WHERE o.contact_id = i.contact_id AND o.kind <> 'claimed'))
		UNION SELECT id FROM contact WHERE company_id = $1 AND (user_id `+d.In(2)+" OR visitor_id "+d.In(3)+")",
		p.CompanyID, d.List(p.Keys), d.List(visitors))
	if err != nil {
		return err
	}
	p.Contacts = union(p.Contacts, contacts)
	keys, err := texts(ctx, d, "SELECT value FROM contact_identity "+
		"WHERE company_id = $1 AND kind IN ('line', 'person') AND contact_id "+d.In(2)+
		" UNION SELECT value FROM contact_former AS f WHERE company_id = $1 AND contact_id "+d.In(2)+
		" AND NOT EXISTS (SELECT 1 FROM contact_identity AS i WHERE i.company_id = f.company_id AND i.value = f.value)"+
		" UNION SELECT user_id FROM contact WHERE company_id = $1 AND user_id <> '' AND id "+d.In(2)+
		" UNION SELECT number FROM contact WHERE company_id = $1 AND number <> '' AND visitor_id LIKE 'tel:%' AND id "+d.In(2),
		p.CompanyID, d.List(p.Contacts))
	for _, key := range keys {
		p.Keys = union(p.Keys, identity.Of(key).Forms())
	}
	return err
}

// rows finds the person's conversations, calls and notifications.
func (p *Person) rows(ctx context.Context, d *db.DB) (err error) {
	keys := d.List(p.Keys)
	if p.Conversations, err = texts(ctx, d, "SELECT id FROM conversation WHERE company_id = $1 AND contact_id "+d.In(2)+" ORDER BY id",
		p.CompanyID, d.List(p.Contacts)); err != nil {
		return err
	}
	if p.Calls, err = texts(ctx, d, "SELECT id FROM incoming_call WHERE company_id = $1 AND number "+d.In(2)+" ORDER BY id",
		p.CompanyID, keys); err != nil {
		return err
	}
	// The search table has all but the newest notifications, whose recipients are few.
	p.Notifications, err = db.Collect(ctx, d, "notifications of a person", func(scan db.Scan) (seq carillon.Seq, err error) {
		err = scan(&seq)
		return seq, err
	}, "SELECT seq FROM search WHERE company_id = $1 AND field = 'number' AND value "+d.In(2)+
		" UNION SELECT id / 128 FROM call WHERE company_id = $1 AND number "+d.In(2)+
		` UNION SELECT n.seq FROM notification AS n JOIN message AS m ON m.id BETWEEN n.seq * 128 AND n.seq * 128 + 127
			WHERE n.company_id = $1 AND n.seq > COALESCE((SELECT value FROM meta WHERE name = 'search'), 0) AND m.number `+d.In(2)+
		" ORDER BY 1",
		p.CompanyID, keys)
	if err != nil {
		return err
	}
	p.Messages, err = db.Collect(ctx, d, "messages to a person", func(scan db.Scan) (id int64, err error) {
		err = scan(&id)
		return id, err
	}, `SELECT m.id FROM notification AS n CROSS JOIN message AS m WHERE n.company_id = $1 AND n.seq `+d.In(3)+`
		AND m.id BETWEEN n.seq * 128 AND n.seq * 128 + 127 AND m.number `+d.In(2)+" ORDER BY m.id", p.CompanyID, keys, notifications(d, p))
	return err
}

func texts(ctx context.Context, q db.Querier, query string, args ...any) ([]string, error) {
	return db.Collect(ctx, q, "rows of a person", func(scan db.Scan) (text string, err error) {
		err = scan(&text)
		return text, err
	}, query, args...)
}

func union(all, more []string) []string {
	for _, x := range more {
		if x != "" && !slices.Contains(all, x) {
			all = append(all, x)
		}
	}
	return all
}
