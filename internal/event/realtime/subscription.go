package realtime

import (
	"context"

	"carillon/internal/store/events"
)

// maxRead is the number of events read at a time.
const maxRead = 200

// Subscription follows a topic. It must be used by one goroutine only.
type Subscription struct {
	hub   *Hub
	topic topic
	last  int64 // seq of the last event that Next returned
	whole bool  // it began with the first stored event, so a missing earlier event does not count as missed
	gone  bool  // events after its start are not stored, and Next has not reported it yet

	// Guarded by the hub's lock.
	pending []events.Event
	behind  bool  // the table has, or may have, events that are not pending
	before  int   // number of pending events from before the last notice that the table has more
	newest  int64 // highest seq that was pending
	ready   chan struct{}
}

// Ready returns a channel that receives when Next may return events. It is closed when the subscription was dropped or
// closed.
func (s *Subscription) Ready() <-chan struct{} { return s.ready }

// Close ends the subscription.
func (s *Subscription) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.remove(s)
}

// add must be called with the hub's lock held.
func (s *Subscription) add(e events.Event) {
	if len(s.pending) >= pendingMax {
		if e.Seq == 0 {
			return // a live event can be missed
		}
		s.hub.remove(s)
		return
	}
	s.pending, s.newest = append(s.pending, e), max(s.newest, e.Seq)
	s.signal()
}

// readAgain must be called with the hub's lock held.
func (s *Subscription) readAgain() {
	s.behind, s.before = true, len(s.pending)
	s.signal()
}

func (s *Subscription) signal() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// Next returns the events since the last call, without a gap, or none if there are no new ones. missed reports that
// some events in between are no longer stored, so the caller must reload everything.
func (s *Subscription) Next(ctx context.Context) (events []events.Event, missed bool, err error) {
	pending, before, behind := s.takePending()
	if !behind {
		if events, ok := s.follow(nil, pending); ok {
			return events, false, nil
		}
	}
	stored, err := s.hub.store.EventsAfter(ctx, s.topic.companyID, s.topic.name, s.last, maxRead)
	if err != nil {
		s.hub.mu.Lock()
		defer s.hub.mu.Unlock()
		s.behind = true
		return nil, false, err
	}
	live, pending := liveFirst(pending, before)
	missed = s.gone || !s.whole && len(stored) > 0 && stored[0].Seq > s.last+1
	s.gone = false
	for _, e := range stored {
		s.last = e.Seq
	}
	events, whole := s.follow(append(live, stored...), pending)
	if len(stored) == maxRead || !whole { // the pending events are in the table too, and are read from there
		s.hub.mu.Lock()
		defer s.hub.mu.Unlock()
		s.behind = true
		if _, there := s.hub.topics[s.topic][s]; there {
			s.signal()
		}
	}
	return events, missed, nil
}

func (s *Subscription) takePending() (pending []events.Event, before int, behind bool) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	pending, before, behind = s.pending, s.before, s.behind
	s.pending, s.before, s.behind = nil, 0, false
	return pending, before, behind
}

// liveFirst returns the live events among the first n pending events, and all other events. On another node, the pieces
// of an agent's reply arrive as live events and then the reply in the table: they must stay in this order.
func liveFirst(pending []events.Event, n int) (live, others []events.Event) {
	for i := range pending {
		if i < n && pending[i].Seq == 0 {
			live = append(live, pending[i])
		} else {
			others = append(others, pending[i])
		}
	}
	return live, others
}

// follow appends the pending events that directly follow the last one, and those without a seq. At a gap ok is false,
// and nothing has changed.
func (s *Subscription) follow(events, pending []events.Event) (all []events.Event, ok bool) {
	all, last := events, s.last
	for _, e := range pending {
		switch {
		case e.Seq > last+1:
			return events, false
		case e.Seq == last+1:
			last++
			all = append(all, e)
		case e.Seq == 0:
			all = append(all, e)
		}
	}
	s.last = last
	return all, true
}
