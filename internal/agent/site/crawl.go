package site

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/temoto/robotstxt"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"carillon/internal/agent/knowledge"
	"carillon/internal/base/egress"
)

const (
	maxPause    = 10 * time.Second // that a robots.txt may ask for
	maxSitemaps = 50
	maxFailures = 10        // in a row; then the rest is left to the next look
	maxLook     = 256 << 20 // bytes of all pages
	maxQueue    = 20_000    // addresses that wait
)

// The faults of a look. The panel has a sentence for each.
const (
	Unreachable = "unreachable" // no response; the detail says why
	Status      = "status"      // the address has a status other than 200
	Robots      = "robots"      // robots.txt or the page itself does not allow it
	Moved       = "moved"       // to another host
	NoPages     = "no_pages"    // no page with a text
	Interrupted = "interrupted" // the site failed on the way, or took too long; the rest follows tomorrow
	Shrunk      = "shrunk"      // more than half of the pages are gone
	Full        = "full"        // the base has no room
)

// faultError is a look that changes nothing.
type faultError struct{ fault, detail string }

func (e *faultError) Error() string { return e.fault + ": " + e.detail }

// record is a page as it was read last.
type record struct {
	URL      string `json:"u"`
	ETag     string `json:"e,omitempty"`
	Modified string `json:"m,omitempty"`
	Hash     string `json:"h"`
}

// memory is kept from one look to the next.
type memory struct {
	Pages  []record `json:"pages"`
	Common []string `json:"common"` // hashes of the lines that are on most pages
}

// page is a page that was read.
type page struct {
	record
	article knowledge.Article
}

// crawl is one look at a site.
type crawl struct {
	client *egress.Client
	site   *Site
	start  *url.URL
	robots *robotstxt.Group
	pause  time.Duration
	whole  bool // ask for all pages, changed or not
	known  map[string]record
	common map[string]bool
	report func(ctx context.Context, done, found int) error // fails if the look must end

	queue   []string
	queued  map[string]bool
	follow  bool // links, because there is no sitemap
	bytes   int64
	done    int
	failed  int // in a row
	fresh   []page
	same    map[string]bool // pages that have not changed
	gone    map[string]bool // pages that are no longer there
	stopped bool            // before all pages were read
}

// run reads the pages. Errors: *faultError, that of the context and those of report.
func (c *crawl) run(ctx context.Context) error {
	c.queued, c.same, c.gone = map[string]bool{}, map[string]bool{}, map[string]bool{}
	named, err := c.readRobots(ctx)
	if err != nil {
		return err
	}
	c.add(c.start)
	for _, u := range c.sitemaps(ctx, named) {
		c.add(u)
	}
	c.follow = len(c.queue) < 2
	for _, address := range slices.Sorted(maps.Keys(c.known)) {
		if u, err := url.Parse(address); err == nil && !c.add(u) && !c.queued[address] {
			c.gone[address] = true // the site covers it no longer
		}
	}
	for i := 0; i < len(c.queue); i++ {
		if c.done >= c.site.MaxPages || c.failed >= maxFailures || c.bytes > maxLook {
			c.stopped = c.failed >= maxFailures || c.bytes > maxLook
			break
		}
		if err := c.report(ctx, c.done, min(len(c.queue), c.site.MaxPages)); err != nil {
			return err
		}
		if err := c.visit(ctx, c.queue[i], i == 0); err != nil {
			return err
		}
	}
	c.trim()
	return ctx.Err()
}

// wait pauses between two requests.
func (c *crawl) wait(ctx context.Context) error {
	t := time.NewTimer(c.pause)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// readRobots reads robots.txt, and returns the sitemaps that it names.
func (c *crawl) readRobots(ctx context.Context) (maps []string, err error) {
	u := *c.start
	u.Path, u.RawPath, u.RawQuery = "/robots.txt", "", ""
	resp, err := c.fetch(ctx, &u, maxRobots, "", "")
	status, body := http.StatusNotFound, []byte(nil)
	var moved *movedError
	switch {
	case errors.Is(err, errTooLarge) || errors.As(err, &moved):
	case err != nil:
		return nil, unreachable(ctx, err)
	default:
		status, body = resp.status, resp.body
	}
	if status >= 500 {
		return nil, &faultError{Unreachable, "robots.txt: " + strconv.Itoa(status)}
	}
	data, err := robotstxt.FromStatusAndBytes(status, body)
	if err != nil {
		data, _ = robotstxt.FromStatusAndBytes(http.StatusNotFound, nil) // an unreadable robots.txt forbids nothing
	}
	c.robots = data.FindGroup(agentName)
	c.pause = max(c.pause, min(c.robots.CrawlDelay, maxPause))
	return data.Sitemaps, nil
}

// unreachable converts the error of a request.
func unreachable(ctx context.Context, err error) error {
	var moved *movedError
	var denied *egress.DeniedError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &moved):
		return &faultError{Moved, moved.host}
	case errors.As(err, &denied):
		return &faultError{Unreachable, denied.Reason}
	}
	return &faultError{Unreachable, err.Error()}
}

// sitemap is a list of pages, or of sitemaps.
type sitemap struct {
	Pages []struct {
		Loc string `xml:"loc"`
	} `xml:"url"`
	Maps []struct {
		Loc string `xml:"loc"`
	} `xml:"sitemap"`
}

// sitemaps returns the pages of the sitemaps that robots.txt names, or else of the usual one.
func (c *crawl) sitemaps(ctx context.Context, named []string) (pages []*url.URL) {
	if len(named) == 0 {
		u := *c.start
		u.Path, u.RawPath, u.RawQuery = "/sitemap.xml", "", ""
		named = []string{u.String()}
	}
	seen := map[string]bool{}
	for i := 0; i < len(named) && i < maxSitemaps && len(pages) < c.site.MaxPages; i++ {
		u, err := c.start.Parse(strings.TrimSpace(named[i]))
		if err != nil || !c.sameHost(u) || seen[u.String()] || c.wait(ctx) != nil {
			continue
		}
		seen[u.String()] = true
		resp, err := c.fetch(ctx, u, maxSitemap, "", "")
		if err != nil || resp.status != http.StatusOK {
			continue
		}
		text, err := decompressed(resp.body)
		if err != nil {
			continue
		}
		var m sitemap
		d := xml.NewDecoder(bytes.NewReader(text))
		d.Strict = false
		d.CharsetReader = nil
		_ = d.Decode(&m) // as far as it can be read
		for _, x := range m.Maps {
			named = append(named, x.Loc)
		}
		for _, x := range m.Pages {
			if p, err := c.start.Parse(strings.TrimSpace(x.Loc)); err == nil && c.covered(p) && len(pages) < maxQueue {
				pages = append(pages, p)
			}
		}
	}
	return pages
}

// covered reports whether an address is a page of the site.
func (c *crawl) covered(u *url.URL) bool {
	return c.sameHost(u) && c.site.covers(u.Path, c.start.Path) && len(u.String()) <= maxAddress
}

// add queues an address once, and reports whether it was queued.
func (c *crawl) add(u *url.URL) bool {
	x := *u
	x.Fragment, x.RawFragment = "", ""
	x.Scheme, x.Host = c.start.Scheme, c.start.Host
	if x.Path == "" {
		x.Path = "/"
	}
	address := x.String()
	if c.queued[address] || len(c.queue) >= maxQueue || address != c.start.String() && !c.covered(&x) {
		return false
	}
	if skipped[strings.ToLower(path.Ext(x.Path))] {
		return false
	}
	c.queued[address] = true
	c.queue = append(c.queue, address)
	return true
}

// skipped are the endings of files that are no pages.
//
//nolint:gochecknoglobals // read only
var skipped = map[string]bool{
	".jpg": true, ".jpeg": true, ".png": true, ".gif": true, ".svg": true, ".webp": true, ".ico": true, ".css": true, ".js": true,
	".pdf": true, ".zip": true, ".gz": true, ".mp3": true, ".mp4": true, ".webm": true, ".woff": true, ".woff2": true, ".xml": true,
	".json": true, ".docx": true, ".xlsx": true, ".pptx": true, ".exe": true, ".dmg": true, ".rss": true, ".ics": true,
}

// visit reads a page. Only a fault of the first page, the site's address, ends the look.
func (c *crawl) visit(ctx context.Context, address string, first bool) error {
	u, err := url.Parse(address)
	if err != nil {
		return nil //nolint:nilerr // no page has that address
	}
	if !c.robots.Test(u.RequestURI()) {
		c.gone[address] = true
		if first {
			return &faultError{Robots, "robots.txt"}
		}
		return nil
	}
	if err := c.wait(ctx); err != nil {
		return err
	}
	c.done++
	before := c.known[address]
	if c.whole || c.follow && before.Hash == "" {
		before.ETag, before.Modified = "", ""
	}
	resp, err := c.fetch(ctx, u, maxPage, before.ETag, before.Modified)
	var moved *movedError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && first:
		return unreachable(ctx, err)
	case errors.As(err, &moved) || errors.Is(err, errTooLarge):
		c.gone[address] = true
		return nil
	case err != nil:
		c.failed++
		return nil //nolint:nilerr // it is counted
	case resp.status == http.StatusNotModified && before.Hash != "":
		c.failed = 0
		c.same[address] = true
		return nil
	case resp.status >= 500 || resp.status == http.StatusTooManyRequests || resp.status == http.StatusRequestTimeout:
		if first {
			return &faultError{Status, strconv.Itoa(resp.status)}
		}
		c.failed++
		return nil
	case resp.status != http.StatusOK:
		if first {
			return &faultError{Status, strconv.Itoa(resp.status)}
		}
		c.gone[address] = true
	case first && resp.url.String() != address && !c.covered(resp.url):
		return &faultError{Moved, resp.url.Path}
	default:
		c.take(address, resp)
	}
	c.failed = 0
	return nil
}

// take reads the article of a page, and its links.
func (c *crawl) take(address string, resp *response) {
	own := address
	if final := resp.url.String(); final != address {
		c.gone[address] = true // it leads to another page
		if u := resp.url; !c.covered(u) || c.queued[final] {
			return
		}
		own = final
		c.queued[own] = true
	}
	var p page
	text, err := resp.text()
	switch {
	case resp.noindex || !isPage(resp.kind) || err != nil:
		c.gone[own] = true
		return
	case resp.kind == "text/html" || resp.kind == "application/xhtml+xml":
		root, err := knowledge.Parse(bytes.NewReader(text))
		if err != nil {
			c.gone[own] = true
			return
		}
		h := headOf(root)
		if c.follow && !h.nofollow {
			c.links(root, resp.url)
		}
		if h.noindex {
			c.gone[own] = true
			return
		}
		if canonical, err := resp.url.Parse(h.canonical); err == nil && h.canonical != "" && c.covered(canonical) {
			canonical.Fragment = ""
			canonical.Scheme, canonical.Host = c.start.Scheme, c.start.Host
			if x := canonical.String(); x != own && !c.gone[x] {
				// The canonical page speaks for this one.
				c.gone[own] = true
				c.add(canonical)
				return
			}
		}
		p.article = knowledge.ArticleOf(root)
	default:
		p.article = knowledge.FromMarkdown(string(text))
	}
	if !c.covered(resp.url) {
		return // the address alone, which is read for its links
	}
	p.URL, p.ETag, p.Modified = own, resp.etag, resp.modified
	p.article.URL = own
	c.fresh = append(c.fresh, p)
}

// head has the directives for robots in a page.
type head struct {
	noindex, nofollow bool
	canonical         string
}

func headOf(root *html.Node) (h head) {
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.DataAtom { //nolint:exhaustive // the others say nothing to robots
		case atom.Meta:
			name := strings.ToLower(attribute(n, "name"))
			if name == "robots" || name == strings.ToLower(agentName) {
				content := strings.ToLower(attribute(n, "content"))
				h.noindex = h.noindex || excludes(content)
				h.nofollow = h.nofollow || strings.Contains(content, "nofollow") || strings.Contains(content, "none")
			}
		case atom.Link:
			if h.canonical == "" && slices.Contains(strings.Fields(strings.ToLower(attribute(n, "rel"))), "canonical") {
				h.canonical = attribute(n, "href")
			}
		case atom.Body:
			return h
		}
	}
	return h
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// links queues the links of a page.
func (c *crawl) links(root *html.Node, at *url.URL) {
	base := at
	for n := range root.Descendants() {
		switch {
		case n.Type != html.ElementNode:
		case n.DataAtom == atom.Base:
			if u, err := at.Parse(attribute(n, "href")); err == nil {
				base = u
			}
		case n.DataAtom == atom.A && !slices.Contains(strings.Fields(strings.ToLower(attribute(n, "rel"))), "nofollow"):
			if href := strings.TrimSpace(attribute(n, "href")); href != "" {
				if u, err := base.Parse(href); err == nil && c.covered(u) {
					c.add(u)
				}
			}
		}
	}
}

const (
	minCommon  = 5   // minimum number of pages for the recognition of lines that most of them have
	maxCommon  = 500 // lines
	commonLine = 300 // bytes of such a line
)

// trim removes the lines that most pages have, gives titles and hashes, and drops pages with the text of another one.
func (c *crawl) trim() {
	count := map[string]int{}
	for _, p := range c.fresh {
		once := map[string]bool{}
		for line := range strings.SplitSeq(p.article.Text, "\n") {
			if key := lineKey(line); key != "" && !once[key] {
				once[key] = true
				count[key]++
			}
		}
	}
	if len(c.fresh) >= minCommon && len(c.fresh) > len(c.same) {
		for key, n := range count {
			if n*2 > len(c.fresh) && len(c.common) < maxCommon {
				c.common[key] = true
			}
		}
	}
	texts := map[string]bool{}
	kept := c.fresh[:0]
	for _, p := range c.fresh {
		a := &p.article
		a.Site = c.site.ID
		a.Text = c.without(a.Text)
		if u, err := url.Parse(p.URL); err == nil && a.Title == "" {
			a.Title = cmp.Or(strings.Trim(path.Base(u.Path), "/."), u.Host)
		}
		if p.Hash = hashOf(a); a.Text == "" || texts[a.Text] {
			c.gone[p.URL] = true
			continue
		}
		texts[a.Text] = true
		kept = append(kept, p)
	}
	c.fresh = kept
}

// without returns a text without the lines that most pages have.
func (c *crawl) without(text string) string {
	if len(c.common) == 0 {
		return text
	}
	var lines []string
	blank := true
	for line := range strings.SplitSeq(text, "\n") {
		if c.common[lineKey(line)] || blank && strings.TrimSpace(line) == "" {
			continue
		}
		blank = strings.TrimSpace(line) == ""
		lines = append(lines, line)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// lineKey returns the key of a line that may be common, else an empty text.
func lineKey(line string) string {
	if line = strings.TrimSpace(line); line == "" || len(line) > commonLine {
		return ""
	}
	return hash(line)
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// hashOf returns the hash of an article's text as the site has it.
func hashOf(a *knowledge.Article) string {
	return hash(a.Title + "\x00" + a.Text + "\x00" + a.Language)
}
