package openai

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"carillon/internal/base/audio"
	"carillon/internal/voice"
)

const (
	// speechRate is the sample rate of response_format pcm.
	speechRate = 24000
	// MaxText is the maximum length of an utterance in characters: OpenAI's limit.
	MaxText = 4096
	// maxSpeech is the maximum length of an utterance's sound.
	maxSpeech    = 10 * time.Minute
	defaultVoice = "alloy"
)

var (
	errTooLong  = errors.New("the text is too long to be spoken")
	errNoSound  = errors.New("the server responded with no sound")
	errTooMuch  = errors.New("the server spoke for too long")
	errCutShort = errors.New("the server's sound was cut short")
)

// Speaker implements voice.Speaker.
type Speaker struct{ o Options }

// NewSpeaker returns a Speaker.
func NewSpeaker(o Options) *Speaker { return &Speaker{o.withDefaults()} }

// speech is the body of a request.
type speech struct {
	Model  string  `json:"model"`
	Input  string  `json:"input"`
	Voice  string  `json:"voice"`
	Format string  `json:"response_format"`
	Speed  float64 `json:"speed"`
}

// Speak implements voice.Speaker.
func (s *Speaker) Speak(ctx context.Context, u voice.Utterance, emit func(pcm []int16) error) (err error) {
	v := u.Voice.Settings()
	switch {
	case v.SpeakerService == nil:
		return errNoServer
	case utf8.RuneCountInString(u.Text) > MaxText:
		return errTooLong
	case strings.TrimSpace(u.Text) == "":
		return nil
	}
	body, err := json.Marshal(speech{
		Model: v.SpeakerService.Model, Input: u.Text, Voice: cmp.Or(v.Name, defaultVoice), Format: "pcm", Speed: v.Speed,
	})
	if err != nil {
		return fmt.Errorf("write the request: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &watched{limit: s.o.Silence, end: func() { cancel(errSilent) }}
	defer func() {
		if err != nil && errors.Is(context.Cause(ctx), errSilent) {
			err = errSilent
		}
	}()
	stop := w.begin()
	resp, err := post(ctx, s.o.Client, v.SpeakerService, "/audio/speech", "application/json", bytes.NewReader(body))
	stop()
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if kind := kindOf(resp); kind == "application/json" || strings.HasPrefix(kind, "text/") {
		return errNoSound
	}
	w.r = resp.Body
	return pass(w, u.Rate, emit)
}

// watched aborts an exchange when a read takes too long.
type watched struct {
	r     io.Reader
	limit time.Duration
	end   func()
}

func (w *watched) begin() (stop func() bool) { return time.AfterFunc(w.limit, w.end).Stop }

func (w *watched) Read(p []byte) (int, error) {
	defer w.begin()()
	return w.r.Read(p)
}

// pass emits a server's response: samples, or a WAV file, which some servers send regardless of the requested format.
func pass(r io.Reader, rate int, emit func(pcm []int16) error) error {
	buffered := bufio.NewReaderSize(r, 16<<10)
	if head, _ := buffered.Peek(4); string(head) == "RIFF" {
		wav, err := audio.NewWAVReader(buffered)
		if err != nil {
			return fmt.Errorf("%w: %w", errNoSound, err)
		}
		return resample(wav.Read, wav.Rate, rate, emit)
	}
	return resample((&raw{r: buffered}).read, speechRate, rate, emit)
}

// raw reads samples without a header.
type raw struct {
	r    *bufio.Reader
	some bool
}

func (s *raw) read(pcm []int16) (int, error) {
	if _, err := s.r.Peek(2); err != nil {
		switch {
		case err == io.EOF && s.r.Buffered() > 0:
			return 0, errCutShort
		case err == io.EOF && !s.some:
			return 0, errNoSound
		}
		return 0, err
	}
	s.some = true
	b := make([]byte, min(s.r.Buffered()&^1, 2*len(pcm)))
	if _, err := io.ReadFull(s.r, b); err != nil {
		return 0, err
	}
	return copy(pcm, audio.Samples(b)), nil
}

func resample(read func(pcm []int16) (int, error), from, to int, emit func(pcm []int16) error) error {
	r, err := audio.NewResampler(from, to)
	if err != nil {
		return err
	}
	piece := make([]int16, from/10)
	for left := audio.Count(maxSpeech, from); ; {
		n, err := read(piece)
		if left -= n; left < 0 {
			return errTooMuch
		}
		pcm := r.Write(piece[:n])
		if errors.Is(err, io.EOF) {
			pcm = append(pcm, r.Flush()...)
		}
		if len(pcm) > 0 {
			if err := emit(pcm); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read the sound: %w", err)
		}
	}
}
