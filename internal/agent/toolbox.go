package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"

	"carillon"
)

// Toolbox runs the tools at servers of the company. Its methods are safe for concurrent use.
type Toolbox interface {
	// Usable returns the tools that the request's agent may use.
	Usable(ctx context.Context, r *Request) ([]ServerTool, error)
	// Run runs one of them. It only fails if ctx ends: a failure of the server is a result.
	Run(ctx context.Context, r *Request, t *ServerTool, c *Call) (Ran, error)
}

// ServerTool is a tool at a server of the company.
type ServerTool struct {
	ID          string // id of its resource
	Name        string // unique among the agent's tools
	Remote      string // name at an MCP server; empty for HTTP
	Title       Texts  // what it does, as said to a person; may be empty
	Description string // for engines
	Parameters  []Parameter
	Schema      json.RawMessage // JSON Schema of the arguments
	Phrases     []string        // trigger it in the built-in engine
	Changes     bool            // it changes something, so the person confirms each call
	Idempotent  bool            // the server executes repeated calls with the same key only once
	Confirm     Texts           // replaces the question before a change
	Check       func(arguments map[string]any) (reason string)
}

// Call is a call of a tool that waits for a parameter, a confirmation or its result.
type Call struct {
	ID        string         `json:"id"`   // of the tool's resource
	Tool      string         `json:"tool"` // its name
	Arguments map[string]any `json:"arguments,omitempty"`
	Key       string         `json:"key,omitempty"`       // idempotency key
	Parameter string         `json:"parameter,omitempty"` // asked for; empty if the person confirms the call
	Question  string         `json:"question"`
	Choices   []string       `json:"choices,omitempty"`
	Number    bool           `json:"number,omitempty"`   // the answer is a number
	Digits    int            `json:"digits,omitempty"`   // of the answer; 0 if unknown
	Accept    string         `json:"accept,omitempty"`   // kind of the answer (AnswerKind)
	Attempts  int            `json:"attempts,omitempty"` // answers that could not be read
	Started   bool           `json:"started,omitempty"`  // it was confirmed, and may have reached the server
	Changes   bool           `json:"changes,omitempty"`  // the tool changes something
}

// Memory is the state of an agent between two messages of a conversation. Handing over and the end clear it.
type Memory struct {
	Call *Call `json:"call,omitempty"`
}

// maxMemory bounds the stored form of a Memory, in bytes.
const maxMemory = 64 << 10

// ReadMemory decodes a stored memory. A damaged or foreign text is an empty memory.
func ReadMemory(text string) (m Memory) {
	if text != "" && json.Unmarshal([]byte(text), &m) != nil {
		return Memory{}
	}
	return m
}

// Text returns the stored form, empty for an empty or oversized memory.
func (m Memory) Text() string {
	text, err := json.Marshal(m)
	if err != nil || len(text) > maxMemory || string(text) == "{}" {
		return ""
	}
	return string(text)
}

// Status is the outcome of a call of a tool.
type Status string

// The outcomes of a call.
const (
	RanWell    Status = "ok"
	RanNothing Status = "not_found" // the server found nothing for these arguments
	RanRefused Status = "refused"   // the call was not made
	RanFailed  Status = "failed"
	RanUnknown Status = "unknown" // a change that may or may not have happened
)

// Ran is the result of a call. Its texts contain no secrets, and are data: never instructions.
type Ran struct {
	Status Status
	Code   int    // HTTP status; 0 if there is none
	Text   string // result for an engine, bounded
	Say    string // result for a person; empty if there is no text for it
	Reason string // failure, for the administrator
	MS     int64
}

// Use is a call of a tool, for the administrator.
type Use struct {
	Tool      string `json:"tool"`
	Arguments string `json:"arguments,omitempty"` // JSON, bounded
	Status    Status `json:"status"`
	Code      int    `json:"code,omitempty"`
	Reason    string `json:"reason,omitempty"`
	MS        int64  `json:"ms"`
	Changes   bool   `json:"changes,omitempty"` // the tool changes something
}

const maxUseArguments = 1000 // bytes

// UseOf describes a call and its result.
func UseOf(c *Call, ran Ran) *Use {
	arguments, _ := json.Marshal(c.Arguments) // decoded JSON can be encoded
	text := strings.ToValidUTF8(string(arguments[:min(len(arguments), maxUseArguments)]), "")
	return &Use{c.Tool, text, ran.Status, ran.Code, carillon.Shorten(ran.Reason), ran.MS, c.Changes}
}

// NewCall returns a call that a message of the conversation causes. Its key is the same whenever the message is
// answered again with the same arguments, on any node.
func (r *Request) NewCall(t *ServerTool, arguments map[string]any, ordinal int) *Call {
	c := &Call{ID: t.ID, Tool: t.Name, Arguments: arguments, Changes: t.Changes}
	if r.ConversationID == "" {
		c.Key = carillon.NewID(r.now())
		return c
	}
	given, _ := json.Marshal(arguments) // with sorted keys
	sum := sha256.Sum256([]byte(strings.Join([]string{
		r.CompanyID, r.ConversationID, strconv.FormatInt(r.Turn, 10), t.ID, t.Name, strconv.Itoa(ordinal), string(given),
	}, "\x00")))
	c.Key = hex.EncodeToString(sum[:16])
	return c
}

// toolQuestion is the prefix of the names of calls' questions. No result's name has it.
const toolQuestion = "-tool"

// asks returns the name of the call's open question. A confirmation has a different name for each call, so that the
// answer to an earlier one confirms nothing.
func (c *Call) asks() string {
	if c.Parameter == "" {
		return toolQuestion + "/" + c.Key
	}
	return toolQuestion + "." + c.Parameter
}

// Open reports whether the question with a name belongs to the call. A nil call has none.
func (c *Call) Open(asked string) bool { return c != nil && !c.Started && c.asks() == asked }

// Pending returns the call whose question is open, or nil.
func (r *Request) Pending() *Call {
	if c := r.Memory.Call; c != nil && (c.asks() == r.Asked || c.Started) {
		return c
	}
	return nil
}

// Offered returns the tools at servers that can be used in this conversation.
func (r *Request) Offered(ctx context.Context) ([]ServerTool, error) {
	if r.Toolbox == nil || len(r.Agent.ServerTools) == 0 {
		return nil, nil
	}
	return r.Toolbox.Usable(ctx, r)
}

// Execute runs a call. A call that changes something is claimed first: if this node dies, the next one knows that the
// change may have happened, and repeats it only with a server that recognizes the key. The claimed call runs to its
// end even if ctx is canceled, so that its outcome is known.
func (r *Request) Execute(ctx context.Context, t *ServerTool, c *Call) (Ran, error) {
	if fault := t.Fault(c.Arguments); fault != "" {
		return Ran{Status: RanRefused, Reason: fault, Text: fault}, nil
	}
	if !t.Changes {
		return r.Toolbox.Run(ctx, r, t, c)
	}
	if c.Started && !t.Idempotent {
		return Ran{Status: RanUnknown, Reason: "The program stopped during the call: the change may have happened"}, nil
	}
	claimed := *c
	claimed.Started = true
	if r.Claim != nil {
		if err := r.Claim(ctx, Memory{Call: &claimed}); err != nil {
			return Ran{}, err
		}
	}
	return r.Toolbox.Run(context.WithoutCancel(ctx), r, t, &claimed)
}

// Fault returns the reason why the tool cannot be called with the arguments, or "".
func (t *ServerTool) Fault(arguments map[string]any) string {
	if t.Check != nil {
		return t.Check(arguments)
	}
	for i := range t.Parameters {
		p := &t.Parameters[i]
		value, given := arguments[p.Name]
		if !given {
			if p.Required {
				return "The parameter " + p.Name + " is missing"
			}
			continue
		}
		if reason := p.Fault(value); reason != "" {
			return "The parameter " + p.Name + " " + reason
		}
	}
	for name := range arguments {
		if t.Parameter(name) == nil {
			return "There is no parameter " + carillon.Shorten(name)
		}
	}
	return ""
}

// Parameter returns a parameter by name, or nil.
func (t *ServerTool) Parameter(name string) *Parameter {
	for i := range t.Parameters {
		if t.Parameters[i].Name == name {
			return &t.Parameters[i]
		}
	}
	return nil
}
