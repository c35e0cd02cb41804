package webhooks_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"carillon/internal/base/share"
	"carillon/internal/edge/httpio"
	"carillon/internal/store/purge"
)

// puller is a program that pulls, of a company with a single place for requests that wait.
type puller struct {
	t          *testing.T
	router     *httpio.Router
	NextCursor string `json:"next_cursor"`
	Data       []any
}

func newPuller(r *rig) *puller {
	var routes []httpio.Route
	for _, a := range r.table {
		routes = append(routes, httpio.Route{Pattern: a.Method + " " + a.Path, Handle: httpio.Value(func(r *http.Request) (any, error) {
			return a.Handle(r, company)
		})})
	}
	router := httpio.NewRouter(slog.New(slog.DiscardHandler), nil, routes...)
	router.Streams = share.New(share.Resource{Name: "streams", Holds: "streams", Node: 10, Company: 1})
	return &puller{t: r.t, router: router}
}

func (p *puller) pull(query string, status int) {
	p.t.Helper()
	rec := httptest.NewRecorder()
	p.router.ServeHTTP(rec, httptest.NewRequestWithContext(p.t.Context(), http.MethodGet, "/events?"+query, nil))
	if rec.Code != status {
		p.t.Fatalf("%s is a %d: %s", query, rec.Code, rec.Body)
	}
	if err := json.Unmarshal(rec.Body.Bytes(), p); err != nil {
		p.t.Fatal(err)
	}
}

// occupy takes the company's place.
func (p *puller) occupy() {
	p.t.Helper()
	if _, err := p.router.Streams.Take(share.Holder{Company: company}); err != nil {
		p.t.Fatal(err)
	}
}

func TestAPullThatWaitsIsBoundAndOneThatNeedNotWaitIsNot(t *testing.T) {
	r := newRig(t)
	p := newPuller(r)
	p.occupy()
	p.pull("", http.StatusOK)
	cursor := "cursor=" + url.QueryEscape(p.NextCursor)
	p.pull(cursor, http.StatusOK)
	p.pull(cursor+"&wait=5", http.StatusTooManyRequests)
	r.happen("m1", "message.sent")
	if p.pull(cursor+"&wait=5", http.StatusOK); len(p.Data) != 1 {
		t.Errorf("pulled %v", p.Data)
	}
	if c := p.router.Streams.Counts(); c.Used != 1 {
		t.Errorf("%d places are held", c.Used)
	}
}

// A cursor before events that are deleted already leads to one after them; otherwise its program would ask again and again.
func TestAPullPassesDeletedEvents(t *testing.T) {
	r := newRig(t)
	p := newPuller(r)
	p.pull("", http.StatusOK)
	before := p.NextCursor
	r.happen("m1", "message.sent")
	if _, err := r.store.Purges.Drop(t.Context(), purge.Events, time.Now().Add(time.Hour), 10); err != nil {
		t.Fatal(err)
	}
	if p.pull("wait=5&cursor="+url.QueryEscape(before), http.StatusOK); len(p.Data) != 0 || p.NextCursor == before {
		t.Fatalf("pulled %v, and the cursor stays", p.Data)
	}
	p.occupy()
	p.pull("wait=5&cursor="+url.QueryEscape(p.NextCursor), http.StatusTooManyRequests) // it would wait
}
