package rtp

import (
	"net/netip"
	"sync"
	"sync/atomic"
)

// Far is the location of a call's far side according to its signaling.
type Far struct {
	Sound netip.AddrPort // address that receives sound, from its SDP; invalid: none to which we may send
	Peer  netip.Addr     // source of its signalling; invalid if unknown
	// Version is the version of its SDP. Another version, or another address, gives a new location.
	Version uint64
}

// Refusal is the reason why a packet was rejected.
type Refusal int

// Reasons for rejecting packets.
const (
	// Foreign packets come from an address that is not part of the call.
	Foreign Refusal = iota
	// OtherSource packets come from the right address, but from another source (SSRC) than earlier ones.
	OtherSource
	// Unauthenticated packets of an encrypted call have a wrong key, or are repeated.
	Unauthenticated
	refusals
)

// String returns the refusal as a metric label.
func (r Refusal) String() string {
	return [refusals]string{"foreign", "other_source", "unauthenticated"}[r]
}

// Refused counts rejected packets by reason. The zero value is ready for use.
type Refused struct{ counts [refusals]atomic.Int64 }

func (r *Refused) add(why Refusal) { r.counts[why].Add(1) }

// Each calls f with each reason and its count.
func (r *Refused) Each(f func(why Refusal, packets int64)) {
	for why := range refusals {
		f(why, r.counts[why].Load())
	}
}

// Total returns the number of rejected packets.
func (r *Refused) Total() (n int64) {
	r.Each(func(_ Refusal, packets int64) { n += packets })
	return n
}

// renewAfter is the number of consecutive packets from another source after which that source replaces the previous
// one. The far side's switch may begin a new source within a call, whereas an attacker cannot prevent the real packets
// from arriving in between.
const renewAfter = 25

// latch decides from which address a call's sound is accepted, and where ours goes: the address in the far side's SDP.
// A far side behind a NAT cannot know its public port. So until a packet arrives from that address, the first packet
// from another port of it, or from the host that signals the call, permanently binds the call to its address and
// source. Other senders are neither accepted nor sent anything, however long the far side is silent. Only new SDP
// starts over.
type latch struct {
	mu     sync.Mutex
	far    Far
	to     netip.AddrPort // destination of our sound
	named  bool           // the address in the SDP has sent packets
	bound  bool           // another address has sent packets before it
	source uint32         // SSRC of the bound address
	next   uint32         // another source of that address, with its number of consecutive packets
	run    int
}

func newLatch(far Far) *latch {
	l := &latch{}
	l.follow(far)
	return l
}

// follow applies a new location from the signaling. The same location changes nothing.
func (l *latch) follow(far Far) {
	far.Sound = netip.AddrPortFrom(far.Sound.Addr().Unmap(), far.Sound.Port())
	far.Peer = far.Peer.Unmap()
	if !far.Sound.Addr().IsValid() {
		far.Sound = netip.AddrPort{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if far == l.far {
		return
	}
	// Otherwise the destination stays until sound comes from elsewhere.
	if far.Sound != l.far.Sound || far.Peer != l.far.Peer {
		l.to = far.Sound
	}
	l.far, l.named, l.bound = far, false, false
}

// address returns the destination of our sound; invalid while unknown.
func (l *latch) address() netip.AddrPort {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to
}

// may reports whether packets from an address are acceptable.
func (l *latch) may(from netip.AddrPort) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mayLocked(from)
}

func (l *latch) mayLocked(from netip.AddrPort) bool {
	switch {
	case from == l.far.Sound:
		return true
	case l.named:
		return false
	case l.bound:
		return from == l.to
	}
	return from.Addr() == l.far.Sound.Addr() || from.Addr() == l.far.Peer
}

// accept decides about a packet by its address and source. why is valid if ok is false.
func (l *latch) accept(from netip.AddrPort, source uint32) (why Refusal, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !l.mayLocked(from):
		return Foreign, false
	case from == l.far.Sound:
		l.named, l.bound, l.to = true, false, from
		return 0, true
	case !l.bound:
		l.bound, l.to, l.source = true, from, source
	case source != l.source:
		if source != l.next {
			l.next, l.run = source, 0
		}
		if l.run++; l.run < renewAfter {
			return OtherSource, false
		}
		l.source = source
	}
	l.run = 0
	return 0, true
}
