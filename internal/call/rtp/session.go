// Package rtp sends and receives the sound of a telephone call: G.711 and Opus over RTP (RFC 3550, RFC 3551, RFC 7587),
// digits (RFC 4733), and SRTP with keys from SDES (RFC 3711, RFC 4568). A Session is a voice.Line.
package rtp

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/srtp/v3"

	"carillon/internal/base/audio"
)

const (
	// Rate is the sample rate per second.
	Rate         = 8000
	frameTime    = 20 * time.Millisecond
	frameSamples = Rate / 50
	lead         = 60 * time.Millisecond
	maxQueued    = 10 * Rate // samples waiting to be sent
	keptQueue    = Rate / 2  // capacity kept when the queue is empty
	payloadMu    = 0
	payloadA     = 8
	maxPacket    = 1500
	maxPayload   = 3 * frameSamples // of one packet: we ask for 20 ms, and some peers send 10, 30 or 60
	replayWindow = 64               // packets of an encrypted call that may arrive out of order
)

// Keys are the keys of an encrypted call.
type Keys struct {
	Local, Remote []byte // master key and salt, 30 bytes
}

// Coding is the form of a call's sound and digits, which either side may change during the call.
type Coding struct {
	Law       audio.Law // of the sound that is sent; either law is received
	Opus      uint8     // payload type of Opus, in which sound is sent instead; 0 for G.711
	OwnOpus   uint8     // payload type that we named for Opus; it is received
	Digits    uint8     // payload type of digits that are sent, and received; 0 if the far side does not accept any
	OwnDigits uint8     // payload type that we named for digits; it is received too
	FastClock bool      // digits that are sent count time in Opus's units
	Held      bool      // the far side wants no sound
}

// Options describe a Session.
type Options struct {
	Conn net.PacketConn
	Far  Far
	Coding
	Keys    *Keys                 // nil: not encrypted
	OnFrame func(in, out []int16) // receives 20 ms of both sides; out is valid until it returns
	Refused *Refused              // counts rejected packets of several sessions; may be nil
}

// Session is the sound of one call. Close ends it and closes the connection.
type Session struct {
	o       Options
	coding  atomic.Pointer[Coding]
	encrypt *srtp.Context
	decrypt atomic.Pointer[srtp.Context]

	mu     sync.Mutex
	queue  []int16 // samples to send
	keys   []rune  // keys to send
	jitter *jitter
	line   opusLine

	latch    *latch
	refused  Refused
	received atomic.Int64 // Unix nanoseconds of the last packet
	in       chan []int16
	digits   chan rune
	done     chan struct{}
	close    func() error
	running  sync.WaitGroup

	// Only used by the sender:
	seq   uint16
	stamp uint32
	ssrc  uint32
	press *press
	pause int
	first bool
	out   [frameSamples]int16
	coded [maxPacket / 2]byte
	wire  [maxPacket]byte
	opus  encoder // nil until it is used
	// Only used by the receiver:
	pressed pressed
	packets int64
}

// ErrKeys means that the keys cannot be used.
var ErrKeys = errors.New("the keys of the call cannot be used")

// New starts a session.
func New(o Options) (*Session, error) {
	s := &Session{
		o: o, jitter: newJitter(), in: make(chan []int16, 25), digits: make(chan rune, maxDigits), done: make(chan struct{}), first: true,
		latch: newLatch(o.Far),
	}
	s.Recode(o.Coding)
	if o.Keys != nil {
		var err error
		if s.encrypt, err = contextOf(o.Keys.Local); err != nil {
			return nil, err
		}
		if err = s.Rekey(o.Keys.Remote); err != nil {
			return nil, err
		}
	}
	var random [10]byte
	_, _ = rand.Read(random[:]) // never fails
	s.seq, s.stamp, s.ssrc = binary.BigEndian.Uint16(random[:]), binary.BigEndian.Uint32(random[2:]), binary.BigEndian.Uint32(random[6:])
	s.close = sync.OnceValue(func() error {
		close(s.done)
		err := o.Conn.Close()
		s.running.Wait()
		return err
	})
	s.running.Go(s.send)
	s.running.Go(s.receive)
	return s, nil
}

func contextOf(key []byte) (*srtp.Context, error) {
	const keyLength, saltLength = 16, 14
	if len(key) != keyLength+saltLength {
		return nil, fmt.Errorf("%w: %d bytes", ErrKeys, len(key))
	}
	c, err := srtp.CreateContext(key[:keyLength], key[keyLength:], srtp.ProtectionProfileAes128CmHmacSha1_80,
		srtp.SRTPReplayProtection(replayWindow))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKeys, err)
	}
	return c, nil
}

// Close ends the session.
func (s *Session) Close() error { return s.close() }

// Rate implements voice.Line.
func (s *Session) Rate() int { return Rate }

// Lead implements voice.Line.
func (s *Session) Lead() time.Duration { return lead }

// Digits implements voice.Line.
func (s *Session) Digits() <-chan rune { return s.digits }

// Read implements voice.Line: 20 ms of sound every 20 ms.
func (s *Session) Read(ctx context.Context) ([]int16, error) {
	select {
	case pcm := <-s.in:
		return pcm, nil
	case <-s.done:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements voice.Line. Samples that wait too long are dropped.
func (s *Session) Write(pcm []int16) error {
	select {
	case <-s.done:
		return net.ErrClosed
	default:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue)+len(pcm) <= maxQueued {
		s.queue = append(s.queue, pcm...)
	}
	return nil
}

// Clear implements voice.Line.
func (s *Session) Clear() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = nil
	return nil
}

// SendDigits presses keys. Other characters are skipped.
func (s *Session) SendDigits(digits string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range digits {
		if _, ok := keyOf(d); ok && len(s.keys) < maxDigits {
			s.keys = append(s.keys, d)
		}
	}
}

// Follow applies a new location of the far side from its signaling. The same location changes nothing.
func (s *Session) Follow(far Far) { s.latch.follow(far) }

// Refused returns the number of the session's rejected packets.
func (s *Session) Refused() int64 { return s.refused.Total() }

func (s *Session) refuse(why Refusal) {
	s.refused.add(why)
	if s.o.Refused != nil {
		s.o.Refused.add(why)
	}
}

// Recode applies a change of the coding.
func (s *Session) Recode(c Coding) { s.coding.Store(&c) }

// Rekey replaces the key that decrypts the far side's packets.
func (s *Session) Rekey(remote []byte) error {
	c, err := contextOf(remote)
	if err == nil {
		s.decrypt.Store(c)
	}
	return err
}

// Received returns the time of the last packet; zero before the first.
func (s *Session) Received() time.Time {
	if n := s.received.Load(); n > 0 {
		return time.Unix(0, n)
	}
	return time.Time{}
}

// Lost returns the number of frames that did not arrive in time, and the number of packets received.
func (s *Session) Lost() (lost, packets int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.jitter.lost + s.jitter.late, s.packets
}

// send sends a frame and passes on the received frame that is due, every 20 ms.
func (s *Session) send() {
	next := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-timer.C:
		}
		s.tick()
		if next = next.Add(frameTime); time.Since(next) > maxFrames*frameTime { // the machine was suspended
			next = time.Now()
		}
		timer.Reset(time.Until(next))
	}
}

func (s *Session) tick() {
	coding := s.coding.Load()
	s.mu.Lock()
	in := s.frame()
	out := s.out[:]
	n := copy(out, s.queue)
	clear(out[n:])
	s.queue = s.queue[:copy(s.queue, s.queue[n:])]
	if len(s.queue) == 0 && cap(s.queue) > keptQueue {
		s.queue = nil
	}
	if s.press == nil && len(s.keys) > 0 && s.pause == 0 && coding.Digits > 0 {
		key, _ := keyOf(s.keys[0])
		s.keys = s.keys[1:]
		s.press = &press{key: key, begun: s.stamp * coding.units(), payloadType: coding.Digits, units: 1}
		if coding.FastClock {
			s.press.units = opusUnits
		}
	}
	s.mu.Unlock()
	if in == nil {
		in = make([]int16, frameSamples)
	}
	if s.o.OnFrame != nil {
		s.o.OnFrame(in, out)
	}
	select {
	case s.in <- in:
	default: // nobody reads; drop the oldest
		select {
		case <-s.in:
		default:
		}
		select {
		case s.in <- in:
		default:
		}
	}
	switch {
	case coding.Held:
		s.first = true
	case s.press != nil:
		s.sendPress()
	default:
		s.pause = max(0, s.pause-1)
		payload, data := s.encode(coding, out)
		if len(data) > 0 {
			s.packet(payload, s.first, s.stamp*coding.units(), data)
			s.first = false
		}
	}
	s.stamp += frameSamples
}

// units returns the timestamp units of a sample that is sent.
func (c *Coding) units() uint32 {
	if c.Opus > 0 {
		return opusUnits
	}
	return 1
}

// encode returns the payload of a frame, and its type; an empty one if the frame cannot be encoded.
func (s *Session) encode(coding *Coding, frame []int16) (payload uint8, data []byte) {
	switch {
	case coding.Opus == 0 && coding.Law == audio.A:
		return payloadA, audio.A.Compress(s.coded[:0], frame)
	case coding.Opus == 0:
		return payloadMu, coding.Law.Compress(s.coded[:0], frame)
	case s.opus == nil:
		var err error
		if s.opus, err = newEncoder(); err != nil {
			return 0, nil
		}
	}
	n, err := s.opus.encode(s.coded[:], frame)
	if err != nil {
		return 0, nil
	}
	return coding.Opus, s.coded[:n]
}

func (s *Session) sendPress() {
	p := s.press
	payload, last := p.payload()
	s.packet(p.payloadType, p.ticks == 0, p.begun, payload[:])
	if p.ticks++; last {
		s.press, s.pause, s.first = nil, int(digitPause/frameTime), true
	}
}

func (s *Session) packet(payload uint8, marker bool, stamp uint32, data []byte) {
	to := s.latch.address()
	if !to.IsValid() {
		return
	}
	p := rtp.Packet{
		Header:  rtp.Header{Version: 2, Marker: marker, PayloadType: payload, SequenceNumber: s.seq, Timestamp: stamp, SSRC: s.ssrc},
		Payload: data,
	}
	s.seq++
	n, err := p.MarshalTo(s.wire[:])
	b := s.wire[:n]
	if err == nil && s.encrypt != nil {
		b, err = s.encrypt.EncryptRTP(nil, b, nil)
	}
	if err != nil {
		return
	}
	if c, ok := s.o.Conn.(*net.UDPConn); ok { // as below, without an allocation
		_, _ = c.WriteToUDPAddrPort(b, to)
		return
	}
	_, _ = s.o.Conn.WriteTo(b, net.UDPAddrFromAddrPort(to)) // a packet may be lost
}

// receive reads packets until the connection is closed.
func (s *Session) receive() {
	b := make([]byte, maxPacket)
	for {
		n, from, err := s.readFrom(b)
		select {
		case <-s.done:
			return
		default:
		}
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			time.Sleep(time.Millisecond) //nolint:forbidigo // for example an unreachable port
			continue
		}
		if from.IsValid() {
			s.take(b[:n], netip.AddrPortFrom(from.Addr().Unmap(), from.Port()))
		}
	}
}

func (s *Session) readFrom(b []byte) (n int, from netip.AddrPort, err error) {
	if c, ok := s.o.Conn.(*net.UDPConn); ok { // as below, without an allocation
		return c.ReadFromUDPAddrPort(b)
	}
	n, address, err := s.o.Conn.ReadFrom(b)
	if udp, ok := address.(*net.UDPAddr); ok {
		from = udp.AddrPort()
	}
	return n, from, err
}

// take handles a packet.
func (s *Session) take(b []byte, from netip.AddrPort) {
	if len(b) < 12 || b[0]>>6 != 2 || b[1] >= 192 && b[1] <= 223 { // not RTP, or RTCP
		return
	}
	if !s.latch.may(from) { // packets of strangers are not decrypted
		s.refuse(Foreign)
		return
	}
	if decrypt := s.decrypt.Load(); decrypt != nil {
		clear, err := decrypt.DecryptRTP(nil, b, nil)
		if err != nil {
			s.refuse(Unauthenticated)
			return
		}
		b = clear
	}
	var p rtp.Packet
	if p.Unmarshal(b) != nil {
		return
	}
	if why, ok := s.latch.accept(from, p.SSRC); !ok {
		s.refuse(why)
		return
	}
	s.received.Store(time.Now().UnixNano())
	coding := s.coding.Load()
	switch {
	case p.PayloadType > 0 && (p.PayloadType == coding.Digits || p.PayloadType == coding.OwnDigits):
		if d := s.pressed.take(p.SSRC, p.Timestamp, p.Payload, time.Now()); d != 0 {
			select {
			case s.digits <- d:
			default:
			}
		}
	case p.PayloadType > 0 && p.PayloadType == coding.OwnOpus:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.line.take(&p, s.playOpus)
	case p.PayloadType == payloadMu || p.PayloadType == payloadA:
		if len(p.Payload) == 0 || len(p.Payload) > maxPayload {
			return
		}
		law := audio.Mu
		if p.PayloadType == payloadA {
			law = audio.A
		}
		pcm := law.Expand(make([]int16, 0, len(p.Payload)), p.Payload)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.packets++
		s.jitter.units = 1
		s.jitter.add(p.SSRC, p.SequenceNumber, p.Timestamp, pcm)
	}
}

// playOpus passes the sound of a packet on to the jitter buffer. The sound of a lost packet may already have been
// replaced in part.
func (s *Session) playOpus(p *rtp.Packet, pcm []int16, lost bool) {
	s.jitter.units = opusUnits
	replaced := s.jitter.waited * frameSamples
	s.jitter.add(p.SSRC, p.SequenceNumber, p.Timestamp, pcm)
	if lost {
		s.jitter.lost++
		s.jitter.skip(int64(min(replaced, len(pcm))))
	} else {
		s.packets++
	}
}

// frame returns the received frame that is due, or nil for silence. Packets of Opus wait for those before them until their
// own sound is due.
func (s *Session) frame() []int16 {
	for s.jitter.playing && s.jitter.end-s.jitter.next < frameSamples && len(s.line.held) > 0 {
		s.line.advance(s.playOpus)
	}
	return s.jitter.take()
}

// Pressed reports digits that arrived outside the sound.
func (s *Session) Pressed(digits string) {
	for _, d := range digits {
		if _, ok := keyOf(d); !ok {
			continue
		}
		select {
		case s.digits <- d:
		default:
		}
	}
}
