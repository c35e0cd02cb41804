package inbox_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/chats"
	"carillon/internal/store/events"
)

// followInbox opens a stream of the inbox. The returned channel is closed when the stream ends.
func followInbox(w *paneltest.World, ctx context.Context, url, authorization string) (ended <-chan struct{}) {
	w.T.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/panel/v1/inbox/events", nil)
	if err != nil {
		w.T.Fatal(err)
	}
	r.Header.Set("Authorization", authorization)
	resp, err := http.DefaultClient.Do(r)
	if err != nil || resp.StatusCode != http.StatusOK {
		w.T.Fatal(resp, err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = resp.Body.Close() }()
		for b := make([]byte, 1024); err == nil; {
			_, err = resp.Body.Read(b)
		}
	}()
	return done
}

// A member who may no longer answer is not counted as present, and one who may no longer read receives no more events.
// Other members are unaffected.
func TestTheInboxFollowsTheRoleOfItsReader(t *testing.T) {
	t.Parallel()
	w := paneltest.New(t)
	acme := w.Company("acme")
	srv := httptest.NewServer(w.Router)
	defer srv.Close()
	defer w.Router.CloseStreams()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	owner := w.As("owner@acme.test")
	followInbox(w, ctx, srv.URL, owner)
	ended := followInbox(w, t.Context(), srv.URL, w.As("teammate@acme.test"))
	reading := followInbox(w, t.Context(), srv.URL, w.As("viewer@acme.test"))
	mate, boss := w.ID("teammate@acme.test"), w.ID("owner@acme.test")
	present := func() (all []string) {
		there, err := w.Store.Attendance.Present(t.Context(), acme.ID, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range there {
			all = append(all, p.AccountID)
		}
		return all
	}
	// eventually keeps causing events in the inbox until the condition holds.
	eventually := func(what string, holds func() bool) {
		t.Helper()
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for begin := time.Now(); !holds(); <-tick.C {
			if time.Since(begin) > 2*time.Minute {
				t.Fatalf("not: %s; present are %v", what, present())
			}
			w.Hub.Publish(&events.Event{
				CompanyID: acme.ID, Topic: chats.InboxTopic, Kind: "typing", Subject: "c", Payload: []byte(`{}`), At: time.Now(),
			})
		}
	}
	both := []string{mate, boss}
	slices.Sort(both)
	eventually("the owner and the teammate are present, the viewer is not", func() bool { return slices.Equal(present(), both) })
	w.Want("PATCH", "/panel/v1/users/"+mate, owner, `{"role":"viewer"}`, 204, "", "")
	eventually("who became a viewer is not present", func() bool { return slices.Equal(present(), []string{boss}) })
	w.Want("DELETE", "/panel/v1/users/"+mate, owner, "", 204, "", "")
	eventually("the stream of a removed member ends", func() bool {
		select {
		case <-ended:
			return true
		default:
			return false
		}
	})
	select {
	case <-reading:
		t.Error("a viewer's stream ended")
	default:
	}
	leave()
	eventually("the owner, whose page was closed, is not present", func() bool { return len(present()) == 0 })
}
