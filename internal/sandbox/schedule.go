package sandbox

import (
	"container/heap"
	"context"
	"log/slog"
	"sync"
	"time"
)

// schedule holds things until they are due; it holds only so many.
type schedule[T any] struct {
	mu    sync.Mutex
	items items[T]
	seq   uint64 // keeps the order of what is due at the same moment
	max   int
	ended bool
	wake  chan struct{}
}

// item is one thing and when it is due.
type item[T any] struct {
	due time.Time
	seq uint64
	v   T
}

func newSchedule[T any](most int) *schedule[T] {
	return &schedule[T]{max: most, wake: make(chan struct{}, 1)}
}

// add takes a thing, unless the schedule is full or at its end.
func (q *schedule[T]) add(due time.Time, v T) bool {
	q.mu.Lock()
	if q.ended || len(q.items) >= q.max {
		q.mu.Unlock()
		return false
	}
	q.push(due, v)
	first := q.items[0].seq == q.seq
	q.mu.Unlock()
	if first {
		select {
		case q.wake <- struct{}{}:
		default:
		}
	}
	return true
}

func (q *schedule[T]) push(due time.Time, v T) {
	q.seq++
	heap.Push(&q.items, &item[T]{due: due, seq: q.seq, v: v})
}

// run hands on what is due, in batches, until ctx ends; then once more what is due already. handle returns what is to
// come again, also when it fails. The result is how many things were left.
func (q *schedule[T]) run(ctx context.Context, log *slog.Logger, batch int, handle func(context.Context, []*item[T]) ([]*item[T], error)) int {
	backoff := time.Duration(0)
	for ctx.Err() == nil {
		due := q.pop(batch)
		if len(due) == 0 {
			q.sleep(ctx)
			continue
		}
		again, err := handle(ctx, due)
		q.putBack(again)
		if err == nil {
			backoff = 0
			continue
		}
		backoff = min(max(2*backoff, firstBackoff), longestBackoff)
		if ctx.Err() == nil {
			log.WarnContext(ctx, "hand on what is due", "error", err, "again_in", backoff)
			wait(ctx, backoff)
		}
	}
	return q.flush(context.WithoutCancel(ctx), log, batch, handle)
}

func (q *schedule[T]) flush(ctx context.Context, log *slog.Logger, batch int, handle func(context.Context, []*item[T]) ([]*item[T], error)) int {
	ctx, cancel := context.WithTimeout(ctx, flushFor)
	defer cancel()
	for ctx.Err() == nil {
		due := q.pop(batch)
		if len(due) == 0 {
			break
		}
		again, err := handle(ctx, due)
		q.putBack(again)
		if err != nil {
			log.WarnContext(ctx, "hand on what is due at the end", "error", err)
			break
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	left := len(q.items)
	q.items = nil
	return left
}

func (q *schedule[T]) pop(most int) []*item[T] {
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	var due []*item[T]
	for len(q.items) > 0 && len(due) < most && !q.items[0].due.After(now) {
		due = append(due, heap.Pop(&q.items).(*item[T]))
	}
	return due
}

// putBack takes back what was popped: it was held before, so the bound does not count.
func (q *schedule[T]) putBack(again []*item[T]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, it := range again {
		q.push(it.due, it.v)
	}
}

// sleep waits for the next due time or an earlier one that is added.
func (q *schedule[T]) sleep(ctx context.Context) {
	q.mu.Lock()
	var timer <-chan time.Time
	if len(q.items) > 0 {
		t := time.NewTimer(time.Until(q.items[0].due))
		defer t.Stop()
		timer = t.C
	}
	q.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-q.wake:
	case <-timer:
	}
}

// wait waits d, or less when ctx ends; it says whether it waited in full.
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

// items implements heap.Interface, the earliest due first.
type items[T any] []*item[T]

func (h items[T]) Len() int      { return len(h) }
func (h items[T]) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *items[T]) Push(x any)   { *h = append(*h, x.(*item[T])) }

func (h items[T]) Less(i, j int) bool {
	if h[i].due.Equal(h[j].due) {
		return h[i].seq < h[j].seq
	}
	return h[i].due.Before(h[j].due)
}

func (h *items[T]) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return last
}
