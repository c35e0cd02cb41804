package trial

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/agent/knowledge"
	"carillon/internal/agent/meaning"
	"carillon/internal/base/resource"
	"carillon/internal/store"
	"carillon/internal/store/resources"
)

// Runner runs the suites of stored agents, and keeps the results.
type Runner struct {
	Tester

	Store *store.Store
	// Thinking returns a thinker like Tester's with another search, for drafts of knowledge, and Vectors returns the vectors of
	// another database.
	Thinking func(*knowledge.Search) agent.Thinker
	Vectors  func(*store.Store) *meaning.Vectors
}

// Order is a request to run suites.
type Order struct {
	CompanyID string
	Agent     *agent.Agent // may have unsaved changes
	Suites    []*Suite
	Author    string // name of the member
	Origin    string // panel, draft or command
}

// Done is the result of a run.
type Done struct {
	Summary

	ID string `json:"id"`
}

// Suites returns the stored suites of an agent, by name.
func (x Runner) Suites(ctx context.Context, companyID, agentID string) ([]*Suite, error) {
	heads, err := x.Store.Resources.Heads(ctx, companyID, Kind())
	if err != nil {
		return nil, err
	}
	var all []*Suite
	for _, h := range heads {
		if head, ok := h.Value.(*Head); !ok || head.Agent != agentID {
			continue
		}
		found, err := x.Store.Resources.Resource(ctx, companyID, Kind(), h.ID)
		if carillon.IsCode(err, carillon.NotFound) {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		if s, ok := found.(*Suite); ok {
			all = append(all, s)
		}
	}
	return all, nil
}

// Count returns the number of stored cases of an agent.
func (x Runner) Count(ctx context.Context, companyID, agentID string) (n int, err error) {
	heads, err := x.Store.Resources.Heads(ctx, companyID, Kind())
	for _, h := range heads {
		if head, ok := h.Value.(*Head); ok && head.Agent == agentID {
			n += head.Cases
		}
	}
	return n, err
}

// Run runs the suites one after another, calls done with each result, and stores the run. Errors: validation_failed
// for an agent that judges but does not exist, and those of done.
func (x Runner) Run(ctx context.Context, o Order, done func(*Result) error) (*Done, error) {
	company, err := x.Store.Accounts.Company(ctx, o.CompanyID)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	var all []*Result
	var sum Summary
	for _, s := range o.Suites {
		on := Target{CompanyID: o.CompanyID, CompanyName: company.Name, Agent: o.Agent}
		if on.Critic, err = x.critic(ctx, o, s); err != nil {
			return nil, err
		}
		if err := x.Tester.Run(ctx, on, s, func(r *Result) error {
			all = append(all, r)
			sum.Add(r)
			return done(r)
		}); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	sum.MS = time.Since(begin).Milliseconds()
	id, err := x.keep(ctx, o, begin, all, sum)
	return &Done{sum, id}, err
}

// critic returns the agent whose engine judges a suite. It is nil if the engine of the tested agent cannot.
func (x Runner) critic(ctx context.Context, o Order, s *Suite) (*agent.Agent, error) {
	if s.Judge == "" {
		if o.Agent.Engine == "openai" {
			return o.Agent, nil
		}
		return nil, nil
	}
	found, err := x.Agent(ctx, o.CompanyID, s.Judge)
	if err != nil {
		return nil, err
	}
	if found == nil || found.Engine != "openai" || found.OpenAI == nil {
		return nil, carillon.Invalid("judge", "Must be an agent whose engine is openai")
	}
	return found, nil
}

// batch is the number of agents read at a time.
const batch = 50

// Agent returns a company's agent by id or name. It is nil if there is none.
func (x Runner) Agent(ctx context.Context, companyID, idOrName string) (*agent.Agent, error) {
	after := ""
	for {
		page, err := x.Store.Resources.Resources(ctx, companyID, agent.Kind(), after, batch)
		if err != nil {
			return nil, err
		}
		for _, found := range page {
			a, ok := found.(*agent.Agent)
			if ok && (strings.EqualFold(a.ID, idOrName) || a.Name == idOrName) {
				return a, nil
			}
			after = a.ID
		}
		if len(page) < batch {
			return nil, nil
		}
	}
}

// maxStored bounds the stored results of a run, in bytes.
const maxStored = 1 << 20

// Short is a result in the list of runs.
type Short struct {
	Suite string `json:"suite"`
	Name  string `json:"name"`
	State State  `json:"state"`
	MS    int64  `json:"ms"`
}

// keep stores a run. If the conversations take too much space, those of the passed cases are dropped, and then those
// of the last cases.
func (x Runner) keep(ctx context.Context, o Order, begin time.Time, all []*Result, sum Summary) (id string, err error) {
	shorts := make([]Short, len(all))
	for i, r := range all {
		shorts[i] = Short{r.Suite, r.Name, r.State, r.MS}
	}
	cases, err := json.Marshal(shorts)
	if err != nil {
		return "", fmt.Errorf("write a run of tests: %w", err)
	}
	doc, err := bounded(all)
	if err != nil {
		return "", fmt.Errorf("write a run of tests: %w", err)
	}
	run := &resources.TestRun{
		AgentID: o.Agent.ID, BegunAt: begin, Author: o.Author, Origin: o.Origin,
		Passed: sum.Passed, Failed: sum.Failed, Skipped: sum.Skipped, Took: time.Duration(sum.MS) * time.Millisecond,
		Cases: cases, Doc: doc,
	}
	err = x.Store.TestRuns.Add(ctx, o.CompanyID, run, time.Now())
	return run.ID, err
}

// bounded encodes results in at most maxStored bytes.
func bounded(all []*Result) ([]byte, error) {
	kept := make([]Result, len(all))
	sizes := make([]int, len(all))
	total := 0
	for i, r := range all {
		kept[i] = *r
		text, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		sizes[i] = len(text) + 1
		total += sizes[i]
	}
	for _, state := range []State{Passed, Skipped, Failed} {
		for i := len(kept) - 1; i >= 0 && total > maxStored; i-- {
			if kept[i].State != state {
				continue
			}
			kept[i].Turns = nil
			text, err := json.Marshal(kept[i])
			if err != nil {
				return nil, err
			}
			total -= sizes[i] - len(text) - 1
		}
	}
	return json.Marshal(kept)
}

// Owns reports whether a suite names an agent: by its id, or by its name.
func (s *Suite) Owns(a *agent.Agent) bool {
	return strings.EqualFold(s.Agent, a.ID) || s.Agent == a.Name
}

var _ resource.Headed = (*Suite)(nil)
