package resources

import (
	"context"
	"encoding/json"
	"fmt"

	"carillon/internal/base/resource"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// Head is the summary of a resource (resource.Headed).
type Head struct {
	ID, Name string
	Value    any // has the type of Kind.NewHead

	bytes int // approximate size in memory
}

const (
	maxHeads  = 64 << 20 // total size of the cached heads
	headBytes = 400      // size of a head without its texts
	inMemory  = 3        // ratio of the sizes of decoded and encoded JSON
)

func sizeOfHeads(all []Head) (n int) {
	for _, h := range all {
		n += h.bytes
	}
	return n
}

// Heads returns the heads of a company's resources of a kind, by id, from the cache, without reading documents. They
// must not be changed.
func (s *Store) Heads(ctx context.Context, companyID string, k resource.Kind) ([]Head, error) {
	return s.heads.Get(ctx, configure.OwnedKey(companyID, k.Name), func(ctx context.Context) (all []Head, group string, err error) {
		err = s.eachHead(ctx, companyID, k, func(h *Head, text string) error {
			h.Value, h.bytes = k.NewHead(), headBytes+inMemory*(len(h.ID)+len(h.Name)+len(text))
			if err := json.Unmarshal([]byte(text), h.Value); err != nil {
				return fmt.Errorf("read the head of %s %s: %w", k.Name, h.ID, err)
			}
			all = append(all, *h)
			return nil
		})
		return all, companyID, err
	})
}

// eachHead visits the heads of a company's resources of a kind, by id, each with its JSON. For a resource written by
// another version of the program, or a kind without heads, the head is derived from the document.
func (s *Store) eachHead(ctx context.Context, companyID string, k resource.Kind, visit func(h *Head, text string) error) error {
	return db.Each(ctx, s.d, func(scan db.Scan) error {
		var h Head
		var text string
		var stored bool
		if err := scan(&h.ID, &h.Name, &stored, &text); err != nil {
			return err
		}
		if !stored && k.NewHead != nil {
			x := k.New()
			if err := json.Unmarshal([]byte(text), x); err != nil {
				return fmt.Errorf("read %s %s: %w", k.Name, h.ID, err)
			}
			var err error
			if text, err = headOf(x); err != nil {
				return err
			}
		}
		return visit(&h, text)
	}, `SELECT r.id, r.name, h.head IS NOT NULL, COALESCE(h.head, r.doc) FROM resource AS r LEFT JOIN resource_head AS h
		ON h.company_id = r.company_id AND h.kind = r.kind AND h.id = r.id AND h.updated_at = r.updated_at
		WHERE r.company_id = $1 AND r.kind = $2 AND r.active ORDER BY r.id LIMIT $3`, companyID, k.Name, maxListed)
}

// headOf returns the head of a resource in JSON.
func headOf(x resource.Resource) (string, error) {
	headed, ok := x.(resource.Headed)
	if !ok {
		return "", fmt.Errorf("%T has no head", x)
	}
	text, err := json.Marshal(headed.Head())
	return string(text), err
}

// writeHead writes the head of a resource after its document.
func writeHead(ctx context.Context, tx *db.Tx, companyID string, k resource.Kind, id string, x resource.Resource) error {
	if k.NewHead == nil {
		return nil
	}
	text, err := headOf(x)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO resource_head (company_id, kind, id, updated_at, head)
		SELECT company_id, kind, id, updated_at, CAST($4 AS TEXT) FROM resource WHERE company_id = $1 AND kind = $2 AND id = $3
		ON CONFLICT (company_id, kind, id) DO UPDATE SET updated_at = excluded.updated_at, head = excluded.head`, companyID, k.Name,
		id, text)
	return db.Wrap(err, "write a head")
}

// RefreshHeads stores missing and outdated heads of a kind, left by other versions of the program.
func (s *Store) RefreshHeads(ctx context.Context, k resource.Kind) error {
	if k.NewHead == nil {
		return nil
	}
	type key struct{ company, id string }
	for {
		stale, err := db.Collect(ctx, s.d, k.Plural, func(scan db.Scan) (x key, err error) {
			err = scan(&x.company, &x.id)
			return x, err
		}, `SELECT r.company_id, r.id FROM resource AS r WHERE r.kind = $1 AND NOT EXISTS (SELECT 1 FROM resource_head AS h
			WHERE h.company_id = r.company_id AND h.kind = r.kind AND h.id = r.id AND h.updated_at = r.updated_at) LIMIT $2`,
			k.Name, maxRefresh)
		if err != nil {
			return err
		}
		for _, x := range stale {
			if err := s.refreshHead(ctx, x.company, k, x.id); err != nil {
				return err
			}
		}
		if len(stale) < maxRefresh {
			return nil
		}
	}
}

func (s *Store) refreshHead(ctx context.Context, companyID string, k resource.Kind, id string) error {
	return s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		var doc string
		if err := tx.Row(ctx, []any{&doc}, "SELECT doc FROM resource WHERE company_id = $1 AND kind = $2 AND id = $3", companyID,
			k.Name, id); err != nil {
			return db.Wrap(db.Ignore(err), "read "+k.Name) // deleted meanwhile
		}
		x := k.New()
		if err := json.Unmarshal([]byte(doc), x); err != nil {
			return fmt.Errorf("read %s %s: %w", k.Name, id, err)
		}
		return writeHead(ctx, tx, companyID, k, id, x)
	})
}
