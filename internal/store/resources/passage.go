package resources

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon/internal/db"
	"carillon/internal/resource"
	"carillon/internal/store/configure"
)

// writePassages replaces what is searched of a resource that was written at an instant, where anything is.
func (t *Tx) writePassages(ctx context.Context, companyID string, k resource.Kind, id string, x resource.Resource, now time.Time) error {
	searched, ok := x.(resource.Searchable)
	if !ok || k.SearchVersion == 0 {
		return nil
	}
	passages := searched.Passages()
	// First, for its lock: another writer of the same passages waits here.
	if _, err := t.tx.Exec(ctx, `INSERT INTO knowledge_index (company_id, knowledge_id, version, updated_at, passages) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (company_id, knowledge_id) DO UPDATE SET version = excluded.version, updated_at = excluded.updated_at, passages = excluded.passages`,
		companyID, id, k.SearchVersion, db.Millis(now), len(passages)); err != nil {
		return fmt.Errorf("write what is searched: %w", err)
	}
	for _, query := range []string{
		"DELETE FROM passage WHERE company_id = $1 AND knowledge_id = $2", "DELETE FROM passage_term WHERE company_id = $1 AND knowledge_id = $2",
	} {
		if _, err := t.tx.Exec(ctx, query, companyID, id); err != nil {
			return fmt.Errorf("delete what was searched: %w", err)
		}
	}
	rows := db.NewBulk("passage", "", "company_id:text", "knowledge_id:text", "n:bigint", "article:bigint", "title:text", "text:text", "url:text", "language:text")
	found := map[string][]string{}
	for n, p := range passages {
		rows.Add(companyID, id, int64(n), int64(p.Article), p.Title, p.Text, p.URL, p.Language)
		for _, term := range p.Terms {
			found[term.Text] = append(found[term.Text], strconv.Itoa(Occurrence{Passage: n, Title: term.Title}.number()))
		}
	}
	if err := rows.Write(ctx, t.tx.Tx); err != nil {
		return err
	}
	terms := db.NewBulk("passage_term", "", "company_id:text", "knowledge_id:text", "term:text", "passages:text")
	for _, term := range slices.Sorted(maps.Keys(found)) {
		terms.Add(companyID, id, term, strings.Join(found[term], " "))
	}
	return terms.Write(ctx, t.tx.Tx)
}

// deletePassages deletes what is searched of a resource.
func (t *Tx) deletePassages(ctx context.Context, companyID, id string) error {
	_, err := t.tx.Exec(ctx, "DELETE FROM knowledge_index WHERE company_id = $1 AND knowledge_id = $2", companyID, id)
	return db.Wrap(err, "delete what is searched")
}

// Occurrence is a passage that has a term.
type Occurrence struct {
	KnowledgeID string
	Passage     int
	Title       bool // the title has it
}

// number is an occurrence in the column passages.
func (o Occurrence) number() int {
	if o.Title {
		return 2*o.Passage + 1
	}
	return 2 * o.Passage
}

// Occurrences returns the passages of some knowledge of a company that have any of the terms, by term.
func (s *Store) Occurrences(ctx context.Context, companyID string, knowledge, terms []string) (map[string][]Occurrence, error) {
	found := map[string][]Occurrence{}
	err := db.Each(ctx, s.d, func(scan db.Scan) error {
		var id, term, passages string
		if err := scan(&id, &term, &passages); err != nil {
			return err
		}
		for text := range strings.FieldsSeq(passages) {
			n, err := strconv.Atoi(text)
			if err != nil {
				return fmt.Errorf("the passages of %q: %w", term, err)
			}
			found[term] = append(found[term], Occurrence{KnowledgeID: id, Passage: n / 2, Title: n%2 == 1})
		}
		return nil
	}, "SELECT knowledge_id, term, passages FROM passage_term WHERE company_id = $1 AND knowledge_id "+s.d.In(2)+" AND term "+s.d.In(3),
		companyID, s.d.List(knowledge), s.d.List(terms))
	return found, db.Wrap(err, "search passages")
}

// PassageCount returns how many passages some knowledge of a company has.
func (s *Store) PassageCount(ctx context.Context, companyID string, knowledge []string) (n int, err error) {
	err = s.d.Row(ctx, []any{&n}, "SELECT COALESCE(SUM(passages), 0) FROM knowledge_index WHERE company_id = $1 AND knowledge_id "+s.d.In(2),
		companyID, s.d.List(knowledge))
	return n, db.Wrap(err, "count passages")
}

// KnowledgeIDs returns the ids of a company's knowledge, at most `most`.
func (s *Store) KnowledgeIDs(ctx context.Context, companyID string, most int) ([]string, error) {
	return db.Collect(ctx, s.d, "knowledge", func(scan db.Scan) (id string, err error) {
		err = scan(&id)
		return id, err
	}, "SELECT knowledge_id FROM knowledge_index WHERE company_id = $1 ORDER BY knowledge_id LIMIT $2", companyID, most)
}

// Passages returns some passages of a company's knowledge by number. What is not there any more is left out; terms are not read.
func (s *Store) Passages(ctx context.Context, companyID, knowledgeID string, numbers []int) (map[int]resource.Passage, error) {
	all := map[int]resource.Passage{}
	err := db.Each(ctx, s.d, func(scan db.Scan) error {
		var n int
		var p resource.Passage
		err := scan(&n, &p.Article, &p.Title, &p.Text, &p.URL, &p.Language)
		all[n] = p
		return err
	}, "SELECT n, article, title, text, url, language FROM passage WHERE company_id = $1 AND knowledge_id = $2 AND n "+s.d.In(3),
		companyID, knowledgeID, s.d.List(numbers))
	return all, db.Wrap(err, "read passages")
}

// refreshMost is how many resources are looked up at once.
const refreshMost = 1000

// RefreshPassages stores the passages of resources of a kind whose passages are missing, or of another version or state: what
// a program of another version wrote.
func (s *Store) RefreshPassages(ctx context.Context, k resource.Kind) error {
	if _, ok := k.New().(resource.Searchable); !ok {
		return nil
	}
	type key struct{ company, id string }
	for {
		stale, err := db.Collect(ctx, s.d, k.Plural, func(scan db.Scan) (x key, err error) {
			err = scan(&x.company, &x.id)
			return x, err
		}, `SELECT r.company_id, r.id FROM resource AS r WHERE r.kind = $1 AND NOT EXISTS (SELECT 1 FROM knowledge_index AS x
			WHERE x.company_id = r.company_id AND x.knowledge_id = r.id AND x.version = $2 AND x.updated_at = r.updated_at) LIMIT $3`,
			k.Name, k.SearchVersion, refreshMost)
		if err != nil || len(stale) == 0 {
			return err
		}
		for _, x := range stale {
			if err := s.refreshPassages(ctx, x.company, k, x.id); err != nil {
				return err
			}
		}
	}
}

func (s *Store) refreshPassages(ctx context.Context, companyID string, k resource.Kind, id string) error {
	return s.config.Change(ctx, func(ctx context.Context, tx *configure.Tx) error {
		tx.Changes(companyID)
		var doc string
		var updatedAt int64
		err := tx.Row(ctx, []any{&doc, &updatedAt}, "SELECT doc, updated_at FROM resource WHERE company_id = $1 AND kind = $2 AND id = $3", companyID, k.Name, id)
		if err != nil {
			return db.Wrap(db.Ignore(err), "read "+k.Name) // deleted meanwhile
		}
		x := k.New()
		if err := json.Unmarshal([]byte(doc), x); err != nil {
			return fmt.Errorf("read %s %s: %w", k.Name, id, err)
		}
		return s.On(tx).writePassages(ctx, companyID, k, id, x, db.Instant(updatedAt))
	})
}
