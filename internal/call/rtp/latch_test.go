package rtp

import (
	"crypto/rand"
	"net"
	"net/netip"
	"testing"
	"time"

	"carillon/internal/base/audio"
	"carillon/internal/call/rtp/rtptest"
)

// packetOf is an RTP packet of a source.
type packetOf struct {
	from   string
	source uint32
	times  int // 0: once
}

func TestSoundComesFromWhereTheSignallingSays(t *testing.T) {
	t.Parallel()
	const (
		named, otherPort = "198.51.100.7:4000", "198.51.100.7:61000"
		peer, stranger   = "203.0.113.9:7000", "192.0.2.66:9000"
	)
	far := Far{Sound: netip.MustParseAddrPort(named), Peer: netip.MustParseAddr("203.0.113.9")}
	inside := Far{Peer: far.Peer} // behind a NAT; we do not send to its private address
	moved := Far{Sound: netip.MustParseAddrPort("198.51.100.8:5000"), Peer: far.Peer, Version: 1}
	again := Far{Sound: far.Sound, Peer: far.Peer, Version: 1}
	mapped := Far{Sound: netip.MustParseAddrPort("[::ffff:198.51.100.7]:4000")}
	type refused struct{ foreign, source int }
	one := func(from string) packetOf { return packetOf{from, 1, 1} }
	for _, c := range []struct {
		name    string
		far     Far
		packets []packetOf
		follow  *Far // new location after the packets
		then    []packetOf
		to      string // empty: nowhere
		refused refused
	}{
		{name: "nobody has spoken", far: far, to: named},
		{name: "the named address speaks", far: far, packets: []packetOf{one(named)}, to: named},
		{name: "its source may change", far: far, packets: []packetOf{one(named), {named, 2, 1}}, to: named},
		{name: "a stranger before everybody", far: far, packets: []packetOf{{stranger, 6, 3}}, to: named, refused: refused{foreign: 3}},
		{name: "a stranger where nothing is named", far: inside, packets: []packetOf{{stranger, 6, 3}}, refused: refused{foreign: 3}},
		{name: "a NAT changes the port", far: far, packets: []packetOf{{otherPort, 1, 2}}, to: otherPort},
		{name: "a NAT changes the address", far: inside, packets: []packetOf{{peer, 1, 2}}, to: peer},
		{
			name: "the latch is for one", far: far, packets: []packetOf{one(peer), {otherPort, 1, 2}, one(stranger)}, to: peer,
			refused: refused{foreign: 3},
		},
		{
			name: "another port of the latched host", far: far, packets: []packetOf{one(otherPort), one("198.51.100.7:61002")},
			to:      otherPort,
			refused: refused{foreign: 1},
		},
		{
			name: "the named address breaks the latch", far: far,
			packets: []packetOf{one(otherPort), {named, 2, 1}, {otherPort, 1, 2}}, to: named,
			refused: refused{foreign: 2},
		},
		{
			name: "nobody latches after it", far: far, packets: []packetOf{one(named), one(otherPort), one(peer)}, to: named,
			refused: refused{foreign: 2},
		},
		{
			name: "another source at the latched address", far: far, to: peer, refused: refused{source: 2*renewAfter - 2},
			packets: []packetOf{one(peer), {peer, 2, renewAfter - 1}, one(peer), {peer, 2, renewAfter - 1}},
		},
		{
			name: "a source that goes on takes its place", far: far,
			packets: []packetOf{one(peer), {peer, 2, renewAfter}, one(peer)}, to: peer,
			refused: refused{source: renewAfter},
		},
		{
			name: "the same SDP again", far: far, packets: []packetOf{one(named)}, follow: &far, then: []packetOf{one(peer)}, to: named,
			refused: refused{foreign: 1},
		},
		{
			name: "the same SDP does not end the latch", far: far, packets: []packetOf{one(peer)}, follow: &far,
			then: []packetOf{one(otherPort)},
			to:   peer, refused: refused{foreign: 1},
		},
		{
			name: "new SDP names another address", far: far, packets: []packetOf{one(named)}, follow: &moved, then: []packetOf{one(named)},
			to: "198.51.100.8:5000", refused: refused{foreign: 1},
		},
		{
			name: "new SDP allows one latch again", far: far, packets: []packetOf{one(peer)}, follow: &moved,
			then: []packetOf{{"203.0.113.9:7777", 2, 1}}, to: "203.0.113.9:7777",
		},
		{name: "new SDP of the same address leaves ours where it goes", far: far, packets: []packetOf{one(peer)}, follow: &again, to: peer},
		{
			name: "the NAT has changed, as new SDP may say", far: far, packets: []packetOf{one(otherPort)}, follow: &again,
			then: []packetOf{{"198.51.100.7:61004", 1, 1}, one(otherPort)}, to: "198.51.100.7:61004", refused: refused{foreign: 1},
		},
		{name: "IPv4 in IPv6", far: mapped, packets: []packetOf{one(named)}, to: named},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, got := newLatch(c.far), refused{}
			take := func(all []packetOf) {
				for _, p := range all {
					for range max(1, p.times) {
						switch why, ok := l.accept(netip.MustParseAddrPort(p.from), p.source); {
						case ok:
						case why == Foreign:
							got.foreign++
						default:
							got.source++
						}
					}
				}
			}
			take(c.packets)
			if c.follow != nil {
				l.follow(*c.follow)
			}
			take(c.then)
			to := ""
			if a := l.address(); a.IsValid() {
				to = a.String()
			}
			if to != c.to || got != c.refused {
				t.Errorf("sound goes to %q, want %q; refused %+v, want %+v", to, c.to, got, c.refused)
			}
		})
	}
}

// sound returns a packet with 20 ms of silence.
func sound() []byte {
	b := make([]byte, 12+frameSamples)
	b[0] = 0x80
	return b
}

// A host that sends to all sound ports before the far sides do captures no call, and its sound is not accepted.
func TestSprayedPortsCaptureNoCall(t *testing.T) {
	t.Parallel()
	const calls = 12
	var all []*Session
	var total Refused
	for range calls {
		own, far := listen(t, &net.ListenConfig{}, "127.0.0.1:0"), listen(t, &net.ListenConfig{}, "127.0.0.1:0")
		to := far.LocalAddr().(*net.UDPAddr).AddrPort()
		s, err := New(Options{Conn: own, Far: Far{Sound: to, Peer: to.Addr()}, Refused: &total})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		all = append(all, s)
	}
	stranger := listen(t, &net.ListenConfig{}, "127.0.0.66:0")
	for _, s := range all {
		if _, err := stranger.WriteTo(sound(), s.o.Conn.LocalAddr()); err != nil {
			t.Fatal(err)
		}
	}
	for end := time.Now().Add(2 * time.Minute); total.Total() < calls; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d packets arrived", total.Total())
		}
	}
	for i, s := range all {
		if _, n := s.Lost(); n > 0 || !s.Received().IsZero() || s.latch.address() != s.o.Far.Sound {
			t.Errorf("call %d: %d packets are heard, and its sound goes to %s", i, n, s.latch.address())
		}
	}
	if foreign := total.counts[Foreign].Load(); foreign != calls {
		t.Errorf("%d packets are counted as foreign", foreign)
	}
}

func TestSilenceLetsNobodyElseIn(t *testing.T) {
	inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
		a, b := pair(t, n, audio.Mu, false, plain)
		_ = a.Write(speech(time.Second))
		record(b, 300*time.Millisecond)
		before := b.latch.address()
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		_, packets := b.Lost()
		stranger := listen(t, n, "127.0.0.1:0")
		for range 5 {
			_, _ = stranger.WriteTo(sound(), b.o.Conn.LocalAddr())
		}
		time.Sleep(time.Second)
		if _, now := b.Lost(); now != packets || b.latch.address() != before || b.Refused() != 5 {
			t.Errorf("%d packets are heard and %d refused; sound goes to %s", now-packets, b.Refused(), b.latch.address())
		}
	})
}

func TestOnlyTheKeyBindsAnEncryptedCall(t *testing.T) {
	t.Parallel()
	key := make([]byte, 30)
	_, _ = rand.Read(key)
	peer, other := netip.MustParseAddrPort("203.0.113.9:7000"), netip.MustParseAddrPort("203.0.113.9:7002")
	s := &Session{jitter: newJitter(), latch: newLatch(Far{Peer: peer.Addr()})}
	if err := s.Rekey(key); err != nil {
		t.Fatal(err)
	}
	c, err := contextOf(key)
	if err != nil {
		t.Fatal(err)
	}
	encrypted, err := c.EncryptRTP(nil, sound(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s.take(sound(), other)
	if to := s.latch.address(); to.IsValid() {
		t.Errorf("a packet without the key has the sound sent to %s", to)
	}
	// Repeating a packet from elsewhere does not make the call drop its own packets.
	s.take(encrypted, netip.MustParseAddrPort("192.0.2.66:9000"))
	s.take(encrypted, peer)
	s.take(encrypted, peer)
	if to := s.latch.address(); to != peer {
		t.Errorf("sound goes to %s", to)
	}
	if _, n := s.Lost(); n != 1 || s.refused.counts[Unauthenticated].Load() != 2 {
		t.Errorf("%d packets are heard; of one without the key and a repeated one %d are refused", n,
			s.refused.counts[Unauthenticated].Load())
	}
}

func TestRTCPBindsNoCall(t *testing.T) {
	t.Parallel()
	peer := netip.MustParseAddrPort("203.0.113.9:7000")
	s := &Session{jitter: newJitter(), latch: newLatch(Far{Peer: peer.Addr()})}
	report := sound()
	report[1] = 200
	s.take(report, peer)
	if to := s.latch.address(); to.IsValid() || !s.Received().IsZero() {
		t.Errorf("a report has the sound sent to %s", to)
	}
}
