// Package vosk transcribes with a Vosk server (github.com/alphacep/vosk-server), which usually belongs to the company. It
// sends the sound as it arrives, so the transcript is available soon after the last word, and partial transcripts can be
// shown.
//
// The protocol, over a WebSocket: {"config":{"sample_rate":16000}} without an answer; binary messages of samples, each
// answered with {"partial":"…"} or, if the server found the end of a sentence, with {"text":"…"}; and {"eof":1}, answered
// with the last {"text":"…"}.
package vosk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"carillon/internal/base/audio"
	"carillon/internal/voice"
)

const (
	wide        = 16000            // sample rate of all models
	maxHeard    = 60 * time.Second // of an utterance; later sound is dropped
	messageTime = 100 * time.Millisecond
	maxMessage  = 256 << 10 // bytes of a server message
)

var (
	errNoServer  = errors.New("the agent names no server")
	errSilent    = errors.New("the server was silent for too long")
	errEnded     = errors.New("the server ended the exchange too early")
	errNoJSON    = errors.New("the server's response cannot be read")
	errAddress   = errors.New("the address of the server is invalid")
	errHandshake = errors.New("the server takes no WebSocket")
)

// Options configure a Transcriber.
type Options struct {
	Client *http.Client  // for WebSockets to addresses that companies enter, such as egress.Client.Sockets; required
	Dial   time.Duration // timeout of connecting; default 4 s
	Whole  time.Duration // timeout of the result after the end of an utterance; default 8 s
}

// Transcriber implements voice.Transcriber.
type Transcriber struct{ o Options }

// New returns a Transcriber.
func New(o Options) *Transcriber {
	if o.Dial == 0 {
		o.Dial = 4 * time.Second
	}
	if o.Whole == 0 {
		o.Whole = 8 * time.Second
	}
	return &Transcriber{o}
}

// Listen implements voice.Transcriber. It connects to the server. The connection ends with the recognizer or ctx.
func (t *Transcriber) Listen(ctx context.Context, h voice.Hearing) (voice.Recognizer, error) {
	if h.Voice == nil || h.Voice.TranscriberService == nil {
		return nil, errNoServer
	}
	resampler, err := audio.NewResampler(h.Rate, wide)
	if err != nil {
		return nil, err
	}
	socket, err := t.dial(ctx, h.Voice.TranscriberService.BaseURL, h.Voice.TranscriberService.APIKey)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	u := &utterance{
		o: t.o, h: h, socket: socket, cancel: cancel, resampler: resampler, left: audio.Count(maxHeard, h.Rate),
		more: make(chan struct{}, 1), changed: make(chan struct{}),
		done: make(chan struct{}),
	}
	go u.write(ctx)
	go u.read(ctx)
	return u, nil
}

func (t *Transcriber) dial(ctx context.Context, address, key string) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, t.o.Dial, errSilent)
	defer cancel()
	header := http.Header{}
	if key != "" {
		header.Set("Authorization", "Bearer "+key)
	}
	socket, resp, err := websocket.Dial(ctx, address, &websocket.DialOptions{HTTPClient: t.o.Client, HTTPHeader: header})
	if err == nil {
		socket.SetReadLimit(maxMessage)
		return socket, nil
	}
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close()
	}
	// The client's own errors contain the address.
	var u *url.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, errSilent
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case resp != nil:
		return nil, fmt.Errorf("%w: it responded with %d", errHandshake, resp.StatusCode)
	case errors.As(err, &u):
		return nil, fmt.Errorf("connect: %w", u.Err)
	}
	return nil, errAddress
}

// utterance implements voice.Recognizer: write sends the samples of Write, read collects the server's text.
type utterance struct {
	o      Options
	h      voice.Hearing
	socket *websocket.Conn
	cancel context.CancelCauseFunc
	more   chan struct{} // signals write that something changed
	done   chan struct{} // closed when read has ended

	mu        sync.Mutex
	resampler *audio.Resampler
	pcm       []int16 // not sent yet
	left      int     // samples that are still accepted
	ended     bool    // set after the last message
	sent      int     // messages that the server answers
	over      bool    // the last message was sent
	texts     []string
	partial   string
	answers   int           // messages of the server
	changed   chan struct{} // closed at its next message
	err       error
}

// Write implements voice.Recognizer.
func (u *utterance) Write(pcm []int16) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.err != nil {
		return u.err
	}
	if u.ended {
		return nil
	}
	pcm = pcm[:min(len(pcm), u.left)]
	u.left -= len(pcm)
	u.pcm = append(u.pcm, u.resampler.Write(pcm)...)
	u.signal()
	return nil
}

func (u *utterance) signal() {
	select {
	case u.more <- struct{}{}:
	default:
	}
}

// Close implements voice.Recognizer.
func (u *utterance) Close() {
	u.cancel(context.Canceled)
	_ = u.socket.CloseNow()
}

// Result implements voice.Recognizer.
func (u *utterance) Result(ctx context.Context) (voice.Transcript, error) {
	u.mu.Lock()
	if !u.ended {
		u.ended = true
		u.pcm = append(u.pcm, u.resampler.Flush()...)
	}
	u.mu.Unlock()
	u.signal()
	limit := time.NewTimer(u.o.Whole)
	defer limit.Stop()
	select {
	case <-u.done:
	case <-limit.C:
		return voice.Transcript{}, errSilent
	case <-ctx.Done():
		return voice.Transcript{}, ctx.Err()
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.err != nil {
		return voice.Transcript{}, u.err
	}
	return voice.Transcript{Text: voice.Plain(strings.Join(u.texts, " "))}, nil
}

// Early implements voice.Early. The words are those that the server has recognized in all but the last 100 ms.
func (u *utterance) Early(ctx context.Context) (voice.Transcript, error) {
	for {
		u.mu.Lock()
		text, pending, err := u.partial, u.answers < u.sent || len(u.pcm) >= audio.Count(messageTime, wide), u.err
		changed := u.changed
		u.mu.Unlock()
		if err != nil || !pending {
			return voice.Transcript{Text: text, Partial: true}, err
		}
		select {
		case <-changed:
		case <-u.done:
			return voice.Transcript{}, errEnded
		case <-ctx.Done():
			return voice.Transcript{}, ctx.Err()
		}
	}
}

// write sends the sound in messages of 100 ms, and the end.
func (u *utterance) write(ctx context.Context) {
	send := func(kind websocket.MessageType, message []byte) bool {
		limited, cancel := context.WithTimeout(ctx, u.o.Whole)
		defer cancel()
		return u.socket.Write(limited, kind, message) == nil // the reader gets the error too
	}
	if !send(websocket.MessageText, fmt.Appendf(nil, `{"config":{"sample_rate":%d}}`, wide)) {
		return
	}
	for {
		message, last := u.next()
		switch {
		case len(message) > 0:
			if !send(websocket.MessageBinary, message) {
				return
			}
		case last:
			send(websocket.MessageText, []byte(`{"eof":1}`))
			return
		default:
			select {
			case <-u.more:
			case <-ctx.Done():
				return
			}
		}
	}
}

// next returns the next message, or nil if there is none yet. last reports that there will be none.
func (u *utterance) next() (message []byte, last bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := audio.Count(messageTime, wide)
	if len(u.pcm) < n {
		if !u.ended {
			return nil, false
		}
		n = len(u.pcm)
	}
	if n == 0 {
		u.over = true
		return nil, true
	}
	message = audio.Bytes(u.pcm[:n])
	u.pcm = u.pcm[:copy(u.pcm, u.pcm[n:])]
	u.sent++
	return message, false
}

// read reads the server's messages up to the last.
func (u *utterance) read(ctx context.Context) {
	defer close(u.done)
	defer func() { _ = u.socket.CloseNow() }()
	for {
		kind, message, err := u.socket.Read(ctx)
		if err != nil {
			u.fail(ctx, err)
			return
		}
		var a answer
		if kind != websocket.MessageText || json.Unmarshal(message, &a) != nil {
			u.fail(ctx, errNoJSON)
			return
		}
		partial, last := u.add(a)
		if last {
			return
		}
		if partial != "" && u.h.Partial != nil {
			u.h.Partial(partial)
		}
	}
}

// answer is a message of the server.
type answer struct {
	Partial *string `json:"partial"`
	Text    *string `json:"text"`
}

// add handles a message. It returns the partial transcript if it changed, and whether this was the last message.
func (u *utterance) add(a answer) (partial string, last bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	answers := u.answers // before it
	u.answers++
	close(u.changed)
	u.changed = make(chan struct{})
	if a.Text != nil && strings.TrimSpace(*a.Text) != "" {
		u.texts = append(u.texts, *a.Text)
	}
	if u.over && answers >= u.sent {
		return "", true
	}
	texts := u.texts
	if a.Partial != nil {
		texts = append(slices.Clip(texts), *a.Partial)
	}
	partial = voice.Plain(strings.Join(texts, " "))
	if partial == u.partial {
		return "", false
	}
	u.partial = partial
	return partial, false
}

// fail records why reading ended. A server that closes the connection after the last message has answered everything.
func (u *utterance) fail(ctx context.Context, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		u.err = context.Cause(ctx)
	case errors.Is(err, errNoJSON):
		u.err = err
	case u.over && len(u.texts) > 0 && websocket.CloseStatus(err) == websocket.StatusNormalClosure:
	default:
		u.err = errEnded
	}
}
