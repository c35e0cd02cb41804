package telephone

import (
	"math"
	"testing"

	"carillon/internal/agent"
	"carillon/internal/base/audio"
	"carillon/internal/call"
	"carillon/internal/call/dial"
	"carillon/internal/voice"
)

func TestAWishSaysWhatACallIsAbout(t *testing.T) {
	t.Parallel()
	heard := func(text string) voice.Event { return voice.Event{Kind: voice.Transcribed, Text: text} }
	asked := func(text string) voice.Event { return voice.Event{Kind: voice.TransferAsked, Text: text} }
	const person, bag = "I want to talk to a person.", "My bag is lost!"
	for name, x := range map[string]struct {
		phrases []string
		events  []voice.Event
		want    string
	}{
		"the request":            {[]string{"bag"}, []voice.Event{heard("Hello there"), heard(bag), asked(bag)}, "My bag is lost"},
		"the words before it":    {nil, []voice.Event{heard(bag), heard(person), asked(person)}, "My bag is lost"},
		"no more than a yes":     {nil, []voice.Event{heard("Yes"), heard(person), asked(person)}, "I want to talk to a person"},
		"asked by a key":         {nil, []voice.Event{heard(bag), asked("Talk to a person")}, "My bag is lost"},
		"only keys":              {nil, []voice.Event{asked("Talk to a person")}, "Talk to a person"},
		"nothing":                {nil, nil, ""},
		"a long one":             {[]string{"x"}, []voice.Event{asked("x is " + long(12) + ", " + long(12))}, "x is " + long(8)},
		"a long one in one word": {[]string{"x"}, []voice.Event{asked(unbroken() + unbroken())}, unbroken()},
	} {
		p := &placed{
			agent: &agent.Agent{Transfer: &agent.Transfer{Phrases: x.phrases}}, call: &dial.Call{}, entry: &call.Taken{},
		}
		for _, e := range x.events {
			p.wish.observe(e)
		}
		if got := p.about(); got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

func long(words int) (s string) {
	for range words {
		s += "anotherwor "
	}
	return s[:len(s)-1]
}

func unbroken() (s string) {
	for range maxAbout {
		s += "y"
	}
	return s
}

// power returns the power of a frequency in a sound, relative to its whole power.
func power(pcm []int16, hz float64) float64 {
	var re, im, all float64
	for i, s := range pcm {
		a := 2 * math.Pi * hz * float64(i) / 8000
		re += float64(s) * math.Cos(a)
		im += float64(s) * math.Sin(a)
		all += float64(s) * float64(s)
	}
	return 2 * (re*re + im*im) / float64(len(pcm)) / all
}

func TestMusicIsQuietAndFitsATelephone(t *testing.T) {
	t.Parallel()
	const rate, whole = 8000, 32 * 4000
	pcm := music(0, 2*whole, rate)
	level := 20 * math.Log10(audio.RMS(pcm)*math.Sqrt2/32768)
	if level < -22 || level > -18 {
		t.Errorf("%.1f dBFS", level)
	}
	loudest, last := 0, 0
	for i, s := range pcm {
		loudest = max(loudest, int(math.Abs(float64(s))))
		if step := int(math.Abs(float64(int(s) - last))); step > 16000 {
			t.Fatalf("a step of %d at %d", step, i)
		}
		last = int(s)
	}
	if loudest > 20000 {
		t.Errorf("a peak of %d", loudest)
	}
	for at := 0; at+4000 <= whole; at += 4000 {
		part, outside := pcm[at:at+4000], 0.0
		for hz := 2.0; hz < 4000; hz += 2 {
			if hz < 290 || hz > 3010 {
				outside += power(part, hz)
			}
		}
		if outside > 0.03 {
			t.Errorf("%.3f of the power is outside of the band at %d", outside, at)
		}
	}
	for i, s := range music(12345, 160, rate) { // any part of it is the same
		if s != pcm[12345+i] {
			t.Fatal("a part differs")
		}
	}
	for _, hz := range tune {
		if hz < 300 || 2*hz > 3000 {
			t.Errorf("%v Hz", hz)
		}
	}
}
