package faults

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// proxy runs between a node and PostgreSQL. It can cut the connection, drop responses and notifications, and detect
// the state of the node's transaction.
type proxy struct {
	t        *testing.T
	listener net.Listener
	url      string // of the database, through the proxy

	mu      sync.Mutex
	network string
	address string
	down    bool
	conns   map[net.Conn]bool

	// swallow decides for each COMMIT whether to lose its response and the connection.
	swallow   atomic.Pointer[func() bool]
	swallowed atomic.Int64
	// at is called at a point of a transaction, and holds up requests until it returns.
	at atomic.Pointer[func(p point)]
	// frozen, if not nil, is closed when requests are passed on again.
	frozen atomic.Pointer[chan struct{}]
	// deaf drops all notifications.
	deaf    atomic.Bool
	dropped atomic.Int64
}

// point is the state of a node's transaction.
type point int

const (
	startsUncommitted point = iota // the proxy holds the COMMIT of a transaction with starts of messages
	startsCommitted                // the database has committed them, and the node does not know yet
	acceptUncommitted              // the proxy holds the COMMIT of a transaction with accepted requests
	nowhere
)

func newProxy(t *testing.T, database string) *proxy {
	t.Helper()
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
	p.lead(database)
	go p.accept()
	t.Cleanup(func() {
		_ = l.Close()
		p.thaw()
		p.cut()
	})
	return p
}

// lead directs new connections to this database.
func (p *proxy) lead(database string) {
	p.t.Helper()
	c, err := pgconn.ParseConfig(database)
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	p.network, p.address = pgconn.NetworkAddress(c.Host, c.Port)
	p.mu.Unlock()
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		network, address := p.network, p.address
		p.mu.Unlock()
		server, err := net.Dial(network, address)
		if err != nil || !p.keep(client, server) {
			_ = client.Close()
			continue
		}
		go p.join(client, server)
	}
}

// keep records the connections, unless the network is cut.
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

// cut closes all connections and refuses new ones until mend.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = true
	for c := range p.conns {
		_ = c.Close()
	}
	p.conns = map[net.Conn]bool{}
}

// freeze blocks requests until thaw. Blocked requests are lost with their connections.
func (p *proxy) freeze() { p.frozen.Store(new(make(chan struct{}))) }

func (p *proxy) thaw() {
	if c := p.frozen.Swap(nil); c != nil {
		p.cut()
		p.mend()
		close(*c)
	}
}

func (p *proxy) mend() {
	p.mu.Lock()
	p.down = false
	p.mu.Unlock()
}

// session is one connection through the proxy.
type session struct {
	p              *proxy
	client, server net.Conn
	texts          map[string]string // of prepared statements
	seen           point             // point reached by the open transaction
	explicit       bool              // opened by BEGIN
	lost           atomic.Bool       // drop the response to a COMMIT
	committing     atomic.Int64      // point to report once a COMMIT has its response
}

func (p *proxy) join(client, server net.Conn) {
	s := &session{p: p, client: client, server: server, texts: map[string]string{}, seen: nowhere}
	s.committing.Store(int64(nowhere))
	var done sync.WaitGroup
	done.Go(func() {
		s.back()
		_ = client.Close()
	})
	done.Go(func() {
		s.forth()
		_ = client.Close()
		_ = server.Close()
	})
	done.Wait()
	p.mu.Lock()
	delete(p.conns, client)
	delete(p.conns, server)
	p.mu.Unlock()
}

// message reads one message of the wire protocol. The first message of a client has no type.
func message(r *bufio.Reader, typed bool) (kind byte, raw []byte, err error) {
	n := 4
	if typed {
		n = 5
	}
	head, err := r.Peek(n)
	if err != nil {
		return 0, nil, err
	}
	size := int(binary.BigEndian.Uint32(head[n-4:])) + n - 4
	if size < n || size > 64<<20 {
		return 0, nil, io.ErrUnexpectedEOF
	}
	if typed {
		kind = head[0]
	}
	raw = make([]byte, size)
	_, err = io.ReadFull(r, raw)
	return kind, raw, err
}

// back carries responses. To drop the response to a COMMIT, it waits for that response, so that the transaction is
// committed, and then ends.
func (s *session) back() {
	r, w := bufio.NewReaderSize(s.server, 32<<10), bufio.NewWriterSize(s.client, 32<<10)
	for {
		kind, raw, err := message(r, true)
		if err != nil {
			return
		}
		idle := kind == 'Z' && raw[5] == 'I' // no transaction is open
		switch {
		case s.lost.Load() && (idle || kind == 'E'):
			return
		case s.lost.Load():
			continue
		case kind == 'A' && s.p.deaf.Load():
			s.p.dropped.Add(1)
			continue
		case idle:
			if was := point(s.committing.Swap(int64(nowhere))); was == startsUncommitted {
				s.p.reach(startsCommitted)
			}
		}
		if _, err := w.Write(raw); err != nil {
			return
		}
		if r.Buffered() == 0 && w.Flush() != nil {
			return
		}
	}
}

// forth carries requests, message by message.
func (s *session) forth() {
	r, w := bufio.NewReaderSize(s.client, 32<<10), bufio.NewWriterSize(s.server, 32<<10)
	typed := false
	for {
		kind, raw, err := message(r, typed)
		if err != nil {
			return
		}
		if typed && !s.follow(kind, raw[5:], w) {
			return
		}
		typed = true
		if c := s.p.frozen.Load(); c != nil {
			<-*c
			return
		}
		if _, err := w.Write(raw); err != nil {
			return
		}
		if r.Buffered() == 0 && w.Flush() != nil {
			return
		}
	}
}

// text returns the statement that a message runs.
func (s *session) text(kind byte, body []byte) (string, bool) {
	first, rest, _ := strings.Cut(string(body), "\x00")
	second, _, _ := strings.Cut(rest, "\x00")
	switch kind {
	case 'Q':
		return first, true
	case 'P': // prepare: name, text
		s.texts[first] = second
	case 'B': // run: portal, name
		return s.texts[second], true
	}
	return "", false
}

// follow tracks the transaction. Requests before its COMMIT, or before the Sync that ends a transaction without BEGIN,
// are passed on first; then the node may be held up. It returns false if the connection is broken.
func (s *session) follow(kind byte, body []byte, w *bufio.Writer) bool {
	text, _ := s.text(kind, body)
	text = strings.ToUpper(strings.TrimSpace(text))
	switch {
	case strings.HasPrefix(text, "BEGIN"):
		s.seen, s.explicit = nowhere, true
	case strings.Contains(text, "SET Q = 2"), strings.Contains(text, ", Q, ATTEMPT) SELECT"):
		// The latter with their accepts.
		s.seen = startsUncommitted
	case strings.Contains(text, "INSERT INTO NOTIFICATION") && s.seen == nowhere:
		s.seen = acceptUncommitted
	case text == "ROLLBACK":
		s.seen, s.explicit = nowhere, false
	case text == "COMMIT", kind == 'S' && !s.explicit && s.seen != nowhere:
		if w.Flush() != nil {
			return false
		}
		s.p.reach(s.seen)
		s.committing.Store(int64(s.seen))
		s.seen, s.explicit = nowhere, false
		if decide := s.p.swallow.Load(); decide != nil && (*decide)() {
			s.lost.Store(true)
			s.p.swallowed.Add(1)
		}
	}
	return true
}

func (p *proxy) reach(at point) {
	if f := p.at.Load(); f != nil && at != nowhere {
		(*f)(at)
	}
}

// holdBy sets the function called at the points; nil removes it.
func (p *proxy) holdBy(f func(at point)) {
	if f == nil {
		p.at.Store(nil)
		return
	}
	p.at.Store(&f)
}

// swallowBy sets the decision; nil removes it.
func (p *proxy) swallowBy(decide func() bool) {
	if decide == nil {
		p.swallow.Store(nil)
		return
	}
	p.swallow.Store(&decide)
}
