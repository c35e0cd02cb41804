package rtp

import (
	"errors"
	"fmt"
	"math"
	mathrand "math/rand/v2"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/pion/rtp"
	"github.com/thesyncim/gopus"

	"carillon/internal/base/audio"
	"carillon/internal/base/audio/audiotest"
	"carillon/internal/call/rtp/rtptest"
)

var inOpus = Coding{Opus: 111, OwnOpus: 96, Digits: 110, OwnDigits: 101, FastClock: true}

// voiced returns sound that resembles speech, above the pitch below which the encoder filters.
func voiced(d time.Duration) []int16 {
	pcm := make([]int16, int(d*Rate/time.Second))
	phase := 0.0
	for i := range pcm {
		at := float64(i) / Rate
		phase += (340 + 60*math.Sin(at*2.1)) / Rate
		level := math.Max(0, math.Sin(at*2*math.Pi*3.5))
		pcm[i] = int16(9000 * level * (math.Sin(2*math.Pi*phase) + 0.5*math.Sin(6*math.Pi*phase+1)))
	}
	return pcm
}

// theirs is the coding of the other side of a call.
func theirs(c Coding) Coding {
	c.Opus, c.OwnOpus, c.Digits, c.OwnDigits = c.OwnOpus, c.Opus, c.OwnDigits, c.Digits
	return c
}

func TestOpusArrives(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		encrypted bool
		wrap      func(net.PacketConn) net.PacketConn
		least     float64
	}{
		{"encrypted", true, plain, 0.95},
		{"five of a hundred lost, others exchanged", false, func(c net.PacketConn) net.PacketConn {
			return &lossy{PacketConn: c, rand: mathrand.New(mathrand.NewPCG(1, 2))}
		}, 0.85},
	} {
		t.Run(c.name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
				a, b := pair(t, n, audio.Mu, c.encrypted, c.wrap)
				a.Recode(inOpus)
				b.Recode(theirs(inOpus))
				want := voiced(2 * time.Second)
				if err := a.Write(want); err != nil {
					t.Fatal(err)
				}
				if ncc, _ := audiotest.Correlate(record(b, 2500*time.Millisecond), want); ncc < c.least {
					t.Errorf("it correlates by %.3f", ncc)
				}
				a.SendDigits("42#")
				if got := pressedKeys(t, b, 3); got != "42#" {
					t.Errorf("pressed %q", got)
				}
			})
		})
	}
}

// A call begins in one coding and goes on in the other.
func TestACallChangesToOpusAndBack(t *testing.T) {
	inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
		a, b := pair(t, n, audio.A, false, plain)
		want := voiced(2 * time.Second)
		for i, coding := range []Coding{{Law: audio.A, OwnOpus: 96}, inOpus, {Law: audio.Mu, OwnOpus: 96}} {
			a.Recode(coding)
			b.Recode(theirs(inOpus))
			_ = a.Write(want)
			if ncc, _ := audiotest.Correlate(record(b, 2500*time.Millisecond), want); ncc < 0.95 {
				t.Errorf("%d: it correlates by %.3f", i, ncc)
			}
		}
	})
}

// heardInOpus plays sound in packets of a length through a session. Each takes up to 30 ms longer than others, and a share of
// them is lost.
func heardInOpus(t *testing.T, pcm []int16, length int, lost float64) (heard []int16) {
	t.Helper()
	const tick, delay = frameSamples, 30 * Rate / 1000
	e, err := gopus.NewEncoder(gopus.EncoderConfig{SampleRate: Rate, Channels: 1, Application: gopus.ApplicationVoIP})
	if err == nil {
		err = e.SetFrameSize(length)
	}
	if err == nil {
		err = errors.Join(e.SetPacketLoss(int(100*lost)), e.SetBitrate(opusBitrate))
	}
	if err != nil {
		t.Fatal(err)
	}
	e.SetFEC(lost > 0)
	random := mathrand.New(mathrand.NewPCG(uint64(length), 7)) //nolint:gosec // a test
	type packet struct {
		rtp.Packet
		arrives int
	}
	var way []packet
	for at := 0; at+length <= len(pcm); at += length {
		b := make([]byte, maxPacket)
		n, err := e.EncodeInt16(pcm[at:at+length], b)
		if err != nil {
			t.Fatal(err)
		}
		p := packet{rtp.Packet{Payload: b[:n]}, at + length + random.IntN(delay)}
		p.SSRC, p.SequenceNumber, p.Timestamp = 9, uint16(65_500+at/length), uint32(4_294_960_000+opusUnits*at) // both wrap
		if random.Float64() >= lost {
			way = append(way, p)
		}
	}
	slices.SortStableFunc(way, func(a, b packet) int { return a.arrives - b.arrives })
	s := &Session{jitter: newJitter()}
	for now := 0; now < len(pcm)+20*tick; now += tick {
		for len(way) > 0 && way[0].arrives <= now {
			s.line.take(&way[0].Packet, s.playOpus)
			way = way[1:]
		}
		frame := s.frame()
		if frame == nil {
			frame = make([]int16, tick)
		}
		heard = append(heard, frame...)
	}
	return heard
}

func TestOpusPacketsOfAnyLengthAreHeard(t *testing.T) {
	t.Parallel()
	said := voiced(6 * time.Second)
	for _, ms := range []int{10, 20, 40, 60} {
		for lost, least := range map[float64]float64{0: 0.95, 0.01: 0.93, 0.05: 0.85} {
			t.Run(fmt.Sprintf("%d ms, %.0f %% lost", ms, 100*lost), func(t *testing.T) {
				t.Parallel()
				ncc, _ := audiotest.Correlate(said, heardInOpus(t, said, ms*Rate/1000, lost))
				if ncc < least {
					t.Errorf("heard by %.3f, at least %.2f is wanted", ncc, least)
				}
				t.Logf("%.3f", ncc)
			})
		}
	}
}

// Packets that are no Opus are dropped, and the sound goes on.
func TestBrokenOpusIsDropped(t *testing.T) {
	t.Parallel()
	s := &Session{jitter: newJitter()}
	for i, b := range [][]byte{nil, {0xff}, {0xff, 0xff, 0xff}, make([]byte, 1400), {3, 0}} {
		s.line.take(&rtp.Packet{Header: rtp.Header{SequenceNumber: uint16(i)}, Payload: b}, s.playOpus)
	}
	e, err := newEncoder()
	if err != nil {
		t.Fatal(err)
	}
	said := voiced(time.Second)
	var heard []int16
	for i := 0; i+frameSamples <= len(said); i += frameSamples {
		b := make([]byte, maxPacket)
		n, err := e.encode(b, said[i:i+frameSamples])
		if err != nil {
			t.Fatal(err)
		}
		s.line.take(&rtp.Packet{Header: rtp.Header{SequenceNumber: uint16(1000 + i/frameSamples)}, Payload: b[:n]}, s.playOpus)
		heard = append(heard, s.frame()...)
	}
	if ncc, _ := audiotest.Correlate(said, heard); ncc < 0.9 {
		t.Errorf("it correlates by %.3f", ncc)
	}
}

func BenchmarkOpus(b *testing.B) {
	e, err := newEncoder()
	if err != nil {
		b.Fatal(err)
	}
	d, err := newDecoder()
	if err != nil {
		b.Fatal(err)
	}
	said, packet := voiced(10*time.Second), make([]byte, maxPacket)
	frame := func(i int) []int16 { return said[i*frameSamples%len(said):][:frameSamples] }
	b.Run("encode", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if _, err := e.encode(packet, frame(i)); err != nil {
				b.Fatal(err)
			}
		}
	})
	n, _ := e.encode(packet, frame(0))
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			if _, err := d.decode(packet[:n]); err != nil {
				b.Fatal(err)
			}
		}
	})
}
