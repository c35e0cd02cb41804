// Package egress sends HTTP requests to addresses that users enter: a client that only reaches public addresses, and a
// prober that decides whether a media file fits a template header.
//
// An address is checked when its host is looked up and again on the socket when it is dialed. Both checks are repeated
// after each redirect, so a name that resolves differently the second time cannot bypass them. Requests to providers
// do not use this package: the operator sets their addresses.
package egress

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

// Bounds of one exchange. Options can change some of them.
const (
	defaultTimeout   = 10 * time.Second
	defaultMaxBody   = 1 << 20
	maxHeader        = 64 << 10
	defaultRedirects = 3
	dialTimeout      = 5 * time.Second
	idleTimeout      = 10 * time.Second
)

// Resolver looks up a host. *net.Resolver implements it.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Options configure a Client. The zero value is the strictest: HTTPS on port 443 to public addresses. Proxy settings
// in the environment are ignored, because a proxy would resolve names again.
type Options struct {
	// AllowPrivate are addresses that may be reached although they are not public: on any port, and over plain HTTP
	// too.
	AllowPrivate []netip.Prefix
	Resolver     Resolver       // nil: the system resolver
	RootCAs      *x509.CertPool // nil: the system roots

	AnyPort bool // allow any port of public addresses, over HTTPS
	PerHost int  // idle connections kept per host; 0 means 2

	Timeout   time.Duration // for a complete exchange, including reading the body; 0 means 10 s
	MaxBody   int64         // maximum bytes of a response body; 0 means 1 MiB, negative that the reader sets the bound
	Redirects int           // maximum number of redirects to follow; 0 means 3, negative none: the redirect is the response
}

// DeniedError means that an address may not be reached. Reason contains no query string.
type DeniedError struct{ Reason string }

// Error returns a text that is safe to log: it contains no address.
func (e *DeniedError) Error() string { return "address denied: " + e.Reason }

// ErrBodyTooLarge means that a response's body exceeds Options.MaxBody.
var ErrBodyTooLarge = errors.New("body too large")

// Client sends requests to addresses that users enter. It keeps no cookies.
type Client struct {
	http    http.Client
	gate    *gate
	maxBody int64
	timeout time.Duration
}

// New returns a client.
func New(o Options) *Client {
	g := newGate(&o)
	redirects := cmp.Or(o.Redirects, defaultRedirects)
	c := &Client{gate: g, maxBody: cmp.Or(o.MaxBody, defaultMaxBody), timeout: cmp.Or(o.Timeout, defaultTimeout)}
	c.http = http.Client{
		Transport: g,
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if redirects < 0 {
				return http.ErrUseLastResponse
			}
			if len(via) > redirects {
				return &DeniedError{Reason: fmt.Sprintf("more than %d redirects", redirects)}
			}
			req.Header.Del("Referer") // it would send the first address's query to the next host
			return nil
		},
	}
	return c
}

// Do sends a request. It returns a *DeniedError if the address, or a redirect target, may not be reached. No error
// contains the address's path or query. Reading the body fails with ErrBodyTooLarge if it exceeds the limit.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(req.Context(), c.timeout)
	resp, err := c.http.Do(req.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, bare(err)
	}
	// The client did not request an upgrade, and reads from the resulting socket would have no bound.
	if resp.StatusCode == http.StatusSwitchingProtocols {
		_ = resp.Body.Close()
		cancel()
		return nil, errors.New("send request: the response switches protocols")
	}
	body := &boundBody{ReadCloser: resp.Body, left: c.maxBody, ctx: ctx, cancel: cancel}
	if c.maxBody < 0 {
		body.left = math.MaxInt64 - 1
	}
	resp.Body = body
	return resp, nil
}

// Sockets returns a client for requests that become sockets, such as WebSockets. It reaches the same addresses and
// follows no redirect. An open socket has neither the timeout nor the size limit of an exchange.
func (c *Client) Sockets() *http.Client {
	return &http.Client{Transport: c.gate, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// bare removes the address from a client's error, because query strings contain other people's credentials.
func bare(err error) error {
	var u *url.Error
	if !errors.As(err, &u) {
		return err
	}
	var denied *DeniedError
	switch {
	case errors.As(u.Err, &denied):
		return denied
	case u.Timeout():
		return fmt.Errorf("send request: %w", timeoutError{u.Err})
	default:
		return fmt.Errorf("send request: %w", u.Err)
	}
}

// timeoutError is a timeout with a plain text. It unwraps to the original error.
type timeoutError struct{ err error }

func (timeoutError) Error() string   { return "no response in time" }
func (timeoutError) Timeout() bool   { return true }
func (e timeoutError) Unwrap() error { return e.err }

// boundBody fails beyond its limit, where an io.LimitReader would report the end. Closing it ends the exchange.
type boundBody struct {
	io.ReadCloser
	left   int64
	ctx    context.Context //nolint:containedctx // context of the exchange, which ends when the body is closed
	cancel context.CancelFunc
}

// Close implements io.Closer.
func (b *boundBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

func (b *boundBody) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if int64(n) > b.left {
		n, b.left = int(b.left), 0
		return n, ErrBodyTooLarge
	}
	b.left -= int64(n)
	if err == io.EOF && b.ctx.Err() != nil {
		// The timeout made the transport close the connection. If the server notices and ends its response before the
		// socket is closed, a truncated body would look complete.
		err = timeoutError{b.ctx.Err()}
	}
	return n, err
}

// transport returns an http.Transport with the bounds of this package that dials with dial.
func transport(o *Options, dial func(context.Context, string, string) (net.Conn, error)) *http.Transport {
	return &http.Transport{
		DialContext:            dial,
		TLSClientConfig:        &tls.Config{RootCAs: o.RootCAs, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    dialTimeout,
		ResponseHeaderTimeout:  cmp.Or(o.Timeout, defaultTimeout),
		MaxResponseHeaderBytes: maxHeader,
		IdleConnTimeout:        idleTimeout,
		MaxIdleConns:           max(64, 32*o.PerHost),
		MaxIdleConnsPerHost:    cmp.Or(o.PerHost, 2),
		DisableCompression:     true, // sizes are those of the file itself
		ForceAttemptHTTP2:      true,
	}
}
