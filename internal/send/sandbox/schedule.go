package sandbox

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// schedule holds a bounded number of deliveries until their next receipts are due.
type schedule struct {
	mu    sync.Mutex
	items deliveries
	max   int
	wake  chan struct{}
}

// add adds a delivery, unless the schedule is full.
func (q *schedule) add(d *delivery) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) >= q.max {
		return false
	}
	heap.Push(&q.items, d)
	if q.items[0] == d {
		select {
		case q.wake <- struct{}{}:
		default:
		}
	}
	return true
}

// putBack adds deliveries that were popped, regardless of the bound.
func (q *schedule) putBack(ds []*delivery) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, d := range ds {
		heap.Push(&q.items, d)
	}
}

// pop removes and returns due deliveries.
func (q *schedule) pop(most int) []*delivery {
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	var due []*delivery
	for len(q.items) > 0 && len(due) < most && !q.items[0].at.After(now) {
		due = append(due, heap.Pop(&q.items).(*delivery))
	}
	return due
}

// sleep waits until the time of the next delivery, or until an earlier one is added.
func (q *schedule) sleep(ctx context.Context) {
	q.mu.Lock()
	var next <-chan time.Time
	if len(q.items) > 0 {
		next = time.After(time.Until(q.items[0].at))
	}
	q.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-q.wake:
	case <-next:
	}
}

// wait waits for d, or until ctx ends. It reports whether it waited the full time.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// deliveries implements heap.Interface, earliest first.
type deliveries []*delivery

func (h deliveries) Len() int           { return len(h) }
func (h deliveries) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h deliveries) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *deliveries) Push(x any)        { *h = append(*h, x.(*delivery)) }

func (h *deliveries) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return last
}
