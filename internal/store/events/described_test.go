package events_test

import (
	"testing"

	"carillon/internal/api"
	"carillon/internal/api/apitest"
	"carillon/internal/store/events"
)

// Events are sent with their instant and version outside of their data, and with status instead of state.
func TestEventsOfNotificationsMessagesAndCallsAreDescribed(t *testing.T) {
	apitest.Described(t, api.OpenAPI(), map[string]any{"EventData": events.Payload()}, "v", "at", "state", "previous_state")
}
