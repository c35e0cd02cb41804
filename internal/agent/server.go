package agent

import (
	"cmp"
	"strings"

	"carillon/internal/base/resource"
)

// DefaultElevenLabs is the base URL of ElevenLabs' API.
const DefaultElevenLabs = "https://api.elevenlabs.io"

// OpenAI is a server with OpenAI's API and the parameters of requests to it.
type OpenAI struct {
	BaseURL     string   `json:"base_url"` // /chat/completions is appended
	Model       string   `json:"model"`
	APIKey      string   `json:"api_key,omitempty" secret:"true"` // may be empty if the server requires none
	Temperature *float64 `json:"temperature,omitempty"`           // nil: the server's default
}

// ElevenLabs is an agent of an ElevenLabs account.
type ElevenLabs struct {
	BaseURL string `json:"base_url,omitempty"` // default https://api.elevenlabs.io
	AgentID string `json:"agent_id"`
	APIKey  string `json:"api_key,omitempty" secret:"true"`
}

const (
	maxKey = 1000 // bytes

	httpRule   = "Must be an http or https address"
	socketRule = "Must be a ws or wss address"
	anyRule    = "Must be an http, https, ws or wss address"
)

func (o *OpenAI) validate(c *resource.Check) {
	const at = "openai"
	server(c, at, &o.BaseURL, httpRule, "http", "https")
	c.Name(at+".model", o.Model)
	key(c, at, o.APIKey)
	if t := o.Temperature; t != nil {
		c.That(*t >= 0 && *t <= 2, at+".temperature", "Must be from 0 to 2")
	}
}

func (e *ElevenLabs) validate(c *resource.Check) {
	const at = "elevenlabs"
	e.BaseURL = cmp.Or(e.BaseURL, DefaultElevenLabs)
	server(c, at, &e.BaseURL, httpRule, "http", "https")
	c.Name(at+".agent_id", e.AgentID)
	c.That(!strings.ContainsAny(e.AgentID, " /?#&"), at+".agent_id", "Must be an id such as agent_01jv…")
	key(c, at, e.APIKey)
}

// server checks the URL of a server, and removes trailing slashes.
func server(c *resource.Check, at string, address *string, rule string, schemes ...string) {
	*address = strings.TrimRight(*address, "/")
	at += ".base_url"
	c.Required(at, *address)
	if *address == "" {
		return
	}
	fault := resource.AddressFault(*address, rule, schemes...)
	c.That(fault == "", at, fault)
	c.That(!strings.ContainsAny(*address, "?#"), at, "Must have no query and no fragment")
}

func key(c *resource.Check, at, key string) {
	c.That(len(key) <= maxKey && !strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }),
		at+".api_key", "Must be at most 1,000 printable characters without spaces")
}
