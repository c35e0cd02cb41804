package graphtest

import (
	"cmp"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Kind is a kind of failure.
type Kind int

// The kinds of failures.
const (
	ErrorResponse Kind = iota // Error in the channel's format
	Hang                      // no response until the client closes the connection
	CloseAfter                // the connection is closed after the request was read
	Reset                     // the connection is reset after the request was read
	HalfBody                  // the header and half of the body, then the connection ends
	Garbage                   // 200 with a body that is not JSON
	HTML                      // a gateway's HTML page; status HTTP, default 502
	Redirect                  // to the same path; status HTTP, default 307
	Huge                      // 200 with a message id and two mebibytes of white space
)

// Failure replaces the usual response to a post.
type Failure struct {
	Kind     Kind
	HTTP     int   // for HTML and Redirect
	Error    Error // for ErrorResponse
	Accepted bool  // the channel accepted the message despite the failure: statuses follow
}

// Code returns a failure with one of the channel's codes.
func Code(status, code int) Failure { return Failure{Error: Error{HTTP: status, Code: code}} }

// failures are scripted: either for the next posts, or by a function that decides on each post.
type failures struct {
	mu     sync.Mutex
	next   []Failure
	decide func(Post) *Failure
}

// Fail makes the next n posts fail.
func (fs *failures) Fail(n int, f Failure) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.next = append(fs.next, slices.Repeat([]Failure{f}, n)...)
}

// FailBy calls decide for each post that no Fail applies to, possibly concurrently. nil disables it.
func (fs *failures) FailBy(decide func(Post) *Failure) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.decide = decide
}

func (fs *failures) of(p Post) *Failure {
	fs.mu.Lock()
	decide := fs.decide
	if len(fs.next) > 0 {
		f := fs.next[0]
		fs.next = fs.next[1:]
		decide = func(Post) *Failure { return &f }
	}
	fs.mu.Unlock()
	if decide == nil {
		return nil
	}
	return decide(p)
}

func (f *Failure) play(w http.ResponseWriter, r *http.Request, stop <-chan struct{}) {
	switch f.Kind {
	case ErrorResponse:
		f.Error.write(w)
	case Hang:
		select {
		case <-r.Context().Done():
		case <-stop:
		}
		panic(http.ErrAbortHandler)
	case CloseAfter:
		panic(http.ErrAbortHandler)
	case Reset:
		if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = c.(*net.TCPConn).SetLinger(0)
			_ = c.Close()
		}
	case HalfBody:
		w.Header().Set("Content-Length", "200")
		_, _ = io.WriteString(w, `{"messaging_product":"whatsapp","messages":[{"id":"wamid.ha`)
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
