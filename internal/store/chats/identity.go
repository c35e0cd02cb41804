package chats

import (
	"cmp"
	"context"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"carillon/internal/base/identity"
	"carillon/internal/store/db"
	"carillon/internal/store/settings"
)

// The transaction that opens a conversation also assigns identities to contacts (docs/adr/0030):
//
//	no contact known       a new contact gets the identities
//	one contact known      it gets those that are new
//	two contacts known     they are joined if one is known by number only and the other by id only, because the channel names
//	                       both; otherwise the line moves to the contact with the id: the number has changed hands
//
// A line that leaves a contact takes neither history nor reply window with it. Suppressions stay with both. Messages sent
// before a change of identities that arrive after it are the former owner's (former.go).

// lockIdentities serializes transactions on the same identities. SQLite has one writer anyway.
func lockIdentities(ctx context.Context, tx *db.Tx, opens []*Open) error {
	if tx.SQLite() {
		return nil
	}
	var locks []int64
	for _, o := range opens {
		for _, x := range slices.Concat(o.Known, o.Became, o.shared()) {
			h := fnv.New64a()
			_, _ = h.Write([]byte("identity/" + o.Contact.CompanyID + "/" + x.Key.String()))
			locks = append(locks, int64(h.Sum64())) // any number is a key
		}
	}
	if len(locks) == 0 {
		return nil
	}
	slices.Sort(locks)
	_, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(k) FROM unnest($1::bigint[]) AS k", slices.Compact(locks))
	return db.Wrap(err, "lock identities")
}

// owner is the contact of an identity.
type owner struct {
	contactID string
	identity.Identity
}

const ownerColumns = "contact_id, kind, scope, value"

func scanOwner(row db.Scan) (o owner, err error) {
	var value string
	err = row(&o.contactID, &o.Kind, &o.Scope, &value)
	o.Key = identity.Stored(value)
	return o, err
}

// owners returns the known contacts of identities.
func owners(ctx context.Context, q db.Querier, d *db.DB, companyID string, all []identity.Identity) (map[identity.Identity]string, error) {
	found := make(map[identity.Identity]string, len(all))
	if len(all) == 0 {
		return found, nil
	}
	values := make([]string, len(all))
	for i, x := range all {
		values[i] = x.Key.String()
	}
	rows, err := db.Collect(ctx, q, "identities", scanOwner,
		"SELECT "+ownerColumns+" FROM contact_identity WHERE company_id = $1 AND value "+d.In(2), companyID, d.List(values))
	for _, o := range rows {
		found[o.Identity] = o.contactID
	}
	return found, err
}

// identitiesOf returns the identities of a contact.
func identitiesOf(ctx context.Context, q db.Querier, companyID, contactID string) ([]identity.Identity, error) {
	all, err := db.Collect(ctx, q, "identities", func(row db.Scan) (identity.Identity, error) {
		o, err := scanOwner(row)
		return o.Identity, err
	}, "SELECT "+ownerColumns+" FROM contact_identity WHERE contact_id = $1 AND company_id = $2", contactID, companyID)
	slices.SortFunc(all, func(a, b identity.Identity) int { return strings.Compare(a.Key.String(), b.Key.String()) })
	return all, err
}

// Identities returns the identities of a company's contact.
func (s *Contacts) Identities(ctx context.Context, companyID, contactID string) ([]identity.Identity, error) {
	return identitiesOf(ctx, s.d, companyID, contactID)
}

// ForeignIDs returns those of the channel's ids that are known, but only in other scopes than the given one.
func (s *Contacts) ForeignIDs(ctx context.Context, companyID, scope string, ids []string) (map[string]bool, error) {
	own, foreign := map[string]bool{}, map[string]bool{}
	err := db.Each(ctx, s.d, func(row db.Scan) error {
		var id, of string
		err := row(&id, &of)
		if own[id] = own[id] || of == scope; own[id] {
			delete(foreign, id)
		} else {
			foreign[id] = true
		}
		return err
	}, "SELECT value, scope FROM contact_identity WHERE company_id = $1 AND kind = 'person' AND value "+s.d.In(2), companyID, s.d.List(ids))
	return foreign, db.Wrap(err, "look up ids of people")
}

// NamesByID returns the names of people by the channel's ids: the name, else the username.
func (s *Contacts) NamesByID(ctx context.Context, companyID string, ids []string) (map[string]string, error) {
	names := make(map[string]string, len(ids))
	if len(ids) == 0 {
		return names, nil
	}
	err := db.Each(ctx, s.d, func(row db.Scan) error {
		var id, name, username string
		err := row(&id, &name, &username)
		if username != "" {
			username = "@" + username
		}
		names[id] = cmp.Or(name, username, names[id])
		return err
	}, `SELECT i.value, c.name, c.username FROM contact_identity AS i JOIN contact AS c ON c.id = i.contact_id
		WHERE i.company_id = $1 AND i.kind = 'person' AND i.value `+s.d.In(2), companyID, s.d.List(ids))
	return names, db.Wrap(err, "look up names of people")
}

// LinesOf returns the keys to which messages for the person with some identities are sent: the lines and the channel's
// ids among these, and the contact's other ones.
func (s *Contacts) LinesOf(ctx context.Context, companyID string, known []identity.Identity) ([]identity.Key, error) {
	var lines []identity.Key
	add := func(all []identity.Identity) {
		for _, x := range all {
			if (x.Kind == identity.Line || x.Kind == identity.Person) && !slices.Contains(lines, x.Key) {
				lines = append(lines, x.Key)
			}
		}
	}
	add(known)
	found, err := owners(ctx, s.d, s.d, companyID, known)
	if err != nil {
		return nil, err
	}
	contactID := ""
	for _, x := range known { // the id has precedence over the number
		if id := found[x]; id != "" && (contactID == "" || x.Kind == identity.Person) {
			contactID = id
		}
	}
	if contactID == "" {
		return lines, nil
	}
	all, err := identitiesOf(ctx, s.d, companyID, contactID)
	if person, _ := split(known); person != nil && found[*person] == "" && namedIn(all, person.Scope) {
		return lines, err // the number has changed hands: its former owner's other identities are not the person's
	}
	add(all)
	return lines, err
}

// claimer assigns identities to contacts within a transaction.
type claimer struct {
	s         *Store
	tx        *db.Tx
	companyID string
	now       time.Time
	owned     map[identity.Identity]string
}

// claim returns the id of the contact for an open, and gives it the identities; "" if a new contact must be created.
func (s *Store) claim(ctx context.Context, tx *db.Tx, o *Open) (string, *claimer, error) {
	c := &claimer{s: s, tx: tx, companyID: o.Contact.CompanyID, now: o.Now}
	var err error
	if c.owned, err = owners(ctx, tx, s.d, c.companyID, slices.Concat(o.Known, o.Became, o.shared())); err != nil {
		return "", nil, err
	}
	if err := c.adopt(ctx, o.Known); err != nil {
		return "", nil, err
	}
	person, line := split(o.Known)
	if len(o.Became) > 0 {
		later, err := c.overtaken(ctx, o)
		if err != nil {
			return "", nil, err
		}
		contactID, err := c.became(ctx, o, person, line, later)
		return contactID, c, err
	}
	if !o.At.IsZero() { // its caller has looked up the present address
		if former, err := present(ctx, tx, s.d, c.companyID, o.Known, c.owned, o.At); former != nil || err != nil {
			return "", nil, cmp.Or(err, changed())
		}
	}
	contactID, err := c.one(ctx, person, line)
	return contactID, c, err
}

// split returns the id and the line among identities; each may be nil.
func split(all []identity.Identity) (person, line *identity.Identity) {
	for i := range all {
		if all[i].Kind == identity.Person {
			person = &all[i]
		} else {
			line = &all[i]
		}
	}
	return person, line
}

// adopt finds contacts created from numbers by programs before schema 37, which share the database during an upgrade.
func (c *claimer) adopt(ctx context.Context, known []identity.Identity) error {
	for _, x := range known {
		if x.Kind == identity.Person || c.owned[x] != "" {
			continue
		}
		var visitors []string
		for _, form := range x.Key.Forms() {
			visitors = append(visitors, visitorOf(form))
		}
		var id string
		err := c.tx.Row(ctx, []any{&id},
			`SELECT id FROM contact WHERE company_id = $1 AND widget_id = '' AND verified = $2 AND visitor_id `+
				c.s.d.In(3)+" LIMIT 1", c.companyID, x.Kind == identity.Line, c.s.d.List(visitors))
		if err := db.Ignore(err); err != nil {
			return db.Wrap(err, "find a contact by its number")
		}
		if id == "" {
			continue
		}
		if err := c.give(ctx, id, x); err != nil {
			return err
		}
	}
	return nil
}

// visitorOf returns the visitor id of the contact of a number.
func visitorOf(number string) string { return "tel:" + number }

// one returns the contact for the id and line of a message or call, either of which may be nil; "" if there is none.
func (c *claimer) one(ctx context.Context, person, line *identity.Identity) (string, error) {
	byPerson, byLine := c.ownerOf(person), c.ownerOf(line)
	if person == nil || line == nil || byLine == "" || byPerson == byLine {
		return cmp.Or(byPerson, byLine), nil
	}
	moved, err := c.moved(ctx, person, line)
	switch {
	case err != nil:
		return "", err
	case moved:
		return byPerson, c.lose(ctx, byLine, *line)
	case byPerson == "":
		return byLine, nil
	}
	return c.join(ctx, byPerson, byLine)
}

// moved reports whether a contact's line, which comes with an id, has changed hands: the contact has another id of the
// same account, or another contact has the id and its own line.
func (c *claimer) moved(ctx context.Context, person, line *identity.Identity) (bool, error) {
	byPerson, byLine := c.ownerOf(person), c.ownerOf(line)
	if byLine == "" || byPerson == byLine {
		return false, nil
	}
	there, err := identitiesOf(ctx, c.tx, c.companyID, byLine)
	if err != nil || namedIn(there, person.Scope) || byPerson == "" {
		return namedIn(there, person.Scope), err
	}
	here, err := identitiesOf(ctx, c.tx, c.companyID, byPerson)
	return slices.ContainsFunc(here, func(x identity.Identity) bool { return x.Kind == identity.Line }), err
}

// namedIn reports whether identities have an id of a scope.
func namedIn(all []identity.Identity, scope string) bool {
	return slices.ContainsFunc(all, func(x identity.Identity) bool { return x.Kind == identity.Person && x.Scope == scope })
}

// became returns the contact whose identities the channel has changed, with its former identities; "" if none is
// known. It is idempotent. A contact with a later change of the same person is joined with it.
func (c *claimer) became(ctx context.Context, o *Open, person, line *identity.Identity, later string) (string, error) {
	newPerson, newLine := split(o.Became)
	contactID := c.ownerOf(person)
	if byLine := c.ownerOf(line); contactID == "" && byLine != "" {
		there, err := identitiesOf(ctx, c.tx, c.companyID, byLine)
		if err != nil {
			return "", err
		}
		if person == nil || !namedIn(there, person.Scope) {
			contactID = byLine // otherwise the number belongs to somebody else by now
		}
	}
	if contactID == "" && later == "" {
		return c.one(ctx, newPerson, newLine)
	}
	var err error
	switch {
	case contactID == "":
		contactID = later
	case later != "" && later != contactID:
		if contactID, err = c.join(ctx, contactID, later); err != nil {
			return "", err
		}
	}
	if other := c.ownerOf(newPerson); other != "" && other != contactID {
		if contactID, err = c.join(ctx, contactID, other); err != nil {
			return "", err
		}
	}
	if other := c.ownerOf(newLine); other != "" && other != contactID {
		if err := c.lose(ctx, other, *newLine); err != nil {
			return "", err
		}
	}
	if err := c.give(ctx, contactID, o.Became...); err != nil {
		return "", err
	}
	for _, x := range [][2]*identity.Identity{{person, newPerson}, {line, newLine}} {
		old, present := x[0], x[1]
		if old == nil || present == nil || old.Key == present.Key || c.owned[*old] != contactID {
			continue
		}
		if err := Readdress(ctx, c.tx, c.companyID, contactID, old.Key.Forms(), o.Contact.Number, o.Contact.UserID); err != nil {
			return "", err
		}
		if err := c.lose(ctx, contactID, *old); err != nil {
			return "", err
		}
	}
	return contactID, nil
}

func (c *claimer) ownerOf(x *identity.Identity) string {
	if x == nil {
		return ""
	}
	return c.owned[*x]
}

// give assigns identities that are free or its own to a contact. Its opt-outs apply to them too.
func (c *claimer) give(ctx context.Context, contactID string, all ...identity.Identity) error {
	added := false
	for _, x := range all {
		if c.owned[x] == contactID {
			continue
		}
		if err := addIdentity(ctx, c.tx, c.companyID, contactID, x); err != nil {
			return err
		}
		c.owned[x], added = contactID, true
	}
	if !added {
		return nil
	}
	return spread(ctx, c.tx, c.companyID, contactID)
}

func addIdentity(ctx context.Context, tx *db.Tx, companyID, contactID string, x identity.Identity) error {
	_, err := tx.Exec(ctx, `INSERT INTO contact_identity (company_id, value, kind, scope, other, contact_id) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (company_id, value, kind, scope) DO UPDATE SET contact_id = excluded.contact_id`,
		companyID, x.Key.String(), string(x.Kind), x.Scope, x.Key.Other(), contactID)
	return db.Wrap(err, "write identity")
}

// spread extends the suppressions of any of a contact's identities to all of them.
func spread(ctx context.Context, tx *db.Tx, companyID, contactID string) error {
	all, err := identitiesOf(ctx, tx, companyID, contactID)
	if err != nil {
		return err
	}
	return settings.SpreadSuppressions(ctx, tx, companyID, all)
}

// lose removes an identity from a contact. Its conversations stay, but cannot be answered over that identity.
func (c *claimer) lose(ctx context.Context, contactID string, x identity.Identity) error {
	if _, err := c.tx.Exec(ctx, `DELETE FROM contact_identity
		WHERE company_id = $1 AND value = $2 AND kind = $3 AND scope = $4 AND contact_id = $5`,
		c.companyID, x.Key.String(), string(x.Kind), x.Scope, contactID); err != nil {
		return db.Wrap(err, "remove identity")
	}
	delete(c.owned, x)
	forms, visitors := x.Key.Forms(), []string{visitorFor("", []identity.Identity{x})}
	for _, form := range forms {
		visitors = append(visitors, visitorOf(form))
	}
	if _, err := c.tx.Exec(ctx, "UPDATE contact SET number = CASE WHEN number "+c.s.d.In(1)+" THEN '' ELSE number END, "+
		"user_id = CASE WHEN user_id "+c.s.d.In(1)+" THEN '' ELSE user_id END, "+
		"visitor_id = CASE WHEN visitor_id "+c.s.d.In(2)+" THEN 'contact:' || id ELSE visitor_id END WHERE id = $3 AND company_id = $4",
		c.s.d.List(forms), c.s.d.List(visitors), contactID, c.companyID); err != nil {
		return db.Wrap(err, "write contact")
	}
	return Readdress(ctx, c.tx, c.companyID, contactID, forms, "", "")
}

// join merges two contacts into the older one, and returns its id. Of two open text conversations, the one with the
// latest turn stays open and the other is resolved.
func (c *claimer) join(ctx context.Context, a, b string) (string, error) {
	kept, gone := min(a, b), max(a, b) // ids increase with time
	if err := c.resolveOlder(ctx, kept, gone); err != nil {
		return "", err
	}
	for _, query := range []string{
		"UPDATE conversation SET contact_id = $1 WHERE contact_id = $2 AND company_id = $3",
		"UPDATE contact_identity SET contact_id = $1 WHERE contact_id = $2 AND company_id = $3",
		"UPDATE contact_former SET contact_id = $1 WHERE contact_id = $2 AND company_id = $3",
		`UPDATE contact SET name = CASE WHEN contact.name = '' THEN x.name ELSE contact.name END,
			email = CASE WHEN contact.email = '' THEN x.email ELSE contact.email END,
			number = CASE WHEN contact.number = '' THEN x.number ELSE contact.number END,
			language = CASE WHEN contact.language = '' THEN x.language ELSE contact.language END,
			user_id = CASE WHEN contact.user_id = '' THEN x.user_id ELSE contact.user_id END,
			username = CASE WHEN contact.username = '' THEN x.username ELSE contact.username END,
			seen_at = CASE WHEN contact.seen_at < x.seen_at THEN x.seen_at ELSE contact.seen_at END
			FROM contact AS x WHERE contact.id = $1 AND x.id = $2 AND contact.company_id = $3 AND x.company_id = $3`,
	} {
		if _, err := c.tx.Exec(ctx, query, kept, gone, c.companyID); err != nil {
			return "", db.Wrap(err, "join contacts")
		}
	}
	if _, err := c.tx.Exec(ctx, "DELETE FROM contact WHERE id = $1 AND company_id = $2", gone, c.companyID); err != nil {
		return "", db.Wrap(err, "join contacts")
	}
	for x, id := range c.owned {
		if id == gone {
			c.owned[x] = kept
		}
	}
	return kept, spread(ctx, c.tx, c.companyID, kept)
}

// resolveOlder resolves all open text conversations of two contacts except the one with the latest turn.
func (c *claimer) resolveOlder(ctx context.Context, a, b string) error {
	lock := ""
	if !c.tx.SQLite() {
		lock = " FOR UPDATE"
	}
	open, err := db.Collect(ctx, c.tx, "conversations", scan, "SELECT "+columns+` FROM conversation
		WHERE contact_id IN ($1, $2) AND company_id = $3 AND state <> 'resolved' AND channel <> 'phone'`+lock, a, b, c.companyID)
	if err != nil || len(open) < 2 {
		return err
	}
	slices.SortFunc(open, func(x, y *Conversation) int { return cmp.Or(x.LastAt.Compare(y.LastAt), strings.Compare(x.ID, y.ID)) })
	for _, before := range open[:len(open)-1] {
		have := *before
		have.SetState(Resolved, c.now)
		have.ReplySeq, have.ReplyAt, have.ReadSeq = 0, time.Time{}, have.LastSeq+1
		turns := number(&have, []Turn{{Author: System, Kind: KindEvent, At: c.now, Extra: Extra{Event: "resolved"}}})
		rows := turnRows()
		addTurn(rows, have.ID, &turns[0])
		if err := rows.Write(ctx, c.tx); err != nil {
			return err
		}
		if err := updateRows(ctx, c.tx, []*changedRow{{before, &have}}); err != nil {
			return err
		}
		standing, err := LockRuns(ctx, c.tx, nil)
		if err != nil {
			return err
		}
		standing.Stop(have.ID, c.now)
		if err := standing.Write(ctx, c.tx); err != nil {
			return err
		}
		c.s.record(ctx, c.tx, &have, turns, nil)
		if err := c.s.recordOutward(ctx, c.tx, before, &have, turns, nil); err != nil {
			return err
		}
	}
	return nil
}
