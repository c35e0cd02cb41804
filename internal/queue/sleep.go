package queue

import (
	"container/heap"
	"time"
)

// laneHeap orders sleeping lanes by when they want to be looked at.
type laneHeap []*lane

func (h laneHeap) Len() int           { return len(h) }
func (h laneHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h laneHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface.
func (h *laneHeap) Push(x any) {
	l := x.(*lane)
	l.index = len(*h)
	*h = append(*h, l)
}

// Pop implements heap.Interface.
func (h *laneHeap) Pop() any {
	old := *h
	l := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	l.index = -1
	return l
}

func (p *pump) sleepUntil(l *lane, at time.Time) {
	l.at = at
	if l.index >= 0 {
		heap.Fix(&p.sleep, l.index)
		return
	}
	heap.Push(&p.sleep, l)
}

func (p *pump) unsleep(l *lane) {
	if l.index >= 0 {
		heap.Remove(&p.sleep, l.index)
	}
}
