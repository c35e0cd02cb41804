package voice

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const chunk = 32 * time.Millisecond

func TestEars(t *testing.T) {
	for _, c := range []struct {
		name    string
		scores  string // a digit is a tenth; one character per chunk
		silence time.Duration
		want    string // n nothing, b began, g goes, o over
	}{
		{"two chunks are no speech", "0990000", 3 * chunk, "nnnnnnn"},
		{"three are", "0999", 3 * chunk, "nnnb"},
		{"not across a gap", "99099", 3 * chunk, "nnnnn"},
		{"what is in between goes on", "9994444", 3 * chunk, "nnbgggg"},
		{"what is in between begins nothing", "4444444", 3 * chunk, "nnnnnnn"},
		{"a short pause ends nothing", "9990099", 3 * chunk, "nnbgggg"},
		{"a long one does", "999000", 3 * chunk, "nnbggo"},
		{"and then the next begins", "999000999", 3 * chunk, "nnbggonnb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := ears{chunk: chunk}
			var got strings.Builder
			for _, score := range c.scores {
				got.WriteByte("nbgo"[e.add(float32(score-'0')/10, c.silence)])
			}
			if got.String() != c.want {
				t.Errorf("%s, want %s", got.String(), c.want)
			}
		})
	}
}

func TestAnUtteranceIsNotWithoutEnd(t *testing.T) {
	e := ears{chunk: chunk}
	for i := range int(maxUtterance/chunk) + 1 {
		if e.add(1, time.Second) == over {
			if spoken := time.Duration(i+1) * chunk; spoken < maxUtterance || e.spoken < maxUtterance {
				t.Errorf("over after %v", spoken)
			}
			return
		}
	}
	t.Error("it goes on")
}

func TestBargeIn(t *testing.T) {
	for _, c := range []struct {
		spoken     time.Duration
		duck, stop bool
	}{
		{0, false, false},
		{89 * time.Millisecond, false, false},
		{90 * time.Millisecond, true, false},
		{159 * time.Millisecond, true, false},
		{160 * time.Millisecond, true, true},
	} {
		if ducks(c.spoken) != c.duck || cuts(c.spoken) != c.stop {
			t.Errorf("%v: ducks %v, cuts %v", c.spoken, ducks(c.spoken), cuts(c.spoken))
		}
	}
	for _, c := range []struct {
		text, language string
		spoken         time.Duration
		want           bool
	}{
		{"", "en", 2 * time.Second, true},
		{"Mm-hm.", "en", 400 * time.Millisecond, true},
		{"Sí", "es-MX", 300 * time.Millisecond, true},
		{"sim", "pt-BR", 300 * time.Millisecond, true},
		{"Sí", "en", 300 * time.Millisecond, false},
		{"yes", "en", 1500 * time.Millisecond, false},
		{"stop", "en", 300 * time.Millisecond, false},
		{"yes but", "en", 300 * time.Millisecond, false},
	} {
		if got := resumes(c.text, c.spoken, c.language); got != c.want {
			t.Errorf("%q in %s, %v: %v", c.text, c.language, c.spoken, got)
		}
	}
	if silenceFor(600*time.Millisecond, false) != 600*time.Millisecond ||
		silenceFor(600*time.Millisecond, true) != 350*time.Millisecond || silenceFor(200*time.Millisecond, true) != 200*time.Millisecond {
		t.Error("the silence that ends a turn")
	}
}

func TestSentences(t *testing.T) {
	for _, c := range []struct {
		pieces []string
		want   []string
	}{
		{[]string{"Hello."}, []string{"Hello."}},
		{
			[]string{"Shipping costs 4.90 euros. It is free from 50 euros on."},
			[]string{"Shipping costs 4.90 euros.", "It is free from 50 euros on."},
		},
		{[]string{"Ship", "ping costs 4.", "90 eur", "os", ". It", " is"}, []string{"Shipping costs 4.90 euros.", "It is"}},
		{[]string{"Yes. No. We are open today! Come."}, []string{"Yes. No. We are open today!", "Come."}},
		{[]string{"one\ntwo\n\nthree"}, []string{"one", "two", "three"}},
		{[]string{"¿Cuánto cuesta? Cuatro euros."}, []string{"¿Cuánto cuesta?", "Cuatro euros."}},
		{
			[]string{strings.Repeat("word ", 100)}, []string{
				strings.TrimSpace(strings.Repeat("word ", 60)), strings.TrimSpace(strings.Repeat("word ", 40)),
			},
		},
		{[]string{"", " "}, nil},
	} {
		var s sentences
		var got []string
		for _, p := range c.pieces {
			got = append(got, s.add(p)...)
		}
		if rest := s.end(); rest != "" {
			got = append(got, rest)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.pieces, got, c.want)
		}
	}
	if got := pronounced("See **this**: https://www.acme.test/a/b?c=d and `that`", "de"); got != "See this : acme.test and that" {
		t.Errorf("%q", got)
	}
}

func TestMouth(t *testing.T) {
	const rate = 16000
	for _, lead := range []time.Duration{20 * time.Millisecond, 300 * time.Millisecond} {
		now := time.Unix(0, 0)
		m := newMouth(rate, lead)
		r := &response{}
		r.text.WriteString("one two three four")
		first, second := m.add(r, "one two"), m.add(r, "three four")
		first.pcm, first.made = make([]int16, rate), true
		second.pcm, second.made = make([]int16, rate), true
		sent := 0
		for end := now.Add(1500 * time.Millisecond); now.Before(end); now = now.Add(10 * time.Millisecond) {
			for {
				pcm, p := m.next(now)
				if p == nil {
					break
				}
				sent += len(pcm)
				m.done()
			}
			if ahead := m.length(sent) - now.Sub(time.Unix(0, 0)); ahead > lead+20*time.Millisecond || ahead < 0 {
				t.Fatalf("lead %v: %v ahead", lead, ahead)
			}
		}
		unheard := m.stop(now)
		if len(unheard) != 1 || unheard[0] != second {
			t.Fatalf("lead %v: unheard %v", lead, unheard)
		}
		if got := m.length(second.taken); got < 480*time.Millisecond || got > 520*time.Millisecond {
			t.Errorf("lead %v: %v of the second part were heard", lead, got)
		}
		if got := heardOf(r, unheard); got != "one two three" {
			t.Errorf("lead %v: heard %q", lead, got)
		}
		if m.busy(now) {
			t.Error("it goes on")
		}
	}
}

func TestASentenceThatIsSaidTwiceIsHeardUpToWhereItWasCut(t *testing.T) {
	now := time.Unix(0, 0)
	m := newMouth(16000, 20*time.Millisecond)
	r := &response{}
	r.text.WriteString(" How many? And of the children, how many? How many? Thanks.")
	for _, text := range []string{"How many?", "And of the children, how many?", "How many?", "Thanks.", "Press 1 for: none."} {
		p := m.add(r, text)
		p.pcm, p.made = make([]int16, 160), true
	}
	for i, want := range []string{
		"", "How many?", "How many? And of the children, how many?", "How many? And of the children, how many? How many?",
	} {
		if got := heardOf(r, m.parts[i:]); got != want {
			t.Errorf("cut before the sentence %d: %q, not %q", i, got, want)
		}
	}
	if got := heardOf(r, m.parts[4:]); got != strings.TrimSpace(r.text.String()) {
		t.Errorf("cut while the keys are said: %q", got)
	}
	other := &part{response: &response{}, text: "How many?", pcm: make([]int16, 160), made: true} // continues before it
	if got := heardOf(r, append([]*part{other}, m.parts[3:]...)); got != "How many? And of the children, how many? How many?" {
		t.Errorf("with another response: %q", got)
	}
	m.stop(now)
}
