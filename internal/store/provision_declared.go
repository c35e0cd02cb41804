package store

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"carillon"
	"carillon/internal/config"
	"carillon/internal/db"
)

// documents puts agents, knowledge, flows, widgets and webhooks. All of them are there before what refers to them is
// looked at, so that their order in the file does not matter.
func (a *applying) documents(ctx context.Context, companyID string, c *config.Company) error {
	ids := make([]string, len(c.Documents))
	for i := range c.Documents {
		id, err := a.documentID(ctx, companyID, &c.Documents[i])
		if err != nil {
			return err
		}
		ids[i] = id
	}
	for i := range c.Documents {
		if ids[i] == "" {
			continue
		}
		d := &c.Documents[i]
		doc, err := a.resolve(ctx, companyID, c, ids, d)
		if err != nil {
			return err
		}
		e, err := a.document(ctx, companyID, ids[i], d, doc)
		if err != nil {
			return placed(d.At, err)
		}
		a.count(d.Kind, e)
	}
	return nil
}

// documentID is the one the file gives, else that of the thing of this name, else a new one; empty after a problem.
func (a *applying) documentID(ctx context.Context, companyID string, d *config.Document) (string, error) {
	if d.ID == "" {
		id, err := a.declaredID(ctx, companyID, d.Kind, d.Name)
		if err != nil || id != "" {
			return id, err
		}
		return carillon.NewID(a.now), nil
	}
	if d.Kind == config.KindKnowledge {
		return d.ID, nil // its id is a name within the company
	}
	var owner string
	err := a.tx.Row(ctx, []any{&owner}, "SELECT company_id FROM declared WHERE kind = $1 AND id = $2 AND company_id <> $3 LIMIT 1", d.Kind, d.ID, companyID)
	if err == nil {
		a.problem(d.At, "another company has a "+d.Kind+" of this id")
		return "", nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("look up %s: %w", d.Kind, err)
	}
	return d.ID, nil
}

// declaredID finds a company's thing by id or name; empty when there is none.
func (a *applying) declaredID(ctx context.Context, companyID, kind, idOrName string) (id string, err error) {
	err = a.tx.Row(ctx, []any{&id}, `SELECT id FROM declared WHERE company_id = $1 AND kind = $2 AND (id = $3 OR name = $3)
		ORDER BY CASE WHEN id = $3 THEN 0 ELSE 1 END, id LIMIT 1`, companyID, kind, idOrName)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("look up %s: %w", kind, err)
	}
	return id, nil
}

// resolve fills the ids of what the document refers to: in the same set-up first, then in the database.
func (a *applying) resolve(ctx context.Context, companyID string, c *config.Company, ids []string, d *config.Document) (map[string]any, error) {
	doc := maps.Clone(d.Doc)
	for _, r := range d.Refers {
		found := ""
		for i := range c.Documents {
			if x := &c.Documents[i]; x.Kind == r.Kind && (x.Name == r.Name || ids[i] == r.Name) {
				found = ids[i]
			}
		}
		if found == "" {
			var err error
			if found, err = a.declaredID(ctx, companyID, r.Kind, r.Name); err != nil {
				return nil, err
			}
		}
		if found == "" {
			a.problem(r.At, "the company has no "+r.Kind+" "+r.Name)
		}
		if r.Field != "" {
			doc[r.Field] = found
		}
	}
	return doc, nil
}

func declaredRow(companyID, kind, id string) string {
	return "declared/" + companyID + "/" + kind + "/" + id
}

// holdsSecret reports whether documents of the kind are sealed: webhooks are signed, and widgets verify identities.
func holdsSecret(kind string) bool { return kind == config.KindWebhook || kind == config.KindWidget }

// document writes the normalized form. The secret of a webhook that is left out is made once and kept.
func (a *applying) document(ctx context.Context, companyID, id string, d *config.Document, doc map[string]any) (effect, error) {
	have, err := a.findDocument(ctx, companyID, id, d.Kind)
	if err != nil {
		return 0, err
	}
	if d.Kind == config.KindWebhook && doc["secret"] == nil {
		if err := keepSecret(have.doc, doc); err != nil {
			return 0, err
		}
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return 0, fmt.Errorf("write %s: %w", d.Kind, err)
	}
	e := created
	if have.found {
		e = updated
		if have.active && have.name == d.Name && have.doc == string(text) {
			return unchanged, nil
		}
	}
	stored := string(text)
	if holdsSecret(d.Kind) {
		stored = a.tx.s.seal.seal(declaredRow(companyID, d.Kind, id), text)
	}
	_, err = a.tx.Exec(ctx, `INSERT INTO declared (company_id, kind, id, name, active, doc, updated_at) VALUES ($1, $2, $3, $4, TRUE, $5, $6)
		ON CONFLICT (company_id, kind, id) DO UPDATE SET name = excluded.name, active = excluded.active, doc = excluded.doc,
		updated_at = excluded.updated_at`, companyID, d.Kind, id, d.Name, stored, db.Millis(a.now))
	if err != nil {
		return 0, fmt.Errorf("write %s: %w", d.Kind, err)
	}
	return e, nil
}

type foundDocument struct {
	found, active bool
	name, doc     string
}

func (a *applying) findDocument(ctx context.Context, companyID, id, kind string) (x foundDocument, err error) {
	err = a.tx.Row(ctx, []any{&x.name, &x.active, &x.doc}, "SELECT name, active, doc FROM declared WHERE company_id = $1 AND kind = $2 AND id = $3",
		companyID, kind, id)
	if errors.Is(err, sql.ErrNoRows) {
		return foundDocument{}, nil
	}
	if err != nil {
		return x, fmt.Errorf("look up %s: %w", kind, err)
	}
	x.found = true
	if holdsSecret(kind) {
		plain, err := a.tx.s.seal.open(declaredRow(companyID, kind, id), x.doc)
		if err != nil {
			return x, fmt.Errorf("open %s %s: %w", kind, id, err)
		}
		x.doc = string(plain)
	}
	return x, nil
}

// keepSecret takes over the secret of the stored document, or makes one.
func keepSecret(stored string, doc map[string]any) error {
	var have struct {
		Secret string `json:"secret"`
	}
	if stored != "" {
		if err := json.Unmarshal([]byte(stored), &have); err != nil {
			return fmt.Errorf("read webhook: %w", err)
		}
	}
	if have.Secret == "" {
		have.Secret = config.WebhookSecret + base64.StdEncoding.EncodeToString(randomBytes(32))
	}
	doc["secret"] = have.Secret
	return nil
}
