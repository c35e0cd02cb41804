// Package translate translates a widget's first texts into the language of a page, with a LibreTranslate server that
// the operator configures. A page must neither wait nor fail because of it: requests have a short timeout, results are
// cached, and after any failure the original is shown.
package translate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"carillon/internal/base/cache"
)

const (
	requestTimeout = 3 * time.Second // a page waits at most this long, and only once
	maxEntries     = 4096
	maxText        = 4000 // characters; longer texts are not translated
	maxAnswer      = 256 << 10
	// keepFailed is the pause after a failure, keepRefused the pause after the server refused a text.
	keepFailed  = time.Minute
	keepRefused = time.Hour
)

// Options configure a Client. URL is required.
type Options struct {
	URL string // of the server, without /translate
	Key string // may be empty if the server requires none
	Log *slog.Logger
	Now func() time.Time // default: time.Now
}

// Client translates texts. Create it with New. Its methods are safe for concurrent use.
type Client struct {
	o    Options
	http *http.Client
	kept *cache.Cache[kept]
}

// kept is a cached translation, or a cached failure.
type kept struct {
	text  string
	until time.Time // expiry of a failure; zero value: a translation
}

// New returns a client.
func New(o Options) *Client {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.URL = strings.TrimSuffix(o.URL, "/")
	transport := &http.Transport{MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute, MaxConnsPerHost: 16}
	return &Client{o: o, http: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // the key must not be sent to other servers
	}}, kept: cache.New[kept](maxEntries, requestTimeout)}
}

// Translate returns a text in another language, or the original if that is not possible now. Languages are BCP 47
// tags.
func (c *Client) Translate(ctx context.Context, text, from, to string) string {
	source, target := code(from), code(to)
	if source == target || target == "" || strings.TrimSpace(text) == "" || utf8.RuneCountInString(text) > maxText {
		return text
	}
	key := source + "\x00" + target + "\x00" + text
	if x, ok := c.kept.Peek(key); ok && !x.until.IsZero() && !c.o.Now().Before(x.until) {
		c.kept.Remove(key)
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	x, err := c.kept.Get(ctx, key, func(ctx context.Context) (kept, string, error) { return c.load(ctx, text, source, target), "", nil })
	if err != nil || !x.until.IsZero() {
		return text
	}
	return x.text
}

func (c *Client) load(ctx context.Context, text, source, target string) kept {
	translated, err := c.ask(ctx, text, source, target)
	if err == nil {
		return kept{text: translated}
	}
	c.o.Log.WarnContext(ctx, "translate a widget's text", "from", source, "to", target, "error", err)
	if _, refused := errors.AsType[*refusedError](err); refused {
		return kept{until: c.o.Now().Add(keepRefused)}
	}
	return kept{until: c.o.Now().Add(keepFailed)}
}

// refusedError means that retrying soon is useless.
type refusedError struct{ status int }

func (e *refusedError) Error() string { return fmt.Sprintf("the server answered %d", e.status) }

type question struct {
	Q      string `json:"q"`
	Source string `json:"source"`
	Target string `json:"target"`
	Format string `json:"format"`
	Key    string `json:"api_key,omitempty"`
}

func (c *Client) ask(ctx context.Context, text, source, target string) (string, error) {
	body, err := json.Marshal(question{text, cmp.Or(source, "auto"), target, "text", c.o.Key}) //nolint:gosec // meant for this server
	if err != nil {
		return "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.o.URL+"/translate", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	switch {
	case err != nil:
		return "", err
	case resp.StatusCode == http.StatusBadRequest, resp.StatusCode == http.StatusForbidden:
		return "", &refusedError{resp.StatusCode}
	case resp.StatusCode != http.StatusOK:
		return "", fmt.Errorf("the server answered %d", resp.StatusCode)
	}
	var x struct {
		Text *string `json:"translatedText"`
	}
	if err := json.Unmarshal(answer, &x); err != nil || x.Text == nil || strings.TrimSpace(*x.Text) == "" ||
		utf8.RuneCountInString(*x.Text) > 2*maxText {
		return "", errors.New("the server's answer is no translation")
	}
	return *x.Text, nil
}

// code returns a language in the form of the server: without the region, except for the two scripts of Chinese. It
// returns "" if there is none.
func code(tag string) string {
	base, rest, _ := strings.Cut(strings.ToLower(tag), "-")
	if base == "zh" {
		for part := range strings.SplitSeq(rest, "-") {
			if part == "hant" || part == "tw" || part == "hk" || part == "mo" {
				return "zt"
			}
		}
	}
	return base
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }
