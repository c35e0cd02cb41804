package notify_test

import (
	"testing"

	"carillon/internal/api"
	"carillon/internal/api/apitest"
	"carillon/internal/notify"
)

func TestResponsesAboutCallsAndNotificationsAreDescribed(t *testing.T) {
	for schema, v := range map[string]any{"Call": notify.CallDetail{}, "CallTurn": notify.CallTurn{}} {
		apitest.Described(t, api.OpenAPI(), schema, v)
	}
}
