// Package handset is the telephone of the sandbox, which is called by lines without a trunk. It rings, answers and
// presses keys depending on the last digits of the number (docs/guides/sandbox.md).
package handset

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"carillon/internal/call/sip"
	"carillon/internal/send/sandbox"
)

// Headers of a call to the sandbox's phone.
const (
	AttemptHeader = "X-Carillon-Attempt" // number of the attempt, from 1
	CompanyHeader = "X-Carillon-Company" // owner of the line; only this company sees the call
	CallHeader    = "X-Carillon-Call"    // ID of the call; empty for a call without one
)

// Phone represents all telephones that the sandbox's lines can call. It is a SIP user agent, called over SIP and RTP
// like any other. The last four digits of the number determine its behavior.
type Phone struct {
	d      sandbox.Delays
	log    *slog.Logger
	engine *sip.Engine
	ctx    context.Context //nolint:containedctx // ends with the phone
	cancel context.CancelFunc
	calls  sync.WaitGroup

	calling calls
}

const (
	quietFor = 1 * time.Second // silence after which the agent counts as waiting for the phone
	maxCall  = 5 * time.Minute
	loudness = 200.0
)

// Open starts a phone on a free port of this machine. Of the user agent options, Log is required; Address and OnCall
// are set by Open.
func Open(ctx context.Context, d sandbox.Delays, o sip.Options) (*Phone, error) {
	p := &Phone{d: d.Filled(), log: o.Log}
	p.ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	var err error
	o.Address, o.OnCall = "127.0.0.1:0", p.take
	p.engine, err = sip.New(ctx, o)
	if err != nil {
		p.cancel()
		return nil, err
	}
	return p, nil
}

// Address returns the phone's SIP address.
func (p *Phone) Address() string { return p.engine.Address().String() }

// Close hangs up all calls and stops the phone.
func (p *Phone) Close() error {
	p.cancel()
	p.calls.Wait()
	return p.engine.Close()
}

// take handles a call.
func (p *Phone) take(in *sip.Incoming) {
	select {
	case <-p.ctx.Done():
		in.Refuse(503, "Service Unavailable")
		return
	default:
	}
	p.calls.Go(func() { p.follow(in, scriptOf(in)) })
}

// scriptOf returns the script of a call.
func scriptOf(in *sip.Incoming) script {
	attempt, err := strconv.Atoi(in.Header(AttemptHeader))
	if err != nil {
		attempt = 1
	}
	return scriptFor(in.To, attempt)
}

func scriptFor(number string, attempt int) script {
	for _, s := range scripts {
		if sandbox.SuffixOf(number) == s.suffix && (s.first == 0 || attempt <= s.first) {
			return s
		}
	}
	return ordinaryCall
}

// follow runs a script.
func (p *Phone) follow(in *sip.Incoming, s script) {
	h := p.calling.add(in, s)
	defer h.end()
	begin := time.Now()
	until := func(moment time.Duration) bool {
		select {
		case <-time.After(time.Until(begin.Add(moment))):
			return true
		case <-in.Gone():
		case <-p.ctx.Done():
			in.Refuse(503, "Service Unavailable")
		}
		return false
	}
	if s.rings {
		if !until(p.d.Ringing) {
			return
		}
		_ = in.Progress(180, "Ringing") // a caller that misses it still gets the answer
	}
	moment := s.at.in(&p.d)
	if s.slow {
		moment += p.d.Slow
	}
	if !until(moment) {
		return
	}
	if s.talk == nil {
		h.refuse(s.code)
		in.Refuse(s.code, s.reason)
		return
	}
	c, err := in.Answer(p.ctx, h.frame)
	if err != nil {
		p.log.DebugContext(p.ctx, "answer a call to the sandbox's phone", "error", err)
		return
	}
	h.answer()
	ctx, cancel := context.WithTimeout(p.ctx, maxCall)
	defer cancel()
	s.talk(ctx, &callee{Call: c, heard: h})
	c.HangUp(context.WithoutCancel(ctx))
}
