// Package whatsapp is a client of the WhatsApp Business Cloud API: it sends template messages, submits templates to the
// channel's review, and verifies and parses the channel's callbacks.
//
// A message is posted at most once per call of Send. The client uses HTTP/1.1 with one message in flight per
// connection, so that a broken connection leaves the outcome of only one message unknown, not of a hundred. It follows
// no redirects, and net/http repeats a POST only if no byte of it was written. Verdicts:
//
//	the channel cannot be reached                pause_sender
//	no byte written                              retry_later
//	a byte written, no complete response         unknown
//	429 without the channel's JSON               retry_later
//	502, 504, or another response not its own    unknown
//	the channel's response with an id            sent
//	the channel's response with an error         by the table in rules.go
//
// The package keeps no state except parsed settings and open connections. Callers decide when to send, and do the
// retrying and storing.
package whatsapp

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"carillon"
	"carillon/internal/base/cache"
	"carillon/internal/base/egress"
)

const (
	maxResponse = 1 << 20 // bytes of a body
	maxHeader   = 64 << 10
	dialTimeout = 10 * time.Second
	idleTimeout = 45 * time.Second
	maxAccounts = 8192 // cached accounts
	// writeBuffer fits the header of any request that settings allow, so that no byte is sent before WroteHeaders is
	// called.
	writeBuffer = 16 << 10
)

// Options configure a Client. The zero value works.
type Options struct {
	RequestTimeout time.Duration  // for one request including its response; 0 means 30 s
	IdleConns      int            // connections kept open to the channel; 0 means 512
	RootCAs        *x509.CertPool // to verify the channel's certificate; nil means the system roots
	Egress         *egress.Client // restricts addresses chosen by company members; nil means only public ones
}

// Client communicates with the channel for all senders. It is safe for concurrent use.
type Client struct {
	transport *http.Transport
	egress    *egress.Client
	guarded   http.RoundTripper // for addresses chosen by company members
	timeout   time.Duration
	accounts  *cache.Cache[*account] // by settings; changed settings are a different account
}

// New returns a client. It opens no connection before the first request.
func New(o Options) *Client {
	if o.RequestTimeout <= 0 {
		o.RequestTimeout = 30 * time.Second
	}
	if o.IdleConns <= 0 {
		o.IdleConns = 512
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true) // one request in flight per connection: when it breaks, only one outcome is unknown
	if o.Egress == nil {
		o.Egress = egress.New(egress.Options{})
	}
	transport := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}).DialContext,
		Protocols:              protocols,
		TLSClientConfig:        &tls.Config{RootCAs: o.RootCAs, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    dialTimeout,
		MaxIdleConnsPerHost:    o.IdleConns,
		IdleConnTimeout:        idleTimeout,
		DisableCompression:     true, // responses are a few hundred bytes
		WriteBufferSize:        writeBuffer,
		MaxResponseHeaderBytes: maxHeader,
	}
	return &Client{
		timeout: o.RequestTimeout, accounts: cache.New[*account](maxAccounts, 0), transport: transport,
		egress: o.Egress, guarded: o.Egress.Guard(transport),
	}
}

// Admit checks the channel's address if a member of the company chose it.
func (c *Client) Admit(ctx context.Context, settings json.RawMessage) error {
	const field = "settings.base_url"
	base, chosen, err := BaseURL(settings)
	if err != nil || !chosen {
		return err
	}
	err = c.egress.Admit(ctx, base)
	var denied *egress.DeniedError
	switch {
	case errors.As(err, &denied):
		return carillon.Invalid(field, "Must be an https address on port 443 of the public internet; "+
			"the setting media-allow-private names private networks that are allowed too")
	case err != nil:
		return carillon.Invalid(field, "This name has no address")
	}
	return nil
}

// to returns the round tripper for an account's requests.
func (c *Client) to(a *account) http.RoundTripper {
	if a.public == "true" {
		return c.guarded
	}
	return c.transport
}

// account returns a sender's parsed settings, ready for requests.
func (c *Client) account(s *carillon.Sender) (*account, error) {
	if a, ok := c.accounts.Peek(string(s.Settings)); ok {
		return a, nil
	}
	a, err := newAccount(s.Settings)
	if err == nil {
		c.accounts.Put(string(s.Settings), a, "", 0)
	}
	return a, err
}

// CloseIdleConnections closes idle connections. It is called when the program stops and when the node's lease was
// lost.
func (c *Client) CloseIdleConnections() {
	c.transport.CloseIdleConnections()
	if g, ok := c.guarded.(interface{ CloseIdleConnections() }); ok {
		g.CloseIdleConnections()
	}
}

// exchangeError is a request without a complete response.
type exchangeError struct {
	written bool // bytes of the request may have reached the channel
	err     error
}

func (e *exchangeError) Error() string { return e.err.Error() }
func (e *exchangeError) Unwrap() error { return e.err }

// exchange sends one request and reads its complete response. It calls the transport directly, because an http.Client
// follows redirects. GetBody lets the transport try another connection if a kept connection was closed before a byte
// was written. After that it repeats no POST, because the request carries no idempotency key. The error is an
// *exchangeError.
func (c *Client) exchange(ctx context.Context, a *account, method string, u *url.URL, body []byte) (response, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	var written atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:      func(string) { written.Store(false) }, // a new attempt: nothing has been written yet
		WroteHeaders: func() { written.Store(true) },
	})
	req := (&http.Request{
		Method: method, URL: u, Host: u.Host, Header: a.header, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	if body != nil {
		req.ContentLength = int64(len(body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		req.Body, _ = req.GetBody()
	}
	resp, err := c.to(a).RoundTrip(req)
	if err != nil {
		return response{}, &exchangeError{written: written.Load(), err: err}
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end, or abandoned
	got, err := readBody(resp)
	if err != nil {
		return response{}, &exchangeError{written: true, err: fmt.Errorf("read response %d: %w", resp.StatusCode, err)}
	}
	return response{status: resp.StatusCode, header: resp.Header, body: got}, nil
}

func readBody(resp *http.Response) ([]byte, error) {
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return nil, errors.New("unexpected change of protocol") // no timeout bounds reading such a body
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	if err == nil && len(body) > maxResponse {
		err = errors.New("response too long")
	}
	return body, err
}
