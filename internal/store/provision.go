package store

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/config"
	"carillon/internal/base/resource"
	"carillon/internal/store/audit"
	"carillon/internal/store/configure"
)

// Applied counts the effects of a set-up on objects of one kind.
type Applied struct {
	Kind      string `json:"kind"` // company, user, key, sender, template, suppression or a kind of resource
	Created   int    `json:"created"`
	Updated   int    `json:"updated"`
	Unchanged int    `json:"unchanged"`
}

// Summary is the result of applying a set-up, by kind, in the order of the set-up, without absent kinds.
type Summary []Applied

// Changed reports whether anything was written.
func (s Summary) Changed() bool {
	return slices.ContainsFunc(s, func(t Applied) bool { return t.Created+t.Updated > 0 })
}

// String returns a line such as "company 1 created, template 2 updated, 3 unchanged".
func (s Summary) String() string {
	var kinds []string
	for _, t := range s {
		var counts []string
		for _, c := range []struct {
			n    int
			what string
		}{{t.Created, "created"}, {t.Updated, "updated"}, {t.Unchanged, "unchanged"}} {
			if c.n > 0 {
				counts = append(counts, fmt.Sprintf("%d %s", c.n, c.what))
			}
		}
		kinds = append(kinds, t.Kind+" "+strings.Join(counts, ", "))
	}
	if len(kinds) == 0 {
		return "nothing to apply"
	}
	return strings.Join(kinds, "; ")
}

// KeepPassword returns stored if it is a hash of the password, and otherwise a new hash; stored is empty for a new
// account.
type KeepPassword func(ctx context.Context, stored, password string) (string, error)

// Apply applies a set-up completely or not at all, in one transaction. It is idempotent: unchanged objects are not
// written, and without changes no cache is invalidated. Objects that the set-up omits stay unchanged. Objects are
// found by id or by their natural key (config.Provision); missing ids are generated once. Conflicts with the stored
// state are config.Problems.
func (s *Store) Apply(ctx context.Context, p *config.Provision, keep KeepPassword) (Summary, error) {
	ctx = audit.By(ctx, audit.Author{Origin: audit.SetUp})
	hashes, err := s.hashPasswords(ctx, p, keep)
	if err != nil {
		return nil, err
	}
	var a *applying
	_, err = s.Config.ChangeIf(ctx, func(ctx context.Context, tx *configure.Tx) (bool, error) {
		a = &applying{tx: tx, now: time.Now(), hashes: hashes, setUp: p} // a repeated transaction starts over
		if err := a.all(ctx, p); err != nil {
			return false, err
		}
		return a.summary.Changed(), a.problems.Sorted()
	})
	if err != nil {
		if problems, ok := errors.AsType[config.Problems](err); ok {
			return nil, problems
		}
		return nil, fmt.Errorf("apply the set-up: %w", err)
	}
	for _, x := range a.put {
		if err := s.Resources.Index(ctx, x.companyID, x.kind, x.id); err != nil {
			return nil, fmt.Errorf("index what the set-up has to search: %w", err)
		}
	}
	return a.summary, nil
}

// hashPasswords hashes before the transaction, which must not occupy the writer for that long.
func (s *Store) hashPasswords(ctx context.Context, p *config.Provision, keep KeepPassword) (map[string]string, error) {
	hashes := map[string]string{}
	for i := range p.Companies {
		for j := range p.Companies[i].Users {
			if err := s.hashPassword(ctx, hashes, &p.Companies[i].Users[j], keep); err != nil {
				return nil, err
			}
		}
	}
	return hashes, nil
}

func (s *Store) hashPassword(ctx context.Context, hashes map[string]string, u *config.User, keep KeepPassword) error {
	stored, before := hashes[u.Email]
	if !before {
		a, err := s.Accounts.AccountByEmail(ctx, u.Email)
		if err != nil {
			return err
		}
		if a != nil {
			stored = a.PasswordHash
		}
	}
	password := u.Password
	switch {
	case password == "" && stored != "":
		return nil
	case password == "":
		// The password is random: the user cannot sign in until one is set, and gets the usual error.
		password = base64.RawURLEncoding.EncodeToString(randomBytes(32))
	}
	hash, err := keep(ctx, stored, password)
	if err != nil {
		return fmt.Errorf("hash a password: %w", err)
	}
	if before && hash != stored {
		return config.Problems{{At: u.At, Text: "the user has another password, or none, in another company"}}
	}
	hashes[u.Email] = hash
	return nil
}

// applying is one run of a set-up inside its transaction.
type applying struct {
	tx       *configure.Tx
	now      time.Time
	hashes   map[string]string // by e-mail
	setUp    *config.Provision
	summary  Summary
	problems config.Problems
	made     int64 // number of templates so far, so that their ids differ
	put      []putResource
}

// putResource is a resource of the set-up in its stored form.
type putResource struct {
	companyID string
	kind      resource.Kind
	id        string
}

// effect returns whether an object was created, updated or unchanged.
type effect = configure.Effect

const (
	unchanged = configure.Unchanged
	created   = configure.Created
	updated   = configure.Updated
)

// count adds an object to the summary, or returns its error with its position.
func (a *applying) count(kind string, at config.Position, e effect, err error) error {
	if err != nil {
		return placed(at, err)
	}
	i := slices.IndexFunc(a.summary, func(t Applied) bool { return t.Kind == kind })
	if i < 0 {
		i, a.summary = len(a.summary), append(a.summary, Applied{Kind: kind})
	}
	switch t := &a.summary[i]; e {
	case created:
		t.Created++
	case updated:
		t.Updated++
	case unchanged:
		t.Unchanged++
	}
	return nil
}

func (a *applying) problem(at config.Position, text string) {
	a.problems = append(a.problems, config.Problem{At: at, Text: text})
}

// placed adds the position in the set-up to a conflict; other errors stay internal. A violated constraint ends the
// transaction, so it is the only problem reported.
func placed(at config.Position, err error) error {
	var e *carillon.Error
	if !errors.As(err, &e) {
		return err
	}
	reason, _ := e.Details.Find("reason").(string)
	if reason == "" {
		reason = e.Message
	}
	return config.Problems{{At: at, Text: reason}}
}

func (a *applying) all(ctx context.Context, p *config.Provision) error {
	for i := range p.Companies {
		c := &p.Companies[i]
		id, err := a.company(ctx, c)
		if err != nil {
			return err
		}
		if id == "" {
			continue
		}
		a.tx.Changes(id)
		for _, part := range []func(context.Context, string, *config.Company) error{
			a.users, a.keys, a.senders, a.templates, a.resources, a.lineAgents, a.suppressions,
		} {
			if err := part(ctx, id, c); err != nil {
				return err
			}
		}
	}
	return nil
}
