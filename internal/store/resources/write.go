package resources

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/resource"
	"carillon/internal/store/audit"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
	"carillon/internal/store/events"
	"carillon/internal/store/sites"
)

// PutResource creates or replaces a validated resource of the company, and fills its id, the ids of its references,
// and a generated secret. made reports whether a secret was generated. Errors: validation_failed for a reference to
// nothing or a document that is too large, conflict, limit_exceeded.
func (s *Store) PutResource(ctx context.Context, companyID string, k resource.Kind, x resource.Resource) (made bool, err error) {
	return s.putResource(ctx, companyID, k, x, func(context.Context, *configure.Tx) error { return nil })
}

// PutResource is Store.PutResource inside a transaction. An unchanged resource is not written. Its search index is
// written by Store.Index, after the transaction.
func PutResource(ctx context.Context, tx *configure.Tx, companyID string, k resource.Kind, x resource.Resource,
	now time.Time,
) (e configure.Effect, made bool, err error) {
	id, name := x.Key()
	if *id, err = identify(ctx, tx, companyID, k, *id, *name, now); err != nil {
		return configure.Unchanged, false, err
	}
	if err := resolve(ctx, tx, companyID, x); err != nil {
		return configure.Unchanged, false, err
	}
	have, err := findResource(ctx, tx, companyID, k.Name, *id)
	if err != nil {
		return configure.Unchanged, false, err
	}
	if made, err = fillSecrets(x, have, k); err != nil {
		return configure.Unchanged, false, err
	}
	secret, err := resource.PackSecrets(x)
	if err != nil {
		return configure.Unchanged, false, fmt.Errorf("write %s: %w", k.Name, err)
	}
	doc, err := document(x)
	if err != nil {
		return configure.Unchanged, false, fmt.Errorf("write %s: %w", k.Name, err)
	}
	want := resourceRow{found: true, active: true, name: *name, doc: doc, secret: secret}
	if want == have {
		return configure.Unchanged, made, nil
	}
	if err := roomForBytes(ctx, tx, companyID, k, len(doc), len(have.doc)); err != nil {
		return configure.Unchanged, false, err
	}
	switch {
	case !have.found:
		if err := roomForResource(ctx, tx, companyID, k); err != nil {
			return configure.Unchanged, false, err
		}
		e = configure.Created
	default:
		e = configure.Updated
	}
	if err := writeResource(ctx, tx, companyID, k, *id, want, now); err != nil {
		return configure.Unchanged, false, err
	}
	if err := writeHead(ctx, tx.Tx, companyID, k, *id, x); err != nil {
		return configure.Unchanged, false, err
	}
	if err := record(ctx, tx, companyID, k, *id, have, want, now); err != nil {
		return configure.Unchanged, false, err
	}
	if e == configure.Created && k.Name == "webhook" {
		if err := events.BeginHook(ctx, tx.Tx, companyID, *id); err != nil {
			return configure.Unchanged, false, err
		}
	}
	if k.Name == "site" {
		if err := sites.Begin(ctx, tx.Tx, companyID, *id, now); err != nil {
			return configure.Unchanged, false, err
		}
	}
	if err := beginVectors(ctx, tx.Tx, companyID, *id, x, now); err != nil {
		return configure.Unchanged, false, err
	}
	return e, made, nil
}

// record records a change of a resource; a missing row means none.
func record(ctx context.Context, tx *configure.Tx, companyID string, k resource.Kind, id string, before, after resourceRow,
	now time.Time,
) error {
	e := audit.Entry{CompanyID: companyID, Kind: audit.Kind(k.Name), ID: id, Name: cmp.Or(after.name, before.name), Action: audit.Changed}
	switch {
	case !before.found:
		e.Action = audit.Created
	case !after.found:
		e.Action = audit.Deleted
	}
	var err error
	if e.Before, err = before.recorded(); err != nil {
		return err
	}
	if e.After, err = after.recorded(); err != nil {
		return err
	}
	return audit.Record(ctx, tx.Tx, now, e)
}

// recorded returns the recorded form of a row: its document, and whether its secrets differ.
func (r resourceRow) recorded() (any, error) {
	if !r.found {
		return nil, nil
	}
	var doc audit.Decoded
	d := json.NewDecoder(strings.NewReader(r.doc))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		return nil, fmt.Errorf("read %s: %w", r.name, err)
	}
	doc["active"] = r.active
	if r.secret != "" {
		doc["secret"] = r.secret // recorded only as a change
	}
	return doc, nil
}

// identify returns the id of the resource: its own, that of the resource with its name, or a new one.
func identify(ctx context.Context, tx *configure.Tx, companyID string, k resource.Kind, id, name string, now time.Time) (string, error) {
	if id == "" {
		found, err := resourceID(ctx, tx, companyID, k.Name, name)
		if found == "" {
			found = carillon.NewID(now)
		}
		return found, err
	}
	if k.Local {
		return id, nil
	}
	var owner string
	err := tx.Row(ctx, []any{&owner}, "SELECT company_id FROM resource WHERE kind = $1 AND id = $2 AND company_id <> $3 LIMIT 1",
		k.Name, id, companyID)
	if err == nil {
		return "", carillon.InConflict("The id of the " + k.Name + " is taken")
	}
	return id, db.Wrap(db.Ignore(err), "look up "+k.Name)
}

// resourceID finds a company's resource by id or name; empty if there is none.
func resourceID(ctx context.Context, tx *configure.Tx, companyID, kind, idOrName string) (id string, err error) {
	err = tx.Row(ctx, []any{&id}, `SELECT id FROM resource WHERE company_id = $1 AND kind = $2 AND (id = $3 OR name = $3)
		ORDER BY CASE WHEN id = $3 THEN 0 ELSE 1 END, id LIMIT 1`, companyID, kind, idOrName)
	return id, db.Wrap(db.Ignore(err), "look up "+kind)
}

// resolve replaces the names in references by ids. The error joins one for each missing resource. Repeated references
// are looked up once.
func resolve(ctx context.Context, tx *configure.Tx, companyID string, x resource.Resource) error {
	from, ok := x.(resource.Referrer)
	if !ok {
		return nil
	}
	type target struct{ id, doc string }
	known := map[[2]string]target{}
	var c resource.Check
	for _, r := range from.References() {
		if *r.To == "" {
			continue
		}
		key := [2]string{r.Kind, *r.To}
		to, looked := known[key]
		if !looked {
			var err error
			if to.id, err = resourceID(ctx, tx, companyID, r.Kind, *r.To); err != nil {
				return err
			}
			if to.id != "" && r.Check != nil {
				row, err := findResource(ctx, tx, companyID, r.Kind, to.id)
				if err != nil {
					return err
				}
				to.doc = row.doc
			}
			known[key] = to
		}
		c.That(to.id != "", r.Field, "Names no "+r.Kind+" of the company: "+carillon.Shorten(*r.To))
		if to.id == "" {
			continue
		}
		if *r.To = to.id; r.Check != nil {
			reason := r.Check([]byte(to.doc))
			c.That(reason == "", r.Field, reason)
		}
	}
	return c.Err()
}

// fillSecrets keeps the stored secrets if none are given; otherwise it generates one if the kind has generated
// secrets, and reports whether it did.
func fillSecrets(x resource.Resource, have resourceRow, k resource.Kind) (made bool, err error) {
	if have.secret != "" {
		before := k.New()
		if err := json.Unmarshal([]byte(have.doc), before); err != nil {
			return false, fmt.Errorf("read %s: %w", k.Name, err)
		}
		if err := resource.UnpackSecrets(before, have.secret); err != nil {
			return false, err
		}
		resource.KeepSecrets(x, before)
	}
	var c resource.Check
	for _, s := range resource.SecretsOf(x) {
		c.That(*s.Value != "" || s.Required == "", s.Required, "Must be given: there is none yet, or it was for something else")
	}
	if err := c.Err(); err != nil || k.NewSecret == nil {
		return false, err
	}
	for _, s := range resource.SecretsOf(x) {
		if *s.Value == "" && s.Name == "" { // other kinds of secrets are given or absent
			*s.Value, made = k.NewSecret(), true
		}
	}
	return made, nil
}

// document is the resource in JSON, without its secrets.
func document(x resource.Resource) (string, error) {
	defer resource.HideSecrets(x)()
	text, err := json.Marshal(x)
	return string(text), err
}

func roomForResource(ctx context.Context, tx *configure.Tx, companyID string, k resource.Kind) error {
	var n int
	if err := tx.Row(ctx, []any{&n}, "SELECT COUNT(*) FROM resource WHERE company_id = $1 AND kind = $2", companyID, k.Name); err != nil {
		return fmt.Errorf("count %s: %w", k.Plural, err)
	}
	most := cmp.Or(k.Most, resource.DefaultLimit)
	if n < most {
		return nil
	}
	return &carillon.Error{Code: carillon.LimitExceeded, Message: "The company has too many " + k.Plural, Details: carillon.Details{
		{Key: "limit", Value: most}, {Key: "used", Value: n},
	}}
}

// roomForBytes refuses a document that is too large, or that makes a company's total too large. A document that does
// not grow is accepted: it may be older than the bounds.
func roomForBytes(ctx context.Context, tx *configure.Tx, companyID string, k resource.Kind, size, before int) error {
	one, all := k.Bounds()
	if size <= before {
		return nil
	}
	if size > one {
		return carillon.Invalid("body", "Must have at most "+strconv.Itoa(one)+" bytes as JSON, and has "+strconv.Itoa(size))
	}
	used := 0
	if err := tx.Row(ctx, []any{&used},
		"SELECT COALESCE(SUM(OCTET_LENGTH(doc)), 0) FROM resource WHERE company_id = $1 AND kind = $2", companyID, k.Name); err != nil {
		return fmt.Errorf("measure %s: %w", k.Plural, err)
	}
	if used-before+size <= all {
		return nil
	}
	return &carillon.Error{
		Code: carillon.LimitExceeded, Message: "The company's " + k.Plural + " are too large together, in bytes",
		Details: carillon.Details{
			{Key: "limit", Value: all}, {Key: "used", Value: used},
		},
	}
}

// sealedResource returns the row for which a resource's secret is sealed.
func sealedResource(companyID, kind, id string) string {
	return "resource/" + companyID + "/" + kind + "/" + id
}

func writeResource(ctx context.Context, tx *configure.Tx, companyID string, k resource.Kind, id string, row resourceRow,
	now time.Time,
) error {
	sealed := ""
	if row.secret != "" {
		var err error
		if sealed, err = tx.Seal.SealOf(ctx, tx, companyID, sealedResource(companyID, k.Name, id), []byte(row.secret)); err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx,
		`INSERT INTO resource (company_id, kind, id, name, active, doc, sealed, updated_at) VALUES ($1, $2, $3, $4, TRUE, $5, $6, $7)
		ON CONFLICT (company_id, kind, id) DO UPDATE SET name = excluded.name, active = excluded.active, doc = excluded.doc,
			sealed = excluded.sealed,
		updated_at = CASE WHEN excluded.updated_at > resource.updated_at THEN excluded.updated_at ELSE resource.updated_at + 1 END`,
		companyID, k.Name, id, row.name, row.doc, sealed, db.Millis(now))
	if db.Duplicate(err) {
		return carillon.InConflict("Another " + k.Name + " of the company has the name " + row.name)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", k.Name, err)
	}
	return nil
}
