package realtime_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"carillon/internal/realtime"
	"carillon/internal/store"
	"carillon/internal/store/storetest"
)

// response is one that a stream is written to.
type response struct{ *httptest.ResponseRecorder }

func (response) SetReadDeadline(time.Time) error  { return nil }
func (response) SetWriteDeadline(time.Time) error { return nil }

// A caller who may not follow a topic any more gets its events for two seconds at most, and is not looked up for each of them.
func TestABusyStreamIsCheckedEveryTwoSeconds(t *testing.T) {
	dir := storetest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		s, err := store.Open(t.Context(), store.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		x := &screens{store: s, hub: realtime.NewHub(s, slog.New(slog.DiscardHandler), nil)}
		company := newCompany(t, s)
		const allowed = 21 * time.Second
		removed := errors.New("no member any more")
		begin, asked := time.Now(), 0
		mayFollow := func(context.Context) error {
			if asked++; time.Since(begin) > allowed {
				return removed
			}
			return nil
		}
		ended := make(chan error, 1)
		go func() {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
			w := response{httptest.NewRecorder()}
			ended <- x.hub.Serve(w, r, realtime.Stream{CompanyID: company, Topic: topic, Allowed: mayFollow})
		}()
		every := time.NewTicker(50 * time.Millisecond)
		defer every.Stop()
		for {
			select {
			case <-every.C:
				x.say(t, company, "again")
				continue
			case err = <-ended:
			}
			break
		}
		if took := time.Since(begin) - allowed; !errors.Is(err, removed) || took > 2*time.Second+100*time.Millisecond {
			t.Errorf("%v, %v after it was not allowed any more", err, took)
		}
		if asked > 12 {
			t.Errorf("it is asked %d times", asked)
		}
	})
}
