package sip

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/emiago/sipgo/sip"

	"carillon/internal/base/share"
	"carillon/internal/call/rtp/rtptest"
)

// trunksAt returns lines with trunks at addresses, one company per argument. Addresses joined by a comma belong to the
// same company.
func trunksAt(companies ...string) func(context.Context) ([]Line, error) {
	var all []Line
	for i, addresses := range companies {
		for a := range strings.SplitSeq(addresses, ",") {
			all = append(all, Line{Company: fmt.Sprint("company ", i), Trunk: Trunk{Host: a, Transport: "udp"}})
		}
	}
	return func(context.Context) ([]Line, error) { return all, nil }
}

// requestFrom returns the nth request of a client at an address.
func requestFrom(method string, from net.Addr, n int) []byte {
	return fmt.Appendf(nil, "%s sip:15555550100@127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP %s;branch=z9hG4bK%d;rport\r\n"+
		"From: <sip:1@a>;tag=%d\r\nTo: <sip:15555550100@127.0.0.1>\r\nCall-ID: %d\r\nCSeq: 1 %s\r\nContact: "+
		"<sip:1@%s>\r\nMax-Forwards: 70\r\nContent-Length: 0\r\n\r\n", method, from, n, n, n, method, from)
}

// until waits for a condition.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(hung); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("does not come: ", what)
		}
	}
}

func socketAt(t *testing.T, address string) net.PacketConn {
	t.Helper()
	c, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp4", address+":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Not parallel, because it counts goroutines.
func TestStrangersCostNothing(t *testing.T) {
	called := make(chan string, 1)
	e := engine(t, Options{Lines: trunksAt("127.0.0.2"), OnCall: func(in *Incoming) {
		called <- in.Source
		in.Refuse(486, "Busy Here")
	}})
	stranger, to := socketAt(t, "127.0.0.3"), net.UDPAddrFromAddrPort(e.Address())
	goroutines, known := runtime.NumGoroutine(), e.ua.TransportLayer().Pool("udp").Size()
	const packets, atOnce = 6000, 60 // fewer than the socket's buffer holds
	methods := []string{"INVITE", "OPTIONS", "REGISTER", "BYE", "ACK", "CANCEL", "nonsense"}
	for n := range packets {
		b := requestFrom(methods[n%len(methods)], stranger.LocalAddr(), n)
		if n%len(methods) == len(methods)-1 {
			b = b[:n%len(b)]
		}
		if _, err := stranger.WriteTo(b, to); err != nil {
			t.Fatal(err)
		}
		if n%atOnce == atOnce-1 {
			until(t, "the packets are counted", func() bool { return e.Refusals()[byStranger] == int64(n+1) })
		}
	}
	if more := runtime.NumGoroutine() - goroutines; more > packets/100 { // the engine starts some in the background
		t.Errorf("%d goroutines more", more)
	}
	if more := e.ua.TransportLayer().Pool("udp").Size() - known; more > 0 {
		t.Errorf("%d addresses are kept", more)
	}
	e.edge.mu.Lock()
	sources := len(e.edge.sources)
	e.edge.mu.Unlock()
	if sources != 1 {
		t.Errorf("%d sources are kept", sources)
	}
	if _, err := stranger.WriteTo([]byte("the first"), stranger.LocalAddr()); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 1500)
	if n, _, err := stranger.ReadFrom(b); err != nil || string(b[:n]) != "the first" {
		t.Errorf("strangers get a response: %q, %v", b[:n], err)
	}
	trunk := socketAt(t, "127.0.0.2")
	if _, err := trunk.WriteTo(requestFrom("INVITE", trunk.LocalAddr(), packets), to); err != nil {
		t.Fatal(err)
	}
	if from := await(t, called); from != trunk.LocalAddr().String() {
		t.Errorf("%s calls", from)
	}
	if n := e.Refusals()[byStranger]; n != packets {
		t.Errorf("%d packets were refused, %d sent", n, packets)
	}
}

// Packets from the far sides of our calls are admitted for the duration of the calls, and no others.
func TestWhomWeTalkWithIsHeard(t *testing.T) {
	inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
		e := engine(t, Options{Network: n, Lines: trunksAt("192.0.2.1"), Silent: time.Hour, KeepAlive: time.Hour})
		far := netip.MustParseAddr("127.0.0.1")
		if e.edge.knows(far) {
			t.Fatal("the far side is known before it is called")
		}
		s := callee(t, n, nil, invited, reply("180 Ringing", false), pause(100*time.Second),
			strings.Replace(reply("200 OK", true), "[last_Via:]", "Via:[$via]", 1), recv("ACK"), pause(100*time.Second),
			ask("BYE", 1, false), recv("200"))
		c, err := dial(t, e, Dial{Trunk: s.trunk(), Ring: 2 * time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		if cause := ended(t, c); cause.By != Them {
			t.Errorf("%+v", cause)
		}
		s.done()
		if !e.edge.knows(far) {
			t.Error("what the far side repeats is not heard")
		}
		time.Sleep(responsesFor + 2*followEvery)
		e.edge.mu.Lock()
		defer e.edge.mu.Unlock()
		if len(e.edge.sources) != 1 {
			t.Errorf("the far side is known after the call: %v", e.edge.sources)
		}
	})
}

func TestWhomWeAskIsHeard(t *testing.T) {
	inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
		e, far := engine(t, Options{Network: n, Lines: trunksAt("192.0.2.1")}), engine(t, Options{Network: n})
		if h := e.Ask(t.Context(), Trunk{Host: far.Address().String(), Transport: "udp"}, time.Minute); h.Code != 200 || h.Err != nil {
			t.Errorf("%+v", h)
		}
	})
}

// The hosts named in an answer may send requests within the call: its contact, and the proxies on the route.
func TestTheHostsOfACallAreHeard(t *testing.T) {
	inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
		e := engine(t, Options{Network: n, Lines: trunksAt("192.0.2.1")})
		d := &dialog{
			e: e, local: &sip.FromHeader{}, remote: &sip.ToHeader{}, destination: "192.0.2.2:5060", target: sip.Uri{Host: "192.0.2.3"},
			routes: []string{`"a, b" <sip:192.0.2.4;lr>`, "<sip:192.0.2.5;lr>"},
		}
		c := e.newCall(d, nil, nil, &description{direction: receiveOnly})
		for i := range 40 {
			if d.retarget(&sip.Uri{Host: fmt.Sprintf("198.51.100.%d", i)}) {
				c.hear([]string{fmt.Sprintf("198.51.100.%d", i)})
			}
		}
		heard := func() (all string) {
			for _, last := range []int{1, 2, 3, 4, 5} {
				if e.edge.knows(netip.AddrFrom4([4]byte{192, 0, 2, byte(last)})) {
					all += fmt.Sprint(last)
				}
			}
			if e.edge.knows(netip.MustParseAddr("198.51.100.39")) {
				all += " moved"
			}
			return all
		}
		time.Sleep(time.Hour)
		if got := heard(); got != "1234 moved" {
			t.Errorf("during the call %s are heard", got)
		}
		for _, end := range c.talks {
			end()
		}
		e.mu.Lock()
		clear(e.calls) // it has no sound that could end
		e.mu.Unlock()
		time.Sleep(responsesFor)
		if got := heard(); got != "1" {
			t.Errorf("after the call %s are heard", got)
		}
	})
}

func TestATrunkSendsAtItsRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		one, other := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
		lines, _ := trunksAt("192.0.2.1", "192.0.2.2")(t.Context())
		o := Options{Lines: trunksAt(), Log: slog.New(slog.DiscardHandler)}
		e := &Engine{edge: newEdge(&o)}
		(&trunks{lines: func(context.Context) ([]Line, error) { return lines, nil }, edge: e.edge, hosts: newHosts(nil)}).admit(t.Context())
		in := func(a netip.Addr, n int) (passed int) {
			for range n {
				if e.edge.packet(a) {
					passed++
				}
			}
			return passed
		}
		const sent, burst = 20_000, 4*maxMessages + 1
		if n := in(one, sent); n != burst {
			t.Errorf("%d packets pass at once", n)
		}
		if n := in(other, 1000); n != 1000 {
			t.Errorf("beside it %d of another trunk", n)
		}
		time.Sleep(time.Second)
		if n := in(one, sent); n != maxMessages {
			t.Errorf("%d packets pass a second later", n)
		}
		if n := e.edge.refused.counts()[byRate]; n != 2*sent-burst-maxMessages {
			t.Errorf("%d were counted", n)
		}
		time.Sleep(time.Hour)
		if rest := e.edge.pace(one, burst-1); rest > 0 {
			t.Errorf("a burst waits %v", rest)
		}
		if rest := e.edge.pace(one, maxMessages/2); rest != 500*time.Millisecond {
			t.Errorf("half a second's more wait %v", rest)
		}
	})
}

// ending is a transaction that the test ends.
type ending struct {
	deaf
	end []func()
}

func (x *ending) OnTerminate(f sip.FnTxTerminate) bool {
	x.end = append(x.end, func() { f("", nil) })
	return true
}

func TestATrunkHasAShareOfTheTransactions(t *testing.T) {
	inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
		shares := &share.Set{}
		lines := trunksAt("192.0.2.1,192.0.2.2,192.0.2.3,192.0.2.4", "192.0.2.9,2001:db8::1,2001:db8::2", "192.0.2.10", "192.0.2.10")
		e := engine(t, Options{Network: n, Shares: shares, Lines: lines})
		served := 0
		handle := e.edge.guarded(func(*sip.Request, sip.ServerTransaction) { served++ })
		tx := &ending{}
		from := func(source, method string) int {
			before := served
			for i := range 10_000 {
				m, err := sip.ParseMessage(requestFrom(method, &net.UDPAddr{IP: net.IPv4(192, 0, 2, 1)}, i))
				if err != nil {
					t.Fatal(err)
				}
				m.SetSource(source)
				m.SetTransport("UDP")
				if handle(m.(*sip.Request), tx); served-before < i+1 {
					break
				}
			}
			return served - before
		}
		r := share.SIPTransactions
		for i, c := range []struct {
			source string
			want   int64
		}{
			{"192.0.2.1:5060", r.Client},
			{"192.0.2.1:7000", 0},
			{"192.0.2.2:5060", r.Client},
			{"192.0.2.3:5060", r.Client},
			{"192.0.2.4:5060", 0}, // its company has used its share
			{"[2001:db8::1]:5060", r.Node - r.Company},
			{"[2001:db8::2]:5060", 0}, // in the same network
		} {
			if n := from(c.source, "OPTIONS"); int64(n) != c.want {
				t.Errorf("%d: %s has %d, want %d", i, c.source, n, c.want)
			}
		}
		if n := from("192.0.2.1:5060", "ACK"); n != 10_000 {
			t.Errorf("%d ACKs are read", n)
		}
		for _, end := range tx.end {
			end()
			end()
		}
		if used := shares.Of(r).Counts().Used; used != 0 {
			t.Errorf("%d are held after their end", used)
		}
		if n := from("192.0.2.10:5060", "OPTIONS"); int64(n) != r.Client { // the trunk of two companies
			t.Errorf("%d requests", n)
		}
	})
}

// Beyond its share a trunk gets a 503 with Retry-After, and no state is kept. Its earlier requests end after 32 s.
func TestATrunkBeyondItsShareGetsRetryAfter(t *testing.T) {
	inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
		shares := &share.Set{}
		e := engine(t, Options{Network: n, Shares: shares, Lines: trunksAt("127.0.0.1")})
		trunk, err := n.ListenPacket(t.Context(), "udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer trunk.Close()
		var mu sync.Mutex
		statuses := map[string]int{}
		go func() {
			for b := make([]byte, 1500); ; {
				n, _, err := trunk.ReadFrom(b)
				if err != nil {
					return
				}
				status, rest, _ := strings.Cut(string(b[:n]), "\r\n")
				if strings.Contains(rest, "Retry-After: 5\r\n") {
					status += ", later"
				}
				mu.Lock()
				statuses[status]++
				mu.Unlock()
			}
		}()
		send := func(from, to int) {
			for i := from; i < to; i++ {
				if _, err := trunk.WriteTo(requestFrom("OPTIONS", trunk.LocalAddr(), i), net.UDPAddrFromAddrPort(e.Address())); err != nil {
					t.Fatal(err)
				}
				if i%100 == 99 {
					time.Sleep(10 * time.Millisecond)
				}
			}
			time.Sleep(20 * time.Millisecond)
		}
		const most = 2048
		send(0, most+100)
		mu.Lock()
		if statuses["SIP/2.0 200 OK"] != most || statuses["SIP/2.0 503 Service Unavailable, later"] != 100 || len(statuses) != 2 {
			t.Errorf("%v", statuses)
		}
		clear(statuses)
		mu.Unlock()
		if used := shares.Of(share.SIPTransactions).Counts().Used; used != most || e.Refusals()[byTransactions] != 100 {
			t.Errorf("%d are held, refused: %v", used, e.Refusals())
		}
		time.Sleep(33 * time.Second)
		if used := shares.Of(share.SIPTransactions).Counts().Used; used != 0 {
			t.Errorf("%d are held after 33 s", used)
		}
		send(most+100, most+200)
		mu.Lock()
		defer mu.Unlock()
		if statuses["SIP/2.0 200 OK"] != 100 {
			t.Errorf("later: %v", statuses)
		}
	})
}

// Text that readers could interpret differently is not repeated.
func TestUnreadableRequestsAreRefused(t *testing.T) {
	inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
		e := engine(t, Options{Network: n, Lines: trunksAt("127.0.0.1"), OnCall: func(in *Incoming) {
			t.Error("it is taken")
			in.Refuse(486, "Busy Here")
		}})
		trunk, err := n.ListenPacket(t.Context(), "udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer trunk.Close()
		for i, with := range []string{"From: Ana\\ <sip:1@a>", "From: <sip:1\n@a>"} {
			b := bytes.Replace(requestFrom("INVITE", trunk.LocalAddr(), i), []byte("From: <sip:1@a>"), []byte(with), 1)
			if _, err := trunk.WriteTo(b, net.UDPAddrFromAddrPort(e.Address())); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, 1500)
			if n, _, err := trunk.ReadFrom(got); err != nil || !strings.HasPrefix(string(got[:n]), "SIP/2.0 400 ") {
				t.Errorf("%q: %q, %v", with, got[:n], err)
			}
		}
		if n := e.Refusals()[byUnreadable]; n != 2 {
			t.Errorf("%d were refused", n)
		}
	})
}

func TestRefusalsAreSampledInTheLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		x := newRefusals(slog.New(slog.NewTextHandler(&text, nil)))
		for range 5000 {
			x.add(byStranger, netip.MustParseAddr("192.0.2.1"), time.Now())
		}
		x.add(byRate, netip.MustParseAddr("192.0.2.2"), time.Now())
		time.Sleep(refusalsLogEvery)
		x.add(byStranger, netip.MustParseAddr("192.0.2.3"), time.Now())
		x.add(byStranger, netip.MustParseAddr("192.0.2.4"), time.Now())
		got := ""
		for line := range strings.Lines(text.String()) {
			_, line, _ = strings.Cut(line, "msg=")
			got += line
		}
		const want = `"refuse SIP" reason=stranger source=192.0.2.1 times=1` + "\n" +
			`"refuse SIP" reason=rate source=192.0.2.2 times=1` + "\n" +
			`"refuse SIP" reason=stranger source=192.0.2.3 times=5000` + "\n"
		if got != want {
			t.Errorf("logged:\n%s", got)
		}
		if n := x.counts(); n[byStranger] != 5002 || n[byRate] != 1 || n[byLine] != 0 || len(n) != 9 {
			t.Errorf("%v", n)
		}
	})
}

func TestTheEdgeFollowsTheLines(t *testing.T) {
	inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
		var mu sync.Mutex
		lines, fault := []Line{{Company: "a", Trunk: Trunk{Host: "192.0.2.1:5080", Transport: "udp"}}}, error(nil)
		set := func(err error, hosts ...string) {
			mu.Lock()
			defer mu.Unlock()
			lines, fault = nil, err
			for _, h := range hosts {
				lines = append(lines, Line{Company: "a", Trunk: Trunk{Host: h, Transport: "udp"}})
			}
		}
		var text bytes.Buffer
		e, err := New(t.Context(), Options{
			Address: "127.0.0.1:0", Network: n, Log: slog.New(slog.NewTextHandler(&text, nil)),
			Lines: func(context.Context) ([]Line, error) {
				mu.Lock()
				defer mu.Unlock()
				return lines, fault
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		names := map[string][]string{"sip.example.com": {"198.51.100.1", "2001:db8::1"}}
		e.hosts.find = func(_ context.Context, t Trunk) (all []netip.AddrPort, err error) {
			mu.Lock()
			defer mu.Unlock()
			if names[t.Host] == nil {
				return nil, errors.New("no such name")
			}
			for _, a := range names[t.Host] {
				all = append(all, netip.AddrPortFrom(netip.MustParseAddr(a), 5060))
			}
			return all, nil
		}
		rename := func(all ...string) {
			mu.Lock()
			defer mu.Unlock()
			names["sip.example.com"] = all
		}
		heard := func() string {
			all := ""
			for _, a := range []string{"192.0.2.1", "::1", "198.51.100.1", "198.51.100.2", "2001:db8::1"} {
				if e.edge.knows(netip.MustParseAddr(a)) {
					all += " " + a
				}
			}
			return all
		}
		expect := func(when, want string) {
			t.Helper()
			if got := heard(); got != want {
				t.Errorf("%s: %q, want %q", when, got, want)
			}
		}
		expect("at once", " 192.0.2.1")
		set(nil, "[::1]", "sip.example.com")
		time.Sleep(3 * time.Second)
		expect("with other lines", " ::1 198.51.100.1 2001:db8::1")
		rename("198.51.100.2")
		time.Sleep(lookUpEvery)
		expect("with another address of the name", " ::1 198.51.100.1 198.51.100.2 2001:db8::1")
		time.Sleep(foundFor + lookUpEvery)
		expect("once the name has no others", " ::1 198.51.100.2")
		rename()
		time.Sleep(time.Hour)
		expect("while names are not found", " ::1 198.51.100.2")
		set(errors.New("no database"))
		time.Sleep(time.Minute)
		expect("while lines are not read", " ::1 198.51.100.2")
		set(nil, "[::1]")
		time.Sleep(2 * time.Second)
		expect("without the name", " ::1")
		if n := strings.Count(text.String(), "no database"); n != 1 {
			t.Errorf("it was logged %d times", n)
		}
	})
}

// A company with dead or slow trunk names does not delay other companies.
func TestDeadNamesHoldUpNobodyElse(t *testing.T) {
	inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
		var lines []Line
		for i := range 500 {
			lines = append(lines, Line{Company: "a", Trunk: Trunk{Host: fmt.Sprintf("%d.dead.example", i), Transport: "udp"}})
		}
		o := Options{Lines: trunksAt(), Log: slog.New(slog.DiscardHandler)}
		var mu sync.Mutex
		all := func(context.Context) ([]Line, error) {
			mu.Lock()
			defer mu.Unlock()
			return lines, nil
		}
		x := &trunks{edge: newEdge(&o), hosts: newHosts(nil), log: o.Log, registrar: &registrar{}, lines: all}
		x.hosts.find = func(ctx context.Context, t Trunk) ([]netip.AddrPort, error) {
			if strings.HasSuffix(t.Host, ".dead.example") {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return []netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:5060")}, nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		x.admit(ctx)
		followed := make(chan struct{})
		go func() { x.follow(ctx); close(followed) }()
		time.Sleep(time.Second / 2)
		mu.Lock()
		lines = append(lines, Line{Company: "b", Trunk: Trunk{Host: "sip.example.com", Transport: "udp"}})
		mu.Unlock()
		time.Sleep(2 * time.Second)
		if !x.edge.knows(netip.MustParseAddr("192.0.2.1")) {
			t.Error("another company's trunk is not let in")
		}
		cancel()
		await(t, followed)
	})
}

func TestACallComesFromAnAddressOfItsTrunk(t *testing.T) {
	t.Parallel()
	e := &Engine{hosts: newHosts(nil)}
	looked := 0
	e.hosts.find = func(_ context.Context, t Trunk) ([]netip.AddrPort, error) {
		if looked++; t.Host != "sip.example.com" {
			return nil, errors.New("no such name")
		}
		return []netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:5060"), netip.MustParseAddrPort("[2001:db8::1]:5060")}, nil
	}
	for i, c := range []struct {
		source, host string
		want         bool
	}{
		{"192.0.2.1:5060", "192.0.2.1", true},
		{"192.0.2.1:7777", "192.0.2.1:5080", true},
		{"[::ffff:192.0.2.1]:5060", "192.0.2.1", true},
		{"192.0.2.2:5060", "192.0.2.1", false},
		{"[2001:db8::1]:5060", "[2001:db8::1]:5080", true},
		{"[2001:db8::1]:5060", "sip.example.com", true},
		{"192.0.2.1:5060", "sip.example.com", true},
		{"192.0.2.3:5060", "sip.example.com", false},
		{"192.0.2.1:5060", "nowhere.example", false},
		{"", "nowhere.example", false},
		{"nonsense", "192.0.2.1", false},
	} {
		if got := (&Incoming{e: e, Source: c.source}).ComesFrom(t.Context(), "a", Trunk{Host: c.host, Transport: "udp"}); got != c.want {
			t.Errorf("%d: %q comes from %s: %v", i, c.source, c.host, got)
		}
	}
	if looked != 2 {
		t.Errorf("names were looked up %d times, of two", looked)
	}
}

// BenchmarkStranger measures the cost of a stranger's packet.
func BenchmarkStranger(b *testing.B) {
	o := Options{Lines: trunksAt(), Log: slog.New(slog.DiscardHandler)}
	e := newEdge(&o)
	a := netip.MustParseAddr("192.0.2.1")
	b.ReportAllocs()
	for b.Loop() {
		if e.packet(a) {
			b.Fatal("it is let in")
		}
	}
}
