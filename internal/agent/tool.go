package agent

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"carillon/internal/base/resource"
)

// ClientTool is a tool that the page of a widget runs for the agent.
type ClientTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters,omitempty"` // JSON Schema of an object
	// Phrases trigger the tool in the built-in engine, which uses it if a message contains one of them.
	Phrases []string `json:"phrases,omitempty"`
}

const (
	maxTools        = 20
	maxDescription  = 1000 // characters
	maxParameters   = 8 << 10
	maxPhrases      = 20
	maxPhraseLength = 100 // characters
)

var (
	toolName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)
	ownTools = []string{"search", "handoff", "hang_up", "end_call"} //nolint:gochecknoglobals // read-only
)

func validateTools(c *resource.Check, tools []ClientTool) {
	c.That(len(tools) <= maxTools, "client_tools", "Must have at most 20 entries")
	for i := range tools {
		t, at := &tools[i], resource.Index("client_tools", i)
		t.validate(c, at)
		c.That(!slices.ContainsFunc(tools[:i], func(other ClientTool) bool { return other.Name == t.Name }), at+".name",
			"Names the same twice")
	}
}

func (t *ClientTool) validate(c *resource.Check, at string) {
	c.Required(at+".name", t.Name)
	c.That(t.Name == "" || toolName.MatchString(t.Name), at+".name", "Must be a word such as show_page")
	c.That(!slices.Contains(ownTools, t.Name), at+".name", "Is a tool of the agent's own")
	c.Required(at+".description", t.Description)
	c.That(utf8.RuneCountInString(t.Description) <= maxDescription, at+".description", "Must have at most 1,000 characters")
	if len(t.Parameters) > 0 {
		var schema struct {
			Type       string                     `json:"type"`
			Properties map[string]json.RawMessage `json:"properties"`
		}
		err := json.Unmarshal(t.Parameters, &schema)
		c.That(err == nil && schema.Type == "object", at+".parameters", "Must be the JSON schema of an object")
		c.That(len(t.Parameters) <= maxParameters, at+".parameters", "Must have at most 8 KiB")
	}
	c.That(len(t.Phrases) <= maxPhrases, at+".phrases", "Must have at most 20 entries")
	for i, phrase := range t.Phrases {
		c.That(strings.TrimSpace(phrase) != "" && utf8.RuneCountInString(phrase) <= maxPhraseLength,
			resource.Index(at+".phrases", i), "Must have 1 to 100 characters")
	}
}

// maxServerTools bounds the tools at servers, each of which may be an MCP server with several.
const maxServerTools = 20

func (a *Agent) validateServerTools(c *resource.Check) {
	const at = "server_tools"
	c.That(len(a.ServerTools) <= maxServerTools, at, "Must have at most 20 entries")
	c.That(len(a.ServerTools) == 0 || a.Engine != "elevenlabs", at,
		"Are not called by the engine elevenlabs: declare the tools in the agent at ElevenLabs")
	for i, id := range a.ServerTools {
		c.Required(resource.Index(at, i), id)
		c.That(!slices.Contains(a.ServerTools[:i], id), resource.Index(at, i), "Names the same twice")
	}
}
