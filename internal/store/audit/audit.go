// Package audit is the SQL of the change log: who changed what, when, from where, with the values before and after. A
// change is recorded in the transaction that makes it, so that log and data always agree. Secrets are not recorded,
// only the fact that they changed. The author is in the context of the request (By).
package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/redact"
	"carillon/internal/store/db"
)

// Origin is the source of a change.
type Origin string

// The origins.
const (
	Panel   Origin = "panel"
	API     Origin = "api"
	SetUp   Origin = "setup"   // a set-up file
	Command Origin = "command" // the command line
	Channel Origin = "channel" // the provider reported it
	System  Origin = "system"  // an automatic action of the program
)

// Origins lists every origin.
func Origins() []Origin { return []Origin{Panel, API, SetUp, Command, Channel, System} }

// Author is the account, key or process that changes something.
type Author struct {
	Kind    string // account or key; empty if Origin alone identifies the author
	ID      string // id of the account or access key
	Name    string // the account's name or the key's label at that time
	Origin  Origin
	Address string // IP address of the client; empty if none
}

// Key returns the author's name in filters: account:ID, key:ID, or else the origin.
func (a Author) Key() string {
	if a.Kind == "" {
		return string(a.Origin)
	}
	return a.Kind + ":" + a.ID
}

type contextKey struct{}

// By returns a context whose changes are recorded under an author.
func By(ctx context.Context, a Author) context.Context {
	return context.WithValue(ctx, contextKey{}, a)
}

// AuthorOf returns the author of changes in a context; the program if none is set.
func AuthorOf(ctx context.Context) Author {
	if a, ok := ctx.Value(contextKey{}).(Author); ok {
		return a
	}
	return Author{Origin: System}
}

// Kind is the kind of object that changes.
type Kind string

// The kinds; agents, knowledge, flows, widgets and webhooks have the names of their resources.
const (
	Company      Kind = "company"
	Key          Kind = "key"
	User         Kind = "user"
	Invitation   Kind = "invitation"
	Sender       Kind = "sender"
	Template     Kind = "template"
	Suppression  Kind = "suppression"
	Notification Kind = "notification"
	Call         Kind = "call"
	Job          Kind = "job"
	Maintenance  Kind = "maintenance"
	Restored     Kind = "restored"
	Canned       Kind = "canned_reply"
	SomePerson   Kind = "person"
	Prices       Kind = "prices"
)

// Action is the kind of change.
type Action string

// The actions.
const (
	Created       Action = "created"
	Changed       Action = "changed"
	Deleted       Action = "deleted"
	Revoked       Action = "revoked"
	Joined        Action = "joined"
	RoleChanged   Action = "role_changed"
	Removed       Action = "removed"
	PasswordSet   Action = "password_set"
	LinkMade      Action = "password_link_made"
	SignedOut     Action = "signed_out"
	FactorOn      Action = "second_factor_on"
	FactorOff     Action = "second_factor_off"
	CodesMade     Action = "recovery_codes_made"
	Sent          Action = "sent" // an invitation, sent again
	Withdrawn     Action = "withdrawn"
	Submitted     Action = "submitted"
	Refused       Action = "refused"
	Decided       Action = "decided"
	Categorized   Action = "categorized"
	Added         Action = "added"
	Lifted        Action = "lifted"
	Canceled      Action = "canceled"
	Moved         Action = "moved"
	Resent        Action = "resent"
	HungUp        Action = "hung_up"
	Started       Action = "started"
	Paused        Action = "paused"
	Resumed       Action = "resumed"
	Ended         Action = "ended"
	SendDecided   Action = "send_decided"
	FailDecided   Action = "fail_decided"
	LinkAccepted  Action = "identity_linked"
	Erased        Action = "erased"
	RecordingGone Action = "recording_deleted" // of a call, after the company's retention
)

// Entry is one change. Before and After are marshaled to JSON objects; they are nil if the object did not exist or
// there is nothing to compare. Equal fields are omitted.
type Entry struct {
	CompanyID     string
	Kind          Kind
	ID            string // id of the object
	Name          string // name of the object, for people
	Action        Action
	Before, After any
}

// maxName bounds the name of an object or an author.
const maxName = 200 // in characters

func short(s string) string {
	if r := []rune(s); len(r) > maxName {
		s = string(r[:maxName-1]) + "…"
	}
	return db.Storable(redact.Text(s))
}

// Record writes a change of a company into the transaction that makes it. A change that leaves the documents equal is
// not recorded.
func Record(ctx context.Context, tx *db.Tx, now time.Time, e Entry) error {
	changes, err := compare(e.Before, e.After)
	if err != nil {
		return fmt.Errorf("record a change: %w", err)
	}
	if len(changes) == 0 && e.Before != nil && e.After != nil {
		return nil
	}
	doc, err := json.Marshal(changes)
	if err != nil {
		return fmt.Errorf("record a change: %w", err)
	}
	a := AuthorOf(ctx)
	_, err = tx.Exec(ctx,
		`INSERT INTO audit (company_id, id, at, author, author_name, origin, address, kind, object_id, object_name, action, changes)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		e.CompanyID, carillon.NewID(now), db.Millis(now), a.Key(), short(a.Name), string(a.Origin), a.Address, string(e.Kind), e.ID,
		short(e.Name),
		string(e.Action), string(doc))
	return db.Wrap(err, "record a change")
}

// RecordAll records a change of an account in each of its companies: its sign-in belongs to all of them.
func RecordAll(ctx context.Context, tx *db.Tx, now time.Time, accountID string, e Entry) error {
	type membership struct{ company, name string }
	all, err := db.Collect(ctx, tx, "the companies of a user", func(scan db.Scan) (m membership, err error) {
		err = scan(&m.company, &m.name)
		return m, err
	}, "SELECT m.company_id, a.email FROM membership m JOIN account a ON a.id = m.account_id WHERE m.account_id = $1", accountID)
	if err != nil {
		return err
	}
	for _, m := range all {
		e.CompanyID, e.Kind, e.ID, e.Name = m.company, User, accountID, m.name
		if err := Record(ctx, tx, now, e); err != nil {
			return err
		}
	}
	return nil
}

// Change is a recorded change. Lists omit Changes.
type Change struct {
	ID         string
	At         time.Time
	Author     string // in the form of Author.Key
	AuthorName string
	Origin     Origin
	Address    string
	Kind       Kind
	ObjectID   string
	ObjectName string
	Action     Action
	Changes    []Field
}

// Filter selects changes; empty fields do not filter.
type Filter struct {
	Author   string
	Kind     Kind
	ObjectID string // only with Kind
	From, To time.Time
	Before   string // an id; older changes only
	Limit    int
}

// Store reads the table. Its methods are safe for concurrent use.
type Store struct{ d *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }

// columns starts with those that filters use.
const columns = "id, at, author, author_name, origin, address, kind, object_id, object_name, action"

// List returns a company's changes, newest first, without the values before and after. Find returns those.
func (s *Store) List(ctx context.Context, companyID string, f Filter) ([]Change, error) {
	query, args := listQuery(companyID, f)
	return db.Collect(ctx, s.d, "changes", func(scan db.Scan) (Change, error) { return scanChange(scan) }, query, args...)
}

func listQuery(companyID string, f Filter) (string, []any) {
	var q strings.Builder
	q.WriteString("SELECT " + columns + " FROM audit WHERE company_id = $1")
	args := []any{companyID}
	where := func(condition string, value any) {
		args = append(args, value)
		fmt.Fprintf(&q, " AND %s $%d", condition, len(args))
	}
	if f.Author != "" {
		where("author =", f.Author)
	}
	if f.Kind != "" {
		where("kind =", string(f.Kind))
	}
	if f.ObjectID != "" {
		where("object_id =", f.ObjectID)
	}
	if !f.From.IsZero() {
		where("id >=", db.FirstID(f.From))
	}
	if !f.To.IsZero() {
		where("id <", db.FirstID(f.To))
	}
	if f.Before != "" {
		where("id <", f.Before)
	}
	args = append(args, f.Limit)
	fmt.Fprintf(&q, " ORDER BY id DESC LIMIT $%d", len(args))
	return q.String(), args
}

func scanChange(scan db.Scan, more ...any) (c Change, err error) {
	var at int64
	err = scan(append([]any{
		&c.ID, &at, &c.Author, &c.AuthorName, &c.Origin, &c.Address, &c.Kind, &c.ObjectID, &c.ObjectName,
		&c.Action,
	}, more...)...)
	c.At = db.Instant(at)
	return c, err
}

// Find returns a change of a company with its fields. Errors: not_found.
func (s *Store) Find(ctx context.Context, companyID, id string) (*Change, error) {
	c, err := db.Find(ctx, s.d, "change", func(scan db.Scan) (*Change, error) {
		var doc string
		c, err := scanChange(scan, &doc)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(doc), &c.Changes); err != nil {
			return nil, fmt.Errorf("read the fields of change %s: %w", id, err)
		}
		return &c, nil
	}, "SELECT "+columns+", changes FROM audit WHERE company_id = $1 AND id = $2", companyID, id)
	if err == nil && c == nil {
		err = carillon.Absent("Change")
	}
	return c, err
}

// Person is an author of changes, for a filter.
type Person struct {
	Key, Name string
	Origin    Origin
}

const authorsQuery = `WITH RECURSIVE authors (author) AS (
		SELECT MIN(author) FROM audit WHERE company_id = $1
		UNION ALL SELECT (SELECT MIN(author) FROM audit WHERE company_id = $1 AND audit.author > authors.author) FROM authors
			WHERE author IS NOT NULL
	) SELECT author FROM authors WHERE author IS NOT NULL LIMIT $2`

// Authors returns the authors of a company's changes, each with the last name used. It skips from one author to the
// next in an index.
func (s *Store) Authors(ctx context.Context, companyID string, most int) ([]Person, error) {
	keys, err := db.Collect(ctx, s.d, "authors", func(scan db.Scan) (key string, err error) {
		err = scan(&key)
		return key, err
	}, authorsQuery, companyID, most)
	if err != nil {
		return nil, err
	}
	all := make([]Person, 0, len(keys))
	for _, key := range keys {
		last, err := s.List(ctx, companyID, Filter{Author: key, Limit: 1})
		if err != nil {
			return nil, err
		}
		for _, c := range last {
			all = append(all, Person{c.Author, c.AuthorName, c.Origin})
		}
	}
	return all, nil
}
