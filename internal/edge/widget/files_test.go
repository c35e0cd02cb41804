package widget

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/store/configure"
	"carillon/internal/talk/files"
)

// form returns a multipart body with one file, and its content type.
func form(t *testing.T, field, name string, content []byte) (string, []byte) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	h := textproto.MIMEHeader{}
	h.Set("Content-Disposition", mime.FormatMediaType("form-data", map[string]string{"name": field, "filename": name}))
	h.Set("Content-Type", "text/html") // the declared type must be ignored
	part, err := w.CreatePart(h)
	if err == nil {
		_, err = part.Write(content)
	}
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), b.Bytes()
}

// upload sends a file as a visitor.
func (x *site) upload(token, name string, content []byte) (int, string) {
	x.t.Helper()
	contentType, body := form(x.t, "file", name, content)
	return x.send("POST", prefix+"/chat/files", token, string(body), "Content-Type", contentType)
}

func (x *site) uploaded(token, name string, content []byte) chats.File {
	x.t.Helper()
	status, text := x.upload(token, name, content)
	var f chats.File
	if err := json.Unmarshal([]byte(text), &f); status != 200 || err != nil {
		x.t.Fatal(status, text)
	}
	return f
}

func (x *site) load(address string, header ...string) (*http.Response, []byte) {
	x.t.Helper()
	r, err := http.NewRequestWithContext(x.t.Context(), http.MethodGet, address, nil)
	if err != nil {
		x.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		x.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	return resp, body
}

func picture(bytes int) []byte {
	return append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, bytes-8)...)
}

func TestAFileIsSentShownAndLoaded(t *testing.T) {
	x := newSite(t, "")
	token, _ := x.begin(widgetID, visitorID)
	for _, size := range []int{100, 256 << 10, 256<<10 + 1, 3<<20 + 7} {
		content := picture(size)
		content[size-1] = 42
		f := x.uploaded(token, "a picture.png", content)
		if f.Type != "image/png" || f.Name != "a picture.png" || f.Size != int64(size) || !strings.HasPrefix(f.URL, x.url+
			"/functions/v1/files/"+f.ID+"?") {
			t.Errorf("%+v", f)
		}
		status, said := x.send("POST", prefix+"/chat/turns", token, `{"client_id":"`+f.ID+`","file":"`+f.ID+`"}`)
		var turn chats.TurnView
		if err := json.Unmarshal([]byte(said), &turn); status != 200 || err != nil || turn.Kind != "file" || turn.File == nil ||
			*turn.File != f {
			t.Errorf("the turn: %d %s", status, said)
		}
		resp, got := x.load(f.URL)
		h := resp.Header
		if resp.StatusCode != 200 || !bytes.Equal(got, content) || h.Get("Content-Type") != "image/png" ||
			h.Get("X-Content-Type-Options") != "nosniff" ||
			h.Get("Content-Security-Policy") != "default-src 'none'; sandbox" ||
			h.Get("Content-Disposition") != `inline; filename="a picture.png"` {
			t.Errorf("loaded %d bytes: %d %v", len(got), resp.StatusCode, h)
		}
		if resp, _ := x.load(f.URL, "If-None-Match", h.Get("ETag")); resp.StatusCode != http.StatusNotModified {
			t.Errorf("loaded again: %d", resp.StatusCode)
		}
		if resp, got := x.load(f.URL, "Range", "bytes=90-99"); resp.StatusCode != http.StatusPartialContent ||
			!bytes.Equal(got, content[90:100]) {
			t.Errorf("a part: %d, %d bytes", resp.StatusCode, len(got))
		}
		if resp, got := x.load(f.URL, "Range", "bytes=0-0,99-99"); resp.StatusCode != 200 || !bytes.Equal(got, content) {
			t.Errorf("two parts: %d, %d bytes", resp.StatusCode, len(got))
		}
	}
	shown := strings.Join(x.events(token, "0", func(all []string) bool { return len(all) >= 4 }), "\n")
	_, session := x.send("POST", prefix+"/chat/session", "", `{"widget_id":"`+widgetID+`","customer_id":"`+visitorID+`"}`)
	if n := strings.Count(shown, `\u0026signature=`); n != 4 || strings.Count(session, "&signature=") != 4 {
		t.Errorf("%d addresses in the stream; the session: %s", n, session)
	}
}

// packed returns a ZIP archive with entries of the given names.
func packed(t *testing.T, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		name, content, _ := strings.Cut(name, "=")
		f, err := w.CreateRaw(&zip.FileHeader{Name: name, CompressedSize64: uint64(len(content)), UncompressedSize64: uint64(len(content))})
		if err == nil {
			_, err = io.WriteString(f, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAFileIsWhatItsContentIs(t *testing.T) {
	x := newSite(t, "")
	token, _ := x.begin(widgetID, visitorID)
	for _, tt := range []struct {
		name    string
		content []byte
		want    string // type and name; empty if refused
	}{
		{"a.jpg", []byte("\xff\xd8\xff\xe0..."), "image/jpeg a.jpg"},
		{"a.JPEG", []byte("\xff\xd8\xff\xe0..."), "image/jpeg a.JPEG"},
		{"a.gif", []byte("GIF89a..."), "image/gif a.gif"},
		{"a.webp", []byte("RIFF\x00\x00\x00\x00WEBPVP8 "), "image/webp a.webp"},
		{"a.pdf", []byte("%PDF-1.7\n"), "application/pdf a.pdf"},
		{"a.html", []byte("%PDF-1.7\n<script>alert(1)</script>"), "application/pdf a.html.pdf"},
		{"a.txt", []byte("Hello, ñandú\r\n\ttab"), "text/plain a.txt"},
		{"run.bat", []byte("del *.*"), "text/plain run.bat.txt"},
		{"a.csv", []byte("a;b\n1;2\n"), "text/plain a.csv"},
		{
			"a.docx", packed(t, "[Content_Types].xml=x", "word/document.xml=x"),
			"application/vnd.openxmlformats-officedocument.wordprocessingml.document a.docx",
		},
		{
			"a.zip", packed(t, "[Content_Types].xml=x", "xl/workbook.xml=x"),
			"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet a.zip.xlsx",
		},
		{
			"a.odt", packed(t, "mimetype=application/vnd.oasis.opendocument.text", "content.xml=x"),
			"application/vnd.oasis.opendocument.text a.odt",
		},
		{"a.docm", packed(t, "[Content_Types].xml=x", "word/document.xml=x", "word/vbaProject.bin=x"), ""},
		{"a.zip", packed(t, "run.exe=x"), ""},
		{"a.svg", []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`), ""},
		{"a.png", []byte("\n\t <html><script>alert(1)</script>"), ""},
		{"a.txt", []byte("\xef\xbb\xbf<!doctype html>"), ""},
		{"a.txt", []byte("a\x00b"), ""},
		{"a.txt", []byte("caf\xe9"), ""},
		{"a.txt", []byte("cut off \xc3"), ""},
		{"a.exe", []byte("MZ\x90\x00"), ""},
		{"a.png", nil, ""},
	} {
		status, text := x.upload(token, tt.name, tt.content)
		var f chats.File
		_ = json.Unmarshal([]byte(text), &f)
		switch {
		case tt.want == "" && (status != 400 || !strings.Contains(text, `"field":"file"`)):
			t.Errorf("%s %.20q: %d %s", tt.name, tt.content, status, text)
		case tt.want != "" && (status != 200 || f.Type+" "+f.Name != tt.want):
			t.Errorf("%s %.20q: %d %s, want %s", tt.name, tt.content, status, text, tt.want)
		case tt.want != "" && !strings.HasPrefix(f.Type, "image/"):
			if resp, _ := x.load(f.URL); !strings.HasPrefix(resp.Header.Get("Content-Disposition"), "attachment; ") {
				t.Errorf("%s is served with %v", tt.name, resp.Header)
			}
		}
	}
}

func TestHostileNamesOfFilesAreMadeSafe(t *testing.T) {
	x := newSite(t, "")
	token, _ := x.begin(widgetID, visitorID)
	for given, want := range map[string]string{
		"../../etc/passwd.png":            "passwd.png",
		`C:\temp\a.png`:                   "a.png",
		"<script>alert(1)</script>.png":   "script_.png",
		"a\"; filename=\"b.exe":           "a_; filename=_b.exe.png",
		"gnp.\u202eexe.png":               "gnp.exe.png",
		"a\u2028b\r\nSet-Cookie: c=1.png": "abSet-Cookie_ c=1.png",
		strings.Repeat("ñ", 300) + ".png": strings.Repeat("ñ", 116) + ".png",
		" .. .png":                        "png.png",
		"...":                             "file.png",
		"日本 語.png":                        "日本 語.png",
		"a.png.html":                      "a.png.html.png",
	} {
		f := x.uploaded(token, given, picture(20))
		resp, _ := x.load(f.URL)
		_, params, err := mime.ParseMediaType(resp.Header.Get("Content-Disposition"))
		if f.Name != want || err != nil || params["filename"] != want {
			t.Errorf("%q became %q, served as %q", given, f.Name, resp.Header.Get("Content-Disposition"))
		}
	}
}

func TestAddressesOfFilesStayValidWhenTheCompanyGetsAKey(t *testing.T) {
	x := newSite(t, "")
	change := func(fn func(ctx context.Context, tx *configure.Tx) error) {
		t.Helper()
		if err := x.store.Config.Change(t.Context(), fn); err != nil {
			t.Fatal(err)
		}
	}
	token, _ := x.begin(widgetID, visitorID)
	f := x.uploaded(token, "a.png", picture(20))
	signed := func() string {
		t.Helper()
		of, err := x.Files.Signed(t.Context(), companyID, &f, x.url, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return of.URL
	}
	loads := func(why, address string, want int) {
		t.Helper()
		if resp, _ := x.load(address); resp.StatusCode != want {
			t.Errorf("%s: %d", why, resp.StatusCode)
		}
	}
	earlier := f.URL
	change(func(ctx context.Context, tx *configure.Tx) error {
		tx.Changes(companyID)
		_, err := tx.Exec(ctx, "UPDATE resource SET sealed = '' WHERE company_id = $1", companyID)
		_, gone := tx.Exec(ctx, "DELETE FROM company_key WHERE company_id = $1", companyID)
		return errors.Join(err, gone)
	})
	loads("by a key that is gone", earlier, 403)
	old := signed()
	loads("without a key of the company", old, 200)
	change(func(ctx context.Context, tx *configure.Tx) error {
		tx.Changes(companyID)
		for _, table := range []string{"sender", "access_key"} {
			if _, err := tx.Exec(ctx, "DELETE FROM "+table+" WHERE company_id = $1", companyID); err != nil {
				return err
			}
		}
		return store.Reseal(ctx, tx, companyID, time.Now())
	})
	loads("signed before the company had a key", old, 200)
	if now := signed(); now == old {
		t.Error("the installation's key still signs")
	} else {
		loads("signed by the company's key", now, 200)
	}
}

func TestAFileIsItsSendersAndItsConversations(t *testing.T) {
	x := newSite(t, "")
	token, _ := x.begin(widgetID, visitorID)
	other, _ := x.begin(widgetID, visitor2ID)
	f := x.uploaded(token, "a.png", picture(20))
	for name, body := range map[string]string{
		"another visitor's": `{"client_id":"1","file":"` + f.ID + `"}`, "none": `{"client_id":"1","file":"` + visitorID + `"}`,
		"no id": `{"client_id":"1","file":"../x"}`, "two things": `{"client_id":"1","file":"` + f.ID + `","text":"Hi"}`,
	} {
		if status, text := x.send("POST", prefix+"/chat/turns", other, body); status != 400 {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	for name, address := range map[string]string{
		"unsigned": strings.Split(f.URL, "?")[0], "of another file": strings.Replace(f.URL, f.ID, visitorID, 1),
		"for longer": strings.Replace(f.URL, "expires=1", "expires=9", 1), "signed by nobody": f.URL[:len(f.URL)-1] + "x",
	} {
		if resp, _ := x.load(address); resp.StatusCode != 403 {
			t.Errorf("%s: %d", name, resp.StatusCode)
		}
	}
	old, err := x.Files.Signed(t.Context(), companyID, &f, x.url, time.Now().Add(-5*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if resp, _ := x.load(old.URL); resp.StatusCode != 403 {
		t.Errorf("expired: %d", resp.StatusCode)
	}
	if resp, _ := x.load(f.URL); resp.StatusCode != 200 {
		t.Errorf("before the company is suspended: %d", resp.StatusCode)
	}
	x.apply(strings.Replace(setUp, "name: Acme\n", "name: Acme\n    status: suspended\n", 1))
	if resp, _ := x.load(f.URL); resp.StatusCode != 403 {
		t.Errorf("a file of a suspended company: %d", resp.StatusCode)
	}
}

func TestBodiesThatHoldNoFileAreRefused(t *testing.T) {
	x := newSite(t, "")
	token, _ := x.begin(widgetID, visitorID)
	contentType, good := form(t, "file", "a.png", picture(20))
	otherType, other := form(t, "other", "a.png", picture(20))
	largeType, large := form(t, "file", "a.png", picture(11<<20))
	for name, tt := range map[string]struct {
		contentType string
		body        []byte
		status      int
	}{
		"JSON":           {"application/json", []byte("{}"), 400},
		"no boundary":    {"multipart/form-data", good, 400},
		"another part":   {otherType, other, 400},
		"cut off":        {contentType, good[:len(good)-30], 400},
		"too large":      {largeType, large, 413},
		"nothing at all": {contentType, nil, 400},
	} {
		if status, text := x.send(
			"POST", prefix+"/chat/files", token, string(tt.body), "Content-Type", tt.contentType,
		); status != tt.status {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	// Without a Content-Length, the size is checked while reading.
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, x.url+prefix+"/chat/files", struct{ io.Reader }{
		bytes.NewReader(large),
	})
	r.Header.Set("Content-Type", largeType)
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("chunked: %d", resp.StatusCode)
	}
}

func TestOneVisitorSendsSoManyFilesAMinute(t *testing.T) {
	x := newSite(t, `  - id: 11111111-1111-4111-8111-111111111102
    name: Limited
    widgets: [{id: 33333333-3333-4333-8333-333333333304, kind: chat, name: Chat, welcome: Hello.}]
`)
	token, _ := x.begin("33333333-3333-4333-8333-333333333304", visitorID)
	other, _ := x.begin("33333333-3333-4333-8333-333333333304", visitor2ID)
	refused := 0
	for range filesPerMinute + 3 {
		if status, text := x.upload(token, "a.png", picture(20)); status == 429 && strings.Contains(text, "rate_limit_exceeded") {
			refused++
		} else if status != 200 {
			t.Fatal(status, text)
		}
	}
	if refused != 3 {
		t.Errorf("%d were refused", refused)
	}
	if status, text := x.upload(other, "a.png", picture(20)); status != 200 {
		t.Errorf("another visitor: %d %s", status, text)
	}
}

func TestACompanyHasRoomForSoManyBytes(t *testing.T) {
	x := newSite(t, "")
	x.Files = files.New(x.store.Files, files.Options{Keys: x.store.Config.Derived, Suspended: x.suspended, Most: 1000, Company: 1500})
	x.serve()
	token, _ := x.begin(widgetID, visitorID)
	for i, want := range []int{200, 422, 413} { // a visitor may use three quarters
		size := []int{900, 300, 1001}[i]
		if status, text := x.upload(token, "a.png", picture(size)); status != want {
			t.Errorf("%d bytes: %d %s", size, status, text)
		}
	}
}
