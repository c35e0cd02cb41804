package rtp

import (
	"strings"
	"time"
)

// Digits (RFC 4733, section 2): a packet names the key and how long it has been pressed. The last packet has the end
// bit set.
const (
	keys         = "0123456789*#ABCD"
	digitTime    = 100 * time.Millisecond
	digitPause   = 80 * time.Millisecond
	digitVolume  = 10
	endBit       = 0x80
	endRepeats   = 3 // the end is repeated because packets may be lost
	maxDigits    = 64
	payloadBytes = 4
)

// press is a key being sent.
type press struct {
	key   byte
	begun uint32 // timestamp
	ticks int
}

// payload returns the payload for a tick after the key was pressed. last reports that it is the key's last packet.
func (p *press) payload() (b [payloadBytes]byte, last bool) {
	down := int(digitTime / frameTime)
	length := min(p.ticks+1, down) * frameSamples
	b = [payloadBytes]byte{p.key, digitVolume, byte(length >> 8), byte(length)}
	if p.ticks+1 >= down {
		b[1] |= endBit
	}
	return b, p.ticks+1 >= down+endRepeats-1
}

// keyOf returns the event code of a digit.
func keyOf(digit rune) (key byte, ok bool) {
	i := strings.IndexRune(keys, digit)
	return byte(max(i, 0)), i >= 0
}

// pressed tracks received digits, so that each is reported once regardless of the number of its packets.
type pressed struct {
	known bool
	begun uint32
}

// take returns the digit that begins with a packet, or 0.
func (p *pressed) take(timestamp uint32, payload []byte) rune {
	if len(payload) < payloadBytes || int(payload[0]) >= len(keys) || p.known && p.begun == timestamp {
		return 0
	}
	if p.known && int32(timestamp-p.begun) < 0 { // a late packet of an earlier digit
		return 0
	}
	p.known, p.begun = true, timestamp
	return rune(keys[payload[0]])
}
