package app

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"carillon/internal/base/config"
	"carillon/internal/store"
	"carillon/internal/store/audit"
)

// Secrets in a call are not stored, wherever they occur, and calls before a stop are stored.
func TestCallsAreKeptWithoutSecretsAcrossAStop(t *testing.T) {
	t.Parallel()
	cfg := config.Config{Addr: "127.0.0.1:0", Data: t.TempDir(), Demo: true, PasswordMemory: 8, PasswordPasses: 1, ShutdownTimeout: Hung}
	a := started(t, cfg)
	key, company := a.ready.AccessKey, ""
	ask := func(method, path, body string, header ...string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, a.BaseURL()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text)
	}
	const quiet = "Zx9-very-quiet-42"
	secrets := []string{
		"access_key", "password", "token", "access_token", "refresh_token", "app_secret", "verify_token", "identity_secret",
		"client_secret", "secret",
	}
	for _, name := range secrets {
		if status, _ := ask("POST", "/functions/v1/notify?access_key="+key+"&"+name+"="+quiet,
			fmt.Sprintf(`{%q:%q,"deep":[{%q:%q}]}`, name, quiet, name, quiet), "User-Agent", "x/"+key); status != 400 {
			t.Fatal(name, status)
		}
	}
	// not JSON
	ask("POST", "/functions/v1/notify?access_key="+key, `{"password":"`+quiet)
	// truncated
	ask("POST", "/functions/v1/notify?access_key="+key, `{"x":"`+strings.Repeat("y", 18<<10)+`","password":"`+quiet+`"}`)
	ask("GET", "/functions/v1/notify/none?access_key="+key, "")
	ask("POST", "/functions/v1/auth/company", "", "X-Access-Key", key) // responds with 200
	ask("POST", "/functions/v1/notify?access_key=ck_nobody", `{}`)     // an unknown key
	status, text := ask("POST", "/functions/v1/notify?access_key="+key, `{"contact":{"number":"34600000001"},"recipient_id":"demo",`+
		`"name_template":"hello","language_template":"en","notification_type":"utility","campaign_name":"c",`+
		`"components_push":{"body_text_0":"Ana"}}`)
	if status != 200 {
		t.Fatal(status, text)
	}
	if err := a.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	master, err := cfg.MasterKey()
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(t.Context(), store.Options{Dir: cfg.Data, MasterKey: master})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	if company, err = st.Accounts.OldestCompany(t.Context()); err != nil {
		t.Fatal(err)
	}
	all, err := st.APICalls.List(t.Context(), company, audit.APICallFilter{Limit: 100})
	if err != nil || len(all) != len(secrets)+3 {
		t.Fatalf("%d calls are kept, %v", len(all), err)
	}
	for _, c := range all {
		whole, err := st.APICalls.Find(t.Context(), company, c.ID)
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprintf("%+v", whole); strings.Contains(text, quiet) || strings.Contains(text, key) ||
			!strings.Contains(text, "[redacted]") {
			t.Errorf("kept with a secret, or without its query: %s", text)
		}
	}
	accepted, err := st.APICalls.Accepted(t.Context(), company)
	if err != nil || len(accepted) != 1 || !strings.Contains(text, accepted[0].NotificationID) || accepted[0].KeyID == "" ||
		accepted[0].RequestID == "" {
		t.Errorf("%+v, %v", accepted, err)
	}
}
