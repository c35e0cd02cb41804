// Package load puts load on an HTTP address and measures it: closed loops, open loops whose latencies count from the
// instant at which a request was due (coordinated omission), and a histogram of latencies. It writes requests that are
// made beforehand to bare connections and reads no more of an answer than it must, so that it takes little of the cores
// that it shares with what it measures. It is for measurements, on connections without TLS; it is no general client.
package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Load is what to put on an address. Addr, Conns, For and Request are required.
type Load struct {
	Addr    string
	Conns   int
	For     time.Duration
	Request func(conn, k int) []byte // the k-th request of a connection

	// Rate is of an open loop, in requests a second over all connections; 0: a closed loop, each connection sends as soon as
	// its answer has come.
	Rate float64
	// Poisson draws the gaps of an open loop at random, as independent clients make them; else they are all the same.
	Poisson bool
	// Bounded leaves out a request of an open loop for which no connection is free when it is due, as a client with a full
	// pool does; else it waits, and its wait is part of its latency.
	Bounded bool
	// Tolerant counts every answer and every broken connection; else anything but 200 ends the load with an error.
	Tolerant bool
	// Do sends the k-th request in place of the connection, for a client that does more than that, such as trying another
	// node; Addr and Request are not needed then.
	Do func(ctx context.Context, conn, k int) (Answer, error)
	// Seen is told of every answer and its latency, from many goroutines.
	Seen func(conn, k int, a Answer, took time.Duration)
}

// Result is what came of a load.
type Result struct {
	OK      Hist          // latencies of the answers with 2xx
	Other   Hist          // latencies of the other answers
	Broken  atomic.Int64  // requests whose connection broke, or never came about
	Unsent  int64         // requests of a bounded open loop that found no free connection
	Took    time.Duration // from the first request to the last answer
	mu      sync.Mutex
	answers map[int]int64
}

// Answers are how many came with each status.
func (r *Result) Answers() map[int]int64 { return r.answers }

// Rate is the answers with 2xx a second.
func (r *Result) Rate() float64 { return float64(r.OK.Count()) / r.Took.Seconds() }

// Run puts the load and waits for its last answer. The error is the context's, or of the first answer that is not 200.
func (l *Load) Run(ctx context.Context) (*Result, error) {
	r := &Result{answers: map[int]int64{}}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	begin := time.Now()
	var due chan time.Time
	if l.Rate > 0 {
		due = make(chan time.Time, l.room())
	}
	var workers sync.WaitGroup
	for i := range l.Conns {
		workers.Go(func() {
			w := worker{load: l, result: r, n: i, answers: map[int]int64{}}
			if err := w.run(ctx, begin, due); err != nil {
				cancel(err)
			}
			r.gather(&w)
		})
	}
	if due != nil {
		l.schedule(ctx, begin, due, r)
		close(due)
	}
	workers.Wait()
	r.Took = time.Since(begin)
	return r, context.Cause(ctx)
}

func (r *Result) gather(w *worker) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for status, n := range w.answers {
		r.answers[status] += n
	}
}

// room is how many due requests may wait: none of a bounded load, else as many as the whole load has.
func (l *Load) room() int {
	if l.Bounded {
		return 0
	}
	return int(2*l.Rate*l.For.Seconds()) + 1024
}

// schedule says of each request when it is due.
func (l *Load) schedule(ctx context.Context, begin time.Time, due chan<- time.Time, r *Result) {
	clock := newClock()
	defer clock.close()
	rnd := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // gaps between requests, the same in every run
	gap := float64(time.Second) / l.Rate
	for at := 0.0; at < float64(l.For) && ctx.Err() == nil; {
		t := begin.Add(time.Duration(at))
		clock.until(t)
		if l.Bounded {
			select {
			case due <- t:
			default:
				r.Unsent++
			}
		} else {
			due <- t // there is room for all
		}
		if l.Poisson {
			at += gap * rnd.ExpFloat64()
		} else {
			at += gap
		}
	}
}

// worker has one connection, and makes another when it breaks.
type worker struct {
	load    *Load
	result  *Result
	n       int
	conn    *Conn
	answers map[int]int64
}

func (w *worker) run(ctx context.Context, begin time.Time, due <-chan time.Time) error {
	defer w.hangUp()
	if err := w.dial(ctx); err != nil && !w.load.Tolerant {
		return err
	}
	for k := 0; ctx.Err() == nil; k++ {
		from := time.Now()
		if due == nil {
			if k > 0 && from.Sub(begin) >= w.load.For { // each connection has one at least
				return nil
			}
		} else {
			var more bool
			if from, more = <-due; !more {
				return nil
			}
		}
		if err := w.one(ctx, k, from); err != nil {
			return err
		}
	}
	return nil
}

func (w *worker) one(ctx context.Context, k int, from time.Time) error {
	l, r := w.load, w.result
	a, err := w.ask(ctx, k)
	if err != nil {
		w.hangUp()
		if !l.Tolerant {
			return err
		}
		r.Broken.Add(1)
		return Pause(ctx, 10*time.Millisecond) // whoever refuses connections refuses them fast
	}
	took := time.Since(from)
	if a.Status < 200 || a.Status > 299 {
		if !l.Tolerant {
			return fmt.Errorf("answered %d: %s", a.Status, a.Body)
		}
		r.Other.Add(took)
	} else {
		r.OK.Add(took)
	}
	w.answers[a.Status]++
	if l.Seen != nil {
		l.Seen(w.n, k, a, took)
	}
	if a.Close {
		w.hangUp()
	}
	return nil
}

func (w *worker) ask(ctx context.Context, k int) (Answer, error) {
	if w.load.Do != nil {
		return w.load.Do(ctx, w.n, k)
	}
	if err := w.dial(ctx); err != nil {
		return Answer{}, err
	}
	return w.conn.Do(w.load.Request(w.n, k))
}

func (w *worker) dial(ctx context.Context) error {
	if w.conn != nil || w.load.Do != nil {
		return nil
	}
	var err error
	w.conn, err = Dial(ctx, w.load.Addr)
	return err
}

func (w *worker) hangUp() {
	if w.conn != nil {
		_ = w.conn.Close() // nothing is under way
		w.conn = nil
	}
}

// Pause waits, or gives up with the context.
func Pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// Always is a Load's Request that sends the same each time.
func Always(req []byte) func(conn, k int) []byte {
	return func(int, int) []byte { return req }
}

// OK is an answer of 200, or an error that says what came instead.
func OK(a Answer, err error) ([]byte, error) {
	if err == nil && a.Status != http.StatusOK {
		err = fmt.Errorf("answered %d: %s", a.Status, a.Body)
	}
	return a.Body, err
}
