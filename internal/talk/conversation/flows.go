package conversation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/base/cache"
	"carillon/internal/store/chats"
	"carillon/internal/talk/flow"
)

// Flows finds a company's flows.
type Flows interface {
	// Flows returns a company's flows without their steps, ordered by name.
	Flows(ctx context.Context, companyID string) ([]flow.Listed, error)
	// Flow returns a flow of a company. Errors: not_found.
	Flow(ctx context.Context, companyID, id string) (*flow.Flow, error)
}

// Effects performs the actions of flows outside their conversation.
type Effects interface {
	// Do performs an effect. The key identifies run and step: an effect repeated with the same key happens once,
	// except for HTTP requests. values are the resulting variables, detail describes the outcome for people, refused
	// means that the effect can never succeed. An error means that it is retried.
	Do(ctx context.Context, who EffectFor, e *flow.Effect) (values flow.Values, detail string, refused bool, err error)
}

// EffectFor identifies the run and the contact of an effect.
type EffectFor struct {
	CompanyID, ConversationID, Key string
	Contact                        *chats.Contact
}

const (
	effectTimeout = 40 * time.Second
	// effectLease is the time after which another node takes over an effect, because the one that began it has
	// stopped.
	effectLease = effectTimeout + 20*time.Second
	// effectRetry is the wait after an effect failed for an internal reason.
	effectRetry = 10 * time.Second
	// suspendedWait is the interval at which a company's suspension is checked again.
	suspendedWait = 10 * time.Minute
	// effectKeyed is the time after its step during which an effect may be repeated with its key; keys are kept for 24
	// hours.
	effectKeyed    = 23 * time.Hour
	programs       = 64 << 20 // bytes of compiled programs in the cache
	programTimeout = 10 * time.Second
	flowWorkers    = 16
	flowPoll       = time.Second
	flowPage       = 200
)

// Runner runs the flows of conversations.
type Runner struct {
	*core
	answer   func(companyID, id string) // requests the reply of a conversation
	programs *cache.Cache[*program]
	rounds   *rounds
}

// program is a compiled flow with its approximate size in memory.
type program struct {
	*flow.Program
	bytes int
}

// inMemory is the growth factor of a definition when decoded.
const inMemory = 4

func sizeOf(p *program) int { return p.bytes }

// program returns the compiled program of a flow's version.
func (s *Runner) program(ctx context.Context, companyID, flowID string, version int) (*flow.Program, error) {
	p, err := s.programs.Get(ctx, companyID+"/"+flowID+"/"+strconv.Itoa(version), func(ctx context.Context) (*program, string, error) {
		text, err := s.o.Runs.Definition(ctx, companyID, flowID, version)
		if err != nil {
			return nil, "", err
		}
		var f flow.Flow
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			return nil, "", fmt.Errorf("version %d of the flow %s: %w", version, flowID, err)
		}
		p, err := flow.Compile(&f)
		if err != nil {
			return nil, "", err
		}
		return &program{p, inMemory*len(text) + p.Size()}, companyID, nil
	})
	if err != nil {
		return nil, err
	}
	return p.Program, nil
}

// Keyword reports whether a text is a keyword that starts a flow of the company.
func (s *Runner) Keyword(ctx context.Context, companyID, text string) (bool, error) {
	f, err := s.triggered(ctx, companyID, func(h *flow.Head) bool { return h.Keyword(flow.Plain(text)) })
	return f != nil, err
}

// Begin begins the flow of a name_event in a conversation without a run; the conversation then waits for the flow's
// first reply. It reports whether such a flow exists and has begun.
func (s *Runner) Begin(ctx context.Context, companyID, id string, b chats.Bound) (bool, error) {
	f, err := s.triggered(ctx, companyID, func(h *flow.Head) bool { return b.Event != "" && h.Trigger.Event == b.Event })
	if err == nil && f == nil {
		err = s.unknown(ctx, companyID, id, &b)
	}
	if err != nil || f == nil {
		return false, err
	}
	return s.begin(ctx, companyID, id, f, "event", &b)
}

// opened begins the flow that starts when a conversation opens in its widget.
func (s *Runner) opened(ctx context.Context, c *chats.Conversation) (begun bool, err error) {
	if c.WidgetID == "" {
		return false, nil
	}
	f, err := s.triggered(ctx, c.CompanyID, func(h *flow.Head) bool { return h.Trigger.Widget == c.WidgetID })
	if err != nil || f == nil {
		return false, err
	}
	return s.begin(ctx, c.CompanyID, c.ID, f, "widget", &chats.Bound{})
}

// Stop ends the current run of a conversation, if any.
func (s *Runner) Stop(ctx context.Context, companyID, id, why string) error {
	return s.retryOvertaken(func() error {
		c, err := s.store.Chats.Find(ctx, companyID, id)
		if err != nil {
			return err
		}
		x, err := s.o.Runs.Current(ctx, companyID, id)
		if err != nil || x == nil {
			return err
		}
		p, err := s.program(ctx, companyID, x.FlowID, x.Version)
		if err != nil {
			return err
		}
		r := stateOf(x)
		o := p.Stop(r, why)
		_, err = s.commit(ctx, c, p, x, r, o, 0)
		return err
	})
}

// Say appends a message of the company that no agent or teammate wrote. A repeated client ID has no effect.
func (s *Runner) Say(ctx context.Context, companyID, id, clientID, text string) error {
	now := s.now()
	_, err := s.change(ctx, companyID, id, "system:"+clientID, func(*chats.Conversation) ([]chats.Turn, error) {
		return []chats.Turn{{Author: chats.Agent, Kind: chats.KindText, ClientID: "system:" + clientID, Text: text, At: now}}, nil
	})
	return err
}

// Note records the event x.Event, such as a reaction or a message that cannot be shown. A repeated client ID has no
// effect.
func (s *Runner) Note(ctx context.Context, companyID, id, clientID, text string, x chats.Extra) error {
	t := event(x.Event, text, s.now())
	t.ClientID, t.Extra = "system:"+clientID, x
	_, err := s.change(ctx, companyID, id, t.ClientID, func(*chats.Conversation) ([]chats.Turn, error) { return []chats.Turn{t}, nil })
	return err
}

// retryOvertaken calls do again while another writer overtakes it, at most five times.
func (s *Runner) retryOvertaken(do func() error) (err error) {
	for range 5 {
		if err = do(); !errors.Is(err, chats.ErrOvertaken) {
			return err
		}
	}
	return err
}

// newRun returns a new run of a flow and stores the flow's version.
func (s *Runner) newRun(ctx context.Context, companyID, conversationID string, f *flow.Flow, cause string,
	b *chats.Bound,
) (*chats.Run, error) {
	definition, digest, err := f.Document()
	if err != nil {
		return nil, err
	}
	now := s.now()
	version, err := s.o.Runs.Keep(ctx, companyID, f.ID, digest, definition, now)
	if err != nil {
		return nil, err
	}
	return &chats.Run{
		ID: carillon.NewID(now), CompanyID: companyID, FlowID: f.ID, Version: version, ConversationID: conversationID, Cause: cause,
		Event:          b.Event,
		NotificationID: b.NotificationID, State: string(flow.Ready), Open: true, StartedAt: now, ChangedAt: now,
	}, nil
}

// begin stores a run that is ready and marks the conversation as waiting for its first reply.
func (s *Runner) begin(ctx context.Context, companyID, id string, f *flow.Flow, cause string, b *chats.Bound) (bool, error) {
	x, err := s.newRun(ctx, companyID, id, f, cause, b)
	if err != nil {
		return false, err
	}
	c, err := s.store.Chats.Find(ctx, companyID, id)
	if err != nil {
		return false, err
	}
	if x.Variables, err = s.values(ctx, c, b); err != nil {
		return false, err
	}
	now := s.now()
	_, err = s.changeRun(ctx, companyID, id, "", &chats.RunWrite{Run: x}, func(c *chats.Conversation) ([]chats.Turn, error) {
		if c.State != chats.Automated || cause == "widget" && c.LastSeq > 0 {
			return nil, errOvertaken
		}
		c.ReplySeq, c.ReplyAt = c.LastSeq+1, now
		return []chats.Turn{began(f.Name, x.ID, now)}, nil
	})
	if errors.Is(err, chats.ErrOvertaken) || errors.Is(err, errOvertaken) {
		return false, nil
	}
	if err == nil {
		s.o.Observer.Ran(flow.Ready)
	}
	return err == nil, err
}

// askedBy adds the ID of the run to the events that ask for a teammate.
func askedBy(runID string, turns []chats.Turn) []chats.Turn {
	for i := range turns {
		if turns[i].Extra.Event == Asked {
			turns[i].Extra.Run = runID
		}
	}
	return turns
}

// began returns the event that a run of a flow began.
func began(name, runID string, now time.Time) chats.Turn {
	t := event(FlowBegan, name, now)
	t.Extra.Run = runID
	return t
}

// values returns the initial variables of a run.
func (s *Runner) values(ctx context.Context, c *chats.Conversation, b *chats.Bound) (flow.Values, error) {
	contact, err := s.store.Contacts.ContactOf(ctx, c.CompanyID, c.ContactID)
	if err != nil {
		return nil, err
	}
	contact = known(c, contact)
	first, _, _ := strings.Cut(contact.Name, " ")
	v := flow.Values{}
	for _, x := range []struct{ name, value string }{
		{"name", contact.Name},
		{"first_name", first},
		{"email", contact.Email},
		{"number", contact.Number},
		{"username", contact.Username},
		{"verified", map[bool]string{true: "yes", false: "no"}[contact.Verified]},
		{"language", c.Language},
		{"channel", c.Channel},
		{"event", b.Event},
		{"notification_id", b.NotificationID},
	} {
		if x.value != "" {
			v[x.name] = x.value
		}
	}
	for name, value := range b.Values {
		if flow.ValidVariable(name) {
			v.Put(name, value)
		}
	}
	return v, nil
}

// stateOf returns a copy of a stored run as package flow represents it.
func stateOf(x *chats.Run) *flow.Run {
	v := make(flow.Values, len(x.Variables))
	maps.Copy(v, x.Variables)
	return &flow.Run{
		State: flow.State(x.State), At: x.Place, Values: v, Question: x.Question, Tries: x.Tries, Steps: x.Steps, Alone: x.Alone,
		Due: x.Due, Error: x.Error,
	}
}

// written returns the stored form of a run in a new state.
func (s *Runner) written(p *flow.Program, x *chats.Run, r *flow.Run, o *flow.Outcome, now time.Time) *chats.RunWrite {
	y := *x
	y.State, y.Open, y.Place, y.Path, y.Variables, y.Question = string(r.State), !r.State.Over(), r.At, p.Where(r.At), r.Values, r.Question
	y.Tries, y.Steps, y.Alone, y.Error, y.ChangedAt, y.Begun = r.Tries, r.Steps, r.Alone, r.Error, now, false
	switch r.State {
	case flow.Waiting:
		y.Due = r.Due.Truncate(time.Millisecond)
	case flow.Calling:
		y.Due = now
	default:
		y.Due = time.Time{}
	}
	w := &chats.RunWrite{Run: &y}
	for _, e := range o.Log {
		w.Entries = append(w.Entries, chats.RunEntry{At: now, Path: e.Path, Kind: e.Kind, Text: e.Text, Changed: e.Changed})
	}
	return w
}

// leaveFlow hands the conversation to a person or resolves it, if the outcome says so or the run failed, and returns the turns that
// show it.
func leaveFlow(have *chats.Conversation, runID string, state flow.State, o *flow.Outcome, there bool, now time.Time) []chats.Turn {
	switch {
	case o.Handoff == asksForPerson:
		return ask(have, o.Handoff, there, now)
	case o.Handoff != "":
		return askedBy(runID, ask(have, o.Handoff, there, now))
	case o.Resolve:
		have.SetState(chats.Resolved, now)
		have.ReplySeq, have.ReplyAt = 0, time.Time{}
		return []chats.Turn{event(Resolved, "", now)}
	case state == flow.Failed:
		return askedBy(runID, ask(have, "", there, now))
	}
	return nil
}

// commit stores a run in a new state together with the resulting changes of the conversation. answers is the seq of
// the contact's turn that it replies to, or 0. It returns the stored change.
func (s *Runner) commit(
	ctx context.Context, c *chats.Conversation, p *flow.Program, x *chats.Run, r *flow.Run, o *flow.Outcome, answers int64,
) (*chats.Change, error) {
	there, name := true, ""
	if o.Handoff != "" || r.State == flow.Failed {
		var err error
		if there, err = s.anybodyThere(ctx, c.CompanyID); err != nil {
			return nil, err
		}
	}
	a, company, err := s.o.Agents.TalkingAgent(ctx, c.CompanyID, c.AgentID)
	if err == nil {
		name = a.Name
	} else if !carillon.IsCode(err, carillon.NotFound) {
		return nil, err
	} else {
		name = company
	}
	if o.Effect != nil && len(o.Say) == 0 && spoken(c) {
		o.Say = append(o.Say, flow.Saying{Text: textsOf(c.Language).moment})
	}
	now := s.now()
	clientID := ""
	if answers > 0 {
		clientID = replyID(answers)
	}
	w, called := s.written(p, x, r, o, now), x.State == string(flow.Calling)
	change, err := s.changeRun(ctx, c.CompanyID, c.ID, clientID, w, func(have *chats.Conversation) ([]chats.Turn, error) {
		if have.State != chats.Automated || have.ReplySeq < answers {
			return nil, errOvertaken
		}
		if answers > 0 && have.ReplySeq == answers {
			have.ReplySeq, have.ReplyAt = 0, time.Time{}
		}
		turns, next := said(o.Say, name, now, spoken(have)), ""
		if r.State == flow.Completed && !o.Resolve {
			next = asksForAgent(a, have.Language, turns)
		}
		// Discard messages of the contact that arrived during the effect.
		if called && (len(turns) > 0 || r.State == flow.Asking) {
			have.ReplySeq, have.ReplyAt = 0, time.Time{}
		}
		if answers > 0 && len(turns) > 0 {
			turns[0].ClientID = clientID
		}
		if x.Rev == 0 {
			turns = append([]chats.Turn{began(p.Name(), x.ID, now)}, turns...)
		}
		switch {
		case o.Asked:
			asks(have, turns, flowAsks)
		case r.State != flow.Asking:
			asks(have, turns, next)
		}
		return append(turns, leaveFlow(have, x.ID, r.State, o, there, now)...), nil
	})
	if err != nil {
		return change, err
	}
	if x.Rev == 0 {
		s.o.Observer.Ran(flow.Ready)
	}
	if r.State.Over() {
		s.o.Observer.Ran(r.State)
	}
	if r.State == flow.Failed { // the error may quote the contact, so it is in the run and not in the log
		s.o.Log.WarnContext(ctx, "a flow failed", "company", c.CompanyID, "flow", p.Name(), "run", x.ID, "step", p.Where(r.At))
	}
	if !w.Run.Due.IsZero() {
		s.rounds.poke(r.State == flow.Calling)
	}
	// The flow said nothing, so the contact's messages still need a reply.
	if called && r.State != flow.Calling && change.Conversation.ReplySeq > 0 && !spoken(c) {
		s.answer(c.CompanyID, c.ID)
	}
	return change, nil
}

// replyID returns the client ID of the reply to the contact's turn seq.
func replyID(seq int64) string { return "reply:" + strconv.FormatInt(seq, 10) }

// spoken reports whether a conversation is spoken.
func spoken(c *chats.Conversation) bool { return c.Channel == "phone" || c.Channel == "web_voice" }

// said returns the turns of a run's texts, merged into one if together is set (spoken conversations).
func said(all []flow.Saying, name string, now time.Time, together bool) []chats.Turn {
	if together && len(all) > 1 {
		var texts []string
		for _, x := range all {
			texts = append(texts, x.Text)
		}
		all = []flow.Saying{{Text: strings.Join(texts, " "), Choices: all[len(all)-1].Choices}}
	}
	var turns []chats.Turn
	for _, x := range all {
		t := chats.Turn{
			Author: chats.Agent, Kind: chats.KindText, Text: strings.TrimSpace(x.Text),
			Extra: chats.Extra{Name: name, Choices: x.Choices}, At: now,
		}
		if len(x.Choices) > 0 {
			t.Kind = chats.KindChoices
		}
		if t.Text != "" || len(x.Choices) > 0 {
			turns = append(turns, t)
		}
	}
	return turns
}

// reply lets the current flow reply, or the flow that the contact's message starts. handled is false if the agent must
// reply.
func (s *Runner) reply(ctx context.Context, c *chats.Conversation) (turn *chats.Turn, handled bool, err error) {
	if s.o.Flows == nil {
		return nil, false, nil
	}
	err = s.retryOvertaken(func() error {
		turn, handled, err = s.replyOnce(ctx, c)
		return err
	})
	if errors.Is(err, errOvertaken) {
		return nil, true, nil
	}
	return turn, handled, err
}

func (s *Runner) replyOnce(ctx context.Context, c *chats.Conversation) (*chats.Turn, bool, error) {
	x, err := s.o.Runs.Current(ctx, c.CompanyID, c.ID)
	if err != nil {
		return nil, false, err
	}
	if x != nil { // reload: the run may be newer than the conversation
		if c, err = s.store.Chats.Find(ctx, c.CompanyID, c.ID); err != nil {
			return nil, false, err
		}
		if c.State != chats.Automated || c.ReplySeq == 0 {
			return nil, true, nil
		}
	}
	turns, err := s.store.Chats.TurnsBefore(ctx, c.CompanyID, c.ID, c.ReplySeq+1, maxRecent)
	if err != nil || len(turns) == 0 {
		return nil, false, err
	}
	message, said, answers := &turns[len(turns)-1], joined(turns), c.ReplySeq
	if x == nil {
		if x, answers, err = s.startAny(ctx, c, turns); err != nil || x == nil {
			return nil, false, err
		}
	}
	p, err := s.program(ctx, c.CompanyID, x.FlowID, x.Version)
	if err != nil {
		return nil, false, err
	}
	r, w, now := stateOf(x), textsOf(c.Language).Words, s.now()
	var o *flow.Outcome
	switch {
	case r.State == flow.Ready:
		o = p.Advance(r, w, now)
	case message.Author != chats.Visitor:
		return nil, false, nil
	case (r.State == flow.Asking || r.State == flow.Calling) && agent.WantsPerson(said):
		o = p.HandOff(r, "")
		o.Handoff = asksForPerson
	case r.State == flow.Calling: // the outcome of the effect leads to the reply, see commit
		return nil, true, nil
	case r.State != flow.Asking:
		return nil, false, nil
	default:
		if b := bearingOf(c, turns); b >= past || b == meanwhile && !p.Fits(r, said) {
			return nil, true, s.leave(ctx, c)
		}
		o = p.Respond(r, said, w, now)
	}
	change, err := s.commit(ctx, c, p, x, r, o, answers)
	if err != nil {
		return nil, true, err
	}
	if answers < c.ReplySeq && change.Conversation.ReplySeq > 0 { // the contact wrote more in the meantime
		return s.replyOnce(ctx, change.Conversation)
	}
	if change.Repeated != nil {
		return change.Repeated, true, nil
	}
	i := slices.IndexFunc(change.Turns, func(t chats.Turn) bool { return t.ClientID == replyID(c.ReplySeq) })
	if i < 0 {
		return nil, true, nil
	}
	return &change.Turns[i], true, nil
}

// leave clears the pending reply of a conversation: the open question stands as the reply.
func (s *core) leave(ctx context.Context, c *chats.Conversation) error {
	_, err := s.change(ctx, c.CompanyID, c.ID, "", func(have *chats.Conversation) ([]chats.Turn, error) {
		if have.ReplySeq == c.ReplySeq {
			have.ReplySeq, have.ReplyAt = 0, time.Time{}
		}
		return nil, nil
	})
	return err
}

const asksForPerson = "The contact asked for a person"

// start returns the run that a message starts, not yet stored, or nil.
func (s *Runner) start(ctx context.Context, c *chats.Conversation, message *chats.Turn) (*chats.Run, error) {
	if message.Author != chats.Visitor {
		return nil, nil
	}
	plain, cause, b := flow.Plain(message.Text), "", &chats.Bound{}
	if message.Extra.Bound != nil {
		b = message.Extra.Bound
	}
	f, err := s.triggered(ctx, c.CompanyID, func(h *flow.Head) bool {
		switch {
		case b.Event != "" && h.Trigger.Event == b.Event:
			cause = "event"
		case h.Keyword(plain):
			cause = "keyword"
		case h.Trigger.Inbound && c.Channel == "whatsapp" && c.AgentID == "":
			cause = "inbound"
		default:
			return false
		}
		return true
	})
	if err != nil || f == nil {
		return nil, err
	}
	x, err := s.newRun(ctx, c.CompanyID, c.ID, f, cause, b)
	if err != nil {
		return nil, err
	}
	x.Variables, err = s.values(ctx, c, b)
	return x, err
}
