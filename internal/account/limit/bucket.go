package limit

import (
	"context"
	"hash/maphash"
	"sync"
	"time"
)

// maxNames bounds the names per minute. Further names share counters, so that a flood of made-up names neither fills
// the memory nor bypasses its limits.
const (
	maxNames      = 100_000
	sharedBuckets = 1024
)

var nameSeed = maphash.MakeSeed() //nolint:gochecknoglobals // read-only

// bucket is the counter of one name in one window.
type bucket struct {
	start     time.Time
	borrowing chan struct{} // held while borrowing; nil with a single node

	mu      sync.Mutex
	used    int // single node: counted requests
	have    int // several nodes: borrowed but unused requests
	seen    int // several nodes: the count in the database when last read
	refused int // several nodes: the smallest number that the database refused; 0 if none
}

// bucket returns the name's bucket and creates it if necessary. A later minute discards all buckets. So does an
// earlier minute, after the clock was set back, except the previous minute, to which a slow request may still belong.
func (l *Limits) bucket(name string, start time.Time) *bucket {
	l.mu.Lock()
	defer l.mu.Unlock()
	if start.After(l.start) || start.Before(l.start.Add(-Window)) {
		l.start, l.buckets, l.shared, l.sweep = start, make(map[string]*bucket), [sharedBuckets]*bucket{}, true
	}
	if b := l.buckets[name]; b != nil {
		return b
	}
	if len(l.buckets) >= maxNames && l.local {
		shared := &l.shared[maphash.String(nameSeed, name)%sharedBuckets]
		if *shared == nil {
			*shared = l.newBucket()
		}
		return *shared
	}
	if len(l.buckets) >= maxNames {
		clear(l.buckets) // the database keeps the counts; only borrowed requests are lost
	}
	b := l.newBucket()
	l.buckets[name] = b
	return b
}

func (l *Limits) newBucket() *bucket {
	b := &bucket{start: l.start}
	if !l.local {
		b.borrowing = make(chan struct{}, 1)
	}
	return b
}

// count counts n requests. It borrows if this node has too few left.
func (l *Limits) count(ctx context.Context, b *bucket, name string, limit, n int) (left int, ok bool, err error) {
	if l.local {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.used+n > limit {
			return limit - b.used, false, nil
		}
		b.used += n
		return limit - b.used, true, nil
	}
	if left, ok, known := b.spend(limit, n); known {
		return left, ok, nil
	}
	ctx, cancel := context.WithTimeout(ctx, l.wait)
	defer cancel()
	select {
	case b.borrowing <- struct{}{}:
		defer func() { <-b.borrowing }()
	case <-ctx.Done():
		return 0, false, unavailable(ctx.Err())
	}
	if left, ok, known := b.spend(limit, n); known { // another request borrowed in the meantime
		return left, ok, nil
	}
	if err := l.borrow(ctx, b, name, limit, n); err != nil {
		return 0, false, err
	}
	l.sweepOld(ctx, b.start)
	left, ok, _ = b.spend(limit, n)
	return left, ok, nil
}

// room reports whether a request would be accepted. It reads the database if this node cannot know.
func (l *Limits) room(ctx context.Context, b *bucket, name string, limit, _ int) (left int, ok bool, err error) {
	if l.local {
		b.mu.Lock()
		defer b.mu.Unlock()
		return limit - b.used, b.used < limit, nil
	}
	b.mu.Lock()
	left, have, refused := b.left(limit), b.have, b.refused
	b.mu.Unlock()
	if have > 0 || refused == 1 {
		return left, have > 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, l.wait)
	defer cancel()
	used, err := l.store.RateUsed(ctx, name, b.start)
	if err != nil {
		return 0, false, unavailable(err)
	}
	return limit - used, used < limit, nil
}

// spend uses n of the requests that this node borrowed. known is false if the database must be asked.
func (b *bucket) spend(limit, n int) (left int, ok, known bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.have >= n {
		b.have -= n
		return b.left(limit), true, true
	}
	short := n - b.have
	return b.left(limit), false, n > limit || b.refused > 0 && short >= b.refused
}

// left returns the remaining requests as far as this node knows.
func (b *bucket) left(limit int) int { return max(0, limit-b.seen) + b.have }
