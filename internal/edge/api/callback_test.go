package api

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/base/schedule"
	"carillon/internal/send/whatsapp/graphtest"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/messages"
	"carillon/internal/store/settings"
	"carillon/internal/store/storetest"
	"carillon/internal/store/work"
)

// deliver posts a body to our sender's callback address, signed by the channel.
func (r *channelRig) deliver(body []byte, want int) {
	r.t.Helper()
	if got := r.post(body, r.graph.Sign(body), "main"); got != want {
		r.t.Errorf("the callback is answered %d, not %d", got, want)
	}
}

// post posts a callback and returns the response's status.
func (r *channelRig) post(body []byte, signature, sender string) int {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.url+"/callbacks/whatsapp/"+sender, bytes.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if signature != "" {
		req.Header.Set("X-Hub-Signature-256", signature)
	}
	status, _ := r.do(req)
	return status
}

func TestTheHandshakeNeedsTheToken(t *testing.T) {
	r := newChannelRig(t, store.Options{Dir: storetest.Folder(t)})
	get := func(query string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/callbacks/whatsapp/"+query, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		return r.do(req)
	}
	if status, text := get("main?hub.mode=subscribe&hub.challenge=115820&hub.verify_token=provider-verify-token"); status != 200 ||
		text != "115820" {
		t.Error(status, text)
	}
	for query, want := range map[string]int{
		"main?hub.mode=subscribe&hub.challenge=115820&hub.verify_token=wrong":                   403,
		"main?hub.mode=unsubscribe&hub.challenge=115820&hub.verify_token=provider-verify-token": 403,
		"nobody?hub.mode=subscribe&hub.challenge=1&hub.verify_token=provider-verify-token":      404, "a%00b": 404, "%ff": 404,
	} {
		if status, text := get(query); status != want || strings.Contains(text, "115820") {
			t.Error(query, status, text)
		}
	}
}

// written records inbound messages and the receipts of replies.
type written struct {
	mu    sync.Mutex
	texts map[string][]string // by company
}

func (w *written) add(companyID, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.texts == nil {
		w.texts = map[string][]string{}
	}
	w.texts[companyID] = append(w.texts[companyID], text)
}

// all returns the texts by company.
func (w *written) all() map[string][]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.texts)
}

// Receive implements Messaging.
func (w *written) Receive(_ context.Context, s *carillon.Sender, all []provider.Inbound) error {
	for _, m := range all {
		w.add(s.CompanyID, m.Text)
	}
	return nil
}

// Receipts implements Messaging.
func (w *written) Receipts(_ context.Context, s *carillon.Sender, all []provider.ReplyReceipt) error {
	for _, x := range all {
		w.add(s.CompanyID, string(x.State))
	}
	return nil
}

// Ignore implements Messaging.
func (w *written) Ignore(all []provider.Inbound) {
	for _, m := range all {
		w.add("ignored", m.Text)
	}
}

// A message without a conversation is counted and logged once by kind, and does not block the other messages.
func TestMessagesThatNoConversationShowsAreCountedAndLogged(t *testing.T) {
	r := newChannelRig(t, store.Options{Dir: storetest.Folder(t)})
	const hello = `"type":"text","text":{"body":"Hello"}}`
	change := func(number, messages string) string {
		return `{"field":"messages","value":{` + number + `"messages":[` + messages + `]}}`
	}
	const ours, theirs = `"metadata":{"phone_number_id":"1000001"},`, `"metadata":{"phone_number_id":"1000009"},`
	r.deliver([]byte(`{"object":"whatsapp_business_account","entry":[{"id":"2000001","changes":[`+strings.Join([]string{
		change(ours, `{"id":"a",`+hello),
		change(ours, `{"from":"no number","id":"b","type":"image","image":{"id":"1","caption":"Look"}},{},null`),
		change(theirs, `{"from":"34600111222","id":"c",`+hello), change("", `{"from":"34600111222","id":"d",`+hello),
		change(ours, `{"from":"34600111222","id":"e",`+hello),
	}, ",")+`]}]}`), 200)
	got := r.written.all()
	slices.Sort(got["ignored"])
	if diff := cmp.Diff(map[string][]string{"ours": {"Hello"}, "ignored": {"", "", "Hello", "Hello", "Hello", "Look"}}, got); diff != "" {
		t.Error(diff)
	}
	log := regexp.MustCompile(`request_id=\S+ `).ReplaceAllString(r.log.String(), "")
	for _, line := range []string{
		`"ignore messages that name no author" sender=main kinds="[text image other other]"`,
		`"ignore messages that no sender takes" sender=main phone_number_id=1000009 kinds=[text]`,
		`"ignore messages that no sender takes" sender=main phone_number_id="" kinds=[text]`,
	} {
		if n := strings.Count(log, line); n != 1 {
			t.Errorf("%d lines say %s:\n%s", n, line, log)
		}
	}
}

func TestACallbackNeedsTheSignatureOverItsBytes(t *testing.T) {
	r := newChannelRig(t, store.Options{Dir: storetest.Folder(t)})
	body := r.graph.InboundBody("Eve", graphtest.Text("34600111222", "wamid.eve", "Hello", time.Now()))
	foreign, err := graphtest.New(graphtest.Options{AppSecret: "another-secret"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = foreign.Close() })
	sign := r.graph.Sign
	huge := bytes.Repeat([]byte(" "), maxCallback+1)
	deep := []byte(strings.Repeat(`{"entry":[`, 20_000))
	other := []byte(`{"object":"page","entry":[]}`)
	for _, c := range []struct {
		name, sender, signature string
		body                    []byte
		want                    int
	}{
		{"no signature", "main", "", body, 401},
		{"a signature of another form", "main", "sha1=" + sign(body)[7:], body, 401},
		{"half a signature", "main", sign(body)[:40], body, 401},
		{"a signature of no digits", "main", "sha256=" + strings.Repeat("z", 64), body, 401},
		{"another application's signature", "main", foreign.Sign(body), body, 401},
		{"the signature of another body", "main", sign(append([]byte(" "), body...)), body, 401},
		{"a body with a byte more", "main", sign(body), append(slices.Clip(body), ' '), 401},
		{"a sender that does not exist", "nobody", sign(body), body, 404},
		{"a sender's id with a null byte", "main%00", sign(body), body, 404},
		{"another channel", "../sandbox/main", sign(body), body, 404},
		{"too large", "main", sign(huge), huge, 413},
		{"no JSON", "main", sign([]byte("hello")), []byte("hello"), 400},
		{"half of JSON", "main", sign([]byte("{")), []byte("{"), 400},
		{"nothing", "main", sign(nil), nil, 400},
		{"too deep", "main", sign(deep), deep, 400},
		{"another object", "main", sign(other), other, 200}, // contains nothing of ours
	} {
		if got := r.post(c.body, c.signature, c.sender); got != c.want {
			t.Errorf("%s: %d, not %d", c.name, got, c.want)
		}
	}
	if got := r.written.all(); len(got) > 0 {
		t.Errorf("unsigned or foreign messages are accepted: %v", got)
	}
	r.deliver(body, 200)
	if diff := cmp.Diff(map[string][]string{"ours": {"Hello"}}, r.written.all()); diff != "" {
		t.Error(diff)
	}
}

// Several companies have senders with the same id, and with the same number according to the channel. Each receives
// only its own messages.
func TestEachCompanyGetsWhatIsWrittenToIt(t *testing.T) {
	onEachEngine(t, func(t *testing.T, r *channelRig) {
		// One other company claims our number with our application's secret. Another has a different number of our
		// application. We have a second number in a different application.
		for _, x := range []struct{ company, id, phone, secret string }{
			{"claims", "main", "1000001", "provider-app-secret"},
			{"beside", "main", "1000004", "provider-app-secret"},
			{"ours", "second", "1000005", "second-secret"},
		} {
			s := *r.main
			s.UID, s.CompanyID, s.ID, s.Number, s.Default = 0, x.company, x.id, "1555555"+x.phone[3:], x.id == "main"
			own := strings.NewReplacer("1000001", x.phone, "provider-app-secret", x.secret)
			s.Settings = json.RawMessage(own.Replace(string(r.graph.Settings())))
			err := r.store.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
				return errors.Join(accounts.PutCompany(ctx, tx, &carillon.Company{ID: x.company, Name: x.company}, time.Now()),
					settings.PutSender(ctx, tx, &s, time.Now()))
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		for text, o := range map[string]graphtest.Options{
			"to ours": {}, "to theirs": {AppSecret: "their-secret"}, "beside": {PhoneNumberID: "1000004"},
			"to nobody":     {PhoneNumberID: "1000009"},
			"to our second": {PhoneNumberID: "1000005", AppSecret: "second-secret"}, "in its name": {PhoneNumberID: "1000005"},
		} {
			g, err := graphtest.New(o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = g.Close() })
			body := g.InboundBody("Ana", graphtest.Text("34600111222", "wamid."+strings.ReplaceAll(text, " ", "."), text, time.Now()))
			sender := "main"
			if o.AppSecret == "second-secret" {
				sender = "second"
			}
			if got := r.post(body, g.Sign(body), sender); got != http.StatusOK {
				t.Errorf("%s: %d", text, got)
			}
		}
		got := r.written.all()
		for _, texts := range got {
			slices.Sort(texts)
		}
		want := map[string][]string{
			"ours": {"to our second", "to ours"}, "theirs": {"to theirs"}, "beside": {"beside"}, "ignored": {"in its name", "to nobody"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if !strings.Contains(r.log.String(), "another company has too") {
			t.Error("nothing says that two companies claim a number")
		}
	})
}

// logged is a log buffer that is safe for concurrent use.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestTheBodyOfAnUnsignedCallbackIsNotRead(t *testing.T) {
	r := newChannelRig(t, store.Options{Dir: storetest.Folder(t)})
	for _, c := range []struct {
		sender, signature string
		status            int
	}{
		{"main", "", 401},
		{"main", "sha256=" + strings.Repeat("0", 63), 401},
		{"main", "sha256=" + strings.Repeat("g", 64), 401},
		{"main", "sha1=" + strings.Repeat("0", 64), 401},
		{"nobody", "sha256=" + strings.Repeat("0", 64), 404},
	} {
		stalled, end := io.Pipe()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/callbacks/whatsapp/"+c.sender, stalled)
		if err != nil {
			t.Fatal(err)
		}
		req.ContentLength = maxCallback
		if c.signature != "" {
			req.Header.Set("X-Hub-Signature-256", c.signature)
		}
		resp, err := (&http.Client{Timeout: 2 * time.Minute}).Do(req)
		if err != nil {
			t.Fatalf("%+v: no response before the body: %v", c, err)
		}
		if resp.StatusCode != c.status || !resp.Close {
			t.Errorf("%+v: %s, to be closed: %v", c, resp.Status, resp.Close)
		}
		_ = resp.Body.Close()
		_ = end.Close()
	}
}

// accepted stores a message to a number and marks it in flight, like a delivery does.
func (r *channelRig) accepted(number string) provider.Ref {
	r.t.Helper()
	now := time.Now()
	id := carillon.NewID(now)
	err := r.store.Notifications.Accept(r.t.Context(), &messages.Accept{
		Notification: messages.Notification{
			ID: id, CompanyID: "ours", Channel: carillon.Messaging, SenderUID: r.main.UID, TemplateID: "77", Class: carillon.Marketing,
			Campaign: "c", Total: 1, Body: `{"contact":{"number":"` + number + `"},"language_template":"es_ES","name_template":"greet",` +
				`"recipient_id":"main","notification_type":"marketing","campaign_name":"c","components_push":{"body_text_0":"Ana"}}`,
			Open: 1, CreatedAt: now, DueAt: now,
		},
		Messages: []messages.NewMessage{{Number: number}},
		Quota:    messages.Quota{Day: "2026-01-01", Charge: 1},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	shard := r.main.Shard()
	if err := errors.Join(r.store.Nodes.Join(r.t.Context(), "node", "node"), r.store.Nodes.TakeAll(r.t.Context(), "node")); err != nil {
		r.t.Fatal(err)
	}
	_, shards, err := r.store.Nodes.Cluster(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	d := &work.Batch{
		Fences: []work.Fence{{Shard: shard, Owner: "node", Epoch: shards[shard].Epoch}},
		Starts: []*work.Start{{Key: work.Key(carillon.SeqOf(id).Message(0)), Shard: shard}}, Now: now.Add(time.Millisecond),
	}
	if err := r.store.Messages.Commit(r.t.Context(), d); err != nil || d.Starts[0].Attempt != 1 {
		r.t.Fatal(err, d.Starts[0].Attempt)
	}
	return provider.Ref{NotificationID: id, Attempt: 1}
}

func TestReceiptsAreStoredAndOptOutsSuppressed(t *testing.T) {
	onEachEngine(t, func(t *testing.T, r *channelRig) {
		stopped, reached := r.accepted("34600111222"), r.accepted("34600111333")
		now := time.Now()
		body := r.graph.StatusBody(
			graphtest.Status{Ref: stopped.String(), To: "34600111222", ID: "wamid.A", State: "failed", At: now, Code: 131050},
			graphtest.Status{Ref: reached.String(), To: "34600111333", ID: "wamid.B", State: "delivered", At: now},
			graphtest.Status{Ref: "not ours", To: "34600111444", ID: "wamid.C", State: "read", At: now})
		r.deliver(body, 200)
		r.deliver(body, 200) // providers repeat callbacks
		r.want("GET", "/suppressions", "ck_ours", "", 200, `{"data":[{"number":"34600111222","reason":"opted_out","created_at":"`)
		r.want("GET", "/suppressions", "ck_ours", "", 200, `","type":"marketing"}],"next_cursor":null}`)
		r.want("GET", "/suppressions", "ck_theirs", "", 200, `{"data":[],"next_cursor":null}`)
		r.want("POST", "/suppressions", "ck_ours", `{"number":"34600111222"}`, 200,
			`{"number":"34600111222","reason":"manual","created_at":"`)
		r.deliver(body, 200)
		r.want("GET", "/suppressions", "ck_ours", "", 200, `","type":"all"}],"next_cursor":null}`)
		r.want("GET", "/notify/"+stopped.NotificationID, "ck_ours", "", 200, `"state":"failed","reason":"recipient_opted_out"`)
		r.want("GET", "/notify/"+reached.NotificationID, "ck_ours", "", 200, `"state":"delivered"`)
	})
}

func TestACallbackOfAnotherCompanysSenderTouchesNothing(t *testing.T) {
	r := newChannelRig(t, store.Options{Dir: storetest.Folder(t)})
	ours := r.accepted("34600111222")
	body := r.graph.StatusBody(graphtest.Status{
		Ref: ours.String(), To: "34600111222", ID: "wamid.A", State: "failed", At: time.Now(), Code: 131050,
	})
	mac := hmac.New(sha256.New, []byte("their-secret"))
	mac.Write(body)
	if got := r.post(body, "sha256="+hex.EncodeToString(mac.Sum(nil)), "main"); got != http.StatusOK { // their sender has the same id
		t.Errorf("status %d", got)
	}
	for _, key := range []string{"ck_ours", "ck_theirs"} {
		r.want("GET", "/suppressions", key, "", 200, `{"data":[],"next_cursor":null}`)
	}
	r.want("GET", "/notify/"+ours.NotificationID, "ck_ours", "", 200, `"state":"sending"`)
}

func TestSuppressionsAreAddedReadAndRemoved(t *testing.T) {
	onEachEngine(t, func(t *testing.T, r *channelRig) {
		for _, n := range []string{"34600000003", "34600000001", "34600000002"} {
			r.want("POST", "/suppressions", "ck_ours", `{"number":"`+n+`"}`, 200, `{"number":"`+n+`","reason":"manual","created_at":"`)
		}
		r.want("POST", "/suppressions", "ck_ours", `{"number":"34600000001","reason":"complaint"}`, 200, `"reason":"manual"`)
		first := r.want("GET", "/suppressions?limit=2", "ck_read", "", 200, `"number":"34600000001"`)
		_, cursor, _ := strings.Cut(first, `"next_cursor":"`)
		cursor, _, _ = strings.Cut(cursor, `"`)
		r.want("GET", "/suppressions?limit=2&cursor="+cursor, "ck_read", "", 200, `{"data":[{"number":"34600000003"`)
		r.want("GET", "/suppressions?cursor=x", "ck_read", "", 400, `"field":"cursor"`)
		r.want("GET", "/suppressions?limit=101", "ck_read", "", 400, `"field":"limit"`)
		r.want("GET", "/suppressions", "ck_send", "", 403, `"forbidden"`)
		r.want("POST", "/suppressions", "ck_read", `{"number":"34600000009"}`, 403, `"forbidden"`)
		r.want("POST", "/suppressions", "ck_ours", `{"number":"+34600000009"}`, 400, `"Invalid phone number format"`)
		r.want("POST", "/suppressions", "ck_ours", `{}`, 400, `"Required field missing"`)
		r.want("DELETE", "/suppressions/34600000001", "ck_theirs", "", 404, `"not_found"`)
		r.want("DELETE", "/suppressions/34600000001", "ck_ours", "", 204, "")
		r.want("DELETE", "/suppressions/34600000001", "ck_ours", "", 404, `"not_found"`)
		r.want("DELETE", "/suppressions/%00", "ck_ours", "", 404, `"not_found"`)
	})
}

func TestASuppressionThatIsRemovedAtOnceIsAddedAllTheSame(t *testing.T) {
	onEachEngine(t, func(t *testing.T, r *channelRig) {
		const number, rounds = "34600000001", 60
		r.want("POST", "/suppressions", "ck_ours", `{"number":"34600000002"}`, 200, "") // so that the list is never empty
		var posts, deletes sync.WaitGroup
		ctx, stop := context.WithCancel(t.Context())
		var removed atomic.Int64
		deletes.Go(func() {
			for ctx.Err() == nil {
				switch status, text := r.call("DELETE", "/suppressions/"+number, "ck_ours", ""); status {
				case 204:
					removed.Add(1)
				case 404:
				default:
					t.Errorf("remove: %d %s", status, text)
				}
			}
		})
		for range 2 {
			posts.Go(func() {
				for i := 0; i < rounds || i < 100*rounds && removed.Load() == 0; i++ {
					status, text := r.call("POST", "/suppressions", "ck_ours", `{"number":"`+number+`","reason":"complaint"}`)
					if status != 200 || !strings.HasPrefix(text, `{"number":"`+number+`","reason":"complaint","created_at":"`) {
						t.Errorf("add: %d %s", status, text)
					}
				}
			})
		}
		posts.Wait()
		stop()
		deletes.Wait()
		if removed.Load() == 0 {
			t.Error("nothing was removed between two requests")
		}
	})
}

func TestReadinessTellsTheReason(t *testing.T) {
	r := newChannelRig(t, store.Options{Dir: storetest.Folder(t)})
	get := func(path string) (int, string) {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, r.url+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		return r.do(req)
	}
	want := `{"status":"ready","checks":{"database":"ok"},"time_zones":"` + schedule.Current().Version + `"}`
	if status, text := get("/readyz"); status != 200 || text != want {
		t.Error(status, text)
	}
	r.ready = &carillon.Error{
		Code: carillon.ServiceUnavailable, Message: "Not ready", Details: carillon.Details{{Key: "reason", Value: "the clock is wrong"}},
	}
	if status, text := get("/readyz"); status != 503 || !strings.Contains(text, "the clock is wrong") {
		t.Error(status, text)
	}
	r.ready = errors.New("dial db.internal: refused")
	if status, text := get("/readyz"); status != 503 || strings.Contains(text, "db.internal") || !strings.Contains(text, `"reason"`) {
		t.Error(status, text)
	}
	if status, text := get("/healthz"); status != 200 || text != `{"status":"ok"}` {
		t.Error(status, text)
	}
	if status, text := get("/openapi.json"); status != 200 || !strings.Contains(text, `"openapi"`) {
		t.Error(status, text[:min(len(text), 100)])
	}
}

func TestWhatAChannelSaysOfASenderIsKept(t *testing.T) {
	onEachEngine(t, func(t *testing.T, r *channelRig) {
		report := func() settings.SenderReport {
			t.Helper()
			x, err := r.store.Senders.Report(t.Context(), "ours", r.main.UID)
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		get := func(token string) {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
				r.url+"/callbacks/whatsapp/main?hub.mode=subscribe&hub.challenge=1&hub.verify_token="+token, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.do(req)
		}
		get("wrong")
		if got := r.post([]byte("{}"), "sha256="+strings.Repeat("0", 64), "main"); got != http.StatusUnauthorized {
			t.Errorf("status %d", got)
		}
		if x := report(); !x.HandshakeAt.IsZero() || !x.CallbackAt.IsZero() {
			t.Errorf("refused callbacks count: %+v", x)
		}
		get("provider-verify-token")
		r.deliver(r.graph.QualityBody("FLAGGED", "TIER_250"), 200)
		first := report()
		if first.HandshakeAt.IsZero() || first.CallbackAt.IsZero() || first.Notice != "FLAGGED" || first.Messages != "TIER_250" {
			t.Errorf("%+v", first)
		}
		r.deliver(r.graph.StatusBody(graphtest.Status{
			Ref: "nobody's", To: "34600111222", ID: "wamid.A", State: "sent",
			At: time.Now(),
		}), 200)
		if x := report(); !x.CallbackAt.Equal(first.CallbackAt) {
			t.Error("each callback writes")
		}
	})
}

func TestCallbacksAreSightedOnceAMinute(t *testing.T) {
	var s callbackTimes
	now := time.Now()
	for _, c := range []struct {
		sender int64
		after  time.Duration
		want   bool
	}{
		{1, 0, true},
		{1, time.Second, false},
		{2, time.Second, true},
		{1, callbackTimeInterval, true},
		{1, callbackTimeInterval + time.Second, false},
	} {
		if got := s.due(c.sender, now.Add(c.after)); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// Marketing choices made in the channel's settings are applied by number and by id. A resume lifts no other
// suppression.
func TestWishesAboutMarketingAreObeyed(t *testing.T) {
	onEachEngine(t, func(t *testing.T, r *channelRig) {
		wishes := func(all ...string) {
			t.Helper()
			r.deliver([]byte(
				`{"object":"whatsapp_business_account","entry":[{"id":"2000001","changes":[{"field":"user_preferences","value":{
				"messaging_product":"whatsapp","metadata":{"phone_number_id":"1000001"},"user_preferences":[`+
					strings.Join(all, ",")+`]}}]}]}`), 200)
		}
		wish := func(who, value string, at int) string {
			return `{` + who + `,"category":"marketing_messages","value":"` + value + `","timestamp":` + strconv.Itoa(at) + `}`
		}
		listed := func(want ...string) {
			t.Helper()
			page, err := r.store.Suppressions.Suppressions(t.Context(), r.main.CompanyID, "", 10)
			var got []string
			for _, x := range page {
				got = append(got, x.Address()+" "+string(x.Type)+" "+x.Reason)
			}
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%v %s", err, diff)
			}
		}
		byID := func(want bool) { // for a person without a known number
			t.Helper()
			if _, err := r.store.Suppressions.Suppression(t.Context(), r.main.CompanyID,
				identity.User("ES.2")); want != (err == nil) || err != nil && !carillon.IsCode(err, carillon.NotFound) {
				t.Errorf("ES.2 is suppressed: %v, not %t", err, want)
			}
		}
		const ana, bea, cat, dan = `"wa_id":"34600111222"`, `"user_id":"ES.2"`, `"wa_id":"34600111444"`, `"wa_id":"34600111555"`
		stop := wish(ana, "stop", 1_731_705_721)
		wishes(stop, wish(bea, "stop", 1_731_705_722), wish(cat, "stop", 1_731_705_723))
		wishes(stop) // providers repeat callbacks
		listed("34600111222 marketing opted_out", "34600111444 marketing opted_out", "ES.2 marketing opted_out")
		byID(true)
		// Ana's resume is older than her stop; Dan never stopped.
		wishes(wish(ana, "resume", 1_731_705_700), wish(dan, "resume", 1_731_705_800))
		listed("34600111222 marketing opted_out", "34600111444 marketing opted_out", "ES.2 marketing opted_out")
		byID(true)
		r.want("POST", "/suppressions", "ck_ours", `{"number":"34600111444"}`, 200, `"reason":"manual"`)
		wishes(wish(ana, "resume", 1_731_705_800), wish(bea, "resume", 1_731_705_800),
			wish(cat, "resume", int(time.Now().Add(time.Hour).Unix())))
		listed("34600111444 all manual")
		byID(false)
		r.want("GET", "/suppressions", "ck_theirs", "", 200, `{"data":[],"next_cursor":null}`)
	})
}
