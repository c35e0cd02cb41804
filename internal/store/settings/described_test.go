package settings_test

import (
	"testing"

	"carillon/internal/base/need/described"
	"carillon/internal/store/settings"
)

// Events are sent with their instant and version outside of their data, and with status instead of state.
func TestEventsOfTemplatesAreDescribed(t *testing.T) {
	described.Check(t, map[string]any{"EventData": settings.TemplateEventData()}, "v", "at", "state", "previous_state")
}
