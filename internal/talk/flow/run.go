package flow

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// State is the state of a run.
type State string

// States of a run.
const (
	Ready     State = "ready"      // continues immediately
	Asking    State = "asking"     // waits for the contact's response
	Waiting   State = "waiting"    // waits for its due time
	Calling   State = "calling"    // waits for the outcome of an Effect
	Completed State = "completed"  // the last step is done
	HandedOff State = "handed_off" // a teammate has the conversation
	Stopped   State = "stopped"    // ended by the contact, a teammate or the company
	Failed    State = "failed"     // see Run.Error
)

// Over reports whether a run in this state has ended.
func (s State) Over() bool {
	return s == Completed || s == HandedOff || s == Stopped || s == Failed
}

const (
	maxRunSteps   = 500 // steps of a run
	maxStepsAlone = 50  // steps between two responses of the contact
	// maxChanged and changedLength limit the variables in an entry.
	maxChanged    = 20
	changedLength = 200
	// DefaultRetries is the default number of repetitions of a question.
	DefaultRetries = 2
)

// Run is the execution state of a program.
type Run struct {
	State    State
	At       int // the next place, or the one whose question or effect is pending
	Values   Values
	Question string // the question as asked
	Tries    int    // responses that did not fit
	Steps    int    // steps done
	Alone    int    // steps done since the contact's last response
	Due      time.Time
	Error    string // reason and position of the failure
}

// Saying is a message of a run, with the choices that it offers.
type Saying struct {
	Text    string
	Choices []string
}

// Effect is an action of a run outside the conversation: one of HTTP, SendTemplate and PlaceCall, with values filled
// in, except those of secrets (see Request).
type Effect struct {
	Path         string
	HTTP         *HTTP
	SendTemplate *SendTemplate
	PlaceCall    *PlaceCall

	step   *HTTP // without values
	values Values
}

// RequestEffect returns the effect of an HTTP request with the given variables.
func RequestEffect(h *HTTP, v Values) *Effect {
	return &Effect{HTTP: v.withoutSecrets(h.Secrets()).request(h), step: h, values: v}
}

// Kind returns the kind of the effect's step.
func (e *Effect) Kind() string {
	switch {
	case e.HTTP != nil:
		return "http"
	case e.SendTemplate != nil:
		return "send_template"
	}
	return "place_call"
}

// OutcomeUnknown is the status of a request with an unknown outcome, OutcomeFailed that of one without a response.
const (
	OutcomeUnknown = "unknown"
	OutcomeFailed  = "failed"
)

// Repeatable reports whether the effect is safe to repeat: it has an idempotency key or only reads.
func (e *Effect) Repeatable() bool { return e.Keyed() || e.HTTP.Method == "GET" }

// Keyed reports whether the effect has an idempotency key, as long as the key is remembered.
func (e *Effect) Keyed() bool { return e.HTTP == nil }

// Values returns the variables that the effect sets, with a status but without a response.
func (e *Effect) Values(status string) Values {
	v := Values{}
	if e.HTTP != nil {
		for name := range e.HTTP.Save {
			v[name] = ""
		}
		if e.HTTP.Status != "" {
			v[e.HTTP.Status] = status
		}
	}
	return v
}

// Entry is one event of a run, for its log.
type Entry struct {
	Path string `json:"path"`
	Kind string `json:"kind"` // kind of the step, or response, retry, repeat, outcome, failed, stopped
	Text string `json:"text,omitempty"`
	// Changed are the variables that changed.
	Changed Values `json:"changed,omitempty"`
}

// Outcome is the result of a step of a run. It is stored together with the run.
type Outcome struct {
	Say     []Saying
	Asked   bool    // a question was asked for the first time
	Effect  *Effect // set if the run is Calling
	Handoff string  // reason for a handoff to a teammate; empty means no handoff
	Resolve bool    // resolve the conversation
	Log     []Entry
	Work    int // work done, at most MaxWork
}

// Words are the built-in texts of flows, in the language of the conversation.
type Words struct {
	Retry  string // said if a response does not fit
	Choose string // question of a step without one
}

// Advance continues a run that is Ready or due, until it waits for something or ends.
func (p *Program) Advance(r *Run, w Words, now time.Time) *Outcome {
	o := &Outcome{}
	switch r.State {
	case Ready:
	case Waiting:
		r.At, r.Due = p.places[r.At].next, time.Time{}
	default:
		return o
	}
	p.advance(r, o, w, now)
	return o
}

// Fits reports whether a message is a valid response to the run's question.
func (p *Program) Fits(r *Run, text string) bool {
	if r.State != Asking {
		return false
	}
	_, ok := p.places[r.At].step.read(text)
	return ok
}

// Respond continues a run that is Asking with the contact's message.
func (p *Program) Respond(r *Run, text string, w Words, now time.Time) *Outcome {
	o := &Outcome{}
	if r.State != Asking {
		return o
	}
	x := &p.places[r.At]
	value, ok := x.step.read(text)
	if asksAgain(text) && (!ok || len(x.step.Choices) == 0) {
		o.log(x, "repeat", text)
		if r.Question != "" {
			o.Say = append(o.Say, Saying{r.Question, x.step.Choices})
		}
		return o
	}
	if !ok {
		p.retry(r, o, x, text, w)
		return o
	}
	r.Values.Put(x.step.Ask, value)
	o.log(x, "response", value).changed(r, Values{x.step.Ask: value})
	r.At, r.Tries, r.Alone, r.Question = x.next, 0, 0, ""
	p.advance(r, o, w, now)
	return o
}

// retry repeats the question; after too many tries it hands over to a teammate.
func (p *Program) retry(r *Run, o *Outcome, x *place, text string, w Words) {
	retries := DefaultRetries
	if x.step.Retries != nil {
		retries = *x.step.Retries
	}
	r.Tries++
	o.log(x, "retry", text)
	if r.Tries > retries {
		r.State, o.Handoff = HandedOff, "No response fits: "+r.Question
		return
	}
	again := x.step.Retry
	if again == "" {
		again = w.Retry + "\n" + r.Question
	}
	o.Say = append(o.Say, Saying{r.Values.said(again), x.step.Choices})
}

// Result continues a run that is Calling. values are the variables set by the effect, detail describes the outcome for
// the log. refused means that the effect is impossible, which fails the run.
func (p *Program) Result(r *Run, values Values, detail string, refused bool, w Words, now time.Time) *Outcome {
	o := &Outcome{}
	if r.State != Calling {
		return o
	}
	x := &p.places[r.At]
	entry := o.log(x, "outcome", detail)
	if refused {
		r.fail(o, x, detail)
		return o
	}
	for name, value := range values {
		r.Values.Put(name, value)
	}
	entry.changed(r, values)
	r.At = x.next
	p.advance(r, o, w, now)
	return o
}

// Asked returns the step whose response a run waits for, or nil if the run is not Asking.
func (p *Program) Asked(r *Run) *Step {
	if r.State != Asking {
		return nil
	}
	return p.places[r.At].step
}

// Stop ends a run.
func (p *Program) Stop(r *Run, why string) *Outcome {
	o := &Outcome{}
	if r.State.Over() {
		return o
	}
	o.Log = append(o.Log, Entry{Path: p.Where(r.At), Kind: "stopped", Text: why})
	r.State, r.Due = Stopped, time.Time{}
	return o
}

// Fail ends a run that cannot continue.
func (p *Program) Fail(r *Run, why string) *Outcome {
	o := &Outcome{}
	if r.State.Over() {
		return o
	}
	r.fail(o, &place{path: p.Where(r.At)}, why)
	r.Due = time.Time{}
	return o
}

// HandOff ends a run because the contact asked for a teammate.
func (p *Program) HandOff(r *Run, why string) *Outcome {
	o := &Outcome{Handoff: why, Log: []Entry{{Path: p.Where(r.At), Kind: "handoff", Text: why}}}
	r.State, r.Due = HandedOff, time.Time{}
	return o
}

func (r *Run) fail(o *Outcome, x *place, why string) {
	r.State, r.Error = Failed, x.path+": "+why
	o.log(x, "failed", why)
}

func (o *Outcome) log(x *place, kind, text string) *Entry {
	o.Log = append(o.Log, Entry{Path: x.path, Kind: kind, Text: clip(text)})
	return &o.Log[len(o.Log)-1]
}

// changed records the given variables in the entry: long values are truncated, and only the first maxChanged are kept.
func (e *Entry) changed(r *Run, names Values) {
	for _, name := range slices.Sorted(maps.Keys(names)) {
		value, kept := r.Values[name]
		if !kept || len(e.Changed) == maxChanged {
			continue
		}
		if e.Changed == nil {
			e.Changed = Values{}
		}
		if runes := []rune(value); len(runes) > changedLength {
			value = string(runes[:changedLength]) + "…"
		}
		e.Changed[name] = value
	}
}

// advance executes steps until the run waits for something or is over.
func (p *Program) advance(r *Run, o *Outcome, w Words, now time.Time) {
	r.State = Ready
	for r.State == Ready {
		if r.At >= len(p.places) {
			r.State = Completed
			return
		}
		x := &p.places[r.At]
		if x.step == nil {
			r.At = x.next
			continue
		}
		r.Steps++
		r.Alone++
		switch {
		case r.Steps > maxRunSteps:
			r.fail(o, x, fmt.Sprintf("More than %d steps in a run", maxRunSteps))
		case r.Alone > maxStepsAlone:
			r.fail(o, x, fmt.Sprintf("More than %d steps without a response: the flow goes round in a circle", maxStepsAlone))
		default:
			p.do(r, o, x, w, now)
		}
	}
}

// do executes one step. A step that leaves the run Ready has advanced r.At.
func (p *Program) do(r *Run, o *Outcome, x *place, w Words, now time.Time) {
	s, v := x.step, r.Values
	switch kind := s.Kind(); kind {
	case "say":
		text := v.said(s.Say)
		if !o.spend(r, x, len(text)) {
			return
		}
		o.Say = append(o.Say, Saying{Text: text})
		o.log(x, kind, text)
		r.Question = text
		r.At = x.next
	case "ask":
		if o.ask(r, x, w) {
			r.State, r.Tries, o.Asked = Asking, 0, true
		}
	case "if":
		p.decide(r, o, x)
	case "set":
		filled := make(Values, len(s.Set)) // all computed from the previous values
		units := 0
		for name, text := range s.Set {
			filled[name] = cut(v.fill(text, maxValue, asIs))
			units += len(text) + len(filled[name])
		}
		if !o.spend(r, x, units) {
			return
		}
		for name, value := range filled {
			v.Put(name, value)
		}
		o.log(x, kind, "").changed(r, filled)
		r.At = x.next
	case "wait":
		d, _ := duration(s.Wait) // already validated
		r.State, r.Due = Waiting, now.Add(d)
		o.log(x, kind, s.Wait)
	case "goto":
		o.log(x, kind, s.Goto)
		r.At = x.next
	case "handoff":
		r.State, o.Handoff = HandedOff, cmp.Or(v.said(s.Handoff), p.name) // without a reason, no teammate would be requested
		o.log(x, kind, o.Handoff)
	case "end":
		r.State, o.Resolve = Completed, true
		o.log(x, kind, "")
	default:
		e := v.effect(x)
		if o.spend(r, x, e.size()) {
			o.Effect, r.State = e, Calling
			o.log(x, kind, "")
		}
	}
}

// ask asks the question of a step. Without one, the last message is the question, and gets the choices. It reports whether the run may
// continue.
func (o *Outcome) ask(r *Run, x *place, w Words) bool {
	s := x.step
	text := r.Values.said(s.Question)
	if !o.spend(r, x, len(text)) {
		return false
	}
	if strings.TrimSpace(text) != "" {
		r.Question = text
		o.Say = append(o.Say, Saying{text, s.Choices})
		o.log(x, "ask", text)
		return true
	}
	if n := len(o.Say); n > 0 {
		o.Say[n-1].Choices = s.Choices
	} else if r.Question == "" || len(s.Choices) > 0 {
		r.Question = w.Choose
		o.Say = append(o.Say, Saying{w.Choose, s.Choices})
	}
	o.log(x, "ask", s.Ask)
	return true
}

func (p *Program) decide(r *Run, o *Outcome, x *place) {
	if x.fault != nil {
		r.fail(o, x, unevaluated(x.fault))
		return
	}
	if !o.spend(r, x, x.condition.work(r.Values)) {
		return
	}
	holds, err := r.Values.holds(x.condition)
	if err != nil {
		r.fail(o, x, unevaluated(err))
		return
	}
	if r.At = x.otherwise; holds {
		r.At = x.next
	}
	o.log(x, "if", map[bool]string{true: "then", false: "else"}[holds])
}

// unevaluated is the error of a run whose condition cannot be evaluated.
func unevaluated(err error) string {
	if fault := patternFault(err); fault != nil {
		return "The condition cannot be evaluated: " + fault.Error()
	}
	return "The condition cannot be evaluated: check its variables"
}

// Effect returns the effect that a run waits for, or nil if the run is not Calling.
func (p *Program) Effect(r *Run) *Effect {
	if r.State != Calling {
		return nil
	}
	return r.Values.effect(&p.places[r.At])
}

// effect returns a step's effect with values filled in.
func (v Values) effect(x *place) *Effect {
	e := &Effect{Path: x.path}
	switch s := x.step; {
	case s.HTTP != nil:
		e = RequestEffect(s.HTTP, v)
		e.Path = x.path
	case s.SendTemplate != nil:
		t := *s.SendTemplate
		t.Variables = v.fillAll(t.Variables)
		e.SendTemplate = &t
	default:
		c := *s.PlaceCall
		e.PlaceCall = &c
	}
	return e
}

func (v Values) fillAll(all map[string]string) map[string]string {
	filled := make(map[string]string, len(all))
	for name, text := range all {
		filled[name] = v.fill(text, maxField, asIs)
	}
	return filled
}

// size returns the total size of an effect's texts in bytes.
func (e *Effect) size() (n int) {
	if h := e.HTTP; h != nil {
		n += len(h.URL) + len(h.Body)
		for _, value := range h.Headers {
			n += len(value)
		}
	}
	if t := e.SendTemplate; t != nil {
		for _, value := range t.Variables {
			n += len(value)
		}
	}
	return n
}

// said fills in a text for people.
func (v Values) said(text string) string { return clip(v.fill(text, utf8.UTFMax*maxSaid, asIs)) }

// clip limits a text for people to maxSaid characters.
func clip(s string) string {
	if len(s) <= maxSaid {
		return s
	}
	if runes := []rune(s); len(runes) > maxSaid {
		return string(runes[:maxSaid])
	}
	return s
}
