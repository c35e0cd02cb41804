package rtp

import (
	"net/netip"
	"sync"
	"sync/atomic"
)

// Far is the location of a call's far side by its signalling.
type Far struct {
	Sound netip.AddrPort // where it receives, by its SDP; invalid: nowhere that we may send to
	Peer  netip.Addr     // source of its signalling; invalid if unknown
	// Version is the version of its SDP. Another version, or another address, gives a new location.
	Version uint64
}

// Refusal is why a packet is not heard.
type Refusal int

// The refusals.
const (
	// Foreign packets come from an address that may not speak in the call.
	Foreign Refusal = iota
	// OtherSource packets come from the right address, with another source (SSRC) than the ones before.
	OtherSource
	// Unauthenticated packets do not prove the key of an encrypted call, or are repeated.
	Unauthenticated
	refusals
)

// String is the refusal as metrics carry it.
func (r Refusal) String() string {
	return [refusals]string{"foreign", "other_source", "unauthenticated"}[r]
}

// Refused counts packets that were not heard, by why. The zero value is ready for use.
type Refused struct{ counts [refusals]atomic.Int64 }

func (r *Refused) add(why Refusal) { r.counts[why].Add(1) }

// Each calls f with each refusal and its count.
func (r *Refused) Each(f func(why Refusal, packets int64)) {
	for why := range refusals {
		f(why, r.counts[why].Load())
	}
}

// Total is the number of packets that were not heard.
func (r *Refused) Total() (n int64) {
	r.Each(func(_ Refusal, packets int64) { n += packets })
	return n
}

// renewAfter is the number of packets in a row from another source after which that source replaces the one before: the far
// side's switch may begin a new source within a call, while an attacker cannot keep its packets from coming between.
const renewAfter = 25

// latch decides from which address a call's sound is accepted, and where ours goes: the address in the far side's SDP. A far
// side behind a NAT cannot know its public port. So until a packet comes from that address, the first packet from another port
// of it, or from the host that signals the call, binds the call to its address and source, for good: any other sender is
// neither heard nor sent anything, however long the far side is silent. Only new SDP starts over.
type latch struct {
	mu     sync.Mutex
	far    Far
	to     netip.AddrPort // destination of our sound
	named  bool           // the address that the SDP names has spoken
	bound  bool           // another one has, before it
	source uint32         // SSRC of the bound address
	next   uint32         // another source of it, with so many packets in a row
	run    int
}

func newLatch(far Far) *latch {
	l := &latch{}
	l.follow(far)
	return l
}

// follow takes a new location from the signalling. The same location changes nothing.
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
	if far.Sound != l.far.Sound || far.Peer != l.far.Peer { // else the destination stays until sound comes from elsewhere
		l.to = far.Sound
	}
	l.far, l.named, l.bound = far, false, false
}

// address is the destination of our sound; invalid while unknown.
func (l *latch) address() netip.AddrPort {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to
}

// may reports whether an address may speak.
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

// accept decides on a packet of an address and a source. why is valid if ok is false.
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
