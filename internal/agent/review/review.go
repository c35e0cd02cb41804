// Package review judges a conversation after its end: what it was about, whether the agent's goal was reached, and the
// results that the agent declares. Rules do it without any other service. Where the agent has an engine, the engine is
// asked, and its response is checked against what the agent declares.
//
// The package knows neither the database nor the time at which a conversation counts as ended: see talk/conversation.
package review

import (
	"context"
	"errors"

	"carillon/internal/agent"
)

const (
	// MaxSummary and MaxReason bound the texts of a review, in characters. The ellipsis of a truncated text is
	// counted in addition.
	MaxSummary = 599
	MaxReason  = 299
	// MaxText bounds the value of a result of type text, in the same way.
	MaxText = 499
	// MaxTopics bounds the topics of a conversation.
	MaxTopics = 5
)

// By of a review that rules made. An engine's review has the name of the engine.
const Rules = "rules"

// Verdict says whether a goal was reached.
type Verdict string

// The verdicts. Without a goal there is none.
const (
	Reached    Verdict = "yes"
	NotReached Verdict = "no"
	Unknown    Verdict = "unknown"
)

// Review is the judgment of a conversation.
type Review struct {
	Summary string
	Goal    Verdict // empty if the agent declares no goal
	Reason  string  // of Goal
	Results []agent.Value
	Topics  []string
	By      string // Rules, or the name of the engine
	Failure string // why the engine did not make the review; empty if it did, or was not to be asked
}

// Speaker is the author of a line.
type Speaker string

// The speakers.
const (
	Person   Speaker = "person"
	Agent    Speaker = "agent"
	Teammate Speaker = "teammate"
)

// Line is something said in a conversation.
type Line struct {
	By      Speaker
	Text    string
	Outcome agent.Outcome // of an agent's response to a question, unless a later response replaces it
	Titles  []string      // articles from which the agent answered
	Score   int           // of an agent's response: 1 if the person likes it, -1 if not
}

// Material is a conversation to judge.
type Material struct {
	Agent          *agent.Agent
	CompanyID      string
	ConversationID string
	Language       string // of the conversation
	Lines          []Line // in order; those in the middle of a long conversation are missing
	Set            []agent.Value
	Used           []agent.Use
	AskedForTeam   bool   // a teammate was asked for
	AskedReason    string // the reason given; may be empty
	Joined         bool   // a teammate took the conversation
	Alone          bool   // nobody of the team came
	Rating         int    // 1 to 5; 0 if there is none
}

// Engine makes reviews with a server. Its error says why there is none.
type Engine interface {
	// Reviews reports whether the agent has such a server.
	Reviews(a *agent.Agent) bool
	// Review asks the server. attempt counts from 0.
	Review(ctx context.Context, m *Material, attempt int) (*Review, error)
}

// ErrFinal means that another attempt would fail too, such as when the company has used up its responses.
var ErrFinal = errors.New("the engine was not asked")

// Complete reports whether agent and person took part, so that there is something to judge.
func (m *Material) Complete() bool {
	var agentSaid, personSaid bool
	for i := range m.Lines {
		agentSaid = agentSaid || m.Lines[i].By == Agent
		personSaid = personSaid || m.Lines[i].By == Person
	}
	return agentSaid && personSaid
}
