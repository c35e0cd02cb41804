package notify_test

import (
	"testing"

	"carillon/internal/need/described"
	"carillon/internal/notify"
)

func TestResponsesAboutCallsAndNotificationsAreDescribed(t *testing.T) {
	described.Check(t, map[string]any{"Call": notify.CallDetail{}, "CallTurn": notify.CallTurn{}})
}
