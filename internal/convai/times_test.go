package convai

import (
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
	"testing"
	"time"

	"github.com/coder/websocket"

	"carillon/internal/httpio"
)

// soon are times that a test can wait for.
var soon = times{ping: 20 * time.Millisecond, pong: time.Second, write: 300 * time.Millisecond, start: 300 * time.Millisecond}

// brief serves a socket whose times are short; run runs on it.
func brief(t *testing.T, run func(ctx context.Context, c *Conn) error) (address string, served chan error) {
	t.Helper()
	served = make(chan error, 1)
	router := httpio.NewRouter(slog.New(slog.DiscardHandler), nil, httpio.Route{Pattern: "GET /socket", Stream: true, Handle: func(w http.ResponseWriter, r *http.Request) error {
		c, err := Accept(w, r, Options{times: soon})
		if err != nil {
			return err
		}
		defer c.Close()
		if _, err = c.Initiation(r.Context()); err == nil {
			c.Begin("c")
			err = c.Serve(r.Context(), func(ctx context.Context) error { return run(ctx, c) }, Client{})
		}
		served <- err
		return err
	}})
	server := httptest.NewServer(router)
	t.Cleanup(func() { router.CloseStreams(); server.Close() })
	return "ws" + strings.TrimPrefix(server.URL, "http") + "/socket", served
}

func ended(t *testing.T, served chan error) error {
	t.Helper()
	select {
	case err := <-served:
		return err
	case <-time.After(10 * time.Second):
		t.Fatal("the server goes on")
		return nil
	}
}

func TestAnInitiationThatDoesNotComeEndsTheConnection(t *testing.T) {
	address, served := brief(t, nil)
	ws, _, err := websocket.Dial(t.Context(), address, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ws.CloseNow() }()
	if _, _, err := ws.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Error(err)
	}
	if ended(t, served) == nil {
		t.Error("it was held all the same")
	}
}

func TestAClientWithoutPongsIsGone(t *testing.T) {
	until := func(ctx context.Context, _ *Conn) error { <-ctx.Done(); return nil }
	for _, answers := range []bool{true, false} {
		address, served := brief(t, until)
		ws, _, err := websocket.Dial(t.Context(), address, nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = ws.Write(t.Context(), websocket.MessageText, []byte(`{"type":"conversation_initiation_client_data"}`))
		begin, pings := time.Now(), 0
		for time.Since(begin) < 3*soon.pong {
			_, text, rerr := ws.Read(t.Context())
			if err = rerr; err != nil {
				break
			}
			var m struct {
				Ping *struct {
					ID int64 `json:"event_id"`
				} `json:"ping_event"`
			}
			if json.Unmarshal(text, &m) == nil && m.Ping != nil {
				pings++
				if answers {
					_ = ws.Write(t.Context(), websocket.MessageText, fmt.Appendf(nil, `{"type":"pong","event_id":%d}`, m.Ping.ID))
				}
				if answers && pings == 3 && !strings.Contains(string(text), `"ping_ms"`) {
					t.Errorf("no time of the way: %s", text)
				}
			}
		}
		if gone := websocket.CloseStatus(err) == websocket.StatusPolicyViolation; gone == answers {
			t.Errorf("answers: %v, closed with %v after %d pings", answers, err, pings)
		}
		_ = ws.CloseNow()
		if err := ended(t, served); err != nil {
			t.Error(err)
		}
	}
}

func TestAClientThatDoesNotReadIsCutOff(t *testing.T) {
	address, served := brief(t, func(ctx context.Context, c *Conn) error {
		pcm := make([]int16, Rate)
		for ctx.Err() == nil {
			if err := c.Line().Write(pcm); errors.Is(err, errLeft) {
				return nil
			}
			time.Sleep(time.Millisecond)
		}
		return nil
	})
	u := strings.TrimPrefix(strings.TrimSuffix(address, "/socket"), "ws://")
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", u)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	// A handshake by hand, the masked initiation, and then nothing is read.
	_, _ = io.WriteString(conn, "GET /socket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	text := `{"type":"conversation_initiation_client_data"}`
	_, _ = conn.Write(append([]byte{0x81, 0x80 | byte(len(text)), 0, 0, 0, 0}, text...))
	if err := ended(t, served); err != nil {
		t.Error(err)
	}
}
