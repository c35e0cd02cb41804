package conversation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/agent"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/talk/flow"
	"carillon/internal/voice"
)

func TestATurnThatGoesOnIsReadWhole(t *testing.T) {
	said := func(author chats.Author, text string, continues bool) chats.Turn {
		return chats.Turn{Author: author, Kind: chats.KindText, Text: text, Extra: chats.Extra{Voice: &chats.Voice{Continues: continues}}}
	}
	for want, turns := range map[string][]chats.Turn{
		"six zero zero one one one": {said(chats.Visitor, "six zero zero", false), said(chats.Visitor, "one one one", true)},
		"a b c": {
			said(chats.Visitor, "a", false), said(chats.Visitor, "b", true), said(chats.Visitor, "c", true),
		},
		"on Sundays": {said(chats.Visitor, "when", false), said(chats.Agent, "From nine.", false), said(chats.Visitor, "on Sundays", true)},
		"yes":        {said(chats.Visitor, "hello", false), said(chats.Visitor, "yes", false)},
	} {
		if got := joined(turns); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// former returns an agent with a form in which some questions contain others.
func former() *agent.Agent {
	return &agent.Agent{Name: "Robin", Language: "en", Result: []agent.Result{
		{Name: "adults", Type: "number", Question: "How many?"},
		{Name: "children", Type: "number", Question: "And children? How many?"},
		{Name: "come", Type: "boolean", Question: "Do you come?"},
		{Name: "sure", Type: "boolean", Question: "Are you sure?"},
	}}
}

// fills is a conversation that fills in the form. A greeting asks its first question.
type fills struct {
	*rig
	id string
	n  int
}

func (r *rig) fills(a *agent.Agent) *fills {
	r.t.Helper()
	r.agent.mu.Lock()
	r.agent.agent = a
	r.agent.mu.Unlock()
	r.agent.set(agent.Builtin{}.Reply)
	x := &fills{rig: r, id: r.open()}
	in := voice.Saying{ClientID: "greeting", Kind: chats.KindText, Text: "Hello. " + a.Result[0].Question, Asks: a.Result[0].Name}
	turn, err := NewAloud(r.Conversations).Announce(r.t.Context(), r.company, x.id, in, false)
	if err != nil {
		r.t.Fatal(err)
	}
	x.cut(turn.Seq)
	return x
}

// cut records that playback of a turn was cut off before its first word.
func (x *fills) cut(seq int64) {
	x.t.Helper()
	if err := NewAloud(x.Conversations).Spoke(x.t.Context(), x.company, x.id, seq, chats.Voice{Cut: true}); err != nil {
		x.t.Fatal(err)
	}
}

// says adds a turn of the person and lets node respond. The response is cut off at once.
func (x *fills) says(node *Conversations, in voice.Saying) {
	x.t.Helper()
	x.n++
	in.ClientID, in.Kind = fmt.Sprint(x.n), chats.KindText
	a := NewAloud(node)
	if _, err := a.Say(x.t.Context(), x.company, x.id, in); err != nil {
		x.t.Fatal(err)
	}
	turn, err := a.Respond(x.t.Context(), x.company, x.id, nil, func(agent.Action) error { return nil })
	if err != nil {
		x.t.Fatal(err)
	}
	if turn != nil {
		x.cut(turn.Seq)
	}
}

// noted returns the recorded values, in order.
func (x *fills) noted() string {
	x.t.Helper()
	turns, err := x.store.Chats.Turns(x.t.Context(), x.company, x.id, 0, 1000)
	if err != nil {
		x.t.Fatal(err)
	}
	var all []string
	for _, t := range turns {
		for _, v := range t.Extra.Set {
			all = append(all, v.Name+"="+v.Text)
		}
	}
	return strings.Join(all, " ")
}

const filledIn = "adults=2 children=3 come=true sure=true"

// The pending question is stored, not derived from the words that were played: each response is cut off before its
// first word, and another node continues.
func TestAFormKnowsWhatItAskedWhateverWasHeard(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		x := r.fills(former())
		for _, text := range []string{"2", "3", "yes", "yes"} {
			x.pass(2 * time.Second)
			x.says(r.node(), voice.Saying{Text: text})
		}
		if got := x.noted(); got != filledIn {
			t.Errorf("noted %q", got)
		}
		if c := r.find(x.id); c.Asks != "" || c.AskedSeq != c.CompanySeq {
			t.Errorf("it still asks %q, since %d", c.Asks, c.AskedSeq)
		}
		x.says(r.Conversations, voice.Saying{Text: "yes"}) // a repetition of the last answer
		x.pass(2 * time.Second)
		x.says(r.Conversations, voice.Saying{Text: "thanks"})
		if got := r.turns(x.id); !slices.Equal(got[len(got)-4:], []string{
			"system noted", "visitor yes", "visitor thanks", "agent You're welcome! Is there anything else I can help with?",
		}) {
			t.Errorf("%q", got)
		}
		if c := r.find(x.id); c.AskedSeq != 0 {
			t.Errorf("it remembers an answer to %d", c.AskedSeq)
		}
	})
}

func TestAnAnswerThatIsGivenTwiceCountsOnce(t *testing.T) {
	for name, twice := range map[string]voice.Saying{
		"a key": {Text: "1", Digits: "1"}, "a key before the next question is heard": {Text: "1", Digits: "1", Early: true},
		"a word": {Text: "Yes!"}, "a word before the next question is heard": {Text: "I said yes", Early: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, store.Options{})
			x := r.fills(former())
			first := voice.Saying{Text: "yes"}
			if twice.Digits != "" {
				first.Digits = "1"
			}
			for _, in := range []voice.Saying{{Text: "2"}, {Text: "3"}, first} {
				x.pass(2 * time.Second)
				x.says(r.Conversations, in)
			}
			x.pass(300 * time.Millisecond)
			before := len(r.turns(x.id))
			x.says(r.Conversations, twice)
			if got, turns := x.noted(), r.turns(x.id); got != "adults=2 children=3 come=true" || len(turns) != before+1 {
				t.Errorf("noted %q, turns %q", got, turns[before:])
			}
			if c := r.find(x.id); c.ReplySeq != 0 || c.Asks != "sure" {
				t.Errorf("it waits for a reply to %d, and asks %q", c.ReplySeq, c.Asks)
			}
			x.pass(2 * time.Second)
			x.says(r.Conversations, voice.Saying{Text: "yes"})
			if got := x.noted(); got != filledIn {
				t.Errorf("noted %q", got)
			}
		})
	}
}

// Something comes between the question and its answer: a question to the agent, an apology, or unexpected key presses.
func TestAQuestionWaitsForItsAnswer(t *testing.T) {
	r := newRig(t, store.Options{})
	x := r.fills(former())
	a := NewAloud(r.Conversations)
	x.says(r.Conversations, voice.Saying{Text: "hello"})
	x.says(r.Conversations, voice.Saying{Text: "what do you sell?"})
	if _, err := a.Announce(t.Context(), r.company, x.id,
		voice.Saying{ClientID: "sorry", Kind: chats.KindText, Text: "I am sorry. Are you sure?"}, true); err != nil {
		t.Fatal(err)
	}
	if p, err := a.Pending(t.Context(), r.company, x.id); err != nil || p == nil || p.Question != "How many?" || !p.Number {
		t.Errorf("it waits for %+v, %v", p, err)
	}
	if p, err := a.Pending(t.Context(), "other", x.id); p != nil || err != nil {
		t.Errorf("in another company for %+v, %v", p, err)
	}
	x.says(r.Conversations, voice.Saying{Text: "2"})
	if got := x.noted(); got != "adults=2" {
		t.Errorf("noted %q", got)
	}
	must := func(_ *chats.Conversation, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(r.Desk.Take(t.Context(), r.ana, x.id, "")) // a teammate asks something else
	must(r.Desk.Release(t.Context(), r.ana, x.id, true))
	x.says(r.Conversations, voice.Saying{Text: "3"})
	if got := x.noted(); got != "adults=2" {
		t.Errorf("after a teammate had it: noted %q", got)
	}
}

// While this node computes a reply to the person's last words, another node stores the reply to the earlier words,
// which contains the next question. This node must then judge the last words again.
func TestWhatIsSaidWhileTheNextQuestionComesIsNoAnswerToIt(t *testing.T) {
	r := newRig(t, store.Options{})
	x := r.fills(former())
	var thoughts atomic.Int32
	first, second, stored := make(chan struct{}), make(chan struct{}), make(chan struct{})
	r.agent.set(func(ctx context.Context, q *agent.Request, emit func(agent.Action) error) error {
		switch thoughts.Add(1) {
		case 1:
			close(first)
			<-second
		case 2:
			close(second)
			<-stored
		}
		return agent.Builtin{}.Reply(ctx, q, emit)
	})
	if _, err := NewAloud(r.Conversations).Say(t.Context(), r.company, x.id,
		voice.Saying{ClientID: "first", Kind: chats.KindText, Text: "2"}); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(stored)
		if _, _, err := r.node().replies.replyTo(context.WithoutCancel(t.Context()), job{r.company, x.id}, nil, nil); err != nil {
			t.Error(err)
		}
	}()
	<-first
	x.pass(2 * time.Second)
	x.says(r.Conversations, voice.Saying{Text: "2", Early: true})
	if got := x.noted(); got != "adults=2" {
		t.Errorf("noted %q", got)
	}
	if got, want := r.turns(x.id), []string{
		"agent Hello. How many?", "visitor 2", "visitor 2", "agent And children? How many?", "system noted",
	}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
	if n := thoughts.Load(); n != 3 {
		t.Errorf("the agent was asked %d times", n)
	}
}

func TestTheBearingOfWhatIsSaid(t *testing.T) {
	at := time.UnixMilli(1_800_000_000_000)
	said := func(seq int64, text string, after time.Duration, x chats.Extra) chats.Turn {
		kind := chats.KindText
		if x.Of > 0 {
			kind = chats.KindChoice
		}
		return chats.Turn{Seq: seq, Author: chats.Visitor, Kind: kind, Text: text, At: at.Add(after), Extra: x}
	}
	asked := chats.Turn{Seq: 3, Author: chats.Agent, Kind: chats.KindText, Text: "Second?", At: at}
	first := said(2, "yes", 0, chats.Extra{})
	spoken := chats.Extra{Voice: &chats.Voice{LengthMS: 1600, TranscribeMS: 500}}
	for name, c := range map[string]struct {
		last  chats.Turn
		asked int64
		said  int64 // the company's last turn
		want  bearing
	}{
		"nothing is asked":                     {said(4, "yes", 0, chats.Extra{Early: true}), 0, 3, attempts},
		"an answer":                            {said(4, "no", 100*time.Millisecond, chats.Extra{}), 3, 3, attempts},
		"the same word at once":                {said(4, "YES.", time.Second, chats.Extra{}), 3, 3, repeated},
		"the same word later":                  {said(4, "yes", 1001*time.Millisecond, chats.Extra{}), 3, 3, attempts},
		"the same word to the same question":   {said(4, "yes", 100*time.Millisecond, chats.Extra{}), 1, 1, attempts},
		"before the question was heard":        {said(4, "no", 5*time.Second, chats.Extra{Early: true}), 3, 3, past},
		"before it was asked again":            {said(4, "no", 5*time.Second, chats.Extra{Early: true}), 1, 5, meanwhile},
		"written before the question":          {said(3, "no", 5*time.Second, chats.Extra{}), 4, 4, meanwhile},
		"written before it was asked again":    {said(4, "no", 5*time.Second, chats.Extra{}), 3, 5, meanwhile},
		"a button of the question":             {said(4, "no", 5*time.Second, chats.Extra{Of: 3}), 3, 3, attempts},
		"a button of the question asked again": {said(6, "no", 5*time.Second, chats.Extra{Of: 5}), 3, 5, attempts},
		"a button of an earlier question":      {said(4, "no", 5*time.Second, chats.Extra{Of: 1}), 3, 3, past},
		"another key with the same meaning":    {said(4, "yes", 100*time.Millisecond, chats.Extra{Digits: "1"}), 3, 3, repeated},
		"the same word, begun at once":         {said(4, "yes", 3*time.Second, spoken), 3, 3, repeated},
		"the same word, begun later":           {said(4, "yes", 4*time.Second, spoken), 3, 3, attempts},
	} {
		v := &chats.Conversation{Asks: "come", AskedSeq: c.asked, CompanySeq: c.said}
		if got := bearingOf(v, []chats.Turn{first, asked, c.last}); got != c.want {
			t.Errorf("%s: %d, not %d", name, got, c.want)
		}
	}
}

// An early key press answers nothing. The same key, pressed again after the question was played, is a first answer and
// not a repetition.
func TestAnEarlyKeyTakesNothingFromTheNext(t *testing.T) {
	at := time.UnixMilli(1_800_000_000_000)
	turn := func(seq int64, after time.Duration, x chats.Extra) chats.Turn {
		return chats.Turn{Seq: seq, Author: chats.Visitor, Kind: chats.KindChoice, Text: "yes", At: at.Add(after), Extra: x}
	}
	early, key := chats.Extra{Digits: "1", Early: true}, chats.Extra{Digits: "1"}
	asked := chats.Turn{Seq: 3, Author: chats.Agent, Kind: chats.KindText, Text: "Second?", At: at}
	for name, c := range map[string]struct {
		turns []chats.Turn
		want  bearing
	}{
		"pressed again":               {[]chats.Turn{asked, turn(4, 0, early), turn(5, 600*time.Millisecond, key)}, attempts},
		"pressed before the question": {[]chats.Turn{turn(2, 0, early), asked, turn(4, 600*time.Millisecond, key)}, attempts},
		"pressed three times": {
			[]chats.Turn{turn(1, 0, key), turn(2, 0, early), asked, turn(4, 600*time.Millisecond, key)}, repeated,
		},
		"spoken, before anything else": {[]chats.Turn{asked, turn(4, 0, chats.Extra{Early: true})}, past},
		"pressed, before anything":     {[]chats.Turn{asked, turn(4, 0, early)}, past},
	} {
		if got := bearingOf(&chats.Conversation{Asks: "come", AskedSeq: 3, CompanySeq: 3}, c.turns); got != c.want {
			t.Errorf("%s: %d, not %d", name, got, c.want)
		}
	}
}

// Input typed ahead answers a flow's question if it fits. Repeated input counts once, and a button answers only its
// own question.
func TestAFlowTakesAnswersForTheirQuestions(t *testing.T) {
	const steps = `[{"say": "Come?"}, {"ask": "come", "choices": ["yes", "no"]}, {"say": "Sure?"}, {"ask": "sure", "choices": ` +
		`["yes", "no"]}, {"say": "Done {{come}} {{sure}}"}]`
	for name, c := range map[string]struct {
		after time.Duration
		said  []Said
		want  []string
	}{
		"one after the other": {
			2 * time.Second,
			[]Said{{Text: "yes"}, {Text: "yes"}},
			[]string{"visitor yes", "agent Sure?", "visitor yes", "agent Done yes yes"},
		},
		"twice": {
			200 * time.Millisecond, []Said{{Text: "yes"}, {Text: "Yes"}}, []string{"visitor yes", "agent Sure?", "visitor Yes"},
		},
		"ahead": {
			200 * time.Millisecond,
			[]Said{{Text: "no"}, {Text: "yes"}},
			[]string{"visitor no", "agent Sure?", "visitor yes", "agent Done no yes"},
		},
		"a button twice": {
			time.Hour,
			[]Said{{Text: "yes", Kind: chats.KindChoice, Of: 3}, {Text: "no", Kind: chats.KindChoice, Of: 3}},
			[]string{"visitor yes", "agent Sure?", "visitor no"},
		},
		"not heard": {time.Hour, []Said{{Text: "yes"}, {Text: "no", Early: true}}, []string{"visitor yes", "agent Sure?", "visitor no"}},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, r *rig) {
				r.lay("word", flow.Trigger{Keywords: []string{"begin"}}, steps)
				id := r.open()
				for i, in := range append([]Said{{Text: "begin"}}, c.said...) {
					r.pass(c.after)
					in.ClientID = fmt.Sprint(i)
					if in.Kind == "" {
						in.Kind = chats.KindText
					}
					if _, _, err := r.Say(t.Context(), r.company, id, in); err != nil {
						t.Fatal(err)
					}
					if _, _, err := r.replies.replyTo(t.Context(), job{r.company, id}, nil, nil); err != nil {
						t.Fatal(err)
					}
				}
				if got := r.turns(id)[2:]; !slices.Equal(got, c.want) {
					t.Errorf("%q, not %q", got, c.want)
				}
				if n := r.find(id).ReplySeq; n != 0 {
					t.Errorf("it waits for a reply to %d", n)
				}
			})
		})
	}
}

// The last message of a flow may be a question of the agent's form, which then continues from there.
func TestAFlowEndsWithAQuestionOfTheAgents(t *testing.T) {
	r := newRig(t, store.Options{})
	r.agent.agent = former()
	r.agent.set(agent.Builtin{}.Reply)
	r.lay("word", flow.Trigger{Keywords: []string{"begin"}}, `[{"say": "Welcome. Do you come?"}]`)
	x := &fills{rig: r, id: r.open()}
	x.says(r.Conversations, voice.Saying{Text: "begin"})
	if turns, err := r.store.Chats.TurnsBefore(t.Context(), r.company, x.id, 100, 1); err != nil ||
		!slices.Equal(turns[0].Extra.Choices, []string{"Yes", "No"}) {
		t.Errorf("%+v, %v", turns, err)
	}
	x.pass(2 * time.Second)
	x.says(r.Conversations, voice.Saying{Text: "no"})
	if got := x.noted(); got != "come=false" {
		t.Errorf("noted %q", got)
	}
}
