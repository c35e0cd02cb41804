package sip

import (
	"context"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// Line is a line as far as the edge knows it.
type Line struct {
	Company string
	Trunk   Trunk
}

const (
	followEvery  = time.Second      // looks whether there are other lines
	maxReading   = 5 * time.Second  // of the lines
	lookUpEvery  = time.Minute      // of a name
	maxLookUpGap = 10 * time.Minute // where it has no address
	foundFor     = 10 * time.Minute // an address of a name whose look-ups give another part of its addresses each time
	maxLookUps   = 32               // at once
	maxLookUp    = 3 * time.Second
	maxAddresses = 64 // of a name
)

// hosts knows the addresses of the trunks' names.
type hosts struct {
	slots chan struct{}
	find  func(ctx context.Context, t Trunk) ([]netip.AddrPort, error) // lookUp; tests have names of their own

	mu  sync.Mutex
	all map[string]*host // by transport and name
}

type host struct {
	found   map[netip.Addr]time.Time // when it last was
	next    time.Time                // when it is looked up again
	gap     time.Duration
	looking bool
}

func newHosts() *hosts {
	return &hosts{slots: make(chan struct{}, maxLookUps), find: lookUp, all: map[string]*host{}}
}

// literal is the address that a trunk is given by; not valid: it has a name.
func (t *Trunk) literal() netip.Addr {
	a, _ := netip.ParseAddr(strings.Trim(t.hostName(), "[]"))
	return a.Unmap()
}

// of are the addresses of a trunk that are known, and whether its name is to be looked up: by whom it is told, and nobody else meanwhile.
func (x *hosts) of(t *Trunk, now time.Time) (all []netip.Addr, due bool) {
	if a := t.literal(); a.IsValid() {
		return []netip.Addr{a}, false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	key := t.Transport + " " + t.Host
	h := x.all[key]
	if h == nil {
		h = &host{found: map[netip.Addr]time.Time{}}
		x.all[key] = h
	}
	for a := range h.found {
		all = append(all, a)
	}
	due = !h.looking && !now.Before(h.next)
	h.looking = h.looking || due
	return all, due
}

// lookUp looks a trunk's name up, whose turn it is.
func (x *hosts) lookUp(ctx context.Context, t *Trunk) {
	all, err := x.ask(ctx, t)
	now := time.Now()
	x.mu.Lock()
	defer x.mu.Unlock()
	h := x.all[t.Transport+" "+t.Host]
	if h == nil { // no line has it any more
		return
	}
	h.looking = false
	if err != nil { // what was found before stays: a fault of the names' servers ends no call
		h.gap = min(max(2*h.gap, 2*followEvery), maxLookUpGap)
		h.next = now.Add(h.gap)
		return
	}
	h.gap, h.next = 0, now.Add(lookUpEvery)
	for a, at := range h.found {
		if now.Sub(at) > foundFor {
			delete(h.found, a)
		}
	}
	for _, a := range all {
		if len(h.found) < maxAddresses {
			h.found[a.Addr().Unmap()] = now
		}
	}
}

func (x *hosts) ask(ctx context.Context, t *Trunk) ([]netip.AddrPort, error) {
	select {
	case x.slots <- struct{}{}:
		defer func() { <-x.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, maxLookUp)
	defer cancel()
	return x.find(ctx, *t)
}

// keep forgets the names of trunks that no line has.
func (x *hosts) keep(lines []Line) {
	used := map[string]bool{}
	for i := range lines {
		used[lines[i].Trunk.Transport+" "+lines[i].Trunk.Host] = true
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for key := range x.all {
		if !used[key] {
			delete(x.all, key)
		}
	}
}

// follow lets in the trunks of the lines that there are, until ctx ends.
func (e *Engine) follow(ctx context.Context) {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := e.admitLines(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			e.o.Log.WarnContext(ctx, "read the lines whose trunks may call; those of before still may", "error", err)
		}
		failing = err != nil
	}
}

// admitLines lets in the trunks of the lines that there are now.
func (e *Engine) admitLines(ctx context.Context) error {
	reading, cancel := context.WithTimeout(ctx, maxReading)
	defer cancel()
	lines, err := e.o.Lines(reading)
	if err != nil {
		return err
	}
	e.hosts.keep(lines)
	companies := map[netip.Addr]string{}
	for i := range lines {
		t := &lines[i].Trunk
		all, due := e.hosts.of(t, time.Now())
		if due {
			e.background.Go(func() { e.hosts.lookUp(ctx, t) })
		}
		for _, a := range all {
			if company, known := companies[a]; known && company != lines[i].Company {
				companies[a] = ""
				continue
			}
			companies[a] = lines[i].Company
		}
	}
	e.edge.setLines(companies)
	return nil
}

// ComesFrom reports whether a call comes from a trunk.
func (e *Engine) ComesFrom(ctx context.Context, in *Incoming, t Trunk) bool {
	from := addressOf(in.Source)
	all, due := e.hosts.of(&t, time.Now())
	if due {
		e.hosts.lookUp(ctx, &t)
		all, _ = e.hosts.of(&t, time.Now())
	}
	for _, a := range all {
		if a == from {
			return true
		}
	}
	return false
}
