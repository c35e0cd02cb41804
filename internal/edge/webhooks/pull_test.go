package webhooks_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"carillon/internal/base/share"
	"carillon/internal/edge/httpio"
)

func TestAPullThatWaitsIsBoundAndOneThatNeedNotWaitIsNot(t *testing.T) {
	r := newRig(t)
	var routes []httpio.Route
	for _, a := range r.table {
		routes = append(routes, httpio.Route{Pattern: a.Method + " " + a.Path, Handle: httpio.Value(func(r *http.Request) (any, error) {
			return a.Handle(r, company)
		})})
	}
	router := httpio.NewRouter(slog.New(slog.DiscardHandler), nil, routes...)
	router.Streams = share.New(share.Resource{Name: "streams", Holds: "streams", Node: 10, Company: 1})
	if _, err := router.Streams.Take(share.Holder{Company: company}); err != nil {
		t.Fatal(err)
	}
	var page struct {
		NextCursor string `json:"next_cursor"`
		Data       []any
	}
	pull := func(query string, status int) {
		t.Helper()
		rec := httptest.NewRecorder()
		router.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/events?"+query, nil))
		if rec.Code != status {
			t.Fatalf("%s is a %d: %s", query, rec.Code, rec.Body)
		}
		if err := json.Unmarshal(rec.Body.Bytes(), &page); err != nil {
			t.Fatal(err)
		}
	}
	pull("", http.StatusOK)
	cursor := "cursor=" + url.QueryEscape(page.NextCursor)
	pull(cursor, http.StatusOK)
	pull(cursor+"&wait=5", http.StatusTooManyRequests)
	r.happen("m1", "message.sent")
	if pull(cursor+"&wait=5", http.StatusOK); len(page.Data) != 1 {
		t.Errorf("pulled %v", page.Data)
	}
	if c := router.Streams.Counts(); c.Used != 1 {
		t.Errorf("%d places are held", c.Used)
	}
}
