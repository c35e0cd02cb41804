package app_test

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"carillon/internal/app"
	"carillon/internal/base/config"
)

func TestTheDemosPageHasItsChatOnIt(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "ready.json")
	a, out := demo(t, func(c *config.Config) { c.ReadyFile = name })
	var ready config.Ready
	text, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, &ready)
	}
	if err != nil {
		t.Fatal(err)
	}
	port := a.BaseURL()[strings.LastIndex(a.BaseURL(), ":"):]
	if ready.DemoURL != "http://localhost"+port+"/demo" || !strings.Contains(out.String(), ready.DemoURL) {
		t.Errorf("the page is at %q; printed:\n%s", ready.DemoURL, out)
	}
	for query, want := range map[string]struct{ accept, lang, title string }{
		"":                {"", "en", "The city looks best from the water"},
		"?lang=es":        {"pt", "es", "La ciudad se ve mejor desde el agua"},
		"?lang=xx":        {"pt-BR,en;q=0.5", "pt", "A cidade é mais bonita vista da água"},
		"?lang=%22%3E%3C": {"es", "es", "La ciudad se ve mejor desde el agua"},
	} {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, a.BaseURL()+"/demo"+query, nil)
		r.Header.Set("Accept-Language", want.accept)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		for _, part := range []string{
			`<html lang="` + want.lang + `">`, want.title,
			`src="` + a.BaseURL() + `/embed/chat.js" widget="` + ready.ChatWidgetID + `" customer="` + ready.AccessKey + `"`,
			`src="` + a.BaseURL() + `/embed/voice.js" widget="` + ready.VoiceWidgetID + `" customer="` + ready.AccessKey + `"`,
		} {
			if !strings.Contains(string(body), part) {
				t.Errorf("%s: no %s in\n%s", query, part, body)
			}
		}
		if policy := resp.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "frame-src "+a.BaseURL()+";") {
			t.Errorf("%s: %s", query, policy)
		}
	}
}

// TestWhatTheDemosPageSuggestsIsAnswered asks the questions that the demo page suggests. The agent knows the answers,
// and the last one leads to a person.
func TestWhatTheDemosPageSuggestsIsAnswered(t *testing.T) {
	t.Parallel()
	a, _ := demo(t, nil)
	_, facts, err := config.Demo(app.ProvisionOptions())
	if err != nil {
		t.Fatal(err)
	}
	for i, lang := range []string{"en", "es", "pt"} {
		page := getText(t, a.BaseURL()+"/demo?lang="+lang)
		_, list, _ := strings.Cut(page, `<ul class="asks">`)
		list, _, _ = strings.Cut(list, "</ul>")
		asks := regexp.MustCompile("<li>([^<]+)</li>").FindAllStringSubmatch(list, -1)
		if len(asks) < 3 {
			t.Fatalf("%s: proposes %q", lang, list)
		}
		for j, ask := range asks {
			session := fmt.Sprintf(`{"widget_id":%q,"customer_id":"00000000-0000-4000-8000-0000000000%d%d","lang":%q}`,
				facts.ChatWidgetID, i, j, lang)
			post := func(path, token, body string) map[string]any {
				r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, a.BaseURL()+"/functions/v1/chat/"+path,
					strings.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Authorization", "Bearer "+token)
				resp, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				return decode(t, resp, http.StatusOK)
			}
			token, _ := post("session", "", session)["token"].(string)
			text, _ := json.Marshal(html.UnescapeString(ask[1]))
			post("turns", token, `{"client_id":"1","text":`+string(text)+`}`)
			var shown string
			app.Within(t, "an answer to "+ask[1], func() bool {
				all, _ := json.Marshal(post("session", "", session))
				shown = string(all)
				return strings.Contains(shown, `"sources"`) || strings.Contains(shown, `"missed"`)
			})
			if last := j == len(asks)-1; last != strings.Contains(shown, `"handoff_requested"`) ||
				last == strings.Contains(shown, `"sources"`) {
				t.Errorf("%s: %s: %s", lang, text, shown)
			}
		}
	}
}

func getText(t *testing.T, address string) string {
	t.Helper()
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestTheDemosPageIsTheDemosAlone(t *testing.T) {
	t.Parallel()
	a, _ := demo(t, func(c *config.Config) { c.Demo = false })
	resp, err := http.Get(a.BaseURL() + "/demo")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("answered %d", resp.StatusCode)
	}
}
