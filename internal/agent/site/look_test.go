package site

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/agent/knowledge"
	"carillon/internal/base/egress"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/sites"
	"carillon/internal/store/storetest"
)

// web is a site whose pages a test changes. It counts requests, and refuses two at a time.
type web struct {
	t   *testing.T
	url string

	mu     sync.Mutex
	pages  map[string]string // HTML by path
	header map[string]http.Header
	status map[string]int
	asked  []string // paths, with "304" after a page that has not changed
	busy   bool
}

func newWeb(t *testing.T, pages map[string]string) *web {
	t.Helper()
	w := &web{t: t, pages: pages, header: map[string]http.Header{}, status: map[string]int{}}
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	w.url = server.URL
	return w
}

func (w *web) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	if w.busy {
		w.t.Error("two requests at a time")
	}
	w.busy = true
	defer func() { w.busy = false; w.mu.Unlock() }()
	if agent := r.Header.Get("User-Agent"); agent != "Carillon" {
		w.t.Errorf("User-Agent %q", agent)
	}
	path := r.URL.RequestURI()
	body, ok := w.pages[path]
	maps.Copy(out.Header(), w.header[path])
	switch {
	case w.status[path] != 0:
		w.asked = append(w.asked, path)
		out.WriteHeader(w.status[path])
		return
	case !ok:
		w.asked = append(w.asked, path)
		http.NotFound(out, r)
		return
	}
	etag := `"` + hash(body) + `"`
	out.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		w.asked = append(w.asked, path+" 304")
		out.WriteHeader(http.StatusNotModified)
		return
	}
	w.asked = append(w.asked, path)
	if out.Header().Get("Content-Type") == "" {
		out.Header().Set("Content-Type", "text/html; charset=utf-8")
	}
	_, _ = io.WriteString(out, body)
}

// edit changes the site, and forgets the requests.
func (w *web) edit(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = nil
	f()
}

// requests returns the pages that were asked for, without robots.txt and the sitemap.
func (w *web) requests() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.asked), func(p string) bool { return p == "/robots.txt" || strings.HasPrefix(p, "/sitemap") })
}

// world is a company with a base and a site.
type world struct {
	t       *testing.T
	store   *store.Store
	looks   *Looks
	site    *Site
	key     sites.Key
	company string
}

func newWorld(t *testing.T, s *store.Store, site Site) *world {
	t.Helper()
	w := &world{t: t, store: s, site: &site, company: carillon.NewID(time.Now())}
	if err := s.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.PutCompany(ctx, tx, &carillon.Company{ID: w.company, Name: w.company}, time.Now())
	}); err != nil {
		t.Fatal(err)
	}
	base := &knowledge.Base{ID: "faq", Articles: []knowledge.Article{{Title: "Written", Text: "By hand."}}}
	if _, err := s.Resources.AddResource(t.Context(), w.company, knowledge.Kind(), base); err != nil {
		t.Fatal(err)
	}
	site.Knowledge = "faq"
	if err := site.Validate(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Resources.AddResource(t.Context(), w.company, Kind(), &site); err != nil {
		t.Fatal(err)
	}
	w.key = sites.Key{CompanyID: w.company, ID: site.ID}
	w.looks = New(Options{
		Store: s, Node: "n", Pause: time.Nanosecond, Log: slog.New(slog.DiscardHandler),
		Client: NewClient(egress.Options{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}),
	})
	return w
}

func sqlite(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: storetest.Folder(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// look reads the site, and returns what the look changed by address, with the fault as "".
func (w *world) look(whole bool) map[string]string {
	w.t.Helper()
	if err := w.store.Sites.Ask(w.t.Context(), w.key, whole, time.Now()); err != nil {
		w.t.Fatal(err)
	}
	before, err := w.store.Sites.Looks(w.t.Context(), w.key)
	if err != nil {
		w.t.Fatal(err)
	}
	if !w.looks.look(w.t.Context(), w.key) {
		w.t.Fatal("the look failed")
	}
	state, err := w.store.Sites.Find(w.t.Context(), w.key, time.Now())
	if err != nil || state.Reading || !state.DueAt.After(time.Now().Add(23*time.Hour)) {
		w.t.Fatalf("%+v, %v", state, err)
	}
	after, err := w.store.Sites.Looks(w.t.Context(), w.key)
	if err != nil {
		w.t.Fatal(err)
	}
	found := map[string]string{}
	if state.Fault != "" {
		found[""] = state.Fault + " " + state.Detail
	}
	if len(after) == len(before) {
		return found
	}
	text, err := w.store.Sites.Changes(w.t.Context(), w.key, after[0].ID)
	if err != nil {
		w.t.Fatal(err)
	}
	var changes []Change
	if err := json.Unmarshal([]byte(text), &changes); err != nil {
		w.t.Fatal(err)
	}
	for _, c := range changes {
		u, err := url.Parse(c.URL)
		if err != nil {
			w.t.Fatal(err)
		}
		found[u.Path] = c.Kind + ": " + c.Before + " > " + c.After
	}
	return found
}

// articles returns the texts of the base by title.
func (w *world) articles() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	for _, a := range w.base().Articles {
		all[a.Title] = a.Text
	}
	return all
}

func (w *world) base() *knowledge.Base {
	w.t.Helper()
	x, err := w.store.Resources.Resource(w.t.Context(), w.company, knowledge.Kind(), "faq")
	if err != nil {
		w.t.Fatal(err)
	}
	return x.(*knowledge.Base)
}

func (w *world) put(b *knowledge.Base) {
	w.t.Helper()
	if _, err := w.store.Resources.ReplaceResource(w.t.Context(), w.company, knowledge.Kind(), b); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) want(whole bool, want map[string]string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.look(whole)); diff != "" {
		w.t.Error(diff)
	}
}

func article(title, text string) string {
	return "<html lang=en><title>" + title + "</title><nav>Menu</nav><p>" + text + "</p>"
}

func sitemapOf(url string, paths ...string) string {
	var b strings.Builder
	for _, p := range paths {
		fmt.Fprintf(&b, "<url><loc>%s%s</loc></url>", url, p)
	}
	return `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + b.String() + "</urlset>"
}

func eachEngine(t *testing.T, f func(t *testing.T, s *store.Store)) {
	t.Run("sqlite", func(t *testing.T) { f(t, sqlite(t)) })
	t.Run("postgres", func(t *testing.T) {
		s, err := store.Open(t.Context(), store.Options{DatabaseURL: storetest.PatientPostgres(t)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		f(t, s)
	})
}

func TestASiteIsReadAndLookedAtAgain(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *store.Store) {
		site := newWeb(t, map[string]string{"/a": article("A", "One."), "/b": article("B", "Two."), "/c": article("C", "Three.")})
		site.pages["/"] = "<title>Home</title><p>Welcome. <a href=/a>A</a> <a href=b#x>B</a> <a href=/c>C</a> " +
			"<a href=//other.test/>x</a> <a href=x.pdf>P</a>"
		w := newWorld(t, s, Site{Address: site.url})
		w.want(false, map[string]string{
			"/": "added:  > Welcome. A B C x P", "/a": "added:  > One.", "/b": "added:  > Two.", "/c": "added:  > Three.",
		})
		if diff := cmp.Diff([]string{"/", "/a", "/b", "/c"}, site.requests()); diff != "" {
			t.Error(diff)
		}
		for _, a := range w.base().Articles[1:] {
			if a.Site != w.site.ID || a.Language != "en" && a.Title != "Home" || !strings.HasPrefix(a.URL, site.url+"/") {
				t.Errorf("%+v", a)
			}
		}
		// Nothing has changed: no page is sent again, and no look is kept.
		site.edit(func() {})
		w.want(false, map[string]string{})
		if diff := cmp.Diff([]string{"/ 304", "/a 304", "/b 304", "/c 304"}, site.requests()); diff != "" {
			t.Error(diff)
		}
		site.edit(func() {
			site.pages["/a"] = article("A", "One and a half.")
			site.pages["/"] += "<a href=/d>D</a>"
			site.pages["/d"] = article("D", "Four.")
			delete(site.pages, "/b")
		})
		w.want(false, map[string]string{
			"/": "changed: Welcome. A B C x P > Welcome. A B C x PD", "/a": "changed: One. > One and a half.", "/b": "removed: Two. > ",
			"/d": "added:  > Four.",
		})
		if diff := cmp.Diff(map[string]string{
			"Written": "By hand.", "Home": "Welcome. A B C x PD", "A": "One and a half.", "C": "Three.", "D": "Four.",
		}, w.articles()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestPeoplesEditsAreKept(t *testing.T) {
	site := newWeb(t, map[string]string{
		"/":  "<title>Home</title><a href=/a>1</a><a href=/b>2</a><a href=/c>3</a><a href=/d>4</a>",
		"/a": article("A", "One."), "/b": article("B", "Two."), "/c": article("C", "Three."), "/d": article("D", "Four."),
	})
	w := newWorld(t, sqlite(t), Site{Address: site.url})
	w.look(false)
	b := w.base()
	b.Articles = slices.DeleteFunc(b.Articles, func(a knowledge.Article) bool { return a.Title == "C" })
	for i := range b.Articles {
		switch b.Articles[i].Title {
		case "A", "B":
			b.Articles[i].Text += " Edited."
		case "D":
			b.Articles[i].Questions = []string{"How many?"}
		}
	}
	w.put(b)
	w.want(false, map[string]string{})
	site.edit(func() {
		site.pages["/a"], site.pages["/c"], site.pages["/d"] = article("A", "New."), article("C", "New three."), article("D", "New four.")
		delete(site.pages, "/b")
	})
	w.want(false, map[string]string{
		"/a": "kept: One. Edited. > New.", "/b": "kept_gone: Two. Edited. > ", "/c": "left_out:  > New three.",
		"/d": "changed: Four. > New four.",
	})
	if got := w.articles(); got["A"] != "One. Edited." || got["B"] != "Two. Edited." || got["D"] != "New four." || len(got) != 5 {
		t.Error(got)
	}
	w.want(false, map[string]string{}) // it is said once
	// With the site's text again, an article follows the site again; and everything can be asked for.
	b = w.base()
	for i := range b.Articles {
		if b.Articles[i].Title == "A" {
			b.Articles[i].Text = "New."
		}
		if b.Articles[i].Title == "D" && !slices.Equal(b.Articles[i].Questions, []string{"How many?"}) {
			t.Error(b.Articles[i])
		}
	}
	w.put(b)
	site.edit(func() { site.pages["/a"] = article("A", "Newer.") })
	w.want(true, map[string]string{"/a": "changed: New. > Newer.", "/c": "added:  > New three."})
}

func TestASiteThatFailsKeepsItsArticles(t *testing.T) {
	pages := map[string]string{}
	var paths []string
	for i := range 10 {
		path := fmt.Sprintf("/p%d", i)
		paths = append(paths, path)
		pages[path] = article(path, "Text of "+path)
	}
	site := newWeb(t, maps.Clone(pages))
	site.pages["/"] = "<title>Home</title><p>Home.</p>"
	site.pages["/sitemap.xml"] = sitemapOf(site.url, paths...)
	w := newWorld(t, sqlite(t), Site{Address: site.url})
	w.look(false)
	whole := w.articles()
	if len(whole) != 12 {
		t.Fatal(whole)
	}
	unharmed := func(want string) {
		t.Helper()
		w.want(false, map[string]string{"": want})
		if diff := cmp.Diff(whole, w.articles()); diff != "" {
			t.Error(diff)
		}
	}
	site.edit(func() { site.status["/"] = 503 })
	unharmed("status 503")
	site.edit(func() { site.status["/robots.txt"] = 500; delete(site.status, "/") })
	unharmed("unreachable robots.txt: 500")
	site.edit(func() {
		delete(site.status, "/robots.txt")
		site.pages["/robots.txt"] = "User-agent: *\nDisallow: /\n"
	})
	unharmed("robots robots.txt")
	site.edit(func() {
		delete(site.pages, "/robots.txt")
		site.header["/"] = http.Header{"Location": {"https://elsewhere.test/"}}
		site.status["/"] = 301
	})
	unharmed("moved elsewhere.test")
	site.edit(func() {
		site.header, site.status = map[string]http.Header{}, map[string]int{}
		for _, p := range paths[:6] {
			site.pages[p] = article("Sorry", "We are being rebuilt.")
		}
	})
	unharmed("shrunk 6 / 11")
	site.edit(func() {
		maps.Copy(site.pages, pages)
		for _, p := range paths[:6] {
			delete(site.pages, p)
		}
	})
	unharmed("shrunk 6 / 11")
	site.edit(func() { site.pages["/p0"] = pages["/p0"] })
	if got := w.look(false); len(got) != 5 {
		t.Error(got)
	}
	if whole = w.articles(); len(whole) != 7 {
		t.Error(whole)
	}
	site.edit(func() {
		for _, p := range paths[3:] {
			delete(site.pages, p)
		}
	})
	unharmed("shrunk 4 / 6")
	// A person may accept the loss.
	if got := w.look(true); len(got) != 4 {
		t.Error(got)
	}
	if diff := cmp.Diff(map[string]string{"Written": "By hand.", "Home": "Home.", "/p0": "Text of /p0"}, w.articles()); diff != "" {
		t.Error(diff)
	}
}

func TestRobotsAndDirectivesAreObeyed(t *testing.T) {
	site := newWeb(t, map[string]string{})
	var zipped strings.Builder
	z := gzip.NewWriter(&zipped)
	_, _ = io.WriteString(z, sitemapOf(site.url, "/help/a", "/help/private/x", "/help/b", "/help/old", "/other", "/help/dup", "/help/meta",
		"/help/header", "/help/canonical", "/help/moved", "/help/picture", "/help/latin", "/help/away"))
	_ = z.Close()
	site.pages = map[string]string{
		"/robots.txt": "User-agent: *\nDisallow: /\n\nUser-agent: carillon\nDisallow: /help/private\nSitemap: " + site.url + "/map.xml\n",
		"/map.xml": `<sitemapindex><sitemap><loc>` + site.url + `/map.xml</loc></sitemap><sitemap><loc>` + site.url +
			`/part.gz</loc></sitemap><sitemap><loc>https://other.test/x.xml</loc></sitemap></sitemapindex>`,
		"/part.gz": zipped.String(), "/help/": "<title>Help</title><p>Help.</p>", "/help/a": article("A", "One."),
		"/help/private/x": article("X", "Secret."), "/help/b": article("B", "Two."), "/help/old/y": article("Y", "Old."),
		"/other": article("O", "Other."), "/help/dup": article("A again", "One."),
		"/help/meta":      "<meta name=robots content='noindex, follow'><p>No.</p>",
		"/help/header":    article("H", "No."),
		"/help/canonical": "<link rel=canonical href=/help/a><p>One, printed.</p>", "/help/picture": "\x89PNG",
		"/help/latin": "<title>L</title><p>Ma\xf1ana.",
	}
	site.header = map[string]http.Header{
		"/help/header": {"X-Robots-Tag": {"googlebot: nofollow", "noindex"}}, "/help/moved": {"Location": {"/help/b"}},
		"/help/away": {"Location": {"https://other.test/"}}, "/help/picture": {"Content-Type": {"image/png"}},
		"/help/latin": {"Content-Type": {"text/html; charset=iso-8859-1"}},
	}
	site.status = map[string]int{"/help/moved": 302, "/help/away": 301}
	w := newWorld(t, sqlite(t), Site{Address: site.url + "/help/", Exclude: []string{"/help/old"}})
	w.look(false)
	want := map[string]string{"Written": "By hand.", "Help": "Help.", "A": "One.", "B": "Two.", "L": "Mañana."}
	if diff := cmp.Diff(want, w.articles()); diff != "" {
		t.Error(diff)
	}
	for _, path := range []string{"/help/private/x", "/help/old", "/other"} {
		if slices.Contains(site.requests(), path) {
			t.Error(path, "was asked for")
		}
	}
}

func TestLinesOfEveryPageAreLeftOut(t *testing.T) {
	site := newWeb(t, map[string]string{"/": "<title>Home</title>"})
	for i := range 8 {
		site.pages["/"] += fmt.Sprintf("<a href=/p%d>x</a>", i)
		site.pages[fmt.Sprintf("/p%d", i)] = fmt.Sprintf(
			"<title>P%d</title><div><div>Shop</div><div>Basket (0)</div></div><p>Text %d.</p><div>© Acme</div>", i, i)
	}
	w := newWorld(t, sqlite(t), Site{Address: site.url, MaxPages: 6})
	w.look(false)
	got := w.articles()
	if got["P0"] != "Text 0." || len(got) != 7 {
		t.Error(got)
	}
	site.edit(func() { site.pages["/p0"] = strings.Replace(site.pages["/p0"], "Text 0", "Text X", 1) })
	w.want(false, map[string]string{"/p0": "changed: Text 0. > Text X."})
}

func TestABaseWithoutRoomSaysSo(t *testing.T) {
	site := newWeb(t, map[string]string{"/": "<title>Home</title><p>" + strings.Repeat("Long text. ", 5000)})
	w := newWorld(t, sqlite(t), Site{Address: site.url})
	b := w.base()
	for len(b.Articles) < 10_000 {
		b.Articles = append(b.Articles, knowledge.Article{Title: "T", Text: "x"})
	}
	w.put(b)
	w.want(false, map[string]string{"": "full Must have at most 10000 entries"})
}

// One node of two reads a site, and one that ends leaves it to the other.
func TestOneNodeReadsASite(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *store.Store) {
		site := newWeb(t, map[string]string{"/": article("A", "One.")})
		w := newWorld(t, s, Site{Address: site.url})
		now := time.Now()
		due, err := s.Sites.Due(t.Context(), now, 10, nil)
		if diff := cmp.Diff([]sites.Key{w.key}, due); diff != "" || err != nil {
			t.Fatal(diff, err)
		}
		if due, err := s.Sites.Due(t.Context(), now, 10, []string{w.company}); len(due) != 0 || err != nil {
			t.Error(due, err)
		}
		claim := func(node string, at time.Time) bool {
			_, _, ok, err := s.Sites.Claim(t.Context(), w.key, node, at, at.Add(lease))
			if err != nil {
				t.Error(err)
			}
			return ok
		}
		if !claim("a", now) || claim("b", now.Add(time.Second)) {
			t.Error("the lease does not hold")
		}
		if ok, err := s.Sites.Progress(t.Context(), w.key, "b", 1, 2, now); ok || err != nil {
			t.Error("another node's progress", err)
		}
		if !claim("b", now.Add(lease+time.Second)) {
			t.Error("the lease does not end")
		}
		if ok, err := s.Sites.Progress(t.Context(), w.key, "a", 1, 2, now); ok || err != nil {
			t.Error("the old node goes on", err)
		}
		if err := s.Sites.Release(t.Context(), w.key, "b", now); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		looked := make(chan struct{}, 1)
		w.looks.o.Looked = func() { looked <- struct{}{} }
		ended := make(chan error)
		go func() { ended <- w.looks.Run(ctx) }()
		<-looked
		if n := len(w.articles()); n < 2 {
			t.Errorf("%d articles after the look", n)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestSitesAreChecked(t *testing.T) {
	for _, c := range []struct {
		site  Site
		field string
	}{
		{Site{Address: "https://acme.test", Knowledge: "faq"}, ""},
		{Site{Address: "https://acme.test", Knowledge: "faq", MaxPages: 2000, Include: []string{"/a"}, Exclude: []string{"/a/b/"}}, ""},
		{Site{Address: "https://acme.test"}, "knowledge"},
		{Site{Knowledge: "faq"}, "address"},
		{Site{Address: "ftp://acme.test", Knowledge: "faq"}, "address"},
		{Site{Address: "https://u:p@acme.test", Knowledge: "faq"}, "address"},
		{Site{Address: "https://acme.test", Knowledge: "faq", MaxPages: 2001}, "max_pages"},
		{Site{Address: "https://acme.test", Knowledge: "faq", MaxPages: -1}, "max_pages"},
		{Site{Address: "https://acme.test", Knowledge: "faq", Include: []string{"help"}}, "include.0"},
		{Site{Address: "https://acme.test", Knowledge: "faq", Exclude: []string{"/a", "/b c"}}, "exclude.1"},
		{Site{Address: "https://acme.test", Knowledge: "faq", Include: make([]string, 51)}, "include"},
	} {
		err := c.site.Validate()
		if (err == nil) != (c.field == "") || err != nil && !strings.Contains(fmt.Sprintf("%+v", fields(err)), c.field) {
			t.Errorf("%+v: %v", c.site, err)
		}
	}
	s := Site{Address: "https://acme.test/help"}
	for path, want := range map[string]bool{"/help": true, "/help/a": true, "/help.html": true, "/helpers": false, "/": false} {
		if s.covers(path, "/help") != want {
			t.Error(path)
		}
	}
}

// fields returns the fields of joined errors.
func fields(err error) (all []any) {
	joined, _ := err.(interface{ Unwrap() []error })
	for _, err := range joined.Unwrap() {
		if e, ok := errors.AsType[*carillon.Error](err); ok {
			all = append(all, e.Details.Find("field"))
		}
	}
	return all
}
