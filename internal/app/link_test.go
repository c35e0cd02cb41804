package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"carillon/internal/app"
)

const demoKey = "ck_demo_4Hq7vT2mZc9LwXs1KdYb8RnE"

// url returns the URL of the only button of the newest message on the phone, and "" while there is none.
func (h *handset) url() string {
	h.t.Helper()
	got := h.ask("GET", handsetPath+"?sender=demo&number="+h.number, h.token, "", http.StatusOK)
	all, _ := got["messages"].([]any)
	if len(all) == 0 {
		return ""
	}
	buttons, _ := all[len(all)-1].(map[string]any)["buttons"].([]any)
	if len(buttons) != 1 {
		return ""
	}
	address, _ := buttons[0].(map[string]any)["url"].(string)
	return address
}

// follow requests a link as a browser does, without following the redirect.
func follow(t *testing.T, method, address, agent string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("User-Agent", agent)
	resp, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp
}

// A template of the sandbox counts clicks: the phone shows the short link, which leads to the address in the request and
// counts once, on both databases.
func TestAClickOnThePhoneOfTheSandboxIsCounted(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			h := startHandset(t, engine, "34600701299")
			const key = "?access_key=" + demoKey
			prefix := h.a.BaseURL() + "/l/"
			h.ask("POST", "/functions/v1/notify/templates"+key+"&phone_number=15550100100", "", `{"name":"track_order","language":"en",
				"category":"UTILITY","content":"Your order is on its way.","components":[{"type":"BUTTONS","buttons":[{"type":"URL",
				"text":"Track it","url":"`+prefix+`{{1}}"}]}],"submit":true}`, http.StatusOK)
			send := func(destination string, status int) map[string]any {
				return h.ask("POST", "/functions/v1/notify"+key, "", fmt.Sprintf(`{"contact":{"number":%q},"language_template":"en",
					"name_template":"track_order","recipient_id":"demo","notification_type":"utility","campaign_name":"orders",
					"components_push":{"button_url_0":%q}}`, h.number, destination), status)
			}
			app.Within(t, "the template is approved", func() bool {
				got := h.ask("GET", "/functions/v1/notify/template/components"+key+"&template=track_order", "", "", http.StatusOK)
				text, _ := json.Marshal(got)
				return strings.Contains(string(text), `"APPROVED"`)
			})
			refused := send("http://example.com/orders/7", http.StatusBadRequest)
			if details, _ := refused["details"].(map[string]any); details["field"] != "components_push.button_url_0" {
				t.Error(refused)
			}
			const destination = "https://example.com/orders/7?a=b"
			events := h.ask("GET", "/functions/v1/events"+key, "", "", http.StatusOK)["next_cursor"]
			id, _ := send(destination, http.StatusOK)["notification_id"].(string)
			address := ""
			app.Within(t, "the phone shows it", func() bool { address = h.url(); return address != "" })
			if token := strings.TrimPrefix(address, prefix); len(token) != 22 || strings.Contains(address, "example.com") {
				t.Fatal(address)
			}
			recipient := func() map[string]any {
				got := h.ask("GET", "/functions/v1/notify/"+id+key, "", "", http.StatusOK)
				return got["recipients"].([]any)[0].(map[string]any)
			}
			if x := recipient(); x["clicks"] != 0.0 || x["clicked_at"] != nil {
				t.Error(x)
			}
			const browser = "Mozilla/5.0 (Linux; Android 15) Mobile Safari/537.36"
			for _, r := range []*http.Response{
				follow(t, "HEAD", address, browser), follow(t, "GET", address, "WhatsApp/2.24.6.77 A"), follow(t, "GET", address, browser),
			} {
				if r.StatusCode != http.StatusFound || r.Header.Get("Location") != destination || len(r.Cookies()) > 0 ||
					r.Header.Get("Cache-Control") != "no-store" || r.Header.Get("Referrer-Policy") != "no-referrer" {
					t.Errorf("%d %v", r.StatusCode, r.Header)
				}
			}
			app.Within(t, "a click is counted", func() bool { return recipient()["clicks"] != 0.0 })
			if x := recipient(); x["clicks"] != 1.0 || x["clicked_at"] == nil {
				t.Error(x)
			}
			got := h.ask("GET", fmt.Sprintf("/functions/v1/events%s&types=message.clicked&cursor=%v", key, events), "", "", http.StatusOK)
			all, _ := got["data"].([]any)
			if len(all) != 1 || all[0].(map[string]any)["data"].(map[string]any)["notification_id"] != id {
				t.Error(got)
			}
			campaign := h.ask("GET", "/panel/v1/campaigns/one?name=orders", h.token, "", http.StatusOK)
			if campaign["counts_clicks"] != true || campaign["messages"].(map[string]any)["clicked"] != 1.0 {
				t.Error(campaign)
			}
			if r := follow(t, "GET", prefix+"AAAAAAAAAAAAAAAAAAAAAA", browser); r.StatusCode != http.StatusNotFound {
				t.Errorf("a forged token: %d", r.StatusCode)
			}
		})
	}
}
