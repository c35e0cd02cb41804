package sip

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"carillon/internal/call/rtp/rtptest"
)

// After a re-INVITE with another key, packets with the previous key are rejected.
func TestAReinvitesKeyIsUsed(t *testing.T) {
	inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
		there, calls := answerer(t, Options{Network: n})
		here := engine(t, Options{Network: n})
		c, err := dial(t, here, Dial{Trunk: Trunk{Host: there.Address().String(), Transport: "udp", Encrypt: true}})
		if err != nil {
			t.Fatal(err)
		}
		far := await(t, calls)
		packets := func() int64 {
			time.Sleep(20 * time.Millisecond) // for packets in transit
			_, before := far.Lost()
			time.Sleep(300 * time.Millisecond)
			_, after := far.Lost()
			return after - before
		}
		if n := packets(); n < 14 {
			t.Fatalf("%d packets come with the first key", n)
		}
		if err := c.refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := packets(); n < 14 {
			t.Errorf("%d packets come with the same key", n)
		}
		c.own.keys[0].key = newKey() // the session does not send with it
		if err := c.refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := packets(); n != 0 {
			t.Errorf("%d packets are read by the key from before", n)
		}
		c.HangUp(t.Context())
	})
}

func TestASessionThatIsTooShortIsRefused(t *testing.T) {
	inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
		e := engine(t, Options{Network: n, OnCall: func(in *Incoming) { in.Refuse(486, "Busy Here") }})
		for expires, want := range map[int]string{30: "422 ", 89: "422 ", 90: "486 "} {
			conn, err := n.ListenPacket(t.Context(), "udp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			own := conn.LocalAddr().String()
			_, err = conn.WriteTo(fmt.Appendf(nil, "INVITE sip:1@%s SIP/2.0\r\nVia: SIP/2.0/UDP %s;branch=z9hG4bK%d\r\n"+
				"From: <sip:2@%s>;tag=1\r\nTo: <sip:1@%s>\r\n"+
				"Call-ID: c%d\r\nCSeq: 1 INVITE\r\nContact: <sip:2@%s>\r\nMax-Forwards: 70\r\nSupported: timer\r\nSession-Expires: "+
				"%d\r\nContent-Length: 0\r\n\r\n",
				e.Address(), own, expires, own, e.Address(), expires, own, expires), net.UDPAddrFromAddrPort(e.Address()))
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			for b := make([]byte, 4096); text == "" || strings.HasPrefix(text, "SIP/2.0 1"); {
				n, _, err := conn.ReadFrom(b)
				if err != nil {
					t.Fatal(expires, err)
				}
				text = string(b[:n])
			}
			if !strings.HasPrefix(text, "SIP/2.0 "+want) || want == "422 " && !strings.Contains(text, "Min-SE: 90\r\n") {
				t.Errorf("%d seconds: %s", expires, text)
			}
			_ = conn.Close()
		}
	})
}
