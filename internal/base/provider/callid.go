package provider

import (
	"strings"

	"carillon"
)

// CallID returns the id of a call: its notification's, or the id of the message that it follows.
func CallID(notificationID string, of carillon.Channel, key carillon.MessageKey) string {
	if of == carillon.Voice {
		return notificationID
	}
	return MessageID(notificationID, key.N())
}

// ParseCallID returns the notification of a call, its key and the notification's channel. ok is false if no call can
// have the id.
func ParseCallID(id string) (notificationID string, key carillon.MessageKey, of carillon.Channel, ok bool) {
	id = strings.ToLower(id)
	if carillon.ValidUUID(id) {
		return id, carillon.SeqOf(id).Message(0), carillon.Voice, true
	}
	ref, err := ParseRef(id + ".0")
	return ref.NotificationID, ref.Key(), carillon.Messaging, err == nil && ref.Key().N() == ref.N
}
