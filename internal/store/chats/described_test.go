package chats_test

import (
	"testing"

	"carillon/internal/api"
	"carillon/internal/api/apitest"
	"carillon/internal/store/chats"
)

// Events are sent with their instant and version outside of their data, and with status instead of state.
func TestEventsOfConversationsAreDescribed(t *testing.T) {
	apitest.Described(t, api.OpenAPI(), map[string]any{"EventData": chats.Outward()}, "v", "at", "state", "previous_state")
}
