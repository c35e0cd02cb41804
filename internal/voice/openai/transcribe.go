package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/textproto"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"carillon/internal/base/audio"
	"carillon/internal/voice"
)

const (
	// maxHeard is the maximum length of transcribed sound; of a longer utterance, only the end is transcribed.
	maxHeard = 60 * time.Second
	// wide is a sample rate that every server accepts.
	wide = 16000
)

var (
	errNoJSON = errors.New("the server's response cannot be read")
	errClosed = errors.New("the utterance was given up")
)

// Transcriber implements voice.Transcriber. The server receives an utterance after its end, so there are no partial
// transcripts.
type Transcriber struct{ o Options }

// NewTranscriber returns a Transcriber.
func NewTranscriber(o Options) *Transcriber { return &Transcriber{o.withDefaults()} }

// Listen implements voice.Transcriber.
func (t *Transcriber) Listen(_ context.Context, h voice.Hearing) (voice.Recognizer, error) {
	if h.Voice == nil || h.Voice.TranscriberService == nil {
		return nil, errNoServer
	}
	return &utterance{o: t.o, h: h, given: make(chan struct{})}, nil
}

// utterance implements voice.Recognizer.
type utterance struct {
	o     Options
	h     voice.Hearing
	once  sync.Once
	given chan struct{} // closed by Close

	mu  sync.Mutex
	pcm []int16
}

// Write implements voice.Recognizer.
func (u *utterance) Write(pcm []int16) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.pcm = append(u.pcm, pcm...)
	if extra := len(u.pcm) - audio.Count(maxHeard, u.h.Rate); extra > 0 {
		u.pcm = u.pcm[:copy(u.pcm, u.pcm[extra:])]
	}
	return nil
}

// Close implements voice.Recognizer.
func (u *utterance) Close() { u.once.Do(func() { close(u.given) }) }

// Early implements voice.Early.
func (u *utterance) Early(ctx context.Context) (voice.Transcript, error) { return u.Result(ctx) }

// Result implements voice.Recognizer.
func (u *utterance) Result(ctx context.Context) (voice.Transcript, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, u.o.Whole, errSilent)
	defer cancel()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-u.given:
			giveUp(errClosed)
		case <-done:
		}
	}()
	text, err := u.ask(ctx)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return voice.Transcript{}, err
	}
	return voice.Transcript{Text: text}, nil
}

func (u *utterance) ask(ctx context.Context) (string, error) {
	u.mu.Lock()
	pcm := slices.Clone(u.pcm)
	u.mu.Unlock()
	if len(pcm) < u.h.Rate/10 { // servers refuse shorter sound
		return "", nil
	}
	rate := u.h.Rate
	if rate < wide {
		var err error
		if pcm, err = audio.Resample(pcm, rate, wide); err != nil {
			return "", err
		}
		rate = wide
	}
	kind, body, err := u.form(audio.WAV(pcm, rate))
	if err != nil {
		return "", fmt.Errorf("write the request: %w", err)
	}
	resp, err := post(ctx, u.o.Client, u.h.Voice.TranscriberService, "/audio/transcriptions", kind, body)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	if kindOf(resp) != "application/json" {
		return "", errNoJSON
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return "", fmt.Errorf("read the response: %w", err)
	}
	var answer struct {
		Text *string `json:"text"`
	}
	if len(text) > maxAnswer || json.Unmarshal(text, &answer) != nil || answer.Text == nil {
		return "", errNoJSON
	}
	return voice.Plain(annotation.ReplaceAllString(*answer.Text, " ")), nil
}

// annotation matches the marks that some servers write for sound without words: [BLANK_AUDIO], (music), ♪.
var annotation = regexp.MustCompile(`\[[^\]]*\]|\([^)]*\)|♪`)

// form returns the body of a request. The offered choices are sent as the prompt, whose words a server prefers.
func (u *utterance) form(wav []byte) (kind string, body io.Reader, err error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	fields := [][2]string{{"model", u.h.Voice.TranscriberService.Model}, {"response_format", "json"}}
	if language, _, _ := strings.Cut(strings.ToLower(u.h.Language), "-"); len(language) == 2 {
		fields = append(fields, [2]string{"language", language}) // ISO 639-1
	}
	if len(u.h.Expect) > 0 {
		fields = append(fields, [2]string{"prompt", strings.Join(u.h.Expect, ", ")})
	}
	for _, f := range fields {
		if err := w.WriteField(f[0], f[1]); err != nil {
			return "", nil, err
		}
	}
	part, err := w.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="file"; filename="speech.wav"`}, "Content-Type": {"audio/wav"},
	})
	if err != nil {
		return "", nil, err
	}
	if _, err := part.Write(wav); err != nil {
		return "", nil, err
	}
	return w.FormDataContentType(), &b, w.Close()
}
