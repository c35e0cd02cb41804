// Package flow is the conversations that a company lays out in steps: their definitions.
package flow

import (
	"carillon/internal/resource"
)

// Flow is a definition: what starts it, and its steps.
type Flow struct {
	ID      string  `json:"id,omitempty"`
	Name    string  `json:"name"`
	Trigger Trigger `json:"trigger"`
	Steps   []Step  `json:"steps"`
}

// Trigger is what starts a flow: the name_event of a notification. Without one nothing starts it.
type Trigger struct {
	Event string `json:"event,omitempty"`
}

// Step is one of Say, Ask, If and Handoff; Choices belong to Ask, Then and Else to If.
type Step struct {
	Say     string   `json:"say,omitempty"`
	Ask     string   `json:"ask,omitempty"` // the variable that keeps the response
	Choices []string `json:"choices,omitempty"`
	If      string   `json:"if,omitempty"` // a condition
	Then    []Step   `json:"then,omitempty"`
	Else    []Step   `json:"else,omitempty"`
	Handoff string   `json:"handoff,omitempty"` // to whom
}

const (
	maxSteps = 500 // branches included
	maxDepth = 20  // of branches
	maxEvent = 255 // of a notification's name_event
)

// Kind describes flows.
func Kind() resource.Kind {
	return resource.Kind{Name: "flow", Plural: "flows", Phrase: "a flow", New: func() resource.Resource { return &Flow{} }}
}

// Key implements resource.Resource.
func (f *Flow) Key() (id, name *string) { return &f.ID, &f.Name }

// Validate implements resource.Resource.
func (f *Flow) Validate() error {
	var c resource.Check
	c.UUID("id", &f.ID)
	c.Name("name", f.Name)
	c.That(len(f.Trigger.Event) <= maxEvent, "trigger.event", "Must have at most 255 bytes")
	f.Steps = resource.List(f.Steps)
	c.That(count(f.Steps) <= maxSteps, "steps", "Must hold at most 500 steps, those of branches included")
	steps(&c, "steps", f.Steps, 1)
	return c.Err()
}

func count(steps []Step) int {
	n := len(steps)
	for _, s := range steps {
		n += count(s.Then) + count(s.Else)
	}
	return n
}

func steps(c *resource.Check, field string, all []Step, depth int) {
	c.That(depth <= maxDepth, field, "Must be nested at most 20 deep")
	for i := range all {
		all[i].validate(c, resource.Index(field, i), depth)
	}
}

func (s *Step) validate(c *resource.Check, at string, depth int) {
	given := 0
	for _, x := range []struct{ name, text string }{{"say", s.Say}, {"ask", s.Ask}, {"if", s.If}, {"handoff", s.Handoff}} {
		if x.text != "" {
			given++
			c.Required(at+"."+x.name, x.text)
		}
	}
	if given != 1 {
		c.That(false, at, "Must hold exactly one of say, ask, if and handoff in each step")
		return
	}
	c.That(s.Ask != "" || len(s.Choices) == 0, at+".choices", "Belongs to a step with ask")
	for i, choice := range s.Choices {
		c.Required(resource.Index(at+".choices", i), choice)
	}
	c.That(s.If != "" || len(s.Then) == 0, at+".then", "Belongs to a step with if")
	c.That(s.If != "" || len(s.Else) == 0, at+".else", "Belongs to a step with if")
	steps(c, at+".then", s.Then, depth+1)
	steps(c, at+".else", s.Else, depth+1)
}
