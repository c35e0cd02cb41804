package templates_test

import (
	"testing"

	"carillon/internal/api"
	"carillon/internal/api/apitest"
	"carillon/internal/store/templates"
)

// Events are sent with their instant and version outside of their data, and with status instead of state.
func TestEventsOfTemplatesAreDescribed(t *testing.T) {
	apitest.Described(t, api.OpenAPI(), map[string]any{"EventData": templates.EventData()}, "v", "at", "state", "previous_state")
}
