package carillon

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"time"
)

// Seq is the number under which a notification is stored. It is part of the notification's ID: the milliseconds since
// 2026, four bits for the cell, a counter of six bits, and six bits for the slot of the node that accepted it
// (docs/adr/0015).
type Seq int64

// MessageKey is the key under which a message is stored: the number of its notification and its index among the
// recipients.
type MessageKey int64

const (
	seqEpoch  = 1767225600000 // 2026-01-01
	seqSpan   = 1 << 40       // milliseconds before and after it
	slotBits  = 6
	cellBits  = 4
	countBits = 6
	lowBits   = cellBits + countBits + slotBits
	indexBits = 7 // for a message's index: a notification has at most 100 messages
	lastIndex = 1<<indexBits - 1

	// NodeSlots is the number of nodes that can number notifications without collisions.
	NodeSlots = 1 << slotBits

	// Cells is the number of installations whose notifications have different numbers, so that companies can move
	// between them.
	Cells = 1 << cellBits

	// NoSeq is less than the number of any notification.
	NoSeq Seq = -seqSpan << lowBits
)

// SeqOf returns the number in a notification's ID, or NoSeq if it is not one of our IDs. Of several IDs with the same
// number, only one is ever stored.
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

// hexDigit parses a lower-case hexadecimal digit; 0xff for any other character.
func hexDigit(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	}
	return 0xff
}

// FirstSeq returns the lowest number for a time.
func FirstSeq(t time.Time) Seq { return seqAt(t.UnixMilli()) }

func seqAt(ms int64) Seq {
	ms -= seqEpoch
	return Seq(max(min(ms, seqSpan-1), -seqSpan)) << lowBits
}

// Cell returns the cell in which the notification was accepted.
func (s Seq) Cell() int { return int(s >> (countBits + slotBits) & (Cells - 1)) }

// Message returns the key of the notification's nth message, counted from 0, or LastMessage if n is too large.
func (s Seq) Message(n int) MessageKey {
	return MessageKey(s)<<indexBits | MessageKey(min(n, lastIndex))
}

// LastMessage returns the highest key that a message of the notification can have.
func (s Seq) LastMessage() MessageKey { return s.Message(lastIndex) }

// Seq returns the number of the message's notification.
func (k MessageKey) Seq() Seq { return Seq(k >> indexBits) }

// N returns the message's index among the recipients, counted from 0.
func (k MessageKey) N() int { return int(k & lastIndex) }

// NewID returns an ID of a notification with the number: a UUIDv7 whose other 58 bits are random.
func (s Seq) NewID() string {
	return uuid7(uint64(s>>lowBits)+seqEpoch, uint64(s&(1<<lowBits-1)))
}

// uuid7 returns a UUIDv7 of milliseconds and the sixteen bits after them; the rest is random.
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
