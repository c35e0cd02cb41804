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
	"carillon/internal/store/configure"
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

// A node of an older version meets such a sender while two versions run: its settings are sealed in an unknown form.
func TestMessagesOfASenderThatCannotBeReadWait(t *testing.T) {
	dir := storetest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, store.Options{Dir: dir}, nil)
		defer r.start()()
		seal := func(from, to string) {
			r.change(func(ctx context.Context, tx *configure.Tx) error {
				tx.Changes(r.company.ID)
				n, err := tx.Exec(ctx, "UPDATE sender SET sealed = REPLACE(sealed, $1, $2) WHERE uid = $3", from, to, r.sender.UID)
				if n != 1 {
					t.Errorf("%d senders are changed", n)
				}
				return err
			})
		}
		at := time.Now().Add(time.Minute).UTC().Format("2006-01-02T15:04:05")
		id := r.accept(body(`,"datetime_sending":"`+at+`","timezone":"UTC"`, "34600111222"))
		seal("v2:", "v9:")
		time.Sleep(time.Hour)
		all, err := r.store.Messages.List(t.Context(), carillon.SeqOf(id), 0, 1)
		if err != nil || len(all) != 1 || all[0].Q == 0 || r.provider.count() > 0 {
			t.Errorf("after an hour it is %+v, %v, and %d messages were sent", all, err, r.provider.count())
		}
		seal("v9:", "v2:")
		time.Sleep(time.Hour)
		if v := r.view(id); v.Counts[0].Key != string(carillon.StateSent) {
			t.Errorf("it stands at %v once the sender can be read", v.Counts)
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
