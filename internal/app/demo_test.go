package app_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carillon/internal/config"
)

func TestTheDemosPageHasItsChatOnIt(t *testing.T) {
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
		"?lang=xx":        {"pt-BR,en;q=0.5", "pt", "A cidade vê-se melhor da água"},
		"?lang=%22%3E%3C": {"es", "es", "La ciudad se ve mejor desde el agua"},
	} {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, a.BaseURL()+"/demo"+query, nil)
		r.Header.Set("Accept-Language", want.accept)
		resp, err := http.DefaultClient.Do(r) //nolint:forbidigo // a test
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		for _, part := range []string{
			`<html lang="` + want.lang + `">`, want.title, `src="` + a.BaseURL() + `/embed/chat.js" widget="` + ready.ChatWidgetID + `" customer="` + ready.AccessKey + `"`,
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

func TestTheDemosPageIsTheDemosAlone(t *testing.T) {
	a, _ := demo(t, func(c *config.Config) { c.Demo = false })
	resp, err := http.Get(a.BaseURL() + "/demo") //nolint:noctx // a test
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("answered %d", resp.StatusCode)
	}
}
