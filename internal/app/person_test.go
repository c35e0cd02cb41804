package app_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/app"
	"carillon/internal/send/whatsapp/graphtest"
)

// A notification goes to the number as dialed, and the reply comes from the form of the number that the channel uses.
func TestTheFlowAndTheStopOfANotificationHoldForTheOtherForm(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			p := startReplies(t, engine)
			const dialled, reported = "525512345601", "5215512345601"
			p.number = dialled
			wamid := p.notify()
			p.number = reported
			p.writes(graphtest.Inbound{
				"from": p.number, "id": "wamid.button", "timestamp": fmt.Sprint(time.Now().Unix()), "type": "button",
				"context": map[string]any{"id": wamid, "from": "15555550100"}, "button": map[string]any{"payload": "p", "text": "Details"},
			})
			const asks = "Hola Ana, ¿recibió su pedido A-7? [sí] [no]"
			p.got(asks)
			p.text("STOP")
			const stopped = "You're unsubscribed. Reply START to resubscribe."
			p.got(asks, stopped)
			for _, number := range []string{dialled, reported} {
				id := p.send("notify", `{"contact":{"number":"`+number+`"},"recipient_id":"x","campaign_name":"c","name_template":"plain",
					"language_template":"en","notification_type":"marketing","components_push":{"body_text_0":"x"}}`)
				if got := p.state(id); got != "skipped suppressed" {
					t.Errorf("marketing to %s is %s", number, got)
				}
			}
			contact := p.office("GET", "/conversations/"+p.conversation()+"/contact", "", http.StatusOK)
			if sent, _ := contact["notifications"].([]any); len(sent) != 3 {
				t.Errorf("the contact got %v", sent)
			}
			if n := p.templates(); n != 0 {
				t.Errorf("%d templates went to the reported form", n)
			}
		})
	}
}

// A person whose number the channel does not report works like any other, except for templates and calls.
func TestAPhoneWithAUsernameIsAPerson(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			h := startHandset(t, engine, "@ana.r")
			h.write(`"kind":"text","text":"Hello?"`)
			h.until("> Hello?")
			var listed map[string]any
			for _, x := range h.ask("GET", "/panel/v1/conversations?folder=all", h.token, "", http.StatusOK)["data"].([]any) {
				listed = x.(map[string]any)
			}
			if listed["username"] != "ana.r" || listed["number"] != nil {
				t.Fatalf("the inbox lists %v", listed)
			}
			path := "/panel/v1/conversations/" + listed["id"].(string)
			thread := h.ask("GET", path, h.token, "", http.StatusOK)
			window, contact := thread["window"].(map[string]any), thread["contact"].(map[string]any)
			if window["number"] != "" || !strings.HasPrefix(fmt.Sprint(window["user_id"]), "ZZ.") ||
				contact["user_id"] != window["user_id"] || contact["username"] != "ana.r" {
				t.Errorf("the window is %v, of %v", window, contact)
			}
			const template = `{"client_id":"t","name":"hello","language":"en","variables":{"body_text_0":"Ana"}}`
			h.ask("POST", path+"/answers", h.token, `{"client_id":"a","text":"May we call you?","ask_number":true}`, http.StatusOK)
			h.until("May we call you?")
			h.ask("POST", path+"/answers", h.token, `{"client_id":"b","text":"x","ask_number":"yes"}`, http.StatusBadRequest)
			h.ask("POST", path+"/templates", h.token, strings.Replace(template, `"t"`, `"id"`, 1), http.StatusOK)
			app.Within(t, "the template is shown", func() bool {
				lines, _ := h.shows()
				return strings.Contains(strings.Join(lines, "\n"), "Hello Ana")
			})
			h.write(`"kind":"text","text":"STOP"`)
			h.until("You're unsubscribed. Reply START to resubscribe.")
			// The number that a teammate enters belongs to the person, so nothing is sent to it.
			h.ask("PUT", path+"/contact", h.token, `{"number":"5215512345601"}`, http.StatusOK)
			if refused := fmt.Sprint(h.ask("POST", path+"/templates", h.token, template,
				http.StatusConflict)); !strings.Contains(refused, "suppressed") {
				t.Errorf("a template is refused: %s", refused)
			}
			rows := h.ask("GET", "/panel/v1/suppressions", h.token, "", http.StatusOK)["data"].([]any)
			var list []string
			for _, row := range rows {
				list = append(list, fmt.Sprint(row.(map[string]any)["number"], row.(map[string]any)["user_id"]))
			}
			if want := []string{fmt.Sprint("525512345601", nil), fmt.Sprint("", window["user_id"])}; !slices.Equal(list, want) {
				t.Errorf("the list is %q, not %q", list, want)
			}
			h.write(`"kind":"text","text":"START"`)
			h.until("You're subscribed again. Reply STOP to unsubscribe.")
			app.Within(t, "the suppression is lifted", func() bool {
				return len(h.ask("GET", "/panel/v1/suppressions", h.token, "", http.StatusOK)["data"].([]any)) == 0
			})
			h.ask("POST", path+"/templates", h.token, template, http.StatusOK)
			other := &handset{talk: h.talk, token: h.token, number: "@ben"}
			if lines, _ := other.shows(); len(lines) > 0 {
				t.Errorf("another phone shows %v", lines)
			}
			h.ask("GET", handsetPath+"?sender=demo&number=@", h.token, "", http.StatusBadRequest)
		})
	}
}

// A person with a username shares the number on request, and the company knows it from then on.
func TestAPersonOnAPhoneSharesTheNumber(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			h := startHandset(t, engine, "@eva")
			h.write(`"kind":"text","text":"Hello?"`)
			h.until("> Hello?")
			listed := h.ask("GET", "/panel/v1/conversations?folder=all", h.token, "", http.StatusOK)["data"].([]any)
			path := "/panel/v1/conversations/" + listed[0].(map[string]any)["id"].(string)
			h.ask("POST", path+"/answers", h.token, `{"client_id":"a","text":"May we call you?","ask_number":true}`, http.StatusOK)
			h.until("May we call you?")
			asks := map[string]any{}
			for _, x := range h.ask("GET", handsetPath+"?sender=demo&number=@eva", h.token, "", http.StatusOK)["messages"].([]any) {
				m := x.(map[string]any)
				asks[m["text"].(string)] = m["asks_number"]
			}
			if asks["May we call you?"] != true || asks["Hello?"] != nil {
				t.Errorf("these messages ask for the number: %v", asks)
			}
			h.write(`"kind":"contact"`)
			app.Within(t, "the number is known", func() bool {
				thread := h.ask("GET", path, h.token, "", http.StatusOK)
				number, _ := thread["contact"].(map[string]any)["number"].(string)
				return carillon.ValidNumber(number)
			})
			const template = `{"client_id":"t","name":"hello","language":"en","variables":{"body_text_0":"Eva"}}`
			h.ask("POST", path+"/templates", h.token, template, http.StatusOK)
			app.Within(t, "the template to the number is on the phone", func() bool {
				lines, _ := h.shows()
				return strings.Contains(strings.Join(lines, "\n"), "Hello Eva")
			})
		})
	}
}
