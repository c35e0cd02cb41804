package manual

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// page is one page of the manual.
type page struct {
	path     string // below /docs, without an extension
	title    string
	summary  string // the first sentence
	source   []byte // Markdown; nil for pages generated from the description
	html     template.HTML
	heads    []head // headings for "on this page"
	template string
	parts    []part // parts for the search index

	group *group   // set for a page of the API reference
	api   *apiHome // set for the start page of the API reference
	query string
	found []hit
}

// Templates access the fields through methods, so that only this package builds pages.

func (p *page) Path() string        { return p.path }
func (p *page) Title() string       { return p.title }
func (p *page) Summary() string     { return p.summary }
func (p *page) HTML() template.HTML { return p.html }
func (p *page) Heads() []head       { return p.heads }
func (p *page) Group() *group       { return p.group }
func (p *page) API() *apiHome       { return p.api }
func (p *page) Query() string       { return p.query }
func (p *page) Found() []hit        { return p.found }
func (p *page) Markdown() bool      { return p.source != nil }

// section is a section of the navigation.
type section struct {
	Title, Path, Text string
	Pages             []*page
}

// head is a heading within a page.
type head struct{ ID, Text string }

// library holds all pages.
type library struct {
	pages    map[string]*page
	sections []section
}

// The pages listed first in the navigation, and the pages of the section Operation. The remaining pages of a folder
// follow, sorted by title.
//
//nolint:gochecknoglobals // read only
var (
	guidesFirst = []string{
		"quick-start", "develop", "webhooks", "embed", "mcp", "panel", "sandbox", "whatsapp", "provisioning", "install",
		"production", "security", "operate", "backup", "upgrade", "scale", "migrate",
	}
	referenceFirst = []string{
		"sending", "scheduling", "templates", "calls", "callbacks", "errors", "limits", "signing-in", "roles", "widgets", "voice",
		"agents", "flows", "conversation", "webhooks", "clients", "set-up",
	}
	operation = []string{"settings", "cli", "metrics", "states", "glossary", "architecture"}
)

func newLibrary(o Options) (*library, error) {
	lib := &library{pages: map[string]*page{}}
	if err := lib.readMarkdown(o.Pages); err != nil {
		return nil, err
	}
	d, err := parseDescription(o.OpenAPI, o.Base())
	if err != nil {
		return nil, fmt.Errorf("read the description of the interface: %w", err)
	}
	api := lib.addInterface(d)
	guides := lib.folder("guides", guidesFirst)
	guides = slices.Insert(guides, min(1, len(guides)), lib.named([]string{"concepts"})...) // after the first steps
	lib.sections = []section{
		{"Guides", "guides", "From the first start to many nodes, step by step.", guides},
		{"API", "api", "Every operation, with its parameters, bodies, errors, code to copy, and a form to try it.", api},
		{"Reference", "reference", "The rules behind the interface, one subject a page.", lib.folder("reference", referenceFirst)},
		{"Operation", "", "Settings, commands, metrics and states, complete.", lib.named(operation)},
	}
	lib.pages[""] = &page{title: "Documentation", template: "home"}
	return lib, nil
}

// readMarkdown reads all pages of the docs folder.
func (lib *library) readMarkdown(files fs.FS) error {
	var names []string
	if err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path.Ext(name) == ".md" {
			names = append(names, name)
		}
		return err
	}); err != nil {
		return err
	}
	for _, name := range names {
		source, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		p, err := readPage(name, source, names)
		if err != nil {
			return fmt.Errorf("read docs/%s: %w", name, err)
		}
		lib.pages[p.path] = p
	}
	lib.indexes()
	return nil
}

// indexes adds index pages for folders without a README.
func (lib *library) indexes() {
	for _, x := range []struct{ folder, title, text string }{
		{"guides", "Guides", "From the first start to many nodes."}, {
			"adr", "Decisions", "Why Carillon is built as it is, one decision a page.",
		},
	} {
		p := &page{path: x.folder, title: x.title, template: "index", summary: x.text}
		first := []string(nil)
		if x.folder == "guides" {
			first = guidesFirst
		}
		var b bytes.Buffer
		for _, one := range lib.folder(x.folder, first) {
			fmt.Fprintf(&b, "<li><a href=\"%s/%s\"><b>%s</b><span>%s</span></a></li>", root, one.path,
				template.HTMLEscapeString(one.title), template.HTMLEscapeString(one.summary))
		}
		p.html = template.HTML(b.String()) //nolint:gosec // escaped above
		lib.pages[x.folder] = p
	}
}

// folder returns the pages of a folder, with the named ones first.
func (lib *library) folder(name string, first []string) (all []*page) {
	for p, one := range lib.pages {
		if path.Dir(p) == name {
			all = append(all, one)
		}
	}
	rank := func(p *page) int {
		if i := slices.Index(first, path.Base(p.path)); i >= 0 {
			return i
		}
		return len(first)
	}
	slices.SortFunc(all, func(a, b *page) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a.path, b.path)
	})
	return all
}

func (lib *library) named(names []string) (all []*page) {
	for _, n := range names {
		if p := lib.pages[n]; p != nil {
			all = append(all, p)
		}
	}
	return all
}
