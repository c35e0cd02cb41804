package notify_test

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"carillon"
	"carillon/internal/send/notify"
	"carillon/internal/store"
	"carillon/internal/store/messages"
	"carillon/internal/store/storetest"
	"carillon/internal/store/work"
)

func TestRequestWhoseCallerLeftIsDeliveredAtOnce(t *testing.T) {
	dir := storetest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, store.Options{Dir: dir}, nil)
		defer r.start()()
		r.accept(body("", "34600111222")) // fills the caches
		time.Sleep(time.Second)
		gone, leave := context.WithCancel(t.Context())
		leave()
		_, err := r.submit(gone, body("", "34600111223"))
		if err != nil {
			t.Errorf("its key is free again before it is stored: %v", err)
		}
		time.Sleep(time.Second)
		if n := r.provider.count(); n != 2 {
			t.Errorf("a second later %d messages are sent, want 2", n)
		}
	})
}

func TestNotificationWhoseNumberIsTakenGetsAnother(t *testing.T) {
	dir := storetest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, store.Options{Dir: dir}, nil)
		defer r.start()()
		var twin work.Sequence // another node with the same slot
		now := time.Now()
		taken := &messages.Accept{
			Notification: messages.Notification{
				ID: twin.Next(now), CompanyID: r.company.ID, Channel: carillon.Messaging, SenderUID: r.sender.UID, Total: 1,
				CreatedAt: now, DueAt: now, DoneAt: now,
			},
			Messages: []messages.NewMessage{{Number: "34600111222", Skip: carillon.ReasonSuppressed}},
			Quota:    messages.Quota{Day: "2026-01-01"},
		}
		if err := r.store.Notifications.Accept(t.Context(), taken); err != nil {
			t.Fatal(err)
		}
		s := &notify.Submission{Company: r.company, Route: "notify", IdempotencyKey: "k", Hash: "h"}
		first, err := r.notify.AcceptBody(t.Context(), s, carillon.Messaging, body("", "34600111223"), false)
		if err != nil {
			t.Fatal(err)
		}
		id := notificationIn(t, first)
		if carillon.SeqOf(id) == taken.Notification.Seq() {
			t.Fatalf("%s has the number of %s", id, taken.Notification.ID)
		}
		if again, err := r.notify.Accept(t.Context(), s); err != nil || !again.Replayed || notificationIn(t, again) != id {
			t.Errorf("its repeat was told of %s, %v, want %s", again.JSON, err, id)
		}
		time.Sleep(time.Second)
		if v := r.view(id); v.Counts[0].Key != string(carillon.StateSent) {
			t.Errorf("it stands at %v", v.Counts)
		}
	})
}

func TestNotificationThatWasNotClosedIsFoundLater(t *testing.T) {
	dir := storetest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, store.Options{Dir: dir}, nil)
		defer r.start()()
		id := r.accept(body("", "34600111222"))
		time.Sleep(5 * time.Second)
		for _, when := range []struct {
			name string
			wait func()
		}{
			{"when another node died", func() { r.notify.Sweep(); time.Sleep(5 * time.Second) }},
			{"after a while", func() { time.Sleep(11 * time.Minute) }},
		} {
			storetest.Exec(t, filepath.Join(dir, "carillon.db"), "UPDATE notification SET open = 1, done_at = 0")
			when.wait()
			x, err := r.store.Notifications.Load(t.Context(), carillon.SeqOf(id))
			if err != nil {
				t.Fatal(err)
			}
			if x.Open != 0 || x.DoneAt.IsZero() {
				t.Errorf("%s: open is %d, done at %s", when.name, x.Open, x.DoneAt)
			}
		}
	})
}
