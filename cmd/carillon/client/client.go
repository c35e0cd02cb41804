// Package client is the command line's client of a running program: it calls the public routes with an access key and the
// panel's with a bearer token. It retries by the rules of docs/reference/errors.md, and no error contains a key.
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

// Client talks to one installation. Key and Bearer are used by the calls that ask for them.
type Client struct {
	Base   string // without a trailing slash
	Key    string
	Bearer string
	// Wait, if not nil, is called before each retry with the pause and its reason.
	Wait func(d time.Duration, why error)

	http  *http.Client
	agent string
}

// requestTimeout is the limit of one attempt.
const requestTimeout = 60 * time.Second

// New returns a client of the installation at base. It follows no redirect, which would repeat the key.
func New(base, agent string) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return nil, errors.New("the address of the program must look like http://127.0.0.1:8080")
	}
	return &Client{
		Base: strings.TrimRight(base, "/"), agent: agent,
		http: &http.Client{
			Timeout:       requestTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Call is one request. Without Out the response's body is not read.
type Call struct {
	Method, Path string // the path with its leading slash, escaped
	Query        url.Values
	Body, Out    any
	ByKey        bool      // adds access_key
	ByBearer     bool      // adds Authorization
	Idempotency  string    // Idempotency-Key; makes a POST safe to repeat
	Once         bool      // never repeated, as for health checks
	Into         io.Writer // gets the body as it is, of any length, instead of Out; goes with Once
}

// Reply is the part of a response other than its body.
type Reply struct {
	Replayed bool // the response of an earlier request with the same Idempotency-Key
}

// maxResponse is the limit of a response's body.
const maxResponse = 32 << 20

// Do sends the request, and repeats it where that is allowed. Errors: *Error for a response other than success.
func (c *Client) Do(ctx context.Context, call Call) (Reply, error) {
	var body []byte
	if call.Body != nil {
		var err error
		if body, err = json.Marshal(call.Body); err != nil {
			return Reply{}, fmt.Errorf("write the request: %w", err)
		}
	}
	for try := 1; ; try++ {
		reply, err := c.once(ctx, call, body)
		wait, again := retryIn(err, call, try)
		if !again {
			return reply, err
		}
		if c.Wait != nil {
			c.Wait(wait, err)
		}
		if err := Pause(ctx, wait); err != nil {
			return reply, err
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

func (c *Client) once(ctx context.Context, call Call, body []byte) (Reply, error) {
	req, err := c.request(ctx, call, body)
	if err != nil {
		return Reply{}, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return Reply{}, unreachable(c.Base, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if call.Into != nil && resp.StatusCode == http.StatusOK {
		if _, err := io.Copy(call.Into, resp.Body); err != nil {
			return Reply{}, fmt.Errorf("keep the response of %s: %w", c.Base, err)
		}
		return Reply{}, nil
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse))
	if err != nil {
		return Reply{}, unreachable(c.Base, err)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return Reply{}, readError(resp, text)
	}
	reply := Reply{Replayed: resp.Header.Get("Idempotent-Replayed") == "true"}
	if call.Out == nil || resp.StatusCode == http.StatusNoContent {
		return reply, nil
	}
	if err := json.Unmarshal(text, call.Out); err != nil {
		return reply, fmt.Errorf("cannot read the response of %s: %w", c.Base, err)
	}
	return reply, nil
}

func (c *Client) request(ctx context.Context, call Call, body []byte) (*http.Request, error) {
	query := url.Values{}
	maps.Copy(query, call.Query)
	if call.ByKey {
		query.Set("access_key", c.Key)
	}
	address := c.Base + call.Path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, call.Method, address, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the request's address is malformed") // the cause would show the key
	}
	if call.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if call.ByBearer {
		req.Header.Set("Authorization", "Bearer "+c.Bearer)
	}
	if call.Idempotency != "" {
		req.Header.Set("Idempotency-Key", call.Idempotency)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.agent)
	return req, nil
}
