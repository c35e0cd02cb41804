package sip

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emiago/sipgo/sip"
	"github.com/icholy/digest"
)

// exchange takes registrations of one account, and checks each request as RFC 3261 demands.
type exchange struct {
	t    *testing.T
	conn net.PacketConn

	mu      sync.Mutex
	granted int    // seconds
	least   int    // shortest lifetime in seconds
	refuse  string // status and reason instead of 200
	bound   string // our contact; empty if there is none
	numbers map[string]uint32
	log     []string // what was requested, such as "600" or "0", with ": 403" if it was refused
	changed chan struct{}
}

const exchangePassword = "s3cret"

func newExchange(t *testing.T) *exchange {
	t.Helper()
	conn, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	x := &exchange{t: t, conn: conn, granted: 600, numbers: map[string]uint32{}, changed: make(chan struct{}, 1000)}
	t.Cleanup(func() { _ = conn.Close() })
	go x.serve()
	return x
}

func (x *exchange) serve() {
	b := make([]byte, 65_536)
	for {
		n, from, err := x.conn.ReadFrom(b)
		if err != nil {
			return
		}
		m, err := sip.ParseMessage(slices.Clone(b[:n]))
		r, ok := m.(*sip.Request)
		if err != nil || !ok {
			continue
		}
		res := sip.NewResponseFromRequest(r, sip.StatusOK, "OK", nil)
		if r.Method == sip.REGISTER {
			res = x.register(r)
		}
		_, _ = x.conn.WriteTo([]byte(res.String()), from)
	}
}

// register answers a REGISTER.
func (x *exchange) register(r *sip.Request) *sip.Response {
	x.mu.Lock()
	defer x.mu.Unlock()
	answer := func(code int, reason string, headers ...sip.Header) *sip.Response {
		res := sip.NewResponseFromRequest(r, code, reason, nil)
		for _, h := range headers {
			res.AppendHeader(h)
		}
		return res
	}
	const account = "sip:carol@acme.test"
	contact, lifetime := r.Contact(), r.GetHeader("Expires")
	from, to := r.From().Address, r.To().Address
	switch {
	case r.Recipient.String() != "sip:acme.test":
		return answer(400, "Request-URI "+r.Recipient.String())
	case from.String() != account || to.String() != account || tagOf(r.To().Params) != "":
		return answer(400, "Address")
	case contact == nil || contact.Address.User != "15555550101" || lifetime == nil:
		return answer(400, "Contact or Expires")
	case r.CSeq().SeqNo <= x.numbers[r.CallID().Value()]:
		return answer(400, "CSeq")
	}
	x.numbers[r.CallID().Value()] = r.CSeq().SeqNo
	proof := r.GetHeader("Authorization")
	if proof == nil {
		const challenge = `Digest realm="acme.test", nonce="n1", algorithm=MD5, qop="auth"`
		return answer(401, "Unauthorized", sip.NewHeader("WWW-Authenticate", challenge))
	}
	given, err := digest.ParseCredentials(proof.Value())
	if err != nil || given.URI != r.Recipient.Addr() || given.Username != "carol" {
		return answer(403, "Credentials "+proof.Value())
	}
	want, err := digest.Digest(&digest.Challenge{Realm: "acme.test", Nonce: "n1", Algorithm: "MD5", QOP: []string{"auth"}}, digest.Options{
		Method: "REGISTER", URI: given.URI, Username: "carol", Password: exchangePassword, Count: given.Nc, Cnonce: given.Cnonce,
	})
	seconds, _ := strconv.Atoi(lifetime.Value())
	switch {
	case err != nil || want.Response != given.Response:
		x.note(lifetime.Value() + ": 403")
		return answer(403, "Wrong Password")
	case x.refuse != "":
		code, reason, _ := strings.Cut(x.refuse, " ")
		x.note(lifetime.Value() + ": " + code)
		n, _ := strconv.Atoi(code)
		return answer(n, reason)
	case seconds > 0 && seconds < x.least:
		x.note(lifetime.Value() + ": 423")
		return answer(423, "Interval Too Brief", sip.NewHeader("Min-Expires", strconv.Itoa(x.least)))
	}
	x.note(lifetime.Value())
	if x.bound = contact.Address.HostPort(); seconds == 0 {
		x.bound = ""
		return answer(200, "OK")
	}
	return answer(200, "OK", sip.NewHeader("Contact",
		fmt.Sprintf("<sip:other@192.0.2.7:5060>;expires=3000, <sip:15555550101@%s>;expires=%d", x.bound, x.granted)))
}

func (x *exchange) note(what string) {
	x.log = append(x.log, what)
	x.changed <- struct{}{}
}

// until waits until the requests are as the test wants them.
func (x *exchange) until(what string, is func(log []string) bool) {
	x.t.Helper()
	for timeout := time.After(hung); ; {
		x.mu.Lock()
		log := slices.Clone(x.log)
		x.mu.Unlock()
		if is(log) {
			return
		}
		select {
		case <-x.changed:
		case <-timeout:
			x.t.Fatalf("%s: %v", what, log)
		}
	}
}

func (x *exchange) set(change func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	change()
}

// line returns a line that is registered at the exchange.
func (x *exchange) line() Line {
	return Line{Company: "c1", ID: "front", Number: "15555550101", Shard: 7, Trunk: Trunk{
		Host: x.conn.LocalAddr().String(), Transport: "udp", Domain: "acme.test", Username: "carol", Password: exchangePassword,
		Register: true,
	}}
}

// lines are the lines of an engine, which a test changes.
type lines struct {
	mu   sync.Mutex
	all  []Line
	owns bool
}

func (l *lines) set(owns bool, all ...Line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all, l.owns = all, owns
}

func (l *lines) list(context.Context) ([]Line, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all), nil
}

func (l *lines) own(shard int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.owns && shard == 7
}

// registering starts an engine with lines, whose seconds last a millisecond.
func registering(t *testing.T, l *lines) *Engine {
	t.Helper()
	return engine(t, Options{Lines: l.list, Owns: l.own, Second: time.Millisecond})
}

func TestALineIsRegisteredAgainBeforeItsRegistrationEnds(t *testing.T) {
	t.Parallel()
	x, l := newExchange(t), &lines{}
	x.granted = 30
	l.set(true, x.line())
	e := registering(t, l)
	x.until("renewals", func(log []string) bool {
		return len(log) >= 5 && !slices.ContainsFunc(log, func(s string) bool { return s != "600" })
	})
	if s := e.Registration("c1", "front"); s.Code != 200 || s.At.IsZero() || s.Until.Sub(s.At) != 30*time.Millisecond {
		t.Errorf("state %+v", s)
	}
	if s := e.Registration("c2", "front"); !s.At.IsZero() {
		t.Errorf("another company sees %+v", s)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	x.until("withdrawal when the program stops", func(log []string) bool { return log[len(log)-1] == "0" })
}

func TestALineTakesTheShortestLifetimeOfItsTrunk(t *testing.T) {
	t.Parallel()
	x, l := newExchange(t), &lines{}
	x.least, x.granted = 1800, 1800
	l.set(true, x.line())
	e := registering(t, l)
	x.until("second attempt", func(log []string) bool { return slices.Equal(log[:min(2, len(log))], []string{"600: 423", "1800"}) })
	x.until("renewal", func(log []string) bool { return len(log) >= 3 && log[2] == "1800" })
	if registered, failed := e.Registrations(); registered != 1 || failed != 0 {
		t.Errorf("%d registered, %d failed", registered, failed)
	}
}

func TestARefusedLineIsRegisteredAfterAPauseOrAChange(t *testing.T) {
	t.Parallel()
	x, l := newExchange(t), &lines{}
	wrong := x.line()
	wrong.Trunk.Password = "wrong"
	l.set(true, wrong)
	e := engine(t, Options{Lines: l.list, Owns: l.own}) // in true seconds it waits for a minute
	x.until("refusal", func(log []string) bool { return slices.Equal(log, []string{"600: 403"}) })
	for e.Registration("c1", "front").At.IsZero() { // the response is on its way
		time.Sleep(time.Millisecond)
	}
	if s := e.Registration("c1", "front"); s.Code != 403 || s.Reason != "Wrong Password" || !s.Until.IsZero() {
		t.Errorf("state %+v", s)
	}
	if registered, failed := e.Registrations(); registered != 0 || failed != 1 {
		t.Errorf("%d registered, %d failed", registered, failed)
	}
	l.set(true, x.line())
	x.until("registration with the right password", func(log []string) bool { return slices.Equal(log, []string{"600: 403", "600"}) })

	x.set(func() { x.log, x.refuse, x.granted = nil, "503 Busy", 10 })
	l.set(true)
	x.until("withdrawal", func(log []string) bool { return len(log) == 1 })
	l.set(true, x.line())
	x.until("failure", func(log []string) bool { return slices.Contains(log, "600: 503") })
	x.set(func() { x.refuse = "" })
	x.until("recovery", func(log []string) bool { return slices.Contains(log, "600") })
}

func TestOnlyTheOwnerOfALineRegistersIt(t *testing.T) {
	t.Parallel()
	x, l := newExchange(t), &lines{}
	plain := x.line()
	plain.ID, plain.Trunk.Register = "plain", false
	l.set(false, x.line(), plain)
	registering(t, l)
	l.set(true, x.line(), plain)
	x.until("registration", func(log []string) bool { return len(log) > 0 && log[0] == "600" })
	l.set(false, x.line(), plain)
	x.until("withdrawal", func(log []string) bool { return log[len(log)-1] == "0" })
	x.set(func() {
		if x.bound != "" {
			t.Errorf("%s is still registered", x.bound)
		}
	})
}

func TestAChangedLineKeepsItsNewRegistration(t *testing.T) {
	t.Parallel()
	x, l := newExchange(t), &lines{}
	l.set(true, x.line())
	e := engine(t, Options{Lines: l.list})
	x.until("registration", func(log []string) bool { return slices.Equal(log, []string{"600"}) })
	changed := x.line()
	changed.Trunk.Agent = "another"
	l.set(true, changed)
	x.until("new registration", func(log []string) bool { return slices.Equal(log, []string{"600", "0", "600"}) })
	x.set(func() {
		if own := e.Address().String(); x.bound != own {
			t.Errorf("%q is registered, not %s", x.bound, own)
		}
	})
}
