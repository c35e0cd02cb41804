package tools

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"carillon/internal/agent"
	"carillon/internal/base/secret"
)

const (
	maxListed    = 200 // tools of a server that are read
	maxPages     = 10  // of its list
	endOfSession = time.Second
)

// hash seals the parts of an approved tool that the server determines.
func (a *Approved) hash() string {
	sum := sha256.Sum256([]byte(a.Name + "\x00" + a.Description + "\x00" + compact(a.Parameters)))
	return hex.EncodeToString(sum[:])
}

// schemaOf reads the JSON Schema of a tool's arguments.
func schemaOf(text json.RawMessage) (*jsonschema.Resolved, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	if s.Type != "object" {
		return nil, errors.New("the schema is none of an object")
	}
	return s.Resolve(nil) // without a loader, so references to schemas at other addresses are refused
}

// parametersOf returns the parameters of an approved tool that a person can be asked for, the required ones first.
// whole is false if a required one cannot be asked for, because it is a list or an object.
func parametersOf(a *Approved) (all []agent.Parameter, whole bool) {
	var s struct {
		Properties map[string]struct {
			Type        any    `json:"type"`
			Description string `json:"description"`
			Format      string `json:"format"`
			Enum        []any  `json:"enum"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if json.Unmarshal(a.Parameters, &s) != nil {
		return nil, false
	}
	whole = true
	names := slices.SortedFunc(maps.Keys(s.Properties), func(x, y string) int {
		return cmp.Or(place(s.Required, x)-place(s.Required, y), cmp.Compare(x, y))
	})
	for _, name := range names {
		property, required := s.Properties[name], slices.Contains(s.Required, name)
		p := agent.Parameter{Name: name, Description: property.Description, Required: required, Question: a.Questions[name]}
		kind, _ := property.Type.(string)
		switch {
		case kind == "string" && len(property.Enum) > 0:
			p.Type = "choice"
			for _, choice := range property.Enum {
				text, _ := choice.(string)
				p.Choices = append(p.Choices, text)
			}
		case kind == "string" && property.Format == "date":
			p.Type = "date"
		case kind == "string":
			p.Type = "text"
		case kind == "number" || kind == "integer" || kind == "boolean":
			p.Type = kind
		default:
			whole = whole && !required
			continue
		}
		all = append(all, p)
	}
	return all, whole
}

// place returns the position of a name, after all others if it is missing.
func place(all []string, name string) int {
	if i := slices.Index(all, name); i >= 0 {
		return i
	}
	return len(all)
}

// mcpTool returns an approved tool in the form for agents, or nil if its approval is damaged.
func (t *Tool) mcpTool(a *Approved) *agent.ServerTool {
	if a.Hash != a.hash() {
		return nil
	}
	parameters, _ := parametersOf(a)
	return &agent.ServerTool{
		ID: t.ID, Name: t.offeredName(a.Name), Remote: a.Name, Title: a.Title, Description: a.Description, Parameters: parameters,
		Schema: a.Parameters, Phrases: a.Phrases, Changes: a.Changes == nil || *a.Changes, Idempotent: a.Idempotent, Confirm: a.Confirm,
		Check: func(arguments map[string]any) string { return a.fault(arguments) },
	}
}

// fault returns the reason why the arguments do not fit the approved schema. An argument that the schema does not name
// is refused, unless it names none at all.
func (a *Approved) fault(arguments map[string]any) string {
	schema, err := schemaOf(a.Parameters)
	if err != nil {
		return "The approved schema cannot be read"
	}
	properties := schema.Schema().Properties
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		if properties[name] == nil {
			return "There is no parameter " + cut(printable(name), maxName)
		}
	}
	if err := schema.Validate(arguments); err != nil {
		return "The arguments do not fit: " + cut(printable(err.Error()), maxReason)
	}
	return ""
}

const (
	maxName   = 64  // bytes of a name in an error
	maxReason = 300 // bytes of a reason in an error
)

// wire sends the requests of a session to the server, with the tool's headers.
type wire struct {
	*exchange
	host string
}

// RoundTrip implements http.RoundTripper. It sends to the tool's server alone.
func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != w.host {
		return nil, errors.New("the session left its server")
	}
	ctx, done := r.Context(), context.CancelFunc(func() {})
	if r.Method == http.MethodDelete { // the session ends; nobody waits for that
		ctx, done = context.WithTimeout(ctx, endOfSession)
	}
	r = r.Clone(ctx)
	defer done()
	r.Header.Set("User-Agent", "Carillon")
	if w.call != nil {
		r.Header.Set("Idempotency-Key", w.call.Key)
		w.once(r)
	}
	w.filling.headers(r.Header, w.tool.MCP.Headers)
	return w.o.Client.Do(r)
}

// session opens a session with the tool's server. It offers the server nothing: no sampling, no questions, no roots.
func (x *exchange) session(ctx context.Context) (*sdk.ClientSession, error) {
	u, err := url.Parse(x.tool.MCP.URL)
	if err != nil {
		return nil, errors.New("the address cannot be read")
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "carillon", Version: "1"},
		&sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}})
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client.Connect(ctx, &sdk.StreamableClientTransport{
		Endpoint: x.tool.MCP.URL, HTTPClient: &http.Client{Transport: wire{x, u.Host}, CheckRedirect: stay}, MaxRetries: -1,
		DisableStandaloneSSE: true, MaxEventSize: maxRead,
	}, nil)
}

// mcp runs a tool of an MCP server, if the server still describes it as it was approved.
func (x *exchange) mcp(ctx context.Context) agent.Ran {
	i := slices.IndexFunc(x.tool.MCP.Tools, func(a Approved) bool { return a.Name == x.offered.Remote })
	if i < 0 {
		return refused("The tool is no longer allowed")
	}
	approved := &x.tool.MCP.Tools[i]
	session, err := x.session(ctx)
	if err != nil {
		return x.faulty(x.sessionFault(ctx, err), false)
	}
	defer func() { _ = session.Close() }()
	listed, err := list(ctx, session, approved.Name)
	if err != nil {
		return x.faulty(x.sessionFault(ctx, err), false)
	}
	at := slices.IndexFunc(listed, func(a Listed) bool { return a.Name == approved.Name })
	switch {
	case at < 0:
		return refused("The server no longer has the tool " + approved.Name)
	case listed[at].Hash != approved.Hash:
		return refused("The server changed the tool " + approved.Name + ": approve it again")
	}
	result, err := session.CallTool(ctx, &sdk.CallToolParams{
		Meta: sdk.Meta{"carillon/idempotency-key": x.call.Key}, Name: approved.Name, Arguments: x.call.Arguments,
	})
	if err != nil {
		return x.faulty(x.sessionFault(ctx, err), true)
	}
	return x.result(approved, result)
}

// sessionFault returns the text of an error of a session.
func (x *exchange) sessionFault(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return cut(printable(reasonOf(err)), maxReason)
}

// result reads the result of an MCP tool: its texts, or else its structured content.
func (x *exchange) result(a *Approved, result *sdk.CallToolResult) agent.Ran {
	var texts []string
	size := 0
	for _, content := range result.Content {
		if text, ok := content.(*sdk.TextContent); ok {
			texts = append(texts, text.Text)
			size += len(text.Text)
		}
	}
	text := x.redact.Text(printable(strings.Join(texts, "\n")))
	var doc any = text
	structured, err := json.Marshal(result.StructuredContent)
	if err == nil && result.StructuredContent != nil {
		size += len(structured)
		if doc, err = decode(structured); err == nil {
			doc = x.clean(doc)
		}
	}
	switch {
	case size > x.tool.bound():
		return x.faulty(reasonOf(errTooLarge), true)
	case err != nil:
		return x.faulty("The structured content is no JSON", true)
	case result.IsError:
		ran := x.faulty("The tool reports an error: "+cut(text, maxReason), false)
		ran.Text = cut(text, maxResult)
		return ran
	case text == "" && result.StructuredContent == nil:
		return x.ran("Done. The result is empty.", x.sentence(a.Say, doc))
	}
	if text == "" {
		shown, _ := json.Marshal(doc) // decoded JSON can be encoded
		text = string(shown)
	}
	say := x.sentence(a.Say, doc)
	if say == "" {
		say = strings.Join(texts, "\n")
		if result.StructuredContent != nil {
			say = flat(doc)
		}
	}
	return x.ran(text, printable(say))
}

// Listed is a tool in a server's list.
type Listed struct {
	Approved
	Fault string `json:"fault,omitempty"` // why it cannot be approved
}

// list reads a server's tools, up to the named one or, without a name, all of them.
func list(ctx context.Context, session *sdk.ClientSession, until string) (all []Listed, err error) {
	params := &sdk.ListToolsParams{}
	for page := 0; page < maxPages && len(all) < maxListed; page++ {
		result, err := session.ListTools(ctx, params)
		if err != nil {
			return nil, err
		}
		for _, t := range result.Tools {
			if len(all) < maxListed {
				all = append(all, listed(t))
			}
			if t.Name == until && until != "" {
				return all, nil
			}
		}
		if result.NextCursor == "" {
			break
		}
		params.Cursor = result.NextCursor
	}
	return all, nil
}

// listed returns a server's tool in the form for its approval. The server's hint that it only reads decides the
// default of Changes; an administrator sees and decides it.
func listed(t *sdk.Tool) Listed {
	changes := t.Annotations == nil || !t.Annotations.ReadOnlyHint
	x := Listed{Approved: Approved{Name: t.Name, Description: t.Description, Changes: &changes}}
	schema, err := json.Marshal(t.InputSchema)
	if err == nil {
		x.Parameters = json.RawMessage(compact(schema))
		_, err = schemaOf(x.Parameters)
	}
	switch {
	case err != nil:
		x.Fault = "Its parameters are no JSON schema that this program reads"
	case len(x.Parameters) > maxSchema:
		x.Fault = fmt.Sprintf("Its parameters have more than %d KiB", maxSchema>>10)
	case len([]rune(t.Description)) > maxDescription:
		x.Fault = fmt.Sprintf("Its description has more than %d characters", maxDescription)
	case len(t.Name) > maxRemote || t.Name == "" || printable(t.Name) != t.Name:
		x.Fault = "Its name is too long or has unprintable characters"
	}
	if plain := strings.ReplaceAll(x.Description, "\r", ""); printable(plain) != plain && x.Fault == "" {
		x.Fault = "Its description has invisible characters"
	}
	if x.Fault != "" {
		x.Name, x.Description, x.Parameters = cut(printable(x.Name), maxRemote), cut(printable(x.Description), maxReason), nil
		return x
	}
	x.Hash = x.hash()
	return x
}

const maxRemote = 128 // bytes of a tool's name at its server

// List reads the tools of an MCP server, for their approval. reason is set if it cannot be read.
func (b *Box) List(ctx context.Context, companyID string, t *Tool) (all []Listed, reason string, err error) {
	values, reason, err := b.secrets(ctx, companyID, t)
	if reason != "" || err != nil {
		return nil, reason, err
	}
	ctx, cancel := context.WithTimeout(ctx, t.timeout())
	defer cancel()
	x := &exchange{Box: b, tool: t, filling: filling{nil, values}, redact: secret.NewRedactor(values)}
	session, err := x.session(ctx)
	if err != nil {
		return nil, x.redact.Text(x.sessionFault(ctx, err)), nil
	}
	defer func() { _ = session.Close() }()
	if all, err = list(ctx, session, ""); err != nil {
		return nil, x.redact.Text(x.sessionFault(ctx, err)), nil
	}
	for i := range all {
		if shown := all[i].Description + string(all[i].Parameters); x.redact.Text(shown) != shown {
			all[i] = Listed{Approved: Approved{Name: all[i].Name}, Fault: "Its description repeats a secret"}
		}
	}
	return all, "", nil
}
