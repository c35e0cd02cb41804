package widget

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"carillon/internal/agent"
	"carillon/internal/store/chats"
	"carillon/internal/talk/conversation"
	"carillon/internal/voice"
)

// loud is a detector that takes every nonzero sample for speech.
type loud struct{ silent }

func (loud) Score(chunk []int16) float32 {
	if chunk[len(chunk)/2] != 0 {
		return 1
	}
	return 0
}

const (
	otherCompany = "11111111-1111-4111-8111-111111111102"
	offer        = `{"type":"conversation_initiation_client_data",` +
		`"source_info":{"hearing":{"by":"browser","local":%t,"lang":"en"}}}`
)

// newHearingSite is a voice site that detects speech, with a widget that also accepts the service of a browser's maker.
func newHearingSite(t *testing.T) *site {
	t.Helper()
	x := newVoiceSite(t, "")
	x.apply(strings.Replace(setUp, "    widgets:\n", strings.Replace(voiceSetUp, "BASE", "https://api.elevenlabs.io", 1)+
		"    widgets:\n", 1) + strings.Replace(voiceWidgets, "name: Third,", "name: Third, hearing: browser,", 1))
	x.Voices = voice.NewSessions(voice.Options{
		Dialogue: conversation.NewAloud(x.Conversations), Topics: x.Events, Log: x.Log,
		Speakers:     map[string]voice.Speaker{"espeak": mute{}},
		Transcribers: map[string]voice.Transcriber{},
		Fallback:     "espeak", Detector: func(int) voice.Detector { return loud{} },
	})
	x.serve()
	return x
}

// hearing opens a talk and returns who recognizes speech in it.
func (x *site) hearing(query string, local bool) (ws *websocket.Conn, conversation, by string) {
	x.t.Helper()
	s := x.address(query)
	ws, status, body := x.open(s.URL, "")
	if ws == nil {
		x.t.Fatal(status, body)
	}
	write(x.t, ws, fmt.Sprintf(offer, local))
	e := read(x.t, ws, "conversation_initiation_metadata")["conversation_initiation_metadata_event"].(map[string]any)
	by, _ = e["hearing"].(string)
	return ws, s.ConversationID, by
}

func TestWhoRecognizesSpeech(t *testing.T) {
	x := newHearingSite(t)
	for _, c := range []struct {
		widget string
		local  bool
		want   string
	}{
		{voiceID, true, "browser"}, {voiceID, false, "none"}, {thirdID, true, "browser"}, {thirdID, false, "browser"},
	} {
		if _, _, by := x.hearing("id_widget="+c.widget, c.local); by != c.want {
			t.Errorf("%s, local %t: %q, want %q", c.widget, c.local, by, c.want)
		}
	}
	status, body := x.send("GET", voicePath+"?access_key="+widgetKey+"&id_widget="+thirdID, "", "")
	if status != 200 || !strings.Contains(body, `"browser_hearing":"service"`) {
		t.Error(status, body)
	}
	x.Speaks = func(*agent.Agent) (bool, bool) { return true, true }
	x.serve()
	if _, _, by := x.hearing("id_widget="+thirdID, true); by != "server" {
		t.Errorf("with a transcriber: %q", by)
	}
	if _, body = x.send("GET", voicePath+"?access_key="+widgetKey+"&id_widget="+thirdID, "", ""); strings.Contains(body, "browser_h") {
		t.Error("with a transcriber:", body)
	}
}

func TestHearingIsAutoOrBrowser(t *testing.T) {
	for hearing, valid := range map[string]bool{"": true, "auto": true, "browser": true, "server": false, "Browser": false} {
		w := &Widget{Kind: "voice", Name: "V", Language: "en", Hearing: hearing}
		if err := w.Validate(); (err == nil) != valid {
			t.Errorf("%q: %v", hearing, err)
		}
	}
}

// A browser's texts become turns of the visitor's conversation, with a mark, and reach no other company.
func TestAVisitorSpeaksByTheirBrowser(t *testing.T) {
	x := newHearingSite(t)
	other, status, body := x.open(x.foreign(t).URL, "")
	if other == nil {
		t.Fatal(status, body)
	}
	write(t, other, fmt.Sprintf(offer, true))
	read(t, other, "conversation_initiation_metadata")

	ws, id, _ := x.hearing("id_widget="+voiceID, true)
	read(t, ws, "agent_response") // the greeting
	write(t, ws, `{"type":"user_hearing","state":"on"}`)
	sound := func(value byte, ms int) {
		pcm := base64.StdEncoding.EncodeToString(slices.Repeat([]byte{value}, ms*32))
		write(t, ws, `{"user_audio_chunk":"`+pcm+`"}`)
	}
	sound(0, 500)
	sound(9, 800)
	write(t, ws, `{"type":"user_speech","user_speech_event":{"utterance":0,"text":"When do you open?","final":false,"at_ms":1300}}`)
	write(t, ws, `{"type":"user_speech","user_speech_event":{"utterance":0,"text":"When do you open?","final":true,"at_ms":1300}}`)
	sound(0, 1000)
	if m := read(t, ws, "user_transcript"); m["user_transcription_event"].(map[string]any)["user_transcript"] != "When do you open?" {
		t.Error(m)
	}
	if m := read(t, ws, "agent_response"); !strings.Contains(fmt.Sprint(m), "nine to five") {
		t.Error(m)
	}
	turns, err := x.Chats.TurnsBefore(t.Context(), companyID, id, 100, 100)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(turns, func(t chats.Turn) bool { return t.Author == chats.Visitor })
	if i < 0 || turns[i].Extra.Voice == nil || turns[i].Extra.Voice.HeardBy != "browser" {
		t.Errorf("turns %+v", turns)
	}
	if err := other.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Error(err)
	}
	all, err := x.Chats.TurnsBefore(t.Context(), otherCompany, id, 100, 100)
	if err == nil && len(all) > 0 {
		t.Errorf("the other company sees %+v", all)
	}
}

// foreign returns the address of a socket of the other company.
func (x *site) foreign(t *testing.T) *Signed {
	t.Helper()
	status, text := x.send("GET", voicePath+"/signed-url?access_key=ck_test_other&id_widget="+foreignID, "", "")
	if status != 200 {
		t.Fatal(status, text)
	}
	return readSigned(t, text)
}
