// Package client calls an installation of Carillon: it sends notifications, reads what became of them, manages templates, suppressions
// and webhooks, pulls events, and verifies what webhooks bring. It needs the standard library alone.
//
//	c, err := client.New("https://carillon.example.com", client.WithKey(os.Getenv("CARILLON_ACCESS_KEY")))
//	…
//	accepted, err := c.Send(ctx, client.Message{ … })
//
// Requests are repeated by the rules of docs/reference/errors.md: 429 after the seconds that the response names; 500, 502, 503, a proxy's
// 408 and 504, and connections that break with growing pauses, three attempts in all. A request to send has an Idempotency-Key
// of its own, so that a repeat after a lost response sends nothing twice. Every other request that changes something is
// repeated only where the response says that it was not begun. No error contains a key or a token.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Prefix is the path of the public routes.
const Prefix = "/functions/v1/"

// Client calls one installation. Make it with New. It is safe for concurrent use.
type Client struct {
	base    string // without a trailing slash
	agent   string
	http    *http.Client
	longest time.Duration // of one attempt; 0: the HTTP client bounds it
	retries Retries
	wait    func(d time.Duration, why error)
	pause   func(ctx context.Context, d time.Duration) error
	now     func() time.Time

	company, user credential
}

// Retries bound how requests are repeated. What is zero is as in the comment.
type Retries struct {
	Attempts int           // for failures: 3
	Limited  int           // for rate limits: 20
	Longest  time.Duration // pause; what asks for a longer one is returned as an error: 2 minutes
	First    time.Duration // pause after a failure, doubled each time: half a second
}

// Option changes a client.
type Option func(*Client)

// WithKey calls the company's routes with an access key. The key itself is sent once an hour, in a header, for a token that stands in for
// it: it is in no address, where proxies would log it.
func WithKey(key string) Option {
	return func(c *Client) { c.company = &exchanged{tokens: newTokens(), key: key} }
}

// WithKeyInQuery calls the company's routes with an access key in the query of each address, as programs without this package do.
func WithKeyInQuery(key string) Option { return func(c *Client) { c.company = inQuery(key) } }

// WithCompanyToken calls the company's routes with a company token, which is the caller's to renew.
func WithCompanyToken(token string) Option {
	return func(c *Client) { c.company = fixed(token) }
}

// WithSignIn calls the user's routes as the user with an e-mail and a password: it signs in with the first call and renews the session.
func WithSignIn(email, password string) Option {
	return func(c *Client) { c.user = &signedIn{tokens: newTokens(), email: email, password: password} }
}

// WithUserToken calls the user's routes with an access token, which is the caller's to renew.
func WithUserToken(token string) Option { return func(c *Client) { c.user = fixed(token) } }

// WithHTTPClient sends requests by another HTTP client, such as one with a proxy or with certificates of its own. It should follow no
// redirect, and its Timeout alone bounds an attempt, also that of a long upload or recording.
func WithHTTPClient(h *http.Client) Option {
	return func(c *Client) { c.http, c.longest = h, 0 }
}

// WithUserAgent names the program in requests.
func WithUserAgent(agent string) Option { return func(c *Client) { c.agent = agent } }

// WithRetries changes how requests are repeated. Attempts 1 repeats nothing but for rate limits, Limited 1 not those either.
func WithRetries(r Retries) Option { return func(c *Client) { c.retries = r } }

// WithNotice calls a function before each repeat with the pause and its reason.
func WithNotice(f func(pause time.Duration, why error)) Option { return func(c *Client) { c.wait = f } }

// WithPause replaces how the client waits, for tests.
func WithPause(f func(ctx context.Context, d time.Duration) error) Option {
	return func(c *Client) { c.pause = f }
}

// requestTimeout bounds one attempt; of an upload or a recording, the time in which nothing moves.
const requestTimeout = 60 * time.Second

// New returns a client of the installation at an address such as https://carillon.example.com.
func New(base string, options ...Option) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("the address of the program must look like http://127.0.0.1:8080")
	}
	c := &Client{
		base: strings.TrimRight(base, "/"), agent: "carillon-client-go", pause: Pause, now: time.Now,
		company: missing("an access key"), user: missing("a user"),
		// A redirect is not followed: it would repeat the key elsewhere.
		http:    &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		longest: requestTimeout,
	}
	return c.With(options...), nil
}

// With returns a client that differs by options.
func (c *Client) With(options ...Option) *Client {
	d := *c
	for _, o := range options {
		o(&d)
	}
	return &d
}

// Base is the address of the installation, without a trailing slash.
func (c *Client) Base() string { return c.base }

// As is who makes a call.
type As int

// Who makes calls.
const (
	Nobody  As = iota
	Company    // by the access key
	User       // by the session of a user
)

// Call is one request, for routes that have no method here. Without Out and Into the response's body is not read.
type Call struct {
	Method, Path string // the path with its leading slash, escaped
	Query        url.Values
	Body, Out    any // as JSON
	As           As
	Idempotency  string    // Idempotency-Key; makes a POST safe to repeat
	Safe         bool      // it can be repeated although it is no GET
	Once         bool      // never repeated, as for health checks
	Into         io.Writer // gets the body as it is, of any length, instead of Out; not repeated once it has got a part

	header http.Header
	form   func() (body io.Reader, contentType string, err error) // instead of Body
}

// Reply is the part of a response other than its body.
type Reply struct {
	Replayed bool // the response of an earlier request with the same Idempotency-Key
	header   http.Header
}

// maxResponse bounds the body of a response.
const maxResponse = 32 << 20

// Do sends a request, and repeats it where that is allowed. Errors: *Error for a response other than success, *Unreachable where there was
// none.
func (c *Client) Do(ctx context.Context, call Call) (Reply, error) {
	if call.Body != nil {
		body, err := json.Marshal(call.Body)
		if err != nil {
			return Reply{}, fmt.Errorf("write the request: %w", err)
		}
		call.form = func() (io.Reader, string, error) { return bytes.NewReader(body), "application/json", nil }
	}
	renewed := false
	for try := 1; ; try++ {
		key, token, err := c.credentialOf(call.As).get(ctx, c)
		if err != nil {
			return Reply{}, err // what could be repeated of it was: a wrong password is not tried twice
		}
		reply, err := c.once(ctx, call, key, token)
		if expired(err) && !renewed && c.credentialOf(call.As).renew(token) {
			renewed = true
			continue
		}
		wait, again := c.retryIn(err, call, try)
		if !again || ctx.Err() != nil {
			return reply, err
		}
		if c.wait != nil {
			c.wait(wait, err)
		}
		if perr := c.pause(ctx, wait); perr != nil {
			return reply, errors.Join(err, perr)
		}
	}
}

// Pause waits for a duration or until the context ends.
func Pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func (c *Client) once(ctx context.Context, call Call, key, token string) (Reply, error) {
	ctx, t, end := timed(ctx, call, c.longest)
	defer end()
	req, err := c.request(ctx, call, key, token)
	if err != nil {
		return Reply{}, err
	}
	if req.Body != nil {
		req.Body = t.sending(req.Body)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return Reply{}, unreachable(c.base, t.cause(err))
	}
	defer func() { _ = resp.Body.Close() }()
	if call.Into != nil && resp.StatusCode == http.StatusOK {
		if _, err := io.Copy(call.Into, t.receiving(resp.Body)); err != nil {
			return Reply{}, fmt.Errorf("keep the response of %s: %w", c.base, t.cause(err))
		}
		return Reply{}, nil
	}
	text, err := io.ReadAll(io.LimitReader(t.receiving(resp.Body), maxResponse))
	if err != nil {
		return Reply{}, unreachable(c.base, t.cause(err))
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return Reply{}, readError(resp, text)
	}
	reply := Reply{Replayed: resp.Header.Get("Idempotent-Replayed") == "true", header: resp.Header}
	if call.Out == nil || resp.StatusCode == http.StatusNoContent {
		return reply, nil
	}
	if err := json.Unmarshal(text, call.Out); err != nil {
		e := unexpected(resp)
		e.Message = fmt.Sprintf("cannot read the response of %s: %v", c.base, err)
		return reply, e
	}
	return reply, nil
}

func (c *Client) credentialOf(as As) credential {
	switch as {
	case Company:
		return c.company
	case User:
		return c.user
	default:
		return nobody{}
	}
}

func (c *Client) request(ctx context.Context, call Call, key, token string) (*http.Request, error) {
	query := url.Values{}
	maps.Copy(query, call.Query)
	if key != "" {
		query.Set("access_key", key)
	}
	address := c.base + call.Path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	var body io.Reader
	var contentType string
	if call.form != nil {
		var err error
		if body, contentType, err = call.form(); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, call.Method, address, body)
	if err != nil {
		return nil, errors.New("the request's address is malformed") // the cause would show the key
	}
	maps.Copy(req.Header, call.header)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if call.Idempotency != "" {
		req.Header.Set("Idempotency-Key", call.Idempotency)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.agent)
	return req, nil
}
