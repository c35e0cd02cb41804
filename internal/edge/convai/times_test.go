package convai

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"carillon/internal/edge/httpio"
)

// pipes is a listener with in-memory connections. Waiting for one blocks durably, as synctest requires.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// dial connects to the listener.
func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr implements net.Listener.
func (*pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// served is an in-memory socket in fake time, on a server with short timeouts.
type served struct {
	t      *testing.T
	pipes  *pipes
	result chan error
}

// inFakeTime serves a socket that executes run.
func inFakeTime(t *testing.T, run func(ctx context.Context, c *Conn) error, test func(t *testing.T, s *served)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &served{t, &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}, make(chan error, 1)}
		route := httpio.Route{Pattern: "GET /socket", Stream: true, Handle: func(w http.ResponseWriter, r *http.Request) error {
			c, err := Accept(w, r, Options{})
			if err != nil {
				return err
			}
			defer c.Close()
			if _, err = c.Initiation(r.Context()); err == nil {
				c.Begin("c", "")
				err = c.Serve(r.Context(), func(ctx context.Context) error { return run(ctx, c) }, Client{})
			}
			s.result <- err
			return err
		}}
		router := httpio.NewRouter(slog.New(slog.DiscardHandler), nil, route)
		server := httptest.NewUnstartedServer(router)
		_ = server.Listener.Close() // the listener of the operating system
		server.Listener = s.pipes
		server.Config.ReadTimeout, server.Config.WriteTimeout = 200*time.Millisecond, 200*time.Millisecond
		server.Start()
		t.Cleanup(func() { router.CloseStreams(); server.Close() })
		test(t, s)
	})
}

func (s *served) dial() *websocket.Conn {
	s.t.Helper()
	transport := &http.Transport{DialContext: s.pipes.dial}
	s.t.Cleanup(transport.CloseIdleConnections)
	o := &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}}
	ws, _, err := websocket.Dial(s.t.Context(), "ws://carillon.test/socket", o)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = ws.CloseNow() })
	return ws
}

const initiation = `{"type":"conversation_initiation_client_data"}`

func TestAnInitiationThatDoesNotComeEndsTheConnection(t *testing.T) {
	inFakeTime(t, nil, func(t *testing.T, s *served) {
		begin := time.Now()
		if _, _, err := s.dial().Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
			t.Error(err)
		}
		if took := time.Since(begin); took < initiationTimeout || took > initiationTimeout+time.Second {
			t.Errorf("ended after %v", took)
		}
		if <-s.result == nil {
			t.Error("the conversation ran anyway")
		}
	})
}

func TestAClientWithoutPongsIsGone(t *testing.T) {
	t.Parallel()
	for _, answers := range []bool{true, false} {
		t.Run(fmt.Sprintf("answers %v", answers), func(t *testing.T) {
			run := func(ctx context.Context, _ *Conn) error { <-ctx.Done(); return nil }
			inFakeTime(t, run, func(t *testing.T, s *served) {
				ws := s.dial()
				_ = ws.Write(t.Context(), websocket.MessageText, []byte(initiation))
				begin, pings := time.Now(), 0
				var err error
				for err == nil && time.Since(begin) < 3*pongTimeout {
					var text []byte
					if _, text, err = ws.Read(t.Context()); err != nil {
						break
					}
					var m struct {
						Ping *struct {
							ID int64 `json:"event_id"`
						} `json:"ping_event"`
					}
					if json.Unmarshal(text, &m) != nil || m.Ping == nil {
						continue
					}
					if pings++; answers {
						time.Sleep(50 * time.Millisecond) // network delay
						_ = ws.Write(t.Context(), websocket.MessageText, fmt.Appendf(nil, `{"type":"pong","event_id":%d}`, m.Ping.ID))
					}
					if answers && pings == 3 && !strings.Contains(string(text), `"ping_ms":50`) {
						t.Errorf("no round-trip time: %s", text)
					}
				}
				took := time.Since(begin)
				gone := websocket.CloseStatus(err) == websocket.StatusPolicyViolation
				if gone == answers || gone && (took < pongTimeout || took > pongTimeout+pingEvery+time.Second) {
					t.Errorf("closed with %v after %v and %d pings", err, took, pings)
				}
				_ = ws.CloseNow()
				if err := <-s.result; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A client that does not read is disconnected when its queue is full, or when one message waits too long.
func TestAClientThatDoesNotReadIsCutOff(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		run         func(ctx context.Context, c *Conn) error
		least, most time.Duration
	}{
		"much": {func(ctx context.Context, c *Conn) error {
			for pcm := make([]int16, Rate); ctx.Err() == nil; time.Sleep(time.Millisecond) {
				if err := c.Line().Write(pcm); errors.Is(err, errLeft) {
					break
				}
			}
			return nil
		}, 0, time.Second},
		"little": {func(ctx context.Context, _ *Conn) error { <-ctx.Done(); return nil }, writeTimeout, writeTimeout + time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inFakeTime(t, x.run, func(t *testing.T, s *served) {
				took, err := s.unread()
				if err != nil {
					t.Error(err)
				}
				if took < x.least || took > x.most {
					t.Errorf("disconnected after %v", took)
				}
			})
		})
	}
}

// unread connects to the socket and reads nothing. It returns how long the connection lasted, and the error that ended
// it.
func (s *served) unread() (took time.Duration, err error) {
	s.t.Helper()
	conn, err := s.pipes.dial(s.t.Context(), "", "")
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	// A manual handshake and the masked initiation; after that, nothing is read.
	_, _ = io.WriteString(conn, "GET /socket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	if res, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || res.StatusCode != http.StatusSwitchingProtocols {
		s.t.Fatal(res, err)
	}
	begin := time.Now()
	_, _ = conn.Write(append([]byte{0x81, 0x80 | byte(len(initiation)), 0, 0, 0, 0}, initiation...))
	err = <-s.result
	return time.Since(begin), err
}
