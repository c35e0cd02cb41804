package lane

import (
	"container/heap"
	"slices"
	"time"
)

// Schedule is the order among lanes: ready lanes are served in turn, sleeping lanes have a wake time, and others wait
// for a reader in first-come, first-served order.
type Schedule struct {
	ready    []*Lane
	sleeping sleepers
	readers  []*Lane
}

// MarkReady queues a lane to be served in its turn.
func (s *Schedule) MarkReady(l *Lane) {
	s.Unsleep(l)
	if !l.ready {
		l.ready = true
		s.ready = append(s.ready, l)
	}
}

// AnyReady reports whether a lane is ready.
func (s *Schedule) AnyReady() bool { return len(s.ready) > 0 }

// NextReady removes and returns the lane whose turn it is, or nil if none is ready.
func (s *Schedule) NextReady() *Lane {
	l := popFront(&s.ready)
	if l != nil {
		l.ready = false
	}
	return l
}

// AwaitReader makes a lane wait for a free reader. Without this queue, thousands of due lanes would poll for one.
func (s *Schedule) AwaitReader(l *Lane) {
	s.Unsleep(l)
	if !l.waiting {
		l.waiting = true
		s.readers = append(s.readers, l)
	}
}

// AnyReader reports whether a lane is waiting for a reader.
func (s *Schedule) AnyReader() bool { return len(s.readers) > 0 }

// NextReader removes and returns the lane that has waited longest for a reader, or nil if none waits.
func (s *Schedule) NextReader() *Lane {
	l := popFront(&s.readers)
	if l != nil {
		l.waiting = false
	}
	return l
}

func popFront(lanes *[]*Lane) *Lane {
	if len(*lanes) == 0 {
		return nil
	}
	l := (*lanes)[0]
	(*lanes)[0] = nil
	*lanes = (*lanes)[1:]
	return l
}

// Sleep lets a lane sleep until the given time.
func (s *Schedule) Sleep(l *Lane, at time.Time) {
	l.wakeAt = at
	if l.index >= 0 {
		heap.Fix(&s.sleeping, l.index)
		return
	}
	heap.Push(&s.sleeping, l)
}

// Unsleep removes a lane from the sleeping lanes.
func (s *Schedule) Unsleep(l *Lane) {
	if l.index >= 0 {
		heap.Remove(&s.sleeping, l.index)
	}
}

// Wake removes and returns a lane whose wake time has come, or nil if there is none.
func (s *Schedule) Wake(now time.Time) *Lane {
	if at := s.WakeAt(); at.IsZero() || at.After(now) {
		return nil
	}
	l := s.sleeping[0]
	s.Unsleep(l)
	return l
}

// WakeAt returns the earliest wake time of the sleeping lanes; zero if none sleeps.
func (s *Schedule) WakeAt() time.Time {
	if len(s.sleeping) == 0 {
		return time.Time{}
	}
	return s.sleeping[0].wakeAt
}

// Remove removes the lanes of a shard.
func (s *Schedule) Remove(shard int) {
	for _, l := range slices.Clone(s.sleeping) {
		if l.Shard == shard {
			s.Unsleep(l)
		}
	}
	gone := func(l *Lane) bool { return l.Shard == shard }
	s.ready, s.readers = slices.DeleteFunc(s.ready, gone), slices.DeleteFunc(s.readers, gone)
}

// sleepers orders lanes by wake time.
type sleepers []*Lane

func (h sleepers) Len() int           { return len(h) }
func (h sleepers) Less(i, j int) bool { return h[i].wakeAt.Before(h[j].wakeAt) }
func (h sleepers) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface.
func (h *sleepers) Push(x any) {
	l := x.(*Lane)
	l.index = len(*h)
	*h = append(*h, l)
}

// Pop implements heap.Interface.
func (h *sleepers) Pop() any {
	old := *h
	l := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	l.index = -1
	return l
}
