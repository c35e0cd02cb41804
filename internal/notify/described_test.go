package notify_test

import (
	"testing"

	"carillon/internal/api"
	"carillon/internal/api/apitest"
	"carillon/internal/notify"
)

func TestResponsesAboutCallsAndNotificationsAreDescribed(t *testing.T) {
	apitest.Described(t, api.OpenAPI(), map[string]any{"Call": notify.CallDetail{}, "CallTurn": notify.CallTurn{}})
}
