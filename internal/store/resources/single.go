package resources

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"carillon"
	"carillon/internal/base/resource"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// AddResource is PutResource for a resource that must not exist yet, by id or name. Errors: conflict if it does.
func (s *Store) AddResource(ctx context.Context, companyID string, k resource.Kind, x resource.Resource) (made bool, err error) {
	return s.putResource(ctx, companyID, k, x, func(ctx context.Context, tx *configure.Tx) error {
		id, name := x.Key()
		for _, key := range []string{*id, *name} {
			if key == "" {
				continue
			}
			found, err := resourceID(ctx, tx, companyID, k.Name, key)
			if err != nil {
				return err
			}
			if found != "" {
				return carillon.InConflict("The company has " + k.Phrase + " of this id or name: " + found)
			}
		}
		return nil
	})
}

// ReplaceResource is PutResource for a resource that must exist, by id. Errors: not_found if it does not.
func (s *Store) ReplaceResource(ctx context.Context, companyID string, k resource.Kind, x resource.Resource) (made bool, err error) {
	return s.putResource(ctx, companyID, k, x, func(ctx context.Context, tx *configure.Tx) error {
		id, _ := x.Key()
		row, err := findResource(ctx, tx, companyID, k.Name, *id)
		if err == nil && !row.found {
			err = carillon.Absent(k.Title())
		}
		return err
	})
}

// Keep takes over the parts of the stored resource that the program added (resource.Keeper).
func Keep(ctx context.Context, tx *configure.Tx, companyID string, k resource.Kind, x resource.Resource) error {
	keeper, ok := x.(resource.Keeper)
	if !ok {
		return nil
	}
	id, _ := x.Key()
	row, err := findResource(ctx, tx, companyID, k.Name, *id)
	if err != nil || !row.found {
		return err
	}
	stored := k.New()
	if err := json.Unmarshal([]byte(row.doc), stored); err != nil {
		return fmt.Errorf("read %s %s: %w", k.Name, *id, err)
	}
	keeper.Keep(stored)
	return nil
}

// Edit changes a stored resource in its transaction, and runs besides in it. Both may run more than once. edit gets the
// resource without its secrets. Errors: not_found, those of edit, besides and Validate, and those of PutResource.
func Edit(ctx context.Context, s *Store, companyID string, k resource.Kind, id string, edit func(x resource.Resource) error,
	besides ...func(ctx context.Context, tx *db.Tx) error,
) error {
	_, err := s.config.ChangeIf(ctx, func(ctx context.Context, tx *configure.Tx) (bool, error) {
		tx.Changes(companyID)
		row, err := findResource(ctx, tx, companyID, k.Name, id)
		if err != nil {
			return false, err
		}
		if !row.found {
			return false, carillon.Absent(k.Title())
		}
		x := k.New()
		if err := json.Unmarshal([]byte(row.doc), x); err != nil {
			return false, fmt.Errorf("read %s %s: %w", k.Name, id, err)
		}
		if err := edit(x); err != nil {
			return false, err
		}
		if err := x.Validate(); err != nil {
			return false, err
		}
		e, _, err := PutResource(ctx, tx, companyID, k, x, time.Now())
		for _, f := range besides {
			if err == nil {
				err = f(ctx, tx.Tx)
			}
		}
		return e != configure.Unchanged || len(besides) > 0, err
	})
	if err != nil {
		return err
	}
	return s.Index(context.WithoutCancel(ctx), companyID, k, id)
}

func (s *Store) putResource(ctx context.Context, companyID string, k resource.Kind, x resource.Resource,
	check func(context.Context, *configure.Tx) error,
) (made bool, err error) {
	_, err = s.config.ChangeIf(ctx, func(ctx context.Context, tx *configure.Tx) (bool, error) {
		tx.Changes(companyID)
		if err := check(ctx, tx); err != nil {
			return false, err
		}
		e, madeNow, err := PutResource(ctx, tx, companyID, k, x, time.Now())
		made = made || madeNow // a repeated transaction finds the secret made by the first run
		return e != configure.Unchanged, err
	})
	if err != nil {
		return made, err
	}
	id, _ := x.Key()
	return made, s.Index(context.WithoutCancel(ctx), companyID, k, *id)
}

// DeleteResource deletes a company's resource. kinds are all that may refer to it. Errors: not_found; conflict while
// another resource refers to it.
func (s *Store) DeleteResource(ctx context.Context, companyID string, kinds []resource.Kind, k resource.Kind, id string) error {
	var unused string
	if err := s.config.Change(ctx, func(ctx context.Context, tx *configure.Tx) error {
		tx.Changes(companyID)
		before, err := findResource(ctx, tx, companyID, k.Name, id)
		if err != nil {
			return err
		}
		n, err := tx.Exec(ctx, "DELETE FROM resource WHERE company_id = $1 AND kind = $2 AND id = $3", companyID, k.Name, id)
		if err != nil {
			return fmt.Errorf("delete %s: %w", k.Name, err)
		}
		if n == 0 {
			return carillon.Absent(k.Title())
		}
		if err := record(ctx, tx, companyID, k, id, before, resourceRow{}, time.Now()); err != nil {
			return err
		}
		if k.Name == "secret" {
			if _, err := tx.Exec(ctx, "DELETE FROM secret_use WHERE company_id = $1 AND id = $2", companyID, id); err != nil {
				return fmt.Errorf("delete when it was used: %w", err)
			}
		}
		if k.SearchVersion > 0 {
			if unused, err = forget(ctx, tx, companyID, id); err != nil {
				return err
			}
			if err := endVectors(ctx, tx.Tx, companyID, id); err != nil {
				return err
			}
		}
		by, err := referrer(ctx, tx, companyID, kinds, k, id)
		if err == nil && by != "" {
			err = carillon.InConflict("It is in use: " + by + " refers to it")
		}
		return err
	}); err != nil || k.SearchVersion == 0 {
		return err
	}
	return passageCopy{s: s, companyID: companyID, key: unused}.delete(context.WithoutCancel(ctx))
}

// mentions returns the pattern of documents that may refer to a resource.
func mentions(k resource.Kind, id string) string {
	if k.Mention != "" {
		return "%" + k.Mention + id + "%"
	}
	return `%"` + id + `"%`
}

// referrer returns the name of a resource that refers to the given id; empty if there is none.
func referrer(ctx context.Context, tx *configure.Tx, companyID string, kinds []resource.Kind, k resource.Kind, id string) (string, error) {
	type document struct{ kind, name, text string }
	found, err := db.Collect(ctx, tx, "references", func(scan db.Scan) (d document, err error) {
		err = scan(&d.kind, &d.name, &d.text)
		return d, err
	}, "SELECT kind, name, doc FROM resource WHERE company_id = $1 AND doc LIKE $2", companyID, mentions(k, id))
	if err != nil {
		return "", err
	}
	for _, d := range found {
		i := slices.IndexFunc(kinds, func(k resource.Kind) bool { return k.Name == d.kind })
		if i < 0 {
			continue
		}
		x := kinds[i].New()
		from, ok := x.(resource.Referrer)
		if !ok {
			continue
		}
		if err := json.Unmarshal([]byte(d.text), x); err != nil {
			return "", fmt.Errorf("read %s %s: %w", d.kind, d.name, err)
		}
		if slices.ContainsFunc(from.References(), func(r resource.Reference) bool { return r.Kind == k.Name && *r.To == id }) {
			return "the " + d.kind + " " + d.name, nil
		}
	}
	return "", nil
}
