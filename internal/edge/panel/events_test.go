package panel

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"carillon/internal/store/events"
)

// follow opens the stream of a company's events and returns its lines; they are closed when it ends.
func (w *world) follow(url, authorization string) <-chan string {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, url+"/panel/v1/events", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Authorization", authorization)
	resp, err := http.DefaultClient.Do(r)
	if err != nil || resp.StatusCode != http.StatusOK {
		w.t.Fatal(resp, err)
	}
	w.t.Cleanup(func() { _ = resp.Body.Close() })
	lines := make(chan string, 1000)
	go func() {
		defer close(lines)
		for in := bufio.NewScanner(resp.Body); in.Scan(); {
			lines <- in.Text()
		}
	}()
	return lines
}

func TestTheStreamOfARemovedMemberEnds(t *testing.T) {
	w := newWorld(t)
	acme := w.company("acme")
	srv := httptest.NewServer(w.router)
	defer srv.Close()
	defer w.router.CloseStreams()
	owner, viewer := w.as("owner@acme.test"), w.as("viewer@acme.test")
	stays, ends := w.follow(srv.URL, owner), w.follow(srv.URL, viewer)
	publish := func(n int) {
		e := &events.Event{CompanyID: acme.ID, Topic: events.Notifications, Kind: "accepted", Subject: fmt.Sprint("n", n), At: time.Now()}
		if err := w.store.Events.AddEvents(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		w.hub.Publish(e)
	}
	publish(0)
	await := func(lines <-chan string, text string) bool {
		t.Helper()
		for {
			select {
			case line, open := <-lines:
				if !open || strings.Contains(line, text) {
					return open
				}
			case <-time.After(time.Minute):
				t.Fatalf("nothing of %s", text)
			}
		}
	}
	if !await(stays, `"n0"`) || !await(ends, `"n0"`) {
		t.Fatal("a member's stream ends")
	}
	w.want("DELETE", "/panel/v1/users/"+w.id("viewer@acme.test"), owner, "", 204, "", "")
	hung := time.After(2 * time.Minute)
	for n, open := 1, true; open; n++ {
		select {
		case <-hung:
			t.Fatal("a removed member goes on receiving events")
		case <-time.After(50 * time.Millisecond):
		}
		publish(n)
		if !await(stays, fmt.Sprintf("%q", fmt.Sprint("n", n))) {
			t.Fatal("the stream of a member who stays ends")
		}
		for more := true; more; {
			select {
			case _, open = <-ends:
				more = open
			default:
				more = false
			}
		}
	}
}
