package site

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html/charset"

	"carillon/internal/base/egress"
)

const (
	agentName    = "Carillon"
	maxPage      = 2 << 20
	maxSitemap   = 10 << 20 // bytes, decompressed
	maxRobots    = 512 << 10
	maxRedirects = 5
	maxAddress   = 2000
	fetchTime    = 20 * time.Second
)

// NewClient returns the client for sites: redirects are followed here, on the same host only.
func NewClient(o egress.Options) *egress.Client {
	o.MaxBody, o.Redirects, o.Timeout = maxSitemap, -1, fetchTime
	return egress.New(o)
}

// response is a page or file as it was fetched.
type response struct {
	url            *url.URL // after redirects
	status         int
	kind           string // media type
	encoding       string // as declared by the server
	body           []byte
	etag, modified string
	noindex        bool // by its header
}

// movedError means that an address leads to another host.
type movedError struct{ host string }

func (e *movedError) Error() string { return "redirected to " + e.host }

var errTooLarge = errors.New("too large")

// fetch fetches an address. etag and modified are those of the last look, and empty without one.
func (c *crawl) fetch(ctx context.Context, u *url.URL, maxBytes int64, etag, modified string) (*response, error) {
	for range maxRedirects + 1 {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return nil, fmt.Errorf("read address: %w", err)
		}
		r.Header.Set("User-Agent", agentName)
		r.Header.Set("Accept", "text/html, application/xhtml+xml, text/markdown, text/plain, application/xml;q=0.9")
		if etag != "" {
			r.Header.Set("If-None-Match", etag)
		}
		if modified != "" {
			r.Header.Set("If-Modified-Since", modified)
		}
		resp, err := c.client.Do(r)
		if err != nil {
			return nil, err
		}
		if location, err := resp.Location(); err == nil && resp.StatusCode >= 300 && resp.StatusCode < 400 {
			_ = resp.Body.Close()
			if !c.sameHost(location) {
				return nil, &movedError{location.Host}
			}
			location.Fragment = ""
			if u = location; len(u.String()) > maxAddress {
				break
			}
			etag, modified = "", ""
			continue
		}
		return c.read(resp, u, maxBytes)
	}
	return nil, errors.New("too many redirects")
}

// read reads a response.
func (c *crawl) read(resp *http.Response, u *url.URL, maxBytes int64) (*response, error) {
	defer func() { _ = resp.Body.Close() }()
	x := &response{
		url: u, status: resp.StatusCode, etag: short(resp.Header.Get("ETag")), modified: short(resp.Header.Get("Last-Modified")),
	}
	for _, value := range resp.Header.Values("X-Robots-Tag") {
		x.noindex = x.noindex || excludes(value)
	}
	x.encoding = resp.Header.Get("Content-Type")
	x.kind, _, _ = mime.ParseMediaType(x.encoding)
	if resp.StatusCode != http.StatusOK {
		return x, nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if c.bytes += int64(len(body)); int64(len(body)) > maxBytes {
		return nil, errTooLarge
	}
	x.body = body
	return x, nil
}

// text returns the body of a page in UTF-8.
func (x *response) text() ([]byte, error) {
	r, err := charset.NewReader(bytes.NewReader(x.body), x.encoding)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, 3*maxPage))
}

// short returns a header's value unless it is too long to be kept.
func short(value string) string {
	if len(value) > 200 {
		return ""
	}
	return value
}

func isPage(kind string) bool {
	switch kind {
	case "text/html", "application/xhtml+xml", "text/markdown", "text/plain":
		return true
	}
	return false
}

// excludes reports whether a directive for robots excludes a page from being read.
func excludes(value string) bool {
	// A directive may be for one robot by name: "googlebot: noindex".
	if name, rest, ok := strings.Cut(value, ":"); ok && !strings.ContainsAny(name, ", ") && !strings.EqualFold(name, "unavailable_after") {
		if !strings.EqualFold(strings.TrimSpace(name), agentName) {
			return false
		}
		value = rest
	}
	for word := range strings.SplitSeq(strings.ToLower(value), ",") {
		if word = strings.TrimSpace(word); word == "noindex" || word == "none" {
			return true
		}
	}
	return false
}

// sameHost reports whether an address is on the site's host. A site that moved from HTTP to HTTPS is the same.
func (c *crawl) sameHost(u *url.URL) bool {
	if u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return false
	}
	return strings.EqualFold(u.Host, c.start.Host) ||
		strings.EqualFold(u.Hostname(), c.start.Hostname()) && u.Port() == "" && c.start.Port() == ""
}

// decompressed returns a file that may be compressed with gzip.
func decompressed(body []byte) ([]byte, error) {
	if !bytes.HasPrefix(body, []byte{0x1f, 0x8b}) {
		return body, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(r, maxSitemap+1))
	if len(text) > maxSitemap {
		return nil, errTooLarge
	}
	return text, err
}
