package hook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"carillon"
	"carillon/internal/base/egress"
	"carillon/internal/event/hook"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/events"
	"carillon/internal/store/storetest"
)

const company = "5f0c1d9e-2b7a-4c51-9f0e-3a2b1c0d9e01"

// got is a request received by an endpoint.
type got struct {
	header http.Header
	text   string
	body   hook.Body
}

// endpoint is a server that receives events.
type endpoint struct {
	*httptest.Server
	mu       sync.Mutex
	received []got
	respond  func(n int, b *hook.Body, w http.ResponseWriter) // nil: 204
}

func serve(t *testing.T) *endpoint {
	t.Helper()
	e := &endpoint{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		x := got{header: r.Header, text: string(text)}
		if err := json.Unmarshal(text, &x.body); err != nil {
			t.Errorf("body %s: %v", text, err)
		}
		e.mu.Lock()
		e.received = append(e.received, x)
		n, respond := len(e.received), e.respond
		e.mu.Unlock()
		if respond == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		respond(n, &x.body, w)
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *endpoint) responds(respond func(n int, b *hook.Body, w http.ResponseWriter)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.respond = respond
}

// status makes the endpoint respond with a status.
func (e *endpoint) status(code int) {
	e.responds(func(_ int, _ *hook.Body, w http.ResponseWriter) { w.WriteHeader(code) })
}

func (e *endpoint) all() []got {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.received)
}

// sequences returns the sequence numbers of the received events, in order of arrival.
func (e *endpoint) sequences() (all []int64) {
	for _, x := range e.all() {
		all = append(all, x.body.Sequence)
	}
	return all
}

// rig is a deliverer on a database with one company, and a clock controlled by the test.
type rig struct {
	t      *testing.T
	store  *store.Store
	d      *hook.Deliverer
	mu     sync.Mutex
	now    time.Time // zero value: real time
	alerts []alert
	lost   atomic.Bool // another node serves the endpoints
	// suspended reports whether the company is suspended. nil means that it is not.
	suspended func() bool
}

type alert struct {
	hook.Alert
	at time.Time
}

// hung is the time after which a request counts as hung.
const hung = 2 * time.Minute

func newRig(t *testing.T) *rig {
	t.Helper()
	return newRigOf(t, egress.Options{Timeout: hung})
}

// newRigOf uses a client with the roots, the resolver and the timeout of o.
func newRigOf(t *testing.T, o egress.Options) *rig {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: storetest.Folder(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	r := &rig{t: t, store: s, now: time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)}
	if err := s.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.PutCompany(ctx, tx, &carillon.Company{ID: company, Name: "Acme"}, r.now)
	}); err != nil {
		t.Fatal(err)
	}
	o.AllowPrivate, o.AnyPort, o.MaxBody, o.Redirects = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, true, -1, -1
	r.d = hook.NewDeliverer(s, hook.Options{
		Client: egress.New(o),
		Owns:   func(int) bool { return !r.lost.Load() },
		Alert:  func(_ context.Context, a hook.Alert) { r.alerts = append(r.alerts, alert{a, r.clock()}) },
		Suspended: func(context.Context, string) (bool, error) {
			return r.suspended != nil && r.suspended(), nil
		},
		Now: r.clock, Log: slog.New(slog.DiscardHandler),
	})
	return r
}

func (r *rig) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now.IsZero() {
		return time.Now()
	}
	return r.now
}

// endpoint stores a webhook.
func (r *rig) endpoint(w hook.Webhook) events.EndpointKey {
	r.t.Helper()
	if err := w.Validate(); err != nil {
		r.t.Fatal(err)
	}
	if _, err := r.store.Resources.PutResource(r.t.Context(), company, hook.Kind(), &w); err != nil {
		r.t.Fatal(err)
	}
	return events.EndpointKey{CompanyID: company, WebhookID: w.ID}
}

// happen stores events about a subject, one per type.
func (r *rig) happen(subject string, kinds ...string) {
	r.t.Helper()
	for _, kind := range kinds {
		e := &events.Event{
			CompanyID: company, Topic: events.TopicOf(kind), Kind: kind, Subject: subject, At: r.clock(),
			Payload: json.RawMessage(`{"v":1,"message_id":"` + subject +
				`","campaign":"spring","sender_id":"main","state":"sent","previous_state":"queued","at":"2027-03-01T12:00:00Z"}`),
		}
		if err := r.store.Events.AddEvents(r.t.Context(), e); err != nil {
			r.t.Fatal(err)
		}
	}
}

// pass delivers due events until none are due.
func (r *rig) pass() {
	r.t.Helper()
	if err := r.d.Pass(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	r.d.Wait()
}

// after advances the clock and delivers.
func (r *rig) after(d time.Duration) {
	r.t.Helper()
	r.mu.Lock()
	r.now = r.now.Add(d)
	r.mu.Unlock()
	r.pass()
}

func (r *rig) state(k events.EndpointKey) *events.Endpoint {
	r.t.Helper()
	e, err := r.store.Hooks.Endpoint(r.t.Context(), k)
	if err != nil || e == nil {
		r.t.Fatal(e, err)
	}
	return e
}

// want checks the numbers of waiting and failed deliveries, and of events behind the cursor.
func (r *rig) want(k events.EndpointKey, waiting, failed int, behind int64) {
	r.t.Helper()
	w, f, err := r.store.Hooks.Counts(r.t.Context(), k)
	b, err2 := r.store.Hooks.Behind(r.t.Context(), k)
	if err != nil || err2 != nil || w != waiting || f != failed || b != behind {
		r.t.Errorf("%d wait, %d failed, %d behind, %v, %v; want %d, %d, %d", w, f, b, err, err2, waiting, failed, behind)
	}
}

func TestEventsAreDeliveredSignedAndVerified(t *testing.T) {
	r, e := newRig(t), serve(t)
	secret, old := hook.NewSecret(), hook.NewSecret()
	r.mu.Lock()
	r.now = time.Now().UTC().Truncate(time.Second) // the webhook library checks the time
	r.mu.Unlock()
	k := r.endpoint(hook.Webhook{
		URL: e.URL + "/hooks?token=x", SigningSecret: secret, PreviousSecret: old,
		PreviousUntil: carillon.FormatTime(r.clock().Add(time.Hour)),
		Headers:       []hook.Header{{Name: "Authorization", Value: "Bearer abc"}},
	})
	r.happen("m1", "message.sent")
	r.pass()
	all := e.all()
	if len(all) != 1 {
		t.Fatal("received", len(all))
	}
	x := all[0]
	if want := `"type":"message.sent","timestamp":"` + carillon.FormatTime(r.clock()) + `","version":1,"sequence":1,` +
		`"data":{"campaign":"spring","message_id":"m1","previous_status":"queued","sender_id":"main",` +
		`"status":"sent"}}`; !strings.HasSuffix(x.text, want) {
		t.Errorf("%s\nwant … %s", x.text, want)
	}
	if x.header.Get("Authorization") != "Bearer abc" || x.header.Get("Content-Type") != "application/json" ||
		x.header.Get("Webhook-Id") != x.body.ID || strings.Contains(x.body.ID, ".") {
		t.Errorf("%v", x.header)
	}
	if topic, seq, ok := hook.Place(x.body.ID); topic != events.Notifications || seq != 1 || !ok {
		t.Error(topic, seq, ok)
	}
	for name, s := range map[string]string{"new": secret, "old": old} {
		w, err := standardwebhooks.NewWebhook(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Verify([]byte(x.text), x.header); err != nil {
			t.Errorf("%s secret: %v", name, err)
		}
		if err := w.Verify([]byte(x.text+" "), x.header); err == nil {
			t.Error("a changed body is verified")
		}
		late := x.header.Clone()
		late.Set("Webhook-Timestamp", fmt.Sprint(time.Now().Add(-10*time.Minute).Unix()))
		if err := w.Verify([]byte(x.text), late); err == nil {
			t.Error("another time is verified")
		}
	}
	if w, _ := standardwebhooks.NewWebhook(hook.NewSecret()); w.Verify([]byte(x.text), x.header) == nil {
		t.Error("another secret verifies")
	}
	r.after(2 * time.Hour)
	r.happen("m1", "message.delivered")
	r.pass()
	if x := e.all()[1]; strings.Contains(x.header.Get("Webhook-Signature"), " ") {
		t.Error("the previous secret signs after its time")
	}
	r.want(k, 0, 0, 0)
}

func TestOnlyWhatIsWantedIsSent(t *testing.T) {
	r, types, campaign, sender := newRig(t), serve(t), serve(t), serve(t)
	paused := serve(t)
	r.endpoint(hook.Webhook{URL: types.URL, Events: []string{"message.read", "call.failed", "conversation.started"}})
	r.endpoint(hook.Webhook{URL: campaign.URL, Campaigns: []string{"summer"}})
	r.endpoint(hook.Webhook{URL: sender.URL, Senders: []string{"other", "main"}})
	k := r.endpoint(hook.Webhook{URL: paused.URL, Paused: true})
	r.happen("m1", "message.sent", "message.read", "call.started", "call.failed", "template.approved", "conversation.started")
	r.pass()
	for name, x := range map[string]struct {
		e    *endpoint
		want int
	}{"types": {types, 3}, "campaign": {campaign, 0}, "sender": {sender, 6}, "paused": {paused, 0}} {
		if n := len(x.e.all()); n != x.want {
			t.Errorf("%s: %d, want %d", name, n, x.want)
		}
	}
	r.want(k, 0, 0, 6)
}

func TestWhatFailsIsTriedAgainForThreeDaysAndThenGivenUp(t *testing.T) {
	r, e := newRig(t), serve(t)
	k := r.endpoint(hook.Webhook{URL: e.URL})
	e.responds(func(_ int, b *hook.Body, w http.ResponseWriter) {
		if b.Sequence == 1 { // this event always fails
			http.Error(w, "no such order", http.StatusInternalServerError)
		}
	})
	r.happen("m1", "message.sent")
	begin := r.clock()
	r.pass()
	r.want(k, 1, 0, 0)
	var tries []time.Duration
	for r.clock().Sub(begin) < 80*time.Hour {
		before := len(e.all())
		r.happen("m2", "message.sent") // other events always succeed
		r.after(30 * time.Minute)
		for _, x := range e.all()[before:] {
			if x.body.Sequence == 1 {
				tries = append(tries, r.clock().Sub(begin))
			}
		}
	}
	if len(tries) < 7 || len(tries) > 11 || tries[len(tries)-1] < 72*time.Hour || tries[len(tries)-1] > 72*time.Hour+35*time.Minute {
		t.Errorf("tried again after %v", tries)
	}
	r.want(k, 0, 1, 0)
	if len(r.alerts) != 0 || !r.state(k).DisabledAt.IsZero() {
		t.Error("an endpoint that takes other events is held to be failing:", r.alerts)
	}
	attempts, err := r.store.Hooks.Attempts(t.Context(), k, true, "", 100)
	if err != nil || len(attempts) != len(tries)+1 {
		t.Fatal(len(attempts), err)
	}
	if a := attempts[0]; a.Status != 500 || a.Error != "It responded 500" || !strings.Contains(a.Response, "no such order") ||
		!strings.Contains(a.Request, `"sequence":1`) || a.N != len(tries)+1 {
		t.Errorf("%+v", a)
	}
	e.status(http.StatusOK)
	if n, err := r.store.Hooks.Replay(t.Context(), k, events.Replay{Failed: true}, r.clock()); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	r.pass()
	r.want(k, 0, 0, 0)
	if last := e.all()[len(e.all())-1]; last.body.Sequence != 1 {
		t.Error("it is not sent again", last.body)
	}
}

func TestAnEndpointThatIsDownGetsEverythingOnceItIsBack(t *testing.T) {
	r, e, other := newRig(t), serve(t), serve(t)
	k := r.endpoint(hook.Webhook{URL: e.URL})
	r.endpoint(hook.Webhook{URL: other.URL})
	e.status(http.StatusInternalServerError)
	for i := range 300 {
		r.happen(fmt.Sprint("m", i), "message.sent")
	}
	r.pass()
	if n := len(other.all()); n != 300 {
		t.Error("another endpoint waits:", n)
	}
	tried := len(e.all())
	if tried > 20 {
		t.Errorf("%d requests to an endpoint that is down", tried)
	}
	for range 2 * 40 { // forty hours
		r.after(30 * time.Minute)
	}
	if n := len(e.all()) - tried; n != 2*40 {
		t.Errorf("%d probes in 40 hours", n)
	}
	if len(r.alerts) != 1 || r.alerts[0].Ended || r.alerts[0].Last != "It responded 500" {
		t.Errorf("alerts %+v", r.alerts)
	}
	e.status(http.StatusOK)
	before := len(e.all())
	r.after(6 * time.Minute)
	seen := map[int64]int{}
	for _, x := range e.all()[before:] {
		seen[x.body.Sequence]++
	}
	for i := range int64(300) {
		if seen[i+1] != 1 {
			t.Errorf("event %d came %d times", i+1, seen[i+1])
		}
	}
	r.want(k, 0, 0, 0)
	if s := r.state(k); s.Failures != 0 || !s.FailingSince.IsZero() || s.Alerts != 0 {
		t.Errorf("%+v", s)
	}
}

func TestAnEndpointThatOnlyFailsIsDisabledAfterThreeDaysAndLosesNothing(t *testing.T) {
	r, e := newRig(t), serve(t)
	k := r.endpoint(hook.Webhook{URL: e.URL})
	e.status(http.StatusBadGateway)
	r.happen("m1", "message.sent", "message.delivered")
	r.pass()
	for r.state(k).DisabledAt.IsZero() {
		r.after(15 * time.Minute)
		if r.clock().Sub(time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)) > 80*time.Hour {
			t.Fatal("it is not disabled")
		}
	}
	if len(r.alerts) != 4 || !r.alerts[3].Ended || r.alerts[3].Gone {
		t.Errorf("alerts %+v", r.alerts)
	}
	for i, part := range []float64{0.5, 0.7, 0.9, 1} {
		due := time.Duration(part * float64(72*time.Hour))
		if after := r.alerts[i].at.Sub(r.alerts[i].Since); after < due || after > due+20*time.Minute {
			t.Errorf("alert %d after %v", i, after)
		}
	}
	before := len(e.all())
	r.happen("m2", "message.sent")
	r.after(time.Hour)
	if n := len(e.all()); n != before {
		t.Error("a disabled endpoint gets requests:", n-before)
	}
	e.status(http.StatusOK)
	if found, err := r.store.Hooks.Again(t.Context(), k, r.clock()); !found || err != nil {
		t.Fatal(found, err)
	}
	r.pass()
	sequences := e.sequences()[before:]
	slices.Sort(sequences)
	if !slices.Equal(sequences, []int64{1, 2, 3}) {
		t.Error("received", sequences)
	}
	r.want(k, 0, 0, 0)
}

func TestGoneEndsDeliveriesAtOnce(t *testing.T) {
	r, e := newRig(t), serve(t)
	k := r.endpoint(hook.Webhook{URL: e.URL})
	e.status(http.StatusGone)
	r.happen("m1", "message.sent")
	r.pass()
	r.happen("m2", "message.sent")
	r.after(24 * time.Hour)
	if s := r.state(k); s.DisabledWhy != "gone" || len(e.all()) != 1 || len(r.alerts) != 1 || !r.alerts[0].Gone {
		t.Errorf("%+v, %d requests, %+v", s, len(e.all()), r.alerts)
	}
}

func TestRetryAfterIsHonored(t *testing.T) {
	r, e := newRig(t), serve(t)
	k := r.endpoint(hook.Webhook{URL: e.URL})
	e.responds(func(n int, _ *hook.Body, w http.ResponseWriter) {
		if n == 1 {
			w.Header().Set("Retry-After", "600")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
	r.happen("m1", "message.sent")
	r.pass()
	r.happen("m2", "message.sent")
	r.after(9 * time.Minute)
	if n := len(e.all()); n != 1 {
		t.Error("requests before the time:", n)
	}
	r.after(2 * time.Minute)
	if n := len(e.all()); n != 3 {
		t.Error("requests after it:", n)
	}
	r.want(k, 0, 0, 0)
}

func TestEventsOfOneSubjectComeInOrderWhereThatIsWanted(t *testing.T) {
	r, e := newRig(t), serve(t)
	k := r.endpoint(hook.Webhook{URL: e.URL, Ordered: true})
	failing := map[int64]int{1: 3, 5: 1} // number of failures per event
	e.responds(func(_ int, b *hook.Body, w http.ResponseWriter) {
		if failing[b.Sequence] > 0 {
			failing[b.Sequence]--
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	r.happen("m1", "message.sent", "message.delivered", "message.read") // 1, 2, 3
	r.happen("m2", "message.sent", "message.delivered", "message.read") // 4, 5, 6
	r.pass()
	r.happen("m1", "message.failed") // 7
	r.pass()
	for range 40 {
		r.after(10 * time.Minute)
	}
	r.want(k, 0, 0, 0)
	var delivered []int64
	last := map[int64]int{}
	for i, n := range e.sequences() {
		last[n] = i
	}
	for i, n := range e.sequences() {
		if last[n] == i {
			delivered = append(delivered, n)
		}
	}
	of := func(seqs ...int64) (all []int64) {
		for _, n := range delivered {
			if slices.Contains(seqs, n) {
				all = append(all, n)
			}
		}
		return all
	}
	if got := of(1, 2, 3, 7); !slices.Equal(got, []int64{1, 2, 3, 7}) {
		t.Error("of the first:", got)
	}
	if got := of(4, 5, 6); !slices.Equal(got, []int64{4, 5, 6}) {
		t.Error("of the second:", got)
	}
}

func TestLyingAndSlowEndpointsFailInWords(t *testing.T) {
	const slow = "slow"
	for name, c := range map[string]struct {
		respond http.HandlerFunc
		want    string
	}{
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		}, "It redirects (302), which is not followed: give the final address"},
		slow: {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "No response in time"},
		"cut": {
			func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }, "It closed the connection without a response",
		},
		"forbidden": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, "It responded 403"},
	} {
		t.Run(name, func(t *testing.T) {
			timeout := hung
			if name == slow {
				timeout = time.Second
			}
			r := newRigOf(t, egress.Options{Timeout: timeout})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, x *http.Request) {
				_, _ = io.Copy(io.Discard, x.Body)
				c.respond(w, x)
			}))
			t.Cleanup(server.Close)
			k := r.endpoint(hook.Webhook{URL: server.URL})
			r.happen("m1", "message.sent")
			r.pass()
			all, err := r.store.Hooks.Attempts(t.Context(), k, false, "", 10)
			if err != nil || len(all) != 1 || all[0].OK || all[0].Error != c.want {
				t.Errorf("%+v, %v", all, err)
			}
			r.want(k, 1, 0, 0)
		})
	}
}

func TestPrivateAddressesAreRefused(t *testing.T) {
	r := newRig(t)
	k := r.endpoint(hook.Webhook{URL: "https://10.1.2.3/hook"})
	r.happen("m1", "message.sent")
	r.pass()
	all, err := r.store.Hooks.Attempts(t.Context(), k, false, "", 10)
	if err != nil || len(all) != 1 || all[0].Error != "Its address may not be reached: the host is at a private or reserved "+
		"address; --media-allow-private names networks that may be" {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestATestIsSentAtOnceAndLogged(t *testing.T) {
	r, e := newRig(t), serve(t)
	k := r.endpoint(hook.Webhook{URL: e.URL, Events: []string{"message.read"}})
	for _, kind := range hook.Types() {
		a, err := r.d.Test(t.Context(), company, k.WebhookID, kind)
		if err != nil || !a.OK || a.Status != http.StatusNoContent || a.Kind != kind {
			t.Errorf("%s: %+v, %v", kind, a, err)
		}
	}
	for _, x := range e.all() {
		if !x.body.Test || len(x.body.Data) == 0 {
			t.Error(x.text)
		}
	}
	if all, err := r.store.Hooks.Attempts(t.Context(), k, false, "", 100); len(all) != len(hook.Types()) || err != nil {
		t.Error(len(all), err)
	}
	if _, err := r.d.Test(t.Context(), "another", k.WebhookID, "message.read"); !carillon.IsCode(err, carillon.NotFound) {
		t.Error("of another company:", err)
	}
}

func TestWhatWasNotRecordedBeforeAKillIsSentAgain(t *testing.T) {
	r, e := newRig(t), serve(t)
	k := r.endpoint(hook.Webhook{URL: e.URL})
	for i := range 250 {
		r.happen(fmt.Sprint("m", i), "message.sent")
	}
	ctx, kill := context.WithCancel(t.Context())
	e.responds(func(n int, _ *hook.Body, _ http.ResponseWriter) {
		if n == 30 {
			kill() // no further request is started
		}
	})
	if err := r.d.Pass(ctx); err != nil {
		t.Fatal(err)
	}
	r.d.Wait()
	if n := len(e.all()); n > 40 {
		t.Errorf("%d requests after the end", n-30)
	}
	r.pass()
	r.want(k, 0, 0, 0)
	seen := map[int64]int{}
	for _, n := range e.sequences() {
		seen[n]++
	}
	for i := range int64(250) {
		if seen[i+1] != 1 {
			t.Errorf("event %d came %d times", i+1, seen[i+1])
		}
	}
}
