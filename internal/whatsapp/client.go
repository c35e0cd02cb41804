package whatsapp

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"time"
)

// maxAnswer bounds an answer's body.
const maxAnswer = 1 << 20

// Options tune a Client; the zero value works.
type Options struct {
	RequestTimeout time.Duration  // of one request with its answer; 30 s when 0
	IdleConns      int            // connections kept open to the channel; 256 when 0
	RootCAs        *x509.CertPool // who may vouch for the channel; nil: the machine's
}

// Client speaks to the channel for all senders. It is safe for concurrent use.
type Client struct {
	wire      wire
	transport *http.Transport // through a proxy
	timeout   time.Duration
	accounts  accounts
}

// New makes a client; it opens nothing before the first request.
func New(o Options) *Client {
	if o.RequestTimeout <= 0 {
		o.RequestTimeout = 30 * time.Second
	}
	if o.IdleConns <= 0 {
		o.IdleConns = 256
	}
	return &Client{wire: wire{dial: newDial(o), most: o.IdleConns}, transport: newTransport(o), timeout: o.RequestTimeout}
}

// CloseIdleConnections closes the connections that carry nothing now: at the end, and when a lease was lost
// (engine.md, section 3).
func (c *Client) CloseIdleConnections() {
	c.wire.closeIdle()
	c.transport.CloseIdleConnections()
}

// fault is a request without a whole answer.
type fault struct {
	left bool // a byte of the request may have reached the channel
	err  error
}

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

// exchange sends one request, once, and reads its whole answer. The error is a *fault.
func (c *Client) exchange(ctx context.Context, t *target, body []byte) (answer, error) {
	if !t.direct {
		return c.exchangeByProxy(ctx, t, body)
	}
	deadline := time.Now().Add(c.timeout)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	a, left, err := c.wire.exchange(ctx, t, body, deadline)
	if err != nil {
		return answer{}, &fault{left: left, err: err}
	}
	return a, nil
}

// exchangeByProxy is exchange where the environment names a proxy. It goes to the transport itself, for an http.Client
// follows redirects; GetBody stays nil, so that the transport has nothing to send again.
func (c *Client) exchangeByProxy(ctx context.Context, target *target, body []byte) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	t := new(trace)
	req := (&http.Request{
		Method: target.method, URL: target.url, Host: target.url.Host, Header: target.header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(t.attach(ctx))
	if body != nil {
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		return answer{}, &fault{left: t.left(), err: err}
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end, or given up
	got, err := readBody(resp)
	if err != nil {
		return answer{}, &fault{left: true, err: fmt.Errorf("read answer %d: %w", resp.StatusCode, err)}
	}
	return answer{status: resp.StatusCode, header: resp.Header, body: got}, nil
}
