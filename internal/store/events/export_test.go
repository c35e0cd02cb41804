package events

// Payload is the content of events of notifications, messages and calls, before they are recorded.
func Payload() any { return payload{callPayload: &callPayload{}} }
