package sip

import (
	"context"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"carillon/internal/base/audio/audiotest"
	"carillon/internal/base/need"
	"carillon/internal/call/sip/siptest"
)

// mostly is the share of a sound that must arrive on a busy machine.
const mostly = 0.5

// heardIn returns the share of the sent sound, in pieces of 0.2 s, that a recording contains. A busy machine loses
// some; later pieces are found nevertheless.
func heardIn(recording, said []int16) float64 {
	const piece = 1600
	found, all := 0.0, 0.0
	for ; len(said) >= piece; said = said[piece:] {
		_, shift := audiotest.Correlate(said[:piece], recording)
		from := min(max(0, shift), len(recording))
		if ncc, _ := audiotest.Correlate(said[:piece], recording[from:min(from+piece, len(recording))]); ncc >= 0.8 {
			found++
		}
		all++
	}
	return found / all
}

// lossy loses one of twenty packets in each direction, and reorders others.
type lossy struct {
	net.PacketConn
	in, out ill
}

// badNetwork is the system's network, except that it loses sound.
type badNetwork struct {
	net.ListenConfig
	signals bool   // the SIP socket, which is opened first, is open
	sound   *lossy // of the only call
}

// ListenPacket implements Network.
func (n *badNetwork) ListenPacket(ctx context.Context, network, address string) (net.PacketConn, error) {
	c, err := n.ListenConfig.ListenPacket(ctx, network, address)
	if err != nil || !n.signals {
		n.signals = err == nil
		return c, err
	}
	n.sound = newLossy(c)
	return n.sound, nil
}

// ill is one direction of it.
type ill struct {
	mu                       sync.Mutex
	rand                     *mathrand.Rand
	held                     []byte
	address                  net.Addr
	packets, lost, exchanged int
	next                     int // index of the packet to lose
}

func newLossy(c net.PacketConn) *lossy {
	return &lossy{PacketConn: c, in: ill{rand: mathrand.New(mathrand.NewPCG(5, 6))}, out: ill{rand: mathrand.New(mathrand.NewPCG(7, 8))}}
}

// fate decides about the next packet.
func (i *ill) fate() (lose, hold bool) {
	if i.packets%20 == 0 {
		i.next = i.packets + i.rand.IntN(20)
	}
	if lose, hold = i.packets == i.next, i.rand.Float64() < 0.1; lose {
		i.lost++
	} else if hold {
		i.exchanged++
	}
	i.packets++
	return lose, hold
}

// ReadFrom implements net.PacketConn.
func (l *lossy) ReadFrom(b []byte) (int, net.Addr, error) {
	i := &l.in
	if i.held != nil {
		n := copy(b, i.held)
		i.held = nil
		return n, i.address, nil
	}
	for {
		n, from, err := l.PacketConn.ReadFrom(b)
		if err != nil {
			return n, from, err
		}
		i.mu.Lock()
		lose, hold := i.fate()
		i.mu.Unlock()
		switch {
		case lose:
			continue
		case hold:
			first := append([]byte(nil), b[:n]...)
			if n, from, err = l.PacketConn.ReadFrom(b); err == nil {
				i.held, i.address = first, from
			}
		}
		return n, from, err
	}
}

// WriteTo implements net.PacketConn.
func (l *lossy) WriteTo(b []byte, to net.Addr) (int, error) {
	i := &l.out
	i.mu.Lock()
	defer i.mu.Unlock()
	switch lose, hold := i.fate(); {
	case lose:
		return len(b), nil
	case hold && i.held == nil:
		i.held = append([]byte(nil), b...)
		return len(b), nil
	}
	n, err := l.PacketConn.WriteTo(b, to)
	if i.held != nil && err == nil {
		_, err = l.PacketConn.WriteTo(i.held, to)
		i.held = nil
	}
	return n, err
}

// was returns the percentages of lost and reordered packets.
func (i *ill) was() (lost, exchanged float64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	all := float64(max(i.packets, 1)) / 100
	return float64(i.lost) / all, float64(i.exchanged) / all
}

// bareCase is a kind of call.
type bareCase struct {
	name, transport, account string
	encrypt, lossy           bool
}

func TestBaresipTalks(t *testing.T) {
	need.Sound(t)
	t.Parallel()
	for _, c := range []bareCase{
		{"udp", "udp", "", false, false},
		{"tcp, A-law", "tcp", ";audio_codecs=PCMA", false, false},
		{"encrypted", "udp", ";mediaenc=srtp-mand", true, false},
		{"tls, encrypted", "tls", ";mediaenc=srtp-mand", true, false},
		{"in a bad network", "udp", "", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			heard, said := c.talk(t)
			if heard < mostly || said < mostly {
				t.Errorf("%.2f of its sound is heard, %.2f of ours", heard, said)
			}
		})
	}
}

// talk makes a call, and measures the sound of both sides.
func (c bareCase) talk(t *testing.T) (heard, said float64) {
	t.Helper()
	theirs, ours := tone(4*time.Second, 3), tone(1200*time.Millisecond, 9)
	b := siptest.NewBaresip(t, "peer", theirs, c.account)
	o := Options{}
	trunk := Trunk{Host: fmt.Sprintf("127.0.0.1:%d", b.Port), Transport: c.transport, Encrypt: c.encrypt}
	if c.transport == "tls" {
		o.TLS, o.TLSFiles = "127.0.0.1:0", siptest.Certificate(t, "")
		trunk.Host = fmt.Sprintf("127.0.0.1:%d", b.Port+1)
	}
	network := &badNetwork{}
	if c.lossy {
		o.Network = network
	}
	e := engine(t, o)
	var mu sync.Mutex
	var got []int16
	call, err := e.Dial(t.Context(), Dial{Trunk: trunk, To: "peer", From: "15555550101", OnFrame: func(in, _ []int16) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, in...)
	}})
	if err != nil {
		t.Fatal(err)
	}
	_ = call.Write(ours)
	sound := func() []int16 {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(got)
	}
	until := func(what string, is func() bool) {
		for end := time.Now().Add(hung); !is(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("does not come: ", what)
			}
		}
	}
	// A frame is sent for each one received.
	until("the end of our sound", func() bool { return len(sound()) >= len(ours)+1600 })
	call.SendDigits("42#")
	for _, key := range "7*" {
		b.Press(key)
		select {
		case d := <-call.Digits():
			if d != key {
				t.Errorf("the key %c, not %c", d, key)
			}
		case <-time.After(hung):
			t.Errorf("the key %c does not come", key)
		}
	}
	for _, digit := range []string{"4", "2", "#"} {
		if !b.Shows("received event: '" + digit + "' (end=1)") {
			t.Errorf("the digit %s was not heard", digit)
		}
	}
	until("its sound, which begins when its thread runs", func() bool {
		heard = heardIn(sound(), theirs[:8000])
		return heard >= mostly
	})
	call.HangUp(t.Context())
	if cause := call.Cause(); cause.By != Us || call.Encrypted() != c.encrypt {
		t.Errorf("%+v, encrypted %v", cause, call.Encrypted())
	}
	if c.lossy {
		for name, way := range map[string]*ill{"come": &network.sound.in, "go": &network.sound.out} {
			if lost, exchanged := way.was(); lost < 3 || exchanged < 1 {
				t.Errorf("of the packets that %s %.1f %% were lost and %.1f %% exchanged", name, lost, exchanged)
			} else {
				t.Logf("of the packets that %s %.1f %% were lost and %.1f %% exchanged", name, lost, exchanged)
			}
		}
	}
	return heard, heardIn(b.Heard(), ours)
}
