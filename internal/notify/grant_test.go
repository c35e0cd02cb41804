package notify_test

import (
	"strconv"
	"testing"
	"time"

	"carillon"
	"carillon/internal/queue"
	"carillon/internal/store"
)

// commitsOf is how many commits of deliveries it takes to send single messages, one after the other.
func commitsOf(t *testing.T, o store.Options, turns bool, messages int) int {
	t.Helper()
	r := newRig(t, o, func(r *rig) { r.inTurn = turns })
	defer r.start()()
	for i := range messages {
		id := r.accept(body("", strconv.Itoa(34600000000+i)))
		await(t, "the message is sent", func() bool { return r.view(id).State == "completed" })
	}
	s, err := r.queue.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n := r.provider.count(); n != messages {
		t.Errorf("%d messages were sent %d times", messages, n)
	}
	return int(s.Commits)
}

func TestASingleMessageStartsWithItsAccept(t *testing.T) {
	const messages = 20
	engines(t, func(t *testing.T, o store.Options) {
		// A few may wait their turn: before the queue has taken up its shards, and where it is busy for an instant.
		if n := commitsOf(t, o, false, messages); n > messages*3/2 {
			t.Errorf("%d messages took %d commits after their accepts, want about one each, for its result", messages, n)
		}
	})
	if n := commitsOf(t, sqlite(t), true, messages); n < 2*messages-1 { // the last may not be counted yet
		t.Errorf("in their turn %d messages took %d commits, want two each", messages, n)
	}
}

// What would be granted once nobody sends any more would be found in flight by the next start, its outcome unknown.
func TestNothingIsGrantedOnceTheQueueHasEnded(t *testing.T) {
	r := newRig(t, sqlite(t), nil)
	stop := r.start()
	await(t, "something is granted", func() bool {
		g := r.queue.Grant(r.sender, "34600000000")
		if g != nil {
			r.queue.Decline(g, false)
		}
		return g != nil
	})
	stop()
	if r.queue.Grant(r.sender, "34600000000") != nil {
		t.Error("granted after the end")
	}
}

// A commit whose answer was lost may have started the message: it is found, and sent once.
func TestAStartThatNobodyWasToldOfIsFoundAndSentOnce(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		r := newRig(t, o, nil)
		defer r.start()()
		r.accept(body("", "34600000000"))
		await(t, "the first is sent", func() bool { return r.provider.count() == 1 })
		first := r.provider.all()[0].Ref.Key().Seq()
		entry, err := r.store.LoadNotification(t.Context(), first)
		if err != nil {
			t.Fatal(err)
		}
		var grant *queue.Grant
		await(t, "nothing of the sender waits, and a start is granted", func() bool {
			grant = r.queue.Grant(r.sender, "34600000001")
			return grant != nil
		})
		now := time.Now()
		a := &store.Accept{Notification: *entry, Messages: []store.NewMessage{{Number: "34600000001"}}, Start: &grant.Fence}
		a.Notification.ID, a.Notification.Open, a.Notification.CreatedAt = r.store.NewNotificationID(now), 1, now
		a.Notification.Channel, a.Notification.Total, a.Notification.DueAt = carillon.Messaging, 1, now
		a.Quota.Day = now.UTC().Format(time.DateOnly)
		if err := r.store.Accept(t.Context(), a); err != nil || !a.Started {
			t.Fatal(a.Started, err)
		}
		r.queue.Decline(grant, true)
		await(t, "the second is sent", func() bool { return r.view(a.Notification.ID).State == "completed" })
		if n := r.provider.count(); n != 2 {
			t.Errorf("two messages were sent %d times", n)
		}
	})
}

// A grant that nobody gave back would keep its shard from ever being looked through, or handed over.
func TestAPanicGivesTheGrantBack(t *testing.T) {
	r := newRig(t, sqlite(t), nil)
	defer r.start()()
	first := r.accept(body("", "34600000000"))
	await(t, "the first is sent", func() bool { return r.view(first).State == "completed" })
	var second string
	r.accepted = func(id string) {
		second = id
		panic("in a test")
	}
	func() {
		defer func() { _ = recover() }()
		r.accept(body("", "34600000001"))
		t.Error("no panic")
	}()
	await(t, "what was stored before it is sent", func() bool { return r.view(second).State == "completed" })
	if n := r.provider.count(); n != 2 {
		t.Errorf("two messages were sent %d times", n)
	}
}
