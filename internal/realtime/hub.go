package realtime

import (
	"context"
	"strings"
	"sync"

	"carillon"
	"carillon/internal/store"
)

// CompanyTopic has the events that concern a company as a whole.
const CompanyTopic = "company"

// KindEvents is the Bus's kind for topics that have new events.
const KindEvents = "event"

const (
	pendingMax     = 256 // events that wait for one subscriber; more: it is dropped
	subscribersMax = 10_000
)

// Hub passes events to this node's subscribers.
type Hub struct {
	store  Reader
	others func(kind string, items ...Item) // nil: there is one node

	mu     sync.Mutex
	topics map[topic]map[*Subscription]struct{}
	count  int
}

// Reader reads the table of events.
type Reader interface {
	EventsAfter(ctx context.Context, companyID, topic string, seq int64, most int) ([]store.Event, error)
	LastEvent(ctx context.Context, companyID, topic string) (int64, error)
}

type topic struct{ companyID, name string }

func (t topic) key() string { return t.companyID + "/" + t.name }

// NewHub builds a hub; others announces to other nodes (Bus.Publish), nil where there are none.
func NewHub(r Reader, others func(kind string, items ...Item)) *Hub {
	return &Hub{store: r, others: others, topics: map[topic]map[*Subscription]struct{}{}}
}

// Kind is the hub's kind of items on the Bus.
func (h *Hub) Kind() Kind {
	return Kind{Name: KindEvents, Merge: func(a, b int64) int64 { return max(a, b) }, Receive: h.receive}
}

// Publish passes committed events to the subscribers. It never blocks.
func (h *Hub) Publish(events ...*store.Event) {
	for _, e := range events {
		t := topic{e.CompanyID, e.Topic}
		h.mu.Lock()
		for s := range h.topics[t] {
			s.add(*e)
		}
		h.mu.Unlock()
		if h.others != nil && e.Seq > 0 {
			h.others(KindEvents, Item{t.key(), e.Seq})
		}
	}
}

// receive lets the subscribers of topics read what another node stored; nil: all of them.
func (h *Hub) receive(items []Item) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if items == nil {
		for _, all := range h.topics {
			for s := range all {
				s.readAgain()
			}
		}
	}
	for _, x := range items {
		company, name, _ := strings.Cut(x.Key, "/")
		for s := range h.topics[topic{company, name}] {
			s.readAgain()
		}
	}
}

// Subscribe follows a topic after a seq. The caller must close the subscription.
func (h *Hub) Subscribe(companyID, name string, after int64) (*Subscription, error) {
	s := &Subscription{hub: h, topic: topic{companyID, name}, last: after, behind: true, ready: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.count >= subscribersMax {
		return nil, &carillon.Error{
			Code: carillon.ServiceUnavailable, Message: "The service is overloaded", RetryAfter: 5,
			Details: carillon.Details{{Key: "reason", Value: "Too many streams are open on this node"}},
		}
	}
	if h.topics[s.topic] == nil {
		h.topics[s.topic] = map[*Subscription]struct{}{}
	}
	h.topics[s.topic][s] = struct{}{}
	h.count++
	return s, nil
}

// remove is called with the lock held.
func (h *Hub) remove(s *Subscription) {
	if _, there := h.topics[s.topic][s]; !there {
		return
	}
	delete(h.topics[s.topic], s)
	if len(h.topics[s.topic]) == 0 {
		delete(h.topics, s.topic)
	}
	h.count--
	close(s.ready)
}

// Subscribers returns the number of subscriptions on this node.
func (h *Hub) Subscribers() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.count
}
