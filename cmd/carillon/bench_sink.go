package main

import (
	"bytes"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// benchSink is a channel on loopback that takes every message and notes when it came.
type benchSink struct {
	server *http.Server
	url    string

	mu   sync.Mutex
	came map[string]time.Time // by notification, the last
	n    int
	want int
	full chan struct{} // closed when n has reached want
}

func newBenchSink() (*benchSink, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is there at once
	if err != nil {
		return nil, err
	}
	s := &benchSink{url: "http://" + l.Addr().String(), came: map[string]time.Time{}}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = s.server.Serve(l) }() // until close
	return s, nil
}

// expect empties the sink and gives what is closed once so many messages have come.
func (s *benchSink) expect(n int) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n, s.want, s.full = 0, n, make(chan struct{})
	clear(s.came)
	return s.full
}

// ServeHTTP takes a message.
func (s *benchSink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<16))
	_, rest, found := bytes.Cut(body, []byte(`"biz_opaque_callback_data":"`))
	if err != nil || !found {
		http.Error(w, "no reference", http.StatusBadRequest)
		return
	}
	ref, _, _ := bytes.Cut(rest, []byte{'"'})
	id, _, _ := strings.Cut(string(ref), ".")
	now := time.Now()
	s.mu.Lock()
	s.came[id] = now
	if s.n++; s.n == s.want {
		close(s.full)
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"messaging_product":"whatsapp","messages":[{"id":"wamid.`+string(ref)+`","message_status":"accepted"}]}`)
}

// times are when the messages came, by notification.
func (s *benchSink) times() map[string]time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.came)
}

func (s *benchSink) close() error { return s.server.Close() }
