package openai

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"carillon/internal/agent"
)

// toolCall is a tool call requested by the server.
type toolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // JSON
}

// tool describes a tool that the server may use.
type tool struct {
	Type     string     `json:"type"`
	Function definition `json:"function"`
}

type definition struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"` // JSON Schema
}

const (
	searchTool  = "search"
	handoffTool = "handoff"

	maxCalls     = 8       // tool calls per round
	maxArguments = 4 << 10 // bytes per call
	maxQuery     = 500     // characters
	maxReason    = 300
)

// toolsOf returns the tools that the server may use: the agent's tools that exist here, and those of the contact's
// page.
func toolsOf(r *agent.Request) (all []tool) {
	a := r.Agent
	add := func(name, description, parameters string) {
		if slices.Contains(a.Tools, name) {
			all = append(all, tool{"function", definition{name, description, json.RawMessage(parameters)}})
		}
	}
	add(searchTool, "Search the company's articles. Use it where the articles that you have hold no answer.",
		`{"type":"object","properties":{"query":{"type":"string","description":"What to search for, in the words of an article"}},`+
			`"required":["query"],"additionalProperties":false}`)
	add(handoffTool, "Have a teammate of the company take over the conversation: when the person asks for one, or you cannot help.",
		`{"type":"object","properties":{"reason":{"type":"string","description":"Why, in a few words for the teammate"}},`+
			`"required":["reason"],"additionalProperties":false}`)
	for _, t := range r.Tools() {
		parameters := t.Parameters
		if len(parameters) == 0 {
			parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		all = append(all, tool{"function", definition{t.Name, t.Description, parameters}})
	}
	return all
}

const maxToolResult = 4000 // bytes of the result of a page's tool

// useClient makes the contact's page run a tool.
func (e *exchange) useClient(ctx context.Context, call toolCall) (string, error) {
	if !json.Valid([]byte(call.Function.Arguments)) {
		return "Error: the arguments are no JSON object", nil
	}
	result, err := e.request.UseTool(ctx, call.Function.Name, call.Function.Arguments)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "Error: " + line(err.Error()), nil
	}
	return strings.ToValidUTF8(result[:min(len(result), maxToolResult)], ""), nil
}

// use runs a tool and returns the result for the server. A faulty call is reported to the server, which can correct
// it.
func (e *exchange) use(ctx context.Context, call toolCall) (string, error) {
	name := call.Function.Name
	if at := slices.IndexFunc(e.servers, func(t agent.ServerTool) bool { return t.Name == name }); at >= 0 {
		return e.useServer(ctx, &e.servers[at], call)
	}
	if slices.ContainsFunc(e.request.Tools(), func(t agent.ClientTool) bool { return t.Name == name }) {
		return e.useClient(ctx, call)
	}
	if !slices.Contains(e.request.Agent.Tools, name) {
		return "Error: there is no tool " + line(name), nil
	}
	switch name {
	case searchTool:
		query, fault := argument(call.Function.Arguments, "query", maxQuery)
		if fault != "" {
			return fault, nil
		}
		before := len(e.found)
		if err := e.search(ctx, query); err != nil {
			return "", err
		}
		return articles(e.found[before:]), nil
	case handoffTool:
		reason, fault := argument(call.Function.Arguments, "reason", maxReason)
		if fault != "" {
			return fault, nil
		}
		if e.handoff {
			return "A teammate takes over", nil
		}
		e.handoff = true
		return "A teammate takes over", e.pass(agent.Action{Handoff: line(reason), Outcome: agent.HandedOver})
	}
	return "Error: there is no tool " + line(name), nil
}

// argument reads the only argument of a tool, a text. fault is the reply to the server if it is invalid.
func argument(arguments, name string, maxChars int) (value, fault string) {
	var all map[string]any
	if err := json.Unmarshal([]byte(arguments), &all); err != nil {
		return "", "Error: the arguments are no JSON object"
	}
	value, ok := all[name].(string)
	value = strings.TrimSpace(value)
	switch {
	case !ok || len(all) != 1:
		return "", "Error: the arguments must be {\"" + name + "\": text}"
	case value == "":
		return "", "Error: " + name + " must not be empty"
	case utf8.RuneCountInString(value) > maxChars:
		return "", "Error: " + name + " is too long"
	}
	return value, ""
}
