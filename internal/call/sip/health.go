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
	keptFor   = 24 * time.Hour // after the last call with a trunk
	maxKept   = 1000
)

// health tracks the state of trunks that calls were placed with. Before the next call, it queries a trunk that lost a
// call or stopped responding to OPTIONS: the line's circuit breaker detects the fault in two seconds, no INVITE is
// wasted, and the call that probes the trunk does not ring anybody twice. For trunks that never respond to
// OPTIONS, only calls show whether they are available.
//
// It is kept by host, for lines of all companies: it only records whether the host responds, regardless of refused
// passwords or numbers. Circuit breakers belong to the lines.
type health struct {
	e      *Engine
	mu     sync.Mutex
	trunks map[string]*trunkHealth
}

type trunkHealth struct {
	trunk    Trunk
	used     time.Time
	responds bool // has responded to OPTIONS
	lost     bool
	checked  Health
}

// Health is a trunk's response to the last OPTIONS. Any response means that the trunk is available.
type Health struct {
	At     time.Time // zero: not queried yet
	Code   int       // status of its response; 0 if there was none
	Reason string
	Took   time.Duration
	Err    error // reason of a missing response
}

// key identifies a trunk. One with Public, which may not be callable, differs from an operator's trunk at the same
// address.
func (t *Trunk) key() string { return t.Transport + " " + t.Host + " " + strconv.FormatBool(t.Public) }

// use records that a trunk is used for a call, and reports whether it must be queried first.
func (h *health) use(t Trunk, now time.Time) (suspect bool) {
	if t.WhatsApp != "" { // nothing says that its peer responds to OPTIONS
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	k := h.trunks[t.key()]
	if k == nil {
		if len(h.trunks) >= maxKept {
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

// due returns the trunks to keep alive, and removes unused ones.
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

// ready queries a suspect trunk.
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

// Ask sends an OPTIONS to a trunk and waits for its response for at most the given time.
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

// Health returns the trunk's response to this node's last OPTIONS, which was sent before a call or to keep it alive.
func (e *Engine) Health(t Trunk) Health {
	e.health.mu.Lock()
	defer e.health.mu.Unlock()
	if k := e.health.trunks[t.key()]; k != nil {
		return k.checked
	}
	return Health{}
}

// keepAlive queries trunks periodically, which also keeps the NAT mappings to us open.
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
