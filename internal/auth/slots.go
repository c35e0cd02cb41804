package auth

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	trafficEvery = 100 * time.Millisecond // how often the traffic is looked at
	busyFrom     = 200                    // requests a second, hashes aside, that make the program busy
)

// slots let a few hashes run at once and the rest wait in a bounded line. While the program answers others too, half as
// many run: a hash keeps a processor for tens of milliseconds, and whoever sends then should not feel who signs in.
type slots struct {
	most, line int
	traffic    traffic

	mu      sync.Mutex
	running int
	waiting []chan struct{} // each is closed when its turn comes
}

// enter waits for a slot; leave gives it back. Errors: service_unavailable when too many wait.
func (s *slots) enter(ctx context.Context) (leave func(), err error) {
	s.mu.Lock()
	if len(s.waiting) == 0 && s.running < s.atOnce() {
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
	for most := s.atOnce(); s.running < most && len(s.waiting) > 0; s.running++ {
		close(s.waiting[0])
		s.waiting = slices.Delete(s.waiting, 0, 1)
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

// atOnce is called under the lock.
func (s *slots) atOnce() int {
	if s.traffic.busy() {
		return max(1, s.most/2)
	}
	return s.most
}

// traffic tells whether the program has others to answer. Its owner guards it.
type traffic struct {
	others func() int64 // requests answered so far, hashes aside; nil: there are none
	at     time.Time
	seen   int64
	much   bool
}

func (t *traffic) busy() bool {
	if t.others == nil {
		return false
	}
	now := time.Now()
	passed := now.Sub(t.at)
	if passed >= trafficEvery {
		n := t.others()
		t.much = float64(n-t.seen) >= busyFrom*passed.Seconds()
		t.at, t.seen = now, n
	}
	return t.much
}
