package faults

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// proxy stands between a node and PostgreSQL, as a network that may be cut and may lose answers.
type proxy struct {
	t        *testing.T
	listener net.Listener
	url      string // of the database, through the proxy
	network  string
	address  string

	mu    sync.Mutex
	down  bool
	conns map[net.Conn]bool

	// swallow decides for each COMMIT whether its answer is lost and the connection with it.
	swallow   atomic.Pointer[func() bool]
	swallowed atomic.Int64
}

func newProxy(t *testing.T, database string) *proxy {
	t.Helper()
	c, err := pgconn.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Del("host")
	q.Set("sslmode", "disable")
	u.Host, u.RawQuery = l.Addr().String(), q.Encode()
	p := &proxy{t: t, listener: l, url: u.String(), conns: map[net.Conn]bool{}}
	p.network, p.address = pgconn.NetworkAddress(c.Host, c.Port)
	go p.accept()
	t.Cleanup(func() {
		_ = l.Close()
		p.cut()
	})
	return p
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial(p.network, p.address)
		if err != nil || !p.keep(client, server) {
			_ = client.Close()
			continue
		}
		go p.join(client, server)
	}
}

// keep notes the connections, unless the network is cut.
func (p *proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		if p.down {
			_ = c.Close()
			continue
		}
		p.conns[c] = true
	}
	return !p.down
}

// cut ends all connections and lets no new ones through until mend.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = true
	for c := range p.conns {
		_ = c.Close()
	}
	p.conns = map[net.Conn]bool{}
}

func (p *proxy) mend() {
	p.mu.Lock()
	p.down = false
	p.mu.Unlock()
}

func (p *proxy) join(client, server net.Conn) {
	var lost atomic.Bool // the answer to a COMMIT is not to come through
	var done sync.WaitGroup
	done.Go(func() {
		p.back(client, server, &lost)
		_ = client.Close()
	})
	done.Go(func() {
		p.forth(client, server, &lost)
		_ = client.Close()
		_ = server.Close()
	})
	done.Wait()
	p.mu.Lock()
	delete(p.conns, client)
	delete(p.conns, server)
	p.mu.Unlock()
}

// back carries answers. After a COMMIT whose answer is to be lost it reads that answer, so that the transaction has
// been committed, and ends.
func (p *proxy) back(client, server net.Conn, lost *atomic.Bool) {
	buf := make([]byte, 32<<10)
	for {
		n, err := server.Read(buf)
		if lost.Load() {
			return
		}
		if n > 0 {
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// forth carries requests, message by message.
func (p *proxy) forth(client, server net.Conn, lost *atomic.Bool) {
	head := make([]byte, 5)
	first := true
	for {
		h := head
		if first {
			h = head[:4] // the first message has no type
		}
		if _, err := io.ReadFull(client, h); err != nil {
			return
		}
		size := binary.BigEndian.Uint32(h[len(h)-4:])
		if size < 4 || size > 64<<20 {
			return
		}
		body := make([]byte, size-4)
		if _, err := io.ReadFull(client, body); err != nil {
			return
		}
		if !first && h[0] == 'Q' && bytes.EqualFold(body, []byte("COMMIT\x00")) {
			if decide := p.swallow.Load(); decide != nil && (*decide)() {
				lost.Store(true)
				p.swallowed.Add(1)
			}
		}
		first = false
		if _, err := server.Write(append(append([]byte(nil), h...), body...)); err != nil {
			return
		}
	}
}

// swallowBy sets the decision; nil ends it.
func (p *proxy) swallowBy(decide func() bool) {
	if decide == nil {
		p.swallow.Store(nil)
		return
	}
	p.swallow.Store(&decide)
}
