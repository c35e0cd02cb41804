package egress_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/base/egress"
)

// names is a resolver whose answers for a name may change between lookups.
type names map[string][]string

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	texts, ok := n[host]
	if !ok {
		return nil, &net.DNSError{Err: "no such host", Name: host, Server: "10.255.255.53:53", IsNotFound: true}
	}
	var addrs []netip.Addr
	for _, t := range texts {
		addrs = append(addrs, netip.MustParseAddr(t))
	}
	return addrs, nil
}

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}

// serve starts a TLS server whose certificate is valid for example.com and 127.0.0.1.
func serve(t *testing.T, h http.HandlerFunc) (*httptest.Server, egress.Options) {
	t.Helper()
	s := httptest.NewTLSServer(h)
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s, egress.Options{AllowPrivate: loopback, RootCAs: roots, Resolver: names{"example.com": {"127.0.0.1"}}}
}

// named returns an address of the server that uses the name in its certificate.
func named(t *testing.T, s *httptest.Server, path string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return "https://example.com:" + port + path
}

func get(t *testing.T, o egress.Options, address string) (string, error) {
	t.Helper()
	c := egress.New(o)
	t.Cleanup(c.Close)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

func wantDenied(t *testing.T, err error, reason string) {
	t.Helper()
	var denied *egress.DeniedError
	if !errors.As(err, &denied) || !strings.Contains(denied.Reason, reason) {
		t.Errorf("got %v; want a denial that says %q", err, reason)
	}
}

func TestClientReachesAllowedAddressesByName(t *testing.T) {
	s, o := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "hello "+r.Host) })
	address := named(t, s, "/")
	got, err := get(t, o, address)
	if err != nil || !strings.HasPrefix(got, "hello example.com") {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestClientRefusesWhatIsNotPublic(t *testing.T) {
	var hits atomic.Int32
	s, o := serve(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	o.AllowPrivate = nil
	o.Resolver = names{
		"example.com":       {"127.0.0.1"},
		"mixed.test":        {"1.1.1.1", "10.0.0.1"},
		"mapped.test":       {"::ffff:127.0.0.1"},
		"nat64.test":        {"64:ff9b::7f00:1"},
		"metadata.internal": {"169.254.169.254"},
	}
	for address, reason := range map[string]string{
		named(t, s, "/"):                "private",
		s.URL:                           "private",
		"https://mixed.test/":           "private",
		"https://mapped.test/":          "private",
		"https://nat64.test/":           "private",
		"https://metadata.internal/":    "private",
		"https://[::1]/":                "private",
		"https://[::ffff:169.254.1.1]/": "private",
		"https://1.1.1.1:22/":           "port 22",
		"http://1.1.1.1/":               "not HTTPS",
		"ftp://1.1.1.1/":                "not HTTPS",
	} {
		_, err := get(t, o, address)
		wantDenied(t, err, reason)
	}
	if hits.Load() != 0 {
		t.Errorf("%d requests reached the server", hits.Load())
	}
}

func TestErrorsDoNotNameTheResolver(t *testing.T) {
	_, o := serve(t, func(http.ResponseWriter, *http.Request) {})
	if _, err := get(t, o, "https://unknown.test/"); err == nil || !strings.Contains(err.Error(), "no such host") ||
		strings.Contains(err.Error(), "10.255") {
		t.Errorf("%v", err)
	}
}

// rebinding resolves to a different address at every lookup.
type rebinding struct {
	answers []string
	asked   atomic.Int32
}

func (r *rebinding) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	i := int(r.asked.Add(1)) - 1
	return []netip.Addr{netip.MustParseAddr(r.answers[min(i, len(r.answers)-1)])}, nil
}

func TestClientJudgesEveryLookUpAnew(t *testing.T) {
	s, o := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") })
	o.Resolver = &rebinding{answers: []string{"127.0.0.1", "127.0.0.2"}} // the second is not allowed
	if _, err := get(t, o, named(t, s, "/")); err != nil {
		t.Fatal(err)
	}
	_, err := get(t, o, named(t, s, "/"))
	wantDenied(t, err, "private")
}

func TestClientJudgesRedirects(t *testing.T) {
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the inner server was reached") }))
	defer inner.Close()
	var referer atomic.Value
	s, o := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch to := r.URL.Query().Get("to"); {
		case to != "":
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		case r.URL.Path == "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		default:
			referer.Store(r.Referer())
			_, _ = io.WriteString(w, "end")
		}
	})
	to := func(address string) string { return named(t, s, "/?to="+url.QueryEscape(address)) }
	for address, reason := range map[string]string{
		to("https://10.0.0.1/"):          "private",
		to("https://127.0.0.2/"):         "private",
		to("https://169.254.169.254/"):   "private",
		to("http://1.1.1.1/"):            "not HTTPS",
		to("https://1.1.1.1:8443/"):      "port 8443",
		to("https://bad host/?q=%zz"):    "redirect",
		named(t, s, "/loop"):             "more than 3 redirects",
		to(to(to(to(named(t, s, "/"))))): "more than 3 redirects",
	} {
		_, err := get(t, o, address)
		wantDenied(t, err, reason)
	}
	got, err := get(t, o, to(to(to(named(t, s, "/")))))
	if err != nil || got != "end" {
		t.Errorf("three redirects: got %q, %v", got, err)
	}
	if r := referer.Load(); r != "" {
		t.Errorf("the redirect sent Referer %q", r)
	}
	o.AllowPrivate = append(o.AllowPrivate[:0:0], netip.MustParsePrefix("127.0.0.9/32"))
	_, err = get(t, o, inner.URL)
	wantDenied(t, err, "not HTTPS")
	o.AllowPrivate, o.Redirects = loopback, -1
	if got, err := get(t, o, to("https://10.0.0.1/")); err != nil || got != "" {
		t.Errorf("redirects off: got %q, %v", got, err)
	}
}

func TestClientBoundsBodyHeaderAndTime(t *testing.T) {
	s, o := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/body":
			_, _ = io.WriteString(w, strings.Repeat("x", 101))
		case "/header":
			w.Header().Set("X-Long", strings.Repeat("x", 128<<10))
		case "/slow":
			_, _ = io.WriteString(w, "x")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case "/silent":
			<-r.Context().Done()
		}
	})
	o.MaxBody, o.Timeout = 100, time.Minute
	if got, err := get(t, o, s.URL+"/body"); !errors.Is(err, egress.ErrBodyTooLarge) || len(got) != 100 {
		t.Errorf("body: %d bytes, %v", len(got), err)
	}
	if _, err := get(t, o, s.URL+"/header"); err == nil {
		t.Error("a header of 128 KiB passed")
	}
	hasty := o
	hasty.Timeout = 200 * time.Millisecond
	for _, path := range []string{"/slow", "/silent"} {
		_, err := get(t, hasty, s.URL+path+"?secret=hush")
		var timeout interface{ Timeout() bool }
		if !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("%s: got %v; want a time-out", path, err)
		}
		if strings.Contains(fmt.Sprint(err), "hush") {
			t.Errorf("%s: the error contains the query: %v", path, err)
		}
	}
	o.MaxBody = 101
	if got, err := get(t, o, s.URL+"/body"); err != nil || len(got) != 101 {
		t.Errorf("body of exactly the limit: %d bytes, %v", len(got), err)
	}
}

// After the response a socket has no timeout, so reading from it would never end.
func TestClientRefusesASocketThatItDidNotAskFor(t *testing.T) {
	gone := make(chan struct{})
	s, o := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		_, _ = conn.Read(make([]byte, 1))
		close(gone)
	})
	o.Timeout = time.Minute
	if _, err := get(t, o, s.URL); err == nil || !strings.Contains(err.Error(), "switches protocols") {
		t.Errorf("got %v", err)
	}
	<-gone
}

func TestClientErrorsHoldNoQuery(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	_ = l.Close()
	_, err = get(t, egress.Options{AllowPrivate: loopback}, "https://"+closed+"/path?secret=hush")
	if err == nil || strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "path") {
		t.Errorf("got %v", err)
	}
}

func TestClientTakesPlainHTTPToAllowedAddressesAlone(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "plain") }))
	defer s.Close()
	if got, err := get(t, egress.Options{AllowPrivate: loopback}, s.URL); err != nil || got != "plain" {
		t.Errorf("got %q, %v", got, err)
	}
	_, err := get(t, egress.Options{AllowPrivate: loopback}, "http://1.1.1.1/")
	wantDenied(t, err, "not HTTPS")
}

func TestClientUsesNoProxy(t *testing.T) {
	var proxied atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		proxied.Add(1)
		w.WriteHeader(http.StatusBadGateway)
	}))
	defer proxy.Close()
	t.Setenv("HTTPS_PROXY", proxy.URL)
	s, o := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "direct") })
	if got, err := get(t, o, named(t, s, "/")); err != nil || got != "direct" {
		t.Errorf("got %q, %v", got, err)
	}
	if proxied.Load() != 0 {
		t.Errorf("the proxy was asked %d times", proxied.Load())
	}
}
