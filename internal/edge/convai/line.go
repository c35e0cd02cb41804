package convai

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"carillon/internal/voice"
)

const (
	// Rate is the sample rate per second in both directions.
	Rate = 16000
	// Format is the audio format in both directions: 16-bit samples, little-endian, mono.
	Format = "pcm_16000"

	chunk     = Rate / 10 // samples per message: 100 ms
	lead      = 300 * time.Millisecond
	longLead  = time.Second // to a client whose playback broke off
	maxUnread = Rate * 2    // limit of unread samples from the client; the oldest are dropped
)

// line is the audio of a connection. It implements voice.Line.
type line struct {
	c     *Conn
	ready chan struct{} // signals new samples or the end
	slow  atomic.Bool   // the client's playback broke off

	mu     sync.Mutex
	unread []int16
	missed int // samples that were dropped
	ended  bool
	played time.Time // when the client will have played everything written
}

var _ voice.Line = (*line)(nil)

func newLine(c *Conn) *line { return &line{c: c, ready: make(chan struct{}, 1)} }

func (*line) Rate() int           { return Rate }
func (*line) Digits() <-chan rune { return nil }

// Lead implements voice.Line.
func (l *line) Lead() time.Duration {
	if l.slow.Load() {
		return longLead
	}
	return lead
}

// receive adds samples from the client. It never truncates a single piece, whatever its length.
func (l *line) receive(pcm []int16) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if over := len(l.unread) + len(pcm) - max(maxUnread, len(pcm)); over > 0 {
		l.missed += min(over, len(l.unread))
		l.unread = l.unread[over:]
	}
	l.unread = append(l.unread, pcm...)
	l.signal()
}

// dropped returns the length of the sound that Read does not return.
func (l *line) dropped() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Duration(l.missed) * time.Second / Rate
}

// end makes Read return io.EOF, because the person has left.
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
			l.signal() // for the next Read
			return nil, io.EOF
		}
		select {
		case <-l.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Write implements voice.Line. The samples belong to the response of the latest voice.Sounding event.
func (l *line) Write(pcm []int16) error {
	if l.c.gone() {
		return errLeft
	}
	for len(pcm) > 0 {
		n := min(len(pcm), chunk)
		l.c.send(audio(pcm[:n], l.c.response.Load(), l.c.binary.Load()))
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

// Clear implements voice.Line. Show sends an interruption that makes the client drop the sound it already has.
func (l *line) Clear() error {
	l.c.out.clear()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.played = time.Time{}
	return nil
}

// rest returns how long the client needs to finish playing.
func (l *line) rest() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(0, time.Until(l.played))
}

// errLeft means that the client has disconnected.
var errLeft = errors.New("the client has left")

// audio returns the message that carries samples. A binary one begins with the response in four bytes, little-endian.
func audio(pcm []int16, response int64, inBinary bool) message {
	raw := make([]byte, 0, 2*chunk+4)
	if inBinary {
		raw = binary.LittleEndian.AppendUint32(raw, uint32(response)) //nolint:gosec // a talk has fewer responses
	}
	for _, s := range pcm {
		raw = binary.LittleEndian.AppendUint16(raw, uint16(s))
	}
	if inBinary {
		return message{data: raw, sound: true, binary: true}
	}
	b := make([]byte, 0, base64.StdEncoding.EncodedLen(len(raw))+80)
	b = append(b, `{"type":"audio","audio_event":{"audio_base_64":"`...)
	b = base64.StdEncoding.AppendEncode(b, raw)
	b = append(b, `","event_id":`...)
	b = strconv.AppendInt(b, response, 10)
	return message{data: append(b, "}}"...), sound: true}
}

// samples decodes a user_audio_chunk; ok is false if it is invalid.
func samples(encoded string) ([]int16, bool) {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, false
	}
	return fromBytes(raw), true
}

// fromBytes returns samples from their bytes, little-endian. An odd byte at the end is dropped.
func fromBytes(raw []byte) []int16 {
	pcm := make([]int16, len(raw)/2)
	for i := range pcm {
		pcm[i] = int16(binary.LittleEndian.Uint16(raw[2*i:]))
	}
	return pcm
}
