package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener with in-memory connections, so that synctest can advance the time.
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

// inMemory runs a test in a bubble with a client of a handler.
func inMemory(t *testing.T, h http.HandlerFunc, test func(t *testing.T, c *Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		s := &http.Server{Handler: h, BaseContext: func(net.Listener) context.Context { return ctx }}
		go func() { _ = s.Serve(l) }()
		c, err := New("http://carillon.test", WithCompanyToken("token"), WithRetries(Retries{Attempts: 1}))
		if err != nil {
			t.Fatal(err)
		}
		transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			l.conns <- far
			return near, nil
		}}
		c.http.Transport = transport
		test(t, c)
		transport.CloseIdleConnections()
		cancel()
		_ = s.Close()
		synctest.Wait()
	})
}

// pieces returns a handler that responds with n pieces, each after a pause.
func pieces(n int, pause time.Duration, then func(r *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for range n {
			if Pause(r.Context(), pause) != nil {
				return
			}
			_, _ = w.Write(bytes.Repeat([]byte("x"), 1000))
			_ = http.NewResponseController(w).Flush()
		}
		if then != nil {
			then(r)
		}
	}
}

func TestARecordingMayTakeAsLongAsItGoesOnComing(t *testing.T) {
	inMemory(t, pieces(20, 50*time.Second, nil), func(t *testing.T, c *Client) {
		var got bytes.Buffer
		begun := time.Now()
		if err := c.Recording(t.Context(), "a", &got); err != nil || got.Len() != 20_000 {
			t.Errorf("%d bytes, %v", got.Len(), err)
		}
		if took := time.Since(begun); took != 1000*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestARecordingThatStopsComingIsAnError(t *testing.T) {
	gone := func(r *http.Request) { <-r.Context().Done() }
	for name, x := range map[string]struct {
		n    int
		want time.Duration
	}{"at all": {0, time.Minute}, "in the middle": {3, 90*time.Second + time.Minute}} {
		t.Run(name, func(t *testing.T) {
			inMemory(t, pieces(x.n, 30*time.Second, gone), func(t *testing.T, c *Client) {
				begun := time.Now()
				err := c.Recording(t.Context(), "a", io.Discard)
				if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "nothing moved for 1m0s") ||
					time.Since(begun) != x.want {
					t.Errorf("after %v: %v", time.Since(begun), err)
				}
			})
		})
	}
}

// slowly takes as long to write a piece as a full disk or a slow pipe might.
type slowly struct{ got int }

func (s *slowly) Write(b []byte) (int, error) {
	time.Sleep(5 * time.Minute)
	s.got += len(b)
	return len(b), nil
}

func TestWhoeverWritesARecordingTakesAsLongAsItTakes(t *testing.T) {
	inMemory(t, pieces(3, time.Second, nil), func(t *testing.T, c *Client) {
		var to slowly
		if err := c.Recording(t.Context(), "a", &to); err != nil || to.got != 3000 {
			t.Errorf("%d bytes, %v", to.got, err)
		}
	})
}

func TestOtherResponsesAreBoundedInAll(t *testing.T) {
	inMemory(t, pieces(20, 50*time.Second, nil), func(t *testing.T, c *Client) {
		begun := time.Now()
		_, err := c.Usage(t.Context())
		if gone := (*Unreachable)(nil); !errors.As(err, &gone) || !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(begun) != time.Minute {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
	})
}

func TestAnUploadMayTakeAsLongAsItGoesOnBeingSent(t *testing.T) {
	file := strings.Repeat("0123456789", 1<<15)
	slow := func(most int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			b := make([]byte, 16<<10)
			for range most {
				if Pause(r.Context(), 20*time.Second) != nil {
					return
				}
				if _, err := io.ReadFull(r.Body, b); err != nil {
					_, _ = io.WriteString(w, `{"id":"m1"}`)
					return
				}
			}
			<-r.Context().Done()
		}
	}
	inMemory(t, slow(1000), func(t *testing.T, c *Client) {
		begun := time.Now()
		if _, err := c.Upload(t.Context(), "a.pdf", strings.NewReader(file)); err != nil || time.Since(begun) < 5*time.Minute {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
	})
	inMemory(t, slow(3), func(t *testing.T, c *Client) {
		_, err := c.Upload(t.Context(), "a.pdf", strings.NewReader(file))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("of a server that stopped reading: %v", err)
		}
	})
}

func TestAnotherHTTPClientBoundsItsAttempts(t *testing.T) {
	inMemory(t, pieces(1, 10*time.Minute, nil), func(t *testing.T, c *Client) {
		var got bytes.Buffer
		if err := c.With(WithHTTPClient(c.http)).Recording(t.Context(), "a", &got); err != nil || got.Len() != 1000 {
			t.Errorf("%d bytes, %v", got.Len(), err)
		}
	})
}
