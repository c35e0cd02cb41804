package sip

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"
)

const (
	keepAlive = 30 * time.Second
	maxCheck  = 2 * time.Second
	keptFor   = 24 * time.Hour // since the last call with a trunk
	mostKept  = 1000
)

// health is what is known of the trunks that calls were placed with. A trunk that lost a call, or stopped responding to OPTIONS, is
// asked before the next call: the line's circuit breaker learns of the fault in two seconds, no INVITE is sent into the void, and the
// call that tries whether the trunk is back rings nobody twice. Of trunks that never respond to OPTIONS, calls alone show
// whether they are there.
//
// It is kept by host, whichever company's line it is of: what it holds is whether anything responds there, and no refusal of a password or
// a number changes that. Circuit breakers are the lines' own.
type health struct {
	e      *Engine
	mu     sync.Mutex
	trunks map[string]*trunkHealth
}

type trunkHealth struct {
	trunk    Trunk
	used     time.Time
	responds bool // to OPTIONS
	lost     bool
	checked  Health
}

// Health is a trunk's response to the last OPTIONS. Any response means that it is there.
type Health struct {
	At     time.Time // zero: it was not asked yet
	Code   int       // of its response; 0 without one
	Reason string
	Took   time.Duration
	Err    error // reason of a missing response
}

// key identifies a trunk: one with Public that may not be called is another one than an operator's at the same address.
func (t *Trunk) key() string { return t.Transport + " " + t.Host + " " + strconv.FormatBool(t.Public) }

// use records that a trunk is used for a call, and reports whether it must be asked first.
func (h *health) use(t Trunk, now time.Time) (suspect bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := h.trunks[t.key()]
	if k == nil {
		if len(h.trunks) >= mostKept {
			return false
		}
		k = &trunkHealth{}
		h.trunks[t.key()] = k
	}
	k.trunk, k.used = t, now
	return k.lost && k.responds
}

// called records the result of a call with a trunk.
func (h *health) called(t Trunk, err error) {
	if err != nil && (errors.Is(err, context.Canceled) || errors.Is(err, errPorts)) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if k := h.trunks[t.key()]; k != nil {
		k.lost = errors.Is(err, ErrUnreachable)
	}
}

// checked records the result of an OPTIONS.
func (h *health) checked(t Trunk, x Health) {
	err := x.Err
	h.mu.Lock()
	defer h.mu.Unlock()
	if k := h.trunks[t.key()]; k != nil {
		k.checked = x
		k.lost, k.responds = err != nil && k.responds, k.responds || err == nil
	}
}

// due are the trunks to keep alive. Those without use are forgotten.
func (h *health) due(now time.Time) (all []Trunk) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, k := range h.trunks {
		if now.Sub(k.used) > keptFor {
			delete(h.trunks, key)
			continue
		}
		all = append(all, k.trunk)
	}
	return all
}

// ready asks a suspect trunk whether it is there.
func (h *health) ready(ctx context.Context, t Trunk) error {
	if !h.use(t, time.Now()) {
		return nil
	}
	if err := h.ask(ctx, t); err != nil {
		return fmt.Errorf("OPTIONS: %w", err)
	}
	return ctx.Err()
}

func (h *health) ask(ctx context.Context, t Trunk) error {
	return h.e.Ask(ctx, t, maxCheck).Err
}

// Ask sends an OPTIONS to a trunk and waits for its response for at most that time.
func (e *Engine) Ask(ctx context.Context, t Trunk, most time.Duration) Health {
	asking, stop := context.WithTimeout(ctx, most)
	defer stop()
	x := Health{At: time.Now()}
	x.Code, x.Reason, x.Err = e.Check(asking, t)
	x.Took = time.Since(x.At)
	if ctx.Err() == nil {
		e.health.checked(t, x)
	}
	return x
}

// Health is the trunk's response to this node's last OPTIONS, sent before a call or to keep it alive.
func (e *Engine) Health(t Trunk) Health {
	e.health.mu.Lock()
	defer e.health.mu.Unlock()
	if k := e.health.trunks[t.key()]; k != nil {
		return k.checked
	}
	return Health{}
}

// keepAlive asks trunks now and then, which also keeps the way to us open in the NATs between.
func (h *health) keepAlive(ctx context.Context) {
	tick := time.NewTicker(h.e.o.KeepAlive)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var asked sync.WaitGroup
		for _, t := range h.due(time.Now()) {
			asked.Go(func() { _ = h.ask(ctx, t) })
		}
		asked.Wait()
	}
}
