package main

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"carillon/internal/load"
)

// failover is the clients of the soak with their load balancer: each connection has a node, and turns to the next when
// that one breaks the connection or is stopping; some seconds later it goes home. A request is repeated with its Idempotency-Key until it is answered, so
// that it is neither lost nor accepted twice.
type failover struct {
	addrs  []string
	conns  []balanced
	run    string // makes the keys of one run its own
	number atomic.Int64

	broken  atomic.Int64 // connections that broke, or never came about
	refused atomic.Int64 // answers 503, which say when to come again
	given   atomic.Int64 // requests given up after a minute
}

type balanced struct {
	conn       *load.Conn
	home, node int
	turned     time.Time // when it left the node before
}

// homesick is how long a connection stays with another node than its own.
const homesick = 3 * time.Second

func newFailover(addrs []string, conns int) *failover {
	f := &failover{addrs: addrs, conns: make([]balanced, conns), run: fmt.Sprintf("%x", time.Now().UnixNano())}
	for i := range f.conns {
		f.conns[i].home = i % len(addrs)
		f.conns[i].node = f.conns[i].home
	}
	return f
}

// do sends one request to one new recipient, wherever it is taken.
func (f *failover) do(ctx context.Context, conn, _ int) (load.Answer, error) {
	n := f.number.Add(1)
	text := strings.Replace(body(1, int(n%900_000_000), time.Time{}), `"recipient_id":"main"`, fmt.Sprintf(`"recipient_id":"line%d"`, n%soakSenders), 1)
	req := request("POST", notifyPath("ck_bench_much"), text, fmt.Sprintf("Idempotency-Key: %s-%d", f.run, n))
	c := &f.conns[conn]
	if c.node != c.home && time.Since(c.turned) > homesick {
		c.turn(c.home)
	}
	var last error
	for begin := time.Now(); time.Since(begin) < time.Minute; {
		a, err := f.once(ctx, c, req)
		switch {
		case err != nil:
			last = err
			f.broken.Add(1)
		case a.Status == 503:
			last = fmt.Errorf("answered 503: %s", a.Body)
			f.refused.Add(1)
		default:
			if a.Close {
				c.hangUp()
			}
			return a, nil
		}
		c.turn((c.node + 1) % len(f.addrs))
		if err := rest(ctx, 20*time.Millisecond); err != nil {
			return load.Answer{}, err
		}
	}
	f.given.Add(1)
	return load.Answer{}, fmt.Errorf("not answered within a minute: %w", last)
}

func (f *failover) once(ctx context.Context, c *balanced, req []byte) (load.Answer, error) {
	if c.conn == nil {
		var err error
		if c.conn, err = load.Dial(ctx, f.addrs[c.node]); err != nil {
			c.conn = nil
			return load.Answer{}, err
		}
	}
	return c.conn.Do(req)
}

// turn takes the connection to another node.
func (c *balanced) turn(to int) {
	c.hangUp()
	c.node, c.turned = to, time.Now()
}

func (c *balanced) hangUp() {
	if c.conn != nil {
		_ = c.conn.Close() // nothing is under way
		c.conn = nil
	}
}
