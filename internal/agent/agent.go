// Package agent models the virtual agent that talks to people: its configuration by a company, and the thinkers that
// generate its responses. It is independent of the transport: chats and calls use the same agents.
package agent

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"carillon/internal/base/resource"
)

// Agent is a virtual agent of a company.
type Agent struct {
	ID        string   `json:"id,omitempty"`
	Name      string   `json:"name"`
	Language  string   `json:"language"`                                // BCP 47
	Engine    string   `json:"engine" enum:"builtin,openai,elevenlabs"` // builtin, openai or elevenlabs
	Greeting  string   `json:"greeting"`
	Knowledge []string `json:"knowledge"` // ids of knowledge
	Tools     []string `json:"tools"`
	Record    bool     `json:"record"`              // record calls and voice conversations, which is announced first
	Voicemail string   `json:"voicemail,omitempty"` // said to an answering machine; empty means hang up
	// Purpose says in a few words why the agent calls, such as "your booking", for assistants that screen calls.
	Purpose string `json:"purpose,omitempty"`
	// MenuKeys are pressed in the menu of a company that the agent calls; w waits a second. Empty means hang up.
	MenuKeys string   `json:"menu_keys,omitempty"`
	Result   []Result `json:"result"`
	// Goal says in one sentence when a conversation is a success. Reviews judge whether it was reached. Empty means no goal.
	Goal string `json:"goal,omitempty"`
	// GoalResult names the result that decides in reviews by rules: the value false means that the goal was not reached.
	// Empty means that no result decides.
	GoalResult string  `json:"goal_result,omitempty"`
	Topics     []Topic `json:"topics,omitempty"` // what conversations may be about, for reviews
	// AskCallers makes the agent ask the questions of Result in incoming calls too.
	AskCallers bool    `json:"ask_callers,omitempty"`
	Persona    string  `json:"persona,omitempty"` // identity and style, for engines that use it
	OpenAI     *OpenAI `json:"openai,omitempty"`  // for engine openai
	// ElevenLabs is the agent at ElevenLabs, for engine elevenlabs.
	ElevenLabs *ElevenLabs `json:"elevenlabs,omitempty"`
	Voice      *Voice      `json:"voice,omitempty"`    // speech settings; nil means the defaults
	Transfer   *Transfer   `json:"transfer,omitempty"` // of calls to a number; nil disables it
	// ClientTools are tools that the page of a voice widget runs for the agent.
	ClientTools []ClientTool `json:"client_tools,omitempty"`
	ServerTools []string     `json:"server_tools,omitempty"` // ids of tools that servers of the company run
}

// Result is a piece of information that conversations collect.
type Result struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`                  // for engines
	Type        string   `json:"type" enum:"text,number,boolean,choice"` // text, number, boolean or choice
	Choices     []string `json:"choices,omitempty"`
	// Question makes the built-in engine ask for the result. Other engines choose their own way of collecting it.
	Question string `json:"question,omitempty"`
}

const (
	maxResults   = 50
	maxPurpose   = 100
	maxMenuKeys  = 20
	maxChoices   = 100
	maxKnowledge = 100
	maxPersona   = 4000 // characters
)

var resultName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// Kind returns the resource kind of agents.
func Kind() resource.Kind {
	return resource.Kind{Name: "agent", Plural: "agents", Phrase: "an agent", New: func() resource.Resource { return &Agent{} }}
}

// Key implements resource.Resource.
func (a *Agent) Key() (id, name *string) { return &a.ID, &a.Name }

// Secrets implements resource.Secretive: API keys, each bound to its server. The first name is empty, because agents
// originally had only this secret.
func (a *Agent) Secrets() []resource.Secret {
	var all []resource.Secret
	if o := a.OpenAI; o != nil {
		all = append(all, resource.Secret{Value: &o.APIKey, Use: o.BaseURL})
	}
	if e := a.ElevenLabs; e != nil {
		all = append(all, resource.Secret{Name: "elevenlabs.api_key", Value: &e.APIKey, Use: e.BaseURL})
	}
	if v := a.Voice; v != nil {
		if s := v.SpeakerService; s != nil {
			all = append(all, resource.Secret{Name: "voice.speaker_service.api_key", Value: &s.APIKey, Use: s.BaseURL})
		}
		if s := v.TranscriberService; s != nil {
			all = append(all, resource.Secret{Name: "voice.transcriber_service.api_key", Value: &s.APIKey, Use: s.BaseURL})
		}
	}
	return all
}

// References returns references to the knowledge that the agent searches, and to its tools.
func (a *Agent) References() []resource.Reference {
	var all []resource.Reference
	for i := range a.Knowledge {
		all = append(all, resource.Reference{Field: resource.Index("knowledge", i), Kind: "knowledge", To: &a.Knowledge[i]})
	}
	for i := range a.ServerTools {
		all = append(all, resource.Reference{Field: resource.Index("server_tools", i), Kind: "tool", To: &a.ServerTools[i]})
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
	c.Text("voicemail", a.Voicemail)
	c.That(utf8.RuneCountInString(a.Purpose) <= maxPurpose && !strings.ContainsAny(a.Purpose, "\r\n"), "purpose",
		"Must be at most 100 characters in one line")
	c.That(len(a.MenuKeys) <= maxMenuKeys && strings.Trim(a.MenuKeys, "0123456789*#w") == "", "menu_keys",
		"Must be at most 20 keys: digits, *, # and w")
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
	if a.ElevenLabs != nil {
		a.ElevenLabs.validate(&c)
	}
	if a.Voice != nil {
		a.Voice.validate(&c)
	}
	if a.Transfer != nil {
		a.Transfer.validate(&c)
	}
	validateTools(&c, a.ClientTools)
	a.validateServerTools(&c)
	a.Result = resource.List(a.Result)
	c.That(len(a.Result) <= maxResults, "result", "Must have at most 50 entries")
	names := map[string]bool{}
	for i := range a.Result {
		r, at := &a.Result[i], resource.Index("result", i)
		r.validate(&c, at)
		c.That(!names[r.Name], at+".name", "Names the same twice")
		names[r.Name] = true
	}
	a.validateReviews(&c)
	return c.Err()
}

func (r *Result) validate(c *resource.Check, at string) {
	c.Required(at+".name", r.Name)
	c.That(r.Name == "" || resultName.MatchString(r.Name), at+".name", "Must be a word such as confirmed")
	c.Choice(at+".type", &r.Type, "text", "number", "boolean", "choice")
	checkChoices(c, at+".choices", r.Type, r.Choices)
	c.Text(at+".question", r.Question)
	c.That(utf8.RuneCountInString(r.Description) <= maxSentence, at+".description", "Must have at most 500 characters")
}

// checkChoices checks the choices of a result or parameter.
func checkChoices(c *resource.Check, at, kind string, choices []string) {
	c.That((kind == "choice") == (len(choices) > 0), at, "Must stand where the type is choice, and only there")
	c.That(len(choices) <= maxChoices, at, "Must have at most 100 entries")
	for i, choice := range choices {
		c.Name(resource.Index(at, i), choice)
	}
}
