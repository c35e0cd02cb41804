package widget

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"carillon/internal/base/share"
	"carillon/internal/edge/httpio"
)

const boundSetUp = `  - id: 11111111-1111-4111-8111-111111111102
    name: Bound
    limits: {widget_calls_per_minute: 4}
    widgets:
      - {id: 33333333-3333-4333-8333-333333333304, kind: chat, name: Chat, welcome: Hello.}
`

// bound returns a site behind a proxy whose company has small limits, with a stopped clock.
func bound(t *testing.T) (x *site, begin func(n int, client string) (status int, token string)) {
	t.Helper()
	x = newSite(t, boundSetUp)
	x.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	now := time.Now()
	x.Limits.Now = func() time.Time { return now }
	x.serve()
	return x, func(n int, client string) (int, string) {
		body := fmt.Sprintf(
			`{"widget_id":"33333333-3333-4333-8333-333333333304","customer_id":"55555555-5555-4555-8555-5555555556%02d"}`, n,
		)
		status, text := x.send("POST", "/functions/v1/chat/session", "", body, "X-Forwarded-For", client)
		var begun struct{ Token string }
		_ = json.Unmarshal([]byte(text), &begun) // empty for a refusal
		return status, begun.Token
	}
}

func TestSessionsOfAnIPv6NetworkCountTogether(t *testing.T) {
	_, begin := bound(t)
	for n := range 4 {
		if status, _ := begin(n, fmt.Sprintf("2001:db8:1:1::%x", n+1)); status != http.StatusOK {
			t.Fatalf("session %d is a %d", n, status)
		}
	}
	if status, _ := begin(4, "2001:db8:1:1:ffff::1"); status != http.StatusTooManyRequests {
		t.Errorf("the fifth session from the network: %d", status)
	}
	if status, _ := begin(5, "2001:db8:1:2::1"); status != http.StatusOK {
		t.Errorf("a session from another network: %d", status)
	}
}

func TestTurnsOfOneClientAreBoundOverItsVisitors(t *testing.T) {
	x, begin := bound(t)
	turns := 0
	say := func(token, client string) int {
		turns++
		status, _ := x.send(
			"POST", "/functions/v1/chat/turns", token, fmt.Sprintf(`{"text":"hello","client_id":"%d"}`, turns), "X-Forwarded-For",
			client,
		)
		return status
	}
	taken, refused := 0, 0
	for n := range 8 { // the visitors of two networks move into a single one
		_, token := begin(n, fmt.Sprintf("2001:db8:1:%x::1", n/4))
		for range 4 {
			switch status := say(token, fmt.Sprintf("2001:db8:2:1::%x", n+1)); status {
			case http.StatusOK:
				taken++
			case http.StatusTooManyRequests:
				refused++
			default:
				t.Fatalf("a turn: %d", status)
			}
		}
	}
	if most := clientCalls * 4; taken != most || refused != 8*4-most {
		t.Errorf("%d turns were taken and %d refused, want %d taken", taken, refused, most)
	}
	_, token := begin(9, "192.0.2.1")
	if status, text := x.send(
		"POST", "/functions/v1/chat/typing", token, `{}`, "X-Forwarded-For", "2001:db8:2:1::1",
	); status != http.StatusNoContent {
		t.Errorf("a key that is pressed there is a %d: %s", status, text)
	}
	if status := say(token, "192.0.2.1"); status != http.StatusOK {
		t.Errorf("a turn from another client: %d", status)
	}
}

// following starts a server of a site with limited streams. open opens a stream through a proxy.
func following(t *testing.T, x *site, streams *share.Share) (open func(token string) *http.Response) {
	t.Helper()
	router := httpio.NewRouter(x.Log, nil, x.routes...)
	router.Streams, router.Proxies = streams, x.Proxies
	server := httptest.NewServer(router)
	t.Cleanup(func() { router.CloseStreams(); server.Close() })
	return func(token string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/functions/v1/chat/stream", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("X-Forwarded-For", "192.0.2.1")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = resp.Body.Close() })
		return resp
	}
}

func TestOneVisitorBehindAProxyHoldsFewStreams(t *testing.T) {
	x, begin := bound(t)
	_, token := begin(1, "192.0.2.1")
	streams := share.New(share.EventStreams)
	open := following(t, x, streams)
	first := open(token)
	for range share.EventStreams.Session {
		if resp := open(token); resp.StatusCode != http.StatusOK {
			t.Fatal(resp.Status)
		}
	}
	if _, err := io.Copy(io.Discard, first.Body); err != nil { // it ends to make room for the newest stream
		t.Error(err)
	}
	opened := 1 + int(share.EventStreams.Session)
	for open(token).StatusCode == http.StatusOK {
		opened++
	}
	if want := visitorStreams * 4; opened != want {
		t.Errorf("the visitor opened %d streams in a minute, want %d", opened, want)
	}
	if held := streams.Counts().Used; held != share.EventStreams.Session {
		t.Errorf("the visitor holds %d streams, want %d", held, share.EventStreams.Session)
	}
}

func TestStreamsOfVisitorsAreAPartOfTheirCompanys(t *testing.T) {
	x, begin := bound(t)
	_, one := begin(1, "192.0.2.1")
	_, other := begin(2, "192.0.2.1")
	open := following(t, x, share.New(share.Resource{Node: 10, Company: 5, Visitors: 1, Session: 1, Replaces: true}))
	if resp := open(one); resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status)
	}
	resp := open(other)
	if resp.StatusCode != http.StatusTooManyRequests {
		t.Fatalf("the second visitor's stream: %d", resp.StatusCode)
	}
	if text, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(text), `"bound":"visitors"`) {
		t.Errorf("refused with %s, %v", text, err)
	}
}
