package graphtest

import (
	"cmp"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Kind is a way to fail.
type Kind int

// The ways to fail.
const (
	ErrorResponse Kind = iota // the channel's error form, by Error
	Hang                      // no response until the client closes the connection
	CloseAfter                // the connection closes after the request was read
	Reset                     // the connection is reset after the request was read
	HalfBody                  // the header and half of the body, then the end
	Garbage                   // 200 with something that is no JSON
	HTML                      // a gateway's page, with HTTP or else 502
	Redirect                  // to the same path, with HTTP or else 307
	Huge                      // 200 with a message id and two mebibytes of space
)

// Failure is what happens to a post instead of the usual response.
type Failure struct {
	Kind     Kind
	HTTP     int   // for HTML and Redirect, and for ErrorResponse when Error.HTTP is 0
	Error    Error // for ErrorResponse
	Accepted bool  // the channel accepted the message in spite of the failure: statuses follow
}

// Code is a failure with one of the channel's codes.
func Code(status, code int) Failure { return Failure{Error: Error{HTTP: status, Code: code}} }

// Busy is a failure with a code and a Retry-After header.
func Busy(status, code int, wait time.Duration) Failure {
	f := Code(status, code)
	f.Error.Header = http.Header{"Retry-After": {strconv.Itoa(int(wait / time.Second))}}
	return f
}

// failures are scripted: the next n, or a function that decides on each post.
type failures struct {
	mu     sync.Mutex
	next   []Failure
	decide func(Post) *Failure
}

// Fail makes the next n posts fail.
func (fs *failures) Fail(n int, f Failure) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for range n {
		fs.next = append(fs.next, f)
	}
}

// FailBy calls decide for each post that no Fail applies to, possibly for several at once; nil ends it.
func (fs *failures) FailBy(decide func(Post) *Failure) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.decide = decide
}

func (fs *failures) of(p Post) *Failure {
	fs.mu.Lock()
	if len(fs.next) > 0 {
		f := fs.next[0]
		fs.next = fs.next[1:]
		fs.mu.Unlock()
		return &f
	}
	decide := fs.decide
	fs.mu.Unlock()
	if decide == nil {
		return nil
	}
	return decide(p)
}

func (f *Failure) play(w http.ResponseWriter, r *http.Request, stop <-chan struct{}) {
	switch f.Kind {
	case ErrorResponse:
		e := f.Error
		if e.HTTP == 0 {
			e.HTTP = f.HTTP
		}
		e.write(w)
	case Hang:
		select {
		case <-r.Context().Done():
		case <-stop:
		}
		hijack(w, func(net.Conn) {})
	case CloseAfter:
		hijack(w, func(net.Conn) {})
	case Reset:
		hijack(w, func(c net.Conn) {
			if t, ok := c.(*net.TCPConn); ok {
				_ = t.SetLinger(0)
			}
		})
	case HalfBody:
		hijack(w, func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 200\r\n\r\n"+
				`{"messaging_product":"whatsapp","messages":[{"id":"wamid.ha`)
		})
	case Garbage:
		_, _ = io.WriteString(w, "\x00\x01 not json")
	case HTML:
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(cmp.Or(f.HTTP, http.StatusBadGateway))
		_, _ = io.WriteString(w, "<html><body>Bad Gateway</body></html>")
	case Redirect:
		w.Header().Set("Location", r.URL.Path)
		w.WriteHeader(cmp.Or(f.HTTP, http.StatusTemporaryRedirect))
	case Huge:
		_, _ = io.WriteString(w, `{"messages":[{"id":"wamid.huge"}]}`+strings.Repeat(" ", 2<<20))
	}
}

// hijack takes over the connection, calls last and closes it.
func hijack(w http.ResponseWriter, last func(net.Conn)) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	last(c)
	_ = c.Close()
}
