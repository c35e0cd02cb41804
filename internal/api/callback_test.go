package api

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/provider"
	"carillon/internal/schedule"
	"carillon/internal/store"
	"carillon/internal/store/senders"
	"carillon/internal/store/storetest"
	"carillon/internal/store/work"
	"carillon/internal/whatsapp/graphtest"
)

// deliver posts a body to our sender's callback address with the signature of the channel.
func (r *channelRig) deliver(body []byte, want int) {
	r.t.Helper()
	r.post(body, r.graph.Sign(body), "main", want)
}

func (r *channelRig) post(body []byte, signature, sender string, want int) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.url+"/callbacks/whatsapp/"+sender, bytes.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if signature != "" {
		req.Header.Set("X-Hub-Signature-256", signature)
	}
	if status, text := r.do(req); status != want {
		r.t.Errorf("callback: %d %s", status, text)
	}
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
	if status, text := get("main?hub.mode=subscribe&hub.challenge=115820&hub.verify_token=provider-verify-token"); status != 200 || text != "115820" {
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

func TestACallbackNeedsTheSignatureOverItsBytes(t *testing.T) {
	r := newChannelRig(t, store.Options{Dir: storetest.Folder(t)})
	body := []byte(`{"object":"whatsapp_business_account","entry":[]}`)
	r.post(body, r.graph.Sign(body), "main", 200)
	r.post(body, "", "main", 401)
	r.post(append(body, ' '), r.graph.Sign(body), "main", 401)
	r.post(body, r.graph.Sign(body), "nobody", 404)
	huge := bytes.Repeat([]byte(" "), maxCallback+1)
	r.post(huge, r.graph.Sign(huge), "main", 413)
	broken := []byte("{")
	r.post(broken, r.graph.Sign(broken), "main", 400)
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
		resp, err := (&http.Client{Timeout: 20 * time.Second}).Do(req)
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

// accepted stores a message to a number and marks it in flight, as the delivery does.
func (r *channelRig) accepted(number string) provider.Ref {
	r.t.Helper()
	now := time.Now()
	id := carillon.NewID(now)
	err := r.store.Accept(r.t.Context(), &store.Accept{
		Notification: store.Notification{
			ID: id, CompanyID: "ours", Channel: carillon.Messaging, SenderUID: r.main.UID, TemplateID: "77", Class: carillon.Marketing,
			Campaign: "c", Total: 1, Body: `{"contact":{"number":"` + number + `"},"language_template":"es_ES","name_template":"greet",` +
				`"recipient_id":"main","notification_type":"marketing","campaign_name":"c","components_push":{"body_text_0":"Ana"}}`,
			Open: 1, CreatedAt: now, DueAt: now,
		},
		Messages: []store.NewMessage{{Number: number}},
		Quota:    store.Quota{Day: "2026-01-01", Charge: 1},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	shard := r.main.Shard()
	if err := errors.Join(r.store.Join(r.t.Context(), "node", "node"), r.store.TakeAll(r.t.Context(), "node")); err != nil {
		r.t.Fatal(err)
	}
	_, shards, err := r.store.Cluster(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	d := &work.Batch{
		Fences: []work.Fence{{Shard: shard, Owner: "node", Epoch: shards[shard].Epoch}},
		Starts: []*work.Start{{Key: work.Key(carillon.SeqOf(id).Message(0)), Shard: shard}}, Now: now.Add(time.Millisecond),
	}
	if err := r.store.MessageQueue().Commit(r.t.Context(), d); err != nil || d.Starts[0].Attempt != 1 {
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
		r.deliver(body, 200) // repeats are normal
		r.want("GET", "/suppressions", "ck_ours", "", 200, `{"data":[{"number":"34600111222","reason":"opted_out","created_at":"`)
		r.want("GET", "/suppressions", "ck_ours", "", 200, `","type":"marketing"}],"next_cursor":null}`)
		r.want("GET", "/suppressions", "ck_theirs", "", 200, `{"data":[],"next_cursor":null}`)
		r.want("POST", "/suppressions", "ck_ours", `{"number":"34600111222"}`, 200, `{"number":"34600111222","reason":"manual","created_at":"`)
		r.deliver(body, 200)
		r.want("GET", "/suppressions", "ck_ours", "", 200, `","type":"all"}],"next_cursor":null}`)
		r.want("GET", "/notify/"+stopped.NotificationID, "ck_ours", "", 200, `"state":"failed","reason":"recipient_opted_out"`)
		r.want("GET", "/notify/"+reached.NotificationID, "ck_ours", "", 200, `"state":"delivered"`)
	})
}

func TestACallbackOfAnotherCompanysSenderTouchesNothing(t *testing.T) {
	r := newChannelRig(t, store.Options{Dir: storetest.Folder(t)})
	ours := r.accepted("34600111222")
	body := r.graph.StatusBody(graphtest.Status{Ref: ours.String(), To: "34600111222", ID: "wamid.A", State: "failed", At: time.Now(), Code: 131050})
	mac := hmac.New(sha256.New, []byte("their-secret"))
	mac.Write(body)
	r.post(body, "sha256="+hex.EncodeToString(mac.Sum(nil)), "main", 200) // their sender has the same id
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
		r.want("POST", "/suppressions", "ck_ours", `{"number":"34600000002"}`, 200, "") // the list is never empty
		var posts, deletes sync.WaitGroup
		ctx, stop := context.WithCancel(t.Context())
		removed := 0
		deletes.Go(func() {
			for ctx.Err() == nil {
				switch status, text := r.call("DELETE", "/suppressions/"+number, "ck_ours", ""); status {
				case 204:
					removed++
				case 404:
				default:
					t.Errorf("remove: %d %s", status, text)
				}
			}
		})
		for range 2 {
			posts.Go(func() {
				for range rounds {
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
		if removed == 0 {
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
	r.ready = &carillon.Error{Code: carillon.ServiceUnavailable, Message: "Not ready", Details: carillon.Details{{Key: "reason", Value: "the clock is wrong"}}}
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
		report := func() senders.Report {
			t.Helper()
			x, err := r.store.Report(t.Context(), "ours", r.main.UID)
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		get := func(token string) {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/callbacks/whatsapp/main?hub.mode=subscribe&hub.challenge=1&hub.verify_token="+token, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.do(req)
		}
		get("wrong")
		r.post([]byte("{}"), "sha256="+strings.Repeat("0", 64), "main", 401)
		if x := report(); !x.HandshakeAt.IsZero() || !x.CallbackAt.IsZero() {
			t.Errorf("what is refused counts: %+v", x)
		}
		get("provider-verify-token")
		r.deliver(r.graph.QualityBody("FLAGGED", "TIER_250"), 200)
		first := report()
		if first.HandshakeAt.IsZero() || first.CallbackAt.IsZero() || first.Notice != "FLAGGED" || first.Messages != "TIER_250" {
			t.Errorf("%+v", first)
		}
		r.deliver(r.graph.StatusBody(graphtest.Status{Ref: "nobody's", To: "34600111222", ID: "wamid.A", State: "sent", At: time.Now()}), 200)
		if x := report(); !x.CallbackAt.Equal(first.CallbackAt) {
			t.Error("each callback writes")
		}
	})
}

func TestCallbacksAreSightedOnceAMinute(t *testing.T) {
	var s sightings
	now := time.Now()
	for _, c := range []struct {
		sender int64
		after  time.Duration
		want   bool
	}{{1, 0, true}, {1, time.Second, false}, {2, time.Second, true}, {1, sightEvery, true}, {1, sightEvery + time.Second, false}} {
		if got := s.due(c.sender, now.Add(c.after)); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
