package whatsapp

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// target is where and with what head requests go, made ready once for all messages of an account.
type target struct {
	method string
	url    *url.URL
	header http.Header // shared by all requests; never written to
	secure bool        // TLS
	addr   string      // host:port to dial
	name   string      // the host's, for TLS
	head   []byte      // of a request, but for its length and the empty line
	direct bool        // no proxy stands before it, and its host's name is written as it is sent
}

func newTarget(method string, u *url.URL, header http.Header) *target {
	t := &target{method: method, url: u, header: header, secure: u.Scheme == "https", name: u.Hostname()}
	port := u.Port()
	if port == "" {
		port = "80"
		if t.secure {
			port = "443"
		}
	}
	t.addr = net.JoinHostPort(t.name, port)
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u})
	t.direct = proxy == nil && err == nil && plainHost(u.Host)
	var b strings.Builder
	b.WriteString(method + " " + u.RequestURI() + " HTTP/1.1\r\nHost: " + u.Host + "\r\n")
	names := make([]string, 0, len(header))
	for name := range header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range header[name] {
			b.WriteString(name + ": " + value + "\r\n")
		}
	}
	t.head = []byte(b.String())
	return t
}

// plainHost passes hosts that go into a head letter by letter: no name in other letters, no zone of an address.
func plainHost(host string) bool {
	for _, c := range []byte(host) {
		if c <= ' ' || c > '~' || c == '%' {
			return false
		}
	}
	return true
}

// append writes the whole request; a nil body is none.
func (t *target) append(b, body []byte) []byte {
	b = append(b, t.head...)
	if body != nil {
		b = append(b, "Content-Length: "...)
		b = strconv.AppendInt(b, int64(len(body)), 10)
		b = append(b, '\r', '\n')
	}
	b = append(b, '\r', '\n')
	return append(b, body...)
}
