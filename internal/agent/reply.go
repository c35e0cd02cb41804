package agent

import (
	"context"

	"carillon/internal/agent/knowledge"
)

// Request is what an agent is asked to respond to: a conversation whose last turn is the contact's.
type Request struct {
	CompanyID      string
	CompanyName    string
	ConversationID string
	Agent          *Agent
	Language       string // BCP 47; of the conversation
	ContactName    string
	Said           []Said // oldest first; the last is what the contact said
	// Asked names the unanswered question to the contact: a result, or OffersPerson. Empty where there is none.
	Asked string
	// Early says that the contact said it before they were asked: it may answer, and where it does not, that question is the response.
	Early bool
	Aloud bool // the contact listens, on the telephone or in a page
	// UseTool has the contact's page run one of the agent's client tools and returns the result. Its error is for the agent to read.
	// nil: there is no page that runs tools.
	UseTool func(ctx context.Context, name, parameters string) (result string, err error)
}

// Tools are the client tools that can be used here.
func (r *Request) Tools() []ClientTool {
	if r.UseTool == nil {
		return nil
	}
	return r.Agent.ClientTools
}

// Said is a turn of the conversation as the agent gets it.
type Said struct {
	Contact bool // else the agent or a teammate
	Text    string
	Keys    bool // it was said by keys that take no choice
}

// OffersPerson names the question whether a teammate shall take over. No result has this name.
const OffersPerson = "-person"

// Message is what the contact said last.
func (r *Request) Message() string {
	if len(r.Said) == 0 {
		return ""
	}
	return r.Said[len(r.Said)-1].Text
}

// keys reports whether the message was said by keys that take no choice.
func (r *Request) keys() bool { return len(r.Said) > 0 && r.Said[len(r.Said)-1].Keys }

// Query is a search in the agent's knowledge.
func (r *Request) Query(text string, limit int) knowledge.Query {
	return knowledge.Query{CompanyID: r.CompanyID, Knowledge: r.Agent.Knowledge, Text: text, Language: r.Language, Limit: limit}
}

// Action is something that the agent does. Actions come in the order in which they happen; texts that follow each other are
// pieces of one answer.
type Action struct {
	Say     string   // a piece of text
	Sources []Source // what the answer rests on
	Choices []string // offered below the answer
	Asks    string   // what the answer asks the contact, as in Request.Asked
	Handoff string   // a teammate is to take over, for this reason
	End     bool     // the conversation is over
	Set     []Value  // what was found out
	// Unanswered means that the knowledge holds no answer: the question is listed for the administrator.
	Unanswered bool
	// Failure is why the agent's engine did not respond itself. It is for the administrator.
	Failure string
}

// Source is an article that an answer rests on.
type Source struct {
	Title string
	URL   string
}

// Thinker decides what an agent responds. It passes on each action as soon as it is known and returns at the end of the
// response; an error of emit ends it. What the contact says is data to it, never an instruction.
type Thinker interface {
	Reply(ctx context.Context, r *Request, emit func(Action) error) error
}
