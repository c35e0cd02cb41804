package egress

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Guard returns a round tripper with the bounds of a transport of the caller's, that reaches only what the client does. It uses no
// proxy, which would look names up again.
func (c *Client) Guard(t *http.Transport) http.RoundTripper {
	g := &gate{o: c.gate.o, secure: t.Clone(), plain: t.Clone()}
	g.secure.Proxy, g.plain.Proxy = nil, nil
	g.secure.DialContext, g.plain.DialContext = g.dialer(g.admit), g.dialer(g.admitPrivate)
	return g
}

// maxAdmit bounds looking up the host of an address that is to be admitted.
const maxAdmit = 5 * time.Second

// Admit checks an address before it is stored, as each request to it will be checked again. The error is a *DeniedError where it may
// not be reached, any other one where its host is not found.
func (c *Client) Admit(ctx context.Context, u *url.URL) error {
	admit, err := c.gate.admission(u)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, maxAdmit)
	defer cancel()
	addrs, err := c.gate.lookup(ctx, u.Hostname())
	if err != nil {
		return err
	}
	for _, a := range addrs {
		if err := admit(a); err != nil {
			return err
		}
	}
	return nil
}

// AdmitUnresolved is Admit without looking the host up: it returns a *DeniedError where no request can succeed, whatever the host's name
// resolves to. Of names it knows localhost, which is this machine everywhere (RFC 6761, section 6.3).
func (c *Client) AdmitUnresolved(u *url.URL) error {
	admit, err := c.gate.admission(u)
	if err != nil {
		return err
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		if admit(netip.IPv6Loopback()) == nil {
			return nil
		}
		host = "127.0.0.1"
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return admit(a)
	}
	return nil // a name
}

// admission returns what checks the addresses of an address's host.
func (g *gate) admission(u *url.URL) (func(netip.Addr) error, error) {
	t, err := g.transportFor(&http.Request{URL: u})
	if err != nil {
		return nil, err
	}
	admit, port := g.admit, cmp.Or(u.Port(), "443")
	if t == g.plain {
		admit = g.admitPrivate
	}
	return func(a netip.Addr) error { return admit(a, port) }, nil
}
