package realtime

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"carillon"
	"carillon/internal/store/events"
)

// KindEvents is the Bus kind for topics with new events.
const KindEvents = "event"

const (
	pendingMax     = 256 // waiting events per subscriber; beyond it the subscriber is dropped
	subscribersMax = 10_000
	// renewEvery is the interval at which the topics of open streams are followed again. Following lasts three times
	// as long.
	renewEvery   = 30 * time.Second
	renewTimeout = 10 * time.Second
)

// Hub passes events to the subscribers on this node.
type Hub struct {
	store  Reader
	log    *slog.Logger
	others func(kind string, items ...Item) // nil if there is only one node
	send   func(live ...*events.Event)      // to other nodes; nil if there are none
	live   *live                            // of the bus; nil without one

	mu      sync.Mutex
	topics  map[topic]map[*Subscription]struct{}
	relayed map[topic]func() // end of the relay's subscription
	count   int
}

// Reader reads the table of events. Follow makes the program write the events of a topic, while a stream of the topic
// is open.
type Reader interface {
	Follow(ctx context.Context, companyID, topic string) error
	EventsAfter(ctx context.Context, companyID, topic string, seq int64, most int) ([]events.Event, error)
	LastEvent(ctx context.Context, companyID, topic string) (int64, error)
}

type topic struct{ companyID, name string }

func (t topic) key() string { return t.companyID + "/" + t.name }

// NewHub returns a hub. others announces to other nodes (Bus.Publish); it is nil if there are none.
func NewHub(r Reader, log *slog.Logger, others func(kind string, items ...Item)) *Hub {
	return &Hub{store: r, log: log, others: others, topics: map[topic]map[*Subscription]struct{}{}, relayed: map[topic]func(){}}
}

// Join makes the hub exchange live events with the other nodes, over a bus and, unless it is nil, a relay. Call it before
// the hub is used.
func (h *Hub) Join(b *Bus, relay Relay) {
	h.send, h.live = b.Send, &b.live
	b.live.relay, b.live.show = relay, h.show
}

// Kind returns the hub's Bus kind.
func (h *Hub) Kind() Kind {
	return Kind{Name: KindEvents, Merge: func(a, b int64) int64 { return max(a, b) }, Receive: h.receive}
}

// Run keeps the topics of open streams followed until ctx ends. After that they stay followed for a little longer.
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

// Publish passes committed events, and live ones, to the subscribers. It never blocks.
func (h *Hub) Publish(stored ...*events.Event) {
	for _, e := range stored {
		h.show(e)
	}
	if h.others != nil {
		h.announce(stored)
	}
}

// show passes an event to the subscribers on this node.
func (h *Hub) show(e *events.Event) {
	h.mu.Lock() // locked per event, so that subscribers can take events in between
	defer h.mu.Unlock()
	for s := range h.topics[topicOf(e)] {
		s.add(*e)
	}
}

// announce sends live events, and announces stored ones. Of consecutive events of one topic it announces only the last,
// because other nodes read the earlier ones too.
func (h *Hub) announce(stored []*events.Event) {
	var last *events.Event
	for _, e := range stored {
		if e.Seq == 0 {
			if h.send != nil {
				h.send(e)
			}
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

// receive makes the subscribers of topics read the events that another node stored. nil stands for all topics. A node's own
// announcements come back to it, when its subscribers have the events; an earlier one that they lack shows as a gap.
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
			if x.Value > s.newest {
				s.readAgain()
			}
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
		if h.live != nil && h.live.relay != nil {
			h.relayed[s.topic] = h.live.relay.Subscribe(companyID, name, func(payload []byte) { h.relayLive(s.topic, payload) })
		}
	}
	h.topics[s.topic][s] = struct{}{}
	h.count++
	return s, nil
}

// FromNow follows a topic beginning after its newest event.
const FromNow = -1

// Follow subscribes to a topic and makes the program write its events. It begins after the event with seq after;
// FromNow begins now, and 0 with the first stored event.
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

// gone reports whether events between after and newest are not stored, because they were deleted, the topic was not
// followed for a time, or the database was restored.
func (h *Hub) gone(ctx context.Context, companyID, name string, after, newest int64) (bool, error) {
	if after == newest || after == 0 {
		return false, nil
	}
	stored, err := h.store.EventsAfter(ctx, companyID, name, newest-1, 1)
	return after > newest || len(stored) == 0, err
}

// remove must be called with the lock held.
func (h *Hub) remove(s *Subscription) {
	if _, there := h.topics[s.topic][s]; !there {
		return
	}
	delete(h.topics[s.topic], s)
	if len(h.topics[s.topic]) == 0 {
		delete(h.topics, s.topic)
		if end := h.relayed[s.topic]; end != nil {
			delete(h.relayed, s.topic)
			end()
		}
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

// Streams returns the number of subscriptions on this node by topic. Topics of single objects are counted together.
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
