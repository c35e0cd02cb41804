package move

import "context"

// A batch is read up to this number of rows, or of bytes.
const (
	maxBatchRows  = 2000
	minBatchRows  = 8
	firstRows     = 64 // of a table with rows of unknown length
	maxBatchBytes = 4 << 20
)

// limit returns the number of rows to read: about as many as a batch has.
func (t *table) limit() int {
	long := t.long.Load()
	if long == 0 {
		return firstRows
	}
	return int(min(maxBatchRows, max(minBatchRows, maxBatchBytes/long)))
}

// reading collects rows to a batch.
type reading struct {
	*table
	span
	batch
	limit int
}

// newReading begins a batch with the memory of another, if there is one.
func newReading(t *table, s span, data []byte) *reading {
	limit := t.limit()
	if cap(data) == 0 {
		data = make([]byte, 0, t.long.Load()*int64(limit)*5/4)
	}
	return &reading{table: t, span: s, batch: batch{data: data[:0]}, limit: limit}
}

// full reports whether a row with this key is behind the range or one too many.
func (r *reading) full(key []any) bool {
	if r.ends(key) {
		return true
	}
	r.more = r.rows == r.limit || len(r.data) >= maxBatchBytes
	return r.more
}

// added counts a row that was appended to the data.
func (r *reading) added(key []any) { r.rows, r.last = r.rows+1, key }

// end returns the batch.
func (r *reading) end() batch {
	if r.rows > 0 {
		r.long.Store(max(1, int64(len(r.data)/r.rows)))
	}
	return r.batch
}

// batch is a part of a range: tuples in the order of the key.
type batch struct {
	data []byte
	rows int
	last []any // key of the last row
	more bool  // the range may have more rows
}

// side is one of the two databases. It is safe for concurrent use.
type side interface {
	// read returns the first rows of a range, at most maxBatchRows of about maxBatchBytes. data is reused for them.
	read(ctx context.Context, t *table, s span, data []byte) (batch, error)
	// insert inserts all rows of a batch, or none.
	insert(ctx context.Context, t *table, b batch) error
	// remove deletes the rows with these keys.
	remove(ctx context.Context, t *table, keys [][]any) error
	// count returns the number of rows of a table.
	count(ctx context.Context, t *table) (int64, error)
}
