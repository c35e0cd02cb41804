package carillon

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
	"time"
)

// NewID returns a UUIDv7 (RFC 9562, section 5.7). The sixteen bits after its milliseconds, without version and variant, are
// the fraction of the millisecond (section 6.2, method 3), so ids increase with the clock of one node; the rest is random.
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

// NewTemplateID returns our id for a template: a decimal of 19 digits, longer than the ids of channels, so that the two
// never collide. It consists of the milliseconds and six random digits.
func NewTemplateID(now time.Time) string {
	var random [8]byte
	rand.Read(random[:]) // never fails: crypto/rand ends the program instead
	return strconv.FormatInt(now.UnixMilli()*1_000_000+int64(binary.BigEndian.Uint64(random[:])%1_000_000), 10)
}

// ValidUUID reports whether s is a UUID in the text form of RFC 9562, of any version, in either letter case.
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

// String returns the reference as it is sent to a channel and back: `<notification>.<n>.<attempt>`, at most 56 characters.
func (r Ref) String() string {
	b := make([]byte, 0, 64)
	b = append(b, r.NotificationID...)
	b = append(b, '.')
	b = strconv.AppendInt(b, int64(r.N), 10)
	b = append(b, '.')
	b = strconv.AppendInt(b, int64(r.Attempt), 10)
	return string(b)
}

var errRef = errors.New("not a message reference")

// ParseRef reads the form that String writes. It accepts nothing else, because the text comes from outside.
func ParseRef(s string) (Ref, error) {
	id, rest, _ := strings.Cut(s, ".")
	n, attempt, _ := strings.Cut(rest, ".")
	r := Ref{NotificationID: id}
	var ok1, ok2 bool
	r.N, ok1 = smallInt(n)
	r.Attempt, ok2 = smallInt(attempt)
	if !ValidUUID(id) || !ok1 || !ok2 {
		return Ref{}, errRef
	}
	return r, nil
}

// smallInt reads a decimal of one to nine digits without a leading zero.
func smallInt(s string) (int, bool) {
	if s == "" || len(s) > 9 || s[0] == '0' && len(s) > 1 {
		return 0, false
	}
	return digits(s, len(s))
}
