package contracttest

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"carillon/internal/edge/api/apitest"
	"carillon/internal/edge/panel/member"
)

var checker = sync.OnceValues(func() (*apitest.Checker, error) { return apitest.New(openAPI) }) //nolint:gochecknoglobals // compiled once

// Check returns a handler that serves requests with next. A response of the panel's routes that differs from the
// description fails the test, and so does an accepted request.
func Check(t testing.TB, next http.Handler) http.Handler {
	t.Helper()
	c, err := checker()
	if err != nil {
		t.Fatal(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, member.Prefix+"/") || r.Method == http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		var sent bytes.Buffer
		if r.Header.Get("Content-Type") == "application/json" {
			r.Body = body{io.TeeReader(r.Body, &sent), r.Body}
		}
		copied := &recorder{ResponseWriter: w}
		next.ServeHTTP(copied, r)
		if copied.status < http.StatusOK || copied.status/100 == 3 || r.Context().Err() != nil {
			return // a WebSocket, a redirect, or the client has left
		}
		described := *r
		described.URL = &url.URL{Path: strings.TrimPrefix(r.URL.Path, member.Prefix), RawQuery: r.URL.RawQuery}
		err := c.Check(apitest.Exchange{
			Request: &described, RequestBody: sent.Bytes(), Response: &http.Response{StatusCode: copied.status, Header: w.Header()},
			ResponseBody: copied.body.Bytes(),
		})
		if err != nil {
			t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
		}
	})
}

// body is a request's body that is copied while it is read.
type body struct {
	io.Reader
	io.Closer
}

// recorder copies a response in JSON.
type recorder struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	if r.Header().Get("Content-Type") == "application/json" {
		r.body.Write(b)
	}
	return r.ResponseWriter.Write(b)
}

// Unwrap gives http.ResponseController access to the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
