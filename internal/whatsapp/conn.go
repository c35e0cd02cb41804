package whatsapp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// conn counts what was written of requests, inside TLS where there is TLS: a handshake and a closing alert are no part
// of a request, and counting them would call a message uncertain that never left.
type conn struct {
	net.Conn
	written atomic.Int64
}

func (c *conn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.written.Add(int64(n))
	return n, err
}

// trace watches one request. Its answer holds once the transport has returned, which it does only after its writer
// has ended.
type trace struct {
	counted *conn
	start   int64
	got     bool        // a connection was had
	wrote   atomic.Bool // the head was handed over for writing; decides where bytes are not counted
}

func (t *trace) attach(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			t.counted, _ = info.Conn.(*conn)
			if t.counted != nil {
				t.start = t.counted.written.Load()
			}
			t.got = true
		},
		WroteHeaders: func() { t.wrote.Store(true) },
	})
}

// left tells whether a byte of the request may have reached the channel.
func (t *trace) left() bool {
	if !t.got {
		return false
	}
	if t.counted != nil {
		return t.counted.written.Load() > t.start
	}
	return t.wrote.Load()
}

const (
	dialTimeout = 10 * time.Second
	idleTimeout = 45 * time.Second
	// headRoom holds any head that settings allow, so that nothing is flushed before the head is whole.
	headRoom = 16 << 10
)

// newDial gives connections without counting: whoever writes to them hears what was written.
func newDial(o Options) func(ctx context.Context, t *target) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}
	return func(ctx context.Context, t *target) (net.Conn, error) {
		if t.secure {
			return dialTLS(ctx, dialer, o.RootCAs, "tcp", t.addr)
		}
		return dialer.DialContext(ctx, "tcp", t.addr)
	}
}

// newTransport is the way through a proxy. It dials and shakes hands itself, to put the counting connection outside TLS.
func newTransport(o Options) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := dialer.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return &conn{Conn: c}, nil
		},
		DialTLSContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := dialTLS(ctx, dialer, o.RootCAs, network, addr)
			if err != nil {
				return nil, err
			}
			return &conn{Conn: c}, nil
		},
		Protocols:              protocols,
		TLSClientConfig:        &tls.Config{RootCAs: o.RootCAs, MinVersion: tls.VersionTLS12}, // through a proxy
		TLSHandshakeTimeout:    dialTimeout,
		MaxIdleConns:           0, // bounded by those of each host
		MaxIdleConnsPerHost:    o.IdleConns,
		IdleConnTimeout:        idleTimeout,
		DisableCompression:     true, // answers are a few hundred bytes
		WriteBufferSize:        headRoom,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

func dialTLS(ctx context.Context, d *net.Dialer, roots *x509.CertPool, network, addr string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	raw, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	c := tls.Client(raw, &tls.Config{ServerName: host, RootCAs: roots, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}})
	if err := c.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	return c, nil
}
