package db

import (
	"context"
	"crypto/tls"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

const (
	// connectTimeout bounds the connection set-up to the only server; hostTimeout the one to each of several.
	connectTimeout = 5 * time.Second
	hostTimeout    = 2 * time.Second
	// silence bounds the time for which a server may leave data unacknowledged. Its host may have vanished; the kernel
	// alone would keep trying for a quarter of an hour.
	silence = 5 * time.Second
)

// hosts are the servers in the URL. A connection is tried with the server that took the last one, then with the others
// in the URL's order.
type hosts struct {
	all     []*pgx.ConnConfig
	last    atomic.Int64
	connect time.Duration // bounds a connection set-up with all of them
	open    connections
}

// connections are the open network connections.
type connections struct {
	mu  sync.Mutex
	all map[*connection]bool
}

type connection struct {
	net.Conn
	of *connections
}

// Close implements net.Conn. Its owner closes it again after closeAll.
func (c *connection) Close() error {
	c.of.mu.Lock()
	open := c.of.all[c]
	delete(c.of.all, c)
	c.of.mu.Unlock()
	if !open {
		return nil
	}
	return c.Conn.Close()
}

func (c *connections) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := dialer().DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	own := &connection{conn, c}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[*connection]bool{}
	}
	c.all[own] = true
	return own, nil
}

// closeAll closes all connections but one, which ends the statements that wait on them, and returns their number.
func (c *connections) closeAll(but net.Conn) (n int) {
	if t, ok := but.(*tls.Conn); ok {
		but = t.NetConn()
	}
	c.mu.Lock()
	all := slices.Collect(maps.Keys(c.all))
	c.mu.Unlock()
	for _, conn := range all {
		if conn != but {
			_ = conn.Close()
			n++
		}
	}
	return n
}

// read reads a URL. Its connections start with few parameters, which every pooler accepts; the other settings of their
// sessions are returned.
func (h *hosts) read(url string) (settings map[string]string, err error) {
	c, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errors.New("the database URL cannot be read (not shown: it may hold a password)")
	}
	settings = maps.Clone(sessionSettings)
	first := map[string]string{"application_name": "carillon"}
	for name, value := range c.RuntimeParams {
		switch name {
		case "application_name", "client_encoding", "options":
			first[name] = value
		default:
			settings[name] = value
		}
	}
	c.RuntimeParams = first
	c.DialFunc = h.open.dial
	servers := append([]*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}, c.Fallbacks...)
	for _, f := range servers { // the same server is listed twice if TLS is optional
		at := slices.IndexFunc(h.all, func(x *pgx.ConnConfig) bool { return x.Host == f.Host && x.Port == f.Port })
		if at >= 0 {
			h.all[at].Fallbacks = append(h.all[at].Fallbacks, f)
			continue
		}
		own := c.Copy()
		own.Host, own.Port, own.TLSConfig, own.Fallbacks = f.Host, f.Port, f.TLSConfig, nil
		h.all = append(h.all, own)
	}
	each := c.ConnectTimeout
	if each == 0 && len(h.all) > 1 {
		each = hostTimeout
	} else if each == 0 {
		each = connectTimeout
	}
	for _, own := range h.all {
		own.ConnectTimeout = each
	}
	h.connect = time.Duration(len(h.all)) * each
	return settings, nil
}

// dialer makes connections that break when the server stops responding. The setting tcp_user_timeout does the same on
// the server's side.
func dialer() *net.Dialer {
	return &net.Dialer{
		Control:         breakWhenSilent,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: silence, Interval: silence / 2, Count: 3},
	}
}

// try calls connect with the hosts in turn until one of them succeeds.
func (h *hosts) try(ctx context.Context, connect func(i int) error) error {
	first := int(h.last.Load())
	var errs []error
	for n := range h.all {
		i := (first + n) % len(h.all)
		err := connect(i)
		if err == nil {
			h.last.Store(int64(i))
			return nil
		}
		if errs = append(errs, err); ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

// answered reports whether an error is an answer of the server that is used. Of several servers, one that refuses a
// connection says nothing about another that is frozen, unless it has no room for more.
func (h *hosts) answered(err error) bool {
	pe, replied := errors.AsType[*pgconn.PgError](err)
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	_, refused := errors.AsType[*refusal](err)
	if len(h.all) > 1 && (connecting || refused) {
		return replied && strings.HasPrefix(pe.Code, "53")
	}
	return replied || refused
}

// connector makes the connections of the pool.
type connector struct {
	s    *server
	each []driver.Connector
}

func newConnector(s *server) *connector {
	c := &connector{s: s}
	for _, to := range s.hosts.all {
		c.each = append(c.each, stdlib.GetConnector(*to, stdlib.OptionAfterConnect(s.admit), stdlib.OptionResetSession(s.current)))
	}
	return c
}

// Connect implements driver.Connector.
func (c *connector) Connect(ctx context.Context) (conn driver.Conn, err error) {
	err = c.s.hosts.try(ctx, func(i int) (err error) {
		conn, err = c.each[i].Connect(ctx)
		return err
	})
	return conn, err
}

// Driver implements driver.Connector.
func (*connector) Driver() driver.Driver { return stdlib.GetDefaultDriver() }

// admit checks a new connection, and closes a refused one.
func (s *server) admit(ctx context.Context, c *pgx.Conn) error {
	err := s.check(ctx, c)
	if err != nil {
		closeConn(ctx, c)
	}
	return err
}

// Connect opens a PostgreSQL connection outside the pool.
func (d *DB) Connect(ctx context.Context) (c *pgx.Conn, err error) {
	s := &d.server
	err = s.hosts.try(ctx, func(i int) (err error) {
		if c, err = pgx.ConnectConfig(ctx, s.hosts.all[i].Copy()); err != nil {
			return err
		}
		return s.admit(ctx, c)
	})
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return c, nil
}
