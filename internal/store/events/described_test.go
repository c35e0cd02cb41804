package events_test

import (
	"testing"

	"carillon/internal/base/need/described"
	"carillon/internal/store/events"
)

// Events are sent with their instant and version outside of their data, and with status instead of state.
func TestEventsOfNotificationsMessagesAndCallsAreDescribed(t *testing.T) {
	described.Check(t, map[string]any{"EventData": events.Payload()}, "v", "at", "state", "previous_state")
}
