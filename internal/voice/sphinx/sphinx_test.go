package sphinx

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/base/audio"
	"carillon/internal/base/need"
	"carillon/internal/voice"
	"carillon/internal/voice/voicetest"
)

func transcribe(t *testing.T, x *Transcriber, h voice.Hearing, pcm []int16) (voice.Transcript, error) {
	t.Helper()
	u, err := x.Listen(t.Context(), h)
	if err != nil {
		return voice.Transcript{}, err
	}
	defer u.Close()
	for piece := range slices.Chunk(pcm, h.Rate/50) {
		if err := u.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	return u.Result(t.Context())
}

func TestAnswersAreUnderstood(t *testing.T) {
	x := New(nil)
	if err := x.Available(); err != nil {
		need.That(t, false, err.Error())
	}
	for _, c := range []struct {
		said, want string
		rate       int
	}{
		{"yes", "Yes", 16000},
		{"no", "No", 16000},
		{"opening hours", "Opening hours!", 16000},
		{"yes", "Yes", 8000},
	} {
		pcm, err := voicetest.Speak(t.Context(), c.said, "en", c.rate)
		if err != nil {
			t.Fatal(err)
		}
		h := voice.Hearing{Language: "en-GB", Rate: c.rate, Expect: []string{"Opening hours!", "Zürich", "xyzzyplugh"}}
		got, err := transcribe(t, x, h, pcm)
		if err != nil || got.Text != c.want || !got.Confirm {
			t.Errorf("%s at %d Hz: %+v, %v", c.said, c.rate, got, err)
		}
	}
	if got, err := transcribe(t, x, voice.Hearing{Language: "en", Rate: 16000}, make([]int16, 8000)); err != nil || got.Text != "" {
		t.Errorf("silence: %+v, %v", got, err)
	}
}

// fake returns a Transcriber whose program is a shell script, and whose dictionary has a few words.
func fake(t *testing.T, script string) *Transcriber {
	t.Helper()
	x := New(nil)
	dir := t.TempDir()
	x.program, x.dictionary = filepath.Join(dir, program), filepath.Join(dir, "dictionary")
	if err := os.WriteFile(x.program, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(x.dictionary, []byte("a AH\nhours AW\nopening OW\nperson P\ntalk T\nto T\ntwo T\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return x
}

func TestTheProgramGetsGrammarAndSoundByPipes(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("OUT", dir) // not passed to the program
	x := fake(t, `[ "$1 $2 $5 $6 $7 $8" = "-infile /dev/stdin -jsgf /dev/fd/3 -logfn /dev/null" ] || exit 4
[ -z "$OUT" ] || exit 5
cat <&3 > `+dir+`/grammar
cat > `+dir+`/sound
echo talk to a person`)
	pcm := []int16{1, 2, 3, -4}
	h := voice.Hearing{
		Language: "en", Rate: 16000, Expect: []string{
			"Talk to a person?", "Opening hours", "2", "Prices", "<x> = y;", "", strings.Repeat("a ", 9),
		},
	}
	got, err := transcribe(t, x, h, pcm)
	if err != nil || got != (voice.Transcript{Text: "Talk to a person?", Confirm: true}) {
		t.Errorf("%+v, %v", got, err)
	}
	grammar, _ := os.ReadFile(filepath.Join(dir, "grammar"))
	want := `#JSGF V1.0;
grammar answers;
<digit> = zero | one | two | three | four | five | six | seven | eight | nine;
public <answers> = <digit>+ | goodbye | no | no thanks | nope | okay | opening hours | ` +
		`stop | talk to a person | two | yeah | yes | yes please;
`
	if string(grammar) != want {
		t.Errorf("the grammar is %s", grammar)
	}
	sound, _ := os.ReadFile(filepath.Join(dir, "sound"))
	if len(sound) != 2*wide+8 || !slices.Equal(audio.Samples(sound[wide:wide+8]), pcm) {
		t.Errorf("the sound has %d bytes", len(sound))
	}
}

func TestWhatWasSaidIsAChoiceOrANumber(t *testing.T) {
	g := &grammar{phrases: map[string]string{"opening hours": "Opening hours", "two": "2 persons", "yes": "Yes"}}
	for said, want := range map[string]string{
		"opening hours\n": "Opening hours", "YES": "Yes", "two": "2 persons", "two two": "22", "one\ntwo zero\n": "120", "": "",
		"opening": "", "one opening": "",
	} {
		if got := g.text(said); got != want {
			t.Errorf("%q is %q", said, got)
		}
	}
}

func TestWhatFailsIsReported(t *testing.T) {
	h := voice.Hearing{Language: "en", Rate: 16000}
	if _, err := transcribe(t, fake(t, "exit 3"), h, make([]int16, 100)); err == nil || errors.Is(err, ErrMissing) {
		t.Errorf("an exit code: %v", err)
	}
	if _, err := New(nil).Listen(t.Context(), voice.Hearing{Language: "es", Rate: 16000}); !errors.Is(err, errLanguage) {
		t.Errorf("another language: %v", err)
	}
	x := fake(t, "")
	x.program = filepath.Join(t.TempDir(), "none")
	if _, err := x.Listen(t.Context(), h); !errors.Is(err, ErrMissing) {
		t.Errorf("no program: %v", err)
	}
	x = fake(t, "")
	x.dictionary += ".none"
	if err := x.Available(); !errors.Is(err, ErrMissing) {
		t.Errorf("no dictionary: %v", err)
	}
	u, err := fake(t, "exec sleep 60").Listen(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	_ = u.Write(make([]int16, 100))
	time.AfterFunc(50*time.Millisecond, u.Close)
	if _, err := u.Result(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	if _, err := u.Result(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("after it was given up: %v", err)
	}
}
