package app_test

import (
	"bytes"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"carillon/internal/app"
	"carillon/internal/base/config"
)

// sendFile posts a file to a route, with a token if not empty, and returns the status and the response.
func sendFile(t *testing.T, address, token, name, content string) (int, map[string]any) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("file", name)
	if err == nil {
		_, err = io.WriteString(part, content)
	}
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, &b)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", w.FormDataContentType())
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var v map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, v
}

func TestMediaAreKeptUnderAPublicAddress(t *testing.T) {
	t.Parallel()
	a, _ := demo(t, func(c *config.Config) { c.BaseURL = "https://carillon.example.org" })
	_, facts, err := config.Demo(app.ProvisionOptions())
	if err != nil {
		t.Fatal(err)
	}
	here := "http://" + a.Listening()
	film := "\x00\x00\x00\x18ftypisom" + strings.Repeat("\x00", 1000)
	status, v := sendFile(t, here+"/functions/v1/media?access_key="+facts.AccessKey, "", "../tour film.mov", film)
	link, _ := v["url"].(string)
	if status != 200 || v["type"] != "video/mp4" || v["name"] != "tour film.mov.mp4" || v["size"] != float64(len(film)) ||
		v["expires_at"] == nil ||
		!strings.HasPrefix(link, "https://carillon.example.org/functions/v1/files/") {
		t.Fatal(status, v)
	}
	resp, err := http.Get(strings.Replace(link, "https://carillon.example.org", here, 1))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if got, err := io.ReadAll(resp.Body); err != nil || string(got) != film || resp.Header.Get("Content-Type") != "video/mp4" {
		t.Errorf("loaded %d bytes, %v, %v", len(got), resp.Header, err)
	}
	for name, content := range map[string]string{
		"a text": "hello", "a web page": "<html>", "a picture that is too large": "\x89PNG\r\n\x1a\n" + strings.Repeat("x", 5<<20),
		"a sound": "\x00\x00\x00\x18ftypM4A " + film,
	} {
		if status, v := sendFile(t, here+"/functions/v1/media?access_key="+facts.AccessKey, "", "a.png", content); status != 400 {
			t.Errorf("%s: %d %v", name, status, v)
		}
	}
}

func TestWithoutAPublicAddressNoMediaAreKept(t *testing.T) {
	t.Parallel()
	a, _ := demo(t, nil)
	_, facts, err := config.Demo(app.ProvisionOptions())
	if err != nil {
		t.Fatal(err)
	}
	status, v := sendFile(t, a.BaseURL()+"/functions/v1/media?access_key="+facts.AccessKey, "", "a.png", "\x89PNG\r\n\x1a\n")
	if status != 409 || v["error"] != "conflict" {
		t.Errorf("%d %v", status, v)
	}
}
