package espeak

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/agent"
	"carillon/internal/base/audio"
	"carillon/internal/base/audio/audiotest"
	"carillon/internal/base/need"
	"carillon/internal/base/share"
	"carillon/internal/voice"
)

func installed(t *testing.T) {
	t.Helper()
	need.Program(t, "espeak-ng", "espeak-ng")
}

func say(t *testing.T, s *Speaker, u voice.Utterance) ([]int16, error) {
	t.Helper()
	if u.Voice == nil {
		u.Voice = (&agent.Voice{}).Settings()
	}
	if u.Rate == 0 {
		u.Rate = 16000
	}
	if u.Language == "" {
		u.Language = "en"
	}
	var all []int16
	err := s.Speak(t.Context(), u, func(pcm []int16) error {
		all = append(all, pcm...)
		return nil
	})
	return all, err
}

func TestItSpeaksAtTheRateThatIsWanted(t *testing.T) {
	installed(t)
	s := New(nil)
	wide, err := say(t, s, voice.Utterance{Text: "We are open from nine to five."})
	if err != nil || audio.RMS(wide) < 500 {
		t.Fatalf("%d samples, %v", len(wide), err)
	}
	if d := audio.Duration(len(wide), 16000); d < time.Second || d > 4*time.Second {
		t.Errorf("it takes %v", d)
	}
	narrow, err := say(t, s, voice.Utterance{Text: "We are open from nine to five.", Rate: 8000})
	if err != nil || len(wide)-2*len(narrow) > 2 || len(wide)-2*len(narrow) < -2 {
		t.Errorf("%d samples at 8 kHz, %d at 16 kHz, %v", len(narrow), len(wide), err)
	}
	up, err := audio.Resample(narrow, 8000, 16000)
	if ncc, _ := audiotest.Correlate(wide, up); err != nil || ncc < 0.9 {
		t.Errorf("both rates correlate by %.3f only, %v", ncc, err)
	}
	fast, err := say(t, s, voice.Utterance{Text: "We are open from nine to five.", Voice: &agent.Voice{Speed: 1.5}})
	if err != nil || float64(len(fast)) > 0.8*float64(len(wide)) {
		t.Errorf("faster: %d samples of %d, %v", len(fast), len(wide), err)
	}
	other, err := say(t, s, voice.Utterance{Text: "We are open from nine to five.", Language: "es-MX"})
	if ncc, _ := audiotest.Correlate(wide, other); err != nil || ncc > 0.7 {
		t.Errorf("another language correlates by %.3f, %v", ncc, err)
	}
}

// Text is never an option or a command, whatever it looks like.
func TestTextIsOnlySpoken(t *testing.T) {
	installed(t)
	s := New(nil)
	for _, text := range []string{
		"--version", "-f /etc/passwd", "<audio src='/etc/passwd'/>", "[[h@l'oU]]", "\x01I/etc/passwd\x01", "price & co \x00 \xff",
	} {
		if pcm, err := say(t, s, voice.Utterance{Text: text}); err != nil || len(pcm) < 4000 {
			t.Errorf("%q: %d samples, %v", text, len(pcm), err)
		}
	}
	for _, text := range []string{"", " \n", "\x01"} {
		if pcm, err := say(t, s, voice.Utterance{Text: text}); err != nil || len(pcm) != 0 {
			t.Errorf("%q: %d samples, %v", text, len(pcm), err)
		}
	}
	if _, err := say(t, s, voice.Utterance{Text: strings.Repeat("é", MaxText+1)}); !errors.Is(err, errTooLong) {
		t.Errorf("a long text: %v", err)
	}
}

func TestVoicesOfLanguages(t *testing.T) {
	installed(t)
	s := New(nil)
	for _, c := range []struct{ language, wanted, want string }{
		{"en", "", "en-us"},
		{"en-US", "", "en-us"},
		{"en-GB", "", "en-gb"},
		{"en-AU", "", "en-gb"},
		{"en-PH", "", "en-us"},
		{"es", "", "es"},
		{"es-ES", "", "es"},
		{"es-MX", "", "es-419"},
		{"es-419", "", "es-419"},
		{"pt", "", "pt"},
		{"pt-BR", "", "pt-br"},
		{"pt-PT", "", "pt"},
		{"fr", "", "fr-fr"},
		{"fr-CA", "", "fr-fr"},
		{"de-AT", "", "de"},
		{"zh-Hans-CN", "", "cmn"},
		{"nb-NO", "", "nb"},
		{"es", "en-gb+f3", "en-gb+f3"},
		{"es", "alloy", "es"},
		{"es", "../../etc/passwd", "es"},
		{"es", "-x", "es"},
	} {
		if got, err := s.voices.of(t.Context(), c.language, c.wanted); got != c.want || err != nil {
			t.Errorf("%s, %q: %s, %v; want %s", c.language, c.wanted, got, err, c.want)
		}
	}
	if _, err := say(t, s, voice.Utterance{Text: "x", Language: "tlh"}); !errors.Is(err, errLanguage) {
		t.Errorf("a language without a voice: %v", err)
	}
}

func TestAMissingProgramIsReported(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	s := New(nil)
	if err := s.Available(t.Context()); !errors.Is(err, ErrMissing) {
		t.Errorf("available: %v", err)
	}
	if _, err := say(t, s, voice.Utterance{Text: "hello"}); !errors.Is(err, ErrMissing) {
		t.Errorf("speak: %v", err)
	}
}

// fake returns a Speaker whose program is a shell script.
func fake(t *testing.T, script string) *Speaker {
	t.Helper()
	s := New(nil)
	s.program = filepath.Join(t.TempDir(), program)
	if err := os.WriteFile(s.program, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	s.voices.list = func(context.Context) (string, error) { return " 2 en-us --/M English gmw/en\n", nil }
	return s
}

func TestAProgramThatFailsIsReported(t *testing.T) {
	for name, script := range map[string]string{
		"no sound": "exit 0", "an exit code": "echo bad >&2; exit 3",
		"no WAV": "echo This is no sound at all, and it is longer than a header", "list": "exit 1",
	} {
		s := fake(t, script)
		if name == "list" {
			s.voices.list = s.list
		}
		if _, err := say(t, s, voice.Utterance{Text: "secret words"}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhoLeavesEndsTheProgram(t *testing.T) {
	begun := filepath.Join(t.TempDir(), "begun")
	s := fake(t, "touch "+begun+"; exec sleep 3600")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		hello := voice.Utterance{Voice: &agent.Voice{}, Language: "en", Text: "hello", Rate: 8000}
		ended <- s.Speak(ctx, hello, func([]int16) error { return nil })
	}()
	hung := time.After(2 * time.Minute)
	for {
		if _, err := os.Stat(begun); err == nil {
			break
		}
		select {
		case err := <-ended:
			t.Fatal("the program did not run: ", err)
		case <-hung:
			t.Fatal("the program does not run")
		case <-time.After(5 * time.Millisecond):
		}
	}
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-hung:
		t.Fatal("the program goes on")
	}
	if s.slots.Counts().Used != 0 {
		t.Error("the slot is not free")
	}
}

func TestNoMoreProgramsRunThanMay(t *testing.T) {
	s := fake(t, "exec sleep 60")
	for range s.slots.Counts().Resource.Node {
		if _, err := s.slots.Take(share.Holder{}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := s.Speak(ctx, voice.Utterance{Voice: &agent.Voice{}, Language: "en", Text: "hello", Rate: 8000},
		func([]int16) error { return nil })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

func TestAListenerThatFailsEndsIt(t *testing.T) {
	installed(t)
	unheard := errors.New("unheard")
	err := New(nil).Speak(t.Context(), voice.Utterance{
		Voice: &agent.Voice{}, Language: "en", Text: strings.Repeat("hello ", 500),
		Rate: 8000,
	}, func([]int16) error { return unheard })
	if !errors.Is(err, unheard) {
		t.Errorf("%v", err)
	}
}

func TestLittleSilenceIsLeftAtTheEnd(t *testing.T) {
	installed(t)
	for _, text := range []string{
		"Yes.", "What can I do for you? Please say it.", strings.Repeat("A long sentence, with a pause; and another. ", 5),
	} {
		pcm, err := say(t, New(nil), voice.Utterance{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		last := len(pcm)
		for last > 0 && pcm[last-1] > -50 && pcm[last-1] < 50 {
			last--
		}
		if d := audio.Duration(len(pcm)-last, 16000); d < 50*time.Millisecond || d > 200*time.Millisecond {
			t.Errorf("%.20q ends with %v of silence", text, d)
		}
	}
}

func TestSilenceInBetweenStays(t *testing.T) {
	x := tail{most: 2}
	var got []int16
	for _, piece := range [][]int16{{0, 0}, {0, 100, 0}, {}, {0, 0, 0, 0}, {0, -100}, {0}, {0, 3, 0}} {
		got = append(got, x.add(piece)...)
	}
	got = append(got, x.rest()...)
	if want := []int16{0, 0, 0, 100, 0, 0, 0, 0, 0, 0, -100, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
