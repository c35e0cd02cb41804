package sip

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"carillon/internal/base/share"
)

// Line is the edge's view of a line.
type Line struct {
	Company string
	ID      string
	Number  string
	Shard   int // of carillon.Shards; the node that owns it registers the line
	Trunk   Trunk
}

const (
	followEvery  = time.Second      // interval of checking for changed lines
	maxReading   = 5 * time.Second  // timeout of reading the lines
	lookUpEvery  = time.Minute      // interval of looking up a name
	maxLookUpGap = 10 * time.Minute // maximum interval if it has no address
	foundFor     = 10 * time.Minute // lifetime of an address whose name returns only some of its addresses at a time
	maxLookUp    = 3 * time.Second
	maxAddresses = 64 // of one name
)

// hosts caches the addresses of the trunks' names.
type hosts struct {
	places *share.Share
	find   func(ctx context.Context, t Trunk) ([]netip.AddrPort, error) // lookUp; replaced in tests

	mu  sync.Mutex
	all map[string]*host // by transport and name
}

type host struct {
	found   map[netip.Addr]time.Time // time of the last look-up that returned it
	next    time.Time                // time of the next look-up
	gap     time.Duration
	looking bool
}

func newHosts(shares *share.Set) *hosts {
	return &hosts{places: shares.Of(share.TrunkNames), find: lookUp, all: map[string]*host{}}
}

// literal returns the IP address of a trunk that is given by one; invalid if it has a name.
func (t *Trunk) literal() netip.Addr {
	a, _ := netip.ParseAddr(strings.Trim(t.hostName(), "[]"))
	return a.Unmap()
}

// of returns the known addresses of a trunk. due reports that its name must be looked up, which only this caller
// should do.
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

// lookUp looks up a trunk's name for a company.
func (x *hosts) lookUp(ctx context.Context, company string, t *Trunk) {
	all, err := x.ask(ctx, company, t)
	now := time.Now()
	x.mu.Lock()
	defer x.mu.Unlock()
	h := x.all[t.Transport+" "+t.Host]
	if h == nil { // no line has it any more
		return
	}
	h.looking = false
	if err != nil { // the earlier addresses stay valid: a failure of name servers ends no call
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

func (x *hosts) ask(ctx context.Context, company string, t *Trunk) ([]netip.AddrPort, error) {
	place, err := x.places.Wait(ctx, share.Holder{Company: company})
	if err != nil {
		return nil, err
	}
	defer place.Release()
	ctx, cancel := context.WithTimeout(ctx, maxLookUp)
	defer cancel()
	return x.find(ctx, *t)
}

// keep removes the names of trunks that no line has.
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

// trunks admits the trunks of the current lines.
type trunks struct {
	lines func(ctx context.Context) ([]Line, error)
	edge  *edge
	hosts *hosts
	log   *slog.Logger

	registrar *registrar
	last      []Line // as they were read last

	lookUps sync.WaitGroup
	failing bool // the last attempt to read the lines failed
}

// follow updates the admitted trunks when lines change, until ctx ends.
func (x *trunks) follow(ctx context.Context) {
	defer x.lookUps.Wait()
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			x.admit(ctx)
			x.registrar.follow(ctx, x.last)
		}
	}
}

// admit admits the trunks of the current lines. If the lines cannot be read, the previous trunks stay admitted.
func (x *trunks) admit(ctx context.Context) {
	reading, cancel := context.WithTimeout(ctx, maxReading)
	defer cancel()
	lines, err := x.lines(reading)
	if err != nil {
		if !x.failing && ctx.Err() == nil {
			x.log.WarnContext(ctx, "read the lines whose trunks may call; those of before still may", "error", err)
		}
		x.failing = true
		return
	}
	x.failing = false
	x.hosts.keep(lines)
	companies := map[netip.Addr]string{}
	for i := range lines {
		company, t := lines[i].Company, &lines[i].Trunk
		all, due := x.hosts.of(t, time.Now())
		if due {
			x.lookUps.Go(func() { x.hosts.lookUp(ctx, company, t) })
		}
		for _, a := range all {
			if other, known := companies[a]; known && other != company {
				companies[a] = ""
				continue
			}
			companies[a] = company
		}
	}
	x.edge.setLines(companies)
	x.last = lines
}

// ComesFrom reports whether a call comes from a trunk of a company.
func (in *Incoming) ComesFrom(ctx context.Context, company string, t Trunk) bool {
	hosts := in.e.hosts
	all, due := hosts.of(&t, time.Now())
	if due {
		hosts.lookUp(ctx, company, &t)
		all, _ = hosts.of(&t, time.Now())
	}
	return slices.Contains(all, addressOf(in.Source))
}
