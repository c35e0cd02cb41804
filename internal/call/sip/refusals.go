package sip

import (
	"log/slog"
	"net/netip"
	"sync"
	"time"
)

// Reasons of refusals at the edge: labels of a metric, and texts of the log (docs/guides/production.md).
const (
	byStranger       = "stranger"            // a packet from an address that is no line's trunk
	byStrangeCaller  = "stranger_connection" // a connection from one
	byLine           = "line"                // a call to a number that is no line of the calling trunk
	byRate           = "rate"                // more messages a second than a trunk's share
	byTransactions   = "transactions"        // more pending requests than a node's, company's or trunk's share
	byConnections    = "connections"         // the same of connections
	byHandshake      = "handshake"           // a TLS handshake that failed, or took too long
	byUnfinished     = "unfinished"          // a message that did not end in time
	byUnreadable     = "unreadable"          // a message that means different things to different readers
	refusalsLogEvery = 10 * time.Second
)

// refusals counts refusals, and logs a sample: at most one of each reason in refusalsLogEvery, so that a flood fills no disk.
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

// add counts a refusal. source is the address that it came from.
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

// counts are the refusals by reason, since the start.
func (x *refusals) counts() map[string]int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := map[string]int64{}
	for reason, r := range x.all {
		n[reason] = r.total
	}
	return n
}
