package conversation

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/base/share"
	"carillon/internal/store/chats"
	"carillon/internal/store/db"
	"carillon/internal/voice"
)

const (
	maxJobs      = 1000 // length of the channel of jobs
	replyTimeout = 45 * time.Second
	// overdue is the age at which another node takes over a reply, because the first node has stopped.
	overdue   = replyTimeout + 5*time.Second
	maxSaid   = 30 // turns that are passed to the agent
	maxAnswer = 8000
	// deadFor is the minimum silence of a node before others declare it dead.
	deadFor = 2 * time.Second
	// checkEvery is the interval of checks, during an agent's reply, that it should continue.
	checkEvery = time.Second
)

// replies makes the agent reply in a bounded number of conversations at a time, with a limit per company; the rest
// wait in a queue, which also has a limit per company. A reply that is pending when this node stops stays marked in
// the conversation.
type replies struct {
	*core
	runner  *Runner
	screens *Screens
	jobs    chan job
	left    chan struct{} // signals that a node was declared dead
	places  *share.Share  // conversations with a reply in progress
	queue   *share.Share  // conversations waiting for a place

	mu         sync.Mutex
	inProgress map[string]*replying // by conversation
	queued     map[string]bool      // by conversation
}

// job is a conversation that waits for the agent's reply.
type job struct{ companyID, id string }

// replying is a reply in progress on this node. rerun: the contact wrote more, so the conversation must be checked
// again.
type replying struct {
	cancel context.CancelFunc
	rerun  bool
}

// reply requests a reply of the agent. If the channel is full, the sweep does it later.
func (s *replies) reply(companyID, id string) {
	select {
	case s.jobs <- job{companyID, id}:
	default:
	}
}

// interrupt cancels the agent's reply on this node. A reply on another node is refused at the commit anyway.
func (s *replies) interrupt(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.inProgress[id]; r != nil {
		r.cancel()
	}
}

// Deposed makes this node take over the replies and effects of a node that was declared dead.
func (s *Conversations) Deposed() {
	for _, left := range []chan struct{}{s.replies.left, s.Runner.rounds.left} {
		select {
		case left <- struct{}{}:
		default:
		}
	}
}

// Run lets the agent reply and expires conversations that waited too long, until ctx ends. Replies in progress are
// then canceled; another node or the next start gives them.
func (s *Conversations) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.replies.run(ctx) })
	g.Go(func() error { return s.Runner.rounds.run(ctx) })
	g.Go(func() error { return s.sweep(ctx) })
	g.Go(func() error { return s.reviews.run(ctx) })
	g.Go(func() error { return s.Attendance.run(ctx) })
	return g.Wait()
}

// run processes replies until ctx ends.
func (s *replies) run(ctx context.Context) error {
	if s.o.Alone {
		if err := s.takeOver(ctx, s.now()); err != nil {
			s.o.Log.WarnContext(ctx, "take up replies", "error", err)
		}
	}
	var all sync.WaitGroup
	defer all.Wait()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.left: // a reply of another node may be generated twice, but is stored once
			if err := s.takeOver(ctx, s.now().Add(-deadFor)); err != nil && ctx.Err() == nil {
				s.o.Log.WarnContext(ctx, "take up replies", "error", err)
			}
		case j := <-s.jobs:
			leave, ok := s.enqueue(j)
			if !ok {
				continue
			}
			all.Go(func() {
				place, err := s.places.Wait(ctx, share.Holder{Company: j.companyID})
				leave()
				if err != nil {
					return // the program stops
				}
				defer place.Release()
				s.work(ctx, j)
			})
		}
	}
}

// enqueue queues a conversation until leave is called. It returns false if the conversation is already queued, if a
// reply is in progress (which will check again), or if its company has too many in the queue; then the sweep does it
// later.
func (s *replies) enqueue(j job) (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.inProgress[j.id]; r != nil {
		r.rerun = true
		return nil, false
	}
	if s.queued[j.id] {
		return nil, false
	}
	place, ok := s.queue.Try(share.Holder{Company: j.companyID})
	if !ok {
		return nil, false
	}
	s.queued[j.id] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.queued, j.id)
		place.Release()
	}, true
}

func (s *replies) work(ctx context.Context, j job) {
	ctx, cancel := context.WithTimeout(ctx, replyTimeout)
	defer cancel()
	s.mu.Lock()
	if r := s.inProgress[j.id]; r != nil {
		r.rerun = true
		s.mu.Unlock()
		return
	}
	r := &replying{cancel: cancel}
	s.inProgress[j.id] = r
	s.mu.Unlock()
	rerun := false
	err := voice.Guard(func() (err error) { // a panic in one conversation must not end the others
		_, rerun, err = s.replyTo(ctx, j, nil, nil)
		return err
	})
	if c, run := s.hopeless(ctx, j, err); c != nil {
		if c.AgentID != "" {
			s.o.Log.WarnContext(ctx, "hand over what could not be replied to", "company", j.companyID, "conversation", j.id, "error", err)
		}
		if run != nil {
			err = s.runner.giveUp(context.WithoutCancel(ctx), run)
		} else {
			err = s.handOver(context.WithoutCancel(ctx), c)
		}
	}
	s.mu.Lock()
	delete(s.inProgress, j.id)
	rerun = rerun || r.rerun
	s.mu.Unlock()
	if err != nil && ctx.Err() == nil {
		s.o.Log.WarnContext(ctx, "reply in a conversation", "company", j.companyID, "conversation", j.id, "error", err)
	}
	if rerun {
		s.reply(j.companyID, j.id)
	}
}

// hopeless returns the conversation if retries cannot produce its reply: the agent fails, or the reply cannot be
// stored. run is the flow's run that should have replied, if any. It returns nil if there is a reply or a retry makes
// sense.
func (s *replies) hopeless(ctx context.Context, j job, err error) (c *chats.Conversation, run *chats.Run) {
	if err == nil || errors.Is(ctx.Err(), context.Canceled) {
		return nil, nil
	}
	if silent, ok := errors.AsType[*silentError](err); ok {
		return silent.conversation, nil
	}
	if db.Transient(err) || overtaken(err) {
		return nil, nil
	}
	ctx = context.WithoutCancel(ctx)
	c, err = s.store.Chats.Find(ctx, j.companyID, j.id)
	if err == nil && s.o.Flows != nil {
		run, err = s.o.Runs.Current(ctx, j.companyID, j.id)
	}
	if err != nil || c.State != chats.Automated || c.ReplySeq == 0 {
		return nil, nil // the next sweep decides
	}
	return c, run
}

// silentError reports that the agent could not reply and that a retry would not help.
type silentError struct {
	conversation *chats.Conversation
	err          error
}

func (e *silentError) Error() string { return "the agent does not reply: " + e.err.Error() }
func (e *silentError) Unwrap() error { return e.err }

var errOvertaken = errors.New("somebody else answers")

// replyTo produces the reply that a conversation waits for and returns its turn, or nil if there is none. rerun
// reports that the contact wrote more meanwhile. use runs the tools of the contact's page, emit receives each action;
// both may be nil.
func (s *replies) replyTo(ctx context.Context, j job, use voice.ToolUser, emit func(agent.Action) error) (turn *chats.Turn,
	rerun bool, err error,
) {
	c, err := s.store.Chats.Find(ctx, j.companyID, j.id)
	if err != nil || c.State != chats.Automated || c.ReplySeq == 0 {
		return nil, false, err
	}
	if suspended, err := s.o.Suspended(ctx, c.CompanyID); suspended || err != nil {
		if err == nil {
			err = s.putOff(ctx, c)
		}
		return nil, false, err
	}
	if repeated, err := s.repeated(ctx, c); repeated || err != nil {
		return nil, false, err
	}
	if turn, handled, err := s.runner.reply(ctx, c); handled || err != nil {
		if err == nil && turn != nil && emit != nil {
			err = emit(agent.Action{Say: turn.Text, Choices: turn.Extra.Choices})
		}
		return turn, false, err
	}
	request, err := s.request(ctx, c)
	if carillon.IsCode(err, carillon.NotFound) {
		return nil, false, &silentError{c, err}
	}
	if err != nil {
		return nil, false, err
	}
	request.UseTool, request.Aloud = use, emit != nil
	request.Toolbox, request.Claim = s.o.Toolbox, s.claim(c)
	s.screens.Typing(c.CompanyID, c.ID, chats.Agent, request.Agent.Name, "")
	var said answer
	checked := time.Now()
	stored := false
	defer func() {
		if !stored {
			s.keepUses(ctx, c, said.used)
		}
	}()
	err = s.o.Thinker.Reply(ctx, request, func(a agent.Action) error {
		said.use(a.Used)
		if time.Since(checked) >= checkEvery { // a teammate may have taken it on another node
			checked = time.Now()
			if have, err := s.store.Chats.Find(ctx, c.CompanyID, c.ID); err != nil || have.State != chats.Automated {
				return errors.Join(errOvertaken, err)
			}
		}
		if a.Say != "" {
			s.screens.delta(c, a.Say)
		}
		if err := said.add(a); err != nil || emit == nil {
			return err
		}
		return emit(a)
	})
	switch {
	case errors.Is(err, errOvertaken):
		return nil, false, nil
	case err != nil:
		return nil, false, &silentError{c, err}
	}
	// A company that is being moved gets the reply at its new installation, where this one would be missing.
	if suspended, err := s.o.Suspended(ctx, c.CompanyID); suspended || err != nil {
		return nil, false, err
	}
	result, err := s.result(ctx, c, request, &said)
	if err != nil {
		return nil, false, err
	}
	err = s.keep(ctx, func() (err error) {
		turn, rerun, stored, err = s.storeReply(ctx, c, request, &said, result)
		return err
	})
	return turn, rerun, err
}

// repeated reports whether the contact only repeated the same answer, which gets no further reply.
func (s *core) repeated(ctx context.Context, c *chats.Conversation) (bool, error) {
	if c.AskedSeq == 0 {
		return false, nil
	}
	turns, err := s.store.Chats.TurnsBefore(ctx, c.CompanyID, c.ID, c.ReplySeq+1, maxRecent)
	if err != nil || bearingOf(c, turns) != repeated {
		return false, err
	}
	return true, s.leave(ctx, c)
}

const (
	keepWait    = 100 * time.Millisecond // after the first failure; doubles each time
	maxKeepWait = 5 * time.Second
)

// keep stores a result that would be costly to produce again: it retries transient database errors until ctx ends.
func (s *core) keep(ctx context.Context, store func() error) error {
	for wait := keepWait; ; wait = min(2*wait, maxKeepWait) {
		err := store()
		if !db.Transient(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// putOff postpones a reply because the company is suspended.
func (s *replies) putOff(ctx context.Context, c *chats.Conversation) error {
	later := s.now().Add(suspendedWait)
	_, err := s.change(ctx, c.CompanyID, c.ID, "", func(have *chats.Conversation) ([]chats.Turn, error) {
		if have.ReplySeq > 0 {
			have.ReplyAt = later
		}
		return nil, nil
	})
	return err
}

func (s *replies) storeReply(
	ctx context.Context, c *chats.Conversation, r *agent.Request, said *answer, result *chats.Result,
) (turn *chats.Turn, rerun, stored bool, err error) {
	there := true
	if said.handoff != "" {
		if there, err = s.anybodyThere(ctx, c.CompanyID); err != nil {
			return nil, false, false, err
		}
	}
	now, clientID, outdated := s.now(), replyID(c.ReplySeq), false
	change, err := s.changeCounted(ctx, c, clientID, result, func(have *chats.Conversation) ([]chats.Turn, error) {
		if have.State != chats.Automated || have.ReplySeq < c.ReplySeq {
			return nil, errOvertaken
		}
		// Meanwhile another question is open.
		if outdated = have.Asks != c.Asks || have.AskedSeq != c.AskedSeq; outdated {
			return nil, errOvertaken
		}
		if have.ReplySeq == c.ReplySeq {
			have.ReplySeq, have.ReplyAt = 0, time.Time{}
		}
		turns := outcome(said.turns(r.Agent.Name, c.ReplySeq, now), result)
		if len(turns) > 0 && (said.asks != "" || !r.Early) {
			asks(have, turns, said.asks)
		}
		if len(said.set) > 0 {
			noted := event(Noted, "", now)
			noted.Extra.Set = said.set
			turns = append(turns, noted)
		}
		if len(said.used) > 0 {
			turns = append(turns, usesTurn(said.used, now))
		}
		if said.memory != nil {
			have.Memory = said.memory.Text()
		}
		switch {
		case said.handoff != "":
			asked := ask(have, said.handoff, there, now)
			if len(turns) == 0 {
				asked = outcome(asked, result)
			}
			turns = append(turns, asked...)
		case said.end:
			have.SetState(chats.Resolved, now)
			have.ReplySeq, have.ReplyAt = 0, time.Time{}
			turns = append(turns, event(Resolved, "", now))
		}
		return turns, nil
	})
	if errors.Is(err, errOvertaken) {
		return nil, outdated, false, nil
	}
	if err != nil {
		return nil, false, false, err
	}
	if turn = change.Repeated; turn == nil && len(change.Turns) > 0 && change.Turns[0].ClientID == clientID {
		turn = &change.Turns[0]
	}
	return turn, change.Conversation.ReplySeq > c.ReplySeq, change.Repeated == nil, nil
}

// handOver asks for a teammate because the agent could not reply.
func (s *replies) handOver(ctx context.Context, c *chats.Conversation) error {
	there, err := s.anybodyThere(ctx, c.CompanyID)
	if err != nil {
		return err
	}
	now := s.now()
	_, err = s.change(ctx, c.CompanyID, c.ID, "", func(have *chats.Conversation) ([]chats.Turn, error) {
		if have.State != chats.Automated || have.ReplySeq != c.ReplySeq {
			return nil, errOvertaken
		}
		return ask(have, "", there, now), nil
	})
	if errors.Is(err, errOvertaken) {
		return nil
	}
	return err
}

// request returns the request for the reply that a conversation waits for.
func (s *replies) request(ctx context.Context, c *chats.Conversation) (*agent.Request, error) {
	turns, err := s.store.Chats.TurnsBefore(ctx, c.CompanyID, c.ID, c.ReplySeq+1, maxSaid)
	if err != nil {
		return nil, err
	}
	return s.requestFor(ctx, c, turns)
}

// requestFor returns the request for a reply to the last of the turns.
func (s *replies) requestFor(ctx context.Context, c *chats.Conversation, turns []chats.Turn) (*agent.Request, error) {
	a, company, err := s.o.Agents.TalkingAgent(ctx, c.CompanyID, c.AgentID)
	if err != nil {
		return nil, err
	}
	contact, err := s.store.Contacts.ContactOf(ctx, c.CompanyID, c.ContactID)
	if err != nil {
		return nil, err
	}
	r := &agent.Request{
		CompanyID: c.CompanyID, CompanyName: company, ConversationID: c.ID, Agent: a, Language: c.Language,
		ContactName: known(c, contact).Name, Memory: agent.ReadMemory(c.Memory), Turn: c.ReplySeq,
	}
	if r.Now, err = s.localTime(ctx, c.CompanyID, a); err != nil {
		return nil, err
	}
	r.Asked = c.Asks
	switch bearingOf(c, turns) {
	case past, repeated:
		r.Asked, r.Early = "", true
	case meanwhile:
		r.Early = true
	case attempts:
	}
	for i, t := range turns {
		if t.Extra.Event == Remarked {
			r.Said = append(r.Said, agent.Said{Contact: true, Text: "(" + t.Text + ")"})
		}
		if t.Note || t.Kind == chats.KindEvent {
			continue
		}
		text := t.Extra.Voice.Of(t.Text)
		if t.Extra.File != nil {
			text = "[" + t.Extra.File.Name + "] " + text
		}
		if n := len(r.Said); n > 0 && i > 0 && r.Said[n-1].Contact && continues(&turns[i], &turns[i-1]) {
			r.Said[n-1].Text += " " + text
			continue
		}
		keys := t.Kind != chats.KindChoice && t.Extra.Digits != ""
		r.Said = append(r.Said, agent.Said{Contact: t.Author == chats.Visitor, Text: text, Keys: keys})
	}
	return r, nil
}

// answer collects the actions of an agent's reply.
type answer struct {
	text    strings.Builder
	sources []chats.Source
	found   []agent.Source
	choices []string
	handoff string
	asks    string
	end     bool
	outcome agent.Outcome
	set     []chats.Value
	memory  *agent.Memory
	used    []chats.Use
}

var errTooLong = errors.New("the agent's answer is too long")

func (a *answer) add(x agent.Action) error {
	if a.text.Len()+len(x.Say) > maxAnswer {
		return errTooLong
	}
	a.text.WriteString(x.Say)
	for _, source := range x.Sources {
		a.sources = append(a.sources, chats.Source{Title: source.Title, URL: source.URL})
	}
	a.found = append(a.found, x.Sources...)
	a.choices = append(a.choices, x.Choices...)
	for _, v := range x.Set {
		a.set = append(a.set, chats.Value{Name: v.Name, Type: v.Type, Text: v.Text})
	}
	if x.Handoff != "" {
		a.handoff = x.Handoff
	}
	if x.Asks != "" {
		a.asks = x.Asks
	}
	if x.Memory != nil {
		a.memory = x.Memory
	}
	a.end = a.end || x.End
	a.outcome = cmp.Or(x.Outcome, a.outcome)
	return nil
}

// turns returns the turns of a reply to the turn seq.
func (a *answer) turns(name string, seq int64, now time.Time) []chats.Turn {
	t := chats.Turn{
		Author: chats.Agent, Kind: chats.KindText, Text: strings.TrimSpace(a.text.String()), ClientID: replyID(seq), At: now,
		Extra: chats.Extra{Name: name, Sources: a.sources, Choices: a.choices},
	}
	if len(a.choices) > 0 {
		t.Kind = chats.KindChoices
	}
	if t.Text == "" && len(a.choices) == 0 {
		return nil
	}
	return []chats.Turn{t}
}

// takeOver makes this node give the replies that were due before the given time.
func (s *replies) takeOver(ctx context.Context, before time.Time) error {
	overdue, err := s.store.Chats.Unreplied(ctx, before, maxSweep)
	if err != nil {
		return err
	}
	var failed []error // one failure must not hold up the rest
	for _, c := range overdue {
		failed = append(failed, s.takeOverReply(ctx, c))
	}
	return errors.Join(failed...)
}

// takeOverReply makes this node give a reply, unless another node has taken it over.
func (s *replies) takeOverReply(ctx context.Context, c *chats.Conversation) error {
	now := s.now()
	_, err := s.change(ctx, c.CompanyID, c.ID, "", func(have *chats.Conversation) ([]chats.Turn, error) {
		if !have.ReplyAt.Equal(c.ReplyAt) {
			return nil, errOvertaken
		}
		have.ReplyAt = now
		return nil, nil
	})
	if errors.Is(err, errOvertaken) {
		return nil
	}
	if err == nil {
		s.reply(c.CompanyID, c.ID)
	}
	return err
}
