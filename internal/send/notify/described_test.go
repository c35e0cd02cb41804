package notify_test

import (
	"testing"

	"carillon/internal/base/need/described"
	"carillon/internal/send/notify"
)

func TestResponsesAboutCallsAndNotificationsAreDescribed(t *testing.T) {
	described.Check(t, map[string]any{"Call": notify.CallDetail{}, "CallTurn": notify.CallTurn{}})
}
