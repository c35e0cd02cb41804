package graphtest

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// Callbacks configure the callbacks that the server posts for each message it accepted.
type Callbacks struct {
	URL      string        // empty: none
	Statuses []string      // default sent, delivered, read
	Delay    time.Duration // of each status after the one before it
	Shuffle  bool          // statuses that are due together are posted in random order
	Double   bool          // each is posted twice
	Batch    int           // most statuses in one post; default 100
	Posts    int           // posts at once; default 4
	Flush    time.Duration // how long statuses are collected before they are posted; default 10 ms
}

func (c Callbacks) filled() Callbacks {
	if c.Statuses == nil {
		c.Statuses = []string{"sent", "delivered", "read"}
	}
	if c.Batch <= 0 {
		c.Batch = 100
	}
	if c.Posts <= 0 {
		c.Posts = 4
	}
	if c.Flush <= 0 {
		c.Flush = 10 * time.Millisecond
	}
	return c
}

// poster posts statuses when they are due. Each state has a queue of its own, in which due times only rise. What the
// response to is not 200 goes to the last queue and is posted again a second later.
type poster struct {
	s      *Server
	c      Callbacks
	wake   chan struct{}
	mu     sync.Mutex
	queues [][]dueStatus
}

type dueStatus struct {
	at time.Time
	Status
}

// repeatAfter is how long the channel waits before it repeats a callback whose response was not 200.
const repeatAfter = time.Second

func newPoster(s *Server) *poster {
	return &poster{s: s, c: s.o.Callbacks, wake: make(chan struct{}, 1), queues: make([][]dueStatus, len(s.o.Callbacks.Statuses)+1)}
}

func (p *poster) add(post Post) {
	now := time.Now()
	p.mu.Lock()
	for i, state := range p.c.Statuses {
		at := now.Add(time.Duration(i+1) * p.c.Delay)
		p.queues[i] = append(p.queues[i], dueStatus{at: at, Status: StatusOf(post, state, at)})
	}
	p.mu.Unlock()
	p.signal()
}

func (p *poster) signal() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// run posts until stop closes.
func (p *poster) run(stop <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-stop
		cancel()
	}()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-stop:
			return
		case <-timer.C:
		}
		batch, next := p.due(time.Now())
		p.post(ctx, batch)
		switch {
		case len(batch) > 0 || !next.IsZero():
			timer.Reset(max(p.c.Flush, time.Until(next)))
		default:
			select {
			case <-stop:
				return
			case <-p.wake:
				timer.Reset(p.c.Flush)
			}
		}
	}
}

// due removes and returns what is due, and when the next status is; zero when there is none.
func (p *poster) due(now time.Time) (batch []Status, next time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, q := range p.queues {
		n := 0
		for n < len(q) && !q[n].at.After(now) {
			batch = append(batch, q[n].Status)
			if p.c.Double && i < len(p.queues)-1 { // repeated ones are doubled already
				batch = append(batch, q[n].Status)
			}
			n++
		}
		p.queues[i] = q[n:]
		if n == len(q) {
			p.queues[i] = nil
			continue
		}
		if next.IsZero() || q[n].at.Before(next) {
			next = q[n].at
		}
	}
	return batch, next
}

func (p *poster) post(ctx context.Context, all []Status) {
	if p.c.Shuffle {
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	slots := make(chan struct{}, p.c.Posts)
	var posts sync.WaitGroup
	for len(all) > 0 {
		n := min(p.c.Batch, len(all))
		part := all[:n]
		all = all[n:]
		slots <- struct{}{}
		posts.Go(func() {
			defer func() { <-slots }()
			status, err := p.s.Deliver(ctx, p.c.URL, p.s.StatusBody(part...))
			if (err != nil || status != http.StatusOK) && ctx.Err() == nil {
				p.repeat(part)
			}
		})
	}
	posts.Wait()
}

func (p *poster) repeat(part []Status) {
	at := time.Now().Add(repeatAfter)
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.queues) - 1
	for _, st := range part {
		p.queues[last] = append(p.queues[last], dueStatus{at: at, Status: st})
	}
}
