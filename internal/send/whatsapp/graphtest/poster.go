package graphtest

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Callbacks configure the callbacks that the server posts for each accepted message. As with the channel, a post may
// contain several statuses, and statuses may be duplicated and out of order. The server always duplicates and shuffles
// them.
type Callbacks struct {
	URL      string        // empty: no callbacks
	Statuses []string      // default sent, delivered, read
	Delay    time.Duration // between consecutive statuses
}

const (
	batch       = 20                    // maximum statuses per post
	flush       = 10 * time.Millisecond // how long statuses are collected for one post
	repeatAfter = time.Second           // delay before the channel repeats a callback whose response was not 200
)

// poster posts due statuses until the response is 200.
type poster struct {
	s       *Server
	slots   chan struct{} // limits concurrent posts
	mu      sync.Mutex
	pending []Status // due at their At
}

func newPoster(s *Server) *poster {
	if s.o.Callbacks.Statuses == nil {
		s.o.Callbacks.Statuses = []string{"sent", "delivered", "read"}
	}
	return &poster{s: s, slots: make(chan struct{}, 4)}
}

func (p *poster) add(post Post) {
	at := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, state := range p.s.o.Callbacks.Statuses {
		at = at.Add(p.s.o.Callbacks.Delay)
		status := StatusOf(post, state, at)
		p.pending = append(p.pending, status, status)
	}
}

// run posts until stop is closed.
func (p *poster) run(stop <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	var posts sync.WaitGroup
	defer posts.Wait()
	defer cancel()
	tick := time.NewTicker(flush)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case now := <-tick.C:
			for part := range slices.Chunk(p.due(now), batch) {
				posts.Go(func() { p.post(ctx, part) })
			}
		}
	}
}

// due removes and returns due statuses, in random order.
func (p *poster) due(now time.Time) (due []Status) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending = slices.DeleteFunc(p.pending, func(st Status) bool {
		if st.At.After(now) {
			return false
		}
		due = append(due, st)
		return true
	})
	rand.Shuffle(len(due), func(i, j int) { due[i], due[j] = due[j], due[i] })
	return due
}

// post posts the statuses until the response is 200.
func (p *poster) post(ctx context.Context, part []Status) {
	for {
		p.slots <- struct{}{}
		status, err := p.s.Deliver(ctx, p.s.o.Callbacks.URL, p.s.StatusBody(part...))
		<-p.slots
		if err == nil && status == http.StatusOK {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(repeatAfter):
		}
	}
}
