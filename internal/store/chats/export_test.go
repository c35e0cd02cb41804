package chats

// Outward is the content of events of conversations, before they are recorded.
func Outward() any { return outward{} }
