package messaging

import (
	"encoding/json"
	"testing"

	"carillon"
)

func TestTheAgentOfASenderIsInItsSettings(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]string{`{"agent":"a"}`: "a", `{}`: "", `{"agent":7}`: "", ``: ""} {
		if got := AgentOf(&carillon.Sender{Settings: json.RawMessage(settings)}); got != want {
			t.Errorf("%s: %q", settings, got)
		}
	}
}
