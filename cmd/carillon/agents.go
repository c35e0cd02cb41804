package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"carillon/client"
	"carillon/internal/agent"
	"carillon/internal/app"
	"carillon/internal/base/config"
)

type agentsCommand struct {
	List   listCommand[agentRow] `cmd:"" help:"List the company's agents."`
	Show   agentsShow            `cmd:"" help:"Show an agent by id or name."`
	Set    agentsSet             `cmd:"" help:"Add an agent, or replace the one of its id or name."`
	Test   agentsTest            `cmd:"" help:"Run an agent through test conversations, and check its replies."`
	Remove agentsRemove          `cmd:"" help:"Remove an agent that nothing refers to."`
}

// agentRow is an agent as the panel returns it.
type agentRow struct {
	agent.Agent
	Warning string `json:"warning,omitempty"`
}

func (agentRow) list() (path string, columns []string) {
	return "agents", []string{"ID", "NAME", "LANGUAGE", "ENGINE", "GREETING"}
}

func (x agentRow) rows() [][]string {
	return [][]string{{x.ID, x.Name, x.Language, x.Engine, oneLine(x.Greeting, 60)}}
}

// agent returns the agent with the given id, or else name. It returns nil if there is none.
func (a *administered) agent(ctx context.Context, c *client.Client, idOrName string) (*agentRow, error) {
	all, err := listOf[agentRow](ctx, c, a)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(x agentRow) bool { return strings.EqualFold(x.ID, idOrName) })
	if i < 0 {
		i = slices.IndexFunc(all, func(x agentRow) bool { return x.Name == idOrName })
	}
	if i < 0 {
		return nil, nil
	}
	return &all[i], nil
}

// findAgent returns the agent with the given id or name, or an error if there is none.
func (m *memberFlags) findAgent(ctx context.Context, env *environment, idOrName string) (*client.Client, *agentRow, error) {
	c, err := m.open(ctx, env)
	if err != nil {
		return nil, nil, err
	}
	x, err := m.agent(ctx, c, idOrName)
	if err == nil && x == nil {
		err = fmt.Errorf("the company has no agent %s", idOrName)
	}
	return c, x, err
}

type agentsShow struct {
	Agent string `arg:"" help:"Id or name of the agent."`
	memberFlags
}

// Run shows the agent. Its JSON is the input format of `agents set`.
func (a *agentsShow) Run(ctx context.Context, env *environment) error {
	_, x, err := a.findAgent(ctx, env, a.Agent)
	if err != nil {
		return err
	}
	rows := [][]string{
		{"id", x.ID},
		{"name", x.Name},
		{"language", x.Language},
		{"engine", x.Engine},
		{"greeting", x.Greeting},
		{"knowledge", strings.Join(x.Knowledge, ", ")},
		{"tools", strings.Join(x.Tools, ", ")},
		{"record", fmt.Sprint(x.Record)},
	}
	for _, r := range x.Result {
		rows = append(rows, []string{"result " + r.Name, strings.Join(append([]string{r.Type}, r.Choices...), " ")})
	}
	return a.show(env, x.Agent, rows)
}

type agentsSet struct {
	File string `short:"f" required:"" placeholder:"FILE" help:"File with the agent, written as in a set-up file or in JSON."`
	memberFlags
}

// Run adds or replaces the agent.
func (a *agentsSet) Run(ctx context.Context, env *environment) error {
	read, err := config.ReadResource(a.File, agent.Kind(), app.ProvisionOptions())
	if err != nil {
		return err
	}
	c, err := a.open(ctx, env)
	if err != nil {
		return err
	}
	id, name := read.Key()
	have, err := a.agent(ctx, c, orElse(*id, *name))
	if err != nil {
		return err
	}
	call, word := a.panel(http.MethodPost, "agents"), "added"
	if have != nil {
		*id, word = have.ID, "replaced"
		call = a.panel(http.MethodPut, "agents/"+url.PathEscape(have.ID))
	}
	var x agentRow
	call.Body, call.Out = read, &x
	if _, err := c.Do(ctx, call); err != nil {
		return err
	}
	if x.Warning != "" {
		_, _ = fmt.Fprintln(env.Stderr, "warning: "+x.Warning)
	}
	return a.done(env, x.Agent, fmt.Sprintf("agent %s (%s) %s", x.Name, x.ID, word))
}

type agentsRemove struct {
	Agent string `arg:"" help:"Id or name of the agent."`
	memberFlags
}

// Run removes the agent.
func (a *agentsRemove) Run(ctx context.Context, env *environment) error {
	c, x, err := a.findAgent(ctx, env, a.Agent)
	if err != nil {
		return err
	}
	if _, err := c.Do(ctx, a.panel(http.MethodDelete, "agents/"+url.PathEscape(x.ID))); err != nil {
		return err
	}
	return a.done(env, map[string]any{"id": x.ID, "removed": true}, "agent "+x.Name+" ("+x.ID+") removed")
}
