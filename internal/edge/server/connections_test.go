package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"carillon/internal/base/need"
	"carillon/internal/edge/httpio"
)

// limited returns a server with connection limits, which tolerates slow clients.
func limited(t *testing.T, most, perAddress int, trusted ...netip.Prefix) *connections {
	t.Helper()
	inner, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	l := limitConnections(inner, most, perAddress, trusted, log)
	server := newServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }), log)
	server.ReadHeaderTimeout, server.ReadTimeout, server.WriteTimeout, server.IdleTimeout, server.ConnState = 0, 0, 0, 0, l.state
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-ended
	})
	return l
}

// dialFrom connects to a server from a loopback address.
func dialFrom(t *testing.T, l net.Listener, from string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c, err := d.DialContext(t.Context(), "tcp", l.Addr().String())
	need.That(t, err == nil, fmt.Sprint("a second loopback address: ", err))
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(hung))
	return c
}

// answers reports whether the server responds on a connection.
func answers(c net.Conn) bool {
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return false
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

func TestIdleConnectionsGiveWayToNewOnes(t *testing.T) {
	t.Parallel()
	l := limited(t, 20, 20)
	var idle []net.Conn
	for i := range 20 {
		c := dialFrom(t, l, "127.0.0.2")
		if i%2 == 0 && !answers(c) { // the others never send a request
			t.Fatalf("connection %d has no response", i)
		}
		idle = append(idle, c)
		eventually(t, "it is idle", func() bool {
			l.mu.Lock()
			defer l.mu.Unlock()
			return l.idle.Len() == i+1
		})
	}
	for range 3 {
		if !answers(dialFrom(t, l, "127.0.0.1")) {
			t.Error("a new client has no response")
		}
	}
	for i, c := range idle[:3] {
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("connection %d of the longest idle ones: %v", i, err)
		}
	}
	if _, evicted := l.counts(); evicted["idle"] != 3 || evicted["address"]+evicted["refused"] != 0 {
		t.Errorf("closed and refused are %v", evicted)
	}
	if !answers(idle[18]) {
		t.Error("a connection that was idle for less has no response")
	}
}

func TestOneAddressHoldsAShareOfTheConnections(t *testing.T) {
	t.Parallel()
	const header, body = "GET / HTTP/1.1\r\n", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"
	l := limited(t, 20, 5, netip.MustParsePrefix("127.0.0.4/32"))
	over := 0
	slow := func(from, begin string, want int) {
		t.Helper()
		const n = 9
		before, _ := l.counts()
		closed := make(chan struct{}, n)
		for range n {
			c := dialFrom(t, l, from)
			_, _ = io.WriteString(c, begin)
			go func() {
				if _, err := c.Read(make([]byte, 1)); err != nil {
					closed <- struct{}{}
				}
			}()
		}
		for range n - want {
			<-closed
		}
		over += n - want
		eventually(t, "all of "+from+" are accepted or refused", func() bool {
			open, evicted := l.counts()
			// A connection that has not begun its request counts as idle and is evicted for the next one.
			return open == before+want && evicted["refused"]+evicted["address"] == over && evicted["idle"] == 0
		})
		select {
		case <-closed:
			t.Errorf("more than %d of %d connections of %s are closed", n-want, n, from)
		default:
		}
	}
	for from, begin := range map[string]string{"127.0.0.2": header, "127.0.0.3": body} {
		slow(from, begin, 5)
		c := dialFrom(t, l, "127.0.0.1")
		if !answers(c) {
			t.Error("a client of another address has no response")
		}
		_ = c.Close()
		eventually(t, "it is gone", func() bool {
			open, _ := l.counts()
			return open%5 == 0
		})
	}
	slow("127.0.0.4", body, 9) // a trusted proxy
}

func TestOneAddressHasAQuarterUnlessItIsSet(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	proxy := netip.MustParsePrefix("127.0.0.4/32")
	for _, c := range []struct{ most, each, want int }{{20, 0, 5}, {20, 20, 20}, {0, 0, 0}} {
		s, err := Listen(t.Context(), Options{
			Addr: "127.0.0.1:0", Connections: c.most, PerAddress: c.each, Proxies: []netip.Prefix{proxy}, Log: log,
			Router: httpio.NewRouter(log, nil),
		})
		if err != nil {
			t.Fatal(err)
		}
		l := s.listener
		if l.most != c.most || l.perAddress != c.want || len(l.trusted) != 1 {
			t.Errorf("%+v: the bounds are %d and %d, trusted are %v", c, l.most, l.perAddress, l.trusted)
		}
		if err := <-s.Finish(t.Context(), time.Minute); err != nil {
			t.Error(err)
		}
		if _, err := l.Accept(); err == nil {
			t.Error("a server that never served still listens")
		}
	}
}

// hung is the time after which a test fails instead of waiting longer.
const hung = 2 * time.Minute

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	late := time.NewTimer(hung)
	defer late.Stop()
	for !holds() {
		select {
		case <-look.C:
		case <-late.C:
			t.Fatalf("it hangs: %s", what)
		}
	}
}
