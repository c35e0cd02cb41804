// Package agent is the virtual agent that talks to people: what a company configures of it, and the thinkers that decide what it
// responds. It knows no transport: a chat and a call use the same.
package agent

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"

	"carillon/internal/resource"
)

// Agent is a virtual agent of a company.
type Agent struct {
	ID        string   `json:"id,omitempty"`
	Name      string   `json:"name"`
	Language  string   `json:"language"` // BCP 47
	Engine    string   `json:"engine"`   // builtin, openai or elevenlabs
	Greeting  string   `json:"greeting"`
	Knowledge []string `json:"knowledge"` // ids of knowledge
	Tools     []string `json:"tools"`
	Record    bool     `json:"record"` // calls and voice conversations, announced first
	Result    []Result `json:"result"`
	Persona   string   `json:"persona,omitempty"` // who it is and how it talks, for engines that read it
	OpenAI    *OpenAI  `json:"openai,omitempty"`  // of engine openai
	// ElevenLabs is the agent there that engine elevenlabs talks with.
	ElevenLabs *ElevenLabs `json:"elevenlabs,omitempty"`
	Voice      *Voice      `json:"voice,omitempty"` // how it speaks and understands; nil: the defaults
	// ClientTools are what the page of a voice widget does for the agent.
	ClientTools []ClientTool `json:"client_tools,omitempty"`

	noKey string // stands for OpenAI.APIKey where OpenAI is nil
}

// OpenAI is a server with OpenAI's interface, and what is asked of it.
type OpenAI struct {
	BaseURL     string   `json:"base_url"` // what /chat/completions follows
	Model       string   `json:"model"`
	APIKey      string   `json:"api_key,omitempty" secret:"true"` // empty: the server wants none
	Temperature *float64 `json:"temperature,omitempty"`           // nil: the server's default
}

// ElevenLabs is an agent of an ElevenLabs account.
type ElevenLabs struct {
	BaseURL string `json:"base_url,omitempty"` // default https://api.elevenlabs.io
	AgentID string `json:"agent_id"`
	APIKey  string `json:"api_key,omitempty" secret:"true"`
}

// Voice is how an agent speaks and what understands speech.
type Voice struct {
	Speaker            string   `json:"speaker"`                       // espeak or openai
	Transcriber        string   `json:"transcriber"`                   // none, pocketsphinx, openai or vosk
	Name               string   `json:"name,omitempty"`                // of the speaker's voice; "": the language's
	Speed              float64  `json:"speed"`                         // 1 is normal: 160 words a minute
	SilenceMS          int      `json:"silence_ms"`                    // that ends a person's turn
	SpeakerService     *Service `json:"speaker_service,omitempty"`     // of speaker openai
	TranscriberService *Service `json:"transcriber_service,omitempty"` // of transcriber openai or vosk
}

// Service is a server that speaks or transcribes.
type Service struct {
	BaseURL string `json:"base_url"` // of vosk a ws or wss address
	Model   string `json:"model,omitempty"`
	APIKey  string `json:"api_key,omitempty" secret:"true"`
}

// ClientTool is something that the page of a widget does for the agent.
type ClientTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters,omitempty"` // JSON schema of an object
	// Phrases have the built-in engine use the tool: a message that contains one of them.
	Phrases []string `json:"phrases,omitempty"`
}

// Result is something that a call is to find out.
type Result struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"` // text, number, boolean or choice
	Choices []string `json:"choices,omitempty"`
}

const (
	maxResults   = 50
	maxChoices   = 100
	maxKnowledge = 100
	maxPersona   = 4000 // characters
	maxKey       = 1000 // bytes
)

var resultName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// Kind describes agents.
func Kind() resource.Kind {
	return resource.Kind{Name: "agent", Plural: "agents", Phrase: "an agent", New: func() resource.Resource { return &Agent{} }}
}

// Key implements resource.Resource.
func (a *Agent) Key() (id, name *string) { return &a.ID, &a.Name }

// Secret implements resource.Secretive: the key of its engine's server.
func (a *Agent) Secret() *string {
	if a.OpenAI == nil {
		return &a.noKey
	}
	return &a.OpenAI.APIKey
}

// SecretUse implements resource.Bound: a key is for one server.
func (a *Agent) SecretUse() string {
	if a.OpenAI == nil {
		return ""
	}
	return a.OpenAI.BaseURL
}

// References are the knowledge that the agent searches.
func (a *Agent) References() []resource.Reference {
	var all []resource.Reference
	for i := range a.Knowledge {
		all = append(all, resource.Reference{Field: resource.Index("knowledge", i), Kind: "knowledge", To: &a.Knowledge[i]})
	}
	return all
}

// Validate implements resource.Resource.
func (a *Agent) Validate() error {
	var c resource.Check
	c.UUID("id", &a.ID)
	c.Name("name", a.Name)
	c.Language("language", &a.Language)
	c.Choice("engine", &a.Engine, "builtin", "openai", "elevenlabs")
	c.Text("greeting", a.Greeting)
	a.Knowledge = resource.List(a.Knowledge)
	c.That(len(a.Knowledge) <= maxKnowledge, "knowledge", "Must have at most 100 entries")
	for i, name := range a.Knowledge {
		c.Required(resource.Index("knowledge", i), name)
	}
	c.Words("tools", &a.Tools, "search", "handoff", "hang_up")
	c.That(utf8.RuneCountInString(a.Persona) <= maxPersona, "persona", "Must have at most 4,000 characters")
	if a.OpenAI != nil {
		a.OpenAI.validate(&c)
	}
	a.Result = resource.List(a.Result)
	c.That(len(a.Result) <= maxResults, "result", "Must have at most 50 entries")
	names := map[string]bool{}
	for i := range a.Result {
		r, at := &a.Result[i], resource.Index("result", i)
		r.validate(&c, at)
		c.That(!names[r.Name], at+".name", "Names the same twice")
		names[r.Name] = true
	}
	return c.Err()
}

func (o *OpenAI) validate(c *resource.Check) {
	const at = "openai"
	o.BaseURL = strings.TrimRight(o.BaseURL, "/")
	c.Required(at+".base_url", o.BaseURL)
	if o.BaseURL != "" {
		c.Address(at+".base_url", o.BaseURL)
		c.That(!strings.ContainsAny(o.BaseURL, "?#"), at+".base_url", "Must have no query and no fragment")
	}
	c.Name(at+".model", o.Model)
	c.That(len(o.APIKey) <= maxKey && !strings.ContainsFunc(o.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }),
		at+".api_key", "Must be at most 1,000 printable characters without spaces")
	if t := o.Temperature; t != nil {
		c.That(*t >= 0 && *t <= 2, at+".temperature", "Must be from 0 to 2")
	}
}

func (r *Result) validate(c *resource.Check, at string) {
	c.Required(at+".name", r.Name)
	c.That(r.Name == "" || resultName.MatchString(r.Name), at+".name", "Must be a word such as confirmed")
	c.Choice(at+".type", &r.Type, "text", "number", "boolean", "choice")
	for i, choice := range r.Choices {
		c.Name(resource.Index(at+".choices", i), choice)
	}
	c.That((r.Type == "choice") == (len(r.Choices) > 0), at+".choices", "Must stand where the type is choice, and only there")
	c.That(len(r.Choices) <= maxChoices, at+".choices", "Must have at most 100 entries")
}
