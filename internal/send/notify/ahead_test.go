package notify_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/queue"
	"carillon/internal/store"
	"carillon/internal/store/storetest"
)

// slots is the queue's default limit of concurrent sends per sender.
const slots = queue.DefaultLaneCap

// queued accepts messages to that many numbers, a hundred per notification.
func (r *rig) queued(messages int) (ids []string) {
	for from := 0; from < messages; from += 100 {
		var numbers []string
		for i := from; i < min(from+100, messages); i++ {
			numbers = append(numbers, fmt.Sprintf("34%09d", 600000000+i))
		}
		ids = append(ids, r.accept(body("", numbers...)))
	}
	return ids
}

// sending counts the messages in state sending in the database.
func (r *rig) sending(ids []string) (n int) {
	for _, id := range ids {
		all, err := r.store.Messages.List(r.t.Context(), carillon.SeqOf(id), 0, 100)
		if err != nil {
			r.t.Fatal(err)
		}
		for i := range all {
			if all[i].Q == 2 {
				n++
			}
		}
	}
	return n
}

func TestACrashMakesUnknownWhatIsInFlightAlone(t *testing.T) {
	dir := storetest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, store.Options{Dir: dir}, nil)
		silent := make(chan struct{})
		r.provider.decide = func(m *provider.Outgoing) provider.Outcome {
			<-silent
			return provider.Outcome{Verdict: provider.Sent, ProviderID: m.Ref.String()}
		}
		defer r.start()()
		ids := r.queued(1000)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if out, sending := r.provider.count(), r.sending(ids); out != slots || sending != out {
			t.Errorf("%d requests are out and %d messages called sending, want %d", out, sending, slots)
		}
		close(silent)
	})
}

func TestAProviderThatFallsSilentLeavesNoMoreStartedThanTwiceTheSlots(t *testing.T) {
	dir := storetest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		const quick = 700
		r := newRig(t, store.Options{Dir: dir}, nil)
		silent := make(chan struct{})
		r.provider.decide = func(m *provider.Outgoing) provider.Outcome {
			if r.provider.count() > quick {
				<-silent
			}
			return provider.Outcome{Verdict: provider.Sent, ProviderID: m.Ref.String()}
		}
		defer r.start()()
		ids := r.queued(2000)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if out := r.provider.count(); out > quick+slots {
			t.Errorf("%d requests are out at once", out-quick)
		}
		if n := r.sending(ids); n < slots || n > 2*slots {
			t.Errorf("%d messages are called sending", n)
		}
		close(silent)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if n := r.provider.count(); n != 2000 {
			t.Errorf("%d messages were sent in the end", n)
		}
		if n := r.sending(ids); n != 0 {
			t.Errorf("%d messages are called sending in the end", n)
		}
	})
}
