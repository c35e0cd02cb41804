package main

import (
	"strings"
	"testing"
)

func TestMoreCommandsAskAsTheContractSays(t *testing.T) {
	s := newStrict(t)
	s.answer("/functions/v1/usage", `200 {"date":"2026-01-31","quota":0,"used":7,"reset_time":"2026-02-01T00:00:00Z","limits":{"sends_per_minute":6000,"templates_per_day":0}}`)
	s.try(nil, "usage").want(t, 0, "recipients         7 of no limit\n", "")
	s.answer("/functions/v1/notify/n-1", `200 {"notification_id":"n-1","scheduled_time":"2030-01-31T08:00:00Z"}`)
	s.try(nil, "notifications", "move", "n-1", "--at", "2030-01-31T09:00:00", "--tz", "Europe/Madrid").want(t, 0, "to be sent at 2030-01-31T08:00:00Z\n", "")
	s.answer("/functions/v1/suppressions", `200 {"data":[{"number":"34600111222","reason":"asked","created_at":"2026-01-31T00:00:00Z"}],"next_cursor":null}`,
		`200 {"number":"34600111223","reason":"command line","created_at":"2026-01-31T00:00:00Z"}`)
	s.try(nil, "suppressions", "list").want(t, 0, "34600111222  2026-01-31T00:00:00Z  asked\n", "")
	s.try(nil, "suppressions", "add", "34600111223").want(t, 0, "34600111223 is suppressed since", "")
	s.answer("/functions/v1/suppressions/34600111223", "204")
	s.try(nil, "suppressions", "remove", "34600111223").want(t, 0, "34600111223 is not suppressed any more\n", "")
	s.answer("/functions/v1/notify/template/components", `200 {"template":{"id":"7","name":"hello","status":"DRAFT","category":"UTILITY","language":"en",`+
		`"components":[{"text":"Hi {{1}}","type":"BODY"},{"type":"BUTTONS","buttons":[{"type":"URL","text":"Go","url":"https://a.test/{{1}}"}]}],"parameter_format":"POSITIONAL"}}`)
	r := s.try(nil, "templates", "show", "hello")
	r.want(t, 0, "body       Hi {{1}}\n", "")
	r.want(t, 0, "button     URL Go https://a.test/{{1}}\n", "")
	s.answer("/functions/v1/notify/templates/7", "204")
	s.try(nil, "templates", "delete", "7").want(t, 0, "template 7 deleted\n", "")
	s.answer("/functions/v1/notify/voice", `200 {"success":true,"message":"Call queued successfully","notification_id":"n-2"}`)
	s.try(nil, "call", "--agent", "a-1", "--from", "line", "--to", "34600111222", "--var", "name=Ana").want(t, 0, "n-2\n", "")
}

func TestWhatATerminalWouldObeyIsShown(t *testing.T) {
	s := newStrict(t)
	const hostile = `200 {"notification_id":"n-1","channel":"messaging","state":"completed","name_template":"hello","language_template":"en","recipient_id":"main",` +
		`"notification_type":"utility","campaign_name":"\u001b[2J\u001b]0;x\u0007\u009b31m\u202egnp\nnext\r","created_at":"2026-01-31T00:00:00Z","counts":{"sent":1},` +
		`"recipients":[{"message_id":"m","number":"34600111222","state":"failed","reason":"\u001b[A","attempts":1,"times":{}}]}`
	for _, args := range [][]string{{"notifications", "show", "n-1"}, {"notifications", "watch", "n-1"}, {"notifications", "show", "n-1", "--json"}} {
		s.answer("/functions/v1/notify/n-1", hostile)
		r := s.try(nil, args...)
		if strings.ContainsAny(r.stdout+r.stderr, "\x1b\x07\u009b\u202e\r") {
			t.Errorf("%v prints %q", args, r.stdout+r.stderr)
		}
	}
	s.answer("/functions/v1/notify/n-1", `400 {"error":"validation_failed","message":"\u001b[2J","details":{"field":"\u001b[A"},"request_id":"r"}`)
	if r := s.try(nil, "notifications", "show", "n-1"); strings.Contains(r.stderr, "\x1b") {
		t.Errorf("an error prints %q", r.stderr)
	}
}
