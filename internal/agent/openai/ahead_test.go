package openai

import (
	"context"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/agent"
)

// begin requests a response ahead, and waits until the server has the request.
func (r *rig) begin(ctx context.Context, t *testing.T, request *agent.Request) {
	t.Helper()
	for len(r.server.came) > 0 {
		<-r.server.came
	}
	r.Begin(ctx, request)
	<-r.server.came
}

func TestAResponseThatWasRequestedAheadIsUsedOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, text("We open ", "at nine."))
	r.begin(t.Context(), t, r.request("When do you open?"))
	got, err := r.reply(t, r.request("When do you open?"))
	if err != nil || got.text != "We open at nine." || r.server.asked() != 1 {
		t.Errorf("replied %+v (%v) after %d requests", got, err, r.server.asked())
	}
	r.server.script = append(r.server.script, text("Really."))
	if got, err := r.reply(t, r.request("When do you open?")); err != nil || got.text != "Really." {
		t.Errorf("the second time: %+v, %v", got, err)
	}
}

// A response to other words, of another conversation or another company, and a dropped one are not used.
func TestAResponseToSomethingElseIsNotUsed(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(r *agent.Request){
		"other words":        func(r *agent.Request) { r.Said[2].Text = "When do you open tomorrow?" },
		"other conversation": func(r *agent.Request) { r.ConversationID = "d" },
		"other company":      func(r *agent.Request) { r.CompanyID = "other" },
		"other tools":        func(r *agent.Request) { r.Agent.Tools = nil },
	} {
		r := newRig(t, text("Wrong."), text("Right."))
		r.begin(t.Context(), t, r.request("When do you open?"))
		request := r.request("When do you open?")
		change(request)
		if got, err := r.reply(t, request); err != nil || got.text != "Right." {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	r := newRig(t, step{lines: text("Wrong.").lines, stall: true}, text("Right."))
	ctx, cancel := context.WithCancel(t.Context())
	r.begin(ctx, t, r.request("When do you open?"))
	cancel()
	<-r.server.left
	if got, err := r.reply(t, r.request("When do you open?")); err != nil || got.text != "Right." {
		t.Errorf("dropped: %+v, %v", got, err)
	}
	if len(r.ahead.begun) != 0 {
		t.Errorf("%d responses are kept", len(r.ahead.begun))
	}
}

// Every request counts against the company's limit, and the response that uses one does not count again.
func TestRequestsAheadCount(t *testing.T) {
	t.Parallel()
	r := newRig(t, text("One."))
	count := 0
	r.o.Allow = func(context.Context, *agent.Request) error {
		if count++; count > 2 {
			return &carillon.Error{Code: carillon.RateLimitExceeded, Message: "Too many requests today"}
		}
		return nil
	}
	r.begin(t.Context(), t, r.request("When do you open?"))
	if got, err := r.reply(t, r.request("When do you open?")); err != nil || got.text != "One." || count != 1 {
		t.Errorf("%+v, %v, counted %d", got, err, count)
	}
	r.server.script = append(r.server.script, text("Other."))
	r.begin(t.Context(), t, r.request("When do you open?"))
	request := r.request("And on Sundays?")
	got, err := r.reply(t, request)
	if err != nil || !strings.Contains(got.failure, "limit") || count < 3 {
		t.Errorf("beyond the limit: %+v, %v, counted %d", got, err, count)
	}
	r.Begin(t.Context(), r.request("When do you open?"))
	if r.server.asked() != 2 {
		t.Errorf("%d requests beyond the limit", r.server.asked())
	}
}

// A server that fails, or is silent, fails the response as if it had been asked in time.
func TestAFailureAheadIsAFailure(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]step{
		"an error":  {status: 500, kind: "application/json", lines: []string{`{"error":{"type":"server_error"}}`}},
		"a silence": {stall: true},
	} {
		r := newRig(t, s)
		r.o.Silence = 100 * time.Millisecond
		r.begin(t.Context(), t, r.request("When do you open?"))
		got, err := r.reply(t, r.request("When do you open?"))
		if err != nil || got.failure == "" || !strings.Contains(got.text, "nine to five") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
