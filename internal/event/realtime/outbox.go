package realtime

import "sync"

// Outbox holds items that wait to be sent to other nodes, within a number of bytes, of which one company gets a part.
// Items that do not fit are dropped. Its methods are safe for concurrent use.
type Outbox[T any] struct {
	max, maxCompany int

	mu      sync.Mutex
	waiting []T
	bytes   map[string]int // by company
	all     int
	dropped int64
}

// NewOutbox returns an empty outbox for at most max bytes, and maxCompany of one company.
func NewOutbox[T any](maxBytes, maxCompany int) *Outbox[T] {
	return &Outbox[T]{max: maxBytes, maxCompany: maxCompany, bytes: map[string]int{}}
}

// Add adds an item of a company with its size. It reports whether the item fits.
func (o *Outbox[T]) Add(companyID string, size int, x T) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all+size > o.max || o.bytes[companyID]+size > o.maxCompany {
		o.dropped++
		return false
	}
	o.all += size
	o.bytes[companyID] += size
	o.waiting = append(o.waiting, x)
	return true
}

// Take removes and returns all items, in the order in which they were added.
func (o *Outbox[T]) Take() []T {
	o.mu.Lock()
	defer o.mu.Unlock()
	waiting := o.waiting
	o.waiting, o.all = nil, 0
	clear(o.bytes)
	return waiting
}

// Dropped returns the number of items that did not fit.
func (o *Outbox[T]) Dropped() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.dropped
}
