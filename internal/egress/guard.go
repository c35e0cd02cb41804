package egress

import (
	"context"
	"net/http"
	"net/url"
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

// admitMost bounds looking up the host of an address that is to be admitted.
const admitMost = 5 * time.Second

// Admit checks an address before it is stored, as each request to it will be checked again. The error is a *DeniedError where it may
// not be reached, any other one where its host is not found.
func (c *Client) Admit(ctx context.Context, u *url.URL) error {
	t, err := c.gate.transportFor(&http.Request{URL: u})
	if err != nil {
		return err
	}
	admit, port := c.gate.admit, u.Port()
	if t == c.gate.plain {
		admit = c.gate.admitPrivate
	}
	if port == "" {
		port = "443"
	}
	ctx, cancel := context.WithTimeout(ctx, admitMost)
	defer cancel()
	addrs, err := c.gate.lookup(ctx, u.Hostname())
	if err != nil {
		return err
	}
	for _, a := range addrs {
		if err := admit(a, port); err != nil {
			return err
		}
	}
	return nil
}
