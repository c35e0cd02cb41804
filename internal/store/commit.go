package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"carillon"

	"github.com/jackc/pgx/v5/pgconn"
)

// The group commit (engine.md, section 1). Writes in flight share a transaction, each is answered after its commit.
// Only conflicts that SQL handles are expected inside a batch; any other error rolls the batch back and runs each write
// alone, so that a bad one fails alone. The committer has its own context: a caller that left is still committed.

type workKind int

// The order of kinds inside a transaction is the order of locks: shard, idempotency, new rows, quota, then the
// notifications and messages of receipts.
const (
	workStart workKind = iota // starts and results of deliveries
	workAccept
	workReceipt
	workAlone // never shares a transaction
	workRaw   // outside any transaction, on the writer's connection
)

type work struct {
	kind     workKind
	accept   *Accept
	receipts []carillon.Receipt // of one callback, of workReceipt without run
	run      func(ctx context.Context, tx *Tx) error
	rows     int // of a delivery: its starts, results and messages put off
	done     chan error
}

const (
	batchMax      = 512             // writes a transaction
	togetherFrom  = 32              // callers' writes that wait: from then on all that waits shares transactions
	commitTimeout = 5 * time.Second // unresolved after that: 503
)

// committer runs what waits for it. What callers wait for goes first. What the program does behind them, deliveries and
// the work that is alone, has a turn after each of their batches, and a transaction of its own: a request that comes
// waits for the one under way, and for no other. Where very many requests wait, sharing saves more time than it costs.
type committer struct {
	s      *Store
	in     chan *work // of callers; each has room for all that the backlog lets in
	behind chan *work
	backlog
	admission admission
	mu        sync.RWMutex // held for reading while sending into in
	closed    bool
	done      sync.WaitGroup
}

func newCommitter(s *Store, workers, waiting int) *committer {
	c := &committer{
		s: s, in: make(chan *work, 2*waiting), behind: make(chan *work, waiting), backlog: backlog{most: int64(waiting)},
		admission: admission{places: make(chan struct{}, admitted), most: 2 * int64(waiting)},
	}
	for range workers {
		c.done.Go(c.loop)
	}
	return c
}

func (c *committer) close() {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		close(c.in)
		close(c.behind)
	}
	c.mu.Unlock()
	c.done.Wait()
}

func overloaded(reason string, err error) *carillon.Error {
	return &carillon.Error{
		Code: carillon.ServiceUnavailable, Message: "The service cannot take this request now",
		Details: carillon.Details{{Key: "reason", Value: reason}}, RetryAfter: 1, Err: err,
	}
}

// do hands a write to the committer and waits for its end. A full backlog refuses at once.
func (c *committer) do(ctx context.Context, w *work) error {
	w.done = make(chan error, 1)
	c.mu.RLock()
	if c.closed {
		c.mu.RUnlock()
		return overloaded("The service is stopping", nil)
	}
	if err := c.enter(w); err != nil {
		c.mu.RUnlock()
		return err
	}
	if w.callers() {
		c.in <- w
	} else {
		c.behind <- w
	}
	c.mu.RUnlock()
	select {
	case err := <-w.done:
		return unavailable(err)
	case <-ctx.Done():
		return fmt.Errorf("wait for the commit: %w", ctx.Err())
	}
}

func (c *committer) loop() {
	tx := &Tx{s: c.s, slot: rand.IntN(quotaSlots)} //nolint:gosec // two with one slot only wait for each other
	defer func() { tx.release() }()
	turn := turns{c: c, in: c.in, behind: c.behind}
	batch := make([]*work, 0, batchMax)
	for {
		if batch = turn.next(batch[:0]); len(batch) == 0 {
			return
		}
		begin := time.Now()
		c.timed(tx, batch)
		turn.note(batch, time.Since(begin))
	}
}

func (c *committer) execute(tx *Tx, batch []*work) {
	ctx := context.Background()
	if !c.s.d.sqlite { // a deadline costs the SQLite driver a goroutine a statement
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, commitTimeout)
		defer cancel()
	}
	if !c.s.d.sqlite {
		batch = c.quick(ctx, tx, batch)
	}
	if len(batch) > 0 {
		c.end(ctx, tx, batch, c.attempt(ctx, tx, batch, false))
	}
}

// quick stores the accepts of a batch in one flush, where that does, and gives what is left to do.
func (c *committer) quick(ctx context.Context, tx *Tx, batch []*work) (left []*work) {
	first := slices.IndexFunc(batch, func(w *work) bool { return w.kind == workAccept })
	if first < 0 {
		return batch
	}
	var works []*work
	var accepts []*Accept
	for _, w := range batch {
		if w.kind == workAccept {
			works, accepts = append(works, w), append(accepts, w.accept)
		} else {
			left = append(left, w)
		}
	}
	done, err := c.inOneFlush(ctx, tx, accepts)
	if !done {
		return batch
	}
	c.end(ctx, tx, works, err)
	return left
}

// end answers a batch; one that failed is run again, each write by itself.
func (c *committer) end(ctx context.Context, tx *Tx, batch []*work, err error) {
	for _, w := range batch {
		if err == nil {
			w.done <- nil
		} else {
			w.done <- c.alone(ctx, tx, w, err)
		}
	}
}

const resolveEvery = 50 * time.Millisecond

// alone runs one write of a failed batch by itself. After a COMMIT whose answer was lost an accept finds out whether it
// had been stored (replay), until the time is over; receipts are repeatable by nature. A start is not run again: it
// would find its rows started and take them for another's, so the queue finds out what became of it.
func (c *committer) alone(ctx context.Context, tx *Tx, w *work, first error) error {
	if w.accept != nil {
		w.accept.Started = false // the failed batch may have said so
	}
	if w.kind >= workAlone && !retryable(first) {
		return first
	}
	err, uncertain := first, isUncertain(first)
	tell := func() {
		if w.accept != nil {
			w.accept.Uncertain = uncertain && w.accept.Start != nil
		}
	}
	for n := 0; ctx.Err() == nil && (uncertain || n < txAttempts); n++ {
		if uncertain && w.kind == workStart {
			break
		}
		if uncertain && n > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(resolveEvery):
			}
		}
		if err = c.attempt(ctx, tx, []*work{w}, uncertain); err == nil {
			return nil
		}
		uncertain = uncertain || isUncertain(err)
		if !retryable(err) && !isLost(err) && !lockTimeout(err) {
			tell()
			return err
		}
	}
	tell()
	return overloaded("The database did not confirm in time", err)
}

// isLost tells whether a transaction failed without an answer of the database itself, on PostgreSQL.
func isLost(err error) bool {
	var lost *connectionError
	return errors.As(err, &lost)
}

// isUncertain tells whether such a transaction may have been committed: its COMMIT had left.
func isUncertain(err error) bool {
	var lost *connectionError
	var committing *commitError
	return errors.As(err, &lost) && errors.As(err, &committing)
}

// connectionError is a failure that is not the database's own answer.
type connectionError struct{ err error }

func (e *connectionError) Error() string { return "connection: " + e.err.Error() }
func (e *connectionError) Unwrap() error { return e.err }

func (c *committer) attempt(ctx context.Context, tx *Tx, batch []*work, replay bool) error {
	err := tx.acquire(ctx)
	if err == nil && batch[0].kind == workRaw {
		return batch[0].run(ctx, tx)
	}
	if err == nil {
		err = tryTx(ctx, tx, func(ctx context.Context, tx *Tx) error { return runBatch(ctx, tx, batch, replay) })
	}
	if err == nil || c.s.d.sqlite {
		return err
	}
	var pe *pgconn.PgError
	var ce *carillon.Error
	if errors.As(err, &pe) && !ends(pe) || errors.As(err, &ce) || errors.Is(err, ErrIDTaken) {
		return err
	}
	tx.release() // whatever it was, this connection is not to be trusted
	return &connectionError{err}
}

// ends tells whether the database ended the connection with this answer, which then is none to the statement.
func ends(pe *pgconn.PgError) bool {
	return pe.SeverityUnlocalized == "FATAL" || pe.SeverityUnlocalized == "PANIC"
}

func runBatch(ctx context.Context, tx *Tx, batch []*work, replay bool) error {
	var accepts []*Accept
	for _, w := range batch {
		switch w.kind {
		case workAccept:
			accepts = append(accepts, w.accept)
		case workStart, workAlone:
			if err := w.run(ctx, tx); err != nil {
				return err
			}
		case workReceipt, workRaw:
		}
	}
	if len(accepts) > 0 {
		if err := acceptBatch(ctx, tx, accepts, replay); err != nil {
			return err
		}
	}
	return runBehind(ctx, tx, batch)
}

// runBehind runs what concerns notifications, then the receipts of all callbacks, in the order of locks.
func runBehind(ctx context.Context, tx *Tx, batch []*work) error {
	var receipts []carillon.Receipt
	for _, w := range batch {
		switch {
		case w.kind != workReceipt:
		case w.run == nil:
			receipts = append(receipts, w.receipts...)
		default:
			if err := w.run(ctx, tx); err != nil {
				return err
			}
		}
	}
	sortReceipts(receipts)
	return writeReceipts(ctx, tx, receipts)
}

// acquire takes the connection a committer keeps; a broken one is replaced.
func (t *Tx) acquire(ctx context.Context) error {
	if t.conn != nil {
		return nil
	}
	conn, err := t.s.write.Conn(ctx)
	if err != nil {
		return fmt.Errorf("take a connection: %w", err)
	}
	t.conn = conn
	if t.s.d.sqlite {
		t.stmts, t.plain = map[string]*sql.Stmt{}, map[string]driver.Stmt{}
	}
	return nil
}

func (t *Tx) release() {
	for _, st := range t.stmts {
		_ = st.Close()
	}
	if len(t.plain) > 0 {
		_ = t.conn.Raw(func(any) error {
			for _, st := range t.plain {
				_ = st.Close()
			}
			return nil
		})
	}
	t.stmts, t.plain = nil, nil
	if t.conn != nil {
		_ = t.conn.Close()
		t.conn = nil
	}
}
