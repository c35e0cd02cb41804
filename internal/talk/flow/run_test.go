package flow

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

var words = Words{Retry: "I did not understand that.", Choose: "Please choose."}

// walk drives a flow step by step.
type walk struct {
	t   *testing.T
	p   *Program
	run Run
	now time.Time
	log []string
}

func begin(t *testing.T, definition string, values Values) *walk {
	t.Helper()
	f := &Flow{Name: "test"}
	if err := json.Unmarshal([]byte(definition), &f.Steps); err != nil {
		t.Fatal(err)
	}
	if err := f.Validate(); err != nil {
		t.Fatal(err)
	}
	p, err := Compile(f)
	if err != nil {
		t.Fatal(err)
	}
	if values == nil {
		values = Values{}
	}
	w := &walk{t: t, p: p, run: Run{State: Ready, Values: values}, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	w.took(p.Advance(&w.run, words, w.now))
	return w
}

// took records an outcome in short form, and stores the run as a database would.
func (w *walk) took(o *Outcome) {
	w.t.Helper()
	for _, s := range o.Say {
		w.log = append(w.log, "say "+s.Text+strings.Repeat(" ", min(1, len(s.Choices)))+strings.Join(s.Choices, "/"))
	}
	if o.Effect != nil {
		text, _ := json.Marshal(o.Effect)
		w.log = append(w.log, "do "+string(text))
	}
	if o.Handoff != "" {
		w.log = append(w.log, "handoff "+o.Handoff)
	}
	if o.Resolve {
		w.log = append(w.log, "resolve")
	}
	text, err := json.Marshal(w.run)
	if err != nil {
		w.t.Fatal(err)
	}
	var again Run
	if err := json.Unmarshal(text, &again); err != nil {
		w.t.Fatal(err)
	}
	w.run = again
}

func (w *walk) says(text string) { w.took(w.p.Respond(&w.run, text, words, w.now)) }

func (w *walk) expect(state State, log ...string) {
	w.t.Helper()
	if got, want := strings.Join(w.log, "\n"), strings.Join(log, "\n"); got != want {
		w.t.Errorf("it does\n%s\nnot\n%s", got, want)
	}
	if w.run.State != state {
		w.t.Errorf("it is %s at %s (%s), not %s", w.run.State, w.p.Where(w.run.At), w.run.Error, state)
	}
	w.log = nil
}

const followUp = `[
	{"say": "Hola {{name}}, ¿recibió su pedido?"},
	{"ask": "received", "choices": ["sí", "no"]},
	{"if": "received == 'no'", "then": [{"handoff": "support"}], "else": [{"say": "¡Gracias!"}]}
]`

func TestAFlowGoesEitherWay(t *testing.T) {
	w := begin(t, followUp, Values{"name": "Ana"})
	w.expect(Asking, "say Hola Ana, ¿recibió su pedido? sí/no")
	w.says("SI")
	w.expect(Completed, "say ¡Gracias!")
	w = begin(t, followUp, nil)
	w.says("No, todavía no")
	w.expect(HandedOff, "say Hola, ¿recibió su pedido? sí/no", "handoff support")
}

func TestWhatDoesNotFitIsAskedAgainAndThenHandedOff(t *testing.T) {
	w := begin(t, followUp, Values{"name": "Ana"})
	w.log = nil
	for range DefaultRetries {
		w.says("what?")
		w.expect(Asking, "say I did not understand that.\nHola Ana, ¿recibió su pedido? sí/no")
	}
	w.says("what?")
	w.expect(HandedOff, "handoff No response fits: Hola Ana, ¿recibió su pedido?")
	w = begin(t, `[{"ask": "mail", "question": "Your {{what}}?", "accept": "email", "retries": 0}]`, Values{"what": "e-mail"})
	w.says("no")
	w.expect(HandedOff, "say Your e-mail?", "handoff No response fits: Your e-mail?")
}

// The question of an ask step is a message after those said before.
func TestAStepAsksItsQuestion(t *testing.T) {
	w := begin(t, `[
		{"say": "Hello."},
		{"id": "ask", "ask": "drink", "question": "Tea or coffee, {{name}}?", "choices": ["Tea", "Coffee"], "retry": "Which of the two?"},
		{"ask": "sugar", "question": "How much sugar?", "accept": "number"},
		{"if": "sugar > 3", "then": [{"goto": "ask"}]},
		{"say": "{{drink}} with {{sugar}}"}
	]`, Values{"name": "Ana"})
	w.expect(Asking, "say Hello.", "say Tea or coffee, Ana? Tea/Coffee")
	w.says("water")
	w.expect(Asking, "say Which of the two? Tea/Coffee")
	w.says("can you repeat that, please?")
	w.expect(Asking, "say Tea or coffee, Ana? Tea/Coffee")
	w.says("2")
	w.expect(Asking, "say How much sugar?")
	w.says("many")
	w.expect(Asking, "say I did not understand that.\nHow much sugar?")
	w.says("4")
	w.expect(Asking, "say Tea or coffee, Ana? Tea/Coffee")
	w.says("tea")
	w.says("1")
	w.expect(Completed, "say How much sugar?", "say Tea with 1")
}

// Flows that an earlier version stored may ask without a question.
func TestAStepWithoutAQuestionAsksToChoose(t *testing.T) {
	for _, steps := range []string{
		`[{"ask": "x"}]`, `[{"ask": "x", "question": "{{nothing}}"}]`, `[{"say": "{{nothing}}"}, {"ask": "x"}]`,
	} {
		f := &Flow{Name: "test"}
		if err := json.Unmarshal([]byte(steps), &f.Steps); err != nil {
			t.Fatal(err)
		}
		p, err := Compile(f)
		if err != nil {
			t.Fatal(err)
		}
		w := &walk{t: t, p: p, run: Run{State: Ready, Values: Values{}}}
		w.took(p.Advance(&w.run, words, w.now))
		if last := w.log[len(w.log)-1]; w.run.State != Asking || last != "say Please choose." && last != "say " {
			t.Errorf("%s: %s, %q", steps, w.run.State, w.log)
		}
	}
}

func TestAHandoffWhoseReasonIsEmptyAsksForATeammate(t *testing.T) {
	f := &Flow{Name: "Orders", Trigger: Trigger{Event: "order"}, Steps: []Step{{Handoff: "{{reason}}"}}}
	if err := f.Validate(); err != nil {
		t.Fatal(err)
	}
	p, err := Compile(f)
	if err != nil {
		t.Fatal(err)
	}
	w := &walk{t: t, p: p, run: Run{State: Ready, Values: Values{}}}
	w.took(p.Advance(&w.run, words, w.now))
	w.expect(HandedOff, "handoff Orders")
}

func TestTimeEffectsAndValues(t *testing.T) {
	w := begin(t, `[
		{"set": {"greeting": "Hi {{name}}", "name": "B"}},
		{"say": "{{greeting}} {{name}}"},
		{"wait": "2d"},
		{"http": {"method": "POST", "url": "https://shop.test/orders/{{order}}?q={{name}}", "body": "{\"who\": \"{{who}}\"}",
			"save": {"state": "order.state"}, "status": "status"}},
		{"if": "status == 200 and state == 'sent'", "then": [{"send_template": {"name": "sent", "language": "es",
			"variables": {"name": "{{name}}"}}}]},
		{"end": true}
	]`, Values{"name": "A", "order": "1/../2 &x", "who": `"}`})
	w.expect(Waiting, "say Hi A B")
	if want := w.now.Add(48 * time.Hour); !w.run.Due.Equal(want) {
		t.Errorf("due %v, not %v", w.run.Due, want)
	}
	w.says("are you there")
	w.expect(Waiting)
	w.took(w.p.Advance(&w.run, words, w.now))
	w.expect(Calling, `do {"Path":"steps.3","HTTP":{"method":"POST","url":"https://shop.test/orders/1%2F..%2F2%20%26x?q=B",`+
		`"body":"{\"who\": \"\\\"}\"}","save":{"state":"order.state"},"status":"status"},"SendTemplate":null,"PlaceCall":null}`)
	w.took(w.p.Result(&w.run, Values{"status": "200", "state": "sent"}, "200", false, words, w.now))
	w.expect(Calling, `do {"Path":"steps.4.then.0","HTTP":null,"SendTemplate":{"name":"sent","language":"es",`+
		`"variables":{"name":"B"}},"PlaceCall":null}`)
	again := w.run
	w.took(w.p.Result(&w.run, nil, "accepted", false, words, w.now))
	w.expect(Completed, "resolve")
	w.run = again
	w.took(w.p.Result(&w.run, nil, "no such template", true, words, w.now))
	w.expect(Failed)
	if w.run.Error != "steps.4.then.0: no such template" {
		t.Error(w.run.Error)
	}
}

func TestALoopIsStoppedWhereItIs(t *testing.T) {
	w := begin(t, `[{"id": "a", "say": "again"}, {"if": "true", "then": [{"goto": "a"}]}]`, nil)
	if w.run.State != Failed || !strings.HasPrefix(w.run.Error, "steps.") || !strings.Contains(w.run.Error, "50 steps without a response") {
		t.Errorf("%s %s", w.run.State, w.run.Error)
	}
	w = begin(t, `[{"id": "a", "say": "again"}, {"ask": "x"}, {"goto": "a"}]`, nil)
	for i := 0; w.run.State == Asking; i++ {
		if i > 200 {
			t.Fatal("it goes on for ever")
		}
		w.says(fmt.Sprint(i))
	}
	if w.run.State != Failed || !strings.Contains(w.run.Error, "500 steps") || w.run.Steps != maxRunSteps+1 {
		t.Errorf("%s %s", w.run.State, w.run.Error)
	}
}

func TestEveryStepEndsSomewhere(t *testing.T) {
	w := begin(t, `[{"if": "x == 'a'", "then": [{"if": "y == 'b'", "then": [{"say": "ab"}], "else": [{"say": "a-"}]}], "else": []}, `+
		`{"say": "end"}]`, Values{"x": "a"})
	w.expect(Completed, "say a-", "say end")
	w = begin(t, `[{"if": "x == 'a'"}]`, nil)
	w.expect(Completed)
	if w.p.Where(w.run.At) != "end" {
		t.Error(w.p.Where(w.run.At))
	}
}

// For any flow and any input, a run ends or waits within its limits.
func FuzzRun(f *testing.F) {
	f.Add(followUp, "sí", "no")
	f.Add(`[{"set":{}},{"http":{"url":"https://a.b","headers":{}}},{"send_template":{"name":"a","language":"b"}},`+
		`{"place_call":{"agent":"a"}}]`, "", "")
	f.Add(`[{"id":"a","ask":"x","accept":"number"},{"if":"x > 3","then":[{"goto":"a"}]},{"wait":"1s"},{"goto":"a"}]`, "5", "-1")
	f.Fuzz(func(t *testing.T, definition, first, second string) {
		x := &Flow{Name: "test"}
		if json.Unmarshal([]byte(definition), &x.Steps) != nil || x.Validate() != nil {
			return
		}
		text, _, err := x.Document()
		x = &Flow{}
		if err = errors.Join(err, json.Unmarshal([]byte(text), x), x.Validate()); err != nil {
			t.Fatalf("as it is stored it is not valid any more: %v", err)
		}
		p, err := Compile(x)
		if err != nil {
			t.Fatal(err)
		}
		r := &Run{State: Ready, Values: Values{}}
		now := time.Unix(0, 0)
		p.Advance(r, words, now)
		for i := 0; i < maxRunSteps*2 && !r.State.Over(); i++ {
			switch r.State {
			case Asking:
				p.Respond(r, first, words, now)
				first, second = second, first
			case Waiting:
				p.Advance(r, words, r.Due)
			case Calling:
				p.Result(r, Values{"x": first}, "", false, words, now)
			default:
				t.Fatalf("it stays %s at %s", r.State, p.Where(r.At))
			}
		}
		if !r.State.Over() || len(r.Values) > maxVariables {
			t.Fatalf("it is %s at %s with %d variables after %d steps", r.State, p.Where(r.At), len(r.Values), r.Steps)
		}
	})
}

func TestWhoAsksForTheQuestionAgainGetsItAndLosesNoTry(t *testing.T) {
	w := begin(t, `[{"say": "Which one?"}, {"ask": "x", "choices": ["a", "b"], "retries": 0}, {"say": "Your name?"}, {"ask": "y"}, `+
		`{"say": "{{x}} {{y}}"}]`, nil)
	for _, text := range []string{
		"Could you repeat, please?", "¿Puede repetir?", "Sorry, could you repeat that please?", "b", "Say that again.", "Again",
	} {
		w.took(w.p.Respond(&w.run, text, words, w.now))
	}
	want := []string{
		"say Which one? a/b", "say Which one? a/b", "say Which one? a/b", "say Which one? a/b", "say Your name?", "say Your name?",
		"say b Again",
	}
	if strings.Join(w.log, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q", w.log)
	}
}
