package sip

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"carillon/internal/base/need"
	"carillon/internal/call/rtp"
)

func dial(t *testing.T, e *Engine, d Dial) (*Call, error) {
	t.Helper()
	d.To, d.From = "15555550100", "15555550101"
	ctx, cancel := context.WithTimeout(t.Context(), hung)
	defer cancel()
	return e.Dial(ctx, d)
}

// ended waits for the end of a call.
func ended(t *testing.T, c *Call) Cause {
	t.Helper()
	select {
	case <-c.Done():
	case <-time.After(hung):
		t.Error("the call goes on")
		c.HangUp(context.Background())
	}
	return c.Cause()
}

func TestPeersRefuse(t *testing.T) {
	withPeers(t, func(t *testing.T, n Network) {
		// Every row of docs/reference/calls.md, and other statuses that telephone companies send.
		codes := []int{
			400, 403, 404, 408, 410, 480, 484, 486, 487, 488, 500, 502, 503, 504, 600, 603, 604, 606, 607, 608, 402, 415, 420, 481,
		}
		var steps []string
		for _, code := range codes { // all are one call to sipp, since they have the same Call-ID
			steps = append(steps, recv("INVITE"), reply("100 Trying", false), reply(fmt.Sprintf("%d Because", code), false), recv("ACK"))
		}
		s := callee(t, n, nil, steps...)
		e := engine(t, Options{Network: n})
		for _, code := range codes {
			_, err := dial(t, e, Dial{Trunk: s.trunk(), CallID: "all"})
			var refused *Refused
			if !errors.As(err, &refused) || refused.Code != code || refused.Reason != "Because" {
				t.Errorf("%d: %v", code, err)
			}
		}
		s.done()
	})
}

func TestPeersPlayAnAnnouncementThenRefuse(t *testing.T) {
	withPeers(t, func(t *testing.T, n Network) {
		steps := []string{recv("INVITE")}
		for range 12 {
			steps = append(steps, reply("183 Session Progress", true), pause(10*time.Millisecond))
		}
		s := callee(t, n, []string{"-rtp_echo"}, append(steps, pause(400*time.Millisecond), reply("486 Busy Here", false), recv("ACK"))...)
		e := engine(t, Options{Network: n})
		progress, early := 0, (*rtp.Session)(nil)
		_, err := dial(t, e, Dial{
			Trunk: s.trunk(), OnRinging: func(int, string) { progress++ }, OnEarly: func(x *rtp.Session) { early = x },
		})
		var refused *Refused
		if !errors.As(err, &refused) || refused.Code != 486 || progress != 12 {
			t.Errorf("%v after %d", err, progress)
		}
		if early == nil {
			t.Error("no sound came early")
		} else if _, packets := early.Lost(); n != nil && packets < 15 {
			t.Errorf("%d packets came early", packets)
		}
		s.done()
	})
}

func TestPeersHangUp(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"udp", "tcp"} {
		for _, who := range []By{Us, Them} {
			t.Run(transport+", "+string(who), func(t *testing.T) {
				if transport == "tcp" {
					need.Sound(t)
					t.Parallel()
					hangUp(t, nil, transport, who)
					return
				}
				withPeers(t, func(t *testing.T, n Network) { hangUp(t, n, transport, who) })
			})
		}
	}
}

func hangUp(t *testing.T, n Network, transport string, who By) {
	t.Helper()
	steps := []string{invited, reply("180 Ringing", false), pause(30 * time.Millisecond), reply("200 OK", true), recv("ACK")}
	if who == Them {
		steps = append(steps, pause(100*time.Millisecond), ask("BYE", 2, false, "Reason: Q.850;cause=16"), recv("200"))
	} else {
		steps = append(steps, recv("BYE"), within("200 OK", false))
	}
	s := callee(t, n, []string{"-t", transport[:1] + "1"}, steps...)
	e := engine(t, Options{Network: n})
	trunk := s.trunk()
	trunk.Transport = transport
	c, err := dial(t, e, Dial{Trunk: trunk})
	if err != nil {
		t.Fatal(err)
	}
	if who == Us {
		c.HangUp(t.Context())
	}
	if cause := ended(t, c); cause.By != who || who == Them && cause.Text != "BYE, Q.850;cause=16" {
		t.Errorf("%+v", cause)
	}
	s.done()
}

// A trunk that identifies customers by address sees our requests come from the port that we name.
func TestRequestsLeaveFromOurPort(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.1:0", "0.0.0.0:0", ":0"} {
		trunk, err := net.ListenPacket("udp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer trunk.Close()
		e := engine(t, Options{Address: address})
		ctx, cancel := context.WithTimeout(t.Context(), hung)
		defer cancel()
		go func() { _, _, _ = e.Check(ctx, Trunk{Host: trunk.LocalAddr().String(), Transport: "udp"}) }()
		b := make([]byte, 4096)
		n, from, err := trunk.ReadFrom(b)
		if err != nil {
			t.Fatal(err)
		}
		own := fmt.Sprintf("127.0.0.1:%d", e.Address().Port())
		if from.String() != own {
			t.Errorf("%s: from %s, not %s", address, from, own)
		}
		for _, want := range []string{"Via: SIP/2.0/UDP " + own + ";branch=z9hG4bK", ";rport\r\n", "@" + own + ">"} {
			if !strings.Contains(string(b[:n]), want) {
				t.Errorf("%s: no %q in\n%s", address, want, b[:n])
			}
		}
	}
}
