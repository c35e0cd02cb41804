package widget

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"carillon/internal/edge/httpio"
)

func TestTheEmptyPageEmbedsFromItsOwnOrigin(t *testing.T) {
	t.Parallel()
	d := Deps{Log: slog.New(slog.DiscardHandler), Addresses: func() (string, string) {
		return "https://api.example", "https://widgets.example"
	}}
	for accept, title := range map[string]string{"": "empty page", "pt-BR": "página vazia", "es-AR": "página vacía"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/try?customer=%22%3E%3Cscript%3E", nil)
		r.Header.Set("Accept-Language", accept)
		w := httptest.NewRecorder()
		httpio.NewRouter(d.Log, nil, TryRoute(d)).ServeHTTP(w, r)
		body := w.Body.String()
		if w.Code != http.StatusOK || !strings.Contains(body, title) || strings.Contains(body, "customer=") {
			t.Errorf("%q: %d\n%s", accept, w.Code, body)
		}
		if !strings.Contains(body, `"https://widgets.example" + "/embed/"`) {
			t.Errorf("the page does not load its script from the widgets' pages:\n%s", body)
		}
		policy := w.Header().Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'") || !strings.Contains(policy, "frame-src https://widgets.example;") {
			t.Errorf("policy %s", policy)
		}
	}
}
