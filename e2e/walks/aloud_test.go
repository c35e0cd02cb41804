package walks

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"carillon/internal/conversation"
	"carillon/internal/store/chats"
	"carillon/internal/voice"
)

const (
	rate  = 16000
	frame = 32 * time.Millisecond
	// silence is the time before a late answer: the person is asked whether they are there, and asked again.
	silence = 20 * time.Second
)

// sound is a person's line. What they say is one sample value for the whole of it, which stands for an answer of the walk.
type sound struct {
	in   chan []int16
	keys chan rune // nil: it has none
}

func (*sound) Rate() int           { return rate }
func (*sound) Write([]int16) error { return nil }
func (*sound) Clear() error        { return nil }
func (*sound) Lead() time.Duration { return 20 * time.Millisecond }
func (s *sound) Digits() <-chan rune {
	return s.keys
}

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

// Speak implements voice.Speaker.
func (words) Speak(_ context.Context, u voice.Utterance, emit func([]int16) error) error {
	return emit(make([]int16, rate/10*len(strings.Fields(u.Text))))
}

// values knows what the sample values mean.
type values struct{}

// Listen implements voice.Transcriber.
func (values) Listen(context.Context, voice.Hearing) (voice.Recognizer, error) {
	return &utterance{}, nil
}

type utterance struct{ value int16 }

// Write implements voice.Recognizer.
func (u *utterance) Write(pcm []int16) error {
	u.value = max(u.value, slices.Max(pcm))
	return nil
}

// Result implements voice.Recognizer.
func (u *utterance) Result(context.Context) (voice.Transcript, error) {
	if u.value == 0 {
		return voice.Transcript{}, nil
	}
	return voice.Transcript{Text: walk[u.value-1].text}, nil
}

// Close implements voice.Recognizer.
func (*utterance) Close() {}

// loud takes every sample but 0 for speech.
type loud struct{}

func (loud) Chunk() int { return 512 }
func (loud) Reset()     {}
func (loud) Score(chunk []int16) float32 {
	if chunk[len(chunk)/2] != 0 {
		return 1
	}
	return 0
}

// talker talks in a voice widget, or on a telephone with keys.
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

func onCall(x *site) person {
	return &talker{site: x, line: &sound{in: make(chan []int16), keys: make(chan rune, 16)}, conversation: x.open("phone")}
}

func (p *talker) id() string { return p.conversation }

func (p *talker) leave() {
	p.halt()
	p.over.Wait()
}

func (p *talker) begin() {
	start := voice.Start{CompanyID: p.company, ConversationID: p.conversation, Line: p.line, Show: func(voice.Event) {}}
	if p.line.keys != nil {
		start.Opening, start.Stop = "This is an automated call.", func(context.Context) error { return nil }
		bound := chats.Bound{Event: "visit", NotificationID: "n"}
		if begun, err := p.talks.Runner.Begin(p.t.Context(), p.company, p.conversation, bound); err != nil || !begun {
			p.t.Fatal(begun, err)
		}
	}
	sessions := voice.NewSessions(voice.Options{
		Dialogue: conversation.NewAloud(p.talks), Topics: p.hub, Speakers: map[string]voice.Speaker{"words": words{}}, Fallback: "words",
		Transcribers: map[string]voice.Transcriber{"values": values{}}, Detector: func(int) voice.Detector { return loud{} },
		Log: slog.New(slog.DiscardHandler),
	})
	var err error
	if p.session, err = sessions.Open(p.t.Context(), start); err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(p.t.Context()))
	p.halt = cancel
	p.over.Go(func() { _ = p.session.Run(ctx) })
	if p.line.keys == nil {
		time.Sleep(2 * time.Second) // the greeting
		p.session.Type("", "begin")
	}
}

// speak says an answer, and is silent then.
func (p *talker) speak(a answer) {
	value := int16(slices.Index(walk, a) + 1)
	for _, x := range []struct {
		value int16
		d     time.Duration
	}{{value, time.Second}, {0, 700 * time.Millisecond}} {
		for d := x.d; d > 0; d -= frame {
			p.line.in <- slices.Repeat([]int16{x.value}, 512)
			time.Sleep(frame)
		}
	}
}

// answer answers by keys, by a tap or in words.
func (p *talker) answer(a answer) {
	switch {
	case p.line.keys != nil:
		for _, key := range a.keys {
			p.line.keys <- key
			time.Sleep(50 * time.Millisecond)
		}
	default:
		p.session.Type("", a.text)
	}
}

func (p *talker) answers(a answer, w way) {
	p.asked(p.conversation, a.question)
	heard := time.Duration(len(strings.Fields(a.question))+16) * 100 * time.Millisecond // with its keys
	switch w {
	case early, interrupted:
		if a == walk[0] && p.line.keys != nil {
			time.Sleep(time.Second) // of the opening
		}
		time.Sleep(150 * time.Millisecond)
	case late:
		time.Sleep(silence)
	default:
		time.Sleep(heard)
	}
	if w == interrupted {
		p.speak(a)
		return
	}
	p.answer(a)
	if w == twice {
		time.Sleep(again)
		p.answer(a)
	}
}
