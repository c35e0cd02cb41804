package db

import (
	"context"
	"runtime"
	"sync"
)

// Place orders the kinds of operations inside a transaction, the lowest first. It is the order in which rows are locked:
// two committers that lock rows in one order never wait for each other in a circle.
type Place int

// Kind is a kind of operation that goes through the group commit: what operations of it have in common. Operations of one
// kind that share a transaction are applied together. O holds what an operation writes, and what it found.
type Kind[O any] struct {
	Name  string
	Place Place
	// Background operations are the program's own; on PostgreSQL they have a committer of their own, so that requests never wait
	// for them. Foreground operations are waited for by a caller outside.
	Background bool
	// Maintenance operations follow from others, and are not counted by Operations.
	Maintenance bool
	// Unrepeatable operations are not run again when their COMMIT got no response: whoever asked finds out by itself.
	Unrepeatable bool
	// Apply runs the operations of one transaction. It may be called again for the same operations, after a rollback. With
	// replay there is a single one, whose COMMIT got no response: it may have been stored already.
	Apply func(ctx context.Context, tx *Tx, ops []O, replay bool) error
	// Flush returns statements that do the same for the usual case, and fail where it is not: PostgreSQL runs those of a batch
	// in one round trip, and applies it only when one of them failed. ok is false when the operations must be applied. nil:
	// they always are.
	Flush func(tx *Tx, ops []O) (statements []Statement, ok bool)
	// Rows is how many rows an operation stands for in the figures, Bytes the memory it holds while it waits; nil: 1 and 0.
	Rows, Bytes func(op O) int
}

// Commit has the operation stored and returns after the commit. A caller that leaves does not undo it. Errors:
// service_unavailable where too many wait or the database did not confirm.
func (k *Kind[O]) Commit(ctx context.Context, d *DB, op O) error {
	w := &write{kind: k, op: op, rows: 1}
	if k.Rows != nil {
		w.rows = max(1, k.Rows(op))
	}
	if k.Bytes != nil {
		w.bytes = int64(k.Bytes(op))
	}
	if k.Background {
		return d.Commits.background.do(ctx, w)
	}
	return d.Commits.foreground.do(ctx, w)
}

func (k *Kind[O]) place() Place       { return k.Place }
func (k *Kind[O]) foreground() bool   { return !k.Background }
func (k *Kind[O]) maintenance() bool  { return k.Maintenance }
func (k *Kind[O]) unrepeatable() bool { return k.Unrepeatable }

func (k *Kind[O]) apply(ctx context.Context, tx *Tx, batch []*write, replay bool) error {
	return k.Apply(ctx, tx, opsOf[O](batch), replay)
}

func (k *Kind[O]) flush(tx *Tx, batch []*write) ([]Statement, bool) {
	if k.Flush == nil {
		return nil, false
	}
	return k.Flush(tx, opsOf[O](batch))
}

func opsOf[O any](batch []*write) []O {
	ops := make([]O, len(batch))
	for i, w := range batch {
		ops[i], _ = w.op.(O)
	}
	return ops
}

// kind is a Kind without its type parameter.
type kind interface {
	place() Place
	foreground() bool
	maintenance() bool
	unrepeatable() bool
	apply(ctx context.Context, tx *Tx, batch []*write, replay bool) error
	flush(tx *Tx, batch []*write) ([]Statement, bool)
}

// write is an operation on its way through a committer.
type write struct {
	kind  kind
	op    any
	rows  int
	bytes int64
	done  chan error

	// exclusive shares no transaction; raw is run outside any, on the writer's connection.
	exclusive func(ctx context.Context, tx *Tx) error
	raw       bool
}

func (w *write) foreground() bool { return w.kind != nil && w.kind.foreground() }

// kinds yields the batch, which is sorted by place, a kind at a time.
func kinds(batch []*write, yield func(k kind, same []*write) error) error {
	for len(batch) > 0 {
		n := 1
		for n < len(batch) && batch[n].kind == batch[0].kind {
			n++
		}
		if err := yield(batch[0].kind, batch[:n]); err != nil {
			return err
		}
		batch = batch[n:]
	}
	return nil
}

// queue holds the writes that wait for a committer, first come, first served, of either class.
type queue struct {
	mu     sync.RWMutex // held for reading while sending
	closed bool
	// Each has room for all that the backlog lets in.
	foreground, background chan *write
}

func newQueue(waiting int) *queue {
	return &queue{foreground: make(chan *write, 2*waiting), background: make(chan *write, 2*waiting)}
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.closed = true
		close(q.foreground)
		close(q.background)
	}
}

func (q *queue) length() int { return len(q.foreground) + len(q.background) }

// batcher gathers, for one committer, what shares the next transaction.
type batcher struct {
	q          *queue
	leave      func(w *write) // a write left the queue
	fore, back chan *write    // nil once closed and empty
	exclusive  *write         // gathered, and must run by itself
}

// next fills a batch, waiting for its first write; it stays empty when the queue is closed and empty. An exclusive write is
// a batch of its own.
func (b *batcher) next(batch []*write) []*write {
	w := b.exclusive
	if b.exclusive = nil; w == nil {
		w = b.wait()
	}
	switch {
	case w == nil:
		return batch
	case w.exclusive != nil:
		return append(batch, w)
	}
	batch = append(batch, w)
	if w.foreground() {
		b.coalesce()
	}
	batch = b.gather(batch, &b.fore)
	return b.gather(batch, &b.back)
}

// coalesce lets requests that are being read join this batch, as long as more of them come. On an idle node it costs nothing;
// under load it makes the batches of two committers twice as large.
func (b *batcher) coalesce() {
	for n := -1; n < len(b.fore); {
		n = len(b.fore)
		runtime.Gosched()
	}
}

// wait takes the first write that comes, one of the foreground where both wait.
func (b *batcher) wait() *write {
	for {
		w := b.poll(&b.fore)
		if w != nil || b.fore == nil && b.back == nil {
			return w
		}
		select {
		case w, ok := <-b.fore:
			if ok {
				b.leave(w)
				return w
			}
			b.fore = nil
		case w, ok := <-b.back:
			if ok {
				b.leave(w)
				return w
			}
			b.back = nil
		}
	}
}

// poll takes a write where one waits.
func (b *batcher) poll(from *chan *write) *write {
	select {
	case w, ok := <-*from:
		if !ok {
			*from = nil
			return nil
		}
		b.leave(w)
		return w
	default:
		return nil
	}
}

// gather adds what waits already. An exclusive write ends it and is the next batch.
func (b *batcher) gather(batch []*write, from *chan *write) []*write {
	for len(batch) < batchMax && b.exclusive == nil {
		w := b.poll(from)
		if w == nil {
			return batch
		}
		if w.exclusive != nil {
			b.exclusive = w
			return batch
		}
		batch = append(batch, w)
	}
	return batch
}

// Func is an operation that is a function: what shares nothing with others of its kind. It must be repeatable.
type Func func(ctx context.Context, tx *Tx) error

// Funcs returns a background kind of operations that are functions, run one after the other.
func Funcs(name string, place Place) *Kind[Func] {
	return &Kind[Func]{Name: name, Place: place, Background: true, Maintenance: true,
		Apply: func(ctx context.Context, tx *Tx, ops []Func, _ bool) error {
			for _, run := range ops {
				if err := run(ctx, tx); err != nil {
					return err
				}
			}
			return nil
		}}
}
