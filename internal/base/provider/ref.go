package provider

import (
	"errors"
	"strconv"
	"strings"

	"carillon"
)

// Ref identifies one attempt to deliver one message. Its text form is sent to the channel, which returns it in
// receipts.
type Ref struct {
	NotificationID string
	N              int // index of the recipient in the notification
	Attempt        int // from 1; 0 means any attempt
}

// String returns the reference as sent to a channel: `<notification>.<n>.<attempt>`, at most 56 characters.
func (r Ref) String() string {
	b := make([]byte, 0, 64)
	b = append(b, r.NotificationID...)
	b = append(b, '.')
	b = strconv.AppendInt(b, int64(r.N), 10)
	b = append(b, '.')
	b = strconv.AppendInt(b, int64(r.Attempt), 10)
	return string(b)
}

// MessageID returns the id of a message: the notification's, and the index of the recipient.
func MessageID(notificationID string, n int) string { return notificationID + "." + strconv.Itoa(n) }

var errRef = errors.New("not a message reference")

// ParseRef parses the form that String returns. It accepts nothing else, because the text comes from outside.
func ParseRef(s string) (Ref, error) {
	id, rest, _ := strings.Cut(s, ".")
	n, attempt, _ := strings.Cut(rest, ".")
	r := Ref{NotificationID: id}
	var ok1, ok2 bool
	r.N, ok1 = smallInt(n)
	r.Attempt, ok2 = smallInt(attempt)
	if !carillon.ValidUUID(id) || !ok1 || !ok2 {
		return Ref{}, errRef
	}
	return r, nil
}

// smallInt reads a decimal of one to nine digits without a leading zero.
func smallInt(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 0 && n <= 999_999_999 && s == strconv.Itoa(n)
}

// Key returns the key of the message that the reference names.
func (r Ref) Key() carillon.MessageKey { return carillon.SeqOf(r.NotificationID).Message(r.N) }
