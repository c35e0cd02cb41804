package chats

// Outward is what events of conversations hold, before they are recorded.
func Outward() any { return outward{} }
