package request

import (
	"testing"
	"time"

	"carillon"
)

func fallbackBase() object {
	return object{"channel": "call", "after": "15m", "recipient_id": "line", "agent_id": "a1"}
}

func TestAFallbackIsReadInBothForms(t *testing.T) {
	want := Fallback{After: 15 * time.Minute, LineID: "line", AgentID: "a1", Event: "visit"}
	body := with(messagingBase(), object{"fallback": with(fallbackBase(), object{"name_event": "visit"})})
	nested := parsed(t, body)
	if nested.Fallback == nil || *nested.Fallback != want {
		t.Errorf("nested: %+v", nested.Fallback)
	}
	flat, err := Parse(carillon.Messaging, marshal(t, flatten(body)), true, testNow)
	if err != nil || flat.Fallback == nil || *flat.Fallback != want {
		t.Errorf("flat: %+v, %v", flat, err)
	}
	again, err := nested.Again([]int{0})
	if err != nil || again.Fallback != nil {
		t.Errorf("a resend has it too: %+v, %v", again, err)
	}
	if stored, err := Decode(carillon.Messaging, again.Source(), false); err != nil || stored.Fallback != nil {
		t.Errorf("a stored resend has it too: %+v, %v", stored, err)
	}
	if r := parsed(t, with(messagingBase(), object{"fallback": nil})); r.Fallback != nil {
		t.Errorf("null: %+v", r.Fallback)
	}
}

func TestAFallbackIsRefusedByItsFirstFault(t *testing.T) {
	for _, c := range []struct {
		name   string
		change object
		field  string
	}{
		{"no channel", object{"channel": dropped{}}, "fallback.channel"},
		{"unknown channel", object{"channel": "email"}, "fallback.channel"},
		{"no time", object{"after": dropped{}}, "fallback.after"},
		{"a number as a time", object{"after": 900}, "fallback.after"},
		{"no unit", object{"after": "900"}, "fallback.after"},
		{"too soon", object{"after": "59s"}, "fallback.after"},
		{"negative", object{"after": "-15m"}, "fallback.after"},
		{"too late", object{"after": "24h1s"}, "fallback.after"},
		{"no line", object{"recipient_id": " "}, "fallback.recipient_id"},
		{"no agent", object{"agent_id": dropped{}}, "fallback.agent_id"},
		{"an object as an agent", object{"agent_id": object{}}, "fallback.agent_id"},
	} {
		body := with(messagingBase(), object{"fallback": with(fallbackBase(), c.change)})
		_, err := Parse(carillon.Messaging, marshal(t, body), false, testNow)
		if e := asError(t, err); e.Code != carillon.ValidationFailed || e.Details.Find("field") != c.field {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for name, value := range map[string]any{"a text": "call", "a list": []any{}} {
		body := marshal(t, with(messagingBase(), object{"fallback": value}))
		_, err := Parse(carillon.Messaging, body, false, testNow)
		if e := asError(t, err); e.Details.Find("field") != "fallback" {
			t.Errorf("%s: %v", name, err)
		}
		if r, err := Decode(carillon.Messaging, string(body), false); err != nil || r.Fallback != nil {
			t.Errorf("%s, stored by an older program: %+v, %v", name, r, err)
		}
	}
	for _, after := range []string{"1m", "24h", "1h30m", "90m"} {
		parsed(t, with(messagingBase(), object{"fallback": with(fallbackBase(), object{"after": after})}))
	}
	_, err := Parse(carillon.Voice, marshal(t, with(voiceBase(), object{"fallback": fallbackBase()})), false, testNow)
	if e := asError(t, err); e.Details.Find("field") != "fallback" {
		t.Errorf("of a call: %v", err)
	}
}
