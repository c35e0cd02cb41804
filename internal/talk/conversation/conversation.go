// Package conversation manages conversations with people: the order of turns, who answers, and the handoff from the
// agent to a teammate and back.
//
//	bot ──▶ queued ──▶ active ──▶ wrap_up ──▶ resolved
//	 │         ├──▶ missed ─────▲                │
//	 ├─────────┼──▶ abandoned   │                │
//	 ├─────────┴────────────────┘                │
//	 └◀──────────────────────────────────────────┘ the contact writes again
//
// In bot the agent answers. When the contact or the agent asks for a teammate, the conversation is queued. It becomes
// missed if no teammate is present or none comes in time, and abandoned if the contact leaves first. It becomes active
// when a teammate takes it, which is possible in any state, or when the team writes in the channel's own app; then nobody
// has it, and it is missed when the contact writes again. When the contact ends it, it is in wrap_up until the
// teammate resolves it. Every change is one commit that checks the state again, so that only one of two competing
// teammates wins.
//
// The package does not handle input and output of turns (widget, panel) or the agent's decisions (agent).
package conversation

import (
	"context"
	"log/slog"
	"time"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/agent/review"
	"carillon/internal/base/cache"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/base/share"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/store/events"
	"carillon/internal/talk/flow"
)

const (
	// MaxText is the maximum number of characters of a turn.
	MaxText = 4000
	// maxTurns bounds a conversation.
	maxTurns = 20_000
	// keepResolved is the time that a resolved conversation stays available to a returning contact.
	keepResolved = 90 * 24 * time.Hour
)

// Agents finds the agents that answer in conversations.
type Agents interface {
	// TalkingAgent returns a company's agent and the company's name. Errors: not_found.
	TalkingAgent(ctx context.Context, companyID, id string) (a *agent.Agent, companyName string, err error)
}

// Publisher sends events that are not stored to the screens that follow a topic on this node.
type Publisher interface {
	Publish(events ...*events.Event)
}

// Observer is called for stored changes. It feeds metrics.
type Observer interface {
	// Opened is called for a new conversation, Moved for a change of state, with the time spent in the old state.
	Opened(state chats.State)
	Moved(from, to chats.State, after time.Duration)
	// Turned is called for each turn of a person, agent or teammate. replied is the time since the contact's message
	// that it answers, or 0 if it answers none.
	Turned(author chats.Author, replied time.Duration)
	// Ran is called when a run of a flow begins (Ready) or ends in the given state.
	Ran(state flow.State)
	// Reviewed is called for each review, with its maker and the verdict about the goal; failed means that the engine
	// made none.
	Reviewed(maker, goal string, failed bool)
}

type nobody struct{}

func (nobody) Opened(chats.State)                            {}
func (nobody) Moved(chats.State, chats.State, time.Duration) {}
func (nobody) Turned(chats.Author, time.Duration)            {}
func (nobody) Ran(flow.State)                                {}
func (nobody) Reviewed(string, string, bool)                 {}

// Options configure Conversations. All fields are required except Toolbox, Flows, Effects, Suspended, Reviewer, Questions and
// those with a default.
type Options struct {
	Store     *store.Store
	Agents    Agents
	Thinker   agent.Thinker
	Toolbox   agent.Toolbox // nil means that agents have no tools at servers
	Publisher Publisher
	Log       *slog.Logger
	// Flows and Effects run flows; nil disables them.
	Flows   Flows
	Effects Effects
	Runs    *chats.Runs
	// Suspended reports whether a company is suspended: its agents and flows do not respond. nil: no company is.
	Suspended func(ctx context.Context, companyID string) (bool, error)
	Reviewer  review.Engine    // makes reviews for agents with an engine; nil means that rules make all
	Questions *chats.Questions // keeps the questions that agents could not answer; nil means they are not kept
	Observer  Observer         // default: no-op
	// MissedAfter is the maximum time that a contact waits for a teammate; default 5 minutes.
	MissedAfter time.Duration
	Now         func() time.Time // default time.Now
	Shares      *share.Set       // nil: a new set
	// Mails means that replies of teammates go by e-mail to contacts who left (package notice).
	Mails bool
	// Alone means that no other node uses this database: replies pending at the start were left by a previous process.
	Alone bool
	Node  string // ID of this node in the table of nodes
}

// Conversations manages the conversations of all companies. New builds it; Run does its background work.
type Conversations struct {
	*core
	*Screens
	Desk       *Desk
	Attendance *Attendance
	replies    *replies
	Runner     *Runner
	reviews    *reviews
}

// core stores changes of conversations.
type core struct {
	o     Options
	store *store.Store
	spoke func() // called when the company said something in a conversation whose channel must deliver it
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
		inProgress: map[string]*replying{}, queued: map[string]bool{},
	}
	runner.answer = replies.reply
	return &Conversations{
		core: c, Screens: screens, Desk: &Desk{core: c, replies: replies},
		Attendance: &Attendance{core: c, attended: map[teammate]*attended{}}, Runner: runner, replies: replies,
		reviews: newReviews(c),
	}
}

// OnSpoke sets the callback for turns of the company in conversations whose channel must deliver them.
func (s *core) OnSpoke(spoke func()) { s.spoke = spoke }

// now returns the current time at the precision of the database.
func (s *core) now() time.Time { return s.o.Now().Truncate(time.Millisecond).UTC() }

// Start describes a contact who opens a conversation.
type Start struct {
	Contact  chats.Contact       // company, widget, visitor ID, verified or not; name, e-mail and language if known
	Known    []identity.Identity // replaces widget and visitor ID; see chats.Open, also for Became and Shared
	Became   []identity.Identity
	Shared   string
	At       time.Time // of the message; see chats.Open
	Channel  string
	AgentID  string // empty: a teammate or a flow answers
	Language string
	Page     string
	Anew     bool // the contact wants a new conversation; the previous one must be resolved
	Always   bool // always open a new one
}

// Open returns the contact's conversation: the previous one if it continues, otherwise a new one.
func (s *Conversations) Open(ctx context.Context, in Start) (*chats.Conversation, *chats.Contact, error) {
	now := s.now()
	in.Contact.ID = carillon.NewID(now)
	o := &chats.Open{
		Contact: in.Contact, Known: in.Known, Became: in.Became, Shared: in.Shared, At: in.At,
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
	if o.Conversation.LastSeq == 0 { // new, or the node that created it died before its flow began
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

// Said is the content of a turn.
type Said struct {
	ClientID string
	Kind     string // text, choice or file
	Text     string
	File     *chats.File
	Voice    *chats.Voice // nil unless spoken
	Digits   string       // keys pressed, if entered by telephone keypad
	Early    bool         // said before the previous response was played
	Bound    *chats.Bound // replies to a notification with a name_event
	Of       int64        // turn that the contact replies to, if they picked one
	About    string       // beginning of the message that it replies to
	Quiet    bool         // no reply is needed
	ChoiceID string       // of an application's button or row
	// AskNumber asks the contact for their number, over a messaging channel.
	AskNumber bool
	// AskCalls asks the contact to allow calls, over a messaging channel.
	AskCalls bool
	Name     string // author's name, in a group
	Enclosed provider.Enclosed
}

func (in *Said) turn(author chats.Author, now time.Time) chats.Turn {
	return chats.Turn{Author: author, Kind: in.Kind, ClientID: ownID(author, in.ClientID), Text: in.Text, At: now, Extra: chats.Extra{
		File: in.File, Voice: in.Voice, Digits: in.Digits, Early: in.Early, Bound: in.Bound, Of: in.Of, About: in.About,
		Name: in.Name, ChoiceID: in.ChoiceID, Enclosed: in.Enclosed, AskNumber: in.AskNumber, AskCalls: in.AskCalls,
	}}
}

// ownID prefixes a client ID with its author, so that IDs of different authors cannot collide.
func ownID(author chats.Author, clientID string) string {
	if clientID == "" {
		return ""
	}
	return string(author) + ":" + clientID
}

// Say appends a turn of the contact. A repeated client ID returns the first turn. Errors: not_found, limit_exceeded.
func (s *Conversations) Say(ctx context.Context, companyID, id string, in Said) (*chats.Turn, *chats.Conversation, error) {
	turn, c, err := s.say(ctx, companyID, id, in)
	if err == nil && c.ReplySeq > 0 {
		s.replies.reply(companyID, id)
	}
	return turn, c, err
}

// say appends a turn of the contact and marks the conversation as waiting for a reply.
func (s *core) say(ctx context.Context, companyID, id string, in Said) (*chats.Turn, *chats.Conversation, error) {
	now := s.now()
	return s.append(ctx, companyID, id, ownID(chats.Visitor, in.ClientID), func(c *chats.Conversation) ([]chats.Turn, error) {
		if err := full(c); err != nil {
			return nil, err
		}
		turns := []chats.Turn{in.turn(chats.Visitor, now)}
		if in.Text != "" && !agent.SmallTalk(in.Text) {
			c.Question = chats.Preview(in.Text)
		}
		switch c.State {
		case chats.Resolved, chats.Abandoned:
			turns = append([]chats.Turn{event(Reopened, "", now)}, turns...)
			c.Assignee = ""
			c.SetState(stateOfNew(c.Channel, c.AgentID), now)
		case chats.WrapUp:
			c.SetState(chats.Active, now)
		case chats.Active:
			if c.Assignee == "" { // the team answered in the channel's own app: nobody has it
				c.SetState(chats.Missed, now)
			}
		case chats.Missed:
			if c.VisitorSeq == 0 { // where no agent answers, the wait begins with the first message
				c.WaitingAt, c.NoticeAt = now, now
			}
			if in.Bound != nil { // nobody took the earlier messages; this one is for a flow
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

// stateOfNew returns the initial state of a conversation. On WhatsApp a flow may answer even if there is no agent.
func stateOfNew(channel, agentID string) chats.State {
	if agentID == "" && channel != "whatsapp" {
		return chats.Missed
	}
	return chats.Automated
}

// append stores a change that adds a turn with a client ID. It returns that turn, or the earlier one with the same
// client ID.
func (s *core) append(
	ctx context.Context, companyID, id, clientID string, edit func(c *chats.Conversation) ([]chats.Turn, error),
) (*chats.Turn, *chats.Conversation, error) {
	change, err := s.change(ctx, companyID, id, clientID, edit)
	return appended(change, err)
}

// appended returns the turn with the client ID of a stored change, or the earlier one with the same client ID.
func appended(change *chats.Change, err error) (*chats.Turn, *chats.Conversation, error) {
	if err != nil {
		return nil, nil, err
	}
	if change.Repeated != nil {
		return change.Repeated, change.Conversation, nil
	}
	for i := range change.Turns {
		if t := &change.Turns[i]; t.ClientID == change.ClientID {
			return t, change.Conversation, nil
		}
	}
	return nil, change.Conversation, nil
}

// change stores an edit of a conversation. It completes even if the caller's context is canceled.
func (s *core) change(
	ctx context.Context, companyID, id, clientID string, edit func(c *chats.Conversation) ([]chats.Turn, error),
) (*chats.Change, error) {
	var before chats.Conversation
	c := &chats.Change{
		CompanyID: companyID, ConversationID: id, ClientID: clientID,
		Edit: func(c *chats.Conversation) ([]chats.Turn, error) {
			before = *c
			return edit(c)
		},
	}
	return c, s.do(ctx, c, &before)
}

// changeCounted stores an edit of a conversation, and counts the result of the agent's response in its turns; nil for none.
func (s *core) changeCounted(
	ctx context.Context, c *chats.Conversation, clientID string, result *chats.Result,
	edit func(c *chats.Conversation) ([]chats.Turn, error),
) (*chats.Change, error) {
	var before chats.Conversation
	change := &chats.Change{
		CompanyID: c.CompanyID, ConversationID: c.ID, ClientID: clientID, Result: result,
		Edit: func(c *chats.Conversation) ([]chats.Turn, error) {
			before = *c
			return edit(c)
		},
	}
	return change, s.do(ctx, change, &before)
}

// changeRun stores an edit of a conversation together with its flow run. Errors: chats.ErrOvertaken.
func (s *core) changeRun(
	ctx context.Context, companyID, id, clientID string, run *chats.RunWrite, edit func(c *chats.Conversation) ([]chats.Turn, error),
) (*chats.Change, error) {
	var before chats.Conversation
	c := &chats.Change{
		CompanyID: companyID, ConversationID: id, ClientID: clientID, Run: run,
		Edit: func(c *chats.Conversation) ([]chats.Turn, error) {
			before = *c
			return edit(c)
		},
	}
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

// observe reports a stored change to the observer and to the OnSpoke callback.
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

// full refuses contributions of people to a conversation with too many turns. Replies, handoffs and its end remain
// possible.
func full(c *chats.Conversation) error {
	if c.LastSeq < maxTurns {
		return nil
	}
	return &carillon.Error{Code: carillon.LimitExceeded, Message: "The conversation has too many turns", Details: carillon.Details{
		{Key: "limit", Value: maxTurns}, {Key: "used", Value: c.LastSeq},
	}}
}

// Seen records the last turn that the contact has read.
func (s *Conversations) Seen(ctx context.Context, companyID, id string, seq int64) error {
	_, err := s.change(ctx, companyID, id, "", func(c *chats.Conversation) ([]chats.Turn, error) {
		c.SeenSeq = max(c.SeenSeq, min(seq, c.LastSeq))
		return nil, nil
	})
	return err
}

// Leave ends the conversation for the contact. A teammate's conversation goes to wrap-up; a place in the queue is
// given up.
func (s *Conversations) Leave(ctx context.Context, companyID, id string) (*chats.Conversation, error) {
	now := s.now()
	s.replies.interrupt(id)
	c, err := s.change(ctx, companyID, id, "", func(c *chats.Conversation) ([]chats.Turn, error) {
		to := chats.Resolved
		switch c.State {
		case chats.Resolved, chats.WrapUp, chats.Abandoned:
			return nil, nil
		case chats.Missed:
			if c.Channel == "phone" { // a caller who hangs up still wants an answer
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

// Rate records the contact's rating of the conversation; a later rating replaces it.
func (s *Conversations) Rate(ctx context.Context, companyID, id string, rating int, comment string) error {
	now := s.now()
	_, err := s.change(ctx, companyID, id, "", func(c *chats.Conversation) ([]chats.Turn, error) {
		if err := full(c); err != nil {
			return nil, err
		}
		c.Rating, c.Comment, c.RatedAt = rating, comment, now
		t := event(Rated, comment, now)
		t.Extra.Rating = rating
		return []chats.Turn{t}, nil
	})
	return err
}

// Introduce records the name and e-mail address that a contact left.
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
