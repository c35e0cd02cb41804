// Package telephone places the calls of notifications over SIP and lets agents talk in them. It is the dialer of lines
// with a trunk, and of the sandbox's lines, whose calls go to the sandbox's phone.
//
//	call ─▶ Place ─▶ sip.Dial ─▶ rings ─▶ answered ─▶ a conversation of channel phone, held by voice ─▶ hung up ─▶ Ending
//
// Calls to a line's number are answered by the line's agent.
package telephone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/base/destination"
	"carillon/internal/base/provider"
	"carillon/internal/call"
	"carillon/internal/call/dial"
	"carillon/internal/call/sip"
	"carillon/internal/store/chats"
	"carillon/internal/talk/conversation"
	"carillon/internal/talk/files"
	"carillon/internal/voice"
)

// Channel is the channel of telephone conversations.
const Channel = "phone"

// Trunks returns the trunk of a line and the headers of a call.
type Trunks func(line *carillon.Sender, c *dial.Call) (t sip.Trunk, header map[string]string, err error)

// Options configure a Telephone. All are required.
type Options struct {
	Engine        *sip.Engine
	Trunks        Trunks
	Voices        *voice.Sessions
	Conversations *conversation.Conversations
	Agents        conversation.Agents
	Files         *files.Files
	// Suppress suppresses a number of a company at the request of its callee. A caller's request only suppresses
	// marketing, because a caller's number is unproved.
	Suppress func(ctx context.Context, companyID, number string, caller bool) error
	// Lines returns the voice lines with a number, of all companies, oldest first.
	Lines func(ctx context.Context, number string) ([]*carillon.Sender, error)
	// Owner returns the company to which the operator assigned a number that several companies have lines for, or "".
	Owner func(ctx context.Context, number string) (companyID string, err error)
	// Suspended reports whether a company is suspended.
	Suspended func(ctx context.Context, companyID string) (bool, error)
	// Placed returns the number of current calls placed by this node. Together with calls to our lines it must stay
	// below Most; 0 means no maximum.
	Placed   func() int
	Most     int
	Incoming *call.Incoming // record of calls to lines
	Denied   destination.Denied
	WhatsApp WhatsApp      // only used by lines for calls over WhatsApp
	Drain    time.Duration // how long accepted calls may continue after a stop
	Log      *slog.Logger
}

// Telephone places calls. It implements call.Dialer.
type Telephone struct {
	o       Options
	taken   taken
	refused seldom
}

// New returns a Telephone.
func New(o Options) *Telephone {
	t := &Telephone{o: o}
	t.taken.open()
	return t
}

// Place implements call.Dialer.
func (t *Telephone) Place(ctx context.Context, line *carillon.Sender, c *dial.Call, progress dial.Progress) dial.Ending {
	if t.o.Denied.Has(c.Number) { // added to the list after acceptance, or by a set-up without a check
		return failed(carillon.ReasonUndeliverable, "", deniedDetail)
	}
	trunk, header, err := t.o.Trunks(line, c)
	if err != nil {
		return failed(carillon.ReasonLineUnavailable, "", err.Error())
	}
	a, company, err := t.o.Agents.TalkingAgent(ctx, line.CompanyID, c.AgentID)
	switch {
	case err == nil:
	case ctx.Err() != nil: // hung up before it was dialed
		return dial.Ending{State: carillon.StateCanceled, EndedBy: "system", At: time.Now()}
	default:
		return failed(carillon.ReasonLineUnavailable, "", "the agent cannot be read: "+err.Error())
	}
	p := &placed{Telephone: t, line: line, call: c, agent: a, company: company, progress: progress}
	if trunk.WhatsApp != "" {
		s, refused := t.permit(ctx, line, trunk.WhatsApp, c.Number)
		if refused != nil {
			return *refused
		}
		p.over.sender = s
	}
	return p.run(ctx, trunk, header)
}

// deniedDetail explains the refusal of a number that the operator has excluded.
const deniedDetail = "numbers that begin so are never called (calls-denied)"

func failed(reason carillon.Reason, cause, detail string) dial.Ending {
	return dial.Ending{State: carillon.StateFailed, Reason: reason, Cause: cause, Detail: detail, EndedBy: "system", At: time.Now()}
}

// placed is a call being placed or answered.
type placed struct {
	*Telephone
	line     *carillon.Sender
	call     *dial.Call
	agent    *agent.Agent
	company  string
	progress dial.Progress
	entry    *call.Taken // of a call to a line; nil means we called

	over      over
	names     sync.Once
	rings     sync.Once
	tap       tap
	person    string // name of the other side, if known
	wish      wish   // for a transfer
	transfers int    // so far
	referred  bool   // the telephone company has taken the call over
}

// incoming reports whether the other side called.
func (p *placed) incoming() bool { return p.entry != nil }

func (p *placed) run(ctx context.Context, trunk sip.Trunk, header map[string]string) dial.Ending {
	c, err := p.o.Engine.Dial(ctx, sip.Dial{
		Trunk: trunk, To: p.call.Number, From: cmp.Or(trunk.CallerID, p.line.Number), Name: p.company, Ring: p.line.RingTimeout,
		Header: header,
		OnRinging: func(code int, _ string) {
			if code >= 180 {
				p.rings.Do(func() { p.progress.Ringing(time.Now()) })
			}
		},
		OnFrame: p.tap.frame, OnHeader: p.named,
	})
	if err != nil {
		return endingOf(ctx, err)
	}
	return p.talk(ctx, c)
}

// endingOf returns the ending of a call without an answer.
func endingOf(ctx context.Context, err error) dial.Ending {
	e := dial.Ending{State: carillon.StateFailed, EndedBy: "system", At: time.Now(), Detail: err.Error()}
	var refused *sip.Refused
	switch {
	case errors.As(err, &refused):
		e.Cause = refused.Error()
		byCode(&e, refused.Code)
	case ctx.Err() != nil:
		e.State, e.Cause = carillon.StateCanceled, "487 Request Terminated"
	case errors.Is(err, sip.ErrUnanswered):
		e.State, e.Cause = carillon.StateNoAnswer, "487 Request Terminated"
	case errors.Is(err, sip.ErrSound):
		e.Reason, e.Cause = carillon.ReasonProviderRefused, "488 Not Acceptable Here"
	default:
		e.Fault = provider.FaultUnreachable
	}
	return e
}

// byCode interprets a SIP status (docs/reference/calls.md).
func byCode(e *dial.Ending, code int) {
	switch {
	case code == 486, code == 600:
		e.State, e.EndedBy = carillon.StateBusy, "callee"
	case code == 408, code == 480, code == 487:
		e.State = carillon.StateNoAnswer
	case code == 403, code == 603, code == 607, code == 608:
		e.State, e.EndedBy = carillon.StateRejected, "callee"
	case code == 404, code == 410, code == 484, code == 604:
		e.Reason = carillon.ReasonUndeliverable
	case code == 401, code == 407:
		e.Fault = provider.FaultAccount
	case code >= 500 && code < 600:
		e.Fault = provider.FaultProvider
	default:
		e.Reason = carillon.ReasonProviderRefused
	}
}

// talk lets the agent talk in an answered call.
func (p *placed) talk(ctx context.Context, c *sip.Call) dial.Ending {
	answered := time.Now()
	defer c.HangUp(context.WithoutCancel(ctx))
	conversationID, err := p.open(ctx)
	p.progress.Answered(answered, conversationID)
	if err != nil {
		p.o.Log.ErrorContext(ctx, "begin the conversation of a call", "company", p.line.CompanyID, "call", p.call.ID, "error", err)
		return dial.Ending{
			State: carillon.StateFailed, Reason: carillon.ReasonInterrupted, EndedBy: "system", AnsweredBy: "unknown",
			Detail: "the conversation: " + err.Error(), At: time.Now(),
		}
	}
	if p.agent.Record {
		from := files.From{CompanyID: p.line.CompanyID, ConversationID: conversationID, SentBy: "call"}
		p.tap.record(p.o.Files.Record(from, "call.wav", c.Rate()))
		defer func() { // the line is released while the recording is stored
			c.HangUp(context.WithoutCancel(ctx))
			p.recorded(ctx)
		}()
	}
	e := p.converse(ctx, c, conversationID)
	e.At = time.Now()
	return e
}

// recorded finishes the recording, unless it was refused.
func (p *placed) recorded(ctx context.Context) {
	r := p.tap.stop()
	if r == nil {
		return
	}
	kept, err := r.Close()
	switch {
	case err != nil:
		p.o.Log.WarnContext(ctx, "record a call", "company", p.line.CompanyID, "call", p.call.ID, "error", err)
	case kept != nil:
		p.progress.Recorded(kept.ID)
	}
}

// open opens the conversation.
func (p *placed) open(ctx context.Context) (string, error) {
	name := strings.TrimSpace(p.call.Contact["first_name"] + " " + p.call.Contact["last_name"])
	if name == "" {
		name = p.call.Contact["name"]
	}
	c, contact, err := p.o.Conversations.Open(context.WithoutCancel(ctx), conversation.Start{
		Channel: Channel, AgentID: p.call.AgentID, Language: p.agent.Language, Always: true,
		Contact: chats.Contact{
			CompanyID: p.line.CompanyID, VisitorID: hidden(), Verified: !p.incoming() || p.over.sender != nil, Number: p.call.Number,
			UserID: p.over.userID,
			Name:   name, Email: p.call.Contact["email"], Language: p.agent.Language,
		},
		Known: p.known(),
	})
	if err != nil {
		return "", err
	}
	p.person = contact.Name
	if p.call.Event != "" {
		b := chats.Bound{Event: p.call.Event, NotificationID: p.call.NotificationID, Values: p.call.Contact}
		// The agent talks instead.
		if _, err := p.o.Conversations.Runner.Begin(ctx, p.line.CompanyID, c.ID, b); err != nil {
			p.o.Log.WarnContext(ctx, "begin the flow of a call", "company", p.line.CompanyID, "call", p.call.ID, "event",
				p.call.Event, "error", err)
		}
	}
	return c.ID, nil
}

// converse runs the voice conversation until either side ends it.
func (p *placed) converse(ctx context.Context, c *sip.Call, conversationID string) dial.Ending {
	words := p.o.Voices.Transcriber(p.agent.Voice.Settings()) != nil
	m := newWatched(c, !p.incoming(), words)
	e := dial.Ending{State: carillon.StateCompleted, AnsweredBy: "human"}
	opening, greeting, asks := p.opening()
	start := voice.Start{
		CompanyID: p.line.CompanyID, ConversationID: conversationID, Line: m, Opening: opening, Greeting: greeting, Asks: asks,
		Variables: p.call.Contact, Language: p.agent.Language, Counted: true, Stop: p.stop(), StopsMarketing: p.incoming(),
		Transfer: p.agent.Transfer, Refuse: p.refuse(),
	}
	for machines := 0; ; {
		why, err := p.hold(ctx, start, m, &e)
		if t := m.machine(); t != nil {
			ending, person := p.machine(ctx, c, t, conversationID)
			if machines++; !person || machines == maxMachines {
				p.leave(ctx, conversationID)
				return ending
			}
			m = newWatched(c, true, words)
			start.Line, start.Anew = m, true
			continue
		}
		if why == voice.TransferWanted && ctx.Err() == nil {
			if start.Resume = p.transfer(ctx, c, conversationID); start.Resume != "" && c.Cause().By == "" {
				continue
			}
		}
		switch {
		case ctx.Err() != nil:
			e.EndedBy = "system"
		case p.referred:
			e.EndedBy, e.Cause = "agent", c.Cause().Text
		case why == notBegun:
			e.State, e.Reason, e.EndedBy, e.Detail = carillon.StateFailed, carillon.ReasonInterrupted, "system", "the talk: "+err.Error()
			return e
		case why == voice.TransferWanted && c.Cause().By == "": // the time of a transfer is over
			e.EndedBy = "system"
		case why != "" && why != voice.TransferWanted:
			e.EndedBy = "agent"
		default: // the line ended, or no way to communicate is left
			e.EndedBy, e.Cause = p.endedBy(c.Cause()), c.Cause().Text
		}
		p.leave(ctx, conversationID)
		if err != nil && ctx.Err() == nil {
			e.Detail = err.Error()
		}
		return e
	}
}

// maxMachines bounds the machines of one call, before each of which a person seemed to answer.
const maxMachines = 3

// notBegun is the reason of a conversation that could not be opened.
const notBegun = "not begun"

// hold runs a voice session and returns the reason of its end, or "" if the line ended. It stores the agent's results
// in e.
func (p *placed) hold(ctx context.Context, start voice.Start, m *watched, e *dial.Ending) (why string, err error) {
	start.Show = func(x voice.Event) {
		p.wish.observe(x)
		switch x.Kind {
		case voice.Ended:
			why = x.Code
		case voice.Transcribed:
			m.understood(x.Text, true)
		case voice.Tentative:
			m.understood(x.Text, false)
		case voice.Noted:
			e.Result = chats.Value{Name: x.Name, Type: x.Code, Text: x.Text}.Add(e.Result)
		default:
		}
	}
	s, err := p.o.Voices.Open(ctx, start)
	if err != nil {
		return notBegun, err
	}
	talking, cancel := context.WithCancel(ctx)
	defer cancel()
	m.found = cancel
	err = s.Run(talking)
	return why, err
}

func (p *placed) endedBy(c sip.Cause) string {
	switch {
	case c.By != sip.Them:
		return "system"
	case p.incoming():
		return "caller"
	}
	return "callee"
}

// opening returns the beginning of the agent's words: the fixed words of every call, the greeting, and for callers who
// must be asked, the first question.
func (p *placed) opening() (opening, greeting, asks string) {
	w := wordsOf(p.agent.Language)
	opening, greeting = fmt.Sprintf(w.automated, p.company), p.agent.Greeting
	if p.incoming() {
		opening = fmt.Sprintf(w.answered, p.company)
	}
	if p.agent.Record {
		opening += " " + p.notice(w)
	}
	if q := p.agent.Questions(); len(q) > 0 && (!p.incoming() || p.agent.AskCallers) {
		greeting, asks = strings.TrimSpace(greeting+" "+q[0].Question), q[0].Name
	}
	return opening, greeting, asks
}

// stop returns a function that suppresses the number, or nil if the number is unknown.
func (p *placed) stop() func(ctx context.Context) error {
	if p.call.Number == "" {
		return nil
	}
	return func(ctx context.Context) error {
		return p.o.Suppress(ctx, p.line.CompanyID, p.call.Number, p.incoming())
	}
}

func (p *placed) leave(ctx context.Context, conversationID string) {
	if _, err := p.o.Conversations.Leave(context.WithoutCancel(ctx), p.line.CompanyID, conversationID); err != nil {
		p.o.Log.WarnContext(ctx, "end a conversation by telephone", "conversation", conversationID, "error", err)
	}
}

// tap copies the sound of a call to its recording.
type tap struct {
	mu sync.Mutex
	to *files.Recording
}

func (t *tap) record(r *files.Recording) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.to = r
}

// stop ends the copying and returns the recording; nil if there is none.
func (t *tap) stop() *files.Recording {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.to
	t.to = nil
	return r
}

// frame processes a frame of both sides.
func (t *tap) frame(in, out []int16) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.to != nil {
		t.to.Write(in, out)
	}
}
