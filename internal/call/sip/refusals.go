package sip

import (
	"log/slog"
	"net/netip"
	"sync"
	"time"
)

// Reasons of refusals at the edge: labels of a metric, and texts in the log (docs/guides/production.md).
const (
	byStranger       = "stranger"            // a packet from an address that is no line's trunk
	byStrangeCaller  = "stranger_connection" // a connection from such an address
	byLine           = "line"                // a call to a number that is no line of the calling trunk
	byRate           = "rate"                // more messages per second than a trunk's share
	byTransactions   = "transactions"        // more pending requests than the share of a node, company or trunk
	byConnections    = "connections"         // more connections than that share
	byHandshake      = "handshake"           // a TLS handshake that failed or took too long
	byUnfinished     = "unfinished"          // a message that did not end in time
	byUnreadable     = "unreadable"          // a message that readers could interpret differently
	refusalsLogEvery = 10 * time.Second
)

// refusals counts refusals, and logs a sample: at most one per reason in refusalsLogEvery, so that a flood does not
// fill the disk.
type refusals struct {
	log *slog.Logger

	mu  sync.Mutex
	all map[string]*refusal
}

type refusal struct {
	total, since int64
	logged       time.Time
}

func newRefusals(log *slog.Logger) *refusals {
	x := &refusals{log: log, all: map[string]*refusal{}}
	for _, reason := range []string{
		byStranger, byStrangeCaller, byLine, byRate, byTransactions, byConnections, byHandshake, byUnfinished, byUnreadable,
	} {
		x.all[reason] = &refusal{}
	}
	return x
}

// add counts a refusal of a source address.
func (x *refusals) add(reason string, source netip.Addr, now time.Time) {
	x.mu.Lock()
	r := x.all[reason]
	r.total++
	r.since++
	n := r.since
	due := now.Sub(r.logged) >= refusalsLogEvery
	if due {
		r.since, r.logged = 0, now
	}
	x.mu.Unlock()
	if due {
		x.log.Info("refuse SIP", "reason", reason, "source", source.String(), "times", n)
	}
}

// counts returns the refusals by reason, since the start.
func (x *refusals) counts() map[string]int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := map[string]int64{}
	for reason, r := range x.all {
		n[reason] = r.total
	}
	return n
}
