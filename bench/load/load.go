// Package load generates HTTP load and measures it, in closed loops and in open loops. Latencies of open loops count
// from the scheduled time of a request, so a stall counts for every request that it delays. The package writes
// prepared requests to plain connections and parses as little as possible of each response, to use little of the
// processor time that it shares with the program under test. It is not a general HTTP client.
package load

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Load describes a load. Addr, Conns, Request and either For or Count are required.
type Load struct {
	Addr    string
	Conns   int
	For     time.Duration
	Request func(conn, k int) []byte // returns the k-th request of a connection

	// Rate is the number of requests per second of an open loop, over all connections. If 0, the loop is closed: each
	// connection sends as soon as it has the previous response.
	Rate float64
	// Count is the number of requests after which the load ends, instead of For. The i-th one is Request(i%Conns,
	// i/Conns).
	Count int
	// Tolerant counts all responses and broken connections. Otherwise the first broken connection or response without a 2xx status ends the
	// load with an error.
	Tolerant bool
	// OnResponse is called with every response, concurrently.
	OnResponse func(Response)
}

// Result is the outcome of a load.
type Result struct {
	OK       Latencies     // of 2xx responses
	Other    Latencies     // of other responses
	Broken   atomic.Int64  // requests whose connection broke or could not be opened
	Duration time.Duration // from the first request to the last response
}

// Rate returns the number of 2xx responses per second.
func (r *Result) Rate() float64 { return float64(r.OK.Count()) / r.Duration.Seconds() }

// Run generates the load and waits for the last response. It returns the context's error, or that of the first
// response without a 2xx status.
func (l *Load) Run(ctx context.Context) (*Result, error) {
	r := &Result{}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	begin := time.Now()
	var scheduled chan time.Time
	if l.Rate > 0 {
		scheduled = make(chan time.Time, int(l.Rate*l.For.Seconds())+1) // room for all
	}
	var workers sync.WaitGroup
	for i := range l.Conns {
		workers.Go(func() {
			w := worker{load: l, result: r, index: i}
			if err := w.run(ctx, begin, scheduled); err != nil {
				cancel(err)
			}
		})
	}
	if scheduled != nil {
		l.schedule(ctx, begin, scheduled)
		close(scheduled)
	}
	workers.Wait()
	r.Duration = time.Since(begin)
	return r, context.Cause(ctx)
}

// schedule sends the time of each request of an open loop.
func (l *Load) schedule(ctx context.Context, begin time.Time, scheduled chan<- time.Time) {
	runtime.LockOSThread() // for sleepUntil
	defer runtime.UnlockOSThread()
	gap := float64(time.Second) / l.Rate
	for at := 0.0; at < float64(l.For) && ctx.Err() == nil; at += gap {
		t := begin.Add(time.Duration(at))
		sleepUntil(t)
		scheduled <- t
	}
}

// sleepUntil sleeps in the kernel: the runtime's timers wake an otherwise idle program up to a millisecond late.
func sleepUntil(t time.Time) {
	for left := time.Until(t); left > 20*time.Microsecond; left = time.Until(t) {
		ts := syscall.NsecToTimespec(int64(left))
		_ = syscall.Nanosleep(&ts, nil) // after a signal, sleep again
	}
}

// worker uses one connection, and opens another one when it breaks.
type worker struct {
	load   *Load
	result *Result
	index  int
	conn   *Conn
}

func (w *worker) run(ctx context.Context, begin time.Time, scheduled <-chan time.Time) error {
	defer w.disconnect()
	// In an open loop a connection may not be needed for a while, and the server would close it.
	if scheduled == nil {
		if err := w.connect(ctx); err != nil && !w.load.Tolerant {
			return err
		}
	}
	for k := 0; ctx.Err() == nil; k++ {
		from := time.Now()
		if scheduled == nil {
			if w.load.done(w.index, k, from.Sub(begin)) {
				return nil
			}
		} else {
			var more bool
			if from, more = <-scheduled; !more {
				return nil
			}
		}
		if err := w.request(ctx, k, from); err != nil {
			return err
		}
	}
	return nil
}

// done reports whether a connection of a closed loop ends before its k-th request. Each connection sends at least one
// request.
func (l *Load) done(conn, k int, elapsed time.Duration) bool {
	if l.Count > 0 {
		return k*l.Conns+conn >= l.Count
	}
	return k > 0 && elapsed >= l.For
}

// request sends the k-th request and counts its response. from is the start of its latency.
func (w *worker) request(ctx context.Context, k int, from time.Time) error {
	resp, err := w.do(ctx, k)
	if err != nil {
		w.disconnect()
		if !w.load.Tolerant {
			return err
		}
		w.result.Broken.Add(1)
		return Pause(ctx, 10*time.Millisecond) // a server that refuses connections does so quickly
	}
	latency := time.Since(from)
	switch {
	case resp.Status >= 200 && resp.Status <= 299:
		w.result.OK.Add(latency)
	case w.load.Tolerant:
		w.result.Other.Add(latency)
	default:
		return fmt.Errorf("status %d: %s", resp.Status, resp.Body)
	}
	if w.load.OnResponse != nil {
		w.load.OnResponse(resp)
	}
	if resp.Close {
		w.disconnect()
	}
	return nil
}

func (w *worker) do(ctx context.Context, k int) (Response, error) {
	if err := w.connect(ctx); err != nil {
		return Response{}, err
	}
	return w.conn.Do(w.load.Request(w.index, k))
}

func (w *worker) connect(ctx context.Context) (err error) {
	if w.conn == nil {
		w.conn, err = Dial(ctx, w.load.Addr)
	}
	return err
}

func (w *worker) disconnect() {
	if w.conn != nil {
		_ = w.conn.Close() // no request is in flight
		w.conn = nil
	}
}

// Pause waits for a duration or until the context ends.
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

// Always returns a Load.Request that sends the same request every time.
func Always(req []byte) func(conn, k int) []byte {
	return func(int, int) []byte { return req }
}

// OK returns the body of a 200 response, or an error that describes the response. It wraps a call of Conn.Do.
func OK(r Response, err error) ([]byte, error) {
	if err == nil && r.Status != http.StatusOK {
		err = fmt.Errorf("status %d: %s", r.Status, r.Body)
	}
	return r.Body, err
}
