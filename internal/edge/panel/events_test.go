package panel_test

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/events"
)

// follow opens a company's event stream and returns its lines. The channel is closed when the stream ends.
func follow(w *paneltest.World, url, authorization string) <-chan string {
	w.T.Helper()
	r, err := http.NewRequestWithContext(w.T.Context(), http.MethodGet, url+"/panel/v1/events", nil)
	if err != nil {
		w.T.Fatal(err)
	}
	r.Header.Set("Authorization", authorization)
	resp, err := http.DefaultClient.Do(r)
	if err != nil || resp.StatusCode != http.StatusOK {
		w.T.Fatal(resp, err)
	}
	w.T.Cleanup(func() { _ = resp.Body.Close() })
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
	w := paneltest.New(t)
	acme := w.Company("acme")
	srv := httptest.NewServer(w.Router)
	defer srv.Close()
	defer w.Router.CloseStreams()
	owner, viewer := w.As("owner@acme.test"), w.As("viewer@acme.test")
	stays, ends := follow(w, srv.URL, owner), follow(w, srv.URL, viewer)
	publish := func(n int) {
		e := &events.Event{CompanyID: acme.ID, Topic: events.Notifications, Kind: "accepted", Subject: fmt.Sprint("n", n), At: time.Now()}
		if err := w.Store.Events.AddEvents(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		w.Hub.Publish(e)
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
	w.Want("DELETE", "/panel/v1/users/"+w.ID("viewer@acme.test"), owner, "", 204, "", "")
	hung := time.After(2 * time.Minute)
	for n, open := 1, true; open; n++ {
		select {
		case <-hung:
			t.Fatal("a removed member goes on receiving events")
		case <-time.After(50 * time.Millisecond):
		}
		publish(n)
		if !await(stays, fmt.Sprintf("%q", fmt.Sprint("n", n))) {
			t.Fatal("the stream of a remaining member ended")
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
