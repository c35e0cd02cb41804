package chats_test

import (
	"testing"

	"carillon/internal/base/need/described"
	"carillon/internal/store/chats"
)

// Events are sent with their instant and version outside of their data, and with status instead of state.
func TestEventsOfConversationsAreDescribed(t *testing.T) {
	described.Check(t, map[string]any{"EventData": chats.Outward()}, "v", "at", "state", "previous_state")
}
