package whatsapp

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/send/whatsapp/graphtest"
)

const acceptedBody = `{"messages":[{"id":"wamid.1"}]}`

// peer responds to each request on each connection with the output of write, and closes the connection when write
// returns false.
func peer(t *testing.T, write func(n int, w io.Writer) (keep bool)) *carillon.Sender {
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

func TestConnectionClosedWhileIdleCausesNoUnknownOutcome(t *testing.T) {
	sender := peer(t, func(_ int, w io.Writer) bool {
		_, _ = io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Length: 31\r\n\r\n"+acceptedBody)
		return false // closes the connection without announcing it in a header
	})
	c := client(t, Options{})
	closed := watchCloses(c)
	for i := range 20 {
		if out := c.Send(t.Context(), sender, kinds0()); out.Verdict != provider.Sent {
			t.Fatalf("send %d: %+v", i, out)
		}
		<-closed
	}
}

func TestConnectionsAreKeptUntilIdleOnesAreClosed(t *testing.T) {
	s, sender := graph(t, graphtest.Options{Templates: templates()})
	c := client(t, Options{})
	closed := watchCloses(c)
	for range 2 {
		if out := c.Send(t.Context(), sender, kinds0()); out.Verdict != provider.Sent {
			t.Fatalf("%+v", out)
		}
	}
	if s.Total() != 2 || len(closed) != 0 {
		t.Fatalf("%d messages arrived, %d connections were closed", s.Total(), len(closed))
	}
	c.CloseIdleConnections()
	<-closed
}

// watchCloses makes a client report each connection that it closes.
func watchCloses(c *Client) <-chan struct{} {
	dial, closed := c.transport.DialContext, make(chan struct{}, 100)
	c.transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &watched{Conn: nc, closed: closed}, nil
	}
	return closed
}

type watched struct {
	net.Conn
	once   sync.Once
	closed chan<- struct{}
}

func (w *watched) Close() error {
	err := w.Conn.Close()
	w.once.Do(func() { w.closed <- struct{}{} })
	return err
}

func TestResponsesAreReadInEveryFormOfHTTP(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       provider.Verdict
		open       bool // the peer leaves the connection open
	}{
		{"with a length", "HTTP/1.1 200 OK\r\nContent-Length: 31\r\n\r\n" + acceptedBody, provider.Sent, false},
		{"in chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1f\r\n" + acceptedBody + "\r\n0\r\n\r\n", provider.Sent, false},
		{
			"announced", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 31\r\n\r\n" +
				acceptedBody, provider.Sent, false,
		},
		{"with its end as the end", "HTTP/1.0 200 OK\r\n\r\n" + acceptedBody, provider.Sent, false},
		{"announced for ever", strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 20), provider.Unknown, false},
		{
			"with a head without end", "HTTP/1.1 200 OK\r\n" + strings.Repeat("X-A: "+strings.Repeat("a", 1000)+"\r\n", 4000),
			provider.Unknown, false,
		},
		{"cut off in a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1f\r\n" + acceptedBody[:10], provider.Unknown, false},
		{"of another protocol", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", provider.Unknown, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			sender := peer(t, func(_ int, w io.Writer) bool {
				_, _ = io.WriteString(w, tc.text)
				return tc.open
			})
			if out := client(t, Options{}).Send(t.Context(), sender, kinds0()); out.Verdict != tc.want {
				t.Errorf("%+v, want %v", out, tc.want)
			}
		})
	}
}

func TestConnectionWithBytesAfterAResponseIsNotUsedAgain(t *testing.T) {
	var conns atomic.Int32
	sender := peer(t, func(n int, w io.Writer) bool {
		conns.Store(int32(n))
		_, _ = io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Length: 31\r\n\r\n"+acceptedBody+
			"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		return true
	})
	c := client(t, Options{})
	for range 3 {
		if out := c.Send(t.Context(), sender, kinds0()); out.Verdict != provider.Sent {
			t.Fatalf("%+v", out)
		}
	}
	if n := conns.Load(); n != 2 {
		t.Errorf("three messages used %d connections", n+1)
	}
}
