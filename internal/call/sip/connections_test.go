package sip

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"carillon/internal/base/share"
	"carillon/internal/call/rtp/rtptest"
	"carillon/internal/call/sip/siptest"
)

// connect opens a connection from an address of this machine.
func connect(t *testing.T, from, to string) net.Conn {
	t.Helper()
	c, err := dialFrom(t, from, to)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func dialFrom(t *testing.T, from, to string) (net.Conn, error) {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c, err := d.DialContext(t.Context(), "tcp", to)
	if err == nil {
		t.Cleanup(func() { _ = c.Close() })
		_ = c.SetDeadline(time.Now().Add(hung))
	}
	return c, err
}

// isClosed opens a connection and checks that it is closed at once, possibly before it appears open.
func isClosed(t *testing.T, from, to string) {
	t.Helper()
	c, err := dialFrom(t, from, to)
	if errors.Is(err, syscall.ECONNRESET) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if n, err := c.Read(make([]byte, 1)); n > 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection is not closed: %v", err)
	}
}

// options sends an OPTIONS over a connection, and returns the response's first line.
func options(t *testing.T, c net.Conn) string {
	t.Helper()
	b := bytes.Replace(requestFrom("OPTIONS", c.LocalAddr(), 1), []byte("/UDP"), []byte("/TCP"), 1)
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 1500)
	n, err := c.Read(got)
	if err != nil {
		t.Fatal(err)
	}
	status, _, _ := strings.Cut(string(got[:n]), "\r\n")
	return status
}

func TestConnectionsAreOfTrunksAndBounded(t *testing.T) {
	t.Parallel()
	files := siptest.Certificate(t, "")
	for _, transport := range []string{"tcp", "tls"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			shares := &share.Set{}
			e := engine(t, Options{
				Lines: trunksAt("127.0.0.2", "127.0.0.4"), Shares: shares, TLS: "127.0.0.1:0", TLSFiles: files,
			})
			to := e.Address().String()
			open := connect
			if transport == "tls" {
				to = e.SecureAddress().String()
				open = func(t *testing.T, from, to string) net.Conn {
					return tls.Client(connect(t, from, to), files)
				}
			}
			const strangers = 200
			for range strangers {
				isClosed(t, "127.0.0.3", to)
			}
			until(t, "the strangers are counted", func() bool { return e.Refusals()[byStrangeCaller] == strangers })
			held := func() int64 { return shares.Of(share.SIPConnections).Counts().Used }
			var all []net.Conn
			for range share.SIPConnections.Client {
				c := open(t, "127.0.0.2", to)
				if status := options(t, c); status != "SIP/2.0 200 OK" {
					t.Fatal(status)
				}
				all = append(all, c)
			}
			isClosed(t, "127.0.0.2", to)
			if status := options(t, open(t, "127.0.0.4", to)); status != "SIP/2.0 200 OK" {
				t.Errorf("another trunk: %s", status)
			}
			if n := e.Refusals()[byConnections]; n != 1 || held() != share.SIPConnections.Client+1 {
				t.Errorf("%d were refused, %d are held", n, held())
			}
			for _, c := range all {
				_ = c.Close()
			}
			until(t, "the places of closed connections are free", func() bool { return held() == 1 })
		})
	}
}

// remote is an in-memory connection with a remote address.
type remote struct {
	net.Conn
	at net.Addr
}

func (r remote) RemoteAddr() net.Addr { return r.at }

// streamOf returns an accepted in-memory connection and its far side.
func streamOf(t *testing.T, e *Engine, secure *tls.Config) (s *stream, far net.Conn) {
	t.Helper()
	near, far := net.Pipe()
	l := accept(e, nil, secure)
	if s = l.admit(remote{near, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 5060}}); s == nil {
		t.Fatal("it is not let in")
	}
	t.Cleanup(func() { _, _ = s.Close(), far.Close() })
	return s, far
}

// lasts returns how long a connection can be read until it ends.
func lasts(s *stream) time.Duration {
	begin := time.Now()
	for b := make([]byte, 1500); ; {
		if _, err := s.Read(b); err != nil {
			return time.Since(begin)
		}
	}
}

func edgeAt(t *testing.T, n Network) *Engine {
	return engine(t, Options{Network: n, Lines: trunksAt("192.0.2.1")})
}

func TestConnectionsEndThatDoNotFinish(t *testing.T) {
	t.Parallel()
	drip := func(text string, every time.Duration) func(net.Conn) {
		return func(far net.Conn) {
			for i := range text {
				if _, err := far.Write([]byte{text[i]}); err != nil {
					return
				}
				time.Sleep(every)
			}
		}
	}
	for _, c := range []struct {
		name   string
		secure bool
		does   func(far net.Conn)
		want   time.Duration
		reason string
	}{
		{"silent", false, func(net.Conn) {}, idleTimeout, ""},
		{"silent after a message", false, drip(framed, 0), idleTimeout, ""},
		{"kept alive for a while", false, drip("\r\n\r\n\r\n", time.Minute), 5*time.Minute + idleTimeout, ""},
		{"half a message", false, drip(framedHead, 0), messageTimeout, byUnfinished},
		{"a message, byte by byte", false, drip(framedHead, time.Second), messageTimeout, byUnfinished},
		{"a body that does not come", false, drip(framed[:len(framed)-1], 0), messageTimeout, byUnfinished},
		{"no handshake", true, func(net.Conn) {}, handshakeTimeout, byHandshake},
		{
			"a handshake, byte by byte", true, drip("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", time.Second), handshakeTimeout,
			byHandshake,
		},
		{"no TLS", true, func(far net.Conn) { drip(framed, 0)(far) }, 0, byHandshake},
	} {
		t.Run(c.name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
				e := edgeAt(t, n)
				var secure *tls.Config
				if c.secure {
					secure = &tls.Config{}
				}
				s, far := streamOf(t, e, secure)
				var all sync.WaitGroup
				defer all.Wait()
				defer far.Close()
				all.Go(func() { _, _ = io.Copy(io.Discard, far) })
				all.Go(func() { c.does(far) })
				if took := lasts(s); took != c.want {
					t.Errorf("it ends after %v, want %v", took, c.want)
				}
				for reason, n := range e.Refusals() {
					if n > 0 != (reason == c.reason) {
						t.Errorf("%d are counted as %s", n, reason)
					}
				}
			})
		})
	}
}

// A connection over which a call was placed to us stays open even if it is silent: its requests have no other way.
func TestAConnectionThatACallUsesStays(t *testing.T) {
	inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
		e := edgeAt(t, n)
		s, _ := streamOf(t, e, nil)
		call := &Call{dialog: &dialog{destination: s.RemoteAddr().String()}, far: &description{direction: receiveOnly}}
		e.mu.Lock()
		e.calls["x"] = call
		e.mu.Unlock()
		var took atomic.Int64
		go func() { took.Store(int64(lasts(s))) }()
		time.Sleep(time.Hour)
		synctest.Wait()
		if took.Load() != 0 {
			t.Fatalf("it ends after %v", time.Duration(took.Load()))
		}
		e.mu.Lock()
		delete(e.calls, "x")
		e.mu.Unlock()
		time.Sleep(idleTimeout)
		synctest.Wait()
		if took.Load() == 0 {
			t.Error("it stays after the call")
		}
	})
}

func TestAConnectionIsReadAtItsRate(t *testing.T) {
	inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
		e := edgeAt(t, n)
		s, far := streamOf(t, e, nil)
		const messages = 9 * maxMessages // five seconds' worth after a burst
		go func() {
			for range messages {
				if _, err := far.Write([]byte(unframed)); err != nil {
					return
				}
			}
			_ = far.Close()
		}()
		if took := lasts(s); took < 4900*time.Millisecond || took > 5100*time.Millisecond {
			t.Errorf("%d messages are read in %v", messages, took)
		}
		blocked, other := streamOf(t, e, nil)
		go func() { _, _ = other.Write([]byte(strings.Repeat(unframed, 100))) }()
		read := make(chan error)
		go func() {
			for b := make([]byte, 1<<16); ; {
				if _, err := blocked.Read(b); err != nil {
					read <- err
					return
				}
			}
		}()
		synctest.Wait()
		_ = blocked.Close() // while it waits
		if err := await(t, read); err == nil {
			t.Error("a closed connection is read")
		}
	})
}

// refusing is a listener whose Accept fails some times, as for lack of descriptors, and then succeeds.
type refusing struct {
	net.Listener
	faults int
	conn   net.Conn
}

func (l *refusing) Accept() (net.Conn, error) {
	if l.faults--; l.faults >= 0 {
		return nil, &net.OpError{Op: "accept", Err: errors.New("too many open files")}
	}
	return l.conn, nil
}

func (*refusing) Close() error { return nil }

func TestAListenerOutlivesAShortageOfDescriptors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := Options{Log: slog.New(slog.DiscardHandler)}
		e := &Engine{o: o, edge: newEdge(&o)}
		near, far := net.Pipe()
		defer far.Close()
		l := accept(e, &refusing{faults: 50, conn: near}, nil)
		if c, err := l.Accept(); err != nil || c == nil {
			t.Errorf("%v, %v", c, err)
		}
		l = accept(e, &refusing{faults: 1 << 30}, nil)
		ended := make(chan error, 1)
		go func() { _, err := l.Accept(); ended <- err }()
		time.Sleep(time.Minute)
		_ = l.Close()
		if err := await(t, ended); !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
}
