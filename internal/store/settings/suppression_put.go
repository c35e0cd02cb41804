package settings

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"carillon/internal/base/identity"
	"carillon/internal/store/audit"
	"carillon/internal/store/db"
)

// suppressed is a person with all known identities.
type suppressed struct {
	lines []identity.Key
	users []identity.Key // the channel's ids
	noted []identity.Key // lines noted by a teammate, which may also be somebody else's
}

func (p *suppressed) add(x identity.Identity) {
	switch x.Kind {
	case identity.Person:
		p.users = append(p.users, x.Key)
	case identity.Line:
		p.lines = append(p.lines, x.Key)
	case identity.Claimed:
		p.noted = append(p.noted, x.Key)
	case identity.Caller: // unproven
	}
}

// ownAddresses returns the addresses of some people.
func ownAddresses(people []*suppressed) (all []string) {
	for _, p := range people {
		all = append(all, keyTexts(p.lines, p.users)...)
	}
	return all
}

// notedAddresses returns the noted addresses of some people.
func notedAddresses(people []*suppressed) (all []string) {
	for _, p := range people {
		all = append(all, keyTexts(p.noted)...)
	}
	return all
}

func keyTexts(keys ...[]identity.Key) (all []string) {
	for _, k := range slices.Concat(keys...) {
		all = append(all, k.Forms()...)
	}
	return all
}

// knownPeople returns the people with some keys: contacts with all their identities, others with the key only.
func knownPeople(ctx context.Context, tx *db.Tx, companyID string, keys []identity.Key) ([]*suppressed, error) {
	contacts, of := map[string]*suppressed{}, map[identity.Key]bool{}
	values := make([]string, len(keys))
	for i, k := range keys {
		values[i] = k.String()
	}
	var all []*suppressed
	err := db.Each(ctx, tx, func(row db.Scan) error {
		var contact, value, asked string
		var x identity.Identity
		if err := row(&contact, &x.Kind, &value, &asked); err != nil {
			return err
		}
		p := contacts[contact]
		if p == nil {
			p = &suppressed{}
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
		p := &suppressed{}
		if p.add(identity.Identity{Kind: identity.Person, Key: k}); k.IsLine() {
			*p = suppressed{lines: []identity.Key{k}}
		}
		all = append(all, p)
	}
	return all, db.Wrap(err, "read whom a suppression is of")
}

// putSuppression adds people like Place, records it, and returns the number of given people who were added or changed.
func putSuppression(ctx context.Context, tx *db.Tx, companyID string, x Suppression, addresses ...string) (int, error) {
	changed, err := PlaceSuppression(ctx, tx, companyID, x, addresses...)
	if err != nil || len(changed) == 0 {
		return 0, err
	}
	return len(changed), RecordSuppression(ctx, tx, companyID, audit.Added, x, changed)
}

// PlaceSuppression adds people with all their known identities, and returns those who were added or changed.
func PlaceSuppression(ctx context.Context, tx *db.Tx, companyID string, x Suppression, addresses ...string) (changed []string, err error) {
	keys := make([]identity.Key, len(addresses))
	for i, address := range addresses {
		keys[i] = identity.Of(address)
	}
	people, err := knownPeople(ctx, tx, companyID, keys)
	if err != nil {
		return nil, err
	}
	listed, err := readSuppressions(ctx, tx, companyID, slices.Concat(ownAddresses(people), notedAddresses(people)))
	if err != nil {
		return nil, err
	}
	if err := writeSuppression(ctx, tx, companyID, x, people, listed, addresses); err != nil {
		return nil, err
	}
	there := map[identity.Key]bool{}
	for i := range listed {
		if y := &listed[i]; y.Type == SuppressAll || x.Type == SuppressMarketing {
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

// FindSuppression returns the suppression of a person, or nil.
func FindSuppression(ctx context.Context, tx *db.Tx, companyID string, who identity.Key) (*Suppression, error) {
	all, err := readSuppressions(ctx, tx, companyID, who.Forms())
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// readSuppressions returns the listed people who have any of the addresses, some of them twice.
func readSuppressions(ctx context.Context, tx *db.Tx, companyID string, addresses []string) ([]Suppression, error) {
	return db.Collect(ctx, tx, "suppressions", scanSuppression,
		"SELECT "+suppressionColumns+" FROM suppression WHERE company_id = $1 AND number "+tx.DB().In(2)+
			" UNION ALL SELECT "+suppressionColumns+" FROM suppression WHERE "+suppressionByID+tx.DB().In(2), companyID,
		tx.DB().List(addresses))
}

// widerSuppression replaces a suppression of marketing by one of all types, and adds the channel's id of the person; nothing
// else.
const widerSuppression = `ON CONFLICT (company_id, number) DO UPDATE SET
	type = CASE WHEN excluded.type = 'all' THEN excluded.type ELSE suppression.type END,
	reason = CASE WHEN suppression.type = 'marketing' AND excluded.type = 'all' THEN excluded.reason ELSE suppression.reason END,
	author = CASE WHEN suppression.type = 'marketing' AND excluded.type = 'all' THEN excluded.author ELSE suppression.author END,
	created_at = CASE WHEN suppression.type = 'marketing'
		AND excluded.type = 'all' THEN excluded.created_at ELSE suppression.created_at END,
	user_id = CASE WHEN excluded.user_id = '' THEN suppression.user_id ELSE excluded.user_id END
	WHERE suppression.type = 'marketing' AND excluded.type = 'all' OR excluded.user_id NOT IN ('', suppression.user_id)`

// writeSuppression writes a row for each line of people, with their id next to the number, in the listed or the given form; an id
// without a line has its own row. A noted number is listed without the id.
func writeSuppression(ctx context.Context, tx *db.Tx, companyID string, x Suppression, people []*suppressed, listed []Suppression,
	given []string,
) error {
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
		for _, k := range p.noted {
			address := cmp.Or(form[k], k.String())
			if _, own := rows[address]; !own {
				rows[address] = "" // without the id
			}
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
	if err := partSuppression(ctx, tx, companyID, people, listed); err != nil {
		return err
	}
	b := suppressionBulk()
	for _, address := range slices.Sorted(maps.Keys(rows)) {
		x.Number, x.UserID = address, rows[address]
		x.addTo(b, companyID)
	}
	if err := b.Write(ctx, tx); err != nil || len(beside) == 0 {
		return err
	}
	_, err := tx.Exec(ctx, "DELETE FROM suppression WHERE company_id = $1 AND number = user_id AND number "+tx.DB().In(2)+
		" AND (type = $3 OR $3 = 'all')",
		companyID, tx.DB().List(beside), string(x.Type))
	return db.Wrap(err, "write suppressions")
}

// partSuppression gives separate rows to other people's ids next to these people's lines: the number has changed hands, and its
// suppression applies to both.
func partSuppression(ctx context.Context, tx *db.Tx, companyID string, people []*suppressed, listed []Suppression) error {
	lines, users := map[identity.Key]bool{}, map[string]bool{"": true}
	for _, p := range people {
		for _, k := range p.users {
			users[k.String()] = true
		}
		for _, k := range p.lines {
			lines[k] = len(p.users) > 0
		}
	}
	b := suppressionBulk()
	for i := range listed {
		if y := listed[i]; lines[identity.Number(y.Number)] && !users[y.UserID] {
			users[y.UserID] = true
			y.Number = y.UserID
			y.addTo(b, companyID)
		}
	}
	return b.Write(ctx, tx)
}

func suppressionBulk() *db.Bulk {
	return db.NewBulk("suppression", widerSuppression,
		"company_id:text", "number:text", "type:text", "reason:text", "author:text", "created_at:bigint", "user_id:text")
}

func (x *Suppression) addTo(b *db.Bulk, companyID string) {
	b.Add(companyID, x.Number, string(x.Type), x.Reason, x.Author, db.Millis(x.CreatedAt), x.UserID)
}

// SpreadSuppressions extends a suppression of any of a contact's identities to all of them: an opt-out by id applies to a number
// that becomes known later, and vice versa. An opt-out of a number that a teammate noted may be somebody else's.
func SpreadSuppressions(ctx context.Context, tx *db.Tx, companyID string, all []identity.Identity) error {
	if len(all) < 2 { // nothing else to suppress
		return nil
	}
	if err := awaitSuppressions(ctx, tx, companyID); err != nil {
		return err
	}
	p := &suppressed{}
	for _, x := range all {
		p.add(x)
	}
	people := []*suppressed{p}
	wanted, err := readSuppressions(ctx, tx, companyID, ownAddresses(people))
	if err != nil || len(wanted) == 0 {
		return err
	}
	others, err := readSuppressions(ctx, tx, companyID, notedAddresses(people))
	if err != nil {
		return err
	}
	strictest := slices.MinFunc(wanted, func(a, b Suppression) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), a.CreatedAt.Compare(b.CreatedAt)) // all sorts before marketing
	})
	return writeSuppression(ctx, tx, companyID, strictest, people, slices.Concat(wanted, others), nil)
}

// awaitSuppressions waits for concurrent changes of a company's list whose transactions do not see a new identity yet.
// SQLite needs no wait, because it has one writer.
func awaitSuppressions(ctx context.Context, tx *db.Tx, companyID string) error {
	if tx.SQLite() {
		return nil
	}
	_, err := tx.Exec(ctx, "SELECT 1 FROM company WHERE id = $1 FOR SHARE", companyID)
	return db.Wrap(err, "wait for changes of suppressions")
}

// liftSuppressions removes the listed rows of people that match a condition, and returns them: first those of their own
// identities, then those suppressed with them at noted numbers. Somebody else's opt-out at such a number is kept.
func liftSuppressions(ctx context.Context, tx *db.Tx, companyID string, people []*suppressed,
	which func(x *Suppression) bool,
) ([]Suppression, error) {
	gone, err := readSuppressions(ctx, tx, companyID, ownAddresses(people))
	if err != nil {
		return nil, err
	}
	gone = slices.DeleteFunc(gone, func(x Suppression) bool { return !which(&x) })
	others, err := readSuppressions(ctx, tx, companyID, notedAddresses(people))
	if err != nil || len(gone) == 0 {
		return nil, err
	}
	for i := range others {
		if slices.ContainsFunc(gone, others[i].copies) {
			gone = append(gone, others[i])
		}
	}
	_, err = tx.Exec(ctx, "DELETE FROM suppression WHERE company_id = $1 AND number "+tx.DB().In(2),
		companyID, tx.DB().List(addressesOf(gone)))
	return gone, err
}

// copies reports whether two rows come from the same opt-out.
func (x *Suppression) copies(y Suppression) bool {
	return x.Type == y.Type && x.Reason == y.Reason && x.Author == y.Author && x.CreatedAt.Equal(y.CreatedAt)
}

// addressesOf returns the addresses of rows, without duplicates.
func addressesOf(all []Suppression) []string {
	addresses := make([]string, len(all))
	for i := range all {
		addresses[i] = all[i].Address()
	}
	slices.Sort(addresses)
	return slices.Compact(addresses)
}
