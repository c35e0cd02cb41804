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

// Guard returns a round tripper based on t that reaches the same addresses as the client. It uses no proxy, because a
// proxy would look up names again.
func (c *Client) Guard(t *http.Transport) http.RoundTripper {
	g := &gate{o: c.gate.o, secure: t.Clone(), plain: t.Clone()}
	g.secure.Proxy, g.plain.Proxy = nil, nil
	g.secure.DialContext, g.plain.DialContext = g.dialer(g.admit), g.dialer(g.admitPrivate)
	return g
}

// maxAdmit bounds the lookup of the host in Admit.
const maxAdmit = 5 * time.Second

// Admit checks an address before it is stored. Each request to it is checked again. It returns a *DeniedError if the
// address may not be reached, and another error if its host is not found.
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

// Resolve looks up a host. Its error is that of a request to the host.
func (c *Client) Resolve(ctx context.Context, host string) error {
	_, err := c.gate.lookup(ctx, host)
	return err
}

// AdmitUnresolved is Admit without a lookup. It returns a *DeniedError if no request can succeed, whatever the host
// resolves to. The only name that it interprets is localhost, which always means this machine (RFC 6761, section 6.3).
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
	return nil // a name, which is not resolved here
}

// admission returns the check for the IP addresses of a URL's host.
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
