package sip

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/emiago/sipgo/sip"
	"github.com/icholy/digest"

	"carillon/internal/call/sip/siptest"
)

// answer returns the Authorization header with a user's answer to one of the challenges.
func answer(t *testing.T, challenges []sip.Header, which int, o digest.Options) string {
	t.Helper()
	c, err := digest.ParseChallenge(challenges[which].Value())
	if err != nil {
		t.Fatal(err)
	}
	if o.Method == "" {
		o.Method = "INVITE"
	}
	cred, err := digest.Digest(c, o)
	if err != nil {
		t.Fatal(err)
	}
	return cred.String()
}

func TestAPasswordIsProvedOnceForItsCall(t *testing.T) {
	t.Parallel()
	p := proof{realm: "acme.test", source: "203.0.113.9", method: "INVITE", user: "15550100101", username: "acme", password: "secret"}
	right := digest.Options{URI: "sip:15550100101@203.0.113.1:5060", Username: "acme", Password: "secret", Count: 1}
	with := func(change func(o *digest.Options)) digest.Options {
		o := right
		change(&o)
		return o
	}
	var c challenges
	for name, x := range map[string]struct {
		o    digest.Options
		p    func(p *proof)
		text func(header string) string
		want verdict
	}{
		"right":                    {right, nil, nil, proved},
		"a later count":            {with(func(o *digest.Options) { o.Count = 7 }), nil, nil, proved},
		"a wrong password":         {with(func(o *digest.Options) { o.Password = "guess" }), nil, nil, wrong},
		"another user":             {with(func(o *digest.Options) { o.Username = "beta" }), nil, nil, wrong},
		"another method":           {with(func(o *digest.Options) { o.Method = "BYE" }), nil, nil, wrong},
		"for another number":       {with(func(o *digest.Options) { o.URI = "sip:15550100102@203.0.113.1" }), nil, nil, wrong},
		"no address":               {with(func(o *digest.Options) { o.URI = "" }), nil, nil, wrong},
		"from another host":        {right, func(p *proof) { p.source = "192.0.2.66" }, nil, wrong},
		"for another realm":        {right, func(p *proof) { p.realm = "beta.test" }, nil, wrong},
		"a nonce that nobody gave": {right, nil, func(h string) string { return strings.Replace(h, `nonce="`, `nonce="AAAA`, 1) }, wrong},
		"without qop": {right, nil, func(h string) string {
			return strings.Replace(h, "qop=auth", "qop=auth-int", 1)
		}, wrong},
		"an unknown algorithm":       {right, nil, func(h string) string { return strings.Replace(h, "SHA-256", "MD5-sess", 1) }, wrong},
		"no digest":                  {right, nil, func(string) string { return "Basic YWNtZTpzZWNyZXQ=" }, wrong},
		"an empty header":            {right, nil, func(string) string { return "" }, wrong},
		"a username that is no text": {right, nil, func(h string) string { return strings.Replace(h, `"acme"`, `"acme\x00"`, 1) }, wrong},
	} {
		header := answer(t, c.ask(p, false), 0, x.o)
		if x.text != nil {
			header = x.text(header)
		}
		q := p
		if x.p != nil {
			x.p(&q)
		}
		if got := c.check(q, header); got != x.want {
			t.Errorf("%s: %d, want %d", name, got, x.want)
		}
		if x.want == proved {
			if again := c.check(q, header); again != tooLate {
				t.Errorf("%s, repeated: %d", name, again)
			}
		}
	}
	challenged := c.ask(p, false)
	if c.check(p, answer(t, challenged, 1, right)) != proved { // MD5
		t.Error("MD5 is not taken")
	}
	second := with(func(o *digest.Options) { o.Count = 2 })
	if c.check(p, answer(t, challenged, 1, right)) != tooLate || c.check(p, answer(t, challenged, 1, second)) != proved {
		t.Error("the count of a nonce's answers does not rise")
	}
	if (&challenges{}).check(p, answer(t, challenged, 1, right)) != wrong {
		t.Error("a nonce of another program is taken")
	}
}

func TestANonceExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c challenges
		p := proof{realm: "acme.test", source: "203.0.113.9", method: "INVITE", user: "1", username: "acme", password: "secret"}
		o := digest.Options{URI: "sip:1@203.0.113.1", Username: "acme", Password: "secret", Count: 1}
		young, old := c.ask(p, false), c.ask(p, false)
		time.Sleep(nonceLife - time.Millisecond)
		if got := c.check(p, answer(t, young, 0, o)); got != proved {
			t.Errorf("in time: %d", got)
		}
		time.Sleep(time.Millisecond)
		if got := c.check(p, answer(t, old, 0, o)); got != tooLate {
			t.Errorf("too late: %d", got)
		}
		if fresh := c.ask(p, true)[0].Value(); !strings.Contains(fresh, "stale=true") {
			t.Error(fresh)
		}
		for range maxNonces + 1 { // expired ones are replaced
			if got := c.check(p, answer(t, c.ask(p, false), 1, o)); got == wrong {
				t.Fatal("a right answer is wrong")
			}
		}
		if len(c.answered) > maxNonces {
			t.Errorf("%d nonces are kept", len(c.answered))
		}
	})
}

// incomingOver returns a call to us over a transport.
func incomingOver(transport, sound string) *Incoming {
	r := sip.NewRequest(sip.INVITE, sip.Uri{Scheme: "sip", User: "15550100101", Host: "203.0.113.1"})
	from := &sip.FromHeader{Address: sip.Uri{User: "34600110077", Host: "trunk.example.com"}, Params: sip.NewParams()}
	to := &sip.ToHeader{Address: sip.Uri{User: "15550100101", Host: "203.0.113.1"}, Params: sip.NewParams()}
	callID := sip.CallIDHeader("call")
	for _, h := range []sip.Header{from, to, &callID, &sip.ContactHeader{Address: sip.Uri{User: "peer", Host: "trunk.example.com"}}} {
		r.AppendHeader(h)
	}
	r.SetTransport(transport)
	r.SetSource("203.0.113.9:5061")
	in := &Incoming{e: &Engine{}, request: r, Source: r.Source(), To: "15550100101", CallID: "call", tag: "ours"}
	if sound != "" {
		in.far, _ = parse(sound)
	}
	return in
}

func TestALineOverTLSTakesCallsOverTLSAlone(t *testing.T) {
	t.Parallel()
	secure := propose(netip.MustParseAddr("203.0.113.9"), 4000, true).String()
	line := Trunk{Host: "trunk.example.com", Transport: "tls", Encrypt: true}
	for transport, want := range map[string]error{"TLS": nil, "TCP": errPlainCall, "UDP": errPlainCall} {
		if err := incomingOver(transport, secure).Demand(line); !errors.Is(err, want) {
			t.Errorf("%s: %v", transport, err)
		}
		if err := incomingOver(transport, secure).Demand(Trunk{Host: "trunk.example.com", Transport: "udp"}); err != nil {
			t.Errorf("%s to a line that demands nothing: %v", transport, err)
		}
	}
	if in := incomingOver("TLS", ""); in.Demand(line) != nil || !in.encrypt {
		t.Error("without an offer, ours is not encrypted")
	}
	plain := propose(netip.MustParseAddr("203.0.113.9"), 4000, false).String()
	if err := incomingOver("TLS", plain).Demand(line); !errors.Is(err, errPlainSound) {
		t.Errorf("with a plain offer: %v", err)
	}
}

func TestRequestsOfACallOverTLSComeOverTLS(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"TLS", "TCP", "UDP"} {
		in := incomingOver(transport, "")
		d := in.dialog("203.0.113.1")
		contact := d.contact.Address.String()
		if named := strings.Contains(contact, ";transport="+strings.ToLower(transport)); named != (transport != "UDP") {
			t.Errorf("over %s requests are to be sent to %s", transport, contact)
		}
		e := &Engine{calls: map[string]*Call{}}
		c := &Call{dialog: d}
		e.calls[d.id()] = c
		for _, by := range []string{"TLS", "UDP"} {
			bye := sip.NewRequest(sip.BYE, sip.Uri{User: "15550100101", Host: "203.0.113.1"})
			from := &sip.FromHeader{Address: sip.Uri{User: "34600110077"}, Params: sip.NewParams()}
			to := &sip.ToHeader{Address: sip.Uri{User: "15550100101"}, Params: sip.NewParams()}
			to.Params.Add("tag", "ours")
			callID := sip.CallIDHeader("call")
			for _, h := range []sip.Header{from, to, &callID} {
				bye.AppendHeader(h)
			}
			bye.SetTransport(by)
			if found := e.find(bye) != nil; found != (by == "TLS" || transport != "TLS") {
				t.Errorf("a BYE over %s finds the call over %s: %v", by, transport, found)
			}
		}
	}
}

// Both sides send their BYE over the connection of the call.
func TestACallOverTLSIsTakenAndHungUp(t *testing.T) {
	t.Parallel()
	for _, by := range []By{Us, Them} {
		t.Run(string(by), func(t *testing.T) {
			t.Parallel()
			line := Trunk{Host: "127.0.0.1", Transport: "tls", Encrypt: true, Authenticate: true, Username: "acme", Password: "secret"}
			taken := make(chan *Call, 1)
			callee := engine(t, Options{TLS: "127.0.0.1:0", TLSFiles: siptest.Certificate(t, ""), OnCall: func(in *Incoming) {
				var refused *Refused
				if err := in.Demand(line); errors.As(err, &refused) {
					in.Refuse(refused.Code, refused.Reason)
					return
				}
				go func() {
					c, err := in.Answer(context.Background(), nil)
					if err != nil {
						t.Error(err)
					}
					taken <- c
				}()
			}})
			trunk := Trunk{Host: callee.SecureAddress().String(), Transport: "tls", Encrypt: true, Username: "acme", Password: "secret"}
			c, err := dial(t, engine(t, Options{TLS: "127.0.0.1:0", TLSFiles: siptest.Certificate(t, "")}), Dial{Trunk: trunk})
			if err != nil {
				t.Fatal(err)
			}
			far := await(t, taken)
			one, other := c, far
			if by == Them {
				one, other = far, c
			}
			one.HangUp(t.Context())
			if cause := ended(t, other); cause.By != Them || !c.Encrypted() || !far.Encrypted() {
				t.Errorf("%+v", cause)
			}
		})
	}
}
