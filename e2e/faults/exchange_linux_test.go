package faults

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"testing"
	"time"

	"carillon/internal/call/sip"
)

// exchange is a telephone exchange used by all nodes for their calls. It counts the calls that reach it, per number,
// and concurrent ones per line. The fifth digit of a number is its line, the sixth determines the course of the call.
type exchange struct {
	t      *testing.T
	engine *sip.Engine
	ctx    context.Context
	work   sync.WaitGroup

	mu      sync.Mutex
	invites map[string]int               // by number
	open    map[string]map[string]string // by line: the address of the node, by Call-ID
	most    map[string]int               // most concurrent calls, by line
	moments map[byte]func(node string)   // actions of a test at a call's INVITE or answer
}

const (
	talks     = '0' // is answered, and ends after talkTime or a little later
	rings     = '1' // rings until it is canceled
	isTried   = '2' // never rings; rejected after 12 s
	busyFirst = '3' // is busy, and answered on the next attempt
	atInvite  = '4' // the test acts before any response
	atAnswer  = '5' // the test acts when the call is answered
	talkTime  = 4 * time.Second
)

func newExchange(t *testing.T) *exchange {
	t.Helper()
	x := &exchange{
		t: t, invites: map[string]int{}, open: map[string]map[string]string{}, most: map[string]int{}, moments: map[byte]func(string){},
	}
	ctx, cancel := context.WithCancel(context.Background())
	x.ctx = ctx
	var err error
	x.engine, err = sip.New(ctx, sip.Options{Address: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler), OnCall: func(in *sip.Incoming) {
		x.work.Go(func() { x.take(in) })
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		x.work.Wait()
		_ = x.engine.Close()
	})
	return x
}

func lineOf(number string) string { return number[4:5] }

// begin counts a call; the returned function ends it. For a call that the exchange ends, this must come before the
// BYE: the node's next call may arrive before its response.
func (x *exchange) begin(in *sip.Incoming) (node string, nth int, end func()) {
	from, _ := netip.ParseAddrPort(in.Source)
	node, line := from.Addr().String(), lineOf(in.To)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.invites[in.To]++
	if x.open[line] == nil {
		x.open[line] = map[string]string{}
	}
	x.open[line][in.CallID] = node
	x.most[line] = max(x.most[line], len(x.open[line]))
	return node, x.invites[in.To], func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		delete(x.open[line], in.CallID)
	}
}

// forget drops the calls of a killed node.
func (x *exchange) forget(node string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, calls := range x.open {
		for id, of := range calls {
			if of == node {
				delete(calls, id)
			}
		}
	}
}

// at registers an action that runs once.
func (x *exchange) at(kind byte, what func(node string)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.moments[kind] = what
}

func (x *exchange) moment(kind byte, node string) {
	x.mu.Lock()
	what := x.moments[kind]
	delete(x.moments, kind)
	x.mu.Unlock()
	if what != nil {
		what(node)
	}
}

func (x *exchange) take(in *sip.Incoming) {
	node, nth, end := x.begin(in)
	defer end()
	kind := in.To[5]
	if kind == atInvite {
		x.moment(kind, node)
	}
	wait := func(d time.Duration) bool {
		select {
		case <-time.After(d):
			return true
		case <-in.Gone():
		case <-x.ctx.Done():
		}
		return false
	}
	switch {
	case kind == busyFirst && nth == 1:
		end()
		in.Refuse(486, "Busy Here")
		return
	case kind == isTried:
		if wait(12 * time.Second) {
			end()
			in.Refuse(603, "Decline")
		}
		return
	case !wait(50 * time.Millisecond):
		return
	}
	_ = in.Progress(180, "Ringing")
	ring := 150 * time.Millisecond
	if kind == rings {
		ring = time.Minute
	}
	if !wait(ring) {
		return
	}
	c, err := in.Answer(x.ctx, nil)
	if err != nil {
		return
	}
	if kind == atAnswer {
		x.moment(kind, node)
	}
	select {
	case <-c.Done():
	case <-time.After(talkTime + time.Duration(in.To[len(in.To)-1]-'0')*400*time.Millisecond):
		// Spreads the ends of the calls.
		end()
		c.HangUp(context.WithoutCancel(x.ctx))
	case <-x.ctx.Done():
	}
}

func (x *exchange) invited(number string) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.invites[number]
}

func (x *exchange) atOnce(line string) (now, most int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.open[line]), x.most[line]
}

// address returns the exchange's address in the form of a line's settings.
func (x *exchange) address() string { return "sip:" + x.engine.Address().String() }

// call calls a line's number at a node, and stays until the exchange is closed or the call is over.
func (x *exchange) call(node, number, line, from string) {
	x.t.Helper()
	c, err := x.engine.Dial(x.ctx, sip.Dial{Trunk: sip.Trunk{Host: node, Transport: "udp"}, To: number, From: from})
	if err != nil {
		x.t.Fatalf("call %s at %s: %v", number, node, err)
	}
	address, _ := netip.ParseAddrPort(node)
	x.mu.Lock()
	if x.open[line] == nil {
		x.open[line] = map[string]string{}
	}
	x.open[line]["incoming "+from] = address.Addr().String()
	x.most[line] = max(x.most[line], len(x.open[line]))
	x.mu.Unlock()
	x.work.Go(func() {
		select {
		case <-c.Done():
		case <-x.ctx.Done():
		}
		c.HangUp(context.WithoutCancel(x.ctx))
		x.mu.Lock()
		defer x.mu.Unlock()
		delete(x.open[line], "incoming "+from)
	})
}
