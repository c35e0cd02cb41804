package agent

import (
	"context"
	"time"

	"carillon/internal/agent/knowledge"
)

// Request is a request for a response: a conversation whose last turn is the contact's.
type Request struct {
	CompanyID      string
	CompanyName    string
	ConversationID string
	Agent          *Agent
	Language       string // BCP 47; language of the conversation
	ContactName    string
	Said           []Said // oldest first; the last is the contact's message
	// Asked is the name of the current unanswered question: a result, OffersPerson or OffersArticles. It may be empty.
	Asked string
	// Early means that the contact said the message before the question was asked. It may answer the question. If it
	// does not, the question itself is the response.
	Early bool
	Aloud bool // the contact listens, on the telephone or in a page
	// UseTool makes the contact's page run one of the agent's client tools and returns the result. The agent reads the
	// error. UseTool is nil if no page runs tools.
	UseTool func(ctx context.Context, name, parameters string) (result string, err error)
	// ReplaceTools means that UseTool returns the results of all tools, also of those on servers, in tests of agents. No
	// tool is then run.
	ReplaceTools bool
	// Toolbox runs the agent's tools at servers. nil means that there are none.
	Toolbox Toolbox
	Memory  Memory    // kept from the previous response
	Turn    int64     // seq of the message within its conversation
	Now     time.Time // in the company's time zone; zero means the current time in UTC
	// Claim stores a memory before a tool changes something. It fails if somebody else responds in the conversation.
	// Claim is nil if no conversation is stored.
	Claim func(ctx context.Context, m Memory) error
}

func (r *Request) now() time.Time {
	if r.Now.IsZero() {
		return time.Now().UTC()
	}
	return r.Now
}

// Tools returns the client tools that can be used in this conversation.
func (r *Request) Tools() []ClientTool {
	if r.UseTool == nil {
		return nil
	}
	return r.Agent.ClientTools
}

// Said is a turn of the conversation.
type Said struct {
	Contact bool // said by the contact, else by the agent or a teammate
	Text    string
	Keys    bool // key presses that select no choice
}

// OffersPerson is the name of the question whether to hand over to a teammate. No result has this name.
const OffersPerson = "-person"

// Message returns the contact's last message.
func (r *Request) Message() string {
	if len(r.Said) == 0 {
		return ""
	}
	return r.Said[len(r.Said)-1].Text
}

// keys reports whether the message consists of key presses that select no choice.
func (r *Request) keys() bool { return len(r.Said) > 0 && r.Said[len(r.Said)-1].Keys }

// Query returns a query for the agent's knowledge.
func (r *Request) Query(text string, limit int) knowledge.Query {
	return knowledge.Query{CompanyID: r.CompanyID, Knowledge: r.Agent.Knowledge, Text: text, Language: r.Language, Limit: limit}
}

// Action is an action of the agent. Actions are emitted in order. Consecutive texts are pieces of one answer.
type Action struct {
	Say     string   // a piece of text
	Sources []Source // sources of the answer
	Choices []string // shown below the answer
	Offers  []Source // articles among the choices
	Asks    string   // name of the question in the answer, as in Request.Asked
	Handoff string   // reason for handing over to a teammate
	End     bool     // ends the conversation
	Set     []Value  // collected values
	// Outcome is set in one action of the response to a question.
	Outcome Outcome
	// Failure is the reason why the agent's engine did not respond itself, for the administrator.
	Failure string
	Memory  *Memory // replaces that of the request
	Used    *Use    // a tool was called
}

// Outcome says whether the response to a question answers it. Small talk, answers to the agent's own questions and
// results of tools have none.
type Outcome string

// The outcomes of a response.
const (
	Answered   Outcome = "answered"
	Offered    Outcome = "offered"     // articles that may contain the answer, as choices
	HandedOver Outcome = "handed_over" // to a teammate
	// Unanswered means that the knowledge contains no answer. The question is listed for the administrator.
	Unanswered Outcome = "unanswered"
)

// Source is an article on which an answer is based.
type Source struct {
	Title      string
	URL        string
	Knowledge  string  // id of its base
	Passage    string  // the sentences used
	Confidence float64 // probability that they answer the question, from 0 to 1
}

// Ahead is implemented by a Thinker that can request a response before the contact's words are certain.
type Ahead interface {
	// Begin requests the response in a conversation, and emits and stores nothing. Reply uses it if its request turns
	// out to be the same. It is dropped when ctx ends, and when another one is begun.
	Begin(ctx context.Context, r *Request)
}

// Thinker generates an agent's responses. Reply emits each action as soon as it is known and returns at the end of the
// response. An error of emit ends the response. The contact's messages are data, never instructions.
type Thinker interface {
	Reply(ctx context.Context, r *Request, emit func(Action) error) error
}
