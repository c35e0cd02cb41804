package db

import (
	"context"
	"runtime"
	"sync"
)

// Place orders the kinds of operations inside a transaction, lowest first. It is the order in which rows are locked:
// committers that lock rows in the same order never deadlock.
type Place int

// Kind is a kind of operation in the group commit. Operations of one kind in a transaction are applied together. O
// holds the data and the result of an operation.
type Kind[O any] struct {
	Name  string
	Place Place
	// Background operations are the program's own; on PostgreSQL they have a separate committer, so that requests
	// never wait for them. Foreground operations have a waiting caller.
	Background bool
	// Maintenance operations result from others, and are not counted by Operations.
	Maintenance bool
	// Unrepeatable operations are not run again if their COMMIT got no response: the caller resolves the uncertainty.
	Unrepeatable bool
	// Apply runs the operations of one transaction. It may be called again for the same operations after a rollback.
	// With replay there is a single one, whose COMMIT got no response: it may already be stored.
	Apply func(ctx context.Context, tx *Tx, ops []O, replay bool) error
	// Flush returns statements that do the same in the usual case and fail otherwise: PostgreSQL runs those of a batch
	// in one round trip, and the batch is applied only if one of them fails. ok is false if the operations must be
	// applied. If Flush is nil, they always are.
	Flush func(tx *Tx, ops []O) (statements []Statement, ok bool)
	// Rows returns the number of rows of an operation for the metrics, Bytes its memory while it waits; nil for 1 and
	// 0.
	Rows, Bytes func(op O) int
}

// Commit stores the operation and returns after the commit, which happens even if the caller leaves. Errors:
// service_unavailable if too many wait or the database did not confirm.
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

// write is an operation in a committer.
type write struct {
	kind  kind
	op    any
	rows  int
	bytes int64
	done  chan error

	// exclusive writes share no transaction; raw ones run outside any, on the writer's connection.
	exclusive func(ctx context.Context, tx *Tx) error
	raw       bool
}

func (w *write) foreground() bool { return w.kind != nil && w.kind.foreground() }

// kinds yields the batch, sorted by place, one kind at a time.
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

// queue holds the writes that wait for a committer, in order of arrival within each class.
type queue struct {
	mu     sync.RWMutex // held for reading while sending
	closed bool
	// Each has room for the whole backlog.
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

// batcher collects the writes of a committer's next transaction.
type batcher struct {
	q          *queue
	leave      func(w *write) // a write left the queue
	fore, back chan *write    // nil once closed and drained
	exclusive  *write         // collected, and must run alone
}

// next fills a batch, waiting for its first write; it stays empty when the queue is closed and drained. An exclusive
// write is a batch alone.
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

// coalesce lets requests that are being read join this batch, as long as more of them arrive. On an idle node it costs
// nothing; under load it doubles the batches of two committers.
func (b *batcher) coalesce() {
	for n := -1; n < len(b.fore); {
		n = len(b.fore)
		runtime.Gosched()
	}
}

// wait takes the next write, a foreground one if both classes have one.
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

// poll takes a write if one waits.
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

// gather adds the waiting writes. An exclusive write ends the batch and is the next one.
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

// Func is an operation given by a function, without shared work with others of its kind. It must be repeatable.
type Func func(ctx context.Context, tx *Tx) error

// Funcs returns a background kind whose operations are functions, run one after the other.
func Funcs(name string, place Place) *Kind[Func] {
	return &Kind[Func]{
		Name: name, Place: place, Background: true, Maintenance: true,
		Apply: func(ctx context.Context, tx *Tx, ops []Func, _ bool) error {
			for _, run := range ops {
				if err := run(ctx, tx); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
