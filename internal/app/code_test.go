package app_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"carillon/internal/app"
)

const codeTemplate = `
      - {sender: main, name: login_code, language: en, category: AUTHENTICATION, components: [
         {type: BODY, add_security_recommendation: true}, {type: BUTTONS, buttons: [{type: OTP, otp_type: COPY_CODE}]}]}
`

// A one-time code reaches the channel. It is in no log and no page of the panel, and after its message has ended in no
// byte of the stored data.
func TestAOneTimeCodeStaysNowhere(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			p := startPerson(t, engine, repliesSetUp+codeTemplate)
			const code = "7Q4ZK9XW"
			p.hooked()
			request := `{"contact":{"number":"34600111222"},"recipient_id":"main","name_template":"login_code","language_template":"en",
				"notification_type":"transactional","campaign_name":"c","components_push":{"button_url_0":"` + code + `"}}`
			id := p.send("notify", request)
			p.state(id)
			if got := p.graph.Posts(id + ".0.1"); len(got) != 1 || strings.Count(string(got[0].Body), code) != 2 {
				t.Errorf("the channel got %d messages, want one with the code twice", len(got))
			}
			refused, err := http.Post(p.base+"/functions/v1/notify?access_key=ck_channel_test", "application/json",
				strings.NewReader(strings.Replace(request, `"34600111222"`, `"none"`, 1)))
			if err != nil || refused.StatusCode != http.StatusBadRequest {
				t.Fatal(refused, err)
			}
			body, _ := io.ReadAll(refused.Body)
			_ = refused.Body.Close()
			shown := fmt.Sprint(string(body), p.office("GET", "/notifications/"+id+"/request", "", http.StatusNotFound))
			for _, path := range []string{"", "/" + id, "/" + id + "/filled?n=0"} {
				shown += fmt.Sprint(p.office("GET", "/notifications"+path, "", http.StatusOK))
			}
			if strings.Contains(shown, code) {
				t.Error("the code is shown")
			}
			purge := app.Purging(t, p.a)
			app.Within(t, "the request is deleted", func() bool {
				purge()
				return !strings.Contains(p.stored(), code)
			})
			if strings.Contains(p.log.String(), code) {
				t.Error("the code is in the log")
			}
			if state := p.state(id); state == "" {
				t.Error("the message is gone")
			}
		})
	}
}
