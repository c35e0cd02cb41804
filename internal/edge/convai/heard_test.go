package convai_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"carillon/internal/edge/convai"
	"carillon/internal/voice"
)

const offersBrowser = `{"type":"conversation_initiation_client_data","source_info":{"source":"page",` +
	`"hearing":{"by":"browser","local":true,"lang":"pt-br","track":true}}}`

// recognizing is a talk whose client recognizes speech, with the received messages.
type recognizing struct {
	*talk
	mu   sync.Mutex
	got  []string
	some chan struct{} // signals another one
}

func recognize(t *testing.T) *recognizing {
	t.Helper()
	x := &recognizing{talk: serve(t, quiet), some: make(chan struct{}, 100)}
	add := func(format string, args ...any) {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.got = append(x.got, fmt.Sprintf(format, args...))
		x.some <- struct{}{}
	}
	x.client = convai.Client{
		Hypothesis: func(h voice.Hypothesis) { add("%d %q %t %v", h.Utterance, h.Text, h.Final, h.At) },
		Browser:    func(state voice.BrowserState, reason string) { add("%s %s", state, reason) },
		Detected:   func(speech bool, at time.Duration) { add("%t %v", speech, at) },
		Active:     func() { add("active") },
	}
	return x
}

func (x *recognizing) await(n int) []string {
	x.t.Helper()
	for range n {
		select {
		case <-x.some:
		case <-time.After(hung):
			x.t.Fatal("the messages did not arrive")
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.got
}

func speech(utterance int, text string, more string) string {
	quoted, _ := json.Marshal(text) // cannot fail
	return fmt.Sprintf(`{"type":"user_speech","user_speech_event":{"utterance":%d,"text":%s%s}}`, utterance, quoted, more)
}

func TestTheOfferOfABrowserIsRead(t *testing.T) {
	got := make(chan *convai.Initiation, 1)
	x := serve(t, func(_ context.Context, _ *convai.Conn, i *convai.Initiation) error { got <- i; return nil })
	x.by = convai.HearingBrowser
	p := x.dial()
	p.say(offersBrowser)
	m := p.next()["conversation_initiation_metadata_event"].(map[string]any)
	if diff := cmp.Diff(map[string]any{
		"conversation_id": "conversation-1", "agent_output_audio_format": "pcm_16000", "user_input_audio_format": "pcm_16000",
		"hearing": "browser",
	}, m); diff != "" {
		t.Error(diff)
	}
	select {
	case i := <-got:
		if diff := cmp.Diff(&convai.Hearing{Local: true, Language: "pt-BR", Track: true}, i.Hearing); diff != "" {
			t.Error(diff)
		}
	case <-time.After(hung):
		t.Fatal("nothing began")
	}
}

func TestBadOffersOfABrowserAreRefused(t *testing.T) {
	for _, hearing := range []string{
		`{"by":"server","lang":"en"}`, `{"lang":"en"}`, `{"by":"browser"}`, `{"by":"browser","lang":"?"}`,
		`{"by":"browser","lang":"` + strings.Repeat("en-", 100) + `"}`, `{"by":"browser","lang":"en","local":"yes"}`, `"browser"`,
	} {
		x := serve(t, quiet)
		p := x.dial()
		p.say(`{"type":"conversation_initiation_client_data","source_info":{"hearing":` + hearing + `}}`)
		if m := p.next(); m["type"] != "error" {
			t.Errorf("%s: %v", hearing, m)
		}
		if code, _ := p.closed(); code != websocket.StatusPolicyViolation {
			t.Errorf("%s: closed with %d", hearing, code)
		}
	}
}

func TestWhatABrowserRecognizesIsPassedOn(t *testing.T) {
	x := recognize(t)
	p := x.begin()
	second := base64.StdEncoding.EncodeToString(make([]byte, 2*convai.Rate))
	for _, text := range []string{
		`{"type":"user_hearing","state":"on"}`,
		`{"type":"user_vad","speech":true,"at_ms":120.5}`,
		`{"user_audio_chunk":"` + second + `"}`,
		`{"type":"user_vad","speech":false,"at_ms":900}`, // sound arrives
		speech(7, " I would\u0000 like ", `,"final":false,"confidence":0.8,"at_ms":900`),
		speech(7, "I would like to know", `,"final":true,"at_ms":5000`), // some sound was lost on its way
		speech(8, "", `,"final":true,"at_ms":0`),
		`{"type":"user_hearing","state":"failed","error":"network"}`, `{"type":"user_hearing","state":"off"}`,
	} {
		p.say(text)
	}
	if diff := cmp.Diff([]string{
		"on ", "true 120.5ms", `7 "I would like" false 900ms`, `7 "I would like to know" true 1s`, `8 "" true 0s`, "failed network", "off ",
	}, x.await(7)); diff != "" {
		t.Error(diff)
	}
}

func TestBadMessagesOfARecogniserAreRefusedAndTheTalkGoesOn(t *testing.T) {
	x := recognize(t)
	p := x.begin()
	for _, c := range []struct{ say, part string }{
		{`{"type":"user_speech"}`, "takes utterance"},
		{`{"type":"user_speech","user_speech_event":"hello"}`, "other types"},
		{`{"type":"user_speech","user_speech_event":{"utterance":1,"at_ms":1}}`, "takes utterance"},
		{speech(1, "a", ""), "takes utterance"},
		{speech(1, "a", `,"at_ms":-1`), "takes utterance"},
		{speech(1, "a", `,"at_ms":1e12`), "takes utterance"},
		{speech(-1, "a", `,"at_ms":1`), "from 0"},
		{speech(1_000_001, "a", `,"at_ms":1`), "from 0"},
		{speech(1, "a", `,"at_ms":1,"confidence":1.5`), "confidence"},
		{speech(1, "a", `,"at_ms":1,"final":"yes"`), "other types"},
		{speech(1, strings.Repeat("a", 4001), `,"at_ms":1`), "too long"},
		{`{"type":"user_hearing","state":"maybe"}`, "on, off or failed"},
		{`{"type":"user_hearing","state":"failed","error":"It <b>broke</b>"}`, "a name"},
		{`{"type":"user_vad","speech":true}`, "at_ms"},
		{`{"type":"user_vad","at_ms":1}`, "at_ms"},
	} {
		p.say(c.say)
		e, _ := p.next()["error_event"].(map[string]any)
		if text, _ := e["message"].(string); !strings.Contains(text, c.part) || e["error_type"] != "value_error" {
			t.Errorf("%s: %v", c.say, e)
		}
	}
	p.say(`{"type":"user_activity"}`)
	if diff := cmp.Diff([]string{"active"}, x.await(1)); diff != "" {
		t.Error(diff)
	}
}

func TestARecogniserThatWasNotAcceptedIsRefused(t *testing.T) {
	x := serve(t, quiet)
	p := x.begin()
	for _, say := range []string{
		speech(1, "a", `,"at_ms":1`), `{"type":"user_hearing","state":"on"}`, `{"type":"user_vad","speech":true,"at_ms":1}`,
	} {
		p.say(say)
		if e, _ := p.next()["error_event"].(map[string]any); e["error_type"] != "invalid_message" {
			t.Errorf("%s: %v", say, e)
		}
	}
}

func TestTooManyHypothesesEndTheTalk(t *testing.T) {
	for name, accepted := range map[string]bool{"accepted": true, "not accepted": false} {
		x := serve(t, quiet)
		if accepted {
			x = recognize(t).talk
		}
		p := x.begin()
		for i := range 60 {
			_ = p.ws.Write(t.Context(), websocket.MessageText, []byte(speech(i, "a", `,"at_ms":1`)))
		}
		if code, _ := p.closed(); code != websocket.StatusPolicyViolation {
			t.Error(name, ": closed with", code)
		}
	}
}
