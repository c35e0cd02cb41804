package whatsapp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/send/whatsapp/graphtest"
)

func TestSendJudgesEachWayThatATransportFails(t *testing.T) {
	for _, tc := range []struct {
		name    string
		failure graphtest.Failure
		want    provider.Verdict
	}{
		{"closed after the request", graphtest.Failure{Kind: graphtest.CloseAfter}, provider.Unknown},
		{"reset after the request", graphtest.Failure{Kind: graphtest.Reset}, provider.Unknown},
		{"half a response", graphtest.Failure{Kind: graphtest.HalfBody}, provider.Unknown},
		{"garbage", graphtest.Failure{Kind: graphtest.Garbage}, provider.Unknown},
		{"a gateway's 502", graphtest.Failure{Kind: graphtest.HTML}, provider.Unknown},
		{"a gateway's 504", graphtest.Failure{Kind: graphtest.HTML, HTTP: 504}, provider.Unknown},
		{"a gateway's 500", graphtest.Failure{Kind: graphtest.HTML, HTTP: 500}, provider.Unknown},
		{"a gateway's 503", graphtest.Failure{Kind: graphtest.HTML, HTTP: 503}, provider.Unknown},
		{"a stranger's 404", graphtest.Failure{Kind: graphtest.HTML, HTTP: 404}, provider.Unknown},
		{"a proxy's 429", graphtest.Failure{Kind: graphtest.HTML, HTTP: 429}, provider.RetryLater},
		{"502 in the channel's form", graphtest.Code(502, 131026), provider.Unknown},
		{"504 in the channel's form", graphtest.Code(504, 2), provider.Unknown},
		{"a redirect", graphtest.Failure{Kind: graphtest.Redirect}, provider.Unknown},
		{"a redirect to a GET", graphtest.Failure{Kind: graphtest.Redirect, HTTP: 302}, provider.Unknown},
		{"an endless response", graphtest.Failure{Kind: graphtest.Huge}, provider.Unknown},
		{"no response in time", graphtest.Failure{Kind: graphtest.Hang}, provider.Unknown},
	} {
		t.Run(tc.name, func(t *testing.T) { testFailure(t, tc.failure, tc.want) })
	}
}

func testFailure(t *testing.T, failure graphtest.Failure, want provider.Verdict) {
	s, sender := graph(t, graphtest.Options{Templates: templates()})
	c := client(t, Options{})
	m := kinds0()
	for _, how := range []string{"on a new connection", "on a kept one"} {
		ctx, cancel := context.WithCancel(t.Context())
		s.FailBy(func(graphtest.Post) *graphtest.Failure {
			s.FailBy(nil)
			if failure.Kind == graphtest.Hang {
				cancel() // the deadline passes, but only after the request arrived
			}
			return &failure
		})
		before := s.Total()
		out := c.Send(ctx, sender, m)
		cancel()
		if out.Verdict != want || out.ProviderID != "" || out.Detail == "" {
			t.Errorf("%s: %+v, want %v", how, out, want)
		}
		if n := s.Total() - before; n != 1 {
			t.Errorf("%s: posted %d times", how, n)
		}
		if out := c.Send(t.Context(), sender, m); out.Verdict != provider.Sent { // leaves a kept-alive connection
			t.Fatalf("%s: the next message: %+v", how, out)
		}
	}
}

func senderAt(base string) *carillon.Sender {
	b, _ := json.Marshal(map[string]string{
		"base_url": base, "phone_number_id": "1000001", "waba_id": "2000001",
		"access_token": "provider-token", "app_secret": "s", "verify_token": "v",
	})
	return &carillon.Sender{UID: 8, Settings: b}
}

func wantNotSent(t *testing.T, verdict provider.Verdict, out provider.Outcome) {
	t.Helper()
	if out.Verdict != verdict || out.Fault != provider.FaultUnreachable || out.RetryAfter != 0 ||
		out.Reason != carillon.ReasonAttemptsExhausted || !strings.HasPrefix(out.Detail, "not sent: ") {
		t.Errorf("outcome %+v, want a message that was not sent", out)
	}
	if strings.Contains(out.Detail, "provider-token") || strings.Contains(out.Detail, "34600111222") {
		t.Errorf("the detail reveals too much: %s", out.Detail)
	}
}

func TestSendKnowsThatARefusedDialSentNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	wantNotSent(t, provider.PauseSender, client(t, Options{}).Send(t.Context(), senderAt("http://"+addr), kinds0()))
}

func TestSendKnowsThatAFailedHandshakeSentNothing(t *testing.T) {
	var reached atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	s.Config.ErrorLog = quiet()
	s.StartTLS()
	t.Cleanup(s.Close)
	wantNotSent(t, provider.PauseSender, client(t, Options{}).Send(t.Context(), senderAt(s.URL), kinds0()))
	if reached.Load() != 0 {
		t.Error("a request was sent to a peer whose certificate was not verified")
	}
}

func TestSendKnowsThatADialWithoutEndSentNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	// The peer accepts the connection but never completes the handshake.
	wantNotSent(t, provider.RetryLater, client(t, Options{RequestTimeout: 100 * time.Millisecond}).
		Send(t.Context(), senderAt("https://"+l.Addr().String()), kinds0()))
}

func TestSendOverTLSCountsOnlyTheRequest(t *testing.T) {
	var answers atomic.Int32
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if answers.Add(1) == 1 {
			_, _ = io.WriteString(w, `{"messages":[{"id":"wamid.1","message_status":"accepted"}]}`)
			return
		}
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(s.Close)
	c := client(t, Options{RootCAs: s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs})
	sender := senderAt(s.URL)
	if out := c.Send(t.Context(), sender, kinds0()); out.Verdict != provider.Sent || out.ProviderID != "wamid.1" {
		t.Fatalf("outcome %+v", out)
	}
	if out := c.Send(t.Context(), sender, kinds0()); out.Verdict != provider.Unknown {
		t.Errorf("outcome %+v after the request was read", out)
	}
}

// Writes to a kept-alive connection fail from the first byte on: nothing was sent, although the header was passed to
// the connection.
func TestSendKnowsThatAWriteThatFailedAtOnceSentNothing(t *testing.T) {
	s, sender := graph(t, graphtest.Options{Templates: templates()})
	c := client(t, Options{})
	dial, dials := c.transport.DialContext, 0
	c.transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if dials++; dials > 1 {
			return nil, errors.New("no more connections")
		}
		nc, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &oneWrite{Conn: nc}, nil
	}
	if out := c.Send(t.Context(), sender, kinds0()); out.Verdict != provider.Sent {
		t.Fatalf("%+v", out)
	}
	wantNotSent(t, provider.RetryLater, c.Send(t.Context(), sender, kinds0())) // on the kept-alive connection
	if n := s.Total(); n != 1 {
		t.Errorf("%d messages arrived", n)
	}
}

// oneWrite is a connection whose second write fails.
type oneWrite struct {
	net.Conn
	writes atomic.Int32
}

func (d *oneWrite) Write(b []byte) (int, error) {
	if d.writes.Add(1) > 1 {
		return 0, errors.New("broken pipe")
	}
	return d.Conn.Write(b)
}

func TestSendCanceledAfterTheRequestLeftIsUnknown(t *testing.T) {
	s, sender := graph(t, graphtest.Options{Templates: templates()})
	ctx, cancel := context.WithCancel(t.Context())
	s.FailBy(func(graphtest.Post) *graphtest.Failure {
		cancel()
		return &graphtest.Failure{Kind: graphtest.Hang}
	})
	if out := client(t, Options{}).Send(ctx, sender, kinds0()); out.Verdict != provider.Unknown {
		t.Errorf("outcome %+v", out)
	}
}

func TestSendGivesUpAfterItsTimeout(t *testing.T) {
	t.Parallel() // it waits
	s, sender := graph(t, graphtest.Options{Templates: templates()})
	s.Fail(1, graphtest.Failure{Kind: graphtest.Hang})
	// Long enough for the request to be written on any machine; otherwise the outcome would not be unknown.
	if out := client(t, Options{RequestTimeout: 3 * time.Second}).Send(t.Context(), sender, kinds0()); out.Verdict != provider.Unknown {
		t.Errorf("outcome %+v", out)
	}
}

func TestSendNeverRepeats(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	var posts atomic.Int32
	// Every connection answers its first request with keep-alive, and closes when it reads the second.
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go answerOnce(nc, &posts)
		}
	}()
	c, sender := client(t, Options{}), senderAt("http://"+l.Addr().String())
	for i := range 20 {
		before := posts.Load()
		out := c.Send(t.Context(), sender, kinds0())
		want := provider.Sent
		if i%2 == 1 {
			want = provider.Unknown
		}
		if out.Verdict != want || posts.Load()-before != 1 {
			t.Fatalf("send %d: %+v after %d posts, want %v after 1", i, out, posts.Load()-before, want)
		}
	}
}

func answerOnce(nc net.Conn, posts *atomic.Int32) {
	defer nc.Close()
	in := bufio.NewReader(nc)
	for n := range 2 {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		posts.Add(1)
		if r.Header.Get("Idempotency-Key") != "" || r.Header.Get("X-Idempotency-Key") != "" {
			return
		}
		if n == 0 {
			const body = `{"messages":[{"id":"wamid.1"}]}`
			_, _ = io.WriteString(nc, "HTTP/1.1 200 OK\r\nContent-Length: 31\r\n\r\n"+body)
		}
	}
}

// The channel closes idle connections all the time. However that races with our writes, a message is posted at most
// once, and a message reported as unsent was not posted.
func TestSendOverConnectionsThatCloseWhileIdle(t *testing.T) {
	s, sender := graph(t, graphtest.Options{Templates: templates()})
	c := client(t, Options{})
	k := kinds()[0]
	var under sync.WaitGroup
	for worker := range 4 {
		under.Go(func() {
			for i := range 100 {
				m := k.message(worker*1000 + i)
				if i%2 == 0 {
					c.CloseIdleConnections()
				}
				out := c.Send(t.Context(), sender, m)
				n := len(s.Posts(m.Ref.String()))
				if n > 1 || out.Verdict == provider.RetryLater && n != 0 || out.Verdict == provider.Sent && n != 1 {
					t.Errorf("posted %d times: %+v", n, out)
				}
			}
		})
	}
	under.Wait()
}
