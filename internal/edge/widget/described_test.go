package widget

import (
	"testing"

	"carillon/internal/base/need/described"
)

func TestResponsesAboutConversationsAreDescribed(t *testing.T) {
	described.Check(t, map[string]any{
		"Turn": turnView{}, "ChatSession": sessionStart{}, "ChatState": state{}, "VoiceTurns": turnsView{}, "VoiceState": voiceState{},
		"VoiceSearchResults": results{}, "SignedAddress": Signed{}, "WidgetData": Data{}, "VoiceWidgetData": VoiceData{},
		"WidgetLauncher": Launcher{},
	})
}
