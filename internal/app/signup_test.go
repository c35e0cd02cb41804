package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"carillon/internal/app"
	"carillon/internal/send/whatsapp/graphtest"
)

// A number is connected with the operator's application by the code of Facebook's dialog, registered, and receives callbacks.
func TestANumberIsConnectedByTheChannelsDialog(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			p := startReplies(t, engine)
			const at = "/sender-sign-up"
			if got := p.office("GET", at, "", http.StatusOK); got["app_id"] != "3000001" || got["config_id"] != "4000001" {
				t.Errorf("the dialog: %v", got)
			}
			var codes []string
			grant := func() string {
				code := p.graph.Code()
				codes = append(codes, code)
				return fmt.Sprintf(`{"authorization_code":%q,"waba_id":"2000001","phone_number_id":"1000001"}`, code)
			}
			late := grant()
			p.graph.ChangeAccount(func(a *graphtest.Account) { a.Codes[0].At = time.Now().Add(-time.Minute) })
			refused := textOf(t, p.office("POST", at, late, http.StatusConflict))
			if !strings.Contains(refused, `"step":"code"`) || !strings.Contains(refused, "code_refused") {
				t.Errorf("an expired code: %s", refused)
			}

			// The number's present sender gets the new token; without one, a sender is created.
			first := grant()
			if got := p.office("POST", at, first, http.StatusOK); got["id"] != "main" {
				t.Errorf("the present sender: %v", got)
			}
			p.office("POST", at, first, http.StatusConflict)
			p.office("DELETE", "/senders/main", "", http.StatusNoContent)
			p.graph.ChangeAccount(func(a *graphtest.Account) { a.Platform, a.Subscribed = "NOT_APPLICABLE", nil })
			if got := p.office("POST", at, grant(), http.StatusOK); got["id"] != "15555550100" {
				t.Errorf("the new sender: %v", got)
			}
			const sender = "/senders/15555550100"
			if text := textOf(t, p.office("POST", sender+"/check", "", http.StatusOK)); !strings.Contains(text, "not_registered") ||
				!strings.Contains(text, `"code":"subscribed"`) {
				t.Errorf("the check: %s", text)
			}
			p.office("POST", sender+"/register", `{"pin":"918273"}`, http.StatusNoContent)
			body := p.graph.InboundBody("Ana", graphtest.Text(p.number, "wamid.s1", "Hello", time.Now()))
			app.Within(t, "a callback is taken", func() bool {
				status, err := p.graph.Deliver(t.Context(), p.base+"/callbacks/whatsapp/15555550100", body)
				return status == http.StatusOK && err == nil
			})
			for _, code := range codes {
				if strings.Contains(p.log.String(), code) {
					t.Error("the log shows a code")
				}
			}
			if strings.Contains(p.log.String(), "provider-app-secret") || strings.Contains(p.log.String(), "provider-token") {
				t.Error("the log shows a secret")
			}
		})
	}
}
