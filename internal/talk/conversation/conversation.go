// Package conversation holds conversations with people: who says what in which order, who answers, and the way from the
// agent to a teammate and back.
//
//	bot ──▶ queued ──▶ active ──▶ wrap_up ──▶ resolved
//	 │         ├──▶ missed ─────▲                │
//	 ├─────────┼──▶ abandoned   │                │
//	 ├─────────┴────────────────┘                │
//	 └◀──────────────────────────────────────────┘ the contact writes again
//
// In bot the agent answers. The contact, or the agent, asks for a teammate: queued; missed where none is there or comes in
// time, abandoned where the contact leaves first. A teammate takes it, from any state: active. The contact ends it: wrap_up,
// in which the teammate finishes; a teammate resolves it. Every change is one commit, in which the state is checked again, so
// that of two teammates one wins.
//
// It does not know how a turn comes in or goes out (widget, panel), nor what the agent thinks (agent).
package conversation

import (
	"context"
	"log/slog"
	"time"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/base/cache"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/base/share"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/store/events"
	"carillon/internal/store/questions"
	"carillon/internal/store/runs"
	"carillon/internal/talk/flow"
)

const (
	// MaxText is how many characters a turn has at most.
	MaxText = 4000
	// maxTurns bounds a conversation.
	maxTurns = 20_000
	// keepResolved is how long a contact who returns finds a resolved conversation.
	keepResolved = 90 * 24 * time.Hour
)

// Agents finds what answers.
type Agents interface {
	// TalkingAgent returns a company's agent, and the company's name. Errors: not_found.
	TalkingAgent(ctx context.Context, companyID, id string) (a *agent.Agent, companyName string, err error)
}

// Publisher passes events that are not stored to the screens that follow a topic on this node.
type Publisher interface {
	Publish(events ...*events.Event)
}

// Observer is called for what was stored, for metrics.
type Observer interface {
	// Opened is called for a conversation that was begun, Moved for one that came into another state, which it left after a time.
	Opened(state chats.State)
	Moved(from, to chats.State, after time.Duration)
	// Turned is called for each turn that somebody said. replied is how long after the contact asked it answers them; 0: it does not.
	Turned(author chats.Author, replied time.Duration)
	// Ran is called for a run of a flow that began (Ready), or ended as the state says.
	Ran(state flow.State)
}

type nobody struct{}

func (nobody) Opened(chats.State)                            {}
func (nobody) Moved(chats.State, chats.State, time.Duration) {}
func (nobody) Turned(chats.Author, time.Duration)            {}
func (nobody) Ran(flow.State)                                {}

// Options configure Conversations; all are required but Flows, Effects, Suspended and Questions.
type Options struct {
	Store     *store.Store
	Agents    Agents
	Thinker   agent.Thinker
	Publisher Publisher
	Log       *slog.Logger
	// Flows and Effects run flows; nil: there are none.
	Flows   Flows
	Effects Effects
	Runs    *runs.Store
	// Suspended reports whether a company is suspended, for which neither agents nor flows speak; nil: none is.
	Suspended func(ctx context.Context, companyID string) (bool, error)
	Questions *questions.Store // keeps those that agents had no answer to; nil: they are not kept
	Observer  Observer         // default: nobody
	// MissedAfter is how long a contact waits for a teammate; default 5 minutes.
	MissedAfter time.Duration
	Now         func() time.Time // default time.Now
	Shares      *share.Set       // nil: shares of its own
	// Alone says that no other node has this database: what waits for a reply at the start was left by a stop.
	Alone bool
	Node  string // this node's id in the table of nodes
}

// Conversations holds the conversations of all companies. Make it with New; Run does its background work.
type Conversations struct {
	*core
	*Screens
	Desk       *Desk
	Attendance *Attendance
	replies    *replies
	Runner     *Runner
}

// core stores changes of conversations.
type core struct {
	o     Options
	store *store.Store
	spoke func() // the company has said something in a conversation whose channel sends it
}

// New builds Conversations.
func New(o Options) *Conversations {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.MissedAfter == 0 {
		o.MissedAfter = 5 * time.Minute
	}
	if o.Observer == nil {
		o.Observer = nobody{}
	}
	if o.Suspended == nil {
		o.Suspended = func(context.Context, string) (bool, error) { return false, nil }
	}
	c := &core{o: o, store: o.Store, spoke: func() {}}
	screens := &Screens{publisher: o.Publisher, clock: c.now}
	runner := &Runner{core: c, programs: cache.Sized(programs, sizeOf, programTimeout)}
	runner.rounds = newRounds(runner)
	replies := &replies{
		core: c, runner: runner, screens: screens, jobs: make(chan job, maxJobs), left: make(chan struct{}, 1),
		places: o.Shares.Of(share.AgentReplies), queue: o.Shares.Of(share.ReplyQueue),
		underWay: map[string]*replying{}, queued: map[string]bool{},
	}
	runner.answer = replies.reply
	return &Conversations{
		core: c, Screens: screens, Desk: &Desk{core: c, replies: replies},
		Attendance: &Attendance{core: c, attended: map[teammate]*attended{}}, Runner: runner, replies: replies,
	}
}

// OnSpoke sets what is called when the company has said something in a conversation whose channel sends it.
func (s *core) OnSpoke(spoke func()) { s.spoke = spoke }

// now is the time as the database holds it.
func (s *core) now() time.Time { return s.o.Now().Truncate(time.Millisecond).UTC() }

// Start is what a contact comes with.
type Start struct {
	Contact  chats.Contact       // company, widget, visitor id, whether it is verified; name, e-mail, language where they are known
	Known    []identity.Identity // instead of widget and visitor id: see chats.Open, also of Became and Shared
	Became   []identity.Identity
	Shared   string
	Channel  string
	AgentID  string // "": a teammate answers, or a flow
	Language string
	Page     string
	Anew     bool // the contact wants a new conversation; the one before must be resolved
	Always   bool // a new one whatever there is
}

// Open returns the contact's conversation, the one before where it goes on.
func (s *Conversations) Open(ctx context.Context, in Start) (*chats.Conversation, *chats.Contact, error) {
	now := s.now()
	in.Contact.ID = carillon.NewID(now)
	o := &chats.Open{
		Contact: in.Contact, Known: in.Known, Became: in.Became, Shared: in.Shared,
		Anew: in.Anew, Always: in.Always, Keep: keepResolved, Now: now,
		Conversation: chats.Conversation{
			ID: carillon.NewID(now), Channel: in.Channel, WidgetID: in.Contact.WidgetID, AgentID: in.AgentID,
			State: stateOfNew(in.Channel, in.AgentID), Language: in.Language, Page: in.Page,
		},
	}
	if err := s.store.Chats.Open(context.WithoutCancel(ctx), o); err != nil {
		return nil, nil, err
	}
	if o.Made {
		s.o.Observer.Opened(o.Conversation.State)
	}
	if o.Conversation.LastSeq == 0 { // a node that made it may have died before its flow began
		begun, err := s.Runner.opened(ctx, &o.Conversation)
		if err != nil {
			s.o.Log.WarnContext(ctx, "begin the flow of a widget", "company", o.Conversation.CompanyID, "conversation",
				o.Conversation.ID, "error", err)
		}
		if begun && !spoken(&o.Conversation) {
			s.replies.reply(o.Conversation.CompanyID, o.Conversation.ID)
		}
	}
	return &o.Conversation, &o.Contact, nil
}

// Said is what somebody says.
type Said struct {
	ClientID string
	Kind     string // text, choice or file
	Text     string
	File     *chats.File
	Voice    *chats.Voice // it was said aloud
	Digits   string       // it was said by these keys
	Early    bool         // before the response to what was said before was heard
	Bound    *chats.Bound // it replies to a notification with a name_event
	Of       int64        // the turn that it answers, where the contact picked one
	About    string       // the beginning of the message that it answers
	Quiet    bool         // nobody is to reply
	Name     string       // of the contact who says it, in a group
	Enclosed provider.Enclosed
}

func (in *Said) turn(author chats.Author, now time.Time) chats.Turn {
	return chats.Turn{Author: author, Kind: in.Kind, ClientID: ownID(author, in.ClientID), Text: in.Text, At: now, Extra: chats.Extra{
		File: in.File, Voice: in.Voice, Digits: in.Digits, Early: in.Early, Bound: in.Bound, Of: in.Of, About: in.About,
		Name: in.Name, Enclosed: in.Enclosed,
	}}
}

// ownID is a client id as it is stored: what authors make up never meets.
func ownID(author chats.Author, clientID string) string {
	if clientID == "" {
		return ""
	}
	return string(author) + ":" + clientID
}

// Say appends what the contact says. Said again with the same client id it returns the first turn. Errors: not_found,
// limit_exceeded.
func (s *Conversations) Say(ctx context.Context, companyID, id string, in Said) (*chats.Turn, *chats.Conversation, error) {
	turn, c, err := s.say(ctx, companyID, id, in)
	if err == nil && c.ReplySeq > 0 {
		s.replies.reply(companyID, id)
	}
	return turn, c, err
}

// say appends what the contact says and marks that the agent is to reply.
func (s *core) say(ctx context.Context, companyID, id string, in Said) (*chats.Turn, *chats.Conversation, error) {
	now := s.now()
	return s.append(ctx, companyID, id, ownID(chats.Visitor, in.ClientID), func(c *chats.Conversation) ([]chats.Turn, error) {
		if err := full(c); err != nil {
			return nil, err
		}
		turns := []chats.Turn{in.turn(chats.Visitor, now)}
		switch c.State {
		case chats.Resolved, chats.Abandoned:
			turns = append([]chats.Turn{event(Reopened, "", now)}, turns...)
			c.Assignee = ""
			c.SetState(stateOfNew(c.Channel, c.AgentID), now)
		case chats.WrapUp:
			c.SetState(chats.Active, now)
		case chats.Missed:
			if in.Bound != nil { // nobody took what was said before; this is for a flow
				c.SetState(chats.Automated, now)
			}
		default:
		}
		if c.State == chats.Automated && !in.Quiet {
			c.ReplySeq, c.ReplyAt = c.LastSeq+int64(len(turns)), now
		}
		return turns, nil
	})
}

// stateOfNew is the state in which a conversation begins: on WhatsApp a flow may answer where no agent does.
func stateOfNew(channel, agentID string) chats.State {
	if agentID == "" && channel != "whatsapp" {
		return chats.Missed
	}
	return chats.Automated
}

// append stores a change that appends a turn with a client id, and returns that turn, or the one it repeats.
func (s *core) append(
	ctx context.Context, companyID, id, clientID string, edit func(c *chats.Conversation) ([]chats.Turn, error),
) (*chats.Turn, *chats.Conversation, error) {
	change, err := s.change(ctx, companyID, id, clientID, edit)
	if err != nil {
		return nil, nil, err
	}
	if change.Repeated != nil {
		return change.Repeated, change.Conversation, nil
	}
	for i := range change.Turns {
		if t := &change.Turns[i]; t.ClientID == clientID {
			return t, change.Conversation, nil
		}
	}
	return nil, change.Conversation, nil
}

// change stores an edit of a conversation. A caller who leaves does not interrupt it.
func (s *core) change(
	ctx context.Context, companyID, id, clientID string, edit func(c *chats.Conversation) ([]chats.Turn, error),
) (*chats.Change, error) {
	var before chats.Conversation
	c := &chats.Change{CompanyID: companyID, ConversationID: id, ClientID: clientID,
		Edit: func(c *chats.Conversation) ([]chats.Turn, error) {
			before = *c
			return edit(c)
		}}
	return c, s.do(ctx, c, &before)
}

// changeRun stores an edit of a conversation together with its flow run. Errors: chats.ErrOvertaken.
func (s *core) changeRun(
	ctx context.Context, companyID, id, clientID string, run *runs.Write, edit func(c *chats.Conversation) ([]chats.Turn, error),
) (*chats.Change, error) {
	var before chats.Conversation
	c := &chats.Change{CompanyID: companyID, ConversationID: id, ClientID: clientID, Run: run,
		Edit: func(c *chats.Conversation) ([]chats.Turn, error) {
			before = *c
			return edit(c)
		}}
	return c, s.do(ctx, c, &before)
}

func (s *core) do(ctx context.Context, c *chats.Change, before *chats.Conversation) error {
	err := s.store.Chats.Do(context.WithoutCancel(ctx), c)
	if err == nil && c.Repeated == nil {
		s.observe(before, c)
		if c.Ran != nil {
			s.ran(c.Ran)
		}
	}
	return err
}

// observe passes on what a change brought.
func (s *core) observe(before *chats.Conversation, c *chats.Change) {
	if after := c.Conversation; after.State != before.State {
		s.o.Observer.Moved(before.State, after.State, after.StateAt.Sub(before.StateAt))
	}
	asked := before.AskedAt
	spoke := false
	for i := range c.Turns {
		t := &c.Turns[i]
		if t.Kind == chats.KindEvent || t.Note {
			continue
		}
		spoke = spoke || t.Author != chats.Visitor
		replied := time.Duration(0)
		if t.Author != chats.Visitor && !asked.IsZero() {
			replied, asked = max(t.At.Sub(asked), time.Millisecond), time.Time{}
		}
		s.o.Observer.Turned(t.Author, replied)
	}
	if spoke && c.Conversation.Channel == "whatsapp" {
		s.spoke()
	}
}

// full refuses what people add to a conversation that has too many turns. Replies, handoffs and its end are still possible.
func full(c *chats.Conversation) error {
	if c.LastSeq < maxTurns {
		return nil
	}
	return &carillon.Error{Code: carillon.LimitExceeded, Message: "The conversation has too many turns", Details: carillon.Details{
		{Key: "limit", Value: maxTurns}, {Key: "used", Value: c.LastSeq},
	}}
}

// Seen records up to where the contact has read.
func (s *Conversations) Seen(ctx context.Context, companyID, id string, seq int64) error {
	_, err := s.change(ctx, companyID, id, "", func(c *chats.Conversation) ([]chats.Turn, error) {
		c.SeenSeq = max(c.SeenSeq, min(seq, c.LastSeq))
		return nil, nil
	})
	return err
}

// Leave ends the conversation for the contact: what a teammate has is left to finish, a place in the queue is given up.
func (s *Conversations) Leave(ctx context.Context, companyID, id string) (*chats.Conversation, error) {
	now := s.now()
	s.replies.interrupt(id)
	c, err := s.change(ctx, companyID, id, "", func(c *chats.Conversation) ([]chats.Turn, error) {
		to := chats.Resolved
		switch c.State {
		case chats.Resolved, chats.WrapUp, chats.Abandoned:
			return nil, nil
		case chats.Missed:
			if c.Channel == "phone" { // who hangs up still wants an answer
				return nil, nil
			}
		case chats.Active:
			to = chats.WrapUp
		case chats.Queued:
			to = chats.Abandoned
		default:
		}
		c.SetState(to, now)
		c.ReplySeq, c.ReplyAt = 0, time.Time{}
		return []chats.Turn{event(Left, "", now)}, nil
	})
	return c.Conversation, err
}

// Rate records how the contact found the conversation; a later rating replaces it.
func (s *Conversations) Rate(ctx context.Context, companyID, id string, rating int, comment string) error {
	now := s.now()
	_, err := s.change(ctx, companyID, id, "", func(c *chats.Conversation) ([]chats.Turn, error) {
		if err := full(c); err != nil {
			return nil, err
		}
		c.Rating, c.Comment = rating, comment
		t := event(Rated, comment, now)
		t.Extra.Rating = rating
		return []chats.Turn{t}, nil
	})
	return err
}

// Introduce records the name and the e-mail address that a contact left.
func (s *Conversations) Introduce(ctx context.Context, companyID, id, name, email string) error {
	c, err := s.store.Chats.Find(ctx, companyID, id)
	if err != nil {
		return err
	}
	if err := full(c); err != nil {
		return err
	}
	if err := s.store.Contacts.SetContact(ctx, companyID, c.ContactID, name, email); err != nil {
		return err
	}
	now := s.now()
	_, err = s.change(ctx, companyID, id, "", func(*chats.Conversation) ([]chats.Turn, error) {
		return []chats.Turn{event(Introduced, "", now)}, nil
	})
	return err
}
