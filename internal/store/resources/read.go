package resources

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"carillon"
	"carillon/internal/base/resource"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// Agent is a virtual agent with the fields needed to accept a call.
type Agent struct {
	ID     string
	Name   string
	Active bool
}

// Agent returns a company's active voice agent, from the cache. Errors: agent_not_found, which suggests an existing one.
func (s *Store) Agent(ctx context.Context, companyID, id string) (*Agent, error) {
	a, err := s.agents.Get(ctx, configure.OwnedKey(companyID, id), func(ctx context.Context) (*Agent, string, error) {
		a, err := s.agent(ctx, companyID, id)
		return a, companyID, err
	})
	if err != nil || a.Active {
		return a, err
	}
	suggestion := "Create an agent in the panel or in the set-up file"
	var name, other string
	if err := s.d.Row(ctx, []any{&other, &name}, `SELECT id, name FROM resource WHERE company_id = $1 AND kind = 'agent' AND active
		ORDER BY name LIMIT 1`, companyID); err == nil {
		suggestion = fmt.Sprintf("Use an active agent of the company, such as %s (%s)", other, name)
	}
	return nil, &carillon.Error{Code: carillon.AgentNotFound, Message: "Voice agent not found", Details: carillon.Details{
		{Key: "agent_id", Value: id}, {Key: "suggestion", Value: suggestion},
	}}
}

// agent reads an agent. A missing one is returned as inactive and without a name.
func (s *Store) agent(ctx context.Context, companyID, id string) (*Agent, error) {
	a := &Agent{ID: id}
	err := s.d.Row(ctx, []any{&a.Name, &a.Active},
		"SELECT name, active FROM resource WHERE company_id = $1 AND kind = 'agent' AND id = $2", companyID, id)
	return a, db.Wrap(db.Ignore(err), "read agent")
}

// FlowKnown reports whether an event starts a flow of the company, from the cache.
func (s *Store) FlowKnown(ctx context.Context, companyID, event string) (bool, error) {
	events, err := s.events.Get(ctx, companyID, func(ctx context.Context) (map[string]bool, string, error) {
		events := map[string]bool{}
		err := s.eachHead(ctx, companyID, resource.Kind{Name: "flow", Plural: "flows"}, func(h *Head, text string) error {
			var flow struct {
				Trigger struct {
					Event string `json:"event"`
				} `json:"trigger"`
			}
			err := json.Unmarshal([]byte(text), &flow)
			events[flow.Trigger.Event] = true
			return err
		})
		return events, companyID, err
	})
	return events[event], err
}

// found is a resource with its company.
type found struct {
	companyID string
	resource  resource.Resource // nil if there is none
}

// Find returns the resource of a globally unique id, with its secret, and its company, from the cache; nil if there is
// none. It must not be changed.
func (s *Store) Find(ctx context.Context, k resource.Kind, id string) (x resource.Resource, companyID string, err error) {
	f, err := s.found.Get(ctx, k.Name+"/"+id, func(ctx context.Context) (found, string, error) {
		var f found
		var row resourceRow
		err := s.d.Row(ctx, []any{&f.companyID, &row.name, &row.doc, &row.secret, &row.key},
			"SELECT company_id, name, doc, sealed, "+resourceKey+" FROM resource WHERE kind = $1 AND id = $2 AND active LIMIT 1",
			k.Name, id)
		if err != nil {
			return f, "", db.Wrap(db.Ignore(err), "look up "+k.Name)
		}
		f.resource, err = s.readResource(f.companyID, k, id, row)
		return f, f.companyID, err
	})
	return f.resource, f.companyID, err
}

// Resource reads a company's resource with its secret. Errors: not_found.
func (s *Store) Resource(ctx context.Context, companyID string, k resource.Kind, id string) (resource.Resource, error) {
	var row resourceRow
	err := s.d.Row(ctx, []any{&row.name, &row.doc, &row.secret, &row.key},
		"SELECT name, doc, sealed, "+resourceKey+" FROM resource WHERE company_id = $1 AND kind = $2 AND id = $3",
		companyID, k.Name, id)
	if err != nil {
		return nil, db.Absent(err, k.Title())
	}
	return s.readResource(companyID, k, id, row)
}

// Resources reads a company's resources of a kind after an id, by id, with their secrets.
func (s *Store) Resources(ctx context.Context, companyID string, k resource.Kind, after string, limit int) ([]resource.Resource, error) {
	return db.Collect(ctx, s.d, k.Plural, func(scan db.Scan) (resource.Resource, error) {
		var id string
		var row resourceRow
		if err := scan(&id, &row.name, &row.doc, &row.secret, &row.key); err != nil {
			return nil, err
		}
		return s.readResource(companyID, k, id, row)
	}, "SELECT id, name, doc, sealed, "+resourceKey+" FROM resource WHERE company_id = $1 AND kind = $2 AND id > $3 ORDER BY id LIMIT $4",
		companyID, k.Name, after, limit)
}

// Named is a resource found by its name.
type Named struct{ Kind, ID, Name string }

// likeEscaper escapes a text for LIKE with the escape \.
//
//nolint:gochecknoglobals // read-only
var likeEscaper = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)

// Search returns up to limit of a company's resources of a kind whose name or id contains a text, in any case.
func Search(ctx context.Context, d *db.DB, companyID string, k resource.Kind, text string, limit int) ([]Named, error) {
	return db.Collect(ctx, d, k.Plural, func(scan db.Scan) (Named, error) {
		x := Named{Kind: k.Name}
		err := scan(&x.ID, &x.Name)
		return x, err
	}, `SELECT id, name FROM resource WHERE company_id = $1 AND kind = $2
		AND (LOWER(name) LIKE LOWER($3) ESCAPE '\' OR LOWER(id) LIKE LOWER($3) ESCAPE '\') ORDER BY company_id, kind, name LIMIT $4`,
		companyID, k.Name, "%"+likeEscaper.Replace(text)+"%", limit)
}

// maxListed bounds Listed.
const maxListed = 1000

// Listed returns a company's current resources of a kind, by id and with their secrets, from the cache. They must not
// be changed.
func (s *Store) Listed(ctx context.Context, companyID string, k resource.Kind) ([]resource.Resource, error) {
	return s.listed.Get(ctx, configure.OwnedKey(companyID, k.Name), func(ctx context.Context) ([]resource.Resource, string, error) {
		all, err := db.Collect(ctx, s.d, k.Plural, func(scan db.Scan) (resource.Resource, error) {
			var id string
			var row resourceRow
			if err := scan(&id, &row.name, &row.doc, &row.secret, &row.key); err != nil {
				return nil, err
			}
			return s.readResource(companyID, k, id, row)
		}, "SELECT id, name, doc, sealed, "+resourceKey+
			" FROM resource WHERE company_id = $1 AND kind = $2 AND active ORDER BY id LIMIT $3", companyID, k.Name, maxListed)
		return all, companyID, err
	})
}

// readResource decodes a resource from its row and opens its secrets.
func (s *Store) readResource(companyID string, k resource.Kind, id string, row resourceRow) (resource.Resource, error) {
	x := k.New()
	if err := json.Unmarshal([]byte(row.doc), x); err != nil {
		return nil, fmt.Errorf("read %s %s: %w", k.Name, id, err)
	}
	if row.secret == "" {
		return x, nil
	}
	plain, err := s.seal.OpenOf(companyID, row.key, sealedResource(companyID, k.Name, id), row.secret)
	if err != nil {
		return nil, fmt.Errorf("open %s %s: %w", k.Name, id, err)
	}
	return x, resource.UnpackSecrets(x, string(plain))
}

// resourceRow is a stored resource; found is false if it is missing. Putting a resource makes it active.
type resourceRow struct {
	found, active          bool
	name, doc, secret, key string // key is that of the company, as it is stored; empty where the secret is open
}

// resourceKey is the key of a resource's company.
//
//nolint:gochecknoglobals // read-only
var resourceKey = configure.KeyOf("resource.company_id")

// Sealed are the secrets of companies' resources.
func Sealed() configure.Sealed {
	return configure.Sealed{Table: "resource", Key: []string{"kind", "id"}, Row: func(companyID string, key []any) string {
		return sealedResource(companyID, fmt.Sprint(key[0]), fmt.Sprint(key[1]))
	}}
}

// findResource reads a row and opens its secret.
func findResource(ctx context.Context, tx *configure.Tx, companyID, kind, id string) (row resourceRow, err error) {
	var by string
	err = tx.Row(ctx, []any{&row.name, &row.active, &row.doc, &row.secret, &by},
		"SELECT name, active, doc, sealed, "+resourceKey+" FROM resource WHERE company_id = $1 AND kind = $2 AND id = $3",
		companyID, kind, id)
	if err != nil {
		return row, db.Wrap(db.Ignore(err), "look up "+kind)
	}
	row.found = true
	if row.secret != "" {
		plain, err := tx.Seal.OpenOf(companyID, by, sealedResource(companyID, kind, id), row.secret)
		if err != nil {
			return row, fmt.Errorf("open %s %s: %w", kind, id, err)
		}
		row.secret = string(plain)
	}
	return row, nil
}
