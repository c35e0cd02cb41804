package widget

import (
	"testing"

	"carillon/internal/api"
	"carillon/internal/api/apitest"
)

func TestResponsesAboutConversationsAreDescribed(t *testing.T) {
	apitest.Described(t, api.OpenAPI(), map[string]any{
		"Turn": turnView{}, "ChatSession": begun{}, "ChatState": state{}, "VoiceTurns": turnsView{}, "VoiceState": voiceState{},
		"VoiceSearchResults": results{}, "SignedAddress": Signed{}, "WidgetData": Data{}, "VoiceWidgetData": VoiceData{},
	})
}
