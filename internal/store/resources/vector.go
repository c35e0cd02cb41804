package resources

import (
	"context"
	"fmt"
	"time"

	"carillon"
	"carillon/internal/base/cache"
	"carillon/internal/base/resource"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// Embedding is a base whose passages get vectors of an embeddings server.
type Embedding struct {
	KnowledgeID string
	Server      resource.Embedder
	APIKey      string // may be empty
	Rev         int64  // changes with the base
	Vectors     string // identifies the passages and vectors that are searched
	Made, Total int    // passages with vectors, and all
	Dimensions  int    // 0 if unknown
	Fault       string // of the last attempt to make vectors; empty if it succeeded
	Detail      string
}

// EmbeddingState is the progress of making a base's vectors.
type EmbeddingState struct {
	Made, Total int
	Dimensions  int
	Making      bool // now, or at once
	MadeAt      time.Time
	DueAt       time.Time
	Fault       string // of the last attempt; empty if it succeeded
	Detail      string
	FaultAt     time.Time
}

// VectorKey identifies a base with vectors.
type VectorKey struct{ CompanyID, ID string }

// Vectors is the SQL of the vectors of passages.
type Vectors struct {
	d      *db.DB
	seal   *configure.Sealer
	config *configure.Configuration
	listed *cache.Cache[[]Embedding]
}

// NewVectors returns the vectors in a database.
func NewVectors(d *db.DB, s *configure.Sealer, c *configure.Configuration) *Vectors {
	return &Vectors{d, s, c, configure.Cache[[]Embedding](c)}
}

// beginVectors makes the vectors of a base due, or their removal if the base names no server.
func beginVectors(ctx context.Context, tx *db.Tx, companyID, id string, x resource.Resource, now time.Time) error {
	embedded, ok := x.(resource.Embedded)
	if !ok {
		return nil
	}
	server := embedded.EmbeddedBy()
	if server.Model == "" {
		return endVectors(ctx, tx, companyID, id)
	}
	_, err := tx.Exec(ctx, `INSERT INTO embedding (company_id, knowledge_id, base_url, model, settings, due_at, question_prefix,
			passage_prefix, node, lease_until, rev, made_rev, made, total, dimensions, made_at, failures, fault, detail, fault_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, '', 0, 1, 0, 0, 0, 0, 0, 0, '', '', 0)
		ON CONFLICT (company_id, knowledge_id) DO UPDATE SET base_url = excluded.base_url, model = excluded.model,
			settings = excluded.settings, question_prefix = excluded.question_prefix, passage_prefix = excluded.passage_prefix,
			due_at = excluded.due_at, rev = embedding.rev + 1, failures = 0,
			made = CASE WHEN embedding.settings = excluded.settings THEN embedding.made ELSE 0 END,
			dimensions = CASE WHEN embedding.settings = excluded.settings THEN embedding.dimensions ELSE 0 END,
			fault = CASE WHEN embedding.settings = excluded.settings THEN embedding.fault ELSE '' END`,
		companyID, id, server.BaseURL, server.Model, server.Settings, db.Millis(now), server.QuestionPrefix, server.PassagePrefix)
	return db.Wrap(err, "begin vectors")
}

// endVectors makes the removal of a base's vectors due.
func endVectors(ctx context.Context, tx *db.Tx, companyID, id string) error {
	_, err := tx.Exec(ctx, `UPDATE embedding SET base_url = '', model = '', settings = '', due_at = 0, rev = rev + 1, made = 0, fault = ''
		WHERE company_id = $1 AND knowledge_id = $2`, companyID, id)
	return db.Wrap(err, "end vectors")
}

//nolint:gochecknoglobals // read-only
var embeddingColumns = `SELECT e.knowledge_id, e.base_url, e.model, e.settings, e.question_prefix, e.passage_prefix, e.rev, e.made,
	e.total, e.dimensions, e.fault, e.detail, e.made_rev, x.updated_at, r.sealed, ` +
	configure.KeyOf("r.company_id") + ` FROM embedding AS e
	JOIN knowledge_index AS x ON x.company_id = e.company_id AND x.knowledge_id = e.knowledge_id
	JOIN resource AS r ON r.company_id = e.company_id AND r.kind = 'knowledge' AND r.id = e.knowledge_id `

func (s *Vectors) scan(companyID string, scan db.Scan) (e Embedding, err error) {
	var made, updated int64
	var sealed, by string
	server := &e.Server
	if err := scan(&e.KnowledgeID, &server.BaseURL, &server.Model, &server.Settings, &server.QuestionPrefix, &server.PassagePrefix, &e.Rev,
		&e.Made, &e.Total, &e.Dimensions, &e.Fault, &e.Detail, &made, &updated, &sealed, &by); err != nil {
		return e, err
	}
	e.Vectors = fmt.Sprintf("%s/%d/%d", e.Server.Settings, updated, made)
	if sealed == "" {
		return e, nil
	}
	// The key is the base's only secret, which is stored as is.
	plain, err := s.seal.OpenOf(companyID, by, sealedResource(companyID, "knowledge", e.KnowledgeID), sealed)
	if err != nil {
		return e, fmt.Errorf("open knowledge %s: %w", e.KnowledgeID, err)
	}
	e.APIKey = string(plain)
	return e, nil
}

// Listed returns a company's bases with vectors, by id, from the cache. They must not be changed.
func (s *Vectors) Listed(ctx context.Context, companyID string) ([]Embedding, error) {
	return s.listed.Get(ctx, companyID, func(ctx context.Context) ([]Embedding, string, error) {
		all, err := db.Collect(ctx, s.d, "bases with vectors", func(scan db.Scan) (Embedding, error) { return s.scan(companyID, scan) },
			embeddingColumns+"WHERE e.company_id = $1 AND e.model <> '' AND x.version > 0 ORDER BY e.knowledge_id LIMIT $2",
			companyID, maxListed)
		return all, companyID, err
	})
}

// Find returns a base with vectors as it is stored now; nil if it has none or is not indexed.
func (s *Vectors) Find(ctx context.Context, k VectorKey) (*Embedding, error) {
	all, err := db.Collect(ctx, s.d, "a base with vectors", func(scan db.Scan) (Embedding, error) { return s.scan(k.CompanyID, scan) },
		embeddingColumns+"WHERE e.company_id = $1 AND e.knowledge_id = $2 AND e.model <> '' AND x.version > 0", k.CompanyID, k.ID)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// State returns the progress of a base. Errors: not_found if it has no vectors.
func (s *Vectors) State(ctx context.Context, k VectorKey, now time.Time) (*EmbeddingState, error) {
	var x EmbeddingState
	var due, until, made, fault int64
	if err := s.d.Row(ctx, []any{&x.Made, &x.Total, &x.Dimensions, &due, &until, &made, &x.Fault, &x.Detail, &fault},
		`SELECT made, total, dimensions, due_at, lease_until, made_at, fault, detail, fault_at FROM embedding
		WHERE company_id = $1 AND knowledge_id = $2 AND model <> ''`, k.CompanyID, k.ID); err != nil {
		return nil, db.Absent(err, "Embeddings")
	}
	x.DueAt, x.MadeAt, x.FaultAt = db.Instant(due), db.Instant(made), db.Instant(fault)
	x.Making = until > db.Millis(now) || due <= db.Millis(now)
	return &x, nil
}

// Ask makes a base due immediately. Errors: not_found if it has no vectors.
func (s *Vectors) Ask(ctx context.Context, k VectorKey, now time.Time) error {
	n, err := s.d.Exec(ctx, "UPDATE embedding SET due_at = $3, failures = 0 WHERE company_id = $1 AND knowledge_id = $2 AND model <> ''",
		k.CompanyID, k.ID, db.Millis(now))
	if err == nil && n == 0 {
		return carillon.Absent("Embeddings")
	}
	return db.Wrap(err, "ask for vectors")
}

// AskOnce makes a base due immediately, unless the last attempt failed: its retry is due.
func (s *Vectors) AskOnce(ctx context.Context, k VectorKey, now time.Time) error {
	_, err := s.d.Exec(ctx, "UPDATE embedding SET due_at = $3 WHERE company_id = $1 AND knowledge_id = $2 AND failures = 0 AND due_at > $3",
		k.CompanyID, k.ID, db.Millis(now))
	return db.Wrap(err, "ask for vectors")
}

// ready limits work to bases that are indexed. The vectors of a base without a server are only removed.
const ready = ` AND (model = '' OR EXISTS (SELECT 1 FROM knowledge_index AS x WHERE x.company_id = embedding.company_id
	AND x.knowledge_id = embedding.knowledge_id AND x.version > 0))`

// Due returns bases of any company that are due and that no node works on, except those of the companies in without,
// longest waiting first.
func (s *Vectors) Due(ctx context.Context, now time.Time, most int, without []string) ([]VectorKey, error) {
	others, args := db.NotIn("company_id", without, []any{db.Millis(now), most})
	return db.Collect(ctx, s.d, "due vectors", func(scan db.Scan) (k VectorKey, err error) {
		err = scan(&k.CompanyID, &k.ID)
		return k, err
	}, "SELECT company_id, knowledge_id FROM embedding WHERE due_at <= $1 AND lease_until <= $1"+ready+db.Here+others+
		" ORDER BY due_at LIMIT $2", args...)
}

// VectorClaim is a node's work on a base.
type VectorClaim struct {
	VectorKey
	Node     string
	Rev      int64 // of the base
	Failures int64 // in a row
}

// Claim begins work on a base; nil if it is not due, or another node works on it. A node that ended during the previous work
// may have changed vectors.
func (s *Vectors) Claim(ctx context.Context, k VectorKey, node string, now, until time.Time) (*VectorClaim, error) {
	c := &VectorClaim{VectorKey: k, Node: node}
	err := s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		return tx.Row(ctx, []any{&c.Rev, &c.Failures}, `UPDATE embedding SET node = $3, lease_until = $4,
			made_rev = made_rev + CASE WHEN node = '' THEN 0 ELSE 1 END
			WHERE company_id = $1 AND knowledge_id = $2 AND due_at <= $5 AND lease_until <= $5`+ready+db.Here+" RETURNING rev, failures",
			k.CompanyID, k.ID, node, db.Millis(until), db.Millis(now))
	})
	if err != nil {
		return nil, db.Wrap(db.Ignore(err), "claim vectors")
	}
	return c, nil
}

// ReleaseAll makes the work of nodes that have ended free: no other process uses this database.
func (s *Vectors) ReleaseAll(ctx context.Context) error {
	_, err := s.d.Exec(ctx, "UPDATE embedding SET lease_until = 0 WHERE due_at >= 0 AND lease_until > 0")
	return db.Wrap(err, "release vectors")
}

// VectorRelease is the end of an attempt without an outcome.
type VectorRelease struct {
	Due     time.Time // of the next attempt, unless the base has changed: that is due already
	Changed bool      // vectors were added or removed
	Failed  bool
}

// Release gives up work.
func (s *Vectors) Release(ctx context.Context, c *VectorClaim, r VectorRelease) error {
	release := func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE embedding SET node = '', lease_until = 0, made_rev = made_rev + $6, failures = failures + $7,
			due_at = CASE WHEN rev = $4 THEN CAST($5 AS BIGINT) ELSE due_at END
			WHERE company_id = $1 AND knowledge_id = $2 AND node = $3`,
			c.CompanyID, c.ID, c.Node, c.Rev, db.Millis(r.Due), number(r.Changed), number(r.Failed))
		return db.Wrap(err, "release vectors")
	}
	if !r.Changed {
		return s.d.Update(ctx, release)
	}
	return s.change(ctx, c, release)
}

// change is a transaction after which all nodes read a company's bases with vectors again.
func (s *Vectors) change(ctx context.Context, c *VectorClaim, fn func(ctx context.Context, tx *db.Tx) error) error {
	return s.config.Change(ctx, func(ctx context.Context, tx *configure.Tx) error {
		tx.Changes(c.CompanyID)
		return fn(ctx, tx.Tx)
	})
}

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Progress renews the lease, and reports whether the node still has it and the base is unchanged.
func (s *Vectors) Progress(ctx context.Context, c *VectorClaim, made, total, dimensions int, until time.Time) (ok bool, err error) {
	n, err := s.d.Exec(ctx, `UPDATE embedding SET made = $5, total = $6, dimensions = $7, lease_until = $8
		WHERE company_id = $1 AND knowledge_id = $2 AND node = $3 AND rev = $4`,
		c.CompanyID, c.ID, c.Node, c.Rev, made, total, dimensions, db.Millis(until))
	return n == 1, db.Wrap(err, "save progress")
}

// Reset stops searches from using the vectors of a base, which are then made again.
func (s *Vectors) Reset(ctx context.Context, c *VectorClaim) error {
	return s.change(ctx, c, func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE embedding SET made = 0, made_rev = made_rev + 1
			WHERE company_id = $1 AND knowledge_id = $2 AND node = $3`, c.CompanyID, c.ID, c.Node)
		return db.Wrap(err, "reset vectors")
	})
}

// Outcome is the end of an attempt to make vectors.
type Outcome struct {
	Made, Total, Dimensions int
	Changed                 bool // vectors were added or removed
	Fault, Detail           string
}

// Finish ends the work on a base, which is due again at the given time. If the base has changed meanwhile, only the change
// of vectors is stored: the base is due already.
func (s *Vectors) Finish(ctx context.Context, c *VectorClaim, o *Outcome, now, due time.Time) error {
	return s.change(ctx, c, func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE embedding SET due_at = $5, made = $6, total = $7, dimensions = $8, fault = $9, detail = $10,
			made_at = CASE WHEN CAST($9 AS TEXT) = '' THEN CAST($11 AS BIGINT) ELSE made_at END,
			fault_at = CASE WHEN CAST($9 AS TEXT) = '' THEN fault_at ELSE CAST($11 AS BIGINT) END,
			failures = CASE WHEN CAST($9 AS TEXT) = '' THEN 0 ELSE failures + 1 END
			WHERE company_id = $1 AND knowledge_id = $2 AND node = $3 AND rev = $4`, c.CompanyID, c.ID, c.Node, c.Rev, db.Millis(due),
			o.Made, o.Total, o.Dimensions, o.Fault, o.Detail, db.Millis(now)); err != nil {
			return db.Wrap(err, "finish vectors")
		}
		_, err := tx.Exec(ctx, `UPDATE embedding SET node = '', lease_until = 0, made_rev = made_rev + $4
			WHERE company_id = $1 AND knowledge_id = $2 AND node = $3`, c.CompanyID, c.ID, c.Node, number(o.Changed))
		return db.Wrap(err, "finish vectors")
	})
}

// Forget deletes the state of a base whose vectors are removed, unless the base has got a server in the meantime.
func (s *Vectors) Forget(ctx context.Context, c *VectorClaim) error {
	_, err := s.d.Exec(ctx, "DELETE FROM embedding WHERE company_id = $1 AND knowledge_id = $2 AND node = $3 AND model = ''",
		c.CompanyID, c.ID, c.Node)
	return db.Wrap(err, "forget vectors")
}
