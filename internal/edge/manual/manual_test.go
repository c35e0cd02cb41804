package manual

import (
	"bytes"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"carillon/docs"
	"carillon/internal/edge/api"
	"carillon/internal/edge/httpio"
	"carillon/web"
)

type reader struct {
	t      *testing.T
	router *httpio.Router
	lib    *library
}

func newReaderOf(t *testing.T) *reader {
	t.Helper()
	o := Options{OpenAPI: api.OpenAPI(), Pages: docs.Files, Base: func() string {
		return "https://carillon.test"
	}, Files: web.In(fstest.MapFS{
		"docs/docs.js": {Data: []byte("script")}, "docs/docs.css": {Data: []byte("style")},
	})}
	m := New(o)
	lib, err := m.make()
	if err != nil {
		t.Fatal(err)
	}
	return &reader{t, httpio.NewRouter(slog.New(slog.DiscardHandler), nil, m.Routes()...), lib}
}

func (r *reader) get(path string, header ...string) *httptest.ResponseRecorder {
	r.t.Helper()
	req := httptest.NewRequestWithContext(r.t.Context(), http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	rec := httptest.NewRecorder()
	r.router.ServeHTTP(rec, req)
	return rec
}

var (
	linked = regexp.MustCompile(`(?:href|src)="([^"]+)"`)
	named  = regexp.MustCompile(` id="([^"]+)"`)
)

// TestEveryLinkOfThePagesLeadsSomewhere follows every link and anchor of every page.
func TestEveryLinkOfThePagesLeadsSomewhere(t *testing.T) {
	r := newReaderOf(t)
	ids, links := map[string]map[string]bool{}, map[string][]string{}
	for name, p := range r.lib.pages {
		address := strings.TrimSuffix(root+"/"+name, "/")
		rec := r.get(address)
		body := rec.Body.String()
		if rec.Code != http.StatusOK || p.title == "" || strings.Count(body, "<h1") != 1 || !strings.Contains(body, "</html>") {
			t.Errorf("%s: %d, title %q, %d headings of the first level", address, rec.Code, p.title, strings.Count(body, "<h1"))
		}
		ids[address] = map[string]bool{}
		for _, m := range named.FindAllStringSubmatch(body, -1) {
			if ids[address][m[1]] {
				t.Errorf("%s has two elements called %s", address, m[1])
			}
			ids[address][m[1]] = true
		}
		for _, m := range linked.FindAllStringSubmatch(body, -1) {
			links[address] = append(links[address], m[1])
		}
	}
	elsewhere := []string{"/panel", "/openapi.json", "/llms.txt"}
	for from, all := range links {
		for _, to := range all {
			to = strings.ReplaceAll(to, "&amp;", "&")
			file, anchor, _ := strings.Cut(to, "#")
			file, _, _ = strings.Cut(file, "?")
			switch {
			case strings.HasPrefix(to, "data:"), strings.HasPrefix(to, "https://"), slices.Contains(elsewhere, file):
			case file == "":
				if !ids[from][anchor] {
					t.Errorf("%s leads to %s, which is not on it", from, to)
				}
			case ids[file] != nil:
				if anchor != "" && !ids[file][anchor] {
					t.Errorf("%s leads to %s, whose anchor is not there", from, to)
				}
			default:
				if rec := r.get(to); rec.Code != http.StatusOK {
					t.Errorf("%s leads to %s: %d", from, to, rec.Code)
				}
			}
		}
	}
	if len(links) < 60 {
		t.Errorf("there are only %d pages", len(links))
	}
}

// TestEveryDocumentIsAPage checks that every document has a page under /docs and, except for decisions and index
// pages, an entry in the navigation.
func TestEveryDocumentIsAPage(t *testing.T) {
	r := newReaderOf(t)
	shown := map[string]bool{}
	for _, s := range r.lib.sections {
		for _, p := range s.Pages {
			shown[p.path] = true
		}
	}
	if err := fs.WalkDir(docs.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".md" {
			return err
		}
		at := pathOf(name)
		if !shown[at] && path.Dir(name) != "adr" && path.Base(name) != "README.md" {
			t.Errorf("docs/%s is not in the navigation", name)
		}
		source, err := fs.ReadFile(docs.Files, name)
		if err != nil {
			return err
		}
		rec := r.get(root + "/" + at + ".md")
		if rec.Code != http.StatusOK || !bytes.Equal(rec.Body.Bytes(), source) ||
			!strings.HasPrefix(rec.Header().Get("Content-Type"), "text/markdown") {
			t.Errorf("docs/%s as Markdown: %d %s", name, rec.Code, rec.Header().Get("Content-Type"))
		}
		if shown[at] && !strings.Contains(r.get("/llms.txt").Body.String(), "https://carillon.test/docs/"+at+".md") {
			t.Errorf("/llms.txt does not list %s", name)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func TestEveryOperationIsShownWithAllThatItHas(t *testing.T) {
	r := newReaderOf(t)
	shown := 0
	for name, p := range r.lib.pages {
		if p.group == nil {
			continue
		}
		body := r.get(root + "/" + name).Body.String()
		for _, o := range p.group.Operations {
			shown++
			for _, want := range []string{`id="` + o.ID + `"`, "<code>" + o.Path + "</code>"} {
				if !strings.Contains(body, want) {
					t.Errorf("%s: no %s", o.ID, want)
				}
			}
			if len(o.Errors) == 0 || len(o.Good) == 0 || len(o.Snippets) != 3 && o.Good[0].Status != "101" {
				t.Errorf("%s has %d errors, %d responses, %d snippets", o.ID, len(o.Errors), len(o.Good), len(o.Snippets))
			}
			for _, e := range o.Errors {
				json := strings.ToLower(e.Code) == e.Code // otherwise a plain text error of a widget's page or a file
				if e.Code == "" || len(e.Cause) < 20 || json && (e.Example == "" || len(e.Cause) < 60) {
					t.Errorf("%s: the error %+v", o.ID, e)
				}
			}
			for _, s := range o.Snippets {
				if strings.ContainsAny(string(s.Code), "\x01\x02") || strings.Contains(string(s.Code), "{id}") {
					t.Errorf("%s in %s: %s", o.ID, s.Name, s.Code)
				}
			}
			if o.Try != nil && slices.ContainsFunc(o.Parameters, func(p parameter) bool {
				return p.Name == "customer_id" || p.Name == "access_key"
			}) {
				t.Errorf("%s would put a key into an address", o.ID)
			}
		}
	}
	if want := strings.Count(string(api.OpenAPI()), `"operationId"`); shown != want {
		t.Errorf("%d operations are shown, of %d", shown, want)
	}
}

// The snippets for sending are the first ones that readers copy.
func TestSnippetsAreWhatOneWouldWrite(t *testing.T) {
	r := newReaderOf(t)
	var send *endpoint
	for _, o := range r.lib.pages["api/notifications"].group.Operations {
		if o.ID == "sendNotification" {
			send = o
		}
	}
	tags := regexp.MustCompile(`<[^>]+>`)
	for i, want := range []string{
		"curl -X POST \"https://carillon.test/functions/v1/notify?access_key=$ACCESS_KEY\" \\\n  -H \"Content-Type: " +
			"application/json\" \\\n  -d '{\n  \"contact\"",
		"req, err := http.NewRequestWithContext(ctx, \"POST\", " +
			"os.ExpandEnv(\"https://carillon.test/functions/v1/notify?access_key=$ACCESS_KEY\"), body)\n",
		"await fetch(`https://carillon.test/functions/v1/notify?access_key=${process.env.ACCESS_KEY}`, {\n  method: \"POST\",\n  " +
			"headers: { \"Content-Type\": \"application/json\" },\n  body: JSON.stringify({\n",
	} {
		code := strings.NewReplacer("&#34;", `"`, "&#39;", "'", "&lt;", "<", "&gt;", ">", "&amp;",
			"&").Replace(tags.ReplaceAllString(string(send.Snippets[i].Code), ""))
		if !strings.Contains(code, want) {
			t.Errorf("%s:\n%s\nlacks\n%s", send.Snippets[i].Name, code, want)
		}
	}
}

func TestThePagesAreServedUnderAStrictPolicy(t *testing.T) {
	r := newReaderOf(t)
	for _, path := range []string{
		"/docs", "/docs/", "/docs/api/notifications", "/docs/guides/install", "/docs/guides/install.md", "/docs/search?q=x",
		"/docs/images/inbox.png", "/llms.txt",
	} {
		rec := r.get(path)
		h := rec.Header()
		policy := h.Get("Content-Security-Policy")
		if rec.Code != http.StatusOK || h.Get("X-Frame-Options") != "DENY" || h.Get("X-Content-Type-Options") != "nosniff" ||
			h.Get("Referrer-Policy") != "no-referrer" ||
			!strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; ") || strings.Contains(policy, "unsafe") ||
			!strings.Contains(policy, "connect-src 'self'; ") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: %d %v", path, rec.Code, h)
		}
		if strings.Contains(rec.Body.String(), "<style") ||
			regexp.MustCompile(`<script>|\son[a-z]+="|\sstyle="`).MatchString(rec.Body.String()) {
			t.Errorf("%s contains something that its policy forbids", path)
		}
	}
	page := r.get("/docs/guides/install", "Accept-Encoding", "gzip")
	tag := page.Header().Get("ETag")
	if page.Header().Get("Content-Encoding") != "gzip" || tag == "" ||
		r.get("/docs/guides/install", "Accept-Encoding", "gzip", "If-None-Match", tag).Code != http.StatusNotModified {
		t.Errorf("%v", page.Header())
	}
	script := regexp.MustCompile(`src="(/docs/assets/docs\.js\?v=\w+)"`).FindStringSubmatch(r.get("/docs").Body.String())
	if script == nil {
		t.Fatal("the page loads no script")
	}
	if rec := r.get(script[1]); rec.Code != http.StatusOK || !strings.Contains(rec.Header().Get("Cache-Control"), "immutable") {
		t.Errorf("%s: %d %v", script[1], rec.Code, rec.Header())
	}
	if rec := r.get("/docs/assets/docs.js?v=old"); rec.Code != http.StatusOK ||
		strings.Contains(rec.Header().Get("Cache-Control"), "immutable") {
		t.Errorf("another version: %d %v", rec.Code, rec.Header())
	}
	for _, path := range []string{
		"/docs/nowhere", "/docs/guides/nowhere.md", "/docs/api.md", "/docs/docs.go", "/docs/assets/main.js",
		"/docs/images/..%2fdocs.go", "/docs/images/none.png", "/docs//evil.test", "/docs/../panel",
	} {
		if rec := r.get(path); rec.Code != http.StatusNotFound {
			t.Errorf("%s: %d %v", path, rec.Code, rec.Header())
		}
	}
}

func TestTheSearchFindsPartsAndShowsWhatIsAskedAsText(t *testing.T) {
	r := newReaderOf(t)
	for query, want := range map[string]string{
		"idempotency_key_reused": "/docs/api/notifications#sendNotification", "Idempotency-Key": "/docs/reference/sending#repeats",
		"master key":          "/docs/reference/signing-in#the-master-key",
		"carillon_recipients": "", "keys:write": "/docs/reference/roles",
	} {
		body := r.get("/docs/search?q=" + strings.ReplaceAll(query, " ", "+")).Body.String()
		if want != "" && !strings.Contains(body, `<a href="`+want) {
			t.Errorf("%s does not find %s", query, want)
		}
	}
	for _, query := range []string{
		"%3Cscript%3Ealert(1)%3C/script%3E", `%22%20autofocus%20onfocus=%22alert(1)`, strings.Repeat("x", 5000), "%ff", "%00",
		"sending+%3Cimg+src=x%3E",
	} {
		rec := r.get("/docs/search?q=" + query)
		if body := rec.Body.String(); rec.Code != http.StatusOK || strings.Contains(body, "<script>") ||
			strings.Contains(body, `" autofocus`) || strings.Contains(body, "<img") || len(body) > 60_000 {
			t.Errorf("%.40s: %d, %d bytes", query, rec.Code, len(body))
		}
	}
	for query, want := range map[string]string{
		"idempotency_key_reused":         `{"hits":[{"page":"`,
		"nothinghasthis%3Cb%3E%22%00%ff": `{"hits":[]}`,
	} {
		rec := r.get("/docs/search?as=json&q=" + query)
		if got := rec.Header().Get("Content-Type"); got != "application/json" || !strings.HasPrefix(rec.Body.String(), want) {
			t.Errorf("%s: %s, %.200s", query, got, rec.Body)
		}
	}
	if len(r.lib.search("the")) != maxHits || r.lib.search("") != nil || r.lib.search("  , ") != nil {
		t.Error("the number of hits")
	}
}

func TestMarkdownCannotBringMarkup(t *testing.T) {
	p, err := readPage("guides/x.md", []byte("# A <b>title</b>\n\n<script>alert(1)</script>\n\nText <img src=x onerror=alert(1)> "+
		"[a](javascript:alert(1)) [b](../../cmd/main.go) ![c](../images/inbox.png)\n\n| a |\n|:-:|\n| <i>x</i> |\n"),
		[]string{"guides/x.md"})
	if err != nil {
		t.Fatal(err)
	}
	html := string(p.html)
	if strings.Contains(html, "<script") || strings.Contains(html, "javascript:") || strings.Contains(html, "<i>") ||
		strings.Contains(html, "onerror") || strings.Contains(html, "style=") || strings.Contains(html, "main.go") ||
		!strings.Contains(html, `src="/docs/images/inbox.png"`) {
		t.Error(html)
	}
}
