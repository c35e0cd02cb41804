package app_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"carillon/internal/app"
	"carillon/internal/base/config"
	"carillon/internal/base/need"
)

// dialFrom connects from a loopback address.
func dialFrom(t *testing.T, a *app.App, from string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(a.BaseURL(), "http://"))
	need.That(t, err == nil, fmt.Sprint("a network on loopback: ", err))
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(app.Hung))
	return c
}

// respond sends a request on a connection and reads the response.
func respond(c net.Conn, request string) (*http.Response, []byte, error) {
	if _, err := io.WriteString(c, request); err != nil {
		return nil, nil, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return resp, body, err
}

const healthy = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"

func TestUnreadableRequestsGetTheErrorBody(t *testing.T) {
	t.Parallel()
	a, _ := demo(t, nil)
	for request, want := range map[string]struct {
		status int
		field  string
	}{
		"nonsense\r\n\r\n": {400, "request"},
		// No Host.
		"GET /healthz HTTP/1.1\r\n\r\n":                                                      {400, "request"},
		"GET /healthz HTTP/1.1\r\nHost: x\r\nA b: c\r\n\r\n":                                 {400, "request"},
		"GET /healthz HTTP/2.7\r\nHost: x\r\n\r\n":                                           {505, "version"},
		"GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: a\r\n\r\n":                              {417, "Expect"},
		"POST /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n":               {501, "Transfer-Encoding"},
		"GET /healthz HTTP/1.1\r\nHost: x\r\nA: " + strings.Repeat("x", 60<<10) + "\r\n\r\n": {431, "headers"},
	} {
		for _, before := range []bool{false, true} { // as the first request, and after another one
			c := dialFrom(t, a, "127.0.0.1")
			if before {
				if _, _, err := respond(c, healthy); err != nil {
					t.Fatal(err)
				}
			}
			resp, body, err := respond(c, request)
			if err != nil {
				t.Fatalf("%.60q: %v", request, err)
			}
			var e struct {
				Error   string
				Message string
				Details struct{ Field, Reason string }
				ID      string `json:"request_id"`
			}
			if err := json.Unmarshal(body, &e); err != nil || resp.StatusCode != want.status ||
				resp.Header.Get("Content-Type") != "application/json" || !resp.Close {
				t.Errorf("%.60q: %s %v %s", request, resp.Status, resp.Header, body)
			}
			if e.Error != "validation_failed" || e.Details.Field != want.field || e.Details.Reason == "" ||
				!strings.HasPrefix(e.ID, "req_") || e.ID != resp.Header.Get("X-Request-Id") {
				t.Errorf("%.60q: %s", request, body)
			}
		}
	}
}

// A handler's body is unchanged, even if it looks like an error of net/http.
func TestResponsesOfHandlersAreUnchanged(t *testing.T) {
	t.Parallel()
	a, _ := demo(t, nil)
	c := dialFrom(t, a, "127.0.0.1")
	for range 2 {
		resp, body, err := respond(c, healthy)
		if err != nil || string(body) != `{"status":"ok"}` {
			t.Fatal(resp, string(body), err)
		}
	}
	resp, body, err := respond(c, "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n")
	if err != nil || resp.StatusCode != http.StatusNotFound || !strings.Contains(string(body), `"error":"not_found"`) {
		t.Error(resp, string(body), err)
	}
}

// A connection limit must not reset a connection whose client writes its whole request before it reads.
func TestAClientOfTheProgramThatWritesFirstSeesThe413(t *testing.T) {
	t.Parallel()
	a, _ := demo(t, func(c *config.Config) { c.MaxConnections = 100 })
	for _, path := range []string{"auth?grant_type=password", "auth/refresh"} {
		const size = 7 << 20
		c := dialFrom(t, a, "127.0.0.1")
		head := fmt.Sprintf(
			"POST /functions/v1/%s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", path, size)
		resp, body, err := respond(c, head+strings.Repeat(" ", size))
		if err != nil || resp.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(string(body), `"payload_too_large"`) {
			t.Error(path, resp, string(body), err)
		}
	}
}

// A client address that opens many connections loses its own idle ones, not those of other clients.
func TestWhoOpensManyConnectionsClosesNoneOfOthers(t *testing.T) {
	t.Parallel()
	a, _ := demo(t, func(c *config.Config) { c.MaxConnections, c.ConnectionsEach = 8, 6 })
	quiet := dialFrom(t, a, "127.0.0.51")
	if _, _, err := respond(quiet, healthy); err != nil { // makes it the connection that has been idle longest
		t.Fatal(err)
	}
	for range 30 {
		if _, _, err := respond(dialFrom(t, a, "127.0.0.52"), healthy); err != nil {
			t.Fatal(err)
		}
		if _, _, err := respond(dialFrom(t, a, "127.0.0.53"), healthy); err != nil {
			t.Fatal(err)
		}
	}
	if resp, _, err := respond(quiet, healthy); err != nil || resp.StatusCode != http.StatusOK {
		t.Error("the quiet client's connection:", err)
	}
}
