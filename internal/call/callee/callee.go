// Package callee judges who answered a call: a person, a voicemail, a screening assistant or a menu. It is pure: sound
// and words go in, and its time is that of the samples.
//
//	unknown ─┬─▶ person
//	         ├─▶ voicemail, unavailable (a mailbox that takes no message, a number without service)
//	         ├─▶ screening ─▶ person, voicemail
//	         └─▶ menu
//
// In doubt the callee is a person, so unknown is treated as one. Words decide if there are any. Without them, a
// long greeting without pauses, or a greeting and a beep, is a voicemail. bench/turns.md has the figures.
package callee

import (
	"strings"
	"time"

	"carillon/internal/agent/knowledge"
	"carillon/internal/base/audio"
)

// Kind is a kind of callee.
type Kind int

// Kinds of callees.
const (
	Unknown Kind = iota
	Person
	Voicemail
	Unavailable
	Screening
	Menu
)

func (k Kind) String() string {
	return [...]string{"unknown", "person", "voicemail", "unavailable", "screening", "menu"}[k]
}

// Machine reports whether the callee is no person.
func (k Kind) Machine() bool { return k > Person }

const (
	// listenFor is the time after the answer in which the length of a greeting shows a voicemail.
	listenFor  = 20 * time.Second
	beepWithin = 30 * time.Second
	// wordsWithin bounds the words: later a person may speak of a voicemail.
	wordsWithin = 20 * time.Second
	// longGreeting is a length of speech without a pause that people do not reach when they answer. If the words are
	// known, it only applies to greetings without any of the known phrases.
	longGreeting   = 7 * time.Second
	longUnderstood = 10 * time.Second
	shortPause     = 700 * time.Millisecond
	minGreeting    = time.Second // before a beep
	loud           = 250.0       // RMS of speech on a telephone
	louder         = 800.0       // RMS of speech during ours, which echoes
	aboveNoise     = 2.0
	maxNoise       = 1000.0
	noiseSpan      = 1500 * time.Millisecond
	shortWords     = 3   // words of a person who waits for ours
	maxWindow      = 300 // characters of the words that decide
	weakLength     = 6 * time.Second
)

// Tracker follows the sound and the words of a callee.
type Tracker struct {
	rate  int
	tones tones
	kind  Kind

	at        time.Duration
	answered  bool          // a machine was answered, and something else may follow
	speech    time.Duration // since the last pause, with the short pauses in it
	length    time.Duration // of the whole utterance; unlike speech not reset by short answers
	quiet     time.Duration // since the last speech
	greeted   time.Duration // all speech so far
	beep      *Beep         // the last one
	noise     noise
	window    string // last words, folded
	tentative string
	words     bool // there is a transcriber
	ours      bool // we are speaking; some of it may come back
}

// New returns a tracker for sound of a rate. words means that the callee's speech is transcribed.
func New(rate int, words bool) *Tracker {
	return &Tracker{rate: rate, words: words, tones: tones{rate: rate}}
}

// Kind returns the kind of callee as far as it is known.
func (t *Tracker) Kind() Kind { return t.kind }

// At returns the length of the sound so far.
func (t *Tracker) At() time.Duration { return t.at }

// Quiet returns the time since the last speech.
func (t *Tracker) Quiet() time.Duration { return t.quiet }

// Speech returns the length of the current or last utterance.
func (t *Tracker) Speech() time.Duration { return t.length }

// Beep returns the last beep after a greeting, or nil.
func (t *Tracker) Beep() *Beep { return t.beep }

// Sound adds sound.
func (t *Tracker) Sound(pcm []int16) {
	d := audio.Duration(len(pcm), t.rate)
	t.at += d
	beep := t.tones.add(pcm)
	level := audio.RMS(pcm)
	least := loud
	if t.ours {
		least = louder
	}
	spoke := level >= max(least, aboveNoise*t.noise.level()) && !t.tones.sounds()
	t.noise.add(level, d)
	switch {
	case spoke:
		pause := t.quiet
		if pause > shortPause {
			t.length, pause = 0, 0
		}
		t.greeted += d
		t.speech += d + pause
		t.length += d + min(pause, t.length)
		t.quiet = 0
	default:
		if t.quiet += d; t.quiet > shortPause {
			t.speech = 0
		}
	}
	if beep != nil && t.greeted >= minGreeting {
		t.beep = beep
	}
	t.judge()
}

// Words adds the transcript of an utterance, or words understood so far (final is false).
func (t *Tracker) Words(text string, final bool) {
	words := knowledge.Words(text)
	folded := strings.Join(words, " ")
	if !final {
		t.tentative = folded
		t.judge()
		return
	}
	t.tentative = ""
	t.window = strings.TrimSpace(t.window + " " + folded)
	t.window = t.window[max(0, len(t.window)-maxWindow):]
	if len(words) > 0 && len(words) <= shortWords && Phrases(t.window) == Unknown {
		t.speech = 0
	}
	t.judge()
}

// Forget drops the words so far, which were answered: a person, or another machine, may follow.
func (t *Tracker) Forget() {
	t.answered = true
	t.kind, t.window, t.tentative, t.beep, t.greeted = Unknown, "", "", nil, 0
}

func (t *Tracker) judge() {
	if t.kind == Person || t.kind == Unavailable || t.kind == Unknown && t.late(beepWithin) {
		return
	}
	said := strings.TrimSpace(t.window + " " + t.tentative)
	switch k := Phrases(said); {
	case k == Unknown, t.kind == Unknown && t.late(wordsWithin):
	case k == Person && t.kind != Unknown, k == Menu && t.kind != Unknown: // words of a recording
	case k == Screening && t.kind == Voicemail:
	default:
		t.kind = k
		return
	}
	if t.kind != Unknown {
		return
	}
	long := longGreeting
	if t.words {
		long = longUnderstood
	}
	switch {
	case t.beep != nil:
		t.kind = Voicemail
	case weak(said) && (t.speech >= weakLength || twice(said)):
		t.kind = Voicemail
	case t.speech >= long && !t.answered && !t.late(listenFor):
		t.kind = Voicemail
	}
}

// late reports whether the call is older than d, unless a machine was answered before.
func (t *Tracker) late(d time.Duration) bool { return !t.answered && t.at > d }

// noise is the level of the background: the lowest of the last 1.5 to 3 s.
type noise struct {
	lowest, before float64
	span           time.Duration
	spans          int
}

func (n *noise) level() float64 {
	switch n.spans {
	case 0:
		return 0
	case 1:
		return min(n.lowest, maxNoise)
	}
	return min(n.lowest, n.before, maxNoise)
}

func (n *noise) add(level float64, d time.Duration) {
	if n.spans == 0 || n.span >= noiseSpan {
		n.before, n.lowest, n.span = n.lowest, level, 0
		n.spans++
	}
	n.lowest = min(n.lowest, level)
	n.span += d
}
