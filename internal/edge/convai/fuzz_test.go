package convai

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzClient sends arbitrary bytes: nothing may panic, and everything passed on must stay within its limits.
func FuzzClient(f *testing.F) {
	for _, s := range []string{
		`{"user_audio_chunk":"AAAA"}`, `{"user_audio_chunk":"` + strings.Repeat("AAAA", 9000) + `"}`,
		`{"type":"user_message","text":"a\u0000b","client_id":"c"}`,
		`{"type":"multimodal_message","text":{"text":"x"}}`, `{"type":"contextual_update","text":[]}`,
		`{"type":"feedback","score":"like","event_id":1}`,
		`{"type":"client_tool_result","tool_call_id":"t","result":{"a":[1]},"is_error":true}`, `{"type":"pong","event_id":9e99}`,
		`{"type":"hang_up"}`, `[`, `null`, `{"type":3}`,
		`{"type":"conversation_initiation_client_data","conversation_config_override":{"agent":{"language":"es"},` +
			`"tts":{"speed":1e9}},"dynamic_variables":{"a":"b"}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > maxMessage {
			return
		}
		c := &Conn{out: newOutbox(), done: make(chan struct{}), pings: newPings(), pace: newPace(burst, perSecond)}
		c.line = newLine(c)
		bounded := func(what, s string, most int) {
			if utf8.RuneCountInString(s) > most {
				t.Errorf("%s has %d characters", what, utf8.RuneCountInString(s))
			}
		}
		client := Client{
			Type:   func(id, text string) { bounded("the id", id, maxID); bounded("the text", text, maxText) },
			Remark: func(text string) { bounded("the remark", text, maxText) },
			ToolResult: func(id, result string, _ bool) {
				bounded("the id", id, 2*maxID)
				bounded("the result", result, maxResult)
			},
			Score: func(int64, string) { t.Error("a response is scored that was not shown") },
		}
		for range 3 {
			if err := c.receive(text, &client); err != nil && asRefusal(err) == nil {
				t.Error("not a refusal:", err)
			}
		}
		if n := len(c.line.unread); n > maxUnread {
			t.Errorf("%d samples wait", n)
		}
		i, err := parseInitiation(text, []string{OverrideLanguage, OverrideFirstMessage, OverrideVoice, OverrideTextOnly})
		if r := (*refusal)(nil); err != nil && !errors.As(err, &r) {
			t.Error("not a refusal:", err)
		}
		if err != nil {
			return
		}
		bounded("the first message", i.FirstMessage, maxFirstMessage)
		if len(i.Variables) > maxVariables || i.Speed != 0 && (i.Speed < minSpeed || i.Speed > maxSpeed) {
			t.Error(i)
		}
	})
}

func TestTheOldestUnreadSoundMakesRoom(t *testing.T) {
	l := newLine(nil)
	pcm := make([]int16, maxUnread/2+100)
	for n := range int16(4) {
		for i := range pcm {
			pcm[i] = n
		}
		l.receive(pcm)
	}
	got, err := l.Read(t.Context())
	if err != nil || len(got) != maxUnread || got[0] != 2 || got[len(got)-1] != 3 {
		t.Error(len(got), got[0], got[len(got)-1], err)
	}
	l.receive(make([]int16, maxUnread))
	l.receive(make([]int16, 3*maxUnread)) // a single piece is kept whole
	if got, _ := l.Read(t.Context()); len(got) != 3*maxUnread {
		t.Error(len(got))
	}
}

func TestWhatIsClearedIsNotSent(t *testing.T) {
	b := newOutbox()
	for _, m := range []message{{data: []byte("1")}, {data: []byte("2"), sound: true}, {data: []byte("3")}} {
		if b.add(m) {
			t.Fatal("full")
		}
	}
	b.clear()
	b.close()
	got := ""
	for {
		m, ok := b.next(nil)
		if !ok {
			break
		}
		got += string(m.data)
	}
	if got != "13" || b.bytes != 0 {
		t.Error(got, b.bytes)
	}
	full := newOutbox()
	for i := range maxOutbox + 1 {
		if full.add(message{}) != (i == maxOutbox) {
			t.Fatal("at", i)
		}
	}
}
