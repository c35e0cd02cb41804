package app_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"carillon/internal/app"
	"carillon/internal/send/whatsapp/graphtest"
)

// posts delivers a callback twice.
func (p *person) posts(body []byte) {
	p.t.Helper()
	for range 2 {
		app.Within(p.t, "a callback is taken", func() bool {
			status, err := p.graph.Deliver(p.t.Context(), p.base+"/callbacks/whatsapp/main", body)
			return status == http.StatusOK && err == nil
		})
	}
}

// A number that stays in the app: it is not registered here, its history is asked for once and imported, and messages of
// the team from the app are shown as theirs.
func TestANumberThatStaysInTheApp(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			p := startReplies(t, engine)
			p.graph.ChangeAccount(func(a *graphtest.Account) { a.OnApp = true })
			const at = "/senders/main"
			checked := p.office("POST", at+"/check", "", http.StatusOK)
			if text := textOf(t, checked); !strings.Contains(text, `"coexistence"`) {
				t.Errorf("the check: %s", text)
			}
			p.office("POST", at+"/history", `{"contacts":true}`, http.StatusOK)
			p.office("POST", at+"/history", `{}`, http.StatusOK)
			refused := p.office("POST", at+"/history", `{}`, http.StatusConflict)
			if text := textOf(t, refused); !strings.Contains(text, "history_asked_before") {
				t.Errorf("asked again: %s", text)
			}
			p.posts(p.graph.ContactsBody(graphtest.AppContact{Number: p.number, FullName: "Ana " + p.number}))
			day := time.Now().Add(-48 * time.Hour)
			p.posts(p.graph.HistoryBody(2, 1, 100, graphtest.Thread{ID: p.number, Messages: []graphtest.Inbound{
				graphtest.Past(graphtest.Text("15555550100", "wamid.h2", "At five", day.Add(time.Minute)), "READ"),
				graphtest.Past(graphtest.Text(p.number, "wamid.h1", "When?", day), "READ"),
			}}))
			app.Within(t, "the history is imported", func() bool {
				h, _ := p.office("GET", at+"/state", "", http.StatusOK)["history"].(map[string]any)
				return h["state"] == "done" && h["messages"] == 2.0 && h["conversations"] == 1.0 && h["names"] == 1.0
			})
			p.posts(p.graph.EchoBody(p.graph.Echo(graphtest.Text(p.number, "wamid.e1", "Shall we come again?", time.Now()))))
			app.Within(t, "the echo is shown", func() bool {
				lines := p.inbox()
				return len(lines) == 3 && strings.Contains(lines[2], "Shall we come again?")
			})
			lines := p.inbox()
			if !strings.Contains(lines[0], "When?") || !strings.Contains(lines[1], "At five") {
				t.Errorf("the inbox shows %q", lines)
			}
			c := textOf(t, p.office("GET", "/conversations/"+p.conversation(), "", http.StatusOK))
			for _, part := range []string{
				`"phone_app":true`, `"Ana ` + p.number + `"`, `"state":"active"`, `"state":"read"`, `"unread":false`,
			} {
				if !strings.Contains(c, part) {
					t.Errorf("the conversation has no %s: %s", part, c)
				}
			}
			if got := p.gets(); len(got) != 0 {
				t.Errorf("the person gets %q", got)
			}
		})
	}
}

// The PIN goes to the channel, and is in no log and no table.
func TestANumberIsRegisteredInThePanel(t *testing.T) {
	t.Parallel()
	p := startReplies(t, "sqlite")
	p.graph.ChangeAccount(func(a *graphtest.Account) { a.Platform, a.PIN = "NOT_APPLICABLE", "736251" })
	const at = "/senders/main"
	p.office("POST", at+"/register", `{"pin":"12"}`, http.StatusBadRequest)
	if text := textOf(t, p.office("POST", at+"/register", `{"pin":"918273"}`, http.StatusConflict)); !strings.Contains(text, "pin_wrong") {
		t.Error(text)
	}
	p.office("POST", at+"/register", `{"pin":"736251"}`, http.StatusNoContent)
	p.office("PUT", at+"/pin", `{"pin":"564738"}`, http.StatusNoContent)
	if a := p.graph.Account(); a.Platform != "CLOUD_API" || a.PIN != "564738" {
		t.Errorf("%+v", a)
	}
	for _, pin := range []string{"918273", "736251", "564738"} {
		if strings.Contains(p.log.String(), pin) || strings.Contains(p.stored(), pin) {
			t.Errorf("the PIN %s is kept", pin)
		}
	}
}

// textOf returns a response as JSON.
func textOf(t *testing.T, x map[string]any) string {
	t.Helper()
	text, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
