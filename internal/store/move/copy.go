package move

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"carillon/internal/store/tuple"
)

// Progress is the state of a move.
type Progress struct {
	Phase       Phase
	Rows, Total int64 // rows copied or compared in this phase, and about how many there are
	Bytes       int64 // of these rows
}

// Phase is a part of a move.
type Phase string

// The phases in their order. Stopping and everything after it is the pause.
const (
	Copying    Phase = "copying"
	CatchingUp Phase = "catching up"
	Stopping   Phase = "stopping"
	Comparing  Phase = "comparing"
	Finishing  Phase = "finishing"
)

// digest identifies the rows of a range.
type digest struct {
	rows  int64
	bytes int64
	sum   [sha256.Size]byte
}

// chunk is a range with the digest of its rows in the target. The chunks of a table cover all keys.
type chunk struct {
	span
	digest
}

// copier copies tables. Its source may change meanwhile; each comparison copies what differs then.
type copier struct {
	from, to side
	tables   []*copied
	workers  int
	report   func(Progress)

	mu       sync.Mutex
	progress Progress
	rounds   int // comparisons before the pause
}

// copied is a table with the digests of its rows in the target.
type copied struct {
	*table
	chunks []chunk
	total  int64 // rows of the source, about
}

func (c *copier) begin(p Phase, total int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.progress = Progress{Phase: p, Total: total}
	c.report(c.progress)
}

func (c *copier) done(rows int, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.progress.Rows += int64(rows)
	c.progress.Bytes += bytes
	c.report(c.progress)
}

// group returns a group of workers.
func (c *copier) group(ctx context.Context) (*errgroup.Group, context.Context) {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(c.workers)
	return g, ctx
}

// rows returns the number of rows and bytes in the target.
func (c *copier) rows() (rows, bytes int64) {
	for _, t := range c.tables {
		for _, x := range t.chunks {
			rows, bytes = rows+max(x.rows, 0), bytes+x.bytes
		}
	}
	return rows, bytes
}

// copyAll copies all tables for the first time.
func (c *copier) copyAll(ctx context.Context) error {
	var total int64
	for _, t := range c.tables {
		var err error
		if t.total, err = c.from.count(ctx, t.table); err != nil {
			return err
		}
		total += t.total
	}
	slices.SortStableFunc(c.tables, func(a, b *copied) int { return int(min(max(b.total-a.total, -1), 1)) }) // the longest first
	c.begin(Copying, total)
	g, ctx := c.group(ctx)
	for _, t := range c.tables {
		g.Go(func() (err error) {
			t.chunks, err = c.fill(ctx, t.table, span{}, nil)
			return err
		})
	}
	return g.Wait()
}

// fill copies the rows of an empty range and verifies them.
func (c *copier) fill(ctx context.Context, t *table, s span, data []byte) ([]chunk, error) {
	var all []chunk
	for more := true; more; {
		b, err := c.from.read(ctx, t, s, data)
		if err != nil {
			return nil, err
		}
		data = b.data
		x := part(s, b)
		if b.rows > 0 {
			err = c.to.insert(ctx, t, b)
		}
		if x, err = c.verified(ctx, t, x, err, false); err != nil {
			return nil, err
		}
		all = append(all, x)
		c.done(b.rows, int64(len(b.data)))
		s.after, more = b.last, b.more
	}
	return all, nil
}

// part returns the chunk of a batch that was read from the beginning of a range.
func part(s span, b batch) chunk {
	x := chunk{s, digest{int64(b.rows), int64(len(b.data)), sha256.Sum256(b.data)}}
	if b.more {
		x.upto = b.last
	}
	return x
}

// errDiffers means that the target does not have the rows that were written to it.
var errDiffers = errors.New("the target does not have the rows that were copied: does something else write to it?")

// unknown is the digest of a range that the next comparison copies again.
var unknown = digest{rows: -1} //nolint:gochecknoglobals // a constant

// verified compares a range of the target with the digest of its source, after it was written. Unless the source is
// frozen, it may have changed in between: the rows may be others, and a unique value may have moved from a row that is not
// copied again yet. Such a range becomes unknown.
func (c *copier) verified(ctx context.Context, t *table, x chunk, written error, frozen bool) (chunk, error) {
	if !frozen && duplicate(written) {
		x.digest = unknown
		return x, nil
	}
	if written != nil {
		return x, written
	}
	have, err := digestOf(ctx, c.to, t, x.span)
	switch {
	case err != nil || have == x.digest:
		return x, err
	case frozen:
		return x, fmt.Errorf("table %s: %w", t.name, errDiffers)
	}
	x.digest = unknown
	return x, nil
}

// digestOf reads a range.
func digestOf(ctx context.Context, from side, t *table, s span) (d digest, err error) {
	h := sha256.New()
	var b batch
	for more := true; more; {
		if b, err = from.read(ctx, t, s, b.data); err != nil {
			return d, err
		}
		_, _ = h.Write(b.data)
		d.rows, d.bytes = d.rows+int64(b.rows), d.bytes+int64(len(b.data))
		s.after, more = b.last, b.more
	}
	h.Sum(d.sum[:0])
	return d, nil
}

// compare reads all of the source and copies the rows that differ. It returns their number. If the source is not frozen,
// some may still differ afterwards.
func (c *copier) compare(ctx context.Context, p Phase, frozen bool) (changed int64, err error) {
	total, _ := c.rows()
	c.begin(p, total)
	different, err := c.different(ctx)
	if err != nil {
		return 0, err
	}
	// The rows that differ are deleted from all ranges before the first is copied, because a unique value may have moved
	// from one to another.
	g, within := c.group(ctx)
	for _, x := range different {
		g.Go(func() error { return c.removeChanged(within, x.table, x.span) })
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	fresh := make([][]chunk, len(different))
	copied := make([]int64, len(different))
	g, within = c.group(ctx)
	for i, x := range different {
		g.Go(func() (err error) {
			fresh[i], copied[i], err = c.addMissing(within, x.table, x.span, frozen)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	for i, x := range slices.Backward(different) { // later indexes first: they stay valid
		x.chunks = slices.Replace(x.chunks, x.index, x.index+1, fresh[i]...)
		changed += copied[i]
	}
	return changed, nil
}

// place is a chunk of a table.
type place struct {
	*copied
	span
	index int
}

// different returns the chunks whose source is not as the target, in their order.
func (c *copier) different(ctx context.Context) (all []place, err error) {
	same := make([][]bool, len(c.tables))
	g, ctx := c.group(ctx)
	for i, t := range c.tables {
		same[i] = make([]bool, len(t.chunks))
		for j, x := range t.chunks {
			g.Go(func() error {
				have, err := digestOf(ctx, c.from, t.table, x.span)
				same[i][j] = have == x.digest
				c.done(int(have.rows), have.bytes)
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for i, t := range c.tables {
		for j, equal := range same[i] {
			if !equal {
				all = append(all, place{t, t.chunks[j].span, j})
			}
		}
	}
	return all, nil
}

// targetRow is a row of the target, in a comparison with the source.
type targetRow struct {
	sum [sha256.Size]byte
	key []any
}

// targetRows reads a range of the target. It is one chunk, so it is short.
func (c *copier) targetRows(ctx context.Context, t *table, s span) (map[string]targetRow, error) {
	rows := map[string]targetRow{}
	var b batch
	for more := true; more; {
		var err error
		if b, err = c.to.read(ctx, t, s, b.data); err != nil {
			return nil, err
		}
		_ = tuple.Each(b.data, len(t.cols), func(row []byte, fields [][]byte) error {
			id, key := t.keyOf(fields)
			rows[id] = targetRow{sha256.Sum256(row), key}
			return nil
		})
		s.after, more = b.last, b.more
	}
	return rows, nil
}

// removeChanged deletes the rows of a range of the target that the source does not have so.
func (c *copier) removeChanged(ctx context.Context, t *table, s span) error {
	rows, err := c.targetRows(ctx, t, s)
	if err != nil {
		return err
	}
	var b batch
	for more := len(rows) > 0; more; {
		if b, err = c.from.read(ctx, t, s, b.data); err != nil {
			return err
		}
		_ = tuple.Each(b.data, len(t.cols), func(row []byte, fields [][]byte) error {
			id, _ := t.keyOf(fields)
			if rows[id].sum == sha256.Sum256(row) {
				delete(rows, id)
			}
			return nil
		})
		s.after, more = b.last, b.more && len(rows) > 0
	}
	if len(rows) == 0 {
		return nil
	}
	var keys [][]any
	for _, x := range rows {
		keys = append(keys, x.key)
	}
	return c.to.remove(ctx, t, keys)
}

// addMissing copies the rows of a range that the target does not have, and verifies the whole range.
func (c *copier) addMissing(ctx context.Context, t *table, s span, frozen bool) (all []chunk, added int64, err error) {
	present, err := c.targetRows(ctx, t, s)
	if err != nil {
		return nil, 0, err
	}
	var b batch
	var missing []byte
	for more := true; more; {
		if b, err = c.from.read(ctx, t, s, b.data); err != nil {
			return nil, 0, err
		}
		missing = missing[:0]
		n := 0
		_ = tuple.Each(b.data, len(t.cols), func(row []byte, fields [][]byte) error {
			if id, _ := t.keyOf(fields); present[id].key == nil {
				missing = append(missing, row...)
				n++
			}
			return nil
		})
		if n > 0 {
			err = c.to.insert(ctx, t, batch{data: missing, rows: n})
		}
		x, err := c.verified(ctx, t, part(s, b), err, frozen)
		if err != nil {
			return nil, 0, err
		}
		all = append(all, x)
		added += int64(n)
		s.after, more = b.last, b.more
	}
	return all, added, nil
}

// verifyCounts compares the numbers of rows of all tables.
func (c *copier) verifyCounts(ctx context.Context) error {
	for _, t := range c.tables {
		var want int64
		for _, x := range t.chunks {
			want += x.rows
		}
		have, err := c.to.count(ctx, t.table)
		if err != nil {
			return err
		}
		if have != want {
			return fmt.Errorf("table %s has %d rows in the target, %d in the source: %w", t.name, have, want, errDiffers)
		}
	}
	return nil
}
