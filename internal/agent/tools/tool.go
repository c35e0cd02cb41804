// Package tools defines the tools that agents call at servers of their company, and calls them: HTTP endpoints, and
// tools of MCP servers (https://modelcontextprotocol.io). Box implements agent.Toolbox.
//
// An agent reaches only what an administrator named: the address, its parameters and their types, the headers, the
// secrets by name, and of an MCP server the tools whose description was approved. A result is data for the person or
// the engine, bounded and without the secrets; it never causes another call.
//
// The package does not decide when a tool is called, and does not ask the person: see agent.
package tools

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"carillon/internal/agent"
	"carillon/internal/base/resource"
	"carillon/internal/base/secret"
)

// Tool is a tool of a company's agents: an HTTP endpoint, or an MCP server.
type Tool struct {
	ID          string `json:"id,omitempty"`
	Name        string `json:"name"` // as engines call it
	Description string `json:"description,omitempty"`
	HTTP        *HTTP  `json:"http,omitempty"`
	MCP         *MCP   `json:"mcp,omitempty"`

	// The following fields belong to HTTP tools.

	Title      agent.Texts       `json:"title,omitempty"` // what it does, as said to a person
	Parameters []agent.Parameter `json:"parameters,omitempty"`
	Phrases    []string          `json:"phrases,omitempty"` // trigger it in the built-in engine
	// Changes makes the person confirm each call. nil means that all methods except GET change something.
	Changes    *bool       `json:"changes,omitempty"`
	Idempotent bool        `json:"idempotent,omitempty"` // the server recognizes the Idempotency-Key
	Confirm    agent.Texts `json:"confirm,omitempty"`
	Say        agent.Texts `json:"say,omitempty"`       // says the result
	NotFound   agent.Texts `json:"not_found,omitempty"` // said for the statuses 404 and 410

	Timeout     int `json:"timeout,omitempty"`      // seconds; 0 means 10
	MaxResponse int `json:"max_response,omitempty"` // bytes; 0 means 32 KiB
}

// HTTP is a request. Placeholders such as {{order_id}} in URL and Body are parameters, those such as
// {{secret.shop_key}} in the URL's query, the headers and the body are secrets. Parameters without a placeholder are
// sent in the query of GET and DELETE, else in a JSON body.
type HTTP struct {
	Method  string            `json:"method,omitempty" enum:"GET,POST,PUT,PATCH,DELETE"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers,omitempty"`
	// Body is a JSON document. A text that consists of a placeholder becomes a value of the parameter's type.
	Body json.RawMessage `json:"body,omitempty"`
	Pick string          `json:"pick,omitempty"` // JSON Pointer (RFC 6901) to the part of the response that is the result
}

// MCP is a server with the streamable HTTP transport.
type MCP struct {
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers,omitempty"`
	Tools   []Approved        `json:"tools"`
}

// Approved is a tool of an MCP server as the administrator approved it. Description and Parameters are the server's;
// Hash seals them, so that a server that changes either loses the approval.
type Approved struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"` // JSON Schema of an object
	Hash        string          `json:"hash"`

	Title      agent.Texts            `json:"title,omitempty"`
	Phrases    []string               `json:"phrases,omitempty"`
	Questions  map[string]agent.Texts `json:"questions,omitempty"` // for parameters, by name
	Changes    *bool                  `json:"changes,omitempty"`   // nil means true
	Idempotent bool                   `json:"idempotent,omitempty"`
	Confirm    agent.Texts            `json:"confirm,omitempty"`
	Say        agent.Texts            `json:"say,omitempty"`
}

const (
	maxTools       = 200 // per company
	maxParameters  = 20
	maxPhrases     = 20
	maxPhrase      = 100 // characters
	maxHeaders     = 20
	maxHeader      = 2000 // bytes
	maxBody        = 16 << 10
	maxDescription = 1000 // characters
	maxApproved    = 30   // of an MCP server
	maxSchema      = 8 << 10

	defaultTimeout  = 10 // seconds
	maxTimeout      = 30
	defaultResponse = 32 << 10
	maxResponse     = 256 << 10
	minResponse     = 256
)

// Kind returns the resource kind of tools.
func Kind() resource.Kind {
	return resource.Kind{
		Name: "tool", Plural: "tools", Phrase: "a tool", Most: maxTools, New: func() resource.Resource { return &Tool{} },
	}
}

// Key implements resource.Resource.
func (t *Tool) Key() (id, name *string) { return &t.ID, &t.Name }

var (
	nameForm   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,47}$`)
	headerForm = regexp.MustCompile(`^[A-Za-z0-9!#$%&'*+.^_|~-]{1,64}$`)
	ownNames   = []string{"search", "handoff", "hang_up", "end_call"} //nolint:gochecknoglobals // read-only
	ownHeaders = []string{                                            //nolint:gochecknoglobals // read-only
		"host", "content-length", "content-type", "transfer-encoding", "connection", "upgrade", "te", "trailer", "expect",
		"accept-encoding",
		"idempotency-key", "cookie", "mcp-session-id", "mcp-protocol-version", "last-event-id",
	}
	placeholder = regexp.MustCompile(`\{\{\s*([^{}]*?)\s*\}\}`)
)

// Validate implements resource.Resource.
func (t *Tool) Validate() error {
	v := &validation{Tool: t}
	v.UUID("id", &t.ID)
	v.Required("name", t.Name)
	v.That(t.Name == "" || nameForm.MatchString(t.Name), "name", "Must be a word of letters, digits and _, such as order_status")
	v.That(!slices.Contains(ownNames, t.Name), "name", "Is a tool of the agent's own")
	v.described("description", t.Description)
	v.That((t.HTTP == nil) != (t.MCP == nil), "http", "Must stand alone or be replaced by mcp: a tool has exactly one of them")
	v.That(t.Timeout >= 0 && t.Timeout <= maxTimeout, "timeout", "Must be from 1 to 30 seconds, or absent for 10")
	v.That(t.MaxResponse == 0 || t.MaxResponse >= minResponse && t.MaxResponse <= maxResponse, "max_response",
		"Must be from 256 to 262144 bytes, or absent for 32768")
	switch {
	case t.HTTP != nil && t.MCP == nil:
		v.http()
	case t.MCP != nil && t.HTTP == nil:
		v.mcp()
	}
	return v.Err()
}

type validation struct {
	resource.Check
	*Tool
}

func (v *validation) described(at, text string) {
	v.That(utf8.RuneCountInString(text) <= maxDescription, at, "Must have at most 1,000 characters")
}

func (v *validation) phrases(at string, all []string) {
	v.That(len(all) <= maxPhrases, at, "Must have at most 20 entries")
	for i, phrase := range all {
		v.That(strings.TrimSpace(phrase) != "" && utf8.RuneCountInString(phrase) <= maxPhrase, resource.Index(at, i),
			"Must have 1 to 100 characters")
	}
}

func (v *validation) http() {
	h := v.HTTP
	v.Required("description", v.Description)
	v.Choice("http.method", &h.Method, "GET", "POST", "PUT", "PATCH", "DELETE")
	v.address("http.url", h.URL)
	v.headers("http.headers", h.Headers)
	v.That(len(v.Parameters) <= maxParameters, "parameters", "Must have at most 20 entries")
	names := map[string]bool{}
	for i := range v.Parameters {
		p, at := &v.Parameters[i], resource.Index("parameters", i)
		p.Validate(&v.Check, at)
		v.That(!names[p.Name], at+".name", "Names the same twice")
		names[p.Name] = true
	}
	path, query, _ := strings.Cut(h.URL, "?")
	v.placeholders("http.url", path, names, false)
	v.placeholders("http.url", query, names, true)
	for i := range v.Parameters {
		p := &v.Parameters[i]
		v.That(p.Required || !mentions(path, p.Name), resource.Index("parameters", i)+".required",
			"Must be true for a parameter in the path")
		v.That(len(h.Body) == 0 || mentions(h.URL, p.Name) || mentions(string(h.Body), p.Name), resource.Index("parameters", i)+".name",
			"Stands neither in the address nor in the body")
	}
	v.That(h.bodied() || len(h.Body) == 0, "http.body", "Belongs to the methods POST, PUT and PATCH")
	first := strings.TrimLeft(string(h.Body), " \t\r\n")
	v.That(first == "" || json.Valid(h.Body) && (first[0] == '{' || first[0] == '['), "http.body", "Must be a JSON object or list")
	v.That(len(h.Body) <= maxBody, "http.body", "Must have at most 16 KiB")
	v.placeholders("http.body", string(h.Body), names, true)
	v.That(h.Pick == "" || strings.HasPrefix(h.Pick, "/"), "http.pick", "Must be a JSON Pointer such as /orders/0")
	v.phrases("phrases", v.Phrases)
	v.Title.Validate(&v.Check, "title")
	v.Confirm.Validate(&v.Check, "confirm")
	v.Say.Validate(&v.Check, "say")
	v.NotFound.Validate(&v.Check, "not_found")
	for _, tag := range slices.Sorted(maps.Keys(v.Confirm)) {
		v.placeholders("confirm."+tag, v.Confirm[tag], names, false)
	}
	v.sayings("say", v.Say, names)
	v.sayings("not_found", v.NotFound, names)
}

// sayings checks texts about a result: their placeholders are parameters, or JSON Pointers into the result.
func (v *validation) sayings(at string, all agent.Texts, names map[string]bool) {
	for _, tag := range slices.Sorted(maps.Keys(all)) {
		for _, m := range placeholder.FindAllStringSubmatch(all[tag], -1) {
			v.That(names[m[1]] || strings.HasPrefix(m[1], "/"), at+"."+tag,
				"Holds {{"+m[1]+"}}, which is neither a parameter nor a JSON Pointer such as /status")
		}
	}
}

func (v *validation) placeholders(at, text string, names map[string]bool, secrets bool) {
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		if name, is := strings.CutPrefix(m[1], secret.Mention); is {
			v.That(secrets && secret.ValidName(name), at, "Must not hold {{"+m[1]+"}}: secrets stand in headers, the query and the body")
			continue
		}
		v.That(names[m[1]], at, "Holds {{"+m[1]+"}}, which is no parameter")
	}
}

func (v *validation) address(at, address string) {
	v.Required(at, address)
	if address == "" {
		return
	}
	scheme, rest, _ := strings.Cut(address, "://")
	host := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		host = rest[:end]
	}
	v.That(!strings.Contains(scheme, "{{") && !strings.Contains(host, "{{"), at, "Must name its host: placeholders may stand after it")
	fault := resource.AddressFault(placeholder.ReplaceAllString(address, "x"), "Must be an http or https address", "https", "http")
	v.That(fault == "", at, fault)
	v.That(!strings.Contains(address, "#"), at, "Must have no fragment")
}

func (v *validation) headers(at string, all map[string]string) {
	v.That(len(all) <= maxHeaders, at, "Must have at most 20 entries")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		value := all[name]
		v.That(headerForm.MatchString(name) && !slices.Contains(ownHeaders, strings.ToLower(name)), at+"."+name,
			"Cannot be set as a header")
		v.That(len(value) <= maxHeader && !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }), at+"."+name,
			"Must be one line of at most 2,000 bytes")
		v.placeholders(at+"."+name, value, nil, true)
	}
}

func (v *validation) mcp() {
	m := v.MCP
	v.address("mcp.url", m.URL)
	v.placeholders("mcp.url", m.URL, nil, false)
	v.headers("mcp.headers", m.Headers)
	foreign := map[string]bool{
		"title": len(v.Title) > 0, "parameters": len(v.Parameters) > 0, "phrases": len(v.Phrases) > 0, "changes": v.Changes != nil,
		"idempotent": v.Idempotent, "confirm": len(v.Confirm) > 0, "say": len(v.Say) > 0, "not_found": len(v.NotFound) > 0,
	}
	for _, field := range slices.Sorted(maps.Keys(foreign)) {
		v.That(!foreign[field], field, "Belongs to tools with http, or stands in mcp.tools")
	}
	m.Tools = resource.List(m.Tools)
	v.That(len(m.Tools) <= maxApproved, "mcp.tools", "Must have at most 30 entries")
	for i := range m.Tools {
		a, at := &m.Tools[i], resource.Index("mcp.tools", i)
		v.approved(a, at)
		v.That(!slices.ContainsFunc(m.Tools[:i], func(x Approved) bool { return v.offeredName(x.Name) == v.offeredName(a.Name) }),
			at+".name",
			"Names the same twice")
	}
}

func (v *validation) approved(a *Approved, at string) {
	v.Check.Name(at+".name", a.Name)
	v.described(at+".description", a.Description)
	_, err := schemaOf(a.Parameters)
	v.That(err == nil && len(a.Parameters) <= maxSchema, at+".parameters", "Must be the JSON schema of an object, of at most 8 KiB")
	if err == nil {
		v.That(a.Hash == a.hash(), at+".hash", "Must be the hash of the approved description and parameters: read the server's tools again")
	}
	v.phrases(at+".phrases", a.Phrases)
	names := map[string]bool{}
	parameters, whole := parametersOf(a)
	v.That(whole || len(a.Phrases) == 0, at+".phrases",
		"Cannot trigger a tool that needs a list or an object: people cannot be asked for it")
	for i := range parameters {
		names[parameters[i].Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(a.Questions)) {
		v.That(names[name], at+".questions."+name, "Is no parameter")
		a.Questions[name].Validate(&v.Check, at+".questions."+name)
	}
	a.Title.Validate(&v.Check, at+".title")
	a.Confirm.Validate(&v.Check, at+".confirm")
	a.Say.Validate(&v.Check, at+".say")
	for _, tag := range slices.Sorted(maps.Keys(a.Confirm)) {
		v.placeholders(at+".confirm."+tag, a.Confirm[tag], names, false)
	}
	v.sayings(at+".say", a.Say, names)
}

// bodied reports whether the request has a JSON body.
func (h *HTTP) bodied() bool { return h.Method == "POST" || h.Method == "PUT" || h.Method == "PATCH" }

// changes reports whether a call of an HTTP tool must be confirmed.
func (t *Tool) changes() bool {
	if t.Changes != nil {
		return *t.Changes
	}
	return t.HTTP == nil || t.HTTP.Method != "GET"
}

// offeredName returns the name under which an MCP server's tool is offered: that of the resource and its own, in the
// letters that engines accept.
func (t *Tool) offeredName(remote string) string {
	name := t.Name + "__" + strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-') {
			return r
		}
		return '_'
	}, remote)
	return name[:min(len(name), maxOffered)]
}

const maxOffered = 64 // characters of a function's name

// parts returns the texts that may contain secrets, by field.
func (t *Tool) parts() map[string]string {
	all := map[string]string{}
	prefix := ""
	switch {
	case t.HTTP != nil:
		all["http.url"], all["http.body"] = t.HTTP.URL, string(t.HTTP.Body)
		prefix = "http.headers."
	case t.MCP != nil:
		prefix = "mcp.headers."
	}
	for name, value := range t.headers() {
		all[prefix+name] = value
	}
	return all
}

// host returns the only host that the tool sends to. Placeholders cannot change it.
func (t *Tool) host() string {
	address := ""
	if t.HTTP != nil {
		address = t.HTTP.URL
	}
	if t.MCP != nil {
		address = t.MCP.URL
	}
	u, err := url.Parse(placeholder.ReplaceAllString(address, "x"))
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// secretsIn returns the names of the secrets that a text mentions.
func secretsIn(text string) (all []string) {
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		if name, is := strings.CutPrefix(m[1], secret.Mention); is {
			all = append(all, name)
		}
	}
	return all
}

// secrets returns the sorted names of the secrets that the tool sends.
func (t *Tool) secrets() (all []string) {
	for _, text := range t.parts() {
		all = append(all, secretsIn(text)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// References returns the secrets that the tool sends, each with a check that it may be sent to the tool's host.
func (t *Tool) References() (all []resource.Reference) {
	parts := t.parts()
	for _, field := range slices.Sorted(maps.Keys(parts)) {
		for _, name := range secretsIn(parts[field]) {
			all = append(all, resource.Reference{Field: field, Kind: secret.Kind().Name, To: &name, Check: t.mayHave})
		}
	}
	return all
}

// mayHave returns the reason why the tool may not send the secret in doc, or "" if it may.
func (t *Tool) mayHave(doc []byte) string {
	var s secret.Secret
	if err := json.Unmarshal(doc, &s); err != nil || s.For(t.host()) {
		return ""
	}
	return "The secret " + s.Name + " may not be sent to this host, but to " + strings.Join(s.Hosts, ", ")
}

// mentions reports whether a text has the placeholder of a parameter.
func mentions(text, name string) bool {
	return slices.ContainsFunc(placeholder.FindAllStringSubmatch(text, -1), func(m []string) bool { return m[1] == name })
}

// HideRequests hides the confidential parts of the tool's requests from members who may not change tools.
func (t *Tool) HideRequests() {
	headers := t.headers()
	for name := range headers {
		headers[name] = secret.Hidden
	}
	if t.HTTP == nil {
		return
	}
	if before, _, has := strings.Cut(t.HTTP.URL, "?"); has {
		t.HTTP.URL = before + "?" + secret.Hidden
	}
	if len(t.HTTP.Body) > 0 {
		t.HTTP.Body = json.RawMessage(`"` + secret.Hidden + `"`)
	}
}

func (t *Tool) headers() map[string]string {
	switch {
	case t.HTTP != nil:
		return t.HTTP.Headers
	case t.MCP != nil:
		return t.MCP.Headers
	}
	return nil
}

// compact returns JSON in its canonical form: without spaces, with sorted keys.
func compact(text json.RawMessage) string {
	var x any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&x) != nil {
		return string(text)
	}
	sorted, err := json.Marshal(x)
	if err != nil {
		return string(text)
	}
	return string(sorted)
}
