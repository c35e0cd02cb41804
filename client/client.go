// Package client calls an installation of Carillon: it sends notifications, reads their results, manages templates,
// suppressions and webhooks, pulls events, and verifies the requests of webhooks. It needs only the standard library.
//
//	c, err := client.New("https://carillon.example.com", client.WithKey(os.Getenv("CARILLON_ACCESS_KEY")))
//	…
//	accepted, err := c.Send(ctx, client.Message{ … })
//
// Requests are repeated according to docs/reference/errors.md: after a 429, when the seconds in the response have
// passed; after a 500, 502 or 503, a proxy's 408 or 504, or a broken connection, with exponential backoff and at most
// three attempts. A request to send has its own Idempotency-Key, so a repetition after a lost response sends nothing
// twice. Other requests that change data are repeated only if the response says that they were not started. Errors
// never contain a key or a token.
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

// Client calls one installation. New builds it. It is safe for concurrent use.
type Client struct {
	base    string // without a trailing slash
	agent   string
	http    *http.Client
	longest time.Duration // timeout of one attempt; 0 means that of the HTTP client
	retries Retries
	wait    func(d time.Duration, why error)
	pause   func(ctx context.Context, d time.Duration) error
	now     func() time.Time

	company, user credential
}

// Retries limit how requests are repeated. A zero field means the default in its comment.
type Retries struct {
	Attempts int // maximum attempts of a request that fails; default 3
	Limited  int // maximum attempts of a request that is rate-limited; default 20
	// Longest is the maximum pause, by default 2 minutes. If a response asks for a longer one, its error is returned.
	Longest time.Duration
	First   time.Duration // pause after the first failure, doubled each time; default 0.5 seconds
}

// Option changes a client.
type Option func(*Client)

// WithKey calls the company's routes with an API key. The key itself is sent once an hour, in a header, to obtain a
// token that is used instead. So it is never part of an address, which proxies might log.
func WithKey(key string) Option {
	return func(c *Client) { c.company = &exchanged{tokens: newTokens(), key: key} }
}

// WithKeyInQuery calls the company's routes with an API key in the query of each address, as programs without this
// package do.
func WithKeyInQuery(key string) Option { return func(c *Client) { c.company = inQuery(key) } }

// WithCompanyToken calls the company's routes with a company token. The caller must renew it.
func WithCompanyToken(token string) Option {
	return func(c *Client) { c.company = fixed(token) }
}

// WithSignIn calls the user's routes as the user with an e-mail address and a password. It signs in with the first
// call and renews the session.
func WithSignIn(email, password string) Option {
	return func(c *Client) { c.user = &signedIn{tokens: newTokens(), email: email, password: password} }
}

// WithUserToken calls the user's routes with an access token. The caller must renew it.
func WithUserToken(token string) Option { return func(c *Client) { c.user = fixed(token) } }

// WithHTTPClient sends requests with another HTTP client, for example one with a proxy or its own certificates. It
// should not follow redirects. Its Timeout is the only limit of an attempt, even for long uploads and recordings.
func WithHTTPClient(h *http.Client) Option {
	return func(c *Client) { c.http, c.longest = h, 0 }
}

// WithUserAgent sets the User-Agent header of requests.
func WithUserAgent(agent string) Option { return func(c *Client) { c.agent = agent } }

// WithRetries changes how requests are repeated. Attempts: 1 disables repeats after failures, Limited: 1 those after
// rate limits.
func WithRetries(r Retries) Option { return func(c *Client) { c.retries = r } }

// WithNotice calls a function before each repeat, with the pause and its reason.
func WithNotice(f func(pause time.Duration, why error)) Option { return func(c *Client) { c.wait = f } }

// WithPause replaces the function that waits, for tests.
func WithPause(f func(ctx context.Context, d time.Duration) error) Option {
	return func(c *Client) { c.pause = f }
}

// requestTimeout limits one attempt; for uploads and recordings, the time without progress.
const requestTimeout = 60 * time.Second

// New returns a client for the installation at an address such as https://carillon.example.com.
func New(base string, options ...Option) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("the address of the program must look like http://127.0.0.1:8080")
	}
	c := &Client{
		base: strings.TrimRight(base, "/"), agent: "carillon-client-go", pause: Pause, now: time.Now,
		company: missing("an API key"), user: missing("a user"),
		// Redirects are not followed: they would repeat the key elsewhere.
		http:    &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		longest: requestTimeout,
	}
	return c.With(options...), nil
}

// With returns a copy of the client with other options.
func (c *Client) With(options ...Option) *Client {
	d := *c
	for _, o := range options {
		o(&d)
	}
	return &d
}

// Base returns the address of the installation, without a trailing slash.
func (c *Client) Base() string { return c.base }

// As selects the credential of a call.
type As int

// Credentials of calls.
const (
	Nobody  As = iota
	Company    // the API key
	User       // the session of a user
)

// Call is one request, for routes without a method in this package. Without Out and Into, the response's body is not
// read.
type Call struct {
	Method, Path string // the path has a leading slash and is escaped
	Query        url.Values
	Body, Out    any // as JSON
	As           As
	Idempotency  string // Idempotency-Key; makes a POST safe to repeat
	Safe         bool   // safe to repeat although not a GET
	Once         bool   // never repeated, as for health checks
	// Into receives the raw body of any length, instead of Out. The request is not repeated once it has received a
	// part.
	Into io.Writer

	header http.Header
	form   func() (body io.Reader, contentType string, err error) // replaces Body
}

// Reply is a response without its body.
type Reply struct {
	Replayed bool // the response of an earlier request with the same Idempotency-Key
	header   http.Header
}

// maxResponse limits the body of a response.
const maxResponse = 32 << 20

// Do sends a request, and repeats it if that is allowed. Errors: *Error for an unsuccessful response, *Unreachable if
// there was no response.
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
			return Reply{}, err // get has already repeated its requests; a wrong password is not tried twice
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
