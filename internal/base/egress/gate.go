package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
)

// gate is the round tripper for every request and redirect. It checks the address and chooses a transport.
type gate struct {
	o      *Options
	secure *http.Transport // HTTPS
	plain  *http.Transport // HTTP, to AllowPrivate only

	httpsOnly bool // even to AllowPrivate
}

func newGate(o *Options) *gate {
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	g := &gate{o: o}
	g.secure = transport(o, g.dialer(g.admit))
	g.plain = transport(o, g.dialer(g.admitPrivate))
	return g
}

// RoundTrip implements http.RoundTripper.
func (g *gate) RoundTrip(req *http.Request) (*http.Response, error) {
	t, err := g.transportFor(req)
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // a round tripper must close the body even on errors
		}
		return nil, err
	}
	if query := escapeQuery(req.URL.RawQuery); query != req.URL.RawQuery {
		u := *req.URL
		u.RawQuery = query
		req = req.WithContext(req.Context()) // a copy, because a round tripper must not change the request
		req.URL = &u
	}
	resp, err := t.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if _, err := resp.Location(); err != nil && !errors.Is(err, http.ErrNoLocation) {
		_ = resp.Body.Close() // the client's own error would quote the address with its query
		return nil, &DeniedError{Reason: "unreadable redirect"}
	}
	return resp, nil
}

// escapeQuery escapes characters of a query that a request line must not contain, as browsers do. net/http sends a
// query unchanged.
func escapeQuery(query string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(query) {
		if c := query[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '<' || c == '>' {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// CloseIdleConnections closes the idle connections of both transports.
func (g *gate) CloseIdleConnections() {
	g.secure.CloseIdleConnections()
	g.plain.CloseIdleConnections()
}

func (g *gate) transportFor(req *http.Request) (*http.Transport, error) {
	secure := req.URL.Scheme == "https"
	if !secure && (req.URL.Scheme != "http" || g.httpsOnly || len(g.o.AllowPrivate) == 0) {
		return nil, &DeniedError{Reason: "not HTTPS"}
	}
	if secure {
		return g.secure, nil
	}
	return g.plain, nil
}

// dialer returns a dial function that looks up a host, checks all its addresses and dials them in order. Each address
// is checked again on the socket.
func (g *gate) dialer(admit func(netip.Addr, string) error) func(context.Context, string, string) (net.Conn, error) {
	d := &net.Dialer{
		Timeout: dialTimeout,
		Control: func(_, address string, _ syscall.RawConn) error {
			ap, err := netip.ParseAddrPort(address)
			if err != nil {
				return fmt.Errorf("read dialed address: %w", err)
			}
			return admit(ap.Addr(), strconv.Itoa(int(ap.Port())))
		},
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, fmt.Errorf("split address: %w", err)
		}
		addrs, err := g.lookup(ctx, host)
		if err != nil {
			return nil, err
		}
		for _, a := range addrs { // one denied address denies the host, because any of its addresses may be dialed
			if err := admit(a, port); err != nil {
				return nil, err
			}
		}
		return dialFirst(ctx, d, network, addrs, port)
	}
}

// maxAddrs bounds how many of a host's addresses are dialed.
const maxAddrs = 8

func dialFirst(ctx context.Context, d *net.Dialer, network string, addrs []netip.Addr, port string) (net.Conn, error) {
	var errs []error
	for _, a := range addrs[:min(len(addrs), maxAddrs)] {
		conn, err := d.DialContext(ctx, network, net.JoinHostPort(a.String(), port))
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(errs...)
}

func (g *gate) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	addrs, err := g.o.Resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		if x, ok := errors.AsType[*net.DNSError](err); ok { // members see the error of their host, but not our resolver
			public := *x
			public.Server = ""
			err = &public
		}
		return nil, fmt.Errorf("look up host: %w", err)
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("look up host: %w", &net.DNSError{Err: "no addresses", Name: host, IsNotFound: true})
	}
	return addrs, nil
}

// admit accepts public addresses on the allowed ports, and addresses in AllowPrivate on any port.
func (g *gate) admit(a netip.Addr, port string) error {
	if g.private(a) {
		return nil
	}
	if !Public(a) {
		return &DeniedError{Reason: "the host is at a private or reserved address"}
	}
	if port != "443" && !g.o.AnyPort {
		return &DeniedError{Reason: "port " + strings.ToValidUTF8(port, "") + " is not allowed"}
	}
	return nil
}

// admitPrivate accepts only addresses in AllowPrivate, for plain HTTP.
func (g *gate) admitPrivate(a netip.Addr, _ string) error {
	if !g.private(a) {
		return &DeniedError{Reason: "not HTTPS"}
	}
	return nil
}

func (g *gate) private(a netip.Addr) bool {
	return contains(g.o.AllowPrivate, a.Unmap())
}
