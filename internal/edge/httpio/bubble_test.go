package httpio

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener with in-memory connections that use fake time.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	p.conns <- far
	return near, nil
}

// serveInBubble serves a router with short timeouts in a synctest bubble. The client reaches it at any address.
func serveInBubble(t *testing.T, rt *Router) (client *http.Client, dial func() net.Conn) {
	t.Helper()
	const short = 300 * time.Millisecond
	l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	s := &http.Server{Handler: rt, ReadTimeout: short, WriteTimeout: short}
	go func() { _ = s.Serve(l) }()
	transport := &http.Transport{DialContext: l.dial}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = s.Close()
		synctest.Wait()
	})
	return &http.Client{Transport: transport}, func() net.Conn {
		c, _ := l.dial(t.Context(), "", "") // never fails
		return c
	}
}
