package carillon

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"sync"
	"time"
)

// Seq is a notification's number, the key it is stored under. Its id carries it (adr/0015): the milliseconds since 2026,
// ten bits of a counter within them, six bits of the slot of the node that accepted it.
type Seq int64

// MessageKey is a message's number, the key it is stored under: its notification's and its place among the recipients.
type MessageKey int64

const (
	seqEpoch = 1767225600000 // 2026-01-01
	seqSpan  = 1 << 40       // milliseconds either side of it
	slotBits = 6
	lowBits  = 16 // of the counter and the slot
	placeBit = 7  // of a message's place: a notification has at most 100

	// NodeSlots is how many nodes number their notifications apart from each other.
	NodeSlots = 1 << slotBits

	// NoSeq is no notification's number, and below all of them.
	NoSeq Seq = -seqSpan << lowBits
)

// SeqOf is the number that a notification's id carries; NoSeq when it is no id of ours. Two ids may carry one number:
// only one of them is ever stored.
func SeqOf(id string) Seq {
	var b [10]byte
	if !ValidUUID(id) {
		return NoSeq
	}
	for i, at := range [...]int{0, 2, 4, 6, 9, 11, 14, 16, 19, 21} {
		high, low := hexDigit(id[at]), hexDigit(id[at+1])
		if high|low > 0xf {
			return NoSeq
		}
		b[i] = high<<4 | low
	}
	head := binary.BigEndian.Uint64(b[:8])
	if head>>12&0xf != 7 || b[8]>>6 != 2 {
		return NoSeq
	}
	return seqAt(int64(head>>16)) | Seq(head&0xfff<<4) | Seq(b[8]>>2&0xf)
}

// hexDigit reads a digit of an id in the letter case that ours have; 0xff for another.
func hexDigit(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	}
	return 0xff
}

// FirstSeq is below the numbers of an instant and later ones, and above all earlier ones.
func FirstSeq(t time.Time) Seq { return seqAt(t.UnixMilli()) }

func seqAt(ms int64) Seq {
	ms -= seqEpoch
	return Seq(max(min(ms, seqSpan-1), -seqSpan)) << lowBits
}

// Message is the key of the notification's n-th message, from 0 on.
func (s Seq) Message(n int) MessageKey { return MessageKey(s)<<placeBit | MessageKey(n) }

// LastMessage is above the keys of all of the notification's messages but the last possible one's, which it is.
func (s Seq) LastMessage() MessageKey { return s.Message(1<<placeBit - 1) }

// Seq is the number of the message's notification.
func (k MessageKey) Seq() Seq { return Seq(k >> placeBit) }

// N is the message's place among the recipients, from 0 on.
func (k MessageKey) N() int { return int(k & (1<<placeBit - 1)) }

// Key is the key of the message that a reference names.
func (r Ref) Key() MessageKey { return SeqOf(r.NotificationID).Message(min(r.N, 1<<placeBit-1)) }

// Sequence makes the ids of the notifications that a node accepts. Their numbers rise and never repeat in a process,
// whatever its clock does; another process repeats them only with the same slot and in the same millisecond.
type Sequence struct {
	mu   sync.Mutex
	last int64 // milliseconds and counter
	slot int64
}

// SetSlot tells the node's slot, below NodeSlots.
func (s *Sequence) SetSlot(slot int) {
	s.mu.Lock()
	s.slot = int64(slot % NodeSlots)
	s.mu.Unlock()
}

// Next is the id of a notification accepted now: a UUIDv7 whose number says so too, and behind it 58 random bits. More
// than 1,024 in a millisecond, and those after a clock was put back, take the milliseconds that follow.
func (s *Sequence) Next(now time.Time) string {
	const counterBits = lowBits - slotBits
	s.mu.Lock()
	s.last = max(s.last+1, now.UnixMilli()<<counterBits)
	ms, low := s.last>>counterBits, s.last&(1<<counterBits-1)<<slotBits|s.slot
	s.mu.Unlock()
	return uuid7(uint64(ms), uint64(low))
}

// NewStrayID is the id of a notification whose number Next had given was taken: with one out of the 65,536 of the
// millisecond at random.
func NewStrayID(now time.Time) string {
	var random [2]byte
	rand.Read(random[:]) // never fails: crypto/rand ends the program instead
	return uuid7(uint64(now.UnixMilli()), uint64(binary.BigEndian.Uint16(random[:])))
}

// uuid7 writes a UUIDv7 of milliseconds and the sixteen bits behind them, the rest is random.
func uuid7(ms, low uint64) string {
	var id [16]byte
	rand.Read(id[8:]) // never fails: crypto/rand ends the program instead
	binary.BigEndian.PutUint64(id[:8], ms<<16|7<<12|low>>4)
	id[8] = id[8]&0x3 | byte(low&0xf)<<2 | 0x80

	var text [36]byte
	hex.Encode(text[:8], id[:4])
	hex.Encode(text[9:13], id[4:6])
	hex.Encode(text[14:18], id[6:8])
	hex.Encode(text[19:23], id[8:10])
	hex.Encode(text[24:], id[10:])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return string(text[:])
}
