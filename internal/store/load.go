package store

import (
	"context"
	"fmt"
	"sync"
	"time"

	"carillon"
)

// loads lets those who ask PostgreSQL for notifications at once share a query: deliveries of single messages would make
// a round trip each. One query is under way; who comes meanwhile waits for the next. On an idle node nobody waits.
type loads struct {
	mu      sync.Mutex
	busy    bool
	waiting []*loading
}

// loading is a notification that somebody asks for.
type loading struct {
	seq  carillon.Seq
	n    *Notification
	err  error
	turn chan bool // told once: to ask for all that wait, itself the first, or that its answer is here
}

const (
	loadMost = 64              // bounds a query's answer: a body may be large
	loadTime = 5 * time.Second // bounds a query
)

// LoadNotification is a notification by its number alone, for the delivery, which owns the message it came from.
func (s *Store) LoadNotification(ctx context.Context, seq carillon.Seq) (*Notification, error) {
	n, err := s.load(ctx, seq)
	if err != nil {
		return nil, fmt.Errorf("read notification: %w", err)
	}
	if n == nil {
		return nil, carillon.Absent("Notification")
	}
	return n, nil
}

func (s *Store) load(ctx context.Context, seq carillon.Seq) (*Notification, error) {
	if s.d.sqlite { // it has no round trips
		all, err := s.notifications(ctx, "SELECT "+notificationColumns+" FROM notification WHERE seq = ?", int64(seq))
		if err != nil || len(all) == 0 {
			return nil, err
		}
		return all[0], nil
	}
	l, leads := s.loads.join(seq)
	if !leads {
		select {
		case leads = <-l.turn:
		case <-ctx.Done():
			go s.passOn(l)
			return nil, ctx.Err()
		}
	}
	if leads {
		s.loadWaiting(ctx)
		return l.n, l.err
	}
	if l.err != nil { // it may have been the other's alone, who left
		found, err := s.loadAll(ctx, []int64{int64(seq)})
		return found[seq], err
	}
	return l.n, nil
}

// join waits with the others; leads is true where nobody asks yet.
func (w *loads) join(seq carillon.Seq) (l *loading, leads bool) {
	l = &loading{seq: seq, turn: make(chan bool, 1)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = append(w.waiting, l)
	leads, w.busy = !w.busy, true
	return l, leads
}

// passOn is for one who left: were it the next to ask, another is.
func (s *Store) passOn(l *loading) {
	if !<-l.turn {
		return
	}
	w := &s.loads
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = w.waiting[1:] // itself
	w.next()
}

// loadWaiting asks for what waits, of which the caller's own is the first, and lets the next one ask.
func (s *Store) loadWaiting(ctx context.Context) {
	w := &s.loads
	w.mu.Lock()
	most := min(len(w.waiting), loadMost)
	batch := w.waiting[:most:most]
	w.waiting = w.waiting[most:]
	w.mu.Unlock()
	seqs := make([]int64, len(batch))
	for i, l := range batch {
		seqs[i] = int64(l.seq)
	}
	found, err := s.loadAll(ctx, seqs)
	for i, l := range batch {
		if n := found[l.seq]; n != nil {
			own := *n
			l.n = &own
		}
		l.err = err
		if i > 0 {
			l.turn <- false
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next()
}

// next lets the first that waits ask. The caller holds mu.
func (w *loads) next() {
	if len(w.waiting) > 0 {
		w.waiting[0].turn <- true
	} else {
		w.busy = false
	}
}

func (s *Store) loadAll(ctx context.Context, seqs []int64) (map[carillon.Seq]*Notification, error) {
	ctx, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	all, err := s.notifications(ctx, "SELECT "+notificationColumns+" FROM notification WHERE seq = ANY($1)", seqs)
	found := make(map[carillon.Seq]*Notification, len(all))
	for _, n := range all {
		found[n.Seq()] = n
	}
	return found, err
}
