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
	plain       way = "plainly"     // once the question is there, and heard
	early       way = "early"       // while it is said, or before it has arrived
	late        way = "late"        // after a long silence
	twice       way = "twice"       // and again, a moment later
	interrupted way = "interrupted" // spoken into the question; in writing: while another node takes over

	// Of those who talk.
	inWords      way = "in words"
	aheadInWords way = "in words ahead, and again"
	lateInWords  way = "in words, late"
	twiceInWords way = "in words, twice"

	// Of those with keys.
	ahead      way = "ahead" // before the first sound of the question, and again when it was heard
	aheadEarly way = "ahead, and then early"
	both       way = "in words and by key at once"
)

// person walks on a channel.
type person interface {
	// begin begins the flow.
	begin()
	// answers answers a question that was asked, in a way. last: no question follows.
	answers(a answer, w way)
	// id is the conversation's.
	id() string
	// leave ends what the person has open.
	leave()
}

// channel is a way to reach a person, with the ways in which they answer there besides plainly.
type channel struct {
	on   func(x *site) person
	ways []way
}

var channels = map[string]channel{ //nolint:gochecknoglobals // read only
	"a chat": {inChat, everywhere}, "WhatsApp": {onWhatsApp, everywhere}, "a voice widget": {inWidget, slices.Concat(everywhere, aloud)},
	"a call": {onCall, slices.Concat(everywhere, aloud, []way{ahead, aheadEarly, both})},
}

var (
	everywhere = []way{early, late, twice, interrupted}                  //nolint:gochecknoglobals // read only
	aloud      = []way{inWords, aheadInWords, lateInWords, twiceInWords} //nolint:gochecknoglobals // read only
)

// Everybody comes to the same answers, on every channel and in every way: the agent says the same in the same order, and the flow and the
// form end the same.
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
			for i := range walk { // one answer alone is given in another way
				for _, w := range c.ways {
					if diff := cmp.Diff(plainly, walkedBut(t, c.on, plain, i, w)); diff != "" {
						t.Errorf("the answer %d %s (-plainly +%s):\n%s", i, w, w, diff)
					}
				}
			}
		})
	}
}

// said are the agent's words in a walk, but for a greeting.
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

// walkedBut is the outcome of a walk whose answer i is given in another way.
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
