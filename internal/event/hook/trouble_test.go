package hook

import (
	"testing"
	"time"

	"carillon/internal/store/events"
)

func TestAnEndpointIsTroubledWhereSomebodyShouldLook(t *testing.T) {
	now := time.Date(2026, 11, 24, 9, 30, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		e    events.Endpoint
		want bool
	}{
		"it succeeds":              {events.Endpoint{}, false},
		"it failed a moment ago":   {events.Endpoint{Failures: 1, FailingSince: now.Add(-time.Minute)}, false},
		"it fails for ten minutes": {events.Endpoint{Failures: 1, FailingSince: now.Add(-10 * time.Minute)}, true},
		"it is down":               {events.Endpoint{Failures: downAfter, FailingSince: now}, true},
		"it is disabled":           {events.Endpoint{DisabledAt: now}, true},
	} {
		if got := troubled(&c.e, now); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
