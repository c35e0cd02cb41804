// Package flow defines conversations that a company lays out in steps, and the execution of a run. It has no clock and
// no connections: Program.Advance computes the next actions, and package conversation stores and performs them.
package flow

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"carillon/internal/base/resource"
	"carillon/internal/base/secret"
)

// Flow is the definition of a flow: its trigger and its steps.
type Flow struct {
	ID      string  `json:"id,omitempty"`
	Name    string  `json:"name"`
	Trigger Trigger `json:"trigger"`
	Steps   []Step  `json:"steps"`
}

// Trigger defines the ways in which a flow starts; each alone suffices. Without any, only a test run in the panel
// starts it.
type Trigger struct {
	// name_event of a notification: starts on the recipient's first reply, or when the call is answered.
	Event    string   `json:"event,omitempty"`
	Keywords []string `json:"keywords,omitempty"` // a message that equals one of them, ignoring case and accents
	Widget   string   `json:"widget,omitempty"`   // a conversation that begins in the widget with this name or ID
	Inbound  bool     `json:"inbound,omitempty"`  // a message on WhatsApp to a sender without an agent
}

// Step has exactly one of Say, Ask, If, Set, HTTP, Wait, SendTemplate, PlaceCall, Goto, Handoff and End. The other
// fields are parameters of one of these.
type Step struct {
	ID string `json:"id,omitempty"` // target of a goto

	Say string `json:"say,omitempty"`

	Ask      string   `json:"ask,omitempty"`      // variable that stores the response
	Question string   `json:"question,omitempty"` // default: the text said before
	Choices  []string `json:"choices,omitempty"`
	Accept   string   `json:"accept,omitempty"` // text (default), number, email, phone, date or yes_no
	// Said if a response does not fit; default: a text in the language of the conversation.
	Retry   string `json:"retry,omitempty"`
	Retries *int   `json:"retries,omitempty"` // repetitions of the question before a teammate takes over; default 2

	If   string `json:"if,omitempty"` // a condition
	Then []Step `json:"then,omitempty"`
	Else []Step `json:"else,omitempty"`

	Set          map[string]string `json:"set,omitempty"`
	HTTP         *HTTP             `json:"http,omitempty"`
	Wait         string            `json:"wait,omitempty"` // 30s, 15m, 2h or 3d
	SendTemplate *SendTemplate     `json:"send_template,omitempty"`
	PlaceCall    *PlaceCall        `json:"place_call,omitempty"`
	Goto         string            `json:"goto,omitempty"`    // ID of a step
	Handoff      string            `json:"handoff,omitempty"` // recipient or reason of the handoff
	End          bool              `json:"end,omitempty"`     // ends the flow and resolves the conversation
}

// HTTP is a request to a server of the company.
type HTTP struct {
	Method  string            `json:"method"` // GET (default), POST, PUT, PATCH or DELETE
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
	// variables, each with the path of its value in a JSON response, such as order.items.0.name
	Save   map[string]string `json:"save,omitempty"`
	Status string            `json:"status,omitempty"` // variable that stores the HTTP status
}

// SendTemplate is a notification to the contact.
type SendTemplate struct {
	Name      string            `json:"name"`
	Language  string            `json:"language"`
	Sender    string            `json:"sender,omitempty"`    // default: the company's default sender
	Type      string            `json:"type,omitempty"`      // marketing, transactional or utility (default)
	Campaign  string            `json:"campaign,omitempty"`  // default: flow
	Variables map[string]string `json:"variables,omitempty"` // in the form of components_push: body_text_0, …
}

// PlaceCall is a phone call to the contact.
type PlaceCall struct {
	Agent    string `json:"agent"`
	Line     string `json:"line,omitempty"`     // default: the company's default line
	Campaign string `json:"campaign,omitempty"` // default: flow
}

const (
	maxSteps    = 500 // including those in branches
	maxDepth    = 20  // nesting of branches
	maxEvent    = 255 // characters of a notification's name_event
	maxKeywords = 50
	maxChoices  = 10 // the maximum of a WhatsApp list
	maxRetries  = 10
	maxWait     = 60 * 24 * time.Hour
	maxFields   = 50 // entries of a map
)

// NeedsValue is the reason for refusing a step whose template lacks the value of a variable.
const NeedsValue = "The template needs a value here"

// Kind returns the resource kind of flows.
func Kind() resource.Kind {
	return resource.Kind{
		Name: "flow", Plural: "flows", Phrase: "a flow", New: func() resource.Resource { return &Flow{} },
		NewHead: func() any { return new(Head) },
	}
}

// Key implements resource.Resource.
func (f *Flow) Key() (id, name *string) { return &f.ID, &f.Name }

// Document returns the flow as stored for a version, and its digest.
func (f *Flow) Document() (text, digest string, err error) {
	b, err := json.Marshal(f)
	sum := sha256.Sum256(b)
	return string(b), hex.EncodeToString(sum[:]), err
}

// References implements resource.Referrer.
func (f *Flow) References() []resource.Reference {
	all := []resource.Reference{{Field: "trigger.widget", Kind: "widget", To: &f.Trigger.Widget}}
	each("steps", f.Steps, func(at string, s *Step) {
		if s.PlaceCall != nil {
			all = append(all, resource.Reference{Field: at + ".place_call.agent", Kind: "agent", To: &s.PlaceCall.Agent})
		}
		if s.HTTP != nil {
			all = append(all, s.HTTP.references(at+".http")...)
		}
	})
	return all
}

// each visits all steps in order, including branches, with their paths.
func each(field string, steps []Step, visit func(at string, s *Step)) {
	for i := range steps {
		at := resource.Index(field, i)
		visit(at, &steps[i])
		each(at+".then", steps[i].Then, visit)
		each(at+".else", steps[i].Else, visit)
	}
}

// EachTemplate visits the steps that send a template, with the paths of their fields.
func (f *Flow) EachTemplate(visit func(at string, t *SendTemplate)) {
	each("steps", f.Steps, func(at string, s *Step) {
		if s.SendTemplate != nil {
			visit(at+".send_template", s.SendTemplate)
		}
	})
}

// HideRequests hides the parts of requests that may be secret: the values of headers, queries and bodies. It reports
// whether there are any.
func (f *Flow) HideRequests() (some bool) {
	each("steps", f.Steps, func(_ string, s *Step) {
		if s.HTTP == nil {
			return
		}
		for name := range s.HTTP.Headers {
			s.HTTP.Headers[name], some = secret.Hidden, true
		}
		if before, _, has := strings.Cut(s.HTTP.URL, "?"); has {
			s.HTTP.URL, some = before+"?"+secret.Hidden, true
		}
		if s.HTTP.Body != "" {
			s.HTTP.Body, some = secret.Hidden, true
		}
	})
	return some
}

// Validate implements resource.Resource.
func (f *Flow) Validate() error {
	v := validation{ids: map[string]bool{}}
	v.UUID("id", &f.ID)
	v.Name("name", f.Name)
	v.trigger(&f.Trigger)
	f.Steps = resource.List(f.Steps)
	n := 0
	each("steps", f.Steps, func(at string, s *Step) {
		n++
		if s.ID != "" {
			v.Identifier(at+".id", s.ID)
			v.That(!v.ids[s.ID], at+".id", "Names two steps")
			v.ids[s.ID] = true
		}
	})
	v.That(n > 0, "steps", "Must hold a step")
	v.That(n <= maxSteps, "steps", "Must hold at most 500 steps, those of branches included")
	if n <= maxSteps { // with too many steps, checking them would take too long
		v.steps("steps", f.Steps, 1)
		v.paths(f)
	}
	return v.Err()
}

// validation checks a flow and collects its errors.
type validation struct {
	resource.Check
	ids      map[string]bool
	patterns int // instructions of the patterns in conditions so far
}

func (v *validation) trigger(t *Trigger) {
	v.That(utf8.RuneCountInString(t.Event) <= maxEvent, "trigger.event", "Must have at most 255 characters")
	v.That(len(t.Keywords) <= maxKeywords, "trigger.keywords", "Must have at most 50 entries")
	for i, k := range t.Keywords {
		v.Name(resource.Index("trigger.keywords", i), k)
		v.That(Plain(k) != "", resource.Index("trigger.keywords", i), "Must hold a letter or a digit")
	}
}

func (v *validation) steps(field string, all []Step, depth int) {
	v.That(depth <= maxDepth, field, "Must be nested at most 20 deep")
	for i := range all {
		v.step(resource.Index(field, i), &all[i], depth)
	}
}

// kindNames are the kinds of steps, in the order in which an error lists them.
//
//nolint:gochecknoglobals // read only
var kindNames = []string{
	"say", "ask", "if", "set", "http", "wait", "send_template", "place_call", "goto", "handoff", "end",
}

// kinds returns the kinds of the step; a valid step has exactly one.
func (s *Step) kinds() []string {
	given := map[string]bool{
		"say": s.Say != "", "ask": s.Ask != "", "if": s.If != "", "set": s.Set != nil, "http": s.HTTP != nil, "wait": s.Wait != "",
		"send_template": s.SendTemplate != nil, "place_call": s.PlaceCall != nil, "goto": s.Goto != "", "handoff": s.Handoff != "",
		"end": s.End,
	}
	return slices.DeleteFunc(slices.Clone(kindNames), func(k string) bool { return !given[k] })
}

// Kind returns the kind of a valid step: say, ask, …; "" if it has none.
func (s *Step) Kind() string {
	if kinds := s.kinds(); len(kinds) > 0 {
		return kinds[0]
	}
	return ""
}

func (v *validation) step(at string, s *Step, depth int) {
	kinds := s.kinds()
	if len(kinds) != 1 {
		last := len(kindNames) - 1
		v.That(false, at, "Choose what this step does: exactly one of "+strings.Join(kindNames[:last], ", ")+" and "+kindNames[last]+".")
		return
	}
	kind := kinds[0]
	for _, x := range []struct {
		name  string
		given bool
	}{
		{"question", s.Question != ""},
		{"choices", len(s.Choices) > 0},
		{"accept", s.Accept != ""},
		{"retry", s.Retry != ""},
		{"retries", s.Retries != nil},
	} {
		v.That(kind == "ask" || !x.given, at+"."+x.name, "Belongs to a step with ask")
	}
	v.That(kind == "if" || len(s.Then) == 0, at+".then", "Belongs to a step with if")
	v.That(kind == "if" || len(s.Else) == 0, at+".else", "Belongs to a step with if")
	switch kind {
	case "say":
		v.said(at+".say", s.Say)
	case "ask":
		v.ask(at, s)
	case "if":
		v.text(at+".if", s.If)
		c, err := compile(s.If, maxPatterns-v.patterns)
		if err == nil {
			v.patterns += c.size()
		}
		if fault := patternFault(err); fault != nil {
			v.That(false, at+".if", sentence(fault))
		} else if strings.TrimSpace(s.If) != "" {
			v.That(err == nil, at+".if", "This isn't a valid condition. Write "+corrected(s.If)+".")
		}
	case "set":
		v.That(len(s.Set) > 0, at+".set", "Must set a variable") // an empty map would not be stored
		v.fields(at+".set", s.Set, true)
	case "http":
		v.http(at+".http", s.HTTP)
	case "wait":
		d, err := duration(s.Wait)
		v.That(err == nil && d >= time.Second && d <= maxWait, at+".wait",
			"Must be a time such as 30s, 15m, 2h or 3d, from 1 second to 60 days")
	case "send_template":
		v.Name(at+".send_template.name", s.SendTemplate.Name)
		v.Name(at+".send_template.language", s.SendTemplate.Language)
		if s.SendTemplate.Type != "" {
			v.Choice(at+".send_template.type", &s.SendTemplate.Type, "marketing", "transactional", "utility")
		}
		v.fields(at+".send_template.variables", s.SendTemplate.Variables, false)
		for name, value := range s.SendTemplate.Variables {
			v.That(strings.TrimSpace(value) != "", at+".send_template.variables."+name, NeedsValue)
		}
	case "place_call":
		v.Required(at+".place_call.agent", s.PlaceCall.Agent)
	case "goto":
		v.That(v.ids[s.Goto], at+".goto", "Must be the id of a step of this flow")
	case "handoff":
		v.said(at+".handoff", s.Handoff)
	}
	v.steps(at+".then", s.Then, depth+1)
	v.steps(at+".else", s.Else, depth+1)
}

func (v *validation) ask(at string, s *Step) {
	v.variable(at+".ask", s.Ask)
	if s.Question != "" {
		v.said(at+".question", s.Question)
	}
	v.That(len(s.Choices) <= maxChoices, at+".choices", "Must have at most 10 entries")
	seen := map[string]bool{}
	for i, choice := range s.Choices {
		field := resource.Index(at+".choices", i)
		v.Name(field, choice)
		v.That(!seen[Plain(choice)], field, "Must differ from the other choices by more than case and accents")
		seen[Plain(choice)] = true
	}
	v.That(len(s.Choices) == 0 || s.Accept == "", at+".accept", "Must not stand together with choices")
	if s.Accept != "" {
		v.Choice(at+".accept", &s.Accept, accepts...)
	}
	if s.Retry != "" {
		v.said(at+".retry", s.Retry)
	}
	v.That(s.Retries == nil || *s.Retries >= 0 && *s.Retries <= maxRetries, at+".retries", "Must be from 0 to 10")
}

func (v *validation) http(at string, h *HTTP) {
	v.Choice(at+".method", &h.Method, "GET", "POST", "PUT", "PATCH", "DELETE")
	v.Required(at+".url", h.URL)
	v.That(strings.HasPrefix(h.URL, "https://") || strings.HasPrefix(h.URL, "http://"), at+".url", "Must begin with https:// or http://")
	host, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(h.URL, "https://"), "http://"), "/")
	v.That(!strings.Contains(host, "{{"), at+".url", "Must name its host: placeholders may stand after it")
	v.That(address(h.URL), at+".url", "Must be an address such as https://shop.example.com/orders/{{order_id}}")
	path, query, _ := strings.Cut(h.URL, "?")
	v.placeholders(at+".url", path)
	v.secretive(at+".url", query)
	v.secretive(at+".body", h.Body)
	v.texts(at+".headers", h.Headers)
	for name, value := range h.Headers {
		v.secretive(at+".headers."+name, value)
		v.That(headerForm.MatchString(name) && !slices.Contains(ownHeaders, strings.ToLower(name)), at+".headers."+name,
			"Cannot be set as a header")
	}
	v.fields(at+".save", h.Save, true)
	for name, path := range h.Save {
		v.That(path != "", at+".save."+name, "Must be the path of a value in the response, such as order.id")
	}
	v.That(len(h.Body) == 0 || h.Method != "GET", at+".body", "Must not stand with the method GET")
	v.Text(at+".body", h.Body)
	if h.Status != "" {
		v.variable(at+".status", h.Status)
	}
}

// headerForm matches a header name (RFC 9110, section 5.1).
var headerForm = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// ownHeaders are managed by the HTTP connection and cannot be set.
//
//nolint:gochecknoglobals // read only
var ownHeaders = []string{
	"host", "content-length", "transfer-encoding", "connection", "te", "trailer", "upgrade",
}

// address reports whether a URL has a host, for any values of its placeholders.
func address(text string) bool {
	u, err := url.Parse(placeholder.ReplaceAllString(text, "x"))
	return err == nil && u.Hostname() != ""
}

// text requires a text of a length that a person can read.
func (v *validation) text(field, text string) {
	v.Required(field, text)
	v.That(len([]rune(text)) <= maxSaid, field, "Must have at most 4,000 characters")
}

// said requires a text like text does, with valid placeholders.
func (v *validation) said(field, text string) {
	v.text(field, text)
	v.placeholders(field, text)
}

// placeholder matches a placeholder in a text.
var placeholder = regexp.MustCompile(`\{\{[^{}]*\}\}`)

// placeholders requires each placeholder to name a variable.
func (v *validation) placeholders(field, text string) { v.places(field, text, false) }

// secretive requires each placeholder to name a variable or a secret.
func (v *validation) secretive(field, text string) { v.places(field, text, true) }

func (v *validation) places(field, text string, secrets bool) {
	for {
		_, rest, found := strings.Cut(text, "{{")
		if !found {
			return
		}
		name, after, closed := strings.Cut(rest, "}}")
		name = strings.TrimSpace(name)
		key, isSecret := strings.CutPrefix(name, secret.Mention)
		switch {
		case closed && isSecret && !secrets:
			v.That(false, field, "Must hold no secret: those stand in headers, the query and the body of a request")
			return
		case !closed, isSecret && !secret.ValidName(key), !isSecret && !ValidVariable(name):
			v.That(false, field, "Must close each {{ with }} behind the name of a variable, as in {{order_id}}")
			return
		}
		text = after
	}
}

func (v *validation) fields(field string, all map[string]string, variables bool) {
	v.texts(field, all)
	for name, value := range all {
		if variables {
			v.variable(field+"."+name, name)
		}
		v.placeholders(field+"."+name, value)
	}
}

// texts limits the size of a map of texts.
func (v *validation) texts(field string, all map[string]string) {
	v.That(len(all) <= maxFields, field, "Must have at most 50 entries")
	for name, value := range all {
		v.That(len(value) <= maxValue, field+"."+name, "Must have at most "+strconv.Itoa(maxValue)+" bytes")
	}
}

// variable requires a valid variable name.
func (v *validation) variable(field, name string) {
	v.That(ValidVariable(name), field, "Must be a word of letters, digits and _, such as order_id")
}

// sentence returns the text of an error as a sentence.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// duration parses a time such as 30s, 15m, 2h or 3d.
func duration(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * 24 * time.Hour, err
	}
	return time.ParseDuration(s)
}
