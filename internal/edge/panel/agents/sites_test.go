package agents_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/agent/site"
	"carillon/internal/base/egress"
	"carillon/internal/edge/panel/paneltest"
)

func TestSitesAreReadIntoKnowledge(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	w.Company("other")
	owner, viewer, stranger := w.As("owner@acme.test"), w.As("viewer@acme.test"), w.As("owner@other.test")
	web := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/help/" {
			http.NotFound(out, r)
			return
		}
		out.Header().Set("Content-Type", "text/html")
		_, _ = out.Write([]byte("<title>Help</title><p>Call us.</p>"))
	}))
	defer web.Close()
	w.Want("POST", "/panel/v1/knowledge", owner, faq, 201, "", "")
	w.Want("POST", "/panel/v1/sites", owner, `{"knowledge":"none","address":"https://acme.test/"}`, 400, "validation_failed", "knowledge")
	w.Want("POST", "/panel/v1/sites", viewer, `{"knowledge":"faq","address":"https://acme.test/"}`, 403, "forbidden", "")
	added := w.Want("POST", "/panel/v1/sites", owner, `{"knowledge":"faq","address":"`+web.URL+`/help/"}`, 201, "", "")
	id := added["id"].(string)
	if diff := cmp.Diff(map[string]any{
		"id": id, "name": web.URL + "/help/", "knowledge": "faq", "address": web.URL + "/help/", "include": []any{}, "exclude": []any{},
		"max_pages": 200.,
	}, added); diff != "" {
		t.Error(diff)
	}
	path := "/panel/v1/sites/" + id
	state := w.Want("GET", path+"/state", viewer, "", 200, "", "")
	if state["reading"] != true || state["looked_at"] != nil || len(state["looks"].([]any)) != 0 {
		t.Error(state)
	}
	looked := make(chan struct{}, 1)
	looks := site.New(site.Options{
		Looked: func() { looked <- struct{}{} },
		Store:  w.Store, Node: "n", Pause: time.Nanosecond, Log: slog.New(slog.DiscardHandler),
		Client: site.NewClient(egress.Options{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}),
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error)
	go func() { ended <- looks.Run(ctx) }()
	<-looked
	state = w.Want("GET", path+"/state", viewer, "", 200, "", "")
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	found := state["looks"].([]any)
	if len(found) != 1 || found[0].(map[string]any)["added"] != 1. || state["fault"] != "" || state["read_at"] == nil {
		t.Fatal(state)
	}
	look := path + "/looks/" + found[0].(map[string]any)["id"].(string)
	if diff := cmp.Diff(map[string]any{"changes": []any{map[string]any{
		"kind": "added", "url": web.URL + "/help/", "title": "Help", "before": "", "after": "Call us.",
	}}}, w.Want("GET", look, viewer, "", 200, "", "")); diff != "" {
		t.Error(diff)
	}
	w.Want("DELETE", "/panel/v1/knowledge/faq", owner, "", 409, "conflict", "")
	for _, p := range []string{"/state", "/looks/" + found[0].(map[string]any)["id"].(string)} {
		w.Want("GET", path+p, stranger, "", 404, "not_found", "")
	}
	w.Want("GET", path+"/looks/x", viewer, "", 404, "not_found", "")
	w.Want("POST", path+"/look", stranger, `{}`, 404, "not_found", "")
	w.Want("POST", path+"/look", viewer, `{}`, 403, "forbidden", "")
	w.Want("POST", path+"/look", owner, `{"whole":1}`, 400, "validation_failed", "whole")
	if got := w.Want("POST", path+"/look", owner, `{"whole":true}`, 200, "", ""); got["reading"] != true {
		t.Error(got)
	}
	w.Want("DELETE", path, owner, "", 204, "", "")
	w.Want("GET", path+"/state", viewer, "", 404, "not_found", "")
}
