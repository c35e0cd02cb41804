package telephone

import (
	"cmp"
	"context"
	"math"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/call/dial"
	"carillon/internal/call/sip"
)

const (
	transferRing  = 30 * time.Second // limit of ringing on the second leg
	toneHertz     = 425
	toneLoud      = 3000
	toneOn        = time.Second
	tonePeriod    = 3 * time.Second
	frameSamples  = 160 // 20 ms
	frameDuration = 20 * time.Millisecond
	slackFrames   = 3
)

// transferred is the result of a transfer.
type transferred struct {
	talked  bool // the second leg was answered, so the call ends with it
	endedBy string
	cause   string
}

// transfer calls the agent's number over the call's line and connects both sides until either hangs up. Without an
// answer, the agent continues.
func (p *placed) transfer(ctx context.Context, c *sip.Call, conversationID string) transferred {
	number := p.agent.Transfer.Number
	if identity.Number(p.call.Number).Is(number) || p.leadsBack(ctx, number) {
		p.o.Log.WarnContext(ctx, "a transfer would come back to its own call", "company", p.line.CompanyID, "call", p.call.ID)
		return transferred{}
	}
	if p.o.Denied.Has(number) {
		p.o.Log.WarnContext(ctx, "a transfer would call a number that is never called", "company", p.line.CompanyID, "call", p.call.ID,
			"agent", p.call.AgentID)
		return transferred{}
	}
	leg, err := p.o.Incoming.Transfer(ctx, p.line, conversationID, number)
	if err != nil {
		p.o.Log.WarnContext(ctx, "transfer a call", "company", p.line.CompanyID, "call", p.call.ID, "error", err)
		return transferred{}
	}
	far, e := p.second(ctx, c, number)
	if far == nil {
		leg.End(e.State, e.Cause)
		return transferred{}
	}
	leg.Answered(time.Now())
	defer func() {
		far.HangUp(context.WithoutCancel(ctx))
		leg.End(carillon.StateCompleted, far.Cause().Text)
	}()
	ctx, cancel := context.WithTimeout(ctx, maxCall) // two answering machines never hang up
	defer cancel()
	connect(ctx, c, far)
	t := transferred{talked: true, endedBy: "agent", cause: far.Cause().Text}
	select {
	case <-c.Done():
		t.endedBy, t.cause = p.endedBy(c.Cause()), c.Cause().Text
	default:
		if ctx.Err() != nil {
			t.endedBy = "system"
		}
	}
	return t
}

// leadsBack reports whether a number is one of our lines, whose agent might transfer the call again.
func (p *placed) leadsBack(ctx context.Context, number string) bool {
	lines, err := p.o.Lines(ctx, number)
	return err != nil || len(lines) > 0 || identity.Number(p.line.Number).Is(number)
}

// second places the second leg, and plays ringing meanwhile. The leg is nil if it was not answered; the ending has the
// reason.
func (p *placed) second(ctx context.Context, c *sip.Call, number string) (*sip.Call, dial.Ending) {
	trunk, header, err := p.o.Trunks(p.line, &dial.Call{ID: p.call.ID, Number: number, Attempt: 1, AgentID: p.call.AgentID})
	if err != nil {
		return nil, dial.Ending{State: carillon.StateFailed}
	}
	ctx, cancel := context.WithCancel(ctx)
	ringing := make(chan struct{})
	go func() {
		defer close(ringing)
		ring(ctx, c)
		if c.Cause().By != "" { // the person hung up: the second leg is not needed
			cancel()
		}
	}()
	far, err := p.o.Engine.Dial(ctx, sip.Dial{
		Trunk: trunk, To: number, From: cmp.Or(trunk.CallerID, p.line.Number), Name: p.company, Header: header,
		Ring: min(cmp.Or(p.line.RingTimeout, transferRing), transferRing),
	})
	var e dial.Ending
	if err != nil {
		e = endingOf(ctx, err)
	}
	cancel()
	<-ringing
	return far, e
}

// ring plays a ringing tone and discards the person's sound.
func ring(ctx context.Context, c *sip.Call) {
	for at := 0; ; at += frameSamples {
		if _, err := c.Read(ctx); err != nil { // a frame every 20 ms
			_ = c.Clear()
			return
		}
		pcm := make([]int16, frameSamples)
		if time.Duration(at/frameSamples)*frameDuration%tonePeriod < toneOn {
			for i := range pcm {
				pcm[i] = int16(toneLoud * math.Sin(2*math.Pi*toneHertz*float64(at+i)/float64(c.Rate())))
			}
		}
		_ = c.Write(pcm)
	}
}

// connect passes sound and keys between two calls until either ends.
func connect(ctx context.Context, one, other *sip.Call) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	passed := make(chan struct{}, 2)
	pass := func(from, to *sip.Call) {
		defer func() { passed <- struct{}{} }()
		_ = to.Write(make([]int16, slackFrames*frameSamples)) // the two sides send frames at different times
		for {
			pcm, err := from.Read(ctx)
			if err != nil || to.Write(pcm) != nil {
				return
			}
			select {
			case d := <-from.Digits():
				to.SendDigits(string(d))
			default:
			}
		}
	}
	go pass(one, other)
	go pass(other, one)
	select {
	case <-one.Done():
	case <-other.Done():
	case <-ctx.Done():
	}
	cancel()
	<-passed
	<-passed
}
