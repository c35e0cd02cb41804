package carillon

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"strconv"
	"time"
)

// NewID returns a UUIDv7 (RFC 9562, section 5.7). The sixteen bits after its milliseconds, without version and
// variant, are the fraction of the millisecond (section 6.2, method 3), so IDs increase with the clock of one node.
// The rest is random.
func NewID(now time.Time) string {
	fraction := uint64(now.Nanosecond()%int(time.Millisecond)) << 16 / uint64(time.Millisecond)
	return uuid7(uint64(now.UnixMilli()), fraction)
}

// NewRequestID returns `req_` and 22 random characters of `[A-Za-z0-9_-]`.
func NewRequestID() string {
	var random [16]byte
	rand.Read(random[:]) // never fails: crypto/rand ends the program instead
	text := [26]byte{'r', 'e', 'q', '_'}
	base64.RawURLEncoding.Encode(text[4:], random[:])
	return string(text[:])
}

// NewTemplateID returns our ID for a template: a decimal number of 19 digits, longer than the IDs of channels, so that
// the two never collide. It consists of the milliseconds and six random digits.
func NewTemplateID(now time.Time) string {
	var random [8]byte
	rand.Read(random[:]) // never fails: crypto/rand ends the program instead
	return strconv.FormatInt(now.UnixMilli()*1_000_000+int64(binary.BigEndian.Uint64(random[:])%1_000_000), 10)
}

// ValidUUID reports whether s is a UUID in the text form of RFC 9562, of any version and in either letter case.
func ValidUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case '0' <= c && c <= '9', 'a' <= c|0x20 && c|0x20 <= 'f':
		default:
			return false
		}
	}
	return true
}
