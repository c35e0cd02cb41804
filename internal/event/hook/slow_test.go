package hook_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"carillon/internal/event/hook"
)

// A slow endpoint is served in short rounds. An event that a round did not reach is sent in the next round, and has no
// row.
func TestWhatARoundDidNotReachWaitsBehindTheCursor(t *testing.T) {
	r, e := newRig(t), serve(t)
	k := r.endpoint(hook.Webhook{URL: e.URL, Ordered: true})
	e.status(http.StatusInternalServerError)
	r.happen("m0", "message.sent")
	r.pass()
	r.want(k, 1, 0, 0)
	const most = 80
	e.responds(func(n int, _ *hook.Body, _ http.ResponseWriter) {
		time.Sleep(250 * time.Millisecond)
		if n == 75 { // in the second round
			if waiting, _, err := r.store.Hooks.Counts(t.Context(), k); err != nil || waiting != 1 {
				t.Errorf("%d wait in the middle, %v", waiting, err)
			}
		}
	})
	for i := range most {
		r.happen(fmt.Sprint("m", i+1), "message.sent")
	}
	r.happen("m0", "message.delivered") // blocked by the one that failed
	r.pass()
	r.want(k, 2, 0, 0)
	if n := len(e.all()); n != 1+most {
		t.Errorf("%d requests", n-1)
	}
	r.after(time.Minute)
	r.after(time.Minute)
	r.want(k, 0, 0, 0)
	if n := len(e.all()); n != 1+most+2 {
		t.Errorf("%d requests in all", n-1)
	}
}
