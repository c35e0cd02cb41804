package walks

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"carillon/internal/talk/conversation"
	"carillon/internal/voice"
)

const (
	rate  = 16000
	frame = 32 * time.Millisecond
	// silence precedes a late answer. Meanwhile the person is asked whether they are there, and the question is
	// repeated.
	silence = 20 * time.Second
)

// sound is a person's line.
type sound struct {
	in chan []int16
}

func (*sound) Rate() int           { return rate }
func (*sound) Write([]int16) error { return nil }
func (*sound) Clear() error        { return nil }
func (*sound) Lead() time.Duration { return 20 * time.Millisecond }
func (*sound) Digits() <-chan rune { return nil }

// Read implements voice.Line.
func (s *sound) Read(ctx context.Context) ([]int16, error) {
	select {
	case pcm, open := <-s.in:
		if !open {
			return nil, io.EOF
		}
		return pcm, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// words speaks a tenth of a second for each word.
type words struct{}

// speaks is the delay before the first sound, during which an answer comes before its question.
const speaks = 500 * time.Millisecond

// Speak implements voice.Speaker.
func (words) Speak(ctx context.Context, u voice.Utterance, emit func([]int16) error) error {
	select {
	case <-time.After(speaks):
	case <-ctx.Done():
		return ctx.Err()
	}
	i := slices.IndexFunc(walk, func(a answer) bool {
		return strings.HasPrefix(a.question, u.Text) || strings.HasSuffix(a.question, u.Text)
	})
	return emit(slices.Repeat([]int16{valueOf(i)}, u.Rate/10*len(strings.Fields(u.Text))))
}

// Each utterance is a constant sample value that stands for an answer of the walk or its question. The values differ
// enough to survive a telephone codec.
const spacing = 2000

// valueOf returns the sample value of answer i or its question; i is -1 for anything else.
func valueOf(i int) int16 { return int16(spacing * (i + 2)) }

// placeOf returns the index of a sample value in the walk; -1 for anything else, -2 for silence.
func placeOf(value int16) int { return (int(value)+spacing/2)/spacing - 2 }

// values transcribes the sample values.
type values struct{}

// Listen implements voice.Transcriber.
func (values) Listen(context.Context, voice.Hearing) (voice.Recognizer, error) {
	return &heard{}, nil
}

type heard struct{ value int16 }

// Write implements voice.Recognizer.
func (u *heard) Write(pcm []int16) error {
	u.value = max(u.value, slices.Max(pcm))
	return nil
}

// Result implements voice.Recognizer.
func (u *heard) Result(context.Context) (voice.Transcript, error) {
	i := placeOf(u.value)
	if i < 0 {
		return voice.Transcript{}, nil
	}
	return voice.Transcript{Text: walk[i].text}, nil
}

// Close implements voice.Recognizer.
func (*heard) Close() {}

// loud detects every nonzero sample as speech.
type loud struct{ chunk int }

func loudAt(rate int) voice.Detector { return loud{int(time.Duration(rate) * frame / time.Second)} }

func (l loud) Chunk() int { return l.chunk }
func (loud) Reset()       {}
func (loud) Score(chunk []int16) float32 {
	if chunk[len(chunk)/2] != 0 {
		return 1
	}
	return 0
}

// talker talks in a voice widget.
type talker struct {
	*site
	conversation string
	line         *sound
	session      *voice.Session
	over         sync.WaitGroup
	halt         func()
}

func inWidget(x *site) person {
	return &talker{site: x, line: &sound{in: make(chan []int16)}, conversation: x.open("web_voice")}
}

func (p *talker) id() string { return p.conversation }

func (p *talker) leave() {
	p.halt()
	p.over.Wait()
}

func (p *talker) begin() {
	start := voice.Start{CompanyID: p.company, ConversationID: p.conversation, Line: p.line, Show: func(voice.Event) {}}
	var err error
	if p.session, err = p.aloud().Open(p.t.Context(), start); err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(p.t.Context()))
	p.halt = cancel
	p.over.Go(func() { _ = p.session.Run(ctx) })
	time.Sleep(2 * time.Second) // the greeting
	p.session.Type("", "begin")
}

// aloud returns the voice sessions of a site.
func (x *site) aloud() *voice.Sessions {
	return voice.NewSessions(voice.Options{
		Dialogue: conversation.NewAloud(x.talks), Topics: x.hub, Speakers: map[string]voice.Speaker{"words": words{}}, Fallback: "words",
		Transcribers: map[string]voice.Transcriber{"values": values{}}, Detector: loudAt, Log: slog.New(slog.DiscardHandler),
	})
}

// speak says an answer, followed by silence.
func (p *talker) speak(a answer) {
	for _, x := range []struct {
		value int16
		d     time.Duration
	}{{valueOf(slices.Index(walk, a)), utterance}, {0, pause}} {
		for d := x.d; d > 0; d -= frame {
			p.line.in <- slices.Repeat([]int16{x.value}, 512)
			time.Sleep(frame)
		}
	}
}

const (
	utterance = time.Second
	pause     = 700 * time.Millisecond // after an utterance, which ends it
)

// hearing returns the length of a question on a line, including its keys.
func (a answer) hearing() time.Duration {
	return time.Duration(len(strings.Fields(a.question))+16) * 100 * time.Millisecond
}

func (p *talker) answers(a answer, w way) {
	if w == aheadInWords {
		p.speak(a)
	}
	p.asked(p.conversation, a.question)
	switch w {
	case early:
		time.Sleep(150 * time.Millisecond)
	case interrupted:
		time.Sleep(speaks + 150*time.Millisecond)
	case late, lateInWords:
		time.Sleep(silence)
	default:
		time.Sleep(a.hearing())
	}
	switch w {
	case interrupted, inWords, aheadInWords, lateInWords:
		p.speak(a)
	case twiceInWords:
		p.speak(a)
		p.speak(a)
	default:
		p.session.Type("", a.text)
	}
	if w == twice {
		time.Sleep(repeatAfter)
		p.session.Type("", a.text)
	}
}
