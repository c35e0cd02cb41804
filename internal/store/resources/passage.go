package resources

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/resource"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// MaxRows and MaxBytes bound a transaction that writes or deletes search rows: SQLite has one writer, and others wait
// for it.
const (
	MaxRows  = 200
	MaxBytes = 128 << 10
)

// statisticsPause is the time between two renewals of the statistics by a node.
const statisticsPause = time.Minute

// statisticsTerms is the number of terms from which a copy renews PostgreSQL's statistics immediately. Without them, until
// autovacuum makes them, a search reads all terms of a base.
const statisticsTerms = 1000

// copyExpiry is the age at which an unused copy is considered left over by a program that stopped.
const copyExpiry = time.Hour

// Index builds the search index of a resource if it is missing, or of another version or state. The new copy replaces
// the old one once it is complete; until then searches use the old one.
func (s *Store) Index(ctx context.Context, companyID string, k resource.Kind, id string) error {
	if _, ok := k.New().(resource.Searchable); !ok || k.SearchVersion == 0 {
		return nil
	}
	for {
		var doc string
		var updatedAt int64
		err := s.d.Row(ctx, []any{&doc, &updatedAt},
			`SELECT r.doc, r.updated_at FROM resource AS r WHERE r.company_id = $1 AND r.kind = $2 AND r.id = $3
			AND NOT EXISTS (SELECT 1 FROM knowledge_index AS x WHERE x.company_id = $1 AND x.knowledge_id = $3 AND x.version = $4
				AND x.updated_at = r.updated_at)`,
			companyID, k.Name, id, k.SearchVersion)
		if err != nil {
			return db.Wrap(db.Ignore(err), "read "+k.Name) // deleted, or indexed already
		}
		x := k.New()
		if err := json.Unmarshal([]byte(doc), x); err != nil {
			return fmt.Errorf("read %s %s: %w", k.Name, id, err)
		}
		searched, _ := x.(resource.Searchable)
		passages, now := searched.Passages(), time.Now()
		c := passageCopy{s: s, companyID: companyID, key: id + "#" + carillon.NewID(now)}
		if err := c.write(ctx, passages, now); err != nil {
			return err
		}
		unused, err := c.use(ctx, k, id, updatedAt, len(passages), searched.SearchSynonyms())
		if err != nil {
			return err
		}
		if err := unused.delete(ctx); err != nil {
			return err
		}
		c.analyze(ctx)
	}
}

// passageCopy is the search index of one state of a resource.
type passageCopy struct {
	s         *Store
	companyID string
	key       string // knowledge_id of its rows
	terms     int
}

// write writes a copy that is not in use yet.
func (c *passageCopy) write(ctx context.Context, passages []resource.Passage, now time.Time) error {
	if _, err := c.s.d.Exec(ctx, "INSERT INTO knowledge_index (company_id, knowledge_id, version, updated_at, passages) VALUES ($1, "+
		"$2, 0, $3, 0)",
		c.companyID, c.key, db.Millis(now)); err != nil {
		return fmt.Errorf("begin what is searched: %w", err)
	}
	rows := c.batch("passage", "company_id:text", "knowledge_id:text", "n:bigint", "article:bigint", "title:text", "text:text",
		"url:text", "language:text", "questions:text", "hash:text")
	found := map[string][]string{}
	for n, p := range passages {
		size := len(p.Title) + len(p.Text) + len(p.URL) + len(p.Questions)
		err := rows.add(ctx, size, c.companyID, c.key, int64(n), int64(p.Article), p.Title, p.Text, p.URL, p.Language, p.Questions, p.Hash)
		if err != nil {
			return err
		}
		for _, term := range p.Terms {
			found[term.Text] = append(found[term.Text], strconv.Itoa(Occurrence{Passage: n, Title: term.Title}.number()))
		}
	}
	if err := rows.flush(ctx); err != nil {
		return err
	}
	terms := c.batch("passage_term", "company_id:text", "knowledge_id:text", "term:text", "passages:text")
	for _, term := range slices.Sorted(maps.Keys(found)) {
		in := strings.Join(found[term], " ")
		if err := terms.add(ctx, len(term)+len(in), c.companyID, c.key, term, in); err != nil {
			return err
		}
	}
	c.terms = len(found)
	return terms.flush(ctx)
}

// analyze renews PostgreSQL's statistics after a copy of many terms. Another node may hold the lock that this needs: autovacuum
// then makes the statistics later.
func (c *passageCopy) analyze(ctx context.Context) {
	if c.terms < statisticsTerms || c.s.d.SQLite() {
		return
	}
	now, last := time.Now(), c.s.analyzed.Load()
	if now.Sub(time.UnixMilli(last)) < statisticsPause || !c.s.analyzed.CompareAndSwap(last, now.UnixMilli()) {
		return
	}
	_ = c.s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL lock_timeout = '100ms'"); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "ANALYZE passage, passage_term")
		return err
	})
}

// batch collects rows and writes them in short transactions.
type batch struct {
	d       *db.DB
	table   string
	columns []string
	rows    *db.Bulk
	bytes   int
}

func (c passageCopy) batch(table string, columns ...string) *batch {
	return &batch{c.s.d, table, columns, db.NewBulk(table, "", columns...), 0}
}

func (b *batch) add(ctx context.Context, bytes int, row ...any) error {
	b.rows.Add(row...)
	if b.bytes += bytes; b.rows.Rows() < MaxRows && b.bytes < MaxBytes {
		return nil
	}
	return b.flush(ctx)
}

func (b *batch) flush(ctx context.Context) error {
	rows := b.rows
	b.rows, b.bytes = db.NewBulk(b.table, "", b.columns...), 0
	if rows.Rows() == 0 {
		return nil
	}
	return b.d.Update(ctx, rows.Write)
}

// use makes searches use the copy, unless the resource has changed since it was read. It returns the unused copy: the
// former one, or this one.
func (c passageCopy) use(
	ctx context.Context, k resource.Kind, id string, updatedAt int64, passages int, synonyms string,
) (unused passageCopy, err error) {
	unused = c
	err = c.s.config.Change(ctx, func(ctx context.Context, tx *configure.Tx) error {
		tx.Changes(c.companyID)
		unused.key = c.key // a repeated transaction starts over
		var now int64
		err := tx.Row(ctx, []any{&now}, "SELECT updated_at FROM resource WHERE company_id = $1 AND kind = $2 AND id = $3",
			c.companyID, k.Name, id)
		if err != nil || now != updatedAt {
			return db.Wrap(db.Ignore(err), "read "+k.Name)
		}
		before := ""
		err = tx.Row(ctx, []any{&before}, "SELECT copy FROM knowledge_index WHERE company_id = $1 AND knowledge_id = $2", c.companyID, id)
		if db.Ignore(err) != nil {
			return fmt.Errorf("look up what is searched: %w", err)
		}
		if unused.key = before; before == "" {
			unused.key = id
		}
		_, err = tx.Exec(ctx,
			`INSERT INTO knowledge_index (company_id, knowledge_id, version, updated_at, passages, copy, synonyms)
			VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (company_id, knowledge_id) DO UPDATE SET version = excluded.version, updated_at = excluded.updated_at,
				passages = excluded.passages, copy = excluded.copy, synonyms = excluded.synonyms`,
			c.companyID, id, k.SearchVersion, updatedAt, passages, c.key, synonyms)
		if err != nil {
			return fmt.Errorf("write what is searched: %w", err)
		}
		_, err = tx.Exec(ctx, `UPDATE embedding SET due_at = $3, rev = rev + 1, total = $4, made = (SELECT COUNT(*) FROM passage AS p
			JOIN passage_vector AS v ON v.company_id = p.company_id AND v.knowledge_id = $2 AND v.model = embedding.settings
				AND v.hash = p.hash
			WHERE p.company_id = $1 AND p.knowledge_id = $5) WHERE company_id = $1 AND knowledge_id = $2 AND model <> ''`,
			c.companyID, id, db.Millis(time.Now()), passages, c.key)
		return db.Wrap(err, "make vectors due")
	})
	return unused, err
}

// delete deletes an unused copy.
func (c passageCopy) delete(ctx context.Context) error {
	for _, query := range []string{
		"DELETE FROM passage WHERE company_id = $1 AND knowledge_id = $2 AND n IN (SELECT n FROM passage WHERE company_id = $1 AND " +
			"knowledge_id = $2 ORDER BY n LIMIT $3)",
		"DELETE FROM passage_term WHERE company_id = $1 AND knowledge_id = $2 AND term IN " +
			"(SELECT term FROM passage_term WHERE company_id = $1 AND knowledge_id = $2 ORDER BY term LIMIT $3)",
	} {
		for n := int64(MaxRows); n == MaxRows; {
			var err error
			if n, err = c.s.d.Exec(ctx, query, c.companyID, c.key, MaxRows); err != nil {
				return fmt.Errorf("delete what was searched: %w", err)
			}
		}
	}
	_, err := c.s.d.Exec(ctx, "DELETE FROM knowledge_index WHERE company_id = $1 AND knowledge_id = $2 AND version = 0", c.companyID, c.key)
	return db.Wrap(err, "delete what was searched")
}

// forget excludes a resource from searches, in the transaction that deletes it. It returns the key of the copy that is
// then unused.
func forget(ctx context.Context, tx *configure.Tx, companyID, id string) (unused string, err error) {
	err = tx.Row(ctx, []any{&unused}, "DELETE FROM knowledge_index WHERE company_id = $1 AND knowledge_id = $2 RETURNING copy",
		companyID, id)
	return cmp.Or(unused, id), db.Wrap(db.Ignore(err), "delete what is searched")
}

// Occurrence is a passage that contains a term.
type Occurrence struct {
	KnowledgeID string
	Passage     int
	Title       bool // the term is in the title
}

// number is the occurrence in the column passages.
func (o Occurrence) number() int {
	if o.Title {
		return 2*o.Passage + 1
	}
	return 2 * o.Passage
}

// used is the knowledge_id of the rows of x.
const used = "COALESCE(NULLIF(x.copy, ''), x.knowledge_id)"

// Occurrences returns the passages of a company's knowledge that contain any of the terms, by term.
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
	}, "SELECT x.knowledge_id, t.term, t.passages FROM knowledge_index AS x JOIN passage_term AS t ON t.company_id = x.company_id "+
		"AND t.knowledge_id = "+used+
		" WHERE x.company_id = $1 AND x.version > 0 AND x.knowledge_id "+s.d.In(2)+" AND t.term "+s.d.In(3),
		companyID, s.d.List(knowledge), s.d.List(terms))
	return found, db.Wrap(err, "search passages")
}

// PassageCount returns the number of passages of some of a company's knowledge, and their synonyms, one group per
// line.
func (s *Store) PassageCount(ctx context.Context, companyID string, knowledge []string) (n int, synonyms string, err error) {
	err = db.Each(ctx, s.d, func(scan db.Scan) error {
		var passages int
		var lines string
		if err := scan(&passages, &lines); err != nil {
			return err
		}
		n += passages
		if lines != "" {
			synonyms += lines + "\n"
		}
		return nil
	}, "SELECT passages, synonyms FROM knowledge_index WHERE company_id = $1 AND version > 0 AND knowledge_id "+s.d.In(2)+
		" ORDER BY knowledge_id", companyID, s.d.List(knowledge))
	return n, synonyms, db.Wrap(err, "count passages")
}

// KnowledgeIDs returns the ids of a company's knowledge, at most `most`.
func (s *Store) KnowledgeIDs(ctx context.Context, companyID string, most int) ([]string, error) {
	return db.Collect(ctx, s.d, "knowledge", func(scan db.Scan) (id string, err error) {
		err = scan(&id)
		return id, err
	}, "SELECT knowledge_id FROM knowledge_index WHERE company_id = $1 AND version > 0 ORDER BY knowledge_id LIMIT $2", companyID, most)
}

// Passages returns passages of a company's knowledge by number. Missing ones are omitted; terms are not read.
func (s *Store) Passages(ctx context.Context, companyID string, wanted map[string][]int) (map[string]map[int]resource.Passage, error) {
	all := map[string]map[int]resource.Passage{}
	var ids, places []string
	var numbers []int
	for id, in := range wanted {
		all[id] = map[int]resource.Passage{}
		ids, numbers = append(ids, id), append(numbers, in...)
		for _, n := range in {
			places = append(places, id+" "+strconv.Itoa(n))
		}
	}
	slices.Sort(numbers)
	err := db.Each(ctx, s.d, func(scan db.Scan) error {
		var id string
		var n int
		var p resource.Passage
		err := scan(&id, &n, &p.Article, &p.Title, &p.Text, &p.URL, &p.Language, &p.Questions, &p.Hash)
		if err == nil {
			all[id][n] = p
		}
		return err
	}, "SELECT x.knowledge_id, p.n, p.article, p.title, p.text, p.url, p.language, p.questions, p.hash FROM knowledge_index AS x "+
		"JOIN passage AS p ON p.company_id = x.company_id AND p.knowledge_id = "+used+
		" WHERE x.company_id = $1 AND x.knowledge_id "+s.d.In(2)+" AND x.version > 0 AND p.n "+s.d.In(3)+
		" AND x.knowledge_id || ' ' || p.n "+s.d.In(4),
		companyID, s.d.List(ids), s.d.List(slices.Compact(numbers)), s.d.List(places))
	return all, db.Wrap(err, "read passages")
}

// maxRefresh bounds the resources examined at a time.
const maxRefresh = 1000

// RefreshPassages indexes the resources of a kind whose passages are missing, or of another version or state, as left
// by another version of the program or an interrupted one. It deletes their leftover copies.
func (s *Store) RefreshPassages(ctx context.Context, k resource.Kind) error {
	if _, ok := k.New().(resource.Searchable); !ok {
		return nil
	}
	type key struct{ company, id string }
	scan := func(scan db.Scan) (x key, err error) {
		err = scan(&x.company, &x.id)
		return x, err
	}
	for {
		stale, err := db.Collect(ctx, s.d, k.Plural, scan,
			`SELECT r.company_id, r.id FROM resource AS r WHERE r.kind = $1 AND NOT EXISTS (SELECT 1 FROM knowledge_index AS x
			WHERE x.company_id = r.company_id AND x.knowledge_id = r.id AND x.version = $2 AND x.updated_at = r.updated_at) LIMIT $3`,
			k.Name, k.SearchVersion, maxRefresh)
		if err != nil {
			return err
		}
		for _, x := range stale {
			if err := s.Index(ctx, x.company, k, x.id); err != nil {
				return err
			}
		}
		if len(stale) < maxRefresh {
			break
		}
	}
	left, err := db.Collect(ctx, s.d, "copies", scan,
		`SELECT c.company_id, c.knowledge_id FROM knowledge_index AS c WHERE c.version = 0 AND c.updated_at < $1
		AND NOT EXISTS (SELECT 1 FROM knowledge_index AS x WHERE x.company_id = c.company_id AND x.copy = c.knowledge_id) LIMIT $2`,
		db.Millis(time.Now().Add(-copyExpiry)), maxRefresh)
	if err != nil {
		return err
	}
	for _, x := range left {
		if err := (passageCopy{s: s, companyID: x.company, key: x.id}).delete(ctx); err != nil {
			return err
		}
	}
	return nil
}
