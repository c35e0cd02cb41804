package sandbox

import (
	"container/heap"
	"context"
	"log/slog"
	"sync"
	"time"
)

// schedule holds a bounded number of items until they are due.
type schedule[T any] struct {
	mu    sync.Mutex
	items items[T]
	seq   uint64 // orders items that are due at the same moment
	max   int
	ended bool
	wake  chan struct{}
}

// item is a value and when it is due.
type item[T any] struct {
	due   time.Time
	next  time.Time // when it is handled: due, or later after failures
	tries int
	seq   uint64
	v     T
}

// handler handles due items. It returns those to be handled again, with their new due times, and those that failed.
type handler[T any] func(ctx context.Context, due []*item[T]) (again, failed []*item[T], err error)

func newSchedule[T any](most int) *schedule[T] {
	return &schedule[T]{max: most, wake: make(chan struct{}, 1)}
}

// add adds a value, unless the schedule is full or has ended.
func (q *schedule[T]) add(due time.Time, v T) bool {
	q.mu.Lock()
	if q.ended || len(q.items) >= q.max {
		q.mu.Unlock()
		return false
	}
	q.push(&item[T]{due: due, next: due, v: v})
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

func (q *schedule[T]) push(it *item[T]) {
	q.seq++
	it.seq = q.seq
	heap.Push(&q.items, it)
}

// run handles due items in batches until ctx ends, and then those that are due already. What fails is retried with backoff
// and dropped after a while, so that it neither delays the rest nor stays for ever. The result is how many items were left.
func (q *schedule[T]) run(ctx context.Context, log *slog.Logger, batch int, handle handler[T]) int {
	for ctx.Err() == nil {
		due := q.pop(batch)
		if len(due) == 0 {
			q.sleep(ctx)
			continue
		}
		again, failed, err := handle(ctx, due)
		dropped := q.requeue(again, failed)
		if err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "cannot report", "error", err, "failed", len(failed), "dropped", dropped)
		}
	}
	return q.flush(context.WithoutCancel(ctx), log, batch, handle)
}

// flush ends the schedule.
func (q *schedule[T]) flush(ctx context.Context, log *slog.Logger, batch int, handle handler[T]) int {
	ctx, cancel := context.WithTimeout(ctx, flushFor)
	defer cancel()
	q.clearBackoff()
	left := 0
	for ctx.Err() == nil {
		due := q.pop(batch)
		if len(due) == 0 {
			break
		}
		again, failed, err := handle(ctx, due)
		q.requeue(again, nil)
		if err != nil {
			left += len(failed)
			log.WarnContext(ctx, "cannot report at the end", "error", err, "failed", len(failed))
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	left += len(q.items)
	q.items = nil
	return left
}

// clearBackoff makes failed items due again at once.
func (q *schedule[T]) clearBackoff() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, it := range q.items {
		it.next = it.due
	}
	heap.Init(&q.items)
}

func (q *schedule[T]) pop(most int) []*item[T] {
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	var due []*item[T]
	for len(q.items) > 0 && len(due) < most && !q.items[0].next.After(now) {
		due = append(due, heap.Pop(&q.items).(*item[T]))
	}
	return due
}

// requeue adds items that were popped, regardless of the bound. It drops those that have failed for too long, and returns
// how many those are.
func (q *schedule[T]) requeue(again, failed []*item[T]) (dropped int) {
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, it := range again {
		it.next, it.tries = it.due, 0
		q.push(it)
	}
	for _, it := range failed {
		if now.Sub(it.due) > retryFor {
			dropped++
			continue
		}
		it.next = now.Add(min(firstBackoff<<min(it.tries, 16), longestBackoff))
		it.tries++
		q.push(it)
	}
	return dropped
}

// sleep waits for the next due time, or until an earlier item is added.
func (q *schedule[T]) sleep(ctx context.Context) {
	q.mu.Lock()
	var timer <-chan time.Time
	if len(q.items) > 0 {
		t := time.NewTimer(time.Until(q.items[0].next))
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

// wait waits d, or less when ctx ends; it reports whether it waited in full.
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
	if h[i].next.Equal(h[j].next) {
		return h[i].seq < h[j].seq
	}
	return h[i].next.Before(h[j].next)
}

func (h *items[T]) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return last
}
