package sandbox

import (
	"context"
	"crypto/tls"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"carillon/internal/audio"
	"carillon/internal/sip"
)

// AttemptHeader says in a call to the sandbox's phone which attempt it is, from 1.
const AttemptHeader = "X-Carillon-Attempt"

// Phone is every telephone that the sandbox's lines can call: a SIP user agent of its own, which is called over SIP and RTP as any
// other. The last four digits of the number decide what it does.
type Phone struct {
	d      Delays
	log    *slog.Logger
	engine *sip.Engine
	ctx    context.Context //nolint:containedctx // ends with the phone
	cancel context.CancelFunc
	calls  sync.WaitGroup

	mu    sync.Mutex
	heard []*Heard // the newest last
}

// Heard is what the phone heard of a call.
type Heard struct {
	Number string
	From   string
	CallID string
	At     time.Time
	Law    audio.Law

	mu    sync.Mutex
	sound []byte // compressed
	keys  string // that it pressed
	ended bool
}

const (
	heardMost  = 20              // calls
	heardSound = 3 * 60 * 8000   // bytes of one, three minutes
	quietFor   = 1 * time.Second // until the phone takes it that the agent waits for it
	callMost   = 5 * time.Minute
	loudness   = 200.0
)

// OpenPhone starts a phone on a free port of this machine.
func OpenPhone(ctx context.Context, d Delays, files *tls.Config, log *slog.Logger) (*Phone, error) {
	p := &Phone{d: d.filled(), log: log}
	p.ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	var err error
	p.engine, err = sip.New(ctx, sip.Options{Address: "127.0.0.1:0", TLSFiles: files, Log: log, OnCall: p.take})
	if err != nil {
		p.cancel()
		return nil, err
	}
	return p, nil
}

// Address is where the phone is called.
func (p *Phone) Address() string { return p.engine.Address().String() }

// Close hangs up and ends the phone.
func (p *Phone) Close() error {
	p.cancel()
	p.calls.Wait()
	return p.engine.Close()
}

// take takes a call.
func (p *Phone) take(in *sip.Incoming) {
	select {
	case <-p.ctx.Done():
		in.Refuse(503, "Service Unavailable")
		return
	default:
	}
	p.calls.Go(func() { p.follow(in, scriptOf(in)) })
}

// scriptOf is what happens to a call.
func scriptOf(in *sip.Incoming) script {
	attempt, err := strconv.Atoi(in.Header(AttemptHeader))
	if err != nil {
		attempt = 1
	}
	return scriptFor(in.To, attempt)
}

func scriptFor(number string, attempt int) script {
	for _, s := range scripts {
		if suffixOf(number) == s.suffix && (s.first == 0 || attempt <= s.first) {
			return s
		}
	}
	return ordinaryCall
}

// follow does what a script says.
func (p *Phone) follow(in *sip.Incoming, s script) {
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
		_ = in.Progress(180, "Ringing") // a caller who does not know it knows the answer
	}
	moment := s.at.in(&p.d)
	if s.slow {
		moment += p.d.Slow
	}
	if !until(moment) {
		return
	}
	if s.talk == nil {
		in.Refuse(s.code, s.reason)
		return
	}
	h := p.listen(in)
	c, err := in.Answer(p.ctx, h.frame)
	if err != nil {
		p.log.DebugContext(p.ctx, "answer a call to the sandbox's phone", "error", err)
		return
	}
	ctx, cancel := context.WithTimeout(p.ctx, callMost)
	defer cancel()
	s.talk(ctx, &callee{Call: c, heard: h})
	c.HangUp(context.WithoutCancel(ctx))
	h.end()
}

// listen begins to keep what is heard of a call.
func (p *Phone) listen(in *sip.Incoming) *Heard {
	h := &Heard{Number: in.To, From: in.From, CallID: in.CallID, At: time.Now()}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = append(p.heard, h)
	p.heard = p.heard[max(0, len(p.heard)-heardMost):]
	return h
}

// Heard are the last calls to a number that were answered, the newest first.
func (p *Phone) Heard(number string) []*Heard {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []*Heard
	for i := len(p.heard) - 1; i >= 0; i-- {
		if h := p.heard[i]; number == "" || h.Number == number {
			all = append(all, h)
		}
	}
	return all
}

func (h *Heard) frame(in, _ []int16) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.sound) < heardSound {
		h.sound = h.Law.Compress(h.sound, in)
	}
}

func (h *Heard) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
}

func (h *Heard) press(keys string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keys += keys
}

// Sound is what was heard, 8,000 samples a second.
func (h *Heard) Sound() []int16 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.Law.Expand(nil, h.sound)
}

// Keys are those that the phone pressed; ended says that the call is over.
func (h *Heard) Keys() (keys string, ended bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.keys, h.ended
}
