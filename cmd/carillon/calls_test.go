package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCallsAreShownAndTheirRecordingsKept(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	const call = `200 {"call_id":"c-1","attempts":1,"answered_at":"2026-01-31T08:00:00Z","duration_s":12.5,"ended_by":"callee",` +
		`"answered_by":"human",` +
		`"result":{"confirmed":true,"people":3},"has_recording":true,"notification_id":"c-1","recipient_id":"line",` +
		`"number":"34600111222","agent_id":"a-1","state":"completed",` +
		`"turns":[{"seq":1,"author":"agent","text":"Do you come?","at":"2026-01-31T08:00:01Z"},{"seq":2,"author":"callee",` +
		`"text":"Yes","at":"2026-01-31T08:00:05Z","digits":"1"},` +
		`{"seq":3,"author":"system","text":"left","at":"2026-01-31T08:00:09Z"}],"direction":"outgoing",` +
		`"transfers":[{"number":"34600111333","state":"no_answer","outcome":"unanswered","cause":"480 Away",` +
		`"dialed_at":"2026-01-31T08:00:06Z"}]}`
	s.answer("/functions/v1/calls/c-1", call, call, call)
	r := s.try(nil, "calls", "show", "c-1")
	for _, line := range []string{
		"state              completed\n", "result: confirmed  true\n", "result: people     3\n",
		"agent              Do you come?\n", "callee             Yes (key 1)\n",
		"recording          carillon calls listen c-1\n", "seconds            12.5\n",
		"transferred        to 34600111333: unanswered 480 Away\n", "system             the call ended\n",
	} {
		r.want(t, 0, line, "")
	}
	s.try(nil, "calls", "show", "c-1", "--json").want(t, 0, `"digits": "1"`, "")
	s.try(nil, "calls", "show", "c-1", "--json").want(t, 0, `"state": "no_answer"`, "")

	path := filepath.Join(t.TempDir(), "call.wav")
	s.answer("/functions/v1/calls/c-1/recording", "200 RIFF....WAVE", "200 RIFF",
		`404 {"error":"not_found","message":"Recording not found","request_id":"req_1"}`)
	s.try(nil, "calls", "listen", "c-1", "--output", path).want(t, 0, path+"\n", "")
	if b, err := os.ReadFile(path); err != nil || string(b) != "RIFF....WAVE" {
		t.Errorf("%q, %v", b, err)
	}
	s.try(nil, "calls", "listen", "c-1", "--output", path).want(t, 1, "", "exists")
	other := path + "2"
	s.answer("/functions/v1/calls/c-1/recording", `404 {"error":"not_found","message":"Recording not found","request_id":"req_1"}`)
	s.try(nil, "calls", "listen", "c-1", "--output", other).want(t, 1, "", "Recording not found")
	if _, err := os.Stat(other); !os.IsNotExist(err) {
		t.Errorf("a file is left: %v", err)
	}
}
