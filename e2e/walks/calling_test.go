package walks

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/call/dial"
	"carillon/internal/call/rtp"
	"carillon/internal/call/rtp/rtptest"
	"carillon/internal/call/sip"
	"carillon/internal/call/telephone"
)

// callee is called over SIP, talks over RTP and presses keys (RFC 4733), in an in-memory network.
type callee struct {
	*site
	call  *sip.Call
	ended chan dial.Ending

	mu           sync.Mutex
	conversation string
	place        int               // index of the question being played
	heard        map[int]time.Time // when each question last began to play
}

func onCall(x *site) person {
	return &callee{site: x, heard: map[int]time.Time{}, ended: make(chan dial.Ending, 1)}
}

func (p *callee) id() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conversation
}

// Ringing and Recorded implement dial.Progress.
func (*callee) Ringing(time.Time) {}
func (*callee) Recorded(string)   {}
func (*callee) RecordingRefused() {}

func (*callee) Named(string) {}

// Answered implements dial.Progress.
func (p *callee) Answered(_ time.Time, conversation string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conversation = conversation
}

// hear tracks the sound received on the line.
func (p *callee) hear(in, _ []int16) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.place
	if p.place = placeOf(slices.Max(in)); p.place >= 0 && p.place != before {
		p.heard[p.place] = time.Now()
	}
}

func (p *callee) engine(o sip.Options) *sip.Engine {
	p.t.Helper()
	o.Address, o.Log = "127.0.0.1:0", slog.New(slog.DiscardHandler)
	e, err := sip.New(p.t.Context(), o)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		if err := e.Close(); err != nil {
			p.t.Error(err)
		}
	})
	return e
}

func (p *callee) begin() {
	p.t.Helper()
	network, answered := &rtptest.Network{}, make(chan *sip.Call, 1)
	ours := p.engine(sip.Options{Network: network})
	theirs := p.engine(sip.Options{Network: network, OnCall: func(in *sip.Incoming) {
		c, err := in.Answer(context.WithoutCancel(p.t.Context()), p.hear)
		if err != nil {
			p.t.Error(err)
		}
		answered <- c
	}})
	phones := telephone.New(telephone.Options{
		Engine: ours, Voices: p.aloud(), Conversations: p.talks, Agents: p, Log: slog.New(slog.DiscardHandler),
		Trunks: func(*carillon.Sender, *dial.Call) (sip.Trunk, map[string]string, error) {
			return sip.Trunk{Host: theirs.Address().String(), Transport: "udp"}, nil, nil
		},
		Suppress: func(context.Context, string, string, bool) error {
			p.t.Error("the number is suppressed")
			return nil
		},
	})
	line := &carillon.Sender{CompanyID: p.company, ID: "line", Number: "15555550101"}
	call := &dial.Call{ID: "call", Number: number, Attempt: 1, AgentID: agentID, Event: "visit"}
	go func() { p.ended <- phones.Place(context.WithoutCancel(p.t.Context()), line, call, p) }()
	if p.call = <-answered; p.call == nil {
		p.t.Fatal("nobody answers")
	}
	p.until("the conversation begins", func() bool { return p.id() != "" })
}

// leave hangs up and checks that the call has the results of the agent's form.
func (p *callee) leave() {
	p.t.Helper()
	p.call.HangUp(context.WithoutCancel(p.t.Context()))
	e := <-p.ended
	want := carillon.Details{
		{Key: "call", Value: true}, {Key: "adults", Value: 2.0}, {Key: "children", Value: 4.0}, {Key: "seat", Value: "outside"},
	}
	if diff := cmp.Diff(want, e.Result); diff != "" || e.State != carillon.StateCompleted || e.AnsweredBy != "human" {
		p.t.Errorf("the call ends as %+v: %s", e, diff)
	}
}

// sounded waits until a question is playing.
func (p *callee) sounded(a answer) {
	p.t.Helper()
	at := p.asked(p.id(), a.question).At
	p.until("the question sounds", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.heard[slices.Index(walk, a)].After(at)
	})
}

// speak says an answer, followed by silence.
func (p *callee) speak(a answer) {
	p.t.Helper()
	words := slices.Repeat([]int16{valueOf(slices.Index(walk, a))}, int(rtp.Rate*utterance/time.Second))
	if err := p.call.Write(words); err != nil {
		p.t.Error(err)
	}
	time.Sleep(utterance + pause)
}

func (p *callee) answers(a answer, w way) {
	p.t.Helper()
	switch w {
	case ahead, aheadEarly:
		p.call.SendDigits(a.keys)
	case aheadInWords:
		p.speak(a)
	default:
	}
	p.sounded(a)
	switch w {
	case early, interrupted, aheadEarly:
		time.Sleep(150 * time.Millisecond)
	case late, lateInWords:
		time.Sleep(silence)
	default:
		time.Sleep(a.hearing())
	}
	switch w {
	case interrupted, inWords, aheadInWords, lateInWords:
		p.speak(a)
	case twiceInWords:
		p.speak(a)
		p.speak(a)
	case both:
		time.AfterFunc(utterance/2, func() { p.call.SendDigits(a.keys) })
		p.speak(a)
	case twice:
		p.call.SendDigits(a.keys)
		time.Sleep(repeatAfter)
		p.call.SendDigits(a.keys)
	default:
		p.call.SendDigits(a.keys)
	}
}
