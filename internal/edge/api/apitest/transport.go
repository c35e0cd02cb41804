package apitest

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// Transport sends requests through Next and checks every response. A violation fails the test.
type Transport struct {
	Test    testing.TB
	Checker *Checker
	Next    http.RoundTripper
}

// RoundTrip sends one request. The panel's API and the pages for browsers are not part of the description, so they are
// not checked.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	sent, err := drain(&r.Body)
	if err != nil {
		return nil, err
	}
	res, err := t.Next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	got, err := drain(&res.Body)
	if err != nil {
		return nil, err
	}
	page := slices.Contains([]string{"/", "/panel", "/try"}, r.URL.Path) && strings.HasPrefix(res.Header.Get("Content-Type"), "text/html")
	documentation := r.URL.Path == "/docs" || strings.HasPrefix(r.URL.Path, "/docs/") || r.URL.Path == "/llms.txt"
	if page || documentation || strings.HasPrefix(r.URL.Path, "/l/") || strings.HasPrefix(r.URL.Path, "/panel/") {
		return res, nil
	}
	if err := t.Checker.Check(Exchange{r, sent, res, got}); err != nil {
		t.Test.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	return res, nil
}

// drain reads a body and replaces it with a copy.
func drain(body *io.ReadCloser) ([]byte, error) {
	if *body == nil || *body == http.NoBody {
		return nil, nil
	}
	read, err := io.ReadAll(*body)
	err = errors.Join(err, (*body).Close())
	*body = io.NopCloser(bytes.NewReader(read))
	return read, err
}
