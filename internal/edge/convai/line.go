package convai

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"strconv"
	"sync"
	"time"

	"carillon/internal/voice"
)

const (
	// Rate is samples a second, both ways.
	Rate = 16000
	// Format is the name of the sound both ways: 16-bit samples, little-endian, mono.
	Format = "pcm_16000"

	chunk     = Rate / 10 // samples of one message: 100 ms
	lead      = 300 * time.Millisecond
	maxUnread = Rate * 2 // samples of the client that nobody has read; the oldest make room
)

// line is the sound of a connection. It implements voice.Line.
type line struct {
	c     *Conn
	ready chan struct{} // signals samples, or the end

	mu     sync.Mutex
	unread []int16
	ended  bool
	played time.Time // when the client has played all that was written
}

var _ voice.Line = (*line)(nil)

func newLine(c *Conn) *line { return &line{c: c, ready: make(chan struct{}, 1)} }

func (*line) Rate() int           { return Rate }
func (*line) Lead() time.Duration { return lead }
func (*line) Digits() <-chan rune { return nil }

// hear adds samples that the client sent. One piece is kept whole, however long it is.
func (l *line) hear(pcm []int16) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if over := len(l.unread) + len(pcm) - max(maxUnread, len(pcm)); over > 0 {
		l.unread = l.unread[over:]
	}
	l.unread = append(l.unread, pcm...)
	l.signal()
}

// end has Read return io.EOF: the person has left.
func (l *line) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.signal()
}

func (l *line) signal() {
	select {
	case l.ready <- struct{}{}:
	default:
	}
}

// Read implements voice.Line.
func (l *line) Read(ctx context.Context) ([]int16, error) {
	for {
		l.mu.Lock()
		pcm, ended := l.unread, l.ended
		l.unread = nil
		l.mu.Unlock()
		switch {
		case len(pcm) > 0:
			return pcm, nil
		case ended:
			l.signal() // for whoever reads again
			return nil, io.EOF
		}
		select {
		case <-l.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Write implements voice.Line: the samples are of the response that was last said to sound.
func (l *line) Write(pcm []int16) error {
	if l.c.gone() {
		return errLeft
	}
	for len(pcm) > 0 {
		n := min(len(pcm), chunk)
		l.c.send(message{text: audio(pcm[:n], l.c.response.Load()), sound: true})
		l.plays(n)
		pcm = pcm[n:]
	}
	return nil
}

func (l *line) plays(samples int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); l.played.Before(now) {
		l.played = now
	}
	l.played = l.played.Add(time.Duration(samples) * time.Second / Rate)
}

// Clear implements voice.Line. What was sent already the client drops at the interruption that Show sends.
func (l *line) Clear() error {
	l.c.out.clear()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.played = time.Time{}
	return nil
}

// rest is how long the client still plays what was written.
func (l *line) rest() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(0, time.Until(l.played))
}

// errLeft says that nobody is at the other end.
var errLeft = errors.New("the client has left")

// audio is the message that carries samples.
func audio(pcm []int16, response int64) []byte {
	raw := make([]byte, 0, 2*chunk)
	for _, s := range pcm {
		raw = binary.LittleEndian.AppendUint16(raw, uint16(s))
	}
	b := make([]byte, 0, base64.StdEncoding.EncodedLen(len(raw))+80)
	b = append(b, `{"type":"audio","audio_event":{"audio_base_64":"`...)
	b = base64.StdEncoding.AppendEncode(b, raw)
	b = append(b, `","event_id":`...)
	b = strconv.AppendInt(b, response, 10)
	return append(b, "}}"...)
}

// samples are the samples of a user_audio_chunk; false: it is none. An odd byte at the end is dropped.
func samples(encoded string) ([]int16, bool) {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, false
	}
	pcm := make([]int16, len(raw)/2)
	for i := range pcm {
		pcm[i] = int16(binary.LittleEndian.Uint16(raw[2*i:]))
	}
	return pcm, true
}
