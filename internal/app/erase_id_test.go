package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"carillon/internal/app"
)

// A person who is known by an id and a username leaves nothing behind either: messages to the id, opt-outs and names go.
func TestAnErasedPersonWithoutANumberLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			p := startReplies(t, engine)
			const id, parent, other = "ES.98765zorbina", "ES.ENT.55443quimbly", "ES.11111bystander"
			marks := []string{id, "Zorbina", "zebracrossing", "marmalade", "walrus", "kumquat"}
			attempts := p.hooked()
			p.named(id, parent, "kumquat", "A zebracrossing, please")
			p.named(other, parent, "bystander", "Bobs own words")
			for to, text := range map[string]string{id: "marmalade", other: "Bobs template"} {
				sent := p.send("notify", toID(to, text, ""))
				if got, _, _ := strings.Cut(p.state(sent), " "); got != "sent" && got != "delivered" && got != "read" {
					t.Fatal("the message is ", got)
				}
			}
			p.send("notify", toID(id, "walrus", `"datetime_sending":"2098-01-01T10:00:00","timezone":"UTC",`))
			p.named(id, parent, "kumquat", "STOP")
			app.Within(t, "the person is suppressed", func() bool {
				return strings.Contains(fmt.Sprint(p.office("GET", "/suppressions", "", http.StatusOK)), id)
			})
			app.Within(t, "events are delivered", func() bool { return attempts() >= 6 })
			who := `{"user_id":"` + id + `"}`
			archive := p.archive(who)
			for _, mark := range marks {
				if !strings.Contains(archive, mark) {
					t.Errorf("the archive lacks %s", mark)
				}
			}
			if strings.Contains(archive, other) || strings.Contains(archive, "Bobs") {
				t.Error("the archive has something of somebody else")
			}
			p.erase(who)
			stored := p.stored()
			for _, mark := range append(marks, parent) {
				if i := strings.Index(stored, mark); i >= 0 {
					t.Errorf("%s is still stored: …%q…", mark, stored[max(0, i-200):min(len(stored), i+100)])
				}
			}
			for _, mark := range []string{other, "Bobs own words", "Bobs template"} {
				if !strings.Contains(stored, mark) {
					t.Errorf("%s is gone too", mark)
				}
			}
		})
	}
}

// toID returns a request to an id, with further members in extra.
func toID(id, text, extra string) string {
	name := "Bob"
	if strings.Contains(id, "zorbina") {
		name = "Zorbina"
	}
	return fmt.Sprintf(`{"contact":{"user_id":%q,"first_name":%q},"recipient_id":"main","name_template":"plain","language_template":"en",
		"notification_type":"utility","campaign_name":"c",%s"components_push":{"body_text_0":%q}}`, id, name, extra, text)
}

// named delivers a text of a person with a username and a parent id.
func (p *person) named(id, parent, username, text string) {
	p.t.Helper()
	p.n++
	message := fmt.Sprintf("wamid.named.%d", p.n)
	body := fmt.Sprintf(`{"object":"whatsapp_business_account","entry":[{"id":"2000001","changes":[{"field":"messages","value":{
		"messaging_product":"whatsapp","metadata":{"display_phone_number":"15555550100","phone_number_id":"1000001"},
		"contacts":[{"profile":{"name":"N %[3]s","username":%[3]q},"user_id":%[1]q,"parent_user_id":%[2]q}],
		"messages":[{"from_user_id":%[1]q,"from_parent_user_id":%[2]q,"id":%[4]q,"timestamp":"%[5]d","type":"text","text":{"body":%[6]q}}]
		}}]}]}`, id, parent, username, message, time.Now().Unix(), text)
	p.graph.Wrote(id, message, time.Now())
	app.Within(p.t, "a callback is taken", func() bool {
		status, err := p.graph.Deliver(p.t.Context(), p.base+"/callbacks/whatsapp/main", []byte(body))
		return status == http.StatusOK && err == nil
	})
	app.Within(p.t, "it is shown", func() bool {
		listed := p.office("GET", "/conversations?folder=all&search="+username, "", http.StatusOK)
		return text == "STOP" || strings.Contains(fmt.Sprint(listed), text)
	})
}
