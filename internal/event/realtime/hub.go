package realtime

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"carillon/internal/store/events"

	"carillon"
)

// KindEvents is the Bus's kind for topics that have new events.
const KindEvents = "event"

const (
	pendingMax     = 256 // events that wait for one subscriber; more: it is dropped
	subscribersMax = 10_000
	// renewEvery is how often the topics of open streams are followed again, which holds three times as long.
	renewEvery   = 30 * time.Second
	renewTimeout = 10 * time.Second
)

// Hub passes events to this node's subscribers.
type Hub struct {
	store  Reader
	log    *slog.Logger
	others func(kind string, items ...Item) // nil: there is one node

	mu     sync.Mutex
	topics map[topic]map[*Subscription]struct{}
	count  int
}

// Reader reads the table of events, and has the events of a topic written while a stream of it is open.
type Reader interface {
	Follow(ctx context.Context, companyID, topic string) error
	EventsAfter(ctx context.Context, companyID, topic string, seq int64, most int) ([]events.Event, error)
	LastEvent(ctx context.Context, companyID, topic string) (int64, error)
}

type topic struct{ companyID, name string }

func (t topic) key() string { return t.companyID + "/" + t.name }

// NewHub builds a hub; others announces to other nodes (Bus.Publish), nil where there are none.
func NewHub(r Reader, log *slog.Logger, others func(kind string, items ...Item)) *Hub {
	return &Hub{store: r, log: log, others: others, topics: map[topic]map[*Subscription]struct{}{}}
}

// Kind is the hub's kind of items on the Bus.
func (h *Hub) Kind() Kind {
	return Kind{Name: KindEvents, Merge: func(a, b int64) int64 { return max(a, b) }, Receive: h.receive}
}

// Run keeps the topics of open streams followed until ctx ends. What was open last is followed for a little longer.
func (h *Hub) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(renewEvery):
		}
		h.mu.Lock()
		topics := slices.Collect(maps.Keys(h.topics))
		h.mu.Unlock()
		for _, t := range topics {
			following, cancel := context.WithTimeout(ctx, renewTimeout)
			if err := h.store.Follow(following, t.companyID, t.name); err != nil && ctx.Err() == nil {
				h.log.WarnContext(ctx, "keep a topic followed", "topic", t.name, "error", err)
			}
			cancel()
		}
	}
}

// Publish passes committed events to the subscribers. It never blocks.
func (h *Hub) Publish(stored ...*events.Event) {
	for _, e := range stored {
		h.mu.Lock() // for each, so that a subscriber may take what it has got so far
		for s := range h.topics[topicOf(e)] {
			s.add(*e)
		}
		h.mu.Unlock()
	}
	if h.others != nil {
		h.announce(stored)
	}
}

// announce announces the stored ones, of those of a topic that follow one another the last: the other nodes read what comes before it.
func (h *Hub) announce(stored []*events.Event) {
	var last *events.Event
	for _, e := range stored {
		if e.Seq == 0 {
			continue
		}
		if last != nil && topicOf(last) != topicOf(e) {
			h.others(KindEvents, Item{topicOf(last).key(), last.Seq})
		}
		last = e
	}
	if last != nil {
		h.others(KindEvents, Item{topicOf(last).key(), last.Seq})
	}
}

func topicOf(e *events.Event) topic { return topic{e.CompanyID, e.Topic} }

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

// FromNow follows a topic from its newest event on.
const FromNow = -1

// Follow has a topic's events written and subscribes to it as a screen does: after the last event that it has, with FromNow
// from now on, with 0 from the first that is stored.
func (h *Hub) Follow(ctx context.Context, companyID, name string, after int64) (*Subscription, error) {
	if err := h.store.Follow(ctx, companyID, name); err != nil {
		return nil, err
	}
	newest, err := h.store.LastEvent(ctx, companyID, name)
	if err != nil {
		return nil, err
	}
	gone := false
	if after == FromNow {
		after = newest
	} else if gone, err = h.gone(ctx, companyID, name, after, newest); err != nil {
		return nil, err
	}
	if gone {
		after = newest
	}
	s, err := h.Subscribe(companyID, name, after)
	if err != nil {
		return nil, err
	}
	s.whole, s.gone = after == 0, gone
	return s, nil
}

// gone reports whether the newest events after one are not stored: they were deleted, the topic was not followed for a time, or
// the database was restored.
func (h *Hub) gone(ctx context.Context, companyID, name string, after, newest int64) (bool, error) {
	if after == newest || after == 0 {
		return false, nil
	}
	stored, err := h.store.EventsAfter(ctx, companyID, name, newest-1, 1)
	return after > newest || len(stored) == 0, err
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

// Streams returns the number of subscriptions on this node by topic; the topics of single things count as one.
func (h *Hub) Streams() map[string]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := map[string]int{}
	for t, all := range h.topics {
		kind, _, _ := strings.Cut(t.name, "/")
		n[kind] += len(all)
	}
	return n
}
