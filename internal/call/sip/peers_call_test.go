package sip

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// 35 minutes of a call, scaled to 2.1 seconds.
func TestPeersKeepASession(t *testing.T) {
	t.Parallel()
	const second = time.Millisecond
	const expires = "Session-Expires: 1800;refresher="
	answer := func(by string) []string {
		return []string{reply("200 OK", true, "Require: timer", expires+by), recv("ACK")}
	}
	refreshed := []string{recv("INVITE"), within("200 OK", true, expires+"uac"), recv("ACK")}
	bye := []string{pause(300 * second), ask("BYE", 9, false), recv("200")}
	refresh := func(method string, number int) []string {
		return []string{pause(900 * second), ask(method, number, method == "INVITE", "Supported: timer", expires+"uac"), recv("200")}
	}
	for _, c := range []struct {
		name  string
		steps [][]string
		least time.Duration
		by    By
	}{
		{"we refresh", [][]string{answer("uac"), refreshed, refreshed, bye}, 2000 * second, Them},
		{"both refresh at once", [][]string{answer("uac"), glare(), refreshed, bye}, 1100 * second, Them},
		{
			"the peer refreshes", [][]string{
				answer("uas"), refresh("UPDATE", 2), refresh("INVITE", 3), {acknowledge(3)}, bye,
			}, 2000 * second, Them,
		},
		{"the peer has gone", [][]string{answer("uas"), {recv("BYE"), within("200 OK", false)}}, 1700 * second, System},
		{"no refresh is answered", [][]string{
			answer("uac"), {recv("INVITE"), within("481 Gone", false), recv("ACK"), recv("BYE"), within("200 OK", false)},
		}, 850 * second, System},
	} {
		t.Run(c.name, func(t *testing.T) {
			withPeers(t, func(t *testing.T, n Network) {
				s := callee(t, n, nil, append([]string{invited}, slices.Concat(c.steps...)...)...)
				call, err := dial(t, engine(t, Options{Network: n, Second: second}), Dial{Trunk: s.trunk()})
				if err != nil {
					t.Fatal(err)
				}
				begin := time.Now()
				cause := ended(t, call)
				if took := time.Since(begin); cause.By != c.by || n != nil && (took < c.least || took > c.least+200*second) {
					t.Errorf("%+v after %v", cause, took)
				}
				s.done()
			})
		})
	}
}

// glare makes the peer change the session at the same time as we do. Each side refuses the other's change, and we
// retry.
func glare() []string {
	// The ACK of a refusal is within the INVITE's transaction.
	ack := strings.Replace(acknowledge(2), "branch=[branch]", "branch=[branch-2]", 1)
	refuse := send("SIP/2.0 491 Request "+
		"Pending\r\nVia:[$ours]\r\nFrom:[$them]\r\nTo:[$us];tag=[pid]x[call_number]\r\n[last_Call-ID:]\r\nCSeq:[$number]\r\n", false)
	return []string{
		`<recv request="INVITE"><action><ereg regexp=".*" search_in="hdr" header="Via:" assign_to="ours"/>` +
			`<ereg regexp=".*" search_in="hdr" header="CSeq:" assign_to="number"/></action></recv>`,
		ask("INVITE", 2, true), recv("491"), ack, refuse, recv("ACK"),
	}
}

func TestPeersHold(t *testing.T) {
	withPeers(t, func(t *testing.T, n Network) {
		sending := func(step, direction string) string {
			return strings.Replace(step, sippSound, sippSound+"a="+direction+"\r\n", 1)
		}
		s := callee(t, n, []string{"-rtp_echo"}, invited, reply("200 OK", true), recv("ACK"), pause(300*time.Millisecond),
			sending(ask("INVITE", 2, true), "sendonly"), recv("200"), acknowledge(2), pause(500*time.Millisecond),
			sending(ask("INVITE", 3, true), "sendrecv"), recv("200"), acknowledge(3), recv("BYE"), within("200 OK", false))
		c, err := dial(t, engine(t, Options{Network: n}), Dial{Trunk: s.trunk()})
		if err != nil {
			t.Fatal(err)
		}
		until := func(held bool) {
			t.Helper()
			for end := time.Now().Add(hung); c.Held() != held; time.Sleep(5 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("held %v", !held)
				}
			}
		}
		until(true)
		time.Sleep(100 * time.Millisecond)
		_, before := c.Lost()
		time.Sleep(200 * time.Millisecond)
		if _, after := c.Lost(); n != nil && (before < 10 || after > before) {
			t.Errorf("%d packets before it was held, %d then", before, after)
		}
		until(false)
		if n != nil {
			time.Sleep(300 * time.Millisecond)
			if _, after := c.Lost(); after < before+10 {
				t.Errorf("%d packets come once it is not held any more", after-before)
			}
		}
		c.HangUp(t.Context())
		s.done()
		if x := s.exchanged(); !strings.Contains(x, "a=recvonly") {
			t.Error(x)
		}
	})
}

// A peer sends no sound: the call ends, unless the peer holds it.
func TestPeersAreSilent(t *testing.T) {
	t.Parallel()
	const most = 300 * time.Millisecond
	t.Run("gone", func(t *testing.T) {
		withPeers(t, func(t *testing.T, n Network) {
			s := callee(t, n, nil, invited, reply("200 OK", true), recv("ACK"), recv("BYE"), within("200 OK", false))
			c, err := dial(t, engine(t, Options{Network: n, Silent: most}), Dial{Trunk: s.trunk()})
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			cause := ended(t, c)
			if took := time.Since(begin); cause.By != System || !strings.HasPrefix(cause.Text, "no sound came") ||
				n != nil && took < most/2 {
				t.Errorf("%+v after %v", cause, took)
			}
			s.done()
		})
	})
	t.Run("held", func(t *testing.T) {
		withPeers(t, func(t *testing.T, n Network) {
			held := strings.Replace(reply("200 OK", true), sippSound, sippSound+"a=inactive\r\n", 1)
			s := callee(t, n, nil, invited, held, recv("ACK"), pause(4*most), ask("BYE", 2, false), recv("200"))
			c, err := dial(t, engine(t, Options{Network: n, Silent: most}), Dial{Trunk: s.trunk()})
			if err != nil {
				t.Fatal(err)
			}
			if cause := ended(t, c); cause.By != Them {
				t.Errorf("%+v", cause)
			}
			s.done()
		})
	})
}
