package trial

import (
	"encoding/json"
	"time"

	"carillon/internal/agent"
)

// State is the state of a case or of one check.
type State string

// The states.
const (
	Passed  State = "passed"
	Failed  State = "failed"
	Skipped State = "skipped" // nothing can judge it
)

// Result is the result of a case.
type Result struct {
	Suite    string       `json:"suite"`
	Name     string       `json:"name"`
	Language string       `json:"language"`
	State    State        `json:"state"`
	MS       int64        `json:"ms"`
	Turns    []TurnResult `json:"turns,omitempty"`
}

// TurnResult is the reply to a turn and its checks.
type TurnResult struct {
	Say     string        `json:"say"`
	Text    string        `json:"text"`
	Sources []string      `json:"sources,omitempty"` // titles
	Choices []string      `json:"choices,omitempty"`
	Outcome agent.Outcome `json:"outcome,omitempty"`
	Sets    []Set         `json:"sets,omitempty"`
	Calls   []Called      `json:"calls,omitempty"`
	Asks    string        `json:"asks,omitempty"`
	Handoff bool          `json:"handoff,omitempty"`
	Ends    bool          `json:"ends,omitempty"`
	MS      int64         `json:"ms"`
	Checks  []Check       `json:"checks,omitempty"`
}

// Set is a result that the agent collected.
type Set struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Called is a call of a tool by the agent.
type Called struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// Check is one expectation of a reply.
type Check struct {
	Rule  string `json:"rule"` // field of the expectation, such as contains or not.article; reply for the reply itself
	Want  string `json:"want"`
	Got   string `json:"got,omitempty"` // of a check that did not pass
	State State  `json:"state"`
}

// Summary counts the results of a run.
type Summary struct {
	Passed  int   `json:"passed"`
	Failed  int   `json:"failed"`
	Skipped int   `json:"skipped"`
	MS      int64 `json:"ms"`
}

// Add counts a result.
func (s *Summary) Add(r *Result) {
	switch r.State {
	case Passed:
		s.Passed++
	case Failed:
		s.Failed++
	case Skipped:
		s.Skipped++
	}
}

// finish sets the state of the case: failed if a check failed, or else skipped if a check was skipped.
func (r *Result) finish(begin time.Time) {
	r.State, r.MS = Passed, time.Since(begin).Milliseconds()
	for _, t := range r.Turns {
		for _, c := range t.Checks {
			switch {
			case c.State == Failed:
				r.State = Failed
			case c.State == Skipped && r.State == Passed:
				r.State = Skipped
			}
		}
	}
}

const (
	maxShownText = 4000 // characters of a reply in a result
	maxShown     = 500  // characters of another text in a result
)

// clip truncates a text to a number of characters.
func clip(s string, maxChars int) string {
	n := 0
	for i := range s {
		if n++; n > maxChars {
			return s[:i] + "…"
		}
	}
	return s
}
