package sip

import (
	"errors"
	"net"
	"net/netip"
	"testing"
)

func TestATrunkOfAMemberIsAtPublicAddressesAlone(t *testing.T) {
	t.Parallel()
	calls := make(chan string, 10)
	far := engine(t, Options{OnCall: func(in *Incoming) {
		calls <- in.To
		in.Refuse(486, "Busy Here")
	}})
	port := far.Address().String()[len("127.0.0.1"):]
	closed, open := engine(t, Options{}), engine(t, Options{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	for _, host := range []string{"127.0.0.1", "localhost", "10.0.0.1", "169.254.169.254", "[::1]", "0.0.0.0"} {
		for _, transport := range []string{"udp", "tcp", "tls"} {
			trunk := Trunk{Host: host + port, Transport: transport, Public: true}
			if _, err := dial(t, closed, Dial{Trunk: trunk}); !errors.Is(err, ErrDenied) {
				t.Errorf("%s over %s is called: %v", host, transport, err)
			}
			if h := closed.Ask(t.Context(), trunk, hung); !errors.Is(h.Err, ErrDenied) {
				t.Errorf("%s over %s is asked: %v", host, transport, h.Err)
			}
		}
	}
	if len(calls) > 0 {
		t.Errorf("%d calls arrived", len(calls))
	}
	if err := Admit(t.Context(), Trunk{Host: "nowhere.invalid", Transport: "udp", Public: true}, nil); !errors.Is(err, ErrUnreachable) {
		t.Error(err)
	}
	for _, transport := range []string{"udp", "tcp"} {
		trunk := Trunk{Host: "localhost" + port, Transport: transport, Public: true}
		var refused *Refused
		if _, err := dial(t, open, Dial{Trunk: trunk}); !errors.As(err, &refused) || refused.Code != 486 {
			t.Errorf("%s: %v", transport, err)
		}
		if h := open.Ask(t.Context(), trunk, hung); h.Err != nil || h.Code == 0 {
			t.Errorf("%s: %+v", transport, h)
		}
		if h := open.Health(trunk); h.Code == 0 || h.At.IsZero() {
			t.Errorf("%s: %+v", transport, h)
		}
	}
}

// A proxy that such a trunk names does not receive the requests within a call.
func TestACallOfAMemberStaysWithItsTrunk(t *testing.T) {
	withPeers(t, func(t *testing.T, n Network) {
		sockets := n
		if sockets == nil {
			sockets = &net.ListenConfig{}
		}
		inside, err := sockets.ListenPacket(t.Context(), "udp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer inside.Close()
		routed := reply("200 OK", true, "Record-Route: <sip:"+inside.LocalAddr().String()+";lr>")
		s := callee(t, n, nil, recv("INVITE"), routed, recv("ACK"), recv("BYE"), reply("200 OK", false))
		e := engine(t, Options{Network: n, AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
		trunk := s.trunk()
		trunk.Public = true
		c, err := dial(t, e, Dial{Trunk: trunk})
		if err != nil {
			t.Fatal(err)
		}
		c.HangUp(t.Context())
		s.done()
		// The first packet that arrives there must be this one.
		if _, err := inside.WriteTo([]byte("nothing before"), inside.LocalAddr()); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 1500)
		if n, _, err := inside.ReadFrom(b); err != nil || string(b[:n]) != "nothing before" {
			t.Errorf("%q arrived elsewhere, %v", b[:n], err)
		}
	})
}

func TestSoundOfAMembersCallStaysOutside(t *testing.T) {
	t.Parallel()
	e := &Engine{o: Options{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}}}
	for address, good := range map[string]bool{
		"9.9.9.9": true, "10.1.2.3": true, "10.2.2.3": false, "127.0.0.1": false, "169.254.169.254": false, "::ffff:10.2.2.3": false,
	} {
		far := &description{address: netip.MustParseAddr(address), port: 4000}
		if to := (&dialog{e: e, confined: true}).soundAt(far); to.IsValid() != good {
			t.Errorf("sound to %s goes to %s", address, to)
		}
		if to := (&dialog{e: e}).soundAt(far); to != far.remote() {
			t.Errorf("sound to %s of an operator's trunk goes to %s", address, to)
		}
	}
	nowhere := &description{address: netip.IPv4Unspecified(), port: 4000}
	if to := (&dialog{e: e}).soundAt(nowhere); to.IsValid() {
		t.Errorf("sound of a call that is held goes to %s", to)
	}
}

func TestOneTrunkHasSeveralNames(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		one, other string
		same       bool
	}{
		{"sip.example.com", "SIP.example.com:5070", true},
		{"127.0.0.1:5060", "127.0.0.1", true},
		{"[::1]:5060", "[::1]", true},
		{"127.0.0.1", "localhost", true},
		{"127.0.0.1", "127.0.0.2", false},
		{"127.0.0.1", "carillon.invalid", false},
	} {
		a, b := Trunk{Host: x.one, Transport: "udp"}, Trunk{Host: x.other, Transport: "tls"}
		if SameTrunk(t.Context(), a, b) != x.same || SameTrunk(t.Context(), b, a) != x.same {
			t.Errorf("%s and %s", x.one, x.other)
		}
	}
}

// The host that signals a call may also send its sound, regardless of the address in its SDP.
func TestTheHostThatSignalsIsAPeer(t *testing.T) {
	t.Parallel()
	e := &Engine{}
	inside := &description{address: netip.MustParseAddr("192.168.1.5"), port: 4000, version: 7}
	for source, want := range map[string]string{
		"203.0.113.9:5060": "203.0.113.9", "[2001:db8::9]:5061": "2001:db8::9", "trunk.example.com:5060": "", "": "",
	} {
		got := ""
		f := (&dialog{e: e, confined: true}).farOf(inside, source)
		if f.Peer.IsValid() {
			got = f.Peer.String()
		}
		if got != want || f.Sound.IsValid() || f.Version != 7 {
			t.Errorf("of %q: %+v", source, f)
		}
	}
}
