package sip

import (
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"carillon/internal/call/rtp/rtptest"
)

// ofInvite makes a response refer to the INVITE rather than to the last request.
func ofInvite(step string) string { return strings.Replace(step, "[last_CSeq:]", "CSeq: 1 INVITE", 1) }

func TestPeersRingWithoutAnAnswer(t *testing.T) {
	withPeers(t, func(t *testing.T, n Network) {
		s := callee(t, n, nil, recv("INVITE"), reply("100 Trying", false), reply("180 Ringing", false), recv("CANCEL"),
			reply("200 OK", false),
			ofInvite(reply("487 Request Terminated", false)), recv("ACK"))
		e := engine(t, Options{Network: n})
		const ring = 5 * time.Second
		begin := time.Now()
		_, err := dial(t, e, Dial{Trunk: s.trunk(), Ring: ring})
		if took := time.Since(begin); !errors.Is(err, ErrUnanswered) || n != nil && (took < ring || took > ring+time.Second) {
			t.Errorf("%v after %v", err, took)
		}
		s.done()
	})
}

// The far side answers at the moment at which the call is canceled.
func TestPeersAnswerACallThatIsCanceled(t *testing.T) {
	withPeers(t, func(t *testing.T, n Network) {
		s := callee(t, n, nil, recv("INVITE"), reply("180 Ringing", false), recv("CANCEL"), reply("200 OK", false),
			ofInvite(reply("200 OK", true)), recv("ACK"), recv("BYE"), within("200 OK", false))
		e := engine(t, Options{Network: n})
		ctx, cancel := context.WithCancel(t.Context())
		c, err := e.Dial(ctx, Dial{Trunk: s.trunk(), To: "1", From: "2", OnRinging: func(int, string) { cancel() }})
		if c != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("%v, %v", c, err)
		}
		s.done()
	})
}

func TestPeersAnswerTwice(t *testing.T) {
	t.Parallel()
	bye := []string{recv("BYE"), within("200 OK", false)}
	for _, c := range []struct {
		name, tag string
		byes      int
	}{{"the same", "", 1}, {"two telephones", "other", 2}} {
		t.Run(c.name, func(t *testing.T) {
			withPeers(t, func(t *testing.T, n Network) {
				steps := []string{invited, reply("200 OK", true), recv("ACK"), answerAgain(c.tag), recv("ACK")}
				for range c.byes {
					steps = append(steps, bye...)
				}
				s := callee(t, n, nil, steps...)
				call, err := dial(t, engine(t, Options{Network: n}), Dial{Trunk: s.trunk()})
				if err != nil {
					t.Fatal(err)
				}
				answered := func(x string) bool {
					return strings.Count(x, "ACK sip:") == 2 && strings.Count(x, "BYE sip:") == c.byes-1
				}
				for end := time.Now().Add(hung); !answered(s.exchanged()); time.Sleep(10 * time.Millisecond) {
					if time.Now().After(end) {
						t.Fatal("the second answer is not acknowledged, or not ended")
					}
				}
				call.HangUp(t.Context())
				s.done()
				_, x, _ := strings.Cut(s.exchanged(), "\nBYE ")
				if first, second, _ := strings.Cut(x, "\nBYE "); c.byes == 2 &&
					(!strings.Contains(first, "x1other") || strings.Contains(second, "x1other")) {
					t.Errorf("the first BYE is not of the other telephone:\n%s", x)
				}
			})
		})
	}
}

func TestPeersWantAPassword(t *testing.T) {
	t.Parallel()
	const realm = `Digest realm="example.com", nonce="47364c23432d2e131a5fb210812c", algorithm=MD5`
	const unauthorized, proxy = "401 Unauthorized", "407 Proxy Authentication Required"
	for _, c := range []struct {
		name, status, challenge, header string
		good                            bool
	}{
		{"401", unauthorized, `WWW-Authenticate: ` + realm, "Authorization", true},
		{"401 by qop", unauthorized, `WWW-Authenticate: ` + realm + `, qop="auth"`, "Authorization", true},
		{"401 refused", unauthorized, `WWW-Authenticate: ` + realm, "Authorization", false},
		{"407", proxy, `Proxy-Authenticate: ` + realm + `, qop="auth"`, "Proxy-Authorization", true},
		{"407 refused", proxy, `Proxy-Authenticate: ` + realm, "Proxy-Authorization", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			withPeers(t, func(t *testing.T, n Network) {
				steps := []string{recv("INVITE"), reply(c.status, false, c.challenge), recv("ACK"), recv("INVITE")}
				if c.good { // it asks for the password of the BYE too
					steps = append(steps, reply("200 OK", true), recv("ACK"), recv("BYE"), within(c.status, false, c.challenge),
						recv("BYE"), within("200 OK", false))
				} else {
					steps = append(steps, reply(c.status, false, c.challenge), recv("ACK"))
				}
				s := callee(t, n, nil, steps...)
				trunk := s.trunk()
				trunk.Username, trunk.Password = "robin", "secret"
				call, err := dial(t, engine(t, Options{Network: n}), Dial{Trunk: trunk})
				var refused *Refused
				switch {
				case c.good && err == nil:
					call.HangUp(t.Context())
				case !c.good && errors.As(err, &refused) && strings.HasPrefix(c.status, fmt.Sprint(refused.Code)):
				default:
					t.Errorf("%v", err)
				}
				s.done()
				checkDigests(t, s.exchanged(), c.header, map[bool]string{true: "INVITE ACK BYE ", false: "INVITE "}[c.good])
			})
		})
	}
}

// checkDigests computes the expected digests of the requests. want has the methods of those with one.
func checkDigests(t *testing.T, exchanged, header, want string) {
	t.Helper()
	hash := func(s string) string { return fmt.Sprintf("%x", md5.Sum([]byte(s))) }
	methods := ""
	for m := range strings.SplitSeq(strings.ReplaceAll(exchanged, "\r", ""), "message received") {
		_, value, ok := strings.Cut(m, "\n"+header+": ")
		if !ok {
			continue
		}
		_, m, _ = strings.Cut(m, "\n\n")
		method, _, _ := strings.Cut(strings.TrimSpace(m), " ")
		methods += method + " "
		value, _, _ = strings.Cut(value, "\n")
		p := map[string]string{}
		for one := range strings.SplitSeq(strings.TrimPrefix(strings.TrimSpace(value), "Digest "), ",") {
			name, v, _ := strings.Cut(strings.TrimSpace(one), "=")
			p[name] = strings.Trim(v, `"`)
		}
		of := method
		if method == "ACK" {
			of = "INVITE"
		}
		a, b := hash("robin:example.com:secret"), hash(of+":"+p["uri"])
		response := hash(a + ":" + p["nonce"] + ":" + b)
		if p["qop"] != "" {
			response = hash(strings.Join([]string{a, p["nonce"], p["nc"], p["cnonce"], p["qop"], b}, ":"))
		}
		if p["response"] != response || p["username"] != "robin" {
			t.Errorf("%s has %s, not %s", method, value, response)
		}
	}
	if methods != want {
		t.Errorf("passwords in %q, not %q", methods, want)
	}
}

// With a redirection, others could choose the number, which costs money, and the recipient of a response to a
// challenge.
func TestPeersSendElsewhere(t *testing.T) {
	t.Parallel()
	for _, moved := range []string{
		"300 Multiple Choices", "301 Moved Permanently", "302 Moved Temporarily", "305 Use Proxy", "380 Alternative Service",
	} {
		t.Run(moved, func(t *testing.T) {
			withPeers(t, func(t *testing.T, n Network) {
				other := engine(t, Options{Network: n, OnCall: func(in *Incoming) {
					t.Error("the other one is called")
					in.Refuse(486, "Busy Here")
				}})
				const own = "Contact: <sip:peer@[local_ip]:[local_port];transport=[transport]>"
				elsewhere := "Contact: <sip:19005550100@" + other.Address().String() + ">"
				s := callee(t, n, nil, recv("INVITE"), strings.Replace(reply(moved, false), own, elsewhere, 1), recv("ACK"))
				trunk := s.trunk()
				trunk.Username, trunk.Password = "robin", "secret"
				var refused *Refused
				if _, err := dial(t, engine(t, Options{Network: n}), Dial{Trunk: trunk}); !errors.As(err, &refused) ||
					refused.Error() != moved {
					t.Errorf("%v, want %s", err, moved)
				}
				s.done()
			})
		})
	}
}

// A proxy named in the answer, through which the call's requests go, asks for the password of the BYE.
func TestAProxyOnTheWayGetsNoPassword(t *testing.T) {
	inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
		const challenge = `Proxy-Authenticate: Digest realm="example.com", nonce="1", algorithm=MD5`
		proxy := callee(t, n, nil, recv("ACK"), recv("BYE"), within("407 Proxy Authentication Required", false, challenge), recv("BYE"))
		// The in-memory network only distinguishes ports.
		at := strings.Replace(proxy.trunk().Host, "127.0.0.1", "127.0.0.9", 1)
		s := callee(t, n, nil, recv("INVITE"), reply("200 OK", true, "Record-Route: <sip:"+at+";lr>"))
		trunk := s.trunk()
		trunk.Username, trunk.Password = "robin", "secret"
		c, err := dial(t, engine(t, Options{Network: n}), Dial{Trunk: trunk})
		if err != nil {
			t.Fatal(err)
		}
		c.HangUp(t.Context())
		if x := proxy.exchanged(); strings.Contains(x, "Authorization") || strings.Count(x, "BYE sip:") != 1 {
			t.Errorf("the proxy gets the password:\n%s", x)
		}
	})
}

func TestPeersWantALongerSession(t *testing.T) {
	withPeers(t, func(t *testing.T, n Network) {
		s := callee(t, n, nil, recv("INVITE"), reply("422 Session Interval Too Small", false, "Min-SE: 3600"), recv("ACK"),
			recv("INVITE"), reply("200 OK", true), recv("ACK"), recv("BYE"), within("200 OK", false))
		c, err := dial(t, engine(t, Options{Network: n}), Dial{Trunk: s.trunk()})
		if err != nil {
			t.Fatal(err)
		}
		c.HangUp(t.Context())
		s.done()
		if x := s.exchanged(); !strings.Contains(x, "Session-Expires: 3600") || strings.Count(x, "Min-SE: 3600") < 2 {
			t.Error(x)
		}
	})
}

// The first response arrives after the call was given up: nobody stays on the line.
func TestPeersRespondTooLate(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string][]string{
		"answered": {reply("200 OK", true), recv("ACK"), recv("BYE"), within("200 OK", false)},
		"rings": {
			reply("180 Ringing", false), recv("CANCEL"), reply("200 OK", false), ofInvite(reply("487 Request Terminated", false)),
			recv("ACK"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			withPeers(t, func(t *testing.T, n Network) {
				s := callee(t, n, nil, append([]string{recv("INVITE"), pause(1500 * time.Millisecond)}, steps...)...)
				e := engine(t, Options{Network: n})
				e.patience = 100 * time.Millisecond
				if _, err := dial(t, e, Dial{Trunk: s.trunk()}); !errors.Is(err, ErrUnreachable) {
					t.Error(err)
				}
				s.done()
			})
		})
	}
}
