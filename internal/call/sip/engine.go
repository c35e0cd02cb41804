// Package sip places and accepts telephone calls over SIP (RFC 3261), with a trunk of a telephone company or with the
// sandbox's phone. It uses the transactions of sipgo, and implements dialogs, the INVITE loop, session timers and sound.
//
//	Dial ── INVITE ─▶ 100, 18x (rings, early sound) ─▶ 200 ─▶ ACK ─▶ Call ─▶ BYE, from either side
//	           └ 401, 407: again with a password; 422: a longer session; 3xx and all else: refused; ctx ends: CANCEL
package sip

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/emiago/sipgo"
	"github.com/emiago/sipgo/sip"

	"carillon/internal/base/share"
	"carillon/internal/call/rtp"
)

const agentName = "Carillon"

// Options describe an Engine; Address and Log are required.
type Options struct {
	Address  string      // host:port for SIP over UDP and TCP; port 0 takes a free one
	TLS      string      // host:port for SIP over TLS; empty means none
	TLSFiles *tls.Config // our certificates, and those we trust
	External netip.Addr  // our address as the far side sees it; default: the local address of the route to it
	Ports    [2]uint16   // of the sound, lowest and highest; zero means any
	// Lines lists the trunks of all lines, every second. Only they and the far sides of current calls can reach the
	// engine. nil: anyone may call, without limits, which is meant for an Address that only this machine reaches.
	Lines  func(ctx context.Context) ([]Line, error)
	Owns   func(shard int) bool // reports whether this node serves a shard; nil means every one
	Shares *share.Set           // of the node

	// AllowPrivate are private networks in which trunks with Trunk.Public may be.
	AllowPrivate []netip.Prefix
	Log          *slog.Logger

	// Network opens the sockets for sound and for SIP over UDP and TCP; nil means the system's. Tests use an in-memory
	// network.
	Network Network

	OnCall  func(in *Incoming) // handles calls to us, each on a separate goroutine; nil means they are refused
	Unheard *rtp.Refused       // counts rejected packets of sound; may be nil
	// Silent is the maximum gap in the sound of a call that is not held; default 20 s.
	Silent time.Duration
	// KeepAlive is the interval between requests that check whether a trunk responds; default 30 s.
	KeepAlive time.Duration
	// Second is the length of a second of session timers and registrations; default a second. Tests shorten it.
	Second time.Duration
}

// Network opens sockets. *net.ListenConfig implements it.
type Network interface {
	Listen(ctx context.Context, network, address string) (net.Listener, error)
	ListenPacket(ctx context.Context, network, address string) (net.PacketConn, error)
}

// Engine is the SIP user agent of this node. Close stops it.
type Engine struct {
	o       Options
	ua      *sipgo.UserAgent
	client  *sipgo.Client
	server  *sipgo.Server
	address netip.AddrPort // for UDP and TCP
	udp     sip.Addr       // the same in sipgo's type
	tls     netip.AddrPort
	ports   ports
	edge    *edge
	hosts   *hosts
	health  health
	realms  realms

	registrar registrar

	challenges challenges

	patience time.Duration // timeout for the first response
	closers  []io.Closer

	life       context.Context //nolint:containedctx // of background work
	cancel     context.CancelFunc
	background sync.WaitGroup

	mu      sync.Mutex
	calls   map[string]*Call // by dialog
	dialing map[string]bool  // Call-IDs of calls that wait for an answer

	referrals map[string]*referral // by dialog
}

// New listens and starts an engine.
func New(ctx context.Context, o Options) (*Engine, error) {
	if o.Second == 0 {
		o.Second = time.Second
	}
	if o.Silent == 0 {
		o.Silent = silent
	}
	if o.KeepAlive == 0 {
		o.KeepAlive = keepAlive
	}
	if o.Network == nil {
		o.Network = &net.ListenConfig{}
	}
	e := &Engine{
		o: o, calls: map[string]*Call{}, dialing: map[string]bool{}, referrals: map[string]*referral{},
		ports:  ports{network: o.Network, lowest: o.Ports[0], highest: o.Ports[1]},
		health: health{trunks: map[string]*trunkHealth{}}, patience: unreachableAfter, edge: newEdge(&o), hosts: newHosts(o.Shares),
	}
	e.health.e = e
	e.registrar = registrar{e: e, places: o.Shares.Of(share.Registrations), all: map[string]*registration{}}
	if err := e.open(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

func (e *Engine) open(ctx context.Context) error {
	quiet := slog.New(quieter{e.o.Log.Handler()})
	setUp()
	var err error
	// Connections that we open: unused ones must be closed, and a slow peer must not block the writer.
	stream := func() *sip.TransportTCP {
		return &sip.TransportTCP{ReadTimeout: idleTimeout, WriteTimeout: writeTimeout}
	}
	transports := sip.TransportsConfig{TCP: stream(), TLS: &sip.TransportTLS{TransportTCP: stream()}}
	if e.ua, err = sipgo.NewUA(sipgo.WithUserAgent(agentName), sipgo.WithUserAgenTLSConfig(e.o.TLSFiles),
		sipgo.WithUserAgentTransportLayerOptions(sip.WithTransportLayerTransports(transports))); err != nil {
		return fmt.Errorf("start the SIP user agent: %w", err)
	}
	e.closers = append(e.closers, e.ua)
	if e.server, err = sipgo.NewServer(e.ua, sipgo.WithServerLogger(quiet)); err != nil {
		return fmt.Errorf("start the SIP user agent: %w", err)
	}
	for method, h := range map[sip.RequestMethod]sipgo.RequestHandler{
		sip.INVITE: e.invited, sip.ACK: e.acknowledged, sip.BYE: e.ended, sip.CANCEL: late, sip.UPDATE: e.change, sip.INFO: e.informed,
		sip.OPTIONS: asked, sip.NOTIFY: e.notified,
	} {
		e.server.OnRequest(method, e.edge.guarded(h))
	}
	e.server.OnNoRoute(e.edge.guarded(unrouted))
	e.edge.respond = e.server.WriteResponse
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	e.life, e.cancel = background, cancel
	t := &trunks{lines: e.o.Lines, edge: e.edge, hosts: e.hosts, log: e.o.Log, registrar: &e.registrar}
	if e.o.Lines != nil {
		t.admit(background) // before the first packet
	}
	if err := e.listen(ctx); err != nil {
		return err
	}
	e.client, err = sipgo.NewClient(e.ua, sipgo.WithClientLogger(quiet), sipgo.WithClientHostname(e.address.Addr().String()))
	if err != nil {
		return fmt.Errorf("start the SIP user agent: %w", err)
	}
	e.closers = append(e.closers, e.client)
	if e.o.Lines != nil {
		t.registrar.follow(background, t.last)
		e.background.Go(func() { t.follow(background) })
	}
	e.background.Go(func() { e.watch(background) })
	e.background.Go(func() { e.health.keepAlive(background) })
	return nil
}

// listen listens on one port for UDP and TCP, and on another for TLS.
func (e *Engine) listen(ctx context.Context) error {
	var udp net.PacketConn
	var tcp net.Listener
	var err error
	for range 10 { // a free UDP port may be in use for TCP
		if udp, err = e.o.Network.ListenPacket(ctx, "udp", e.o.Address); err != nil {
			return fmt.Errorf("listen for calls: %w", err)
		}
		if tcp, err = e.o.Network.Listen(ctx, "tcp", udp.LocalAddr().String()); err == nil {
			break
		}
		_ = udp.Close()
	}
	if err != nil {
		return fmt.Errorf("listen for calls: %w", err)
	}
	e.address = unmapped(udp.LocalAddr().(*net.UDPAddr).AddrPort())
	if c, ok := udp.(*net.UDPConn); ok {
		_ = c.SetReadBuffer(readBuffer) // as much of it as the system allows
	}
	connections := accept(e, tcp, nil)
	e.closers = append(e.closers, udp, connections)
	own := udp.LocalAddr().(*net.UDPAddr)
	e.udp = sip.Addr{IP: own.IP, Port: own.Port}
	go func() { _ = e.server.ServeUDP(packets{udp, e.edge}) }()
	go func() { _ = e.server.ServeTCP(connections) }()
	for { // requests need the connection, which sipgo registers on that goroutine
		if _, err := e.ua.TransportLayer().GetConnection("udp", e.udp.String()); err == nil {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
	if e.o.TLS == "" {
		return nil
	}
	l, err := e.o.Network.Listen(ctx, "tcp", e.o.TLS)
	if err != nil {
		return fmt.Errorf("listen for encrypted calls: %w", err)
	}
	e.tls = unmapped(l.Addr().(*net.TCPAddr).AddrPort())
	secure := accept(e, l, e.o.TLSFiles)
	e.closers = append(e.closers, secure)
	go func() { _ = e.server.ServeTLS(secure) }()
	return nil
}

// readBuffer holds strangers' packets until they are dropped, so that packets of trunks are not lost.
const readBuffer = 1 << 20

func unmapped(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }

// Address returns the engine's address for UDP and TCP.
func (e *Engine) Address() netip.AddrPort { return e.address }

// SecureAddress returns its address for TLS.
func (e *Engine) SecureAddress() netip.AddrPort { return e.tls }

// Close ends all calls without a BYE, and stops the engine. Calls should be hung up first.
func (e *Engine) Close() error {
	if e.cancel != nil {
		e.cancel()
		e.background.Wait()
		e.registrar.work.Wait()
	}
	for _, c := range e.all() {
		c.over(Cause{By: System, Text: "the program stops"})
	}
	var errs []error
	for _, c := range slices.Backward(e.closers) {
		if err := c.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (e *Engine) all() []*Call {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Collect(maps.Values(e.calls))
}

const silent = 20 * time.Second

// watch ends calls whose sound has stopped because the far side, or its network, is gone.
func (e *Engine) watch(ctx context.Context) {
	tick := time.NewTicker(min(time.Second, e.o.Silent/4))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, c := range e.all() {
			if c.silentFor(time.Now()) >= e.o.Silent && c.over(Cause{By: System, Text: fmt.Sprintf("no sound came for %v", e.o.Silent)}) {
				if n := c.Refused(); n > 0 {
					e.o.Log.WarnContext(ctx,
						"a call was silent, while sound came from where its signalling does not say that it would", "packets", n)
				}
				e.background.Go(func() { _ = c.dialog.bye(ctx, "") })
			}
		}
	}
}

// setUp silences sipgo's global logger, and allows messages longer than a packet over UDP. An INVITE with credentials
// and the headers of proxies is that long, and no peer is known that only supports UDP and refuses it.
var setUp = sync.OnceFunc(func() { //nolint:gochecknoglobals // once
	sip.SetDefaultLogger(slog.New(slog.DiscardHandler))
	sip.UDPMTUSize = maxMessage
})

const maxMessage = 16 << 10

// quieter drops sipgo's log messages about single packets and transactions below errors.
type quieter struct{ slog.Handler }

// Enabled implements slog.Handler.
func (q quieter) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelError }

// WithAttrs implements slog.Handler.
func (q quieter) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quieter{q.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (q quieter) WithGroup(name string) slog.Handler { return quieter{q.Handler.WithGroup(name)} }

// hostFor returns our address as the far side sees it.
func (e *Engine) hostFor(far string) netip.Addr {
	if e.o.External.IsValid() {
		return e.o.External
	}
	if !e.address.Addr().IsUnspecified() {
		return e.address.Addr()
	}
	host := far
	if h, _, err := net.SplitHostPort(far); err == nil {
		host = h
	}
	c, err := net.Dial("udp", net.JoinHostPort(strings.Trim(host, "[]"), "9")) //nolint:noctx // sends nothing: it only determines the route
	if err != nil {
		return netip.IPv4Unspecified()
	}
	defer func() { _ = c.Close() }()
	return unmapped(c.LocalAddr().(*net.UDPAddr).AddrPort()).Addr()
}

// soundHost returns the local address for the sound of a call whose SDP names host: the signaling's address if that is
// fixed, because the far side accepts no other. Otherwise the network's route to the far side decides, as it does for
// host.
func (e *Engine) soundHost(host netip.Addr) netip.Addr {
	switch own := e.address.Addr(); {
	case !own.IsUnspecified():
		return own
	case host.Is4():
		return netip.IPv4Unspecified()
	}
	return host
}

// ports are the ports on which sound is received.
type ports struct {
	network         Network
	lowest, highest uint16

	mu   sync.Mutex
	next uint16
}

var errPorts = errors.New("no port for sound is free")

// open opens a free even port.
func (p *ports) open(ctx context.Context, ip netip.Addr) (net.PacketConn, error) {
	listen := func(port uint16) (net.PacketConn, error) {
		return p.network.ListenPacket(ctx, "udp", netip.AddrPortFrom(ip, port).String())
	}
	if p.lowest == 0 {
		return listen(0)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for range (p.highest-p.lowest)/2 + 1 {
		if p.next < p.lowest || p.next > p.highest {
			p.next = p.lowest + p.lowest%2
		}
		port := p.next
		p.next += 2
		if c, err := listen(port); err == nil {
			return c, nil
		}
	}
	return nil, errPorts
}
