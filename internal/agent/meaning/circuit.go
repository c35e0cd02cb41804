package meaning

import (
	"sync"
	"time"
)

const (
	firstPause  = 5 * time.Second
	longPause   = time.Minute
	maxCircuits = 1000
)

// circuits remember which servers failed a moment ago, so that questions need not wait for them: a server that failed gets
// no questions for a while, longer after each failure; then one question tries it again.
type circuits struct {
	mu  sync.Mutex
	all map[string]*circuit
}

// circuit is the state of a server that fails. A server that works has none.
type circuit struct {
	fault    *Fault
	since    time.Time
	failures int
	until    time.Time
	trying   bool // a question asks it now
}

func newCircuits() *circuits { return &circuits{all: map[string]*circuit{}} }

// open returns the fault of a server that must be left alone; nil if it may be asked. The caller then reports the result.
func (c *circuits) open(server string, now time.Time) *Fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.all[server]
	if x == nil {
		return nil
	}
	if x.trying || now.Before(x.until) {
		return x.fault
	}
	x.trying = true
	return nil
}

// report records the result of a question: the fault, or nil if the server answered. It reports whether the server begins to
// fail or to work.
func (c *circuits) report(server string, fault *Fault, now time.Time) (changed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.all[server]
	if fault == nil {
		delete(c.all, server)
		return x != nil
	}
	if x == nil {
		for key := range c.all { // any one: if its server still fails, the next question notices
			if len(c.all) < maxCircuits {
				break
			}
			delete(c.all, key)
		}
		x = &circuit{since: now}
		c.all[server] = x
		changed = true
	}
	x.fault, x.trying = fault, false
	pause := min(longPause, firstPause<<min(x.failures, 8))
	x.failures++
	x.until = now.Add(max(pause, fault.after))
	return changed
}

// abandon gives up a question without a result.
func (c *circuits) abandon(server string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if x := c.all[server]; x != nil {
		x.trying = false
	}
}

// failing returns the fault of a server and since when it fails; nil if it works.
func (c *circuits) failing(server string) (*Fault, time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if x := c.all[server]; x != nil {
		return x.fault, x.since
	}
	return nil, time.Time{}
}
