// Package trial tests agents. A suite is a file of conversations with expectations: texts, articles, tools, results and
// choices that a reply must or must not have. Read parses a suite, Tester talks with the agent and checks the replies,
// and Runner runs the stored suites of an agent and keeps the results.
//
// Nothing in a run leaves the program except requests to the agent's own engine: no conversation is stored, and a
// suite contains the results of tools. The format is described in docs/reference/agent-tests.md.
package trial

import (
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/base/resource"
)

// Suite is a file of tests of one agent.
type Suite struct {
	ID       string `json:"id,omitempty"`
	Name     string `json:"name"`  // default tests
	Agent    string `json:"agent"` // id or name
	Language string `json:"language,omitempty"`
	// Judge is another agent, whose engine judges the replies. Empty: the tested agent's own engine.
	Judge string            `json:"judge,omitempty"`
	Tools map[string]string `json:"tools,omitempty"` // results of tools, by name, for all cases
	Cases []Case            `json:"cases"`
	// Source is the suite as a file, with its comments. It replaces all fields except the id and the agent.
	Source string `json:"source,omitempty"`
}

// Case is one conversation.
type Case struct {
	Name     string            `json:"name"`
	Language string            `json:"language,omitempty"` // default: that of the suite, or else of the agent
	Aloud    bool              `json:"aloud,omitempty"`    // the contact listens, on the telephone or in a page
	Asked    string            `json:"asked,omitempty"`    // the result that the agent has asked for before the first turn
	Contact  string            `json:"contact,omitempty"`  // the contact's name
	Tools    map[string]string `json:"tools,omitempty"`    // results of tools, by name
	Turns    []Turn            `json:"turns"`
}

// Turn is a message of the contact, with the expectations of the reply.
type Turn struct {
	Say    string  `json:"say"`
	Expect *Expect `json:"expect,omitempty"`
}

// Expect are the expectations of one reply.
type Expect struct {
	Text     string            `json:"text,omitempty"` // the whole reply
	Contains []string          `json:"contains,omitempty"`
	Lacks    []string          `json:"lacks,omitempty"`
	Article  string            `json:"article,omitempty"` // title of a source
	Outcome  string            `json:"outcome,omitempty"`
	Offers   []string          `json:"offers,omitempty"` // choices below the reply
	Sets     map[string]string `json:"sets,omitempty"`   // collected results
	Calls    []Call            `json:"calls,omitempty"`  // tools, in any order
	Asks     string            `json:"asks,omitempty"`   // the result that the reply asks for
	Handoff  *bool             `json:"handoff,omitempty"`
	Ends     *bool             `json:"ends,omitempty"`
	Judge    string            `json:"judge,omitempty"` // a criterion in words
	Not      *Not              `json:"not,omitempty"`
}

// Call is a call of a tool.
type Call struct {
	Tool string `json:"tool"`
	// Arguments must be among those of the call. The call may have more.
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// Not excludes properties of a reply.
type Not struct {
	Text    string   `json:"text,omitempty"`
	Article string   `json:"article,omitempty"`
	Outcome string   `json:"outcome,omitempty"`
	Offers  []string `json:"offers,omitempty"`
	Sets    []string `json:"sets,omitempty"`  // names of results
	Calls   []string `json:"calls,omitempty"` // names of tools
	Asks    string   `json:"asks,omitempty"`
}

// The bounds of a suite.
const (
	MaxFile  = 1 << 20 // bytes
	maxCases = 1000
	maxTurns = 50  // per case
	maxTools = 100 // per suite and per case
	maxList  = 100 // entries of an expectation
	maxSay   = 4000
	maxJudge = 2000

	maxDocument = 4 << 20
	maxAll      = 32 << 20
	maxSuites   = 1000 // per company
)

// Kind returns the resource kind of suites.
func Kind() resource.Kind {
	return resource.Kind{
		Name: "suite", Plural: "suites", Phrase: "a suite of tests", MaxBytes: maxDocument, MaxAll: maxAll, Most: maxSuites,
		New:     func() resource.Resource { return &Suite{} },
		NewHead: func() any { return &Head{} },
	}
}

// Head is the summary of a suite.
type Head struct {
	Agent string `json:"agent"` // id
	Cases int    `json:"cases"`
}

// Head implements resource.Headed.
func (s *Suite) Head() any { return &Head{s.Agent, len(s.Cases)} }

// Key implements resource.Resource.
func (s *Suite) Key() (id, name *string) { return &s.ID, &s.Name }

// References returns the references to the tested agent and to the agent that judges.
func (s *Suite) References() []resource.Reference {
	return []resource.Reference{
		{Field: "agent", Kind: agent.Kind().Name, To: &s.Agent},
		{Field: "judge", Kind: agent.Kind().Name, To: &s.Judge},
	}
}

// Validate implements resource.Resource.
func (s *Suite) Validate() error {
	var c resource.Check
	if s.Source != "" {
		if err := s.readSource(); err != nil {
			return err
		}
	}
	if s.Name == "" {
		s.Name = "tests"
	}
	c.UUID("id", &s.ID)
	c.Name("name", s.Name)
	c.Required("agent", s.Agent)
	c.That(s.Language == "" || resource.ValidLanguage(s.Language), "language", "Must be a language such as es or pt-BR")
	checkTools(&c, "tools", s.Tools)
	c.That(len(s.Cases) > 0, "cases", "Must have at least one entry")
	c.That(len(s.Cases) <= maxCases, "cases", "Must have at most 1,000 entries")
	names := map[string]bool{}
	for i := range s.Cases[:min(len(s.Cases), maxCases)] {
		x, at := &s.Cases[i], resource.Index("cases", i)
		x.validate(&c, at)
		c.That(!names[x.Name], at+".name", "Names the same twice")
		names[x.Name] = true
	}
	return c.Err()
}

func (x *Case) validate(c *resource.Check, at string) {
	c.Name(at+".name", x.Name)
	c.That(x.Language == "" || resource.ValidLanguage(x.Language), at+".language", "Must be a language such as es or pt-BR")
	checkTools(c, at+".tools", x.Tools)
	c.That(len(x.Turns) > 0, at+".turns", "Must have at least one entry")
	c.That(len(x.Turns) <= maxTurns, at+".turns", "Must have at most 50 entries")
	expects := false
	for i := range x.Turns[:min(len(x.Turns), maxTurns)] {
		t, at := &x.Turns[i], resource.Index(at+".turns", i)
		c.Required(at+".say", t.Say)
		c.That(utf8.RuneCountInString(t.Say) <= maxSay, at+".say", "Must have at most 4,000 characters")
		if t.Expect != nil {
			t.Expect.validate(c, at+".expect")
			expects = true
		}
	}
	c.That(expects || len(x.Turns) == 0, at+".turns", "Must expect something in one of the turns")
}

func checkTools(c *resource.Check, at string, tools map[string]string) {
	c.That(len(tools) <= maxTools, at, "Must have at most 100 entries")
	for name, result := range tools {
		c.Text(at+"."+name, result)
	}
}

func (e *Expect) validate(c *resource.Check, at string) {
	c.That(!e.empty(), at, "Must expect something, such as contains or article")
	checkOutcome(c, at+".outcome", e.Outcome)
	c.That(utf8.RuneCountInString(e.Judge) <= maxJudge, at+".judge", "Must have at most 2,000 characters")
	for field, list := range map[string][]string{"contains": e.Contains, "lacks": e.Lacks, "offers": e.Offers} {
		checkList(c, at+"."+field, list)
	}
	c.That(len(e.Sets) <= maxList, at+".sets", "Must have at most 100 entries")
	c.That(len(e.Calls) <= maxList, at+".calls", "Must have at most 100 entries")
	for i, call := range e.Calls {
		c.Name(resource.Index(at+".calls", i)+".tool", call.Tool)
	}
	if n := e.Not; n != nil {
		at += ".not"
		c.That(!n.empty(), at, "Must exclude something, such as article or calls")
		checkOutcome(c, at+".outcome", n.Outcome)
		for field, list := range map[string][]string{"offers": n.Offers, "sets": n.Sets, "calls": n.Calls} {
			checkList(c, at+"."+field, list)
		}
	}
}

func (e *Expect) empty() bool {
	return e.Text+e.Article+e.Outcome+e.Asks+e.Judge == "" && e.Handoff == nil && e.Ends == nil && e.Not == nil &&
		len(e.Contains)+len(e.Lacks)+len(e.Offers)+len(e.Sets)+len(e.Calls) == 0
}

func (n *Not) empty() bool {
	return n.Text+n.Article+n.Outcome+n.Asks == "" && len(n.Offers)+len(n.Sets)+len(n.Calls) == 0
}

func checkList(c *resource.Check, at string, list []string) {
	c.That(len(list) <= maxList, at, "Must have at most 100 entries")
	for i, text := range list {
		c.Required(resource.Index(at, i), text)
	}
}

func checkOutcome(c *resource.Check, at, outcome string) {
	known := []agent.Outcome{"", agent.Answered, agent.Offered, agent.HandedOver, agent.Unanswered}
	c.That(slices.Contains(known, agent.Outcome(outcome)), at, "Must be one of answered, offered, handed_over, unanswered")
}

// Judged reports whether a turn of the suite needs an engine that judges it.
func (s *Suite) Judged() bool {
	return slices.ContainsFunc(s.Cases, func(c Case) bool {
		return slices.ContainsFunc(c.Turns, func(t Turn) bool { return t.Expect != nil && t.Expect.Judge != "" })
	})
}

// readSource replaces the fields by those in Source. Errors: validation_failed, with the line of each fault.
func (s *Suite) readSource() error {
	read, problems := Read("source", s.Source, s.Agent)
	if len(problems) > 0 {
		var c resource.Check
		for _, p := range problems {
			c.That(false, "source", "Line "+strconv.Itoa(p.At.Line)+": "+carillon.Shorten(p.Text))
		}
		return c.Err()
	}
	id, source, tested := s.ID, s.Source, s.Agent
	*s = *read
	s.Source = source
	if id != "" {
		s.ID = id
	}
	if tested != "" {
		s.Agent = tested
	}
	return nil
}
