package graphtest

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Callbacks configure the callbacks that the server posts for each message it accepted. As with the channel, several
// statuses come in one post, and each may come twice and before those of its past: here each does.
type Callbacks struct {
	URL      string        // empty: none
	Statuses []string      // default sent, delivered, read
	Delay    time.Duration // of each status after the one before it
}

const (
	batch       = 20                    // most statuses in one post
	flush       = 10 * time.Millisecond // how long statuses are collected before they are posted
	repeatAfter = time.Second           // how long the channel waits before it repeats a callback whose response was not 200
)

// poster posts statuses when they are due, until the response is 200.
type poster struct {
	s       *Server
	slots   chan struct{} // limits the posts at once
	mu      sync.Mutex
	pending []Status // At is when they are due
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

// run posts until stop closes.
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

// due removes and returns what is due, in random order.
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
