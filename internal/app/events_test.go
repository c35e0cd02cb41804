package app_test

import (
	"bufio"
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"carillon/internal/app"
	"carillon/internal/base/config"
	"carillon/internal/store/storetest"
)

// panelStream opens a stream of the demo's events as its owner and returns the names of the events.
func panelStream(t *testing.T, a *app.App, printed, topic string) <-chan string {
	t.Helper()
	_, account, _ := strings.Cut(printed, "Sign in with")
	words := strings.Fields(account)
	resp, err := http.Post(a.BaseURL()+"/functions/v1/auth?grant_type=password", "application/json",
		strings.NewReader(`{"email":"`+words[0]+`","password":"`+words[1]+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	token, _ := decode(t, resp, http.StatusOK)["access_token"].(string)
	ctx, cancel := context.WithTimeout(t.Context(), app.Hung)
	t.Cleanup(cancel)
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, a.BaseURL()+"/panel/v1/events?topic="+topic, nil)
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err = http.DefaultClient.Do(r)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	names := make(chan string, 100)
	go func() {
		defer close(names)
		defer func() { _ = resp.Body.Close() }()
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				names <- name
			}
		}
	}()
	return names
}

func TestAStreamShowsAMessageLive(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			a, out := demo(t, func(c *config.Config) {
				if engine == "postgres" {
					c.DatabaseURL = config.Secret(storetest.PatientPostgres(t))
					c.MasterKeyFile = storetest.MasterKey(t)
				}
			})
			names := panelStream(t, a, out.String(), "notifications")
			_, line, _ := strings.Cut(out.String(), "curl -s ")
			line, _, _ = strings.Cut(line, "\n")
			curl(t, line)
			// A state has no event if the receipt of the next one is stored first, as on a busy machine.
			order := []string{"notification.accepted", "message.sent", "message.delivered", "message.read"}
			var got []string
			for len(got) == 0 || got[len(got)-1] != "message.read" {
				name, open := <-names
				if !open {
					t.Fatalf("the stream ends after %v", got)
				}
				got = append(got, name)
			}
			ranks := make([]int, len(got))
			for i, name := range got {
				ranks[i] = slices.Index(order, name)
			}
			if ranks[0] != 0 || !slices.IsSorted(ranks) || len(slices.Compact(ranks)) != len(got) {
				t.Errorf("the stream shows %v", got)
			}
		})
	}
}
