package voice

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/base/share"
	"carillon/internal/event/realtime"
	"carillon/internal/store/chats"
)

// Topics lets a session follow the turns that others add to its conversation. *realtime.Hub implements it.
type Topics interface {
	Subscribe(companyID, name string, after int64) (*realtime.Subscription, error)
}

// Observer counts events, for metrics.
type Observer interface {
	// Talking is called with 1 at the beginning of a session and with -1 at its end.
	Talking(change int)
	// Took is called for each step of a turn: detect, transcribe, think, first_audio, and silence (from speech over
	// our words to their end).
	Took(step string, d time.Duration)
	// Failed is called when a service fails: speaker, transcriber or engine.
	Failed(what string)
}

type nobody struct{}

func (nobody) Talking(int)                {}
func (nobody) Took(string, time.Duration) {}
func (nobody) Failed(string)              {}

// Options configure Sessions. All are required except Nodes, Relay, Observer and Shares.
type Options struct {
	Dialogue     Dialogue
	Topics       Topics
	Speakers     map[string]Speaker     // by agent.Voice.Speaker, including Fallback
	Transcribers map[string]Transcriber // by agent.Voice.Transcriber; "none" has none
	Fallback     string                 // speaker that replaces a failing one
	Detector     func(rate int) Detector
	Nodes        Nodes          // nil: a single node
	Relay        realtime.Relay // carries sound between nodes while it is active; may be nil
	Log          *slog.Logger
	Observer     Observer   // default: no-op
	Shares       *share.Set // limit the sessions of this node except Counted ones; nil means a new set
}

// Sessions manages the voice sessions of this node.
type Sessions struct {
	o     Options
	wires *wires
	id    string // of this node, in parcels
	mu    sync.Mutex
	live  map[talkKey]*Session

	places *share.Share
}

type talkKey struct{ companyID, conversationID string }

// NewSessions returns Sessions without any session.
func NewSessions(o Options) *Sessions {
	if o.Observer == nil {
		o.Observer = nobody{}
	}
	return &Sessions{
		o: o, places: o.Shares.Of(share.Talks), id: carillon.NewID(time.Now()),
		wires: &wires{nodes: o.Nodes, relay: o.Relay, ends: map[string]*wire{}}, live: map[talkKey]*Session{},
	}
}

// Start describes a new voice session.
type Start struct {
	CompanyID, ConversationID string
	Client                    string      // network of the person's address; empty if unknown
	Line                      Line        // nil: the person only types
	Show                      func(Event) // updates the person's screen; never blocks
	Greeting                  string      // default: the agent's
	NoGreeting                bool        // we are silent until the person speaks
	Opening                   string      // said before the greeting, as a part of it
	// Asks is the agent's result that the greeting asks for; empty for that of the greeting's own question.
	Asks        string
	Language    string            // default: the conversation's
	Variables   map[string]string // values for the greeting: {{name}}
	ClientTools bool              // the page runs client tools
	// Stop is called when the person asks for no more calls, by words or with the key 9; nil means the request has no
	// meaning here.
	Stop func(ctx context.Context) error
	// StopsMarketing means that Stop only ends marketing, because the person has not proved to own the number.
	StopsMarketing bool

	// Refuse stops and deletes the recording when the person refuses it, by words or with the key *; nil means that
	// nothing is recorded.
	Refuse func(ctx context.Context)

	// Browser transcribes instead of the agent's transcriber; nil means that the person's browser does not.
	Browser *Browser
	Voice   *agent.Voice // replaces the agent's; nil means the agent's
	// Transfer ends the session with TransferWanted if the person asks for that; nil means calls are not transferred.
	Transfer *agent.Transfer
	Anew     bool   // the person was not there before: the conversation begins again, with its greeting or open question
	Resume   string // said instead of the greeting by an agent that continues a conversation
	// Counted means that the opener limits the number of sessions before anybody is connected, so that an answered
	// call is not turned away.
	Counted bool
}

// TransferWanted is the end of a session whose person asked to be connected with the number in Start.Transfer.
const TransferWanted = "transfer"

// Open prepares a session, which Session.Run runs. An existing session of the conversation on any node is ended: its
// person returned before their absence was noticed. Errors: not_found, rate_limit_exceeded, service_unavailable.
func (s *Sessions) Open(ctx context.Context, start Start) (*Session, error) {
	talk, err := s.o.Dialogue.Begin(ctx, start.CompanyID, start.ConversationID)
	if err != nil {
		return nil, err
	}
	x := newSession(s, start, talk)
	if !start.Counted {
		x.place, err = s.places.Take(share.Holder{Company: start.CompanyID, Client: start.Client, Session: start.ConversationID})
		if err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replace(x.key())
	s.live[x.key()] = x
	if s.o.Nodes != nil {
		go s.opened(context.WithoutCancel(ctx), x.key())
	}
	return x, nil
}

// replace ends a conversation's session on this node. The caller holds mu, so it does not wait for that session.
func (s *Sessions) replace(key talkKey) {
	if before := s.live[key]; before != nil {
		go before.call(func(l *loop) { l.finish("replaced") })
	}
}

// closed removes an ended session.
func (s *Sessions) closed(x *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live[x.key()] == x {
		delete(s.live, x.key())
	}
	x.place.Release()
}

// Transcriber returns the transcriber of a voice, or nil if its speech is not understood.
func (s *Sessions) Transcriber(v *agent.Voice) Transcriber { return s.o.Transcribers[v.Transcriber] }

// Talking reports whether a conversation has a session on this node.
func (s *Sessions) Talking(companyID, conversationID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live[talkKey{companyID, conversationID}] != nil
}

// Session is one voice session. Run runs it; the other methods may be called from any goroutine.
type Session struct {
	all   *Sessions
	start Start
	talk  *Talk
	voice *agent.Voice
	words words
	calls chan func(*loop)
	done  chan struct{}
	place *share.Place
}

func newSession(all *Sessions, start Start, talk *Talk) *Session {
	x := &Session{
		all: all, start: start, talk: talk, voice: start.Voice,
		calls: make(chan func(*loop), 64), done: make(chan struct{}), place: new(share.Place),
	}
	if x.voice == nil && talk.Agent != nil {
		x.voice = talk.Agent.Voice
	}
	if x.voice == nil {
		x.voice = &agent.Voice{Speaker: all.o.Fallback, Transcriber: "none", Speed: 1, SilenceMS: 600}
	}
	x.words = wordsOf(x.language())
	return x
}

func (x *Session) key() talkKey { return talkKey{x.start.CompanyID, x.start.ConversationID} }

// language returns the language of the session.
func (x *Session) language() string {
	switch {
	case x.start.Language != "":
		return x.start.Language
	case x.talk.Conversation.Language != "":
		return x.talk.Conversation.Language
	case x.talk.Agent != nil:
		return x.talk.Agent.Language
	}
	return "en"
}

// call makes the loop run a function, unless the session has ended.
func (x *Session) call(f func(l *loop)) {
	select {
	case x.calls <- f:
	case <-x.done:
	}
}

// Run runs the session until it ends: the person hangs up or leaves, the agent or a teammate ends it, or ctx ends. Its
// last event is Ended, unless ctx ended or the person left.
func (x *Session) Run(ctx context.Context) error {
	defer close(x.done) // after the session is removed: a caller that waits for its end must not find it again
	defer x.all.closed(x)
	x.all.o.Observer.Talking(1)
	defer x.all.o.Observer.Talking(-1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	topic, err := x.all.o.Topics.Subscribe(x.start.CompanyID, chats.Topic(x.start.ConversationID), x.talk.Conversation.LastSeq)
	if err != nil {
		return err
	}
	defer topic.Close()
	l := newLoop(ctx, x)
	defer l.close()
	return Guard(func() error { return l.run(topic) })
}
