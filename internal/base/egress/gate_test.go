package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
)

// fixed is a resolver that always returns the same addresses.
type fixed []netip.Addr

func (f fixed) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) { return f, nil }

func listen(t *testing.T) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	_, port, err = net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func TestDialerJudgesTheSocketToo(t *testing.T) {
	g := newGate(&Options{Resolver: fixed{netip.MustParseAddr("127.0.0.1")}})
	asked := 0
	dial := g.dialer(func(netip.Addr, string) error {
		if asked++; asked == 1 {
			return nil // allow the address at lookup
		}
		return &DeniedError{Reason: "at dial"}
	})
	conn, err := dial(t.Context(), "tcp", net.JoinHostPort("example.com", listen(t)))
	var denied *DeniedError
	if !errors.As(err, &denied) || denied.Reason != "at dial" || conn != nil {
		t.Errorf("got %v, %v", conn, err)
	}
}

func TestDialerTriesEveryAddress(t *testing.T) {
	g := newGate(&Options{Resolver: fixed{netip.MustParseAddr("127.0.0.3"), netip.MustParseAddr("127.0.0.1")}})
	conn, err := g.dialer(func(netip.Addr, string) error { return nil })(t.Context(), "tcp", net.JoinHostPort("example.com", listen(t)))
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}
