package relay

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"carillon/internal/event/realtime"
)

const (
	signs = "nodes" // the topic of the signs that nodes send over NATS

	kindRelay = "relay" // the Bus kind of the signs over the database: the node, and one of the following values

	// A node that stops is forgotten before it counts as not heard.
	knownFor = 2 * time.Second
	heardFor = 2500 * time.Millisecond

	// For this time after the start a node gets to know the others, whose signs come every second.
	learnFor = 1200 * time.Millisecond

	maxNodes = 1000
)

// Values of signs over the database.
const (
	signAbsent  int64 = iota - 1 // the node has no NATS
	signUnready                  // it is not connected, or does not hear all other nodes
	signReady
)

// peers are the other nodes. Every second each node sends a sign over NATS and one over the database. A node is ready if
// it gets the signs over NATS of all nodes that it knows over the database. The relay is active if this node and all
// others are ready.
type peers struct {
	self    string
	changed chan struct{} // a sign must be sent before its time

	mu       sync.Mutex
	known    map[string]known     // over the database
	overNATS map[string]time.Time // time of the last sign
}

type known struct {
	at    time.Time
	ready bool
}

func newPeers(self string) *peers {
	return &peers{self: self, changed: make(chan struct{}, 1), known: map[string]known{}, overNATS: map[string]time.Time{}}
}

// heard records a sign over NATS. It reports whether the node was not heard before.
func (p *peers) heard(node string, now time.Time) (first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, before := p.overNATS[node]
	if node == p.self || !before && len(p.overNATS) >= maxNodes {
		return false
	}
	p.overNATS[node] = now
	return now.Sub(at) > heardFor
}

// forget forgets all signs over NATS.
func (p *peers) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.overNATS)
}

// learn records a sign over the database. It reports whether the node or its readiness is new.
func (p *peers) learn(node string, ready bool, now time.Time) (changed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, there := p.known[node]
	if node == p.self || !there && len(p.known) >= maxNodes {
		return false
	}
	p.known[node] = known{now, ready}
	return !there || before.ready != ready
}

// ready reports whether all other nodes are reached over NATS, and whether they are ready too.
func (p *peers) ready(now time.Time) (reached, ready bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for node, at := range p.overNATS {
		if now.Sub(at) > heardFor {
			delete(p.overNATS, node)
		}
	}
	reached, ready = true, true
	for node, x := range p.known {
		if now.Sub(x.at) > knownFor {
			delete(p.known, node)
			continue
		}
		_, heard := p.overNATS[node]
		reached = reached && heard
		ready = ready && x.ready
	}
	return reached, ready
}

// Kind returns the relay's Bus kind.
func (r *Relay) Kind() realtime.Kind {
	return realtime.Kind{Name: kindRelay, Merge: last, Receive: func(items []realtime.Item) {
		changed := false
		for _, x := range items {
			changed = r.others.learn(x.Key, x.Value == signReady, time.Now()) || changed
		}
		if changed {
			r.wakeSigns()
		}
	}}
}

// Absent returns the Bus kind of a node without NATS among nodes with it: it answers their signs, so that they send over
// the database too.
func Absent(node string, announce func(kind string, items ...realtime.Item)) realtime.Kind {
	return realtime.Kind{Name: kindRelay, Merge: last, Receive: func(items []realtime.Item) {
		for _, x := range items {
			if x.Key != node && x.Value != signAbsent {
				announce(kindRelay, realtime.Item{Key: node, Value: signAbsent})
				return
			}
		}
	}}
}

func last(_, b int64) int64 { return b }

func (r *Relay) wakeSigns() {
	select {
	case r.others.changed <- struct{}{}:
	default:
	}
}

// sign sends the signs of this node.
func (r *Relay) sign(c *nats.Conn) {
	if r.connected.Load() {
		subject := r.seal.subject("", signs)
		if c.Publish(subject, r.seal.seal(subject, []byte(r.node))) != nil {
			r.offline.Add(1)
		}
	}
	r.decide(context.Background())
}

// decide finds out whether the relay is active, and announces this node's readiness.
func (r *Relay) decide(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	reached, othersReady := r.others.ready(time.Now())
	ready := reached && r.connected.Load()
	value := signUnready
	if ready {
		value = signReady
	}
	r.o.Announce(kindRelay, realtime.Item{Key: r.node, Value: value})
	active := ready && othersReady && time.Since(r.started) > learnFor
	if r.active.Swap(active) == active {
		return
	}
	switch {
	case active:
		r.o.Log.InfoContext(ctx, "send live events and teammates' sound over NATS")
	case !r.connected.Load():
		r.o.Log.WarnContext(ctx, "send live events and teammates' sound over the database", "reason", "no connection to NATS")
	default:
		r.o.Log.WarnContext(ctx, "send live events and teammates' sound over the database", "reason", "a node is not reached over NATS")
	}
}
