package agents_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/widgets"
)

// putLogo uploads a logo, and returns the status and the response.
func putLogo(t *testing.T, w *paneltest.World, by, content string) (int, map[string]any) {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "logo")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = part.Write([]byte(content))
	_ = form.Close()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/panel/v1/widget-logos", &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("Authorization", by)
	server := httptest.NewServer(w.Router)
	defer server.Close()
	r.RequestURI, r.URL.Scheme, r.URL.Host = "", "http", server.Listener.Addr().String()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var got map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, got
}

func TestLogosAreUploadedAndJunkIsRefused(t *testing.T) {
	w := paneltest.New(t)
	acme := w.Company("acme")
	owner, viewer := w.As("owner@acme.test"), w.As("viewer@acme.test")
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewNRGBA(image.Rect(0, 0, 300, 200))); err != nil {
		t.Fatal(err)
	}
	status, got := putLogo(t, w, owner, picture.String())
	digest, _ := got["logo"].(string)
	if status != 200 {
		t.Fatal(status, got)
	}
	if content, err := w.Store.Widgets.Logo(t.Context(), acme.ID, digest); err != nil || !bytes.HasPrefix(content, []byte("\x89PNG")) {
		t.Error(err)
	}
	if status, _ := putLogo(t, w, viewer, picture.String()); status != 403 {
		t.Error("a viewer's logo:", status)
	}
	for name, c := range map[string]struct {
		content, rule string
		status        int
	}{
		"SVG":   {`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`, "logo_svg", 400},
		"HTML":  {"<!doctype html><script>alert(1)</script>", "logo_format", 400},
		"cut":   {picture.String()[:60], "logo_format", 400},
		"large": {string(make([]byte, 1<<20+1)), "", 413},
	} {
		status, got := putLogo(t, w, owner, c.content)
		details, _ := got["details"].(map[string]any)
		if status != c.status || c.rule != "" && details["rule"] != c.rule {
			t.Errorf("%s: %d %v", name, status, got)
		}
	}
}

func TestTheSitesOfAWidgetAreItsCompanys(t *testing.T) {
	w := paneltest.New(t)
	acme := w.Company("acme")
	w.Company("other")
	owner, viewer, stranger := w.As("owner@acme.test"), w.As("viewer@acme.test"), w.As("owner@other.test")
	id := w.Want("POST", "/panel/v1/widgets", owner, `{"kind":"chat","name":"Shop","welcome":"Hi"}`, 201, "", "")["id"].(string)
	now := time.Now()
	for i, origin := range []string{"https://a.example", "https://b.example"} {
		if err := w.Store.Widgets.Saw(t.Context(), acme.ID, widgets.Site{
			WidgetID: id, Origin: origin, SeenAt: now.Add(time.Duration(i) * time.Minute),
		}); err != nil {
			t.Fatal(err)
		}
	}
	origins := func(path, by string) (all []any) {
		for _, row := range w.Want("GET", path, by, "", 200, "", "")["data"].([]any) {
			all = append(all, row.(map[string]any)["origin"])
		}
		return all
	}
	if got := origins("/panel/v1/widgets/"+id+"/seen", viewer); len(got) != 2 || got[0] != "https://b.example" {
		t.Error(got)
	}
	if got := origins("/panel/v1/widget-sites", viewer); len(got) != 1 || got[0] != "https://b.example" {
		t.Error(got)
	}
	if got := origins("/panel/v1/widget-sites", stranger); len(got) != 0 {
		t.Error(got)
	}
	w.Want("GET", "/panel/v1/widgets/"+id+"/seen", stranger, "", 404, "not_found", "")
}
