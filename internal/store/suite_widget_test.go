package store_test

import (
	"fmt"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/resource/resourcetest"
	"carillon/internal/store/widgets"
)

func widgetSentences() []sentence {
	return []sentence{
		{"a widget keeps its latest sites", widgetKeepsLatestSites},
		{"logos belong to a company, and unused ones go", logosAreACompanys},
	}
}

func widgetKeepsLatestSites(t *testing.T, r *rig) {
	ctx := t.Context()
	k := resourcetest.Kinds()[1]
	k.Name, k.Plural = "widget", "widgets"
	x := thing(k, "", "Chat")
	if _, err := r.Resources.PutResource(ctx, ours, k, x); err != nil {
		t.Fatal(err)
	}
	id, _ := x.Key()
	saw := func(origin string, at time.Time) {
		t.Helper()
		if err := r.Widgets.Saw(ctx, ours, widgets.Site{WidgetID: *id, Origin: origin, SeenAt: at}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range widgets.MaxSites + 5 {
		saw(fmt.Sprintf("https://%d.example", i), r.now.Add(time.Duration(i)*time.Second))
	}
	all, err := r.Widgets.Sites(ctx, ours, *id)
	if err != nil || len(all) != widgets.MaxSites || all[0].Origin != "https://24.example" || all[19].Origin != "https://5.example" {
		t.Error(len(all), all, err)
	}
	saw("https://5.example", r.now.Add(time.Minute)) // too soon
	if all, _ := r.Widgets.Sites(ctx, ours, *id); all[0].Origin != "https://24.example" {
		t.Error("written too soon")
	}
	saw("https://5.example", r.now.Add(time.Hour))
	latest, err := r.Widgets.Latest(ctx, ours)
	if err != nil || len(latest) != 1 || latest[0].Origin != "https://5.example" || !latest[0].SeenAt.Equal(r.now.Add(time.Hour)) {
		t.Error(latest, err)
	}
	if foreign, err := r.Widgets.Latest(ctx, theirs); len(foreign) != 0 || err != nil {
		t.Error(foreign, err)
	}
	if foreign, err := r.Widgets.Sites(ctx, theirs, *id); len(foreign) != 0 || err != nil {
		t.Error(foreign, err)
	}
	if err := r.Widgets.Saw(ctx, theirs, widgets.Site{WidgetID: *id, Origin: "https://x.example", SeenAt: r.now}); err == nil {
		t.Error("a site of another company's widget is stored")
	}
	if err := r.Resources.DeleteResource(ctx, ours, resourcetest.Kinds(), k, *id); err != nil {
		t.Fatal(err)
	}
	if left, err := r.Widgets.Sites(ctx, ours, *id); len(left) != 0 || err != nil {
		t.Error(left, err)
	}
}

func logosAreACompanys(t *testing.T, r *rig) {
	ctx := t.Context()
	put := func(digest string, at time.Time, used ...string) error {
		return r.Widgets.PutLogo(ctx, ours, digest, []byte(digest), used, at)
	}
	for i := range widgets.MaxLogos {
		if err := put(fmt.Sprint("d", i), r.now); err != nil {
			t.Fatal(err)
		}
	}
	if err := put("more", r.now); !carillon.IsCode(err, carillon.LimitExceeded) {
		t.Error(err)
	}
	if err := put("d0", r.now); err != nil {
		t.Error("the same again:", err)
	}
	if err := put("more", r.now.Add(25*time.Hour), "d7", "d8"); err != nil {
		t.Error(err)
	}
	for digest, there := range map[string]bool{"d7": true, "d8": true, "more": true, "d0": false, "d9": false} {
		content, err := r.Widgets.Logo(ctx, ours, digest)
		if there != (err == nil && string(content) == digest) {
			t.Errorf("%s: %q, %v", digest, content, err)
		}
	}
	if _, err := r.Widgets.Logo(ctx, theirs, "d7"); !carillon.IsCode(err, carillon.NotFound) {
		t.Error("another company's logo:", err)
	}
}
