package rtp

import (
	"context"
	"crypto/rand"
	"math"
	mathrand "math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"carillon/internal/base/audio"
	"carillon/internal/base/audio/audiotest"
	"carillon/internal/base/need"
	"carillon/internal/call/rtp/rtptest"
)

// inFakeTime runs a test, which takes as long as its sound, with a fake clock.
func inFakeTime(t *testing.T, test func(t *testing.T, n *rtptest.Network)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { test(t, &rtptest.Network{}) })
}

// sockets is a network: in memory, or the system's.
type sockets interface {
	ListenPacket(ctx context.Context, network, address string) (net.PacketConn, error)
}

func listen(t *testing.T, n sockets, address string) net.PacketConn {
	t.Helper()
	c, err := n.ListenPacket(t.Context(), "udp4", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func plain(c net.PacketConn) net.PacketConn { return c }

// pair returns two connected sessions.
func pair(t *testing.T, n sockets, law audio.Law, encrypted bool, wrap func(net.PacketConn) net.PacketConn) (a, b *Session) {
	t.Helper()
	one, other := listen(t, n, "127.0.0.1:0"), listen(t, n, "127.0.0.1:0")
	to := func(c net.PacketConn) netip.AddrPort { return c.LocalAddr().(*net.UDPAddr).AddrPort() }
	oa := Options{Conn: wrap(one), Far: Far{Sound: to(other)}, Coding: Coding{Law: law, Digits: 101}}
	ob := Options{Conn: other, Far: Far{Sound: to(one)}, Coding: Coding{Law: law, Digits: 101}}
	if encrypted {
		k1, k2 := make([]byte, 30), make([]byte, 30)
		_, _ = rand.Read(k1)
		_, _ = rand.Read(k2)
		oa.Keys, ob.Keys = &Keys{k1, k2}, &Keys{k2, k1}
	}
	a, err := New(oa)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	if b, err = New(ob); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return a, b
}

// speech returns sound that resembles speech: a moving pitch, in syllables.
func speech(d time.Duration) []int16 {
	pcm := make([]int16, int(d*Rate/time.Second))
	phase := 0.0
	for i := range pcm {
		at := float64(i) / Rate
		phase += (140 + 60*math.Sin(at*2.1)) / Rate
		level := math.Max(0, math.Sin(at*2*math.Pi*3.5))
		pcm[i] = int16(9000 * level * (math.Sin(2*math.Pi*phase) + 0.5*math.Sin(6*math.Pi*phase+1)))
	}
	return pcm
}

func record(s *Session, d time.Duration) (all []int16) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	for {
		pcm, err := s.Read(ctx)
		if err != nil {
			return all
		}
		all = append(all, pcm...)
	}
}

// lossy drops and reorders packets.
type lossy struct {
	net.PacketConn
	mu   sync.Mutex
	held []byte
	to   net.Addr
	rand *mathrand.Rand
}

func (l *lossy) WriteTo(b []byte, to net.Addr) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch r := l.rand.Float64(); {
	case r < 0.05:
		return len(b), nil
	case r < 0.15 && l.held == nil:
		l.held, l.to = append([]byte(nil), b...), to
		return len(b), nil
	}
	n, err := l.PacketConn.WriteTo(b, to)
	if l.held != nil {
		_, _ = l.PacketConn.WriteTo(l.held, l.to)
		l.held = nil
	}
	return n, err
}

func TestSoundArrives(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		law       audio.Law
		encrypted bool
		wrap      func(net.PacketConn) net.PacketConn
		least     float64
	}{
		{"mu law", audio.Mu, false, plain, 0.99},
		{"a law, encrypted", audio.A, true, plain, 0.99},
		{"five of a hundred lost, others exchanged", audio.Mu, false, func(c net.PacketConn) net.PacketConn {
			return &lossy{PacketConn: c, rand: mathrand.New(mathrand.NewPCG(1, 2))}
		}, 0.9},
	} {
		t.Run(c.name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
				want := speech(2 * time.Second)
				a, b := pair(t, n, c.law, c.encrypted, c.wrap)
				if err := a.Write(want); err != nil {
					t.Fatal(err)
				}
				if ncc, _ := audiotest.Correlate(record(b, 2500*time.Millisecond), want); ncc < c.least {
					t.Errorf("it correlates by %.3f", ncc)
				}
			})
		})
	}
}

// A machine that stalls for a moment causes a gap at the other side, but most of the sound arrives.
func TestSoundArrivesOverSockets(t *testing.T) {
	need.Sound(t)
	t.Parallel()
	const piece = Rate / 5
	want := make([]int16, 10*piece)
	for i, random := 0, mathrand.New(mathrand.NewPCG(5, 6)); i < len(want); i++ {
		want[i] = int16(random.NormFloat64() * 4000)
	}
	a, b := pair(t, &net.ListenConfig{}, audio.Mu, true, plain)
	if err := a.Write(want); err != nil {
		t.Fatal(err)
	}
	got, found := record(b, 3*time.Second), 0
	for at := 0; at < len(want); at += piece {
		_, shift := audiotest.Correlate(want[at:at+piece], got)
		from := min(max(shift, 0), len(got))
		if ncc, _ := audiotest.Correlate(want[at:at+piece], got[from:min(from+piece, len(got))]); ncc > 0.5 {
			found++
		}
	}
	if found < 5 {
		t.Errorf("%d of 10 pieces arrive", found)
	}
}

// pressedKeys reads n keys of a session.
func pressedKeys(t *testing.T, s *Session, n int) (got string) {
	t.Helper()
	for len(got) < n {
		select {
		case d := <-s.Digits():
			got += string(d)
		case <-time.After(2 * time.Minute):
			t.Fatalf("got %q", got)
		}
	}
	return got
}

func TestDigitsArriveOnceEach(t *testing.T) {
	inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
		a, b := pair(t, n, audio.Mu, true, func(c net.PacketConn) net.PacketConn {
			return &lossy{PacketConn: c, rand: mathrand.New(mathrand.NewPCG(3, 4))}
		})
		a.SendDigits("42#*0x1")
		got := pressedKeys(t, b, 6)
		time.Sleep(time.Second)
		if len(b.Digits()) > 0 || got != "42#*01" {
			t.Errorf("got %q and %d more", got, len(b.Digits()))
		}
	})
}

func TestDigitsArriveOverSockets(t *testing.T) {
	t.Parallel()
	a, b := pair(t, &net.ListenConfig{}, audio.A, false, plain)
	a.SendDigits("42#")
	if got := pressedKeys(t, b, 3); got != "42#" {
		t.Errorf("got %q", got)
	}
}

// Either side may change the number of its events; both of the far side's and of ours are taken.
func TestDigitsArriveByBothNumbers(t *testing.T) {
	inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
		a, b := pair(t, n, audio.Mu, false, plain)
		b.Recode(Coding{Law: audio.Mu, Digits: 96, OwnDigits: 101})
		a.SendDigits("4")
		if got := pressedKeys(t, b, 1); got != "4" {
			t.Errorf("by our number: %q", got)
		}
		a.Recode(Coding{Law: audio.A, Digits: 96})
		a.SendDigits("2")
		if got := pressedKeys(t, b, 1); got != "2" {
			t.Errorf("by theirs: %q", got)
		}
		time.Sleep(time.Second)
		if len(b.Digits()) > 0 {
			t.Error("more digits")
		}
	})
}

// Senders start again, let the timestamp of a press move, or lose and repeat its packets: each press is one digit.
func TestEachPressIsOneDigit(t *testing.T) {
	t.Parallel()
	type event struct {
		ssrc, stamp uint32
		key         byte
		end         bool
		long        uint16
		after       time.Duration
	}
	const ms = time.Millisecond
	down := func(ssrc, stamp uint32, key byte, long uint16, after time.Duration) event {
		return event{ssrc, stamp, key, false, long, after}
	}
	up := func(ssrc, stamp uint32, key byte, long uint16, after time.Duration) event {
		return event{ssrc, stamp, key, true, long, after}
	}
	for name, c := range map[string]struct {
		events []event
		want   string
	}{
		"a press":                 {[]event{down(1, 800, 5, 160, 0), down(1, 800, 5, 320, 20*ms), up(1, 800, 5, 480, 20*ms)}, "5"},
		"the end alone":           {[]event{up(1, 800, 5, 480, 0), up(1, 800, 5, 480, ms)}, "5"},
		"the same key twice":      {[]event{up(1, 800, 5, 480, 0), down(1, 2400, 5, 160, 200*ms), up(1, 2400, 5, 480, 40*ms)}, "55"},
		"quickly twice":           {[]event{up(1, 800, 5, 480, 0), down(1, 2400, 5, 160, 80*ms)}, "55"},
		"a late packet":           {[]event{up(1, 800, 5, 480, 0), up(1, 2400, 6, 480, 200*ms), up(1, 800, 5, 480, ms)}, "56"},
		"another source":          {[]event{up(1, 90_000, 5, 480, 0), down(2, 160, 6, 160, 200*ms), up(2, 160, 6, 480, 40*ms)}, "56"},
		"a key of another source": {[]event{up(1, 90_000, 5, 480, 0), up(2, 160, 5, 480, 500*ms)}, "55"},
		"a timestamp that moves": {[]event{
			down(1, 800, 5, 160, 0), down(1, 960, 5, 320, 20*ms), down(1, 1120, 5, 480, 20*ms), up(1, 1280, 5, 640, 20*ms),
			up(1, 1440, 5, 640, 20*ms), up(1, 1600, 5, 640, 20*ms), down(1, 4000, 5, 160, 300*ms),
		}, "55"},
		"a timestamp that moves, then another key": {[]event{down(1, 800, 5, 160, 0), down(1, 960, 6, 320, 20*ms)}, "56"},
		"no key": {[]event{down(1, 800, 99, 160, 0)}, ""},
		"wraps":  {[]event{up(1, 4_294_967_000, 5, 480, 0), up(1, 200, 6, 480, 200*ms)}, "56"},
	} {
		var p pressed
		now, got := time.Now(), ""
		for _, e := range c.events {
			now = now.Add(e.after)
			payload := []byte{e.key, 10, byte(e.long >> 8), byte(e.long)}
			if e.end {
				payload[1] |= endBit
			}
			if d := p.take(e.ssrc, e.stamp, payload, now); d != 0 {
				got += string(d)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}

func TestAnotherKeyIsUsed(t *testing.T) {
	inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
		a, b := pair(t, n, audio.Mu, true, plain)
		key := make([]byte, 30)
		_, _ = rand.Read(key)
		if err := b.Rekey(key); err != nil {
			t.Fatal(err)
		}
		if err := b.Rekey(key[1:]); err == nil {
			t.Error("a short key is taken")
		}
		time.Sleep(100 * time.Millisecond)
		if _, n := b.Lost(); n > 0 {
			t.Errorf("%d packets with the key from before", n)
		}
		c, err := contextOf(key)
		if err != nil {
			t.Fatal(err)
		}
		s := &Session{encrypt: c, o: Options{Conn: a.o.Conn}, ssrc: 7, latch: newLatch(a.o.Far)}
		for range 20 {
			s.packet(0, false, 0, make([]byte, frameSamples))
		}
		time.Sleep(100 * time.Millisecond)
		if _, n := b.Lost(); n != 20 {
			t.Errorf("%d packets with the new key", n)
		}
	})
}

func TestAPacketOfSecondsIsDropped(t *testing.T) {
	inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
		a, b := pair(t, n, audio.Mu, false, plain)
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		conn := listen(t, n, a.o.Conn.LocalAddr().String())
		time.Sleep(50 * time.Millisecond)
		_, before := b.Lost()
		s := &Session{o: Options{Conn: conn}, ssrc: 7, latch: newLatch(a.o.Far)}
		for _, size := range []int{maxPayload + 1, 1400, maxPayload} {
			s.packet(0, false, 0, make([]byte, size))
		}
		time.Sleep(100 * time.Millisecond)
		if _, n := b.Lost(); n != before+1 {
			t.Errorf("%d of three packets are taken", n-before)
		}
	})
}

func TestJitter(t *testing.T) {
	frame := func(v int16) []int16 { return slices.Repeat([]int16{v * 8}, frameSamples) }
	for _, c := range []struct {
		name string
		seqs []uint16 // 0: a tick passes
		want []int16  // of each tick; -1: none
	}{
		{"waits for three", []uint16{1, 0, 2, 0, 3, 0, 0, 0}, []int16{-1, -1, 8, 16, 24}},
		{"puts in order", []uint16{2, 1, 3, 0, 0, 0}, []int16{8, 16, 24}},
		{"hides what is lost", []uint16{1, 2, 4, 5, 0, 0, 0, 0, 0}, []int16{8, 16, 8, 32, 40}},
		{"drops what is late", []uint16{1, 2, 4, 5, 6, 0, 0, 0, 3, 0, 0, 0}, []int16{8, 16, 8, 32, 40, 48}},
		{"wraps", []uint16{65534, 65535, 65533, 0, 0, 0}, []int16{-24, -16, -8}},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := newJitter()
			var got []int16
			for _, seq := range c.seqs {
				if seq > 0 {
					j.add(1, seq, uint32(seq)*frameSamples, frame(int16(seq)))
					continue
				}
				v := int16(-1)
				if pcm := j.take(); pcm != nil {
					v = pcm[0]
				}
				got = append(got, v)
			}
			if len(got) != len(c.want) {
				t.Fatalf("%v", got)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("%v, want %v", got, c.want)
					break
				}
			}
		})
	}
}

func FuzzPacket(f *testing.F) {
	f.Add([]byte{0x80, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3})
	f.Add([]byte{0x80, 101, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0x80, 0, 160})
	f.Add([]byte{0x80, 96, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 8, 1, 2, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		from := netip.MustParseAddrPort("127.0.0.1:1")
		s := &Session{jitter: newJitter(), digits: make(chan rune, 1), latch: newLatch(Far{Sound: from})}
		s.Recode(Coding{Digits: 101, OwnOpus: 96})
		s.take(b, from)
		s.take(b, from)
		for range 4 {
			s.frame()
		}
		if j := s.jitter; j.end-j.next > maxBuffered {
			t.Error("unbounded")
		}
	})
}
