package faults

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/send/whatsapp/graphtest"
)

// unknownAfter is the time that an unknown outcome waits for a callback.
const unknownAfter = 3 * time.Second

// channelAccount is one sender's account at the channel.
type channelAccount struct {
	id, number, phone string
	first             bool
	perSecond         int
	policy            string        // policy for unknown outcomes
	after             time.Duration // wait for an unknown outcome; default unknownAfter
	interval          time.Duration // between messages to one recipient
	callbacks         graphtest.Callbacks
	graph             *graphtest.Server
	address           string                 // of its callbacks
	onPost            atomic.Pointer[func()] // called at each post before its response
}

// front is the public address of the nodes, used only for callbacks. It passes each to the first node that accepts it.
type front struct {
	server *httptest.Server
	mu     sync.Mutex
	nodes  []*node
	turn   atomic.Int64
}

func newFront(t *testing.T) *front {
	t.Helper()
	f := &front{}
	f.server = httptest.NewServer(f)
	t.Cleanup(f.server.Close)
	return f
}

func (f *front) set(nodes ...*node) {
	f.mu.Lock()
	f.nodes = nodes
	f.mu.Unlock()
}

func (f *front) all() []*node {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.nodes
}

var frontClient = &http.Client{Timeout: 4 * time.Second}

// ServeHTTP passes a callback on. If no node accepts it, the response is 502, and the channel repeats it.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	nodes := f.all()
	for i := range nodes {
		n := nodes[(i+int(f.turn.Add(1)))%len(nodes)]
		req, err := http.NewRequestWithContext(r.Context(), r.Method, "http://"+n.addr+r.URL.RequestURI(), bytes.NewReader(body))
		if err != nil {
			continue
		}
		req.Header = r.Header.Clone()
		resp, err := frontClient.Do(req)
		if err != nil {
			continue
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode < 500 {
			w.WriteHeader(resp.StatusCode)
			return
		}
	}
	w.WriteHeader(http.StatusBadGateway)
}

// newProviders returns three accounts: one whose unknown outcomes are sent again, one whose unknown outcomes fail, and
// one that reports deliveries only after an unknown outcome was sent again.
func newProviders(t *testing.T, f *front, d dice, late time.Duration, wire *tripwire) []*channelAccount {
	t.Helper()
	all := []*channelAccount{
		{id: "again", number: "15555550100", phone: "1000001", first: true, policy: "retry"},
		{id: "once", number: "15555550200", phone: "1000002", policy: "fail"},
		{
			id: "late", number: "15555550300", phone: "1000003", policy: "retry",
			callbacks: graphtest.Callbacks{Statuses: []string{"delivered"}, Delay: late},
		},
	}
	for _, p := range all {
		p.perSecond = 100
		p.begin(t, f, true)
		p.graph.FailBy(slowly(t, d.child(), 60*time.Millisecond, func(dice, graphtest.Post) *graphtest.Failure {
			wire.post()
			if f := p.onPost.Load(); f != nil {
				(*f)()
			}
			return nil
		}))
	}
	return all
}

// begin opens the account. With reports, it posts its callbacks automatically.
func (p *channelAccount) begin(t *testing.T, f *front, reports bool) {
	t.Helper()
	c := p.callbacks
	if c.Delay == 0 {
		c.Delay = 20 * time.Millisecond
	}
	p.address = f.server.URL + "/callbacks/whatsapp/" + p.id
	if reports {
		c.URL = p.address
	}
	g, err := graphtest.New(graphtest.Options{Loose: true, PhoneNumberID: p.phone, Callbacks: c})
	if err != nil {
		t.Fatal(err)
	}
	p.graph = g
	t.Cleanup(func() { _ = g.Close() })
}

// slowly delays each response, and then fails as the function then decides.
func slowly(t *testing.T, d dice, most time.Duration,
	then func(d dice, p graphtest.Post) *graphtest.Failure,
) func(graphtest.Post) *graphtest.Failure {
	var mu sync.Mutex
	return func(p graphtest.Post) *graphtest.Failure {
		mu.Lock()
		wait := d.between(2*time.Millisecond, most)
		var f *graphtest.Failure
		if then != nil {
			f = then(d, p)
		}
		mu.Unlock()
		pause(t.Context(), wait)
		return f
	}
}

// tripwire signals the nth post while its sender still waits for the response, which is the time to kill it.
type tripwire struct {
	left atomic.Int64
	hit  chan struct{}
}

func newTripwire() *tripwire { return &tripwire{hit: make(chan struct{}, 1)} }

func (w *tripwire) arm(n int) {
	select {
	case <-w.hit:
	default:
	}
	w.left.Store(int64(n))
}

func (w *tripwire) post() {
	if w.left.Add(-1) == 0 {
		w.hit <- struct{}{}
	}
}
