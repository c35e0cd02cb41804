package api

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/configure"
	"carillon/internal/store/messages"
	"carillon/internal/store/storetest"
)

// lateCalls simulates calls that start just after the first hang-up request.
type lateCalls struct {
	store  *store.Store
	starts string // SQL that starts the calls; empty once executed
}

func (c *lateCalls) HangUp(ctx context.Context, companyID, id string) (carillon.State, error) {
	state, _, err := c.store.Calls.HangUp(ctx, companyID, carillon.SeqOf(id).Message(0))
	if err != nil || c.starts == "" {
		return state, err
	}
	err = c.store.Config.Update(ctx, func(ctx context.Context, tx *configure.Tx) error {
		_, err := tx.Exec(ctx, c.starts)
		return err
	})
	c.starts = ""
	return state, err
}

func TestACallThatStartsDuringItsCancelIsHungUp(t *testing.T) {
	for starts, want := range map[string]string{
		"UPDATE call SET q = 2, state = 'dialing', attempt = 1":     `"canceled":1,`,
		"UPDATE call SET q = 2, state = 'in_progress', attempt = 1": `"already_sent":1,`,
	} {
		r := newChannelRig(t, store.Options{Dir: storetest.Folder(t)})
		r.calls.starts = starts
		now := time.Now()
		id := carillon.NewID(now)
		err := r.store.Notifications.Accept(t.Context(), &messages.Accept{
			Notification: messages.Notification{
				ID: id, CompanyID: "ours", Channel: carillon.Voice, SenderUID: r.main.UID, Total: 1, Open: 1, CreatedAt: now,
				DueAt: now, Body: "{}",
			},
			Messages: []messages.NewMessage{{Number: "34600111222"}}, Quota: messages.Quota{Day: "2026-01-01", Charge: 1},
		})
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete,
			r.url+"/functions/v1/notify/"+id+"?hangup=true&access_key=ck_ours", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if status, text := r.do(req); status != 200 || !strings.Contains(text, `"hung_up":1`) || !strings.Contains(text, want) {
			t.Errorf("after %s: %d %s", starts, status, text)
		}
	}
}
