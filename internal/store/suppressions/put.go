package suppressions

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"carillon/internal/db"
	"carillon/internal/identity"
	"carillon/internal/store/audit"
)

// person is somebody with all that they are known by.
type person struct {
	lines []identity.Key
	users []identity.Key // the channel's ids
}

func (p *person) add(x identity.Identity) {
	switch x.Kind {
	case identity.Person:
		p.users = append(p.users, x.Key)
	case identity.Line, identity.Claimed:
		if !slices.Contains(p.lines, x.Key) {
			p.lines = append(p.lines, x.Key)
		}
	case identity.Caller: // it proves nothing
	}
}

// texts are the addresses of some people.
func texts(people []*person) []string {
	var all []string
	for _, p := range people {
		for _, k := range slices.Concat(p.lines, p.users) {
			all = append(all, k.Forms()...)
		}
	}
	return all
}

// known returns the people whom keys are of: contacts with all that they are known by, and the others with their key alone.
func known(ctx context.Context, tx *db.Tx, companyID string, keys []identity.Key) ([]*person, error) {
	contacts, of := map[string]*person{}, map[identity.Key]bool{}
	values := make([]string, len(keys))
	for i, k := range keys {
		values[i] = k.String()
	}
	var all []*person
	err := db.Each(ctx, tx, func(row db.Scan) error {
		var contact, value, asked string
		var x identity.Identity
		if err := row(&contact, &x.Kind, &value, &asked); err != nil {
			return err
		}
		p := contacts[contact]
		if p == nil {
			p = &person{}
			contacts[contact] = p
			all = append(all, p)
		}
		x.Key = identity.Stored(value)
		p.add(x)
		of[identity.Stored(asked)] = true
		return nil
	}, `SELECT o.contact_id, o.kind, o.value, i.value FROM contact_identity AS i CROSS JOIN contact_identity AS o
		WHERE i.company_id = $1 AND i.kind IN ('line', 'person') AND o.contact_id = i.contact_id AND i.value `+tx.DB().In(2),
		companyID, tx.DB().List(values))
	for _, k := range keys {
		if of[k] {
			continue
		}
		p := &person{}
		if p.add(identity.Identity{Kind: identity.Person, Key: k}); k.IsLine() {
			*p = person{lines: []identity.Key{k}}
		}
		all = append(all, p)
	}
	return all, db.Wrap(err, "read whom a suppression is of")
}

// put adds people as Place does, records it, and returns how many of those given it added or changed.
func put(ctx context.Context, tx *db.Tx, companyID string, x Suppression, addresses ...string) (int, error) {
	changed, err := Place(ctx, tx, companyID, x, addresses...)
	if err != nil || len(changed) == 0 {
		return 0, err
	}
	return len(changed), Record(ctx, tx, companyID, audit.Added, x, changed)
}

// Place adds people, with all else that they are known by, and returns those of them whom it added or changed.
func Place(ctx context.Context, tx *db.Tx, companyID string, x Suppression, addresses ...string) (changed []string, err error) {
	keys := make([]identity.Key, len(addresses))
	for i, address := range addresses {
		keys[i] = identity.Of(address)
	}
	people, err := known(ctx, tx, companyID, keys)
	if err != nil {
		return nil, err
	}
	listed, err := read(ctx, tx, companyID, texts(people))
	if err != nil {
		return nil, err
	}
	if err := write(ctx, tx, companyID, x, people, listed, addresses); err != nil {
		return nil, err
	}
	there := map[identity.Key]bool{}
	for i := range listed {
		if y := &listed[i]; y.Type == All || x.Type == Marketing {
			there[identity.Of(y.Address())], there[identity.User(y.UserID)] = true, true
		}
	}
	for i, address := range addresses {
		if !there[keys[i]] {
			there[keys[i]] = true
			changed = append(changed, address)
		}
	}
	return changed, nil
}

// Find returns the suppression of a person; nil: there is none.
func Find(ctx context.Context, tx *db.Tx, companyID string, who identity.Key) (*Suppression, error) {
	all, err := read(ctx, tx, companyID, who.Forms())
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// read returns those on a company's list who have one of some addresses, some of them twice.
func read(ctx context.Context, tx *db.Tx, companyID string, addresses []string) ([]Suppression, error) {
	return db.Collect(ctx, tx, "suppressions", scan, "SELECT "+columns+" FROM suppression WHERE company_id = $1 AND number "+tx.DB().In(2)+
		" UNION ALL SELECT "+columns+" FROM suppression WHERE "+byID+tx.DB().In(2), companyID, tx.DB().List(addresses))
}

// wider replaces a suppression of marketing by one of all types, and adds the channel's id of the person; nothing else.
const wider = `ON CONFLICT (company_id, number) DO UPDATE SET
	type = CASE WHEN excluded.type = 'all' THEN excluded.type ELSE suppression.type END,
	reason = CASE WHEN suppression.type = 'marketing' AND excluded.type = 'all' THEN excluded.reason ELSE suppression.reason END,
	author = CASE WHEN suppression.type = 'marketing' AND excluded.type = 'all' THEN excluded.author ELSE suppression.author END,
	created_at = CASE WHEN suppression.type = 'marketing' AND excluded.type = 'all' THEN excluded.created_at ELSE suppression.created_at END,
	user_id = CASE WHEN excluded.user_id = '' THEN suppression.user_id ELSE excluded.user_id END
	WHERE suppression.type = 'marketing' AND excluded.type = 'all' OR excluded.user_id NOT IN ('', suppression.user_id)`

// write writes a row for each line of people, with their id next to the number, in the form that is on the list or is given; an id has a row
// of its own where there is no line to stand next to.
func write(ctx context.Context, tx *db.Tx, companyID string, x Suppression, people []*person, listed []Suppression, given []string) error {
	form := map[identity.Key]string{}
	for _, address := range given {
		form[identity.Of(address)] = address
	}
	for i := range listed {
		form[identity.Of(listed[i].Address())] = listed[i].Address()
	}
	rows, beside := map[string]string{}, []string{} // ids by address
	for _, p := range people {
		first := ""
		if len(p.users) > 0 {
			first = p.users[0].String()
		}
		for _, k := range p.lines {
			rows[cmp.Or(form[k], k.String())] = first
		}
		for i, k := range p.users {
			if i > 0 || len(p.lines) == 0 {
				rows[k.String()] = k.String()
			} else {
				beside = append(beside, first)
			}
		}
	}
	b := db.NewBulk("suppression", wider,
		"company_id:text", "number:text", "type:text", "reason:text", "author:text", "created_at:bigint", "user_id:text")
	for _, address := range slices.Sorted(maps.Keys(rows)) {
		b.Add(companyID, address, string(x.Type), x.Reason, x.Author, db.Millis(x.CreatedAt), rows[address])
	}
	if err := b.Write(ctx, tx); err != nil || len(beside) == 0 {
		return err
	}
	_, err := tx.Exec(ctx, "DELETE FROM suppression WHERE company_id = $1 AND number = user_id AND number "+tx.DB().In(2)+
		" AND (type = $3 OR $3 = 'all')",
		companyID, tx.DB().List(beside), string(x.Type))
	return db.Wrap(err, "write suppressions")
}

// Spread has all that a contact is known by be suppressed as any of it is: what somebody wanted by their id counts for a number that
// becomes known later, and the other way round.
func Spread(ctx context.Context, tx *db.Tx, companyID string, all []identity.Identity) error {
	p := &person{}
	for _, x := range all {
		p.add(x)
	}
	listed, err := read(ctx, tx, companyID, texts([]*person{p}))
	if err != nil || len(listed) == 0 {
		return err
	}
	strictest := slices.MinFunc(listed, func(a, b Suppression) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), a.CreatedAt.Compare(b.CreatedAt)) // all comes before marketing
	})
	return write(ctx, tx, companyID, strictest, []*person{p}, listed, nil)
}
