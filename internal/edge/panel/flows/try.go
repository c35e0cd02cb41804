package flows

import (
	"context"
	"maps"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/base/jsonbody"
	"carillon/internal/base/resource"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/talk/conversation"
	"carillon/internal/talk/flow"
)

// Limits of a test run.
const (
	maxInputs = 200
	maxValues = 200
	maxValue  = 4000 // bytes
	// triesPerMinute limits the test runs of a company. Each may do the work of tryBursts bursts of a regular run.
	triesPerMinute = 60
	tryBursts      = 4
)

// triedFlow is the result of running a flow with some inputs. Nothing is stored, and no effect is executed.
type triedFlow struct {
	Turns   []triedTurn       `json:"turns"`
	State   flow.State        `json:"state"`
	Path    string            `json:"path"` // path of the current step
	Values  map[string]string `json:"values"`
	Choices []string          `json:"choices"`
	Effect  *triedEffect      `json:"effect"` // effect whose outcome is the next input
	WaitMS  int64             `json:"wait_ms,omitempty"`
	Steps   int               `json:"steps"`
	Error   string            `json:"error,omitempty"`
}

// triedTurn is the reaction to one input. The first turn has none.
type triedTurn struct {
	Input   int           `json:"input"`    // index of the input; -1 if none
	AfterMS int64         `json:"after_ms"` // since the run began
	Said    []triedSaying `json:"said"`
	Log     []flow.Entry  `json:"log"`
	Handoff string        `json:"handoff,omitempty"`
	Resolve bool          `json:"resolve,omitempty"`
}

type triedSaying struct {
	Text    string   `json:"text"`
	Choices []string `json:"choices,omitempty"`
}

// triedEffect is an effect that the flow would execute, with its values filled in.
type triedEffect struct {
	Kind         string             `json:"kind" enum:"http,send_template,place_call"`
	HTTP         *flow.HTTP         `json:"http,omitempty"`
	SendTemplate *flow.SendTemplate `json:"send_template,omitempty"`
	PlaceCall    *flow.PlaceCall    `json:"place_call,omitempty"`
}

// flowInput advances a test run: a response of the contact, the outcome of an effect, or the end of a wait.
type flowInput struct {
	kind    string
	text    string
	values  flow.Values
	status  string
	refused bool
}

// try runs a flow from its beginning with the inputs so far.
func (x Flows) try(r *http.Request, by member.Member) (*triedFlow, error) {
	if _, err := x.Gate.Limits.Allow(r.Context(), "try flow "+by.CompanyID, triesPerMinute, 1); err != nil {
		return nil, err
	}
	o, err := form.Object(r, "flow", "values", "language", "inputs")
	if err != nil {
		return nil, err
	}
	_, f, err := readFlow(o)
	if err != nil {
		return nil, err
	}
	if err := f.Validate(); err != nil {
		return nil, err
	}
	language, err := form.Language(o, "en")
	if err != nil {
		return nil, err
	}
	values, err := valuesOf(o, "values")
	if err != nil {
		return nil, err
	}
	inputs, err := flowInputs(o)
	if err != nil {
		return nil, err
	}
	p, err := flow.Compile(f)
	if err != nil {
		return nil, err
	}
	return tryFlow(r.Context(), p, values, conversation.FlowWords(language), inputs)
}

// tryFlow runs a program with the inputs until ctx ends. It skips inputs that the run is not waiting for. Errors:
// validation_failed if the inputs make the flow do more work than a test run may.
func tryFlow(ctx context.Context, p *flow.Program, values flow.Values, w flow.Words, inputs []flowInput) (*triedFlow, error) {
	begin := time.Unix(0, 0).UTC()
	now, run, t := begin, &flow.Run{State: flow.Ready, Values: values}, &triedFlow{Choices: []string{}}
	input, work := -1, 0
	add := func(o *flow.Outcome) {
		work += o.Work
		turn := triedTurn{
			Input: input, AfterMS: now.Sub(begin).Milliseconds(), Said: []triedSaying{}, Log: append([]flow.Entry{}, o.Log...),
			Handoff: o.Handoff, Resolve: o.Resolve,
		}
		for _, s := range o.Say {
			turn.Said = append(turn.Said, triedSaying(s))
			t.Choices = append([]string{}, s.Choices...)
		}
		t.Turns = append(t.Turns, turn)
	}
	add(p.Advance(run, w, now))
	for i, in := range inputs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if work > tryBursts*flow.MaxWork {
			return nil, carillon.Invalid(resource.Index("inputs", i), "Has the flow do too much work for a test run")
		}
		input = i
		switch {
		case in.kind == "response" && run.State == flow.Asking && agent.WantsPerson(in.text):
			add(p.HandOff(run, "The contact asked for a person"))
		case in.kind == "response" && run.State == flow.Asking:
			add(p.Respond(run, in.text, w, now))
		case in.kind == "wait" && run.State == flow.Waiting:
			now = run.Due
			add(p.Advance(run, w, now))
		case in.kind == "outcome" && run.State == flow.Calling:
			got := p.Effect(run).Values(in.status)
			maps.Copy(got, in.values)
			add(p.Result(run, got, in.text, in.refused, w, now))
		}
	}
	t.State, t.Path, t.Values, t.Steps, t.Error = run.State, p.Where(run.At), run.Values, run.Steps, run.Error
	if run.State != flow.Asking {
		t.Choices = []string{}
	}
	if e := p.Effect(run); e != nil {
		t.Effect = &triedEffect{e.Kind(), e.HTTP, e.SendTemplate, e.PlaceCall}
	}
	if run.State == flow.Waiting {
		t.WaitMS = run.Due.Sub(now).Milliseconds()
	}
	return t, nil
}

func flowInputs(o *jsonbody.Object) ([]flowInput, error) {
	all, _, err := o.Array("inputs", "inputs")
	if err == nil && len(all) > maxInputs {
		err = carillon.Invalid("inputs", "At most "+strconv.Itoa(maxInputs))
	}
	if err != nil {
		return nil, err
	}
	inputs := make([]flowInput, 0, len(all))
	for i, v := range all {
		at := resource.Index("inputs", i)
		one, present, err := v.Object(at)
		if err == nil && !present {
			err = carillon.Missing(at)
		}
		if err != nil {
			return nil, err
		}
		in, err := inputOf(one, at)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, in)
	}
	return inputs, nil
}

func inputOf(o *jsonbody.Object, at string) (in flowInput, err error) {
	if in.kind, err = o.Find("kind").Required(at + ".kind"); err != nil {
		return in, err
	}
	if in.text, _, err = o.String(at+".text", "text"); err != nil {
		return in, err
	}
	if in.status, _, err = o.String(at+".status", "status"); err != nil {
		return in, err
	}
	if in.refused, _, err = o.Bool(at+".refused", "refused"); err != nil {
		return in, err
	}
	if in.values, err = valuesOf(o, "values"); err != nil {
		return in, err
	}
	switch {
	case in.kind != "response" && in.kind != "outcome" && in.kind != "wait":
		return in, carillon.InvalidValue(at+".kind", "Must be response, outcome or wait", carillon.Shorten(in.kind))
	case in.kind == "response" && in.text == "":
		return in, carillon.Missing(at + ".text")
	case utf8.RuneCountInString(in.text) > conversation.MaxText:
		return in, carillon.Invalid(at+".text", "At most "+strconv.Itoa(conversation.MaxText)+" characters")
	case len(in.status) > maxValue:
		return in, carillon.Invalid(at+".status", "At most "+strconv.Itoa(maxValue)+" bytes")
	}
	return in, nil
}

// valuesOf reads variables, which may be absent.
func valuesOf(o *jsonbody.Object, field string) (flow.Values, error) {
	given, _, err := o.Find(field).Object(field)
	if err != nil || given == nil {
		return flow.Values{}, err
	}
	v := flow.Values{}
	for name, value := range given.Members() {
		text, _, err := value.String(field + "." + name)
		switch {
		case err != nil:
			return nil, err
		case !flow.ValidVariable(name):
			return nil, carillon.Invalid(field, "Must have words of letters, digits and _ as names")
		case len(text) > maxValue:
			return nil, carillon.Invalid(field+"."+name, "At most "+strconv.Itoa(maxValue)+" bytes")
		case len(v) == maxValues:
			return nil, carillon.Invalid(field, "At most "+strconv.Itoa(maxValues))
		}
		v[name] = text
	}
	return v, nil
}
