package events

// Payload is what events of notifications, messages and calls hold, before they are recorded.
func Payload() any { return payload{callPayload: &callPayload{}} }
