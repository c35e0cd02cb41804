package auth

import (
	"context"
	"slices"
	"sync"
)

// slots let a few hashes run at once and the rest wait in a bounded line.
type slots struct {
	most, line int

	mu      sync.Mutex
	running int
	waiting []chan struct{} // each is closed when its turn comes
}

// enter waits for a slot; leave gives it back. Errors: service_unavailable when too many wait.
func (s *slots) enter(ctx context.Context) (leave func(), err error) {
	s.mu.Lock()
	if len(s.waiting) == 0 && s.running < s.most {
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
	if len(s.waiting) > 0 {
		close(s.waiting[0])
		s.waiting = slices.Delete(s.waiting, 0, 1)
		s.running++
	}
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
