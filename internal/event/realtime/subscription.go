package realtime

import (
	"context"

	"carillon/internal/store/events"
)

// maxRead is how many events are read at a time.
const maxRead = 200

// Subscription is one follower of a topic. One goroutine uses it.
type Subscription struct {
	hub   *Hub
	topic topic
	last  int64 // seq of the last event that Next returned
	whole bool  // from the first event that is stored: earlier ones are not missed
	gone  bool  // events after its start are not stored: Next has not reported it yet

	// Under the hub's lock.
	pending []events.Event
	behind  bool // the table has, or may have, events that are not pending
	ready   chan struct{}
}

// Ready receives when Next may return events; it is closed when the subscription was dropped or closed.
func (s *Subscription) Ready() <-chan struct{} { return s.ready }

// Close ends the subscription.
func (s *Subscription) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.remove(s)
}

// add is called with the hub's lock held.
func (s *Subscription) add(e events.Event) {
	if len(s.pending) >= pendingMax {
		s.hub.remove(s)
		return
	}
	s.pending = append(s.pending, e)
	s.signal()
}

// readAgain is called with the hub's lock held.
func (s *Subscription) readAgain() {
	s.behind = true
	s.signal()
}

func (s *Subscription) signal() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// Next returns the events since the last call, without a gap; none when there are none. missed reports that some in
// between are no longer stored, so that whoever follows must load everything.
func (s *Subscription) Next(ctx context.Context) (events []events.Event, missed bool, err error) {
	pending, behind := s.takePending()
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
	missed = s.gone || !s.whole && len(stored) > 0 && stored[0].Seq > s.last+1
	s.gone = false
	for _, e := range stored {
		s.last = e.Seq
	}
	events, whole := s.follow(stored, pending)
	if len(stored) == maxRead || !whole { // what is pending is in the table too, and read there
		s.hub.mu.Lock()
		defer s.hub.mu.Unlock()
		s.behind = true
		if _, there := s.hub.topics[s.topic][s]; there {
			s.signal()
		}
	}
	return events, missed, nil
}

func (s *Subscription) takePending() (pending []events.Event, behind bool) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	pending, behind = s.pending, s.behind
	s.pending, s.behind = nil, false
	return pending, behind
}

// follow appends the pending events that come right after the last one, and those without a seq. At a gap ok is false,
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
