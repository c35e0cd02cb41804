package load

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Hist is a histogram of durations. The width of a bucket is a 64th of its power of two, so quantiles are at most 1.6 %
// too large. It takes 16 kB however many durations it counts. Its methods are safe for concurrent use; the zero value is
// empty.
type Hist struct {
	count   atomic.Int64
	longest atomic.Int64 // µs
	buckets [bucketCount]atomic.Int64
}

const (
	fine        = 6  // a power of two has 1<<fine buckets
	octaves     = 30 // up to 2^(fine+octaves) µs, which is 19 hours
	bucketCount = (octaves + 1) << fine
)

// Add counts one duration.
func (h *Hist) Add(d time.Duration) {
	us := max(0, d.Microseconds())
	h.count.Add(1)
	h.buckets[bucket(us)].Add(1)
	for {
		longest := h.longest.Load()
		if us <= longest || h.longest.CompareAndSwap(longest, us) {
			return
		}
	}
}

// Count returns how many durations were added.
func (h *Hist) Count() int64 { return h.count.Load() }

// Quantile returns the duration that a share q of all does not exceed; 0 if the histogram is empty.
func (h *Hist) Quantile(q float64) time.Duration {
	total := h.count.Load()
	if total == 0 {
		return 0
	}
	rank := max(1, min(total, int64(q*float64(total)+0.999999)))
	seen := int64(0)
	for i := range h.buckets {
		if seen += h.buckets[i].Load(); seen >= rank {
			return time.Duration(min(top(i), h.longest.Load())) * time.Microsecond
		}
	}
	return time.Duration(h.longest.Load()) * time.Microsecond
}

// Milliseconds returns a quantile in milliseconds.
func (h *Hist) Milliseconds(q float64) float64 {
	return float64(h.Quantile(q)) / float64(time.Millisecond)
}

// bucket returns the index of the bucket that a duration belongs to.
func bucket(us int64) int {
	if us < 1<<fine {
		return int(us)
	}
	octave := bits.Len64(uint64(us)) - fine // 1 and up
	return min(octave<<fine+int(us>>(octave-1))-1<<fine, bucketCount-1)
}

// top returns the largest value of a bucket, in µs.
func top(i int) int64 {
	if i < 2<<fine {
		return int64(i)
	}
	octave := i >> fine
	return int64(i&(1<<fine-1)+1<<fine+1)<<(octave-1) - 1
}
