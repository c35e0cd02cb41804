package httpio

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// uploads returns a router with a route that echoes the uploaded file.
func uploads(most int64) *Router {
	return newTestRouter(Route{Pattern: "POST /file", MaxBody: 1 << 30, Handle: func(w http.ResponseWriter, r *http.Request) error {
		in, err := Upload(w, r, "file", most)
		if err != nil {
			return err
		}
		all, err := io.ReadAll(in)
		if err != nil {
			in.Leave()
			return err
		}
		return JSON(w, http.StatusOK, in.Name+" "+string(all))
	}})
}

func uploadBody(t *testing.T, field, name, content string) (contentType, body string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if err := w.WriteField("comment", "first"); err != nil {
		t.Fatal(err)
	}
	part, err := w.CreateFormFile(field, name)
	if err == nil {
		_, err = io.WriteString(part, content)
	}
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), b.String()
}

// slowBody is a body that arrives in two halves with a pause between them.
type slowBody struct {
	halves []string
	pause  time.Duration
}

func (s *slowBody) Read(p []byte) (int, error) {
	if len(s.halves) == 0 {
		return 0, io.EOF
	}
	if len(s.halves) == 1 {
		<-time.After(s.pause)
	}
	n := copy(p, s.halves[0])
	if s.halves[0] = s.halves[0][n:]; s.halves[0] == "" {
		s.halves = s.halves[1:]
	}
	return n, nil
}

func TestAnUploadMayTakeLongerThanOtherRequests(t *testing.T) {
	contentType, body := uploadBody(t, "file", "a.txt", strings.Repeat("x", 100_000))
	synctest.Test(t, func(t *testing.T) {
		client, _ := serveInBubble(t, uploads(1<<20))
		slow := &slowBody{[]string{body[:50_000], body[50_000:]}, time.Second}
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://carillon.test/file", slow)
		r.Header.Set("Content-Type", contentType)
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		got, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != 200 || len(got) != 100_000+len(`"a.txt "`) {
			t.Errorf("%d, %d bytes, %v", resp.StatusCode, len(got), err)
		}
	})
}

func TestUploadsAreBoundedAndNeedAFile(t *testing.T) {
	rt := uploads(1000)
	for name, tt := range map[string]struct {
		field, file, content string
		status               int
	}{
		"a file":        {"file", "a.txt", strings.Repeat("x", 1000), 200},
		"one byte more": {"file", "a.txt", strings.Repeat("x", 1001), 413},
		"far more":      {"file", "a.txt", strings.Repeat("x", 200_000), 413},
		"another part":  {"other", "a.txt", "x", 400},
		"no name":       {"file", "", "x", 400},
	} {
		contentType, body := uploadBody(t, tt.field, tt.file, tt.content)
		for _, chunked := range []bool{false, true} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/file", strings.NewReader(body))
			r.Header.Set("Content-Type", contentType)
			if chunked {
				r.ContentLength = -1
			}
			rec := &deadlines{httptest.NewRecorder()}
			rt.ServeHTTP(rec, r)
			if rec.Code != tt.status {
				t.Errorf("%s, chunked %v: %d %s", name, chunked, rec.Code, rec.Body)
			}
		}
	}
}

// deadlines is a response recorder that supports deadlines.
type deadlines struct{ *httptest.ResponseRecorder }

func (deadlines) SetReadDeadline(time.Time) error  { return nil }
func (deadlines) SetWriteDeadline(time.Time) error { return nil }
