// Package relay carries live events and the sound of teammates between nodes over an operator's own NATS, one server or
// a cluster (core NATS). Nothing durable goes over it, and messages may be lost. While it does not reach every node, its
// users send over the database.
//
// A message goes to the subject carillon.<installation>.<company>.<topic>. It is encrypted and authenticated with a key
// that only the nodes have, for this subject: other users of the NATS server can neither read messages nor make ones
// that a node accepts, and a message of one company is no message of another.
//
//	disconnected ── connected, signs of all nodes come ──▶ ready ── all nodes are ready ──▶ active
//	     ▲                                                 │                              │
//	     └──── no pong, a closed connection, or no sign of a node for 2.5 s ──────────────┘
package relay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"carillon"
	"carillon/internal/event/realtime"
)

const (
	// A server that does not answer is noticed within three ping intervals.
	pingEvery     = 800 * time.Millisecond
	maxPings      = 2
	writeTimeout  = time.Second
	dialTimeout   = 2 * time.Second
	reconnectWait = 400 * time.Millisecond
	jitter        = 100 * time.Millisecond

	reportEvery = time.Minute
	signEvery   = time.Second // between signs to other nodes, over NATS and over the database

	maxMessage = 16 << 10 // bytes
	maxWaiting = 1 << 20  // bytes of messages that wait to be sent
	maxCompany = maxWaiting / 4
	maxBehind  = 256 // received messages that wait in one subscription
	overhead   = 256 // bytes that a waiting message needs besides its payload
)

// Options configure a Relay. URL and Key are required.
type Options struct {
	URL         string // of the servers, separated by commas; may contain a user, password or token
	Credentials string // name of a file in NATS's format .creds, or empty
	CA          string // name of a PEM file with the authorities that sign the servers' certificates; default: the system's
	Key         []byte // 32 bytes that all nodes of the installation share
	Announce    func(kind string, items ...realtime.Item)
	Log         *slog.Logger
}

// Relay is the connection of this node. It implements realtime.Relay.
type Relay struct {
	o      Options
	node   string
	seal   *seal
	others *peers
	waking chan struct{}

	started time.Time

	waiting   *realtime.Outbox[message]
	connected atomic.Bool
	active    atomic.Bool
	subs      subscriptions

	sent, received, refused, offline, outages atomic.Int64

	mu       sync.Mutex // guards the following, and the order of log lines
	fault    error      // the last one; nil while connected
	reported time.Time  // of the last error of the server in the log
}

type message struct {
	subject string
	sealed  []byte
}

// New checks the files. Run connects.
func New(o Options) (*Relay, error) {
	for _, file := range []struct {
		name  string
		check func(text []byte) error
	}{{o.Credentials, checkCredentials}, {o.CA, checkCA}} {
		if file.name == "" {
			continue
		}
		text, err := os.ReadFile(file.name)
		if err == nil {
			err = file.check(text)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s for NATS: %w", file.name, err)
		}
	}
	sealer, err := newSeal(o.Key)
	if err != nil {
		return nil, err
	}
	node := carillon.NewID(time.Now())
	r := &Relay{
		o: o, node: node, started: time.Now(), seal: sealer, others: newPeers(node), waking: make(chan struct{}, 1),
		waiting: realtime.NewOutbox[message](maxWaiting, maxCompany),
	}
	r.subs.relay = r
	return r, nil
}

func checkCredentials(text []byte) error {
	if _, err := nkeys.ParseDecoratedJWT(text); err != nil {
		return err
	}
	pair, err := nkeys.ParseDecoratedUserNKey(text)
	if err != nil {
		return err
	}
	pair.Wipe()
	return nil
}

// Active implements realtime.Relay.
func (r *Relay) Active() bool { return r.active.Load() }

// Publish implements realtime.Relay.
func (r *Relay) Publish(companyID, topic string, payload []byte) {
	if len(payload) > maxMessage-sealed {
		r.refused.Add(1)
		return
	}
	subject := r.seal.subject(companyID, topic)
	if r.waiting.Add(companyID, len(payload)+overhead, message{subject, r.seal.seal(subject, payload)}) {
		r.wake()
	}
}

// Subscribe implements realtime.Relay.
func (r *Relay) Subscribe(companyID, topic string, received func(payload []byte)) (end func()) {
	return r.subs.add(r.seal.subject(companyID, topic), received)
}

func (r *Relay) wake() {
	select {
	case r.waking <- struct{}{}:
	default:
	}
}

// Run connects, sends and receives until ctx ends. It alone calls the connection, whose methods wait while a server does
// not answer.
func (r *Relay) Run(ctx context.Context) error {
	c, err := r.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	end := r.subs.add(r.seal.subject("", signs), func(node []byte) {
		if r.others.heard(string(node), time.Now()) { // the first sign of this node: it needs ours
			r.wakeSigns()
		}
	})
	defer end()
	tick := time.NewTicker(signEvery)
	defer tick.Stop()
	for {
		r.subs.apply(ctx, c)
		r.flush(c)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			r.sign(c)
		case <-r.others.changed:
			r.sign(c)
		case <-r.waking:
		}
	}
}

// connect opens the connection, which from then on is repeated whenever it is lost.
func (r *Relay) connect(ctx context.Context) (*nats.Conn, error) {
	options := []nats.Option{
		nats.Name("carillon"), nats.NoEcho(), nats.Timeout(dialTimeout),
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(maxPings), nats.FlusherTimeout(writeTimeout),
		nats.RetryOnFailedConnect(true), nats.IgnoreAuthErrorAbort(), nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait),
		nats.ReconnectJitter(jitter, jitter), nats.ReconnectBufSize(-1),
		func(o *nats.Options) error { o.ReconnectOnFlusherError = true; return nil },
		nats.ConnectHandler(func(*nats.Conn) { r.connects(ctx) }),
		nats.ReconnectHandler(func(*nats.Conn) { r.connects(ctx) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { r.disconnects(ctx, err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { r.fails(ctx, err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { r.reports(ctx, err) }),
	}
	if r.o.Credentials != "" {
		options = append(options, nats.UserCredentials(r.o.Credentials))
	}
	if r.o.CA != "" {
		options = append(options, nats.RootCAs(r.o.CA))
	}
	c, err := nats.Connect(r.o.URL, options...)
	if err != nil {
		return nil, errors.New("connect to NATS: the settings are not usable") // the error may contain the URL
	}
	return c, nil
}

func (r *Relay) connects(ctx context.Context) {
	r.mu.Lock()
	r.fault = nil
	r.mu.Unlock()
	r.o.Log.InfoContext(ctx, "connected to NATS")
	r.connected.Store(true)
	r.wakeSigns()
}

func (r *Relay) disconnects(ctx context.Context, err error) {
	r.connected.Store(false)
	if ctx.Err() != nil {
		return // the program stops
	}
	r.others.forget()
	r.outages.Add(1)
	if err == nil {
		err = nats.ErrConnectionClosed
	}
	r.fails(ctx, err)
	r.decide(ctx)
	r.wakeSigns()
}

// fails logs the first fault after each connection.
func (r *Relay) fails(ctx context.Context, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fault == nil && ctx.Err() == nil {
		r.o.Log.WarnContext(ctx, "no connection to NATS", "error", err)
	}
	r.fault = err
}

// reports logs an error that the server reports, such as a missing permission, at most once a minute. Slow subscriptions
// are counted instead.
func (r *Relay) reports(ctx context.Context, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if errors.Is(err, nats.ErrSlowConsumer) || time.Since(r.reported) < reportEvery {
		return
	}
	r.reported = time.Now()
	r.o.Log.WarnContext(ctx, "NATS reports an error", "error", err)
}

// flush sends the messages that wait.
func (r *Relay) flush(c *nats.Conn) {
	for _, m := range r.waiting.Take() {
		if !r.connected.Load() || c.Publish(m.subject, m.sealed) != nil {
			r.offline.Add(1)
			continue
		}
		r.sent.Add(1)
	}
}
