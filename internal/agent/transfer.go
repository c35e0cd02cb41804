package agent

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"carillon"
	"carillon/internal/agent/knowledge"
	"carillon/internal/base/number"
	"carillon/internal/base/resource"
)

// Transfer lists the numbers to which an agent transfers calls. Number is the short form of Numbers with one entry.
type Transfer struct {
	Number  string   `json:"number,omitempty"`
	Numbers []string `json:"numbers,omitempty"` // called in turn until somebody takes the call
	// MaxCalls is the maximum number of calls that are being transferred or are connected at the same time, on all
	// nodes; 0 means no maximum.
	MaxCalls int `json:"max_calls,omitempty"`
	// Queue is for callers beyond MaxCalls, which then defaults to 1. Nil means that they do not wait.
	Queue *Queue `json:"queue,omitempty"`
	// Phrases trigger a transfer. If empty, a request to talk to a person triggers it.
	Phrases []string `json:"phrases,omitempty"`
	Message string   `json:"message,omitempty"` // said before the transfer; empty means a default sentence in the language
}

// Queue bounds the callers who wait for a transfer.
type Queue struct {
	MaxWaiting int `json:"max_waiting"` // callers at the same time
	MaxWait    int `json:"max_wait_s"`  // seconds
}

// Limits and defaults of Queue and MaxCalls.
const (
	maxTransferCalls  = 100
	maxWaiting        = 100
	minWait           = 10
	maxWait           = 3600
	defaultMaxWaiting = 10
	defaultMaxWait    = 300
)

// Waits returns the limits of the queue: callers at the same time, and the time of each.
func (t *Transfer) Waits() (callers int, each time.Duration) {
	if t.Queue == nil {
		return 0, defaultMaxWait * time.Second
	}
	return t.Queue.MaxWaiting, time.Duration(t.Queue.MaxWait) * time.Second
}

func (t *Transfer) validate(c *resource.Check) {
	const at = "transfer"
	if t.Number != "" || len(t.Numbers) == 0 {
		checkNumber(c, at+".number", &t.Number)
		c.That(len(t.Numbers) == 0, at+".number", "Must not stand together with numbers")
	}
	c.That(len(t.Numbers) <= maxTransferNumbers, at+".numbers", "Must have at most 5 entries")
	for i := range t.Numbers {
		field := resource.Index(at+".numbers", i)
		checkNumber(c, field, &t.Numbers[i])
		c.That(!slices.Contains(t.Numbers[:i], t.Numbers[i]), field, "Names the same twice")
	}
	if q := t.Queue; q != nil {
		t.MaxCalls = cmp.Or(t.MaxCalls, 1)
		q.MaxWaiting, q.MaxWait = cmp.Or(q.MaxWaiting, defaultMaxWaiting), cmp.Or(q.MaxWait, defaultMaxWait)
		c.That(q.MaxWaiting > 0 && q.MaxWaiting <= maxWaiting, at+".queue.max_waiting", "Must be from 1 to 100")
		c.That(q.MaxWait >= minWait && q.MaxWait <= maxWait, at+".queue.max_wait_s", "Must be from 10 to 3600")
	}
	c.That(t.MaxCalls >= 0 && t.MaxCalls <= maxTransferCalls, at+".max_calls", "Must be from 0 to 100")
	c.Text(at+".message", t.Message)
	c.That(len(t.Phrases) <= maxPhrases, at+".phrases", "Must have at most 20 entries")
	for i, phrase := range t.Phrases {
		c.That(strings.TrimSpace(phrase) != "" && utf8.RuneCountInString(phrase) <= maxPhraseLength,
			resource.Index(at+".phrases", i), "Must have 1 to 100 characters")
	}
}

const maxTransferNumbers = 5

func checkNumber(c *resource.Check, field string, value *string) {
	if found := number.Find(*value); found != "" {
		*value = found
	}
	c.That(carillon.ValidNumber(*value), field, "Must be a telephone number with its country code")
}

// Dialed returns the numbers in the order in which they are called.
func (t *Transfer) Dialed() []string {
	if len(t.Numbers) == 0 {
		return []string{t.Number}
	}
	return t.Numbers
}

// Wanted reports whether a person who says a text should be transferred.
func (t *Transfer) Wanted(text string) bool {
	words := knowledge.Words(text)
	if len(t.Phrases) == 0 {
		return talkOf(words) == wantsPerson
	}
	said := " " + strings.Join(words, " ") + " "
	for _, phrase := range t.Phrases {
		if p := strings.Join(knowledge.Words(phrase), " "); p != "" && strings.Contains(said, " "+p+" ") {
			return true
		}
	}
	return false
}
