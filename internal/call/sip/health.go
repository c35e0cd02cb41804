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
	checkMost = 2 * time.Second
	keptFor   = 24 * time.Hour // since the last call with a trunk
	mostKept  = 1000
)

// health is what is known of the trunks that calls were placed with. A trunk that lost a call, or stopped responding to OPTIONS, is
// asked before the next call: the line's circuit breaker learns of the fault in two seconds, no INVITE is sent into the void, and the
// call that tries whether the trunk is back rings nobody twice. Of trunks that never respond to OPTIONS, calls alone show whether they are there.
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

// Health is how a trunk responded when it was last asked (OPTIONS). Any response says that it is there.
type Health struct {
	At     time.Time // zero: it was not asked yet
	Code   int       // of its response; 0: none came
	Reason string
	Took   time.Duration
	Err    error // why none came
}

// key is what is known of a trunk by: one with Public that may not be called has nothing to do with an operator's at its address.
func (t *Trunk) key() string { return t.Transport + " " + t.Host + " " + strconv.FormatBool(t.Public) }

// use notes that a call is placed with a trunk, and reports whether the trunk is to be asked before.
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

// called takes how a call with a trunk went.
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

// checked takes how an OPTIONS went.
func (h *health) checked(t Trunk, x Health) {
	err := x.Err
	h.mu.Lock()
	defer h.mu.Unlock()
	if k := h.trunks[t.key()]; k != nil {
		k.checked = x
		k.lost, k.responds = err != nil && k.responds, k.responds || err == nil
	}
}

// due are the trunks that are kept alive. Those that nobody uses are forgotten.
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

// ready asks a trunk that is suspect whether it is there.
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
	return h.e.Ask(ctx, t, checkMost).Err
}

// Ask asks a trunk whether it is there, and waits that long for its response.
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

// Health is how a trunk responded when this node last asked it: before a call, or to keep it alive.
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
