package voice

import (
	"context"

	"carillon/internal/agent"
	"carillon/internal/store/chats"
)

// Dialogue keeps the conversations that are held aloud, and has agents respond in them. Its methods are safe for concurrent use.
type Dialogue interface {
	// Begin returns the state in which a talk in a conversation begins. Errors: not_found.
	Begin(ctx context.Context, companyID, id string) (*Talk, error)
	// State returns where a conversation stands, and its place in the queue. It is a sign of life of its contact.
	State(ctx context.Context, companyID, id string) (c *chats.Conversation, position int, err error)
	// Pending returns the question or effect that a conversation waits for, or nil.
	Pending(ctx context.Context, companyID, id string) (*Pending, error)
	// Say stores what the person said.
	Say(ctx context.Context, companyID, id string, in Saying) (*chats.Turn, error)
	// Respond has the agent respond to the person's last words. emit gets each action as it is known; the turn is the stored
	// response. It is nil if nothing was stored: somebody else responds, or the agent only handed over.
	Respond(ctx context.Context, companyID, id string, use ToolUser, emit func(agent.Action) error) (*chats.Turn, error)
	// Announce stores words of the agent that answer nothing. excuse: they replace the response that the person waits for.
	Announce(ctx context.Context, companyID, id string, in Saying, excuse bool) (*chats.Turn, error)
	// Answer stores a teammate's spoken words.
	Answer(ctx context.Context, t Teammate, in Saying) (*chats.Turn, error)
	// Spoke records how a turn was said.
	Spoke(ctx context.Context, companyID, id string, seq int64, v chats.Voice) error
	// Leave ends the conversation for the person.
	Leave(ctx context.Context, companyID, id string) error
}

// ToolUser runs a tool of the page and returns its result. Its error is for the agent to read.
type ToolUser func(ctx context.Context, name, parameters string) (result string, err error)

// Talk is the state in which a talk begins.
type Talk struct {
	Conversation *chats.Conversation
	Agent        *agent.Agent // nil: a teammate answers
	CompanyName  string
	ContactName  string
	Pending      *Pending // that is waited for, or nil
}

// Pending is something that a conversation waits for: the answer to a question of a flow or the agent, or an effect of a flow.
type Pending struct {
	Question string // "" if none was asked
	Choices  []string
	Number   bool // a number is asked for, which keys can say
	Busy     bool // the flow waits for something else than the person, and continues without them
}

// Saying is something that is said.
type Saying struct {
	ClientID string
	Kind     string // text, choice or choices
	Text     string
	Choices  []string
	Voice    *chats.Voice // nil: it was typed
	Digits   string       // the keys by which it was said
	Early    bool         // said before the person heard the response to their previous words
	Quiet    bool         // gets no response
	Asks     string       // result of the agent that this asks for; "" for none
}
