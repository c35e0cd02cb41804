package rtp

import (
	"encoding/binary"
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

	payloadType uint8
	units       int // timestamp units of a sample
}

// payload returns the payload for a tick after the key was pressed. last reports that it is the key's last packet.
func (p *press) payload() (b [payloadBytes]byte, last bool) {
	down := int(digitTime / frameTime)
	length := min(p.ticks+1, down) * frameSamples * p.units
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
	ssrc  uint32
	begun uint32 // timestamp
	key   byte
	long  uint16 // how long the key was pressed, in samples
	ended bool
	at    time.Time // of the last packet
}

// samePress is the time within which packets of one press follow each other.
const samePress = 150 * time.Millisecond

// take returns the digit that begins with a packet, or 0. All packets of a press should have the timestamp of its beginning,
// but some senders let it move. Then a press lasts as long as its duration grows.
func (p *pressed) take(ssrc, timestamp uint32, payload []byte, now time.Time) rune {
	if len(payload) < payloadBytes || int(payload[0]) >= len(keys) {
		return 0
	}
	key, end, long := payload[0], payload[1]&endBit != 0, binary.BigEndian.Uint16(payload[2:])
	before := *p
	if before.known && ssrc == before.ssrc && int32(timestamp-before.begun) < 0 { // a late packet of an earlier digit
		return 0
	}
	*p = pressed{known: true, ssrc: ssrc, begun: timestamp, key: key, long: long, ended: end, at: now}
	switch {
	case !before.known || ssrc != before.ssrc:
	case timestamp == before.begun:
		p.ended = end || before.ended // the end may overtake
		return 0
	case key == before.key && long >= before.long && long > 0 && (end || !before.ended) && now.Sub(before.at) < samePress:
		return 0
	}
	return rune(keys[key])
}

// DigitOf returns the digit of an event code, or "" for another event.
func DigitOf(event int) string {
	if event < 0 || event >= len(keys) {
		return ""
	}
	return keys[event : event+1]
}
