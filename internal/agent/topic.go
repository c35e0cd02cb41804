package agent

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"carillon/internal/base/resource"
)

// Topic is a subject of conversations.
type Topic struct {
	Name string `json:"name"`
	// Words are words or phrases that show the topic where no engine finds it. The name is always one of them.
	Words []string `json:"words,omitempty"`
}

const (
	maxTopics     = 50
	maxTopicWords = 50
	maxTopicWord  = 100 // characters
	maxTopicName  = 60  // characters
	maxSentence   = 500 // characters
)

// validateReviews checks the fields that reviews of conversations use.
func (a *Agent) validateReviews(c *resource.Check) {
	a.Goal = strings.TrimSpace(a.Goal)
	c.That(utf8.RuneCountInString(a.Goal) <= maxSentence, "goal", "Must have at most 500 characters")
	names := func(r Result) bool { return r.Name == a.GoalResult }
	c.That(a.GoalResult == "" || slices.ContainsFunc(a.Result, names), "goal_result", "Must be the name of a result")
	c.That(a.GoalResult == "" || a.Goal != "", "goal_result", "Must stand beside a goal")
	c.That(len(a.Topics) <= maxTopics, "topics", "Must have at most "+strconv.Itoa(maxTopics)+" entries")
	seen := map[string]bool{}
	for i := range a.Topics {
		t, at := &a.Topics[i], resource.Index("topics", i)
		t.Name = strings.Join(strings.Fields(t.Name), " ")
		c.Required(at+".name", t.Name)
		c.That(utf8.RuneCountInString(t.Name) <= maxTopicName, at+".name", "Must have at most 60 characters")
		c.That(!strings.Contains(t.Name, `"`), at+".name", "Must have no quotation marks")
		c.That(!seen[strings.ToLower(t.Name)], at+".name", "Names the same twice")
		seen[strings.ToLower(t.Name)] = true
		c.That(len(t.Words) <= maxTopicWords, at+".words", "Must have at most "+strconv.Itoa(maxTopicWords)+" entries")
		for j, word := range t.Words {
			c.That(strings.TrimSpace(word) != "" && utf8.RuneCountInString(word) <= maxTopicWord,
				resource.Index(at+".words", j), "Must have 1 to 100 characters")
		}
	}
}
