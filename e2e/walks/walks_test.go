package walks

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// way is a manner of answering.
type way string

const (
	plain       way = "plainly"     // after the question has arrived or was played
	early       way = "early"       // while it is played, or before it has arrived
	late        way = "late"        // after a long silence
	twice       way = "twice"       // repeated a moment later
	interrupted way = "interrupted" // spoken over the question; in writing: while another node takes over

	// For people who talk.
	inWords      way = "in words"
	aheadInWords way = "in words ahead, and again"
	lateInWords  way = "in words, late"
	twiceInWords way = "in words, twice"

	// For people with keys.
	ahead      way = "ahead" // before the first sound of the question, and repeated after it was played
	aheadEarly way = "ahead, and then early"
	both       way = "in words and by key at once"
)

// person walks through the flow on a channel.
type person interface {
	// begin begins the flow.
	begin()
	// answers answers a question in a way.
	answers(a answer, w way)
	// id returns the conversation's ID.
	id() string
	// leave ends the person's connections.
	leave()
}

// channel is a way to reach a person, with the ways of answering there besides plainly.
type channel struct {
	on   func(x *site) person
	ways []way
}

var channels = map[string]channel{
	"a chat": {inChat, everywhere}, "WhatsApp": {onWhatsApp, everywhere}, "a voice widget": {inWidget, slices.Concat(everywhere, aloud)},
	"a call": {onCall, slices.Concat(everywhere, aloud, []way{ahead, aheadEarly, both})},
}

var (
	everywhere = []way{early, late, twice, interrupted}
	aloud      = []way{inWords, aheadInWords, lateInWords, twiceInWords}
)

// All walks lead to the same answers, on every channel and in every way: the agent says the same in the same order,
// and the flow and the form have the same results.
func TestAWalkEndsTheSameHoweverItsAnswersCome(t *testing.T) {
	want := []string{"come=yes", "people=3", "part=evening", "call=true", "adults=2", "children=4", "seat=outside"}
	for name, c := range channels {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plainly := walked(t, c.on, plain)
			if diff := cmp.Diff(want, plainly.Answers); diff != "" {
				t.Fatalf("plainly: %s", diff)
			}
			if n := len(plainly.Said); n < len(walk)+1 || !slices.Equal(plainly.Said[n-len(walk)-1:], said()) {
				t.Fatalf("plainly the agent says %q", plainly.Said)
			}
			for _, w := range c.ways {
				if diff := cmp.Diff(plainly, walked(t, c.on, w)); diff != "" {
					t.Errorf("%s (-plainly +%s):\n%s", w, w, diff)
				}
			}
			for i := range walk { // only one answer is given in another way
				for _, w := range c.ways {
					if diff := cmp.Diff(plainly, walkedBut(t, c.on, plain, i, w)); diff != "" {
						t.Errorf("the answer %d %s (-plainly +%s):\n%s", i, w, w, diff)
					}
				}
			}
		})
	}
}

// said returns the agent's messages in a walk, without a greeting.
func said() (all []string) {
	for _, a := range walk {
		all = append(all, a.question)
	}
	return append(all, farewell)
}

func walked(t *testing.T, on func(x *site) person, w way) outcome {
	t.Helper()
	return walkedBut(t, on, w, -1, w)
}

// walkedBut returns the outcome of a walk whose answer i is given in another way.
func walkedBut(t *testing.T, on func(x *site) person, w way, i int, other way) (o outcome) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		defer func() {
			if t.Failed() {
				t.Logf("the answers come %s, the answer %d %s", w, i, other)
			}
		}()
		x := newSite(t)
		defer x.close()
		p := on(x)
		p.begin()
		for n, a := range walk {
			how := w
			if n == i {
				how = other
			}
			p.answers(a, how)
		}
		x.asked(p.id(), farewell)
		time.Sleep(5 * time.Second) // nothing follows
		synctest.Wait()
		p.leave()
		o = x.outcome(p.id())
	})
	return o
}
