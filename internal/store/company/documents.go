package company

import (
	"context"

	"carillon/internal/store/db"
	"carillon/internal/store/stats"
	"carillon/internal/store/tuple"
)

// The table stat_block has a row for each second in which companies sent; its documents have the counts of all of them.

// having is the condition that a row's documents may have counts of a company.
const having = " WHERE (doc LIKE '%' || $1 || '%' OR calls LIKE '%' || $1 || '%')"

// documents calls row with the company's part of each row.
func (s *snapshot) documents(ctx context.Context, t *table, companyID string, row func(data []byte) error) error {
	doc, calls := t.index("doc"), t.index("calls")
	return s.each(ctx, t.kinds(), func(data []byte) error {
		return tuple.Each(data, len(t.cols), func(_ []byte, fields [][]byte) error {
			own, _, err := stats.Documents{Recipients: string(fields[doc]), Calls: string(fields[calls])}.Of(companyID)
			if err != nil || own.Empty() {
				return err
			}
			fields[doc], fields[calls] = []byte(own.Recipients), []byte(own.Calls)
			return row(tuple.AppendRaw(nil, fields))
		})
	}, "SELECT "+t.names("t.")+" FROM stat_block AS t"+having, companyID)
}

// addDocuments adds the company's parts in tuples to the rows of the table.
func addDocuments(ctx context.Context, tx *db.Tx, t *table, data []byte) error {
	if err := stats.Lock(ctx, tx); err != nil {
		return err
	}
	block, doc, calls := t.index("block"), t.index("doc"), t.index("calls")
	return tuple.Each(data, len(t.cols), func(_ []byte, fields [][]byte) error {
		at := tuple.Value(tuple.Int8, fields[block])
		have, err := readDocuments(ctx, tx, at)
		if err != nil {
			return err
		}
		both, err := have.With(stats.Documents{Recipients: string(fields[doc]), Calls: string(fields[calls])})
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO stat_block (block, doc, calls) VALUES ($1, $2, $3)
			ON CONFLICT (block) DO UPDATE SET doc = excluded.doc, calls = excluded.calls`, at, both.Recipients, both.Calls)
		return err
	})
}

func readDocuments(ctx context.Context, tx *db.Tx, block any) (d stats.Documents, err error) {
	err = tx.Row(ctx, []any{&d.Recipients, &d.Calls}, "SELECT doc, calls FROM stat_block WHERE block = $1", block)
	return d, db.Ignore(err)
}

// removeDocuments removes a company's parts from the rows after a block, at most limit of them. It returns the last block, and
// whether others may follow.
func removeDocuments(ctx context.Context, tx *db.Tx, companyID string, after int64, limit int) (last int64, n int, err error) {
	if err := stats.Lock(ctx, tx); err != nil {
		return after, 0, err
	}
	blocks, err := db.Collect(ctx, tx, "counts", func(scan db.Scan) (b int64, err error) {
		err = scan(&b)
		return b, err
	}, "SELECT block FROM stat_block"+having+" AND block > $2 ORDER BY block LIMIT $3", companyID, after, limit)
	if err != nil {
		return after, 0, err
	}
	for _, b := range blocks {
		have, err := readDocuments(ctx, tx, b)
		if err != nil {
			return after, 0, err
		}
		_, rest, err := have.Of(companyID)
		if err != nil {
			return after, 0, err
		}
		if rest.Empty() {
			_, err = tx.Exec(ctx, "DELETE FROM stat_block WHERE block = $1", b)
		} else {
			_, err = tx.Exec(ctx, "UPDATE stat_block SET doc = $2, calls = $3 WHERE block = $1", b, rest.Recipients, rest.Calls)
		}
		if err != nil {
			return after, 0, err
		}
		last = b
	}
	return last, len(blocks), nil
}
