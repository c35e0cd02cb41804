// Package rtptest is an in-memory network for tests in fake time: waiting for a packet is durably blocking, as
// testing/synctest requires.
package rtptest

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"
)

const (
	firstPort = 20_000
	maxQueued = 1024 // packets waiting to be read from a socket; more are lost
)

// Network has all its sockets at 127.0.0.1. Packets keep their order, and none is lost while its receiver reads. The
// zero value is ready for use.
type Network struct {
	mu      sync.Mutex
	sockets map[uint16]*socket // by port
	opened  int
}

// ListenPacket opens a socket, like net.ListenConfig. Port 0 selects a free even port.
func (n *Network) ListenPacket(_ context.Context, network, address string) (net.PacketConn, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, &net.OpError{Op: "listen", Net: network, Err: err}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.sockets == nil {
		n.sockets = map[uint16]*socket{}
	}
	if at.Port() == 0 {
		at = netip.AddrPortFrom(at.Addr(), uint16(firstPort+2*n.opened))
	}
	if n.sockets[at.Port()] != nil {
		return nil, &net.OpError{Op: "listen", Net: network, Err: fmt.Errorf("port %d is taken", at.Port())}
	}
	s := &socket{
		network: n, local: at, queue: make(chan packet, maxQueued), closed: make(chan struct{}),
		// Sockets have different distances, so that packets of two sockets do not arrive at the same time.
		distance: time.Duration(1+n.opened%7) * time.Millisecond,
	}
	s.close = sync.OnceFunc(s.leave)
	n.opened++
	n.sockets[at.Port()] = s
	return s, nil
}

// Listen is for servers that also accept connections. None arrive.
func (*Network) Listen(_ context.Context, network, address string) (net.Listener, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, &net.OpError{Op: "listen", Net: network, Err: err}
	}
	l := &listener{local: at, closed: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	return l, nil
}

type packet struct {
	data    []byte
	from    net.Addr
	arrives time.Time
}

type socket struct {
	network  *Network
	local    netip.AddrPort
	distance time.Duration
	queue    chan packet
	closed   chan struct{}
	close    func()
}

func (s *socket) leave() {
	s.network.mu.Lock()
	delete(s.network.sockets, s.local.Port())
	s.network.mu.Unlock()
	close(s.closed)
}

// ReadFrom implements net.PacketConn.
func (s *socket) ReadFrom(b []byte) (int, net.Addr, error) {
	select {
	case p := <-s.queue:
		select {
		case <-time.After(time.Until(p.arrives)):
			return copy(b, p.data), p.from, nil
		case <-s.closed:
		}
	case <-s.closed:
	}
	return 0, nil, s.gone("read")
}

// WriteTo implements net.PacketConn.
func (s *socket) WriteTo(b []byte, to net.Addr) (int, error) {
	select {
	case <-s.closed:
		return 0, s.gone("write")
	default:
	}
	udp, ok := to.(*net.UDPAddr)
	if !ok {
		return 0, &net.AddrError{Err: "not of UDP", Addr: to.String()}
	}
	s.network.mu.Lock()
	far := s.network.sockets[udp.AddrPort().Port()]
	s.network.mu.Unlock()
	if far == nil { // like UDP, do not report a missing receiver
		return len(b), nil
	}
	from := net.UDPAddrFromAddrPort(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), s.local.Port()))
	select {
	case far.queue <- packet{append([]byte(nil), b...), from, time.Now().Add(s.distance)}:
	default:
	}
	return len(b), nil
}

func (s *socket) gone(op string) error {
	return &net.OpError{Op: op, Net: "udp", Addr: s.LocalAddr(), Err: net.ErrClosed}
}

// Close implements net.PacketConn.
func (s *socket) Close() error {
	s.close()
	return nil
}

// LocalAddr implements net.PacketConn.
func (s *socket) LocalAddr() net.Addr { return net.UDPAddrFromAddrPort(s.local) }

// SetDeadline implements net.PacketConn.
func (*socket) SetDeadline(time.Time) error { return os.ErrNoDeadline }

// SetReadDeadline implements net.PacketConn.
func (*socket) SetReadDeadline(time.Time) error { return os.ErrNoDeadline }

// SetWriteDeadline implements net.PacketConn.
func (*socket) SetWriteDeadline(time.Time) error { return os.ErrNoDeadline }

type listener struct {
	local  netip.AddrPort
	closed chan struct{}
	close  func()
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	<-l.closed
	return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: l.Addr(), Err: net.ErrClosed}
}

// Close implements net.Listener.
func (l *listener) Close() error {
	l.close()
	return nil
}

// Addr implements net.Listener.
func (l *listener) Addr() net.Addr { return net.TCPAddrFromAddrPort(l.local) }
