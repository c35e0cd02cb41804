package flow

import (
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"
)

// State is what a run waits for, or how it ended.
type State string

// The states of a run.
const (
	Ready     State = "ready"      // it goes on at once
	Asking    State = "asking"     // for the contact's response
	Waiting   State = "waiting"    // for its time
	Calling   State = "calling"    // for the outcome of an Effect
	Completed State = "completed"  // its last step is done
	HandedOff State = "handed_off" // a teammate has the conversation
	Stopped   State = "stopped"    // by the contact, a teammate or the company
	Failed    State = "failed"     // see Run.Error
)

// Over reports whether a run in this state has ended.
func (s State) Over() bool {
	return s == Completed || s == HandedOff || s == Stopped || s == Failed
}

const (
	maxRunSteps   = 500 // of a run
	maxStepsAlone = 50  // between two responses of the contact
	// maxChanged and changedLength bound what an entry says about variables.
	maxChanged    = 20
	changedLength = 200
	// DefaultRetries is how often a question is asked again.
	DefaultRetries = 2
)

// Run is where a run of a program stands.
type Run struct {
	State    State
	At       int // the place that is next, or that is being asked or called
	Values   Values
	Question string // what was asked
	Tries    int    // responses that did not fit
	Steps    int    // that were done
	Alone    int    // of them, since the contact responded
	Due      time.Time
	Error    string // why it failed, and where
}

// Saying is what a run says. Choices are offered with it.
type Saying struct {
	Text    string
	Choices []string
}

// Effect is something that a run does outside the conversation: one of HTTP, SendTemplate and PlaceCall, with values filled in, but for
// those of secrets (Request).
type Effect struct {
	Path         string
	HTTP         *HTTP
	SendTemplate *SendTemplate
	PlaceCall    *PlaceCall

	step   *HTTP // without values
	values Values
}

// RequestEffect is the effect of a request with these variables.
func RequestEffect(h *HTTP, v Values) *Effect {
	return &Effect{HTTP: v.withoutSecrets(h.Secrets()).request(h), step: h, values: v}
}

// Kind is what the effect is, as its step is named.
func (e *Effect) Kind() string {
	switch {
	case e.HTTP != nil:
		return "http"
	case e.SendTemplate != nil:
		return "send_template"
	}
	return "place_call"
}

// OutcomeUnknown is the status of a request whose outcome is not known, OutcomeFailed that of one without a response.
const (
	OutcomeUnknown = "unknown"
	OutcomeFailed  = "failed"
)

// Repeatable reports whether the effect happens once although it is done twice: by its key, or since it only reads.
func (e *Effect) Repeatable() bool { return e.Keyed() || e.HTTP.Method == "GET" }

// Keyed reports whether its key has the effect happen once, as long as the key is known.
func (e *Effect) Keyed() bool { return e.HTTP == nil }

// Values are the variables of an effect with a status, without a response.
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

// Entry is one thing that happened in a run, for those who look at it.
type Entry struct {
	Path string `json:"path"`
	Kind string `json:"kind"` // of the step; response, retry, repeat, outcome, failed, stopped
	Text string `json:"text,omitempty"`
	// Changed are the variables that it changed.
	Changed Values `json:"changed,omitempty"`
}

// Outcome is what follows from a step of a run. All of it is stored with the run, or nothing.
type Outcome struct {
	Say     []Saying
	Asked   bool    // a question, for the first time
	Effect  *Effect // the run is Calling
	Handoff string  // why a teammate is to take over; "": none is
	Resolve bool    // the conversation is over
	Log     []Entry
	Work    int // that it took, at most MaxWork
}

// Words are the texts that a flow does not give, in the language of the conversation.
type Words struct {
	Retry  string // the response does not fit
	Choose string // a question without a text
}

// Advance goes on with a run that is Ready, or whose time has come, until it waits for something.
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

// Fits reports whether what the contact says is a response to what a run asks.
func (p *Program) Fits(r *Run, text string) bool {
	if r.State != Asking {
		return false
	}
	_, ok := p.places[r.At].step.read(text)
	return ok
}

// Respond goes on with a run that is Asking, by what the contact says.
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

// retry asks again; after too many tries a teammate takes over.
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

// Result goes on with a run that is Calling: values are what the effect brought, detail describes it for the log, and refused says that
// it cannot be done at all, which fails the run.
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

// Asked is the step whose response a run waits for; nil: it is not Asking.
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

// Fail ends a run that cannot go on from where it stands.
func (p *Program) Fail(r *Run, why string) *Outcome {
	o := &Outcome{}
	if r.State.Over() {
		return o
	}
	r.fail(o, &place{path: p.Where(r.At)}, why)
	r.Due = time.Time{}
	return o
}

// HandOff ends a run for a teammate, whom the contact asked for.
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

// changed records the variables of these names, as the run keeps them: the beginning of long ones, and of many the first.
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

// advance does steps until the run waits for something or is over.
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

// do does one step. A step that leaves the run Ready has moved it on.
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
		o.ask(r, s, w)
		o.log(x, kind, s.Ask)
		r.State, r.Tries, o.Asked = Asking, 0, true
	case "if":
		p.decide(r, o, x)
	case "set":
		filled := make(Values, len(s.Set)) // all from the values as they were
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
		d, _ := duration(s.Wait) // it is valid
		r.State, r.Due = Waiting, now.Add(d)
		o.log(x, kind, s.Wait)
	case "goto":
		o.log(x, kind, s.Goto)
		r.At = x.next
	case "handoff":
		r.State, o.Handoff = HandedOff, v.said(s.Handoff)
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

// ask puts a question's choices to what was said last, which is the question.
func (o *Outcome) ask(r *Run, s *Step, w Words) {
	if n := len(o.Say); n > 0 {
		o.Say[n-1].Choices = s.Choices
		return
	}
	if r.Question == "" || len(s.Choices) > 0 {
		r.Question = w.Choose
		o.Say = append(o.Say, Saying{w.Choose, s.Choices})
	}
}

func (p *Program) decide(r *Run, o *Outcome, x *place) {
	if x.fault != nil {
		r.fail(o, x, "The condition cannot be evaluated: "+x.fault.Error())
		return
	}
	if !o.spend(r, x, x.condition.work(r.Values)) {
		return
	}
	holds, err := r.Values.holds(x.condition)
	if err != nil {
		r.fail(o, x, "The condition cannot be evaluated: "+err.Error())
		return
	}
	if r.At = x.otherwise; holds {
		r.At = x.next
	}
	o.log(x, "if", map[bool]string{true: "then", false: "else"}[holds])
}

// Effect is what a run waits for that is Calling; nil: it is not.
func (p *Program) Effect(r *Run) *Effect {
	if r.State != Calling {
		return nil
	}
	return r.Values.effect(&p.places[r.At])
}

// effect is a step's effect with values filled in.
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

// size is the total size of an effect's texts in bytes.
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

// said fills in a text that people read.
func (v Values) said(text string) string { return clip(v.fill(text, utf8.UTFMax*maxSaid, asIs)) }

// clip bounds a text that people read.
func clip(s string) string {
	if len(s) <= maxSaid {
		return s
	}
	if runes := []rune(s); len(runes) > maxSaid {
		return string(runes[:maxSaid])
	}
	return s
}
