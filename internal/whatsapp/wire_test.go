package whatsapp

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"carillon"
	"carillon/internal/whatsapp/graphtest"
)

const tookIt = `{"messages":[{"id":"wamid.1"}]}`

// peer answers each request of each connection with what write says, and closes the connection when it says so.
func peer(t *testing.T, write func(n int, w io.Writer) (goOn bool)) *carillon.Sender {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for n := 0; ; n++ {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer nc.Close()
				in := bufio.NewReader(nc)
				for {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, r.Body)
					if !write(n, nc) {
						return
					}
				}
			}()
		}
	}()
	return senderAt("http://" + l.Addr().String())
}

func TestConnectionClosedWhileIdleCostsNoMessageItsCertainty(t *testing.T) {
	closed := make(chan struct{}, 1)
	sender := peer(t, func(_ int, w io.Writer) bool {
		_, _ = io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Length: 31\r\n\r\n"+tookIt)
		closed <- struct{}{}
		return false // without a word
	})
	c := client(t, Options{})
	for i := range 20 {
		if out := c.Send(t.Context(), sender, kinds0()); out.Verdict != carillon.Sent {
			t.Fatalf("send %d: %+v", i, out)
		}
		<-closed
		a, err := c.accounts.of(sender)
		if err != nil {
			t.Fatal(err)
		}
		waitClosed(t, c, a.messages.addr)
	}
}

// waitClosed waits until the kept connection has heard of its end.
func waitClosed(t *testing.T, c *Client, addr string) {
	t.Helper()
	c.wire.mu.Lock()
	l := c.wire.idle[addr][0]
	c.wire.mu.Unlock()
	if err := l.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Fatalf("the other side did not close: %v", err)
	}
}

func TestAnswersAreReadInEveryFormOfHTTP(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       carillon.Verdict
	}{
		{"with a length", "HTTP/1.1 200 OK\r\nContent-Length: 31\r\n\r\n" + tookIt, carillon.Sent},
		{"in chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1f\r\n" + tookIt + "\r\n0\r\n\r\n", carillon.Sent},
		{"announced", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 31\r\n\r\n" + tookIt, carillon.Sent},
		{"with its end as the end", "HTTP/1.0 200 OK\r\n\r\n" + tookIt, carillon.Sent},
		{"announced for ever", strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 20), carillon.Unknown},
		{"with a head without end", "HTTP/1.1 200 OK\r\n" + strings.Repeat("X-A: "+strings.Repeat("a", 1000)+"\r\n", 4000), carillon.Unknown},
		{"cut off in a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1f\r\n" + tookIt[:10], carillon.Unknown},
		{"of another protocol", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", carillon.Unknown},
	} {
		t.Run(tc.name, func(t *testing.T) {
			sender := peer(t, func(_ int, w io.Writer) bool {
				_, _ = io.WriteString(w, tc.text)
				return false
			})
			if out := client(t, Options{}).Send(t.Context(), sender, kinds0()); out.Verdict != tc.want {
				t.Errorf("%+v, want %v", out, tc.want)
			}
		})
	}
}

func TestBytesThatFollowAnAnswerSpoilTheConnection(t *testing.T) {
	var conns atomic.Int32
	sender := peer(t, func(n int, w io.Writer) bool {
		conns.Store(int32(n))
		_, _ = io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Length: 31\r\n\r\n"+tookIt+"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		return true
	})
	c := client(t, Options{})
	for range 3 {
		if out := c.Send(t.Context(), sender, kinds0()); out.Verdict != carillon.Sent {
			t.Fatalf("%+v", out)
		}
	}
	if n := conns.Load(); n != 2 {
		t.Errorf("three messages went over %d connections", n+1)
	}
}

func TestConnectionsAreKeptAndThoseOfOldClosed(t *testing.T) {
	s, sender := graph(t, graphtest.Options{Templates: templates()})
	c := client(t, Options{IdleConns: 1})
	for range 2 {
		if out := c.Send(t.Context(), sender, kinds0()); out.Verdict != carillon.Sent {
			t.Fatalf("%+v", out)
		}
	}
	if s.Total() != 2 {
		t.Fatalf("%d messages arrived", s.Total())
	}
	c.wire.mu.Lock()
	var kept []*line
	for _, all := range c.wire.idle {
		kept = append(kept, all...)
	}
	if len(kept) != 1 {
		t.Fatalf("%d connections are kept", len(kept))
	}
	kept[0].since = time.Now().Add(-2 * idleTimeout)
	c.wire.mu.Unlock()
	c.wire.closeOld()
	if _, err := kept[0].Write([]byte("x")); err == nil {
		t.Error("an old connection is open")
	}
	if c.wire.reap != nil || len(c.wire.idle) != 0 {
		t.Error("something is kept yet")
	}
}
