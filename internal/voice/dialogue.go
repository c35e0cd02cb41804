package voice

import (
	"context"

	"carillon/internal/agent"
	"carillon/internal/store/chats"
)

// Dialogue manages spoken conversations and lets agents respond in them. Its methods are safe for concurrent use.
type Dialogue interface {
	// Begin returns the initial state of a voice session in a conversation. Errors: not_found.
	Begin(ctx context.Context, companyID, id string) (*Talk, error)
	// State returns a conversation and its position in the queue. It counts as a sign of life of the contact.
	State(ctx context.Context, companyID, id string) (c *chats.Conversation, position int, err error)
	// Pending returns the question or effect that a conversation waits for, or nil.
	Pending(ctx context.Context, companyID, id string) (*Pending, error)
	// Say stores words of the person.
	Say(ctx context.Context, companyID, id string, in Saying) (*chats.Turn, error)
	// Respond lets the agent respond to the person's last words. emit receives each action as soon as it is known. The
	// returned turn is the stored response; it is nil if nothing was stored because somebody else responds or the
	// agent only handed over.
	Respond(ctx context.Context, companyID, id string, use ToolUser, emit func(agent.Action) error) (*chats.Turn, error)
	// Think requests a response to words that may be all that the person says. Nothing is stored. Respond uses the response
	// if the person's next words are these; otherwise it is dropped, at the end of ctx.
	Think(ctx context.Context, companyID, id, text string, use ToolUser)
	// Announce stores words of the agent that are not a response. excuse means that they replace the response that the
	// person waits for.
	Announce(ctx context.Context, companyID, id string, in Saying, excuse bool) (*chats.Turn, error)
	// Answer stores a teammate's spoken words.
	Answer(ctx context.Context, t Teammate, in Saying) (*chats.Turn, error)
	// Spoke records the timing of a spoken turn.
	Spoke(ctx context.Context, companyID, id string, seq int64, v chats.Voice) error
	// Leave ends the conversation for the person.
	Leave(ctx context.Context, companyID, id string) error
}

// ToolUser runs a tool of the page and returns its result. The agent reads its error.
type ToolUser func(ctx context.Context, name, parameters string) (result string, err error)

// Talk is the initial state of a voice session.
type Talk struct {
	Conversation *chats.Conversation
	Agent        *agent.Agent // nil: a teammate answers
	CompanyName  string
	ContactName  string
	Pending      *Pending // what the conversation waits for, or nil
}

// Pending is the open question of a flow or the agent, or the running effect of a flow.
type Pending struct {
	Question string // empty if there is no question
	Choices  []string
	Number   bool   // the question asks for a number, which can be entered by keys
	Digits   int    // of the number; 0 if unknown
	Accept   string // type of the answer, such as email, date or name; may be empty
	Busy     bool   // the flow waits for something other than the person, and continues without them
}

// Saying is the content of a turn.
type Saying struct {
	ClientID string
	Kind     string // text, choice or choices
	Text     string
	Choices  []string
	Voice    *chats.Voice // nil if typed
	Digits   string       // keys that were pressed
	Early    bool         // said before the response to the person's previous words was played
	Quiet    bool         // gets no response
	Asks     string       // the agent's result that this asks for; "" for none

	late *lateWords // nil unless the words may be corrected soon
}
