// Package manual serves the documentation under /docs: the reference of the public interface, generated from its OpenAPI
// description, with code samples and a form for trying each operation; and the docs folder, as HTML pages and as Markdown.
// A search covers all of it. No sign-in is needed. A key entered for trying operations stays in the browser.
//
//	/docs                 the start page
//	/docs/api, /docs/api/{tag}   the public interface
//	/docs/guides/…, /docs/reference/…, /docs/adr/…, /docs/{page}; with .md as Markdown
//	/docs/search?q=       the search; as=json has only the hits
//	/llms.txt             the list of pages for language models
package manual

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"carillon"
	"carillon/internal/edge/httpio"
	"carillon/web"
)

const root = "/docs"

// Options are the sources of the manual.
type Options struct {
	OpenAPI []byte        // description of the public interface, as JSON
	Pages   fs.FS         // the docs folder
	Files   *web.Files    // with the built script and stylesheet
	Base    func() string // returns the public address once the program listens
}

// Manual serves the documentation.
type Manual struct {
	Options
	make   func() (*library, error) // runs once
	ready  sync.Map                 // pages by path
	assets map[string]string        // addresses of the script and stylesheet; empty if they are not built
}

// New returns the manual. Its pages are rendered on first request.
func New(o Options) *Manual {
	m := &Manual{Options: o, assets: map[string]string{}}
	for _, name := range []string{"docs.js", "docs.css"} {
		if sum := o.Files.Sum(web.Docs, name); sum != "" {
			m.assets[name] = root + "/assets/" + name + "?v=" + sum
		}
	}
	m.make = sync.OnceValues(func() (*library, error) { return newLibrary(o) })
	return m
}

// Routes returns the routes of the manual.
func (m *Manual) Routes() []httpio.Route {
	return []httpio.Route{
		{Pattern: "GET " + root, Access: "none", Handle: m.show},
		{Pattern: "GET " + root + "/{page...}", Access: "none", Page: true, Handle: m.show},
		{Pattern: "GET " + root + "/assets/{file}", Access: "none", Handle: m.asset},
		{Pattern: "GET " + root + "/images/{file}", Access: "none", Handle: m.image},
		{Pattern: "GET " + root + "/search", Access: "none", Handle: m.search},
		{Pattern: "GET /llms.txt", Access: "none", Handle: m.list},
	}
}

// renderedPage is a rendered page in the forms in which it is sent.
type renderedPage struct {
	plain, zipped []byte
	tag           string
}

func (m *Manual) show(w http.ResponseWriter, r *http.Request) error {
	name := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, root), "/"), "/")
	lib, err := m.make()
	if err != nil {
		return err
	}
	if raw, ok := strings.CutSuffix(name, ".md"); ok {
		if p := lib.pages[raw]; p != nil && p.source != nil {
			return send(w, r, "text/markdown; charset=utf-8", pack(p.source))
		}
		return carillon.Absent("Page")
	}
	p := lib.pages[name]
	if p == nil {
		return carillon.Absent("Page")
	}
	if x, ok := m.ready.Load(name); ok {
		return send(w, r, "text/html; charset=utf-8", x.(*renderedPage)) //nolint:forcetypeassert // only this function stores values
	}
	var b bytes.Buffer
	if err := m.write(&b, lib, p); err != nil {
		return err
	}
	x := pack(b.Bytes())
	m.ready.Store(name, x)
	return send(w, r, "text/html; charset=utf-8", x)
}

func pack(text []byte) *renderedPage {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid
	_, _ = z.Write(text)                                  // writing to a buffer cannot fail
	_ = z.Close()
	sum := sha256.Sum256(text)
	return &renderedPage{plain: text, zipped: b.Bytes(), tag: hex.EncodeToString(sum[:12])}
}

func send(w http.ResponseWriter, r *http.Request, kind string, x *renderedPage) error {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src "+
		"'self'; base-uri 'none'; "+
		"form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'")
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", "Accept-Encoding")
	body, tag := x.plain, `"`+x.tag+`"`
	if web.Accepts(r.Header.Get("Accept-Encoding"), "gzip") {
		body, tag = x.zipped, `"`+x.tag+`-gzip"`
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, err := w.Write(body) //nolint:gosec // rendered from our own files
	return err
}

func (m *Manual) asset(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("file")
	if m.assets[name] == "" {
		return carillon.Absent("File")
	}
	age := 0 // without a version, the content at this address may change
	if _, version, _ := strings.Cut(m.assets[name], "?v="); r.URL.Query().Get("v") == version {
		age = web.Forever
	}
	return m.Files.Serve(w, r, web.Docs, name, age)
}

func (m *Manual) image(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("file")
	kind := map[string]string{".png": "image/png", ".svg": "image/svg+xml"}[path.Ext(name)]
	data, err := fs.ReadFile(m.Pages, path.Join("images", path.Base(name)))
	if err != nil || kind == "" {
		return carillon.Absent("Picture")
	}
	return send(w, r, kind, pack(data))
}

func (m *Manual) search(w http.ResponseWriter, r *http.Request) error {
	lib, err := m.make()
	if err != nil {
		return err
	}
	query := carillon.Shorten(strings.TrimSpace(r.URL.Query().Get("q")))
	if r.URL.Query().Get("as") == "json" { // for the list below the field of the search
		hits := []any{}
		for _, h := range lib.search(query) {
			hits = append(hits, map[string]string{"path": h.Path, "title": h.Title, "page": h.Page})
		}
		data, err := json.Marshal(map[string]any{"hits": hits})
		if err != nil {
			return err
		}
		return send(w, r, "application/json", pack(data))
	}
	var b bytes.Buffer
	if err := m.write(&b, lib, &page{
		path: "search", title: "Search", found: lib.search(query), query: query, template: "search",
	}); err != nil {
		return err
	}
	return send(w, r, "text/html; charset=utf-8", pack(b.Bytes()))
}

// list serves /llms.txt.
func (m *Manual) list(w http.ResponseWriter, r *http.Request) error {
	lib, err := m.make()
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("# Carillon\n\n> Self-hosted template notifications over WhatsApp, calls by a virtual agent, chat and voice " +
		"widgets, with a panel.\n\n")
	fmt.Fprintf(&b, "The description of the interface (OpenAPI 3.1): %s/openapi.json\n", m.Base())
	for _, s := range lib.sections {
		if s.Title == "API" {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n", s.Title)
		for _, p := range s.Pages {
			fmt.Fprintf(&b, "- [%s](%s%s/%s.md)", p.title, m.Base(), root, p.path)
			if p.summary != "" {
				b.WriteString(": " + p.summary)
			}
			b.WriteString("\n")
		}
	}
	return send(w, r, "text/plain; charset=utf-8", pack([]byte(b.String())))
}

// frame is the layout around every page's content.
type frame struct {
	Page          *page
	Sections      []section
	Script, Style string
	Base          string
	Body          template.HTML
}

func (m *Manual) write(b *bytes.Buffer, lib *library, p *page) error {
	f := frame{Page: p, Sections: lib.sections, Script: m.assets["docs.js"], Style: m.assets["docs.css"], Base: m.Base()}
	var body bytes.Buffer
	if err := templates.ExecuteTemplate(&body, p.template, f); err != nil {
		return fmt.Errorf("write the page %s: %w", p.path, err)
	}
	f.Body = template.HTML(body.String()) //nolint:gosec // produced by a template
	if err := templates.ExecuteTemplate(b, "frame", f); err != nil {
		return fmt.Errorf("write the page %s: %w", p.path, err)
	}
	return nil
}
