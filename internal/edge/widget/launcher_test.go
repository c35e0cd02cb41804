package widget

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/logo"
	"carillon/internal/store/widgets"
)

func TestAStyleSheetHasNothingOfTheAppearanceButAColorAndAPlace(t *testing.T) {
	plain := (&Appearance{}).css("chat")
	for _, bad := range []Appearance{
		{PrimaryColor: "#2f5bd7}button{display:none"},
		{PrimaryColor: "x#2f5bd7"},
		{PrimaryColor: "#2f5bd"},
		{PrimaryColor: "red"},
		{PrimaryColor: "#2f5bd7\n"},
		{Position: "};"},
		{Title: "}"},
		{Logo: "}"},
	} {
		if got := bad.css("chat"); got != plain {
			t.Errorf("%+v: %s", bad, got)
		}
	}
	got := (&Appearance{PrimaryColor: "#FFEE00", Position: "top-left", Animation: "pulse"}).css("voice")
	for _, part := range []string{
		"left:20px;top:20px", "left:20px;top:88px", "background:#FFEE00;color:#15130f", voiceIcon, closeIcon, "@keyframes",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("lacks %s: %s", part, got)
		}
	}
	if strings.Contains(got, "{side}") || strings.Contains(got, "{color}") {
		t.Error(got)
	}
}

func TestStartersAndLabelsAreChecked(t *testing.T) {
	long := strings.Repeat("x", 81)
	for name, c := range map[string]struct {
		w     Widget
		field string
	}{
		"five":      {Widget{Starters: map[string][]string{"en": {"a", "b", "c", "d", "e"}}}, "starters.en"},
		"empty":     {Widget{Starters: map[string][]string{"en": {"a", " "}}}, "starters.en.1"},
		"long":      {Widget{Starters: map[string][]string{"en": {long}}}, "starters.en.0"},
		"two lines": {Widget{Starters: map[string][]string{"en": {"a\nb"}}}, "starters.en.0"},
		"twice":     {Widget{Starters: map[string][]string{"en": {"a", "a "}}}, "starters.en.1"},
		"language":  {Widget{Starters: map[string][]string{"not a language": {"a"}}}, "starters.not a language"},
		"label":     {Widget{Texts: map[string]map[string]string{"en": {"launcher": long[:31]}}}, "texts.en.launcher"},
		"logo":      {Widget{Appearance: Appearance{Logo: "../x"}}, "appearance.logo"},
	} {
		c.w.Kind, c.w.Name, c.w.Language = "chat", "Chat", "en"
		if err := c.w.Validate(); err == nil || !strings.Contains(fieldsOf(err), c.field) {
			t.Errorf("%s: %v, want %s", name, err, c.field)
		}
	}
	good := Widget{
		Kind: "chat", Name: "Chat", Language: "en", Starters: map[string][]string{"en": {" When? ", "b", "c", "d"}, "pt-BR": {"Onde?"}},
		Texts: map[string]map[string]string{"en": {"launcher": long[:30]}}, Appearance: Appearance{Logo: logo.Digest(nil)},
	}
	if err := good.Validate(); err != nil || good.Starters["en"][0] != "When?" {
		t.Error(err, good.Starters)
	}
}

// fieldsOf returns the fields of joined errors.
func fieldsOf(err error) string {
	var all []string
	joined, _ := err.(interface{ Unwrap() []error })
	for _, one := range joined.Unwrap() {
		if e, ok := errors.AsType[*carillon.Error](one); ok {
			for _, d := range e.Details {
				if d.Key == "field" {
					all = append(all, d.Value.(string))
				}
			}
		}
	}
	return strings.Join(all, " ")
}

func TestStartersAreInTheVisitorsLanguageOrTheWidgets(t *testing.T) {
	h, w := &host{}, &Widget{Language: "en", Starters: map[string][]string{"en": {"When?"}, "es": {"¿Cuándo?"}, "pt-BR": {"Quando?"}}}
	for lang, want := range map[string]string{
		"en": "When?", "en-GB": "When?", "es-MX": "¿Cuándo?", "pt": "Quando?", "pt-BR": "Quando?", "fr": "When?",
	} {
		if got := h.starters(t.Context(), w, lang); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q", lang, got)
		}
	}
	if got := h.starters(t.Context(), &Widget{Language: "en"}, "en"); len(got) != 0 {
		t.Error(got)
	}
}

const sitesSetUp = `    keys: [{key: ck_site_4Hq7vT2mZc9LwXs1KdYb8RnE, label: site, scopes: ["widget:use"]}]
  - id: 11111111-1111-4111-8111-111111111102
    name: Other
    widgets:
      - {id: 33333333-3333-4333-8333-333333333309, kind: chat, name: Theirs, welcome: Hello.}
`

func TestSitesThatLoadAWidgetAreRecordedByOriginAlone(t *testing.T) {
	x := newSite(t, sitesSetUp)
	load := func(id, origin string) int {
		var header []string
		if origin != "" {
			header = []string{"Origin", origin, "Referer", origin + "/secret/page?q=1"}
		}
		status, _ := x.send("GET", "/functions/v1/widget?access_key=ck_site_4Hq7vT2mZc9LwXs1KdYb8RnE&widget_id="+id, "", "", header...)
		return status
	}
	for origin, want := range map[string]int{
		"https://a.example": 200, "null": 200, "capacitor://localhost": 200, x.url: 200,
	} {
		if got := load(widgetID, origin); got != want {
			t.Errorf("%s: %d", origin, got)
		}
	}
	if got := load(listedID, "https://not-listed.example"); got != 403 {
		t.Error("a site that may not show the widget:", got)
	}
	if got := load("33333333-3333-4333-8333-333333333309", "https://a.example"); got != 403 {
		t.Error("another company's widget:", got)
	}
	seen := func(company, id string) (origins []string) {
		all, err := x.store.Widgets.Sites(t.Context(), company, id)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			origins = append(origins, s.Origin)
		}
		return origins
	}
	if got := seen(companyID, widgetID); len(got) != 2 || !strings.Contains(strings.Join(got, " "), "https://a.example") {
		t.Errorf("%q", got)
	}
	for _, c := range [][2]string{
		{companyID, listedID},
		{companyID, "33333333-3333-4333-8333-333333333309"},
		{"11111111-1111-4111-8111-111111111102", "33333333-3333-4333-8333-333333333309"},
		{"11111111-1111-4111-8111-111111111102", widgetID},
	} {
		if got := seen(c[0], c[1]); len(got) != 0 {
			t.Errorf("%s: %q", c, got)
		}
	}
}

func TestASiteIsRecordedOnceInAWhile(t *testing.T) {
	s, now := newSites(nil, nil), time.Now()
	if !s.due("w", "https://a.example", now) || s.due("w", "https://a.example", now.Add(widgets.SeenEvery-1)) {
		t.Error("not once")
	}
	if !s.due("w", "https://a.example", now.Add(widgets.SeenEvery)) || !s.due("v", "https://a.example", now) {
		t.Error("not again, or not for another widget")
	}
	for i := range 3 * maxSeen {
		s.due("w", strings.Repeat("x", i%7)+time.Duration(i).String(), now)
	}
	if len(s.seen) > maxSeen {
		t.Error("remembers", len(s.seen))
	}
}

func TestLogosAreServedForTheirCompanysWidgetsAlone(t *testing.T) {
	x := newSite(t, sitesSetUp)
	x.routes = append(x.routes, Pages(x.Deps, func(http.ResponseWriter, *http.Request) error { return nil })...)
	x.serveRoutes()
	content := []byte("\x89PNG\r\n\x1a\n of the test")
	digest := logo.Digest(content)
	if err := x.store.Widgets.PutLogo(t.Context(), companyID, digest, content, nil, time.Now()); err != nil {
		t.Fatal(err)
	}
	r, err := http.Get(x.url + logoPath + widgetID + "/" + digest)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	got := map[string]string{}
	for _, name := range []string{"Content-Type", "X-Content-Type-Options", "Cache-Control", "Content-Security-Policy"} {
		got[name] = r.Header.Get(name)
	}
	if diff := cmp.Diff(map[string]string{
		"Content-Type": "image/png", "X-Content-Type-Options": "nosniff", "Cache-Control": "public, max-age=31536000, immutable",
		"Content-Security-Policy": "default-src 'none'; sandbox",
	}, got); diff != "" || r.StatusCode != 200 {
		t.Error(r.StatusCode, diff)
	}
	for name, path := range map[string]string{
		"another company's widget": "33333333-3333-4333-8333-333333333309/" + digest, "no widget": visitorID + "/" + digest,
		"another logo": widgetID + "/" + logo.Digest(nil), "no digest": widgetID + "/x", "no id": "x/" + digest,
	} {
		if status, body := x.send("GET", logoPath+path, "", ""); status != 404 {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
}
