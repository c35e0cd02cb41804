package sip

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// notify reports the status of a call that a REFER asked for.
func notify(number int, state, status string) string {
	n := ask("NOTIFY", number, false, "Event: refer", "Subscription-State: "+state, "Content-Type: message/sipfrag;version=2.0")
	return strings.Replace(n, "\r\n\r\n", "\r\n\r\n"+status+"\r\n", 1)
}

func TestPeersAreReferred(t *testing.T) {
	t.Parallel()
	const active, over = "active;expires=60", "terminated;reason=noresource"
	accepted := []string{recv("REFER"), within("202 Accepted", false)}
	reports := func(number int, state, status string) []string {
		return []string{notify(number, state, status), recv("200")}
	}
	begins := slices.Concat(accepted, reports(2, active, "SIP/2.0 180 Ringing"))
	leaves := []string{ask("BYE", 8, false), recv("200")}
	released := []string{recv("BYE"), within("200 OK", false)}
	refuses := func(status string) []string { return []string{recv("REFER"), within(status, false)} }
	wrong := func(n, response string) []string { return []string{n, recv(response)} }
	for _, c := range []struct {
		name  string
		steps []string
		short bool   // the time of the REFER
		want  string // error, "" if the number took the call
		ended bool   // by the peer
	}{
		{"taken", slices.Concat(begins, reports(3, over, "SIP/2.0 200 OK"), released), false, "", false},
		{
			"taken after a silence", slices.Concat(
				begins, []string{pause(3 * time.Second)}, reports(3, over, "SIP/2.0 200 OK"), released,
			), false, "", false,
		},
		{"busy", slices.Concat(begins, reports(3, over, "SIP/2.0 486 Busy Here"), released), false, "unreached 486 Busy Here", false},
		{"declined itself", slices.Concat(refuses("603 Decline"), released), false, "refused 603 Decline", false},
		{"knows no REFER", slices.Concat(refuses("405 Method Not Allowed"), released), false, "refused 405 Method Not Allowed", false},
		{"no result in time", slices.Concat(begins, released), true, ErrUnreported.Error(), false},
		{"no report in time", slices.Concat(accepted, released), true, ErrUnreported.Error(), false},
		{
			"reports its end alone", slices.Concat(accepted, reports(2, over, "SIP/2.0 100 Trying"), released), false,
			ErrUnreported.Error(), false,
		},
		{"begins and hangs up", slices.Concat(begins, leaves), true, "", true},
		{"hangs up", slices.Concat(accepted, leaves), true, ErrOver.Error(), true},
		{"hangs up before the answer", slices.Concat(begins, leaves, reports(9, over, "SIP/2.0 200 OK")), false, "", true},
		{
			"hangs up before a failure", slices.Concat(begins, leaves, reports(9, over, "SIP/2.0 487 Request Terminated")), false,
			"unreached 487 Request Terminated", true,
		},
		{
			"reports what nobody understands", slices.Concat(
				accepted, wrong(strings.Replace(notify(2, active, "SIP/2.0 200 OK"), "refer", "presence", 1), "489"),
				wrong(notify(3, over, "200 OK"), "400"),
				wrong(strings.Replace(notify(4, over, "SIP/2.0 200 OK"), "message/sipfrag", "text/plain", 1), "400"),
				reports(5, over, "SIP/2.0 200 OK"), released,
			), false, "", false,
		},
		{
			"reports after the end", slices.Concat(
				accepted, reports(2, over, "SIP/2.0 486 Busy Here"), []string{pause(time.Second)},
				wrong(notify(3, over, "SIP/2.0 200 OK"), "481"), leaves,
			), false, "unreached 486 Busy Here", true,
		},
		{
			"reports about an earlier one too", slices.Concat(
				accepted, []string{strings.Replace(notify(2, over, "SIP/2.0 603 Decline"), "refer", "refer;id=0", 1), recv("200")},
				reports(3, over, "SIP/2.0 200 OK"), released,
			), false, "", false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			withPeers(t, func(t *testing.T, n Network) {
				o := Options{Network: n, Silent: 2 * time.Second}
				if c.short {
					o.Second = 100 * time.Millisecond
				}
				calls := make(chan *Call, 1)
				o.OnCall = func(in *Incoming) {
					go func() {
						call, err := in.Answer(context.Background(), nil)
						if err != nil {
							t.Error(err)
						}
						calls <- call
					}()
				}
				e := engine(t, o)
				s := caller(t, n, e, slices.Concat(invite(), c.steps)...)
				call := await(t, calls)
				err := Refer(t.Context(), call, Trunk{Host: "127.0.0.1:5070", Transport: "udp"}, "34600999888")
				var refused *Refused
				var unreached *Unreached
				got := fmt.Sprint(err)
				switch {
				case err == nil:
					got = ""
				case errors.As(err, &refused):
					got = "refused " + got
				case errors.As(err, &unreached):
					got = "unreached " + got
				case errors.Is(err, ErrUnreported):
					got = ErrUnreported.Error()
				}
				if got != c.want {
					t.Errorf("%q, not %q", got, c.want)
				}
				if !c.ended {
					if cause := call.Cause(); cause.By != "" {
						t.Errorf("the call is over: %+v", cause)
					}
					call.HangUp(t.Context())
				} else if cause := ended(t, call); cause.By != Them {
					t.Errorf("%+v", cause)
				}
				s.done()
				for _, header := range []string{"Refer-To: <sip:34600999888@127.0.0.1:5070>", "Referred-By: <sip:15555550100@127.0.0.1>"} {
					if !strings.Contains(s.exchanged(), header) {
						t.Errorf("the REFER has no %s", header)
					}
				}
			})
		})
	}
}

// A trunk may ask for its password within a call that it placed too.
func TestPeersWantAPasswordOfLaterRequests(t *testing.T) {
	t.Parallel()
	const challenge = `Digest realm="example.com", nonce="47364c23432d2e131a5fb210812c", algorithm=MD5, qop="auth"`
	for _, c := range []struct{ status, challenge, header string }{
		{"401 Unauthorized", "WWW-Authenticate: " + challenge, "Authorization"},
		{"407 Proxy Authentication Required", "Proxy-Authenticate: " + challenge, "Proxy-Authorization"},
	} {
		t.Run(c.status, func(t *testing.T) {
			withPeers(t, func(t *testing.T, n Network) {
				trunk := Trunk{Host: "127.0.0.1", Transport: "udp", Username: "robin", Password: "secret"}
				calls := make(chan *Call, 1)
				e := engine(t, Options{Network: n, OnCall: func(in *Incoming) {
					if err := in.Demand(trunk); err != nil {
						t.Error(err)
					}
					go func() {
						call, err := in.Answer(context.Background(), nil)
						if err != nil {
							t.Error(err)
						}
						calls <- call
					}()
				}})
				s := caller(t, n, e, slices.Concat(invite(), []string{
					recv("REFER"), within(c.status, false, c.challenge),
					recv("REFER"), within("202 Accepted", false),
					notify(2, "terminated;reason=noresource", "SIP/2.0 200 OK"), recv("200"),
					recv("BYE"), within(c.status, false, c.challenge),
					recv("BYE"), within("200 OK", false),
				})...)
				call := await(t, calls)
				if err := Refer(t.Context(), call, trunk, "34600999888"); err != nil {
					t.Error(err)
				}
				call.HangUp(t.Context())
				s.done()
				checkDigests(t, s.exchanged(), c.header, "REFER BYE ")
			})
		})
	}
}
