package app_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"carillon/internal/app"
	"carillon/internal/base/config"
	"carillon/internal/store/storetest"
)

// sent is an event that an endpoint received.
type sent struct {
	ID, Type string
	Data     struct {
		SenderID       string `json:"sender_id"`
		NotificationID string `json:"notification_id"`
	}
}

func TestAnEndpointLearnsWhatBecomesOfAMessage(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			received := make(chan sent, 100)
			secret := make(chan string, 1)
			verifier := sync.OnceValue(func() string { return <-secret })
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				text, _ := io.ReadAll(r.Body)
				w, err := standardwebhooks.NewWebhook(verifier())
				if err == nil {
					err = w.Verify(text, r.Header)
				}
				var e sent
				if err2 := json.Unmarshal(text, &e); err != nil || err2 != nil {
					t.Errorf("%s: %v, %v", text, err, err2)
				}
				received <- e
			}))
			t.Cleanup(server.Close)
			a, out := demo(t, func(c *config.Config) {
				c.MediaAllowPrivate = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
				if engine == "postgres" {
					c.DatabaseURL = config.Secret(storetest.PatientPostgres(t))
					c.MasterKeyFile = storetest.MasterKey(t)
				}
			})
			_, line, _ := strings.Cut(out.String(), "curl -s ")
			line, _, _ = strings.Cut(line, "\n")
			_, key, _ := strings.Cut(line, "access_key=")
			key, _, _ = strings.Cut(key, "'")
			key, _, _ = strings.Cut(key, "\"")
			post := func(path, body string, status int) map[string]any {
				t.Helper()
				resp, err := http.Post(a.BaseURL()+"/functions/v1/"+path+"?access_key="+key, "application/json", strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				return decode(t, resp, status)
			}
			get := func(path string) map[string]any {
				t.Helper()
				resp, err := http.Get(a.BaseURL() + "/functions/v1/" + path + "access_key=" + key)
				if err != nil {
					t.Fatal(err)
				}
				return decode(t, resp, http.StatusOK)
			}
			cursor, _ := get("events?")["next_cursor"].(string)
			made := post("webhooks", `{"url":"`+server.URL+`/hook","headers":[{"name":"Authorization","value":"Bearer hidden"}]}`,
				http.StatusCreated)
			if refused, _ := post("webhooks", `{"url":"http://10.1.2.3/hook"}`,
				http.StatusBadRequest)["details"].(map[string]any); refused["field"] != "url" {
				t.Error("refused with", refused)
			}
			text, _ := made["secret"].(string)
			secret <- text
			one, _ := made["id"].(string)
			if b, _ := json.Marshal(made); strings.Contains(string(b), "hidden") {
				t.Errorf("a header's value is shown: %s", b)
			}
			curl(t, line)
			// They come in any order. A state has no event if the receipt of the next one is stored first, as on a busy machine.
			want := map[string]bool{"notification.accepted": true, "message.sent": true, "message.delivered": true, "message.read": true}
			got := map[string]sent{}
			receive := func() {
				t.Helper()
				select {
				case e := <-received:
					if !want[e.Type] || got[e.Type].ID != "" || e.Data.SenderID == "" || e.Data.NotificationID == "" {
						t.Errorf("%+v, after %v", e, got)
					}
					got[e.Type] = e
				case <-time.After(app.Hung):
					t.Fatalf("only %v", got)
				}
			}
			for got["notification.accepted"].ID == "" || got["message.read"].ID == "" {
				receive()
			}
			pulled, _ := get("events?cursor=" + cursor + "&wait=5&")["data"].([]any)
			for len(got) < len(pulled) {
				receive()
			}
			last := got["message.read"]
			status := get("webhooks/" + one + "/status?")
			if status["state"] != "active" || status["failures"] != 0.0 {
				t.Error(status)
			}
			app.Within(t, "the deliveries", func() bool {
				list, _ := get("webhooks/" + one + "/deliveries?")["data"].([]any)
				return len(list) == len(got)
			})
			if len(pulled) != len(got) {
				t.Error("pulled", pulled)
			}
			if e := get("events/" + last.ID + "?"); e["type"] != "message.read" {
				t.Error(e)
			}
			if n := post("webhooks/"+one+"/replay", `{"event_id":"`+last.ID+`"}`, http.StatusOK); n["replayed"] != 1.0 {
				t.Error(n)
			}
			if again := <-received; again.ID != last.ID {
				t.Errorf("replayed %+v", again)
			}
			post("events/"+last.ID+"/replay", `{}`, http.StatusOK)
			next, _ := get("events?cursor=" + cursor + "&")["next_cursor"].(string)
			post("events/test", `{"type":"call.completed"}`, http.StatusOK)
			list, _ := get("events?cursor=" + next + "&")["data"].([]any)
			if first, _ := list[0].(map[string]any); len(list) != 1 || first["test"] != true || first["type"] != "call.completed" {
				t.Error("after a test", list)
			}
		})
	}
}
