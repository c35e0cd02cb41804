package auth

import (
	"context"
	"slices"
	"sync"
	"time"
)

// slots let a few hashes run at once and the rest wait in a bounded line.
type slots struct {
	most, line int
	beside     func() bool // other work is under way: half the places, so that a processor is free of hashes; nil: never

	mu      sync.Mutex
	running int
	waiting []chan struct{} // each is closed when its turn comes
}

// enter waits for a slot; leave gives it back. Errors: service_unavailable when too many wait.
func (s *slots) enter(ctx context.Context) (leave func(), err error) {
	s.mu.Lock()
	if len(s.waiting) == 0 && s.running < s.places() {
		s.running++
		s.mu.Unlock()
		return s.leave, nil
	}
	if len(s.waiting) >= s.line {
		s.mu.Unlock()
		return nil, crowded(nil)
	}
	turn := make(chan struct{})
	s.waiting = append(s.waiting, turn)
	s.mu.Unlock()
	select {
	case <-turn:
		return s.leave, nil
	case <-ctx.Done():
		s.quit(turn)
		return nil, crowded(ctx.Err())
	}
}

func (s *slots) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
	for len(s.waiting) > 0 && s.running < s.places() {
		close(s.waiting[0])
		s.waiting = slices.Delete(s.waiting, 0, 1)
		s.running++
	}
}

// places is never none: who leaves lets the next in. The caller holds mu.
func (s *slots) places() int {
	if s.beside != nil && s.beside() {
		return max(1, s.most/2)
	}
	return s.most
}

// quit takes a waiter out of the line; its turn, had it come meanwhile, goes to the next.
func (s *slots) quit(turn chan struct{}) {
	s.mu.Lock()
	i := slices.Index(s.waiting, turn)
	if i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
	s.mu.Unlock()
	if i < 0 {
		s.leave()
	}
}

const (
	bustleLook = 250 * time.Millisecond
	bustleRate = 100 // a second: with fewer, hashes on every processor delay hardly anyone
)

// bustle tells whether requests and deliveries come at such a rate that hashes on every processor would be felt. slots
// ask it in turn.
type bustle struct {
	came func() int64 // ever

	at   time.Time // of the last look
	was  int64
	busy bool
}

func (b *bustle) now(now time.Time) bool {
	if since := now.Sub(b.at); since >= bustleLook {
		n := b.came()
		b.busy = float64(n-b.was) >= bustleRate*since.Seconds()
		b.at, b.was = now, n
	}
	return b.busy
}
