package templates_test

import (
	"testing"

	"carillon/internal/base/need/described"
	"carillon/internal/store/templates"
)

// Events are sent with their instant and version outside of their data, and with status instead of state.
func TestEventsOfTemplatesAreDescribed(t *testing.T) {
	described.Check(t, map[string]any{"EventData": templates.EventData()}, "v", "at", "state", "previous_state")
}
