package resources

import (
	"context"

	"carillon/internal/store/db"
)

// Vector is a stored vector of a passage.
type Vector struct {
	Hash  string // digest of the passage's text
	Bytes []byte // scale and components
}

// Hashes returns the digests of a base's passages, by number.
func (s *Vectors) Hashes(ctx context.Context, k VectorKey) ([]string, error) {
	return db.Collect(ctx, s.d, "digests of passages", text,
		"SELECT p.hash FROM knowledge_index AS x JOIN passage AS p ON p.company_id = x.company_id AND p.knowledge_id = "+used+
			" WHERE x.company_id = $1 AND x.knowledge_id = $2 AND x.version > 0 ORDER BY p.n", k.CompanyID, k.ID)
}

func text(scan db.Scan) (s string, err error) {
	err = scan(&s)
	return s, err
}

// MinVector is the minimum size of a stored vector in bytes.
const MinVector = 12

// Kept returns the digests of a base's stored vectors of a model, without damaged ones.
func (s *Vectors) Kept(ctx context.Context, k VectorKey, model string) ([]string, error) {
	return db.Collect(ctx, s.d, "digests of vectors", text,
		"SELECT hash FROM passage_vector WHERE company_id = $1 AND knowledge_id = $2 AND model = $3 AND LENGTH(vector) >= $4 "+
			"ORDER BY hash", k.CompanyID, k.ID, model, MinVector)
}

// Vector returns a stored vector; nil if there is none.
func (s *Vectors) Vector(ctx context.Context, k VectorKey, model, hash string) (vector []byte, err error) {
	err = s.d.Row(ctx, []any{&vector},
		"SELECT vector FROM passage_vector WHERE company_id = $1 AND knowledge_id = $2 AND model = $3 AND hash = $4",
		k.CompanyID, k.ID, model, hash)
	return vector, db.Wrap(db.Ignore(err), "read a vector")
}

// Add stores vectors of a model.
func (s *Vectors) Add(ctx context.Context, k VectorKey, model string, all []Vector) error {
	return s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		for i := range all {
			if _, err := tx.Exec(ctx, `INSERT INTO passage_vector (company_id, knowledge_id, model, hash, vector)
				VALUES ($1, $2, $3, $4, $5)
				ON CONFLICT (company_id, knowledge_id, model, hash) DO UPDATE SET vector = excluded.vector`,
				k.CompanyID, k.ID, model, all[i].Hash, all[i].Bytes); err != nil {
				return db.Wrap(err, "store a vector")
			}
		}
		return nil
	})
}

// Remove deletes vectors of a model, at most MaxRows.
func (s *Vectors) Remove(ctx context.Context, k VectorKey, model string, hashes []string) error {
	_, err := s.d.Exec(ctx, "DELETE FROM passage_vector WHERE company_id = $1 AND knowledge_id = $2 AND model = $3 AND hash "+s.d.In(4),
		k.CompanyID, k.ID, model, s.d.List(hashes))
	return db.Wrap(err, "delete vectors")
}

// RemoveOthers deletes up to MaxRows vectors of models other than the given one, and returns how many.
func (s *Vectors) RemoveOthers(ctx context.Context, k VectorKey, model string) (int64, error) {
	n, err := s.d.Exec(ctx, `DELETE FROM passage_vector WHERE company_id = $1 AND knowledge_id = $2 AND (model, hash) IN (
		SELECT model, hash FROM passage_vector WHERE company_id = $1 AND knowledge_id = $2 AND model <> $3 ORDER BY model, hash LIMIT $4)`,
		k.CompanyID, k.ID, model, MaxRows)
	return n, db.Wrap(err, "delete vectors of other models")
}

// Each visits the vectors of a base's passages of a model, each with the number and digest of its passage. bytes is valid
// during the visit only.
func (s *Vectors) Each(ctx context.Context, k VectorKey, model string, visit func(passage int, hash string, bytes []byte) error) error {
	err := db.Each(ctx, s.d, func(scan db.Scan) error {
		var n int
		var hash string
		var bytes []byte
		if err := scan(&n, &hash, &bytes); err != nil {
			return err
		}
		return visit(n, hash, bytes)
	}, "SELECT p.n, p.hash, v.vector FROM knowledge_index AS x JOIN passage AS p ON p.company_id = x.company_id AND p.knowledge_id = "+used+
		" JOIN passage_vector AS v ON v.company_id = x.company_id AND v.knowledge_id = x.knowledge_id AND v.model = $3 AND v.hash = p.hash"+
		" WHERE x.company_id = $1 AND x.knowledge_id = $2 AND x.version > 0", k.CompanyID, k.ID, model)
	return db.Wrap(err, "read vectors")
}
