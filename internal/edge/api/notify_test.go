package api

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/messages"
	"carillon/internal/store/storetest"
)

// listed stores a notification of our company without the checks of a request.
func (r *channelRig) listed(body string, labels messages.Labels) {
	r.t.Helper()
	now := time.Now()
	err := r.store.Notifications.Accept(r.t.Context(), &messages.Accept{
		Notification: messages.Notification{
			ID: r.store.Notifications.NewID(now), CompanyID: "ours", Channel: carillon.Messaging, SenderUID: r.main.UID, Total: 1, Open: 1,
			CreatedAt: now, DueAt: now, Body: body, Campaign: labels.Event, Labels: labels,
		},
		Messages: []messages.NewMessage{{Number: "34600111222"}}, Quota: messages.Quota{Day: "2026-01-01", Charge: 1},
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *channelRig) list(query url.Values) (status int, body string) {
	r.t.Helper()
	query.Set("access_key", "ck_ours")
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.url+"/functions/v1/notify?"+query.Encode(), http.NoBody)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.do(req)
}

func TestAnUnreadableBodyIsListedLikeTheOthers(t *testing.T) {
	r := newChannelRig(t, store.Options{Dir: storetest.Folder(t)})
	r.listed("no JSON", messages.Labels{RecipientID: "main", TemplateName: "greeting", Language: "es_ES"})
	if status, text := r.list(url.Values{}); status != 200 ||
		!strings.Contains(text, `"name_template":"greeting","language_template":"es_ES","recipient_id":"main"`) {
		t.Error(status, text)
	}
}

func TestAPageOfAListHasAtMostAMebibyte(t *testing.T) {
	r := newChannelRig(t, store.Options{Dir: storetest.Folder(t)})
	long := strings.Repeat("\x01", 4<<10) // six bytes each in JSON
	for range 60 {
		r.listed("{}", messages.Labels{RecipientID: "main", TemplateName: "greeting", Language: "es_ES", Event: long})
	}
	found, query := 0, url.Values{"limit": {"100"}}
	for {
		status, text := r.list(query)
		if status != 200 || len(text) > 1<<20 {
			t.Fatalf("%d, %d bytes", status, len(text))
		}
		found += strings.Count(text, `"notification_id"`)
		_, cursor, more := strings.Cut(text, `"next_cursor":"`)
		if !more {
			break
		}
		query.Set("cursor", cursor[:strings.IndexByte(cursor, '"')])
	}
	if found != 60 {
		t.Errorf("the pages have %d of 60 notifications", found)
	}
}

func TestListsThatMatchNothingAreCounted(t *testing.T) {
	r := newChannelRig(t, store.Options{Dir: storetest.Folder(t)})
	err := r.store.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.PutCompany(ctx, tx, &carillon.Company{ID: "ours", Name: "Ours", Limits: carillon.Limits{ListsPerMinute: 3}},
			time.Now())
	})
	if err != nil {
		t.Fatal(err)
	}
	refused := false
	for range 7 { // more than the limit, even if a new window begins in between
		status, text := r.list(url.Values{"sender": {"nobody"}})
		refused = refused || status == 429 && strings.Contains(text, `"rate_limit_exceeded"`)
	}
	if !refused {
		t.Error("7 lists in a row are allowed where the limit is 3 a minute")
	}
}
