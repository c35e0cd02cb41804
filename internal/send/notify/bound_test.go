package notify_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/send/notify"
	"carillon/internal/store"
	"carillon/internal/store/stats"
)

func TestAReplyBelongsToWhatReachedTheNumberWithinAMonth(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, store.Options{Dir: dir}, func(r *rig) {
			r.provider.decide = func(m *provider.Outgoing) provider.Outcome {
				if m.Number == "34600111444" {
					return provider.Outcome{Verdict: provider.Refused, Reason: carillon.ReasonUndeliverable}
				}
				return provider.Outcome{Verdict: provider.Sent, ProviderID: "wamid." + m.Ref.NotificationID}
			}
		})
		defer r.start()()
		const number, other, refused = "34600111222", "34600111333", "34600111444"
		send := func(event, to string) string {
			t.Helper()
			extra := ""
			if event != "" {
				extra = `,"name_event":"` + event + `"`
			}
			id := r.accept(body(extra, to))
			await(t, event+" has ended", func() bool { return r.view(id).State == carillon.StateCompleted })
			return id
		}
		first := send("first", number)
		second := send("second", number)
		silent := send("", number)
		send("to another", other)
		send("refused", refused)
		due := time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05")
		r.accept(body(`,"name_event":"not sent yet","datetime_sending":"`+due+`"`, number))

		now := time.Now()
		check := func(what string, company *carillon.Company, senderUID int64, number, replyTo string, want ...string) {
			t.Helper()
			all, err := notify.Bound(t.Context(), r.store, company.ID, senderUID, identity.Numbers(number), replyTo, now)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, b := range all {
				got = append(got, b.Event)
				if b.Values["name"] != "Ana" || b.Values["number"] != number || b.Language != "en" || b.NotificationID == "" {
					t.Errorf("%s: %+v", what, b)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", what, diff)
			}
		}
		ours, uid := r.company, r.sender.UID
		check("of the number, the newest first", ours, uid, number, "", "second", "first")
		check("to an answer of the first", ours, uid, number, "wamid."+first, "first")
		check("to an answer of one without an event", ours, uid, number, "wamid."+silent)
		check("to an answer of something unknown", ours, uid, number, "wamid.unknown", "second", "first")
		check("of a number that was not reached", ours, uid, refused, "")
		check("over another sender", ours, uid+1, number, "")
		check("in another company", &carillon.Company{ID: carillon.NewID(time.Now())}, uid, number, "")

		shown := func(company, number, id string, want string) {
			t.Helper()
			if got, err := notify.SentAs(t.Context(), r.store, company, uid, identity.Numbers(number), id, now); got != want || err != nil {
				t.Errorf("%s to %s is shown as %q, %v", id, number, got, err)
			}
		}
		shown(ours.ID, number, "wamid."+second, "Hello Ana!")
		shown(ours.ID, other, "wamid."+second, "")
		shown(ours.ID, number, "wamid.unknown", "")
		shown(carillon.NewID(time.Now()), number, "wamid."+second, "")

		replied := func(at time.Time, senderUID int64, number, replyTo string, want int64) {
			t.Helper()
			sender := *r.sender
			sender.UID = senderUID
			if err := r.notify.Replied(t.Context(), &sender, identity.Numbers(number), replyTo, at); err != nil {
				t.Error(err)
			}
			if c, err := r.store.Stats.Total(t.Context(), ours.ID, stats.Filter{}); err != nil || c.Replied != want {
				t.Errorf("%d replies after one of %s to %q, not %d: %v", c.Replied, number, replyTo, want, err)
			}
		}
		replied(now, uid, number, "", 1)
		replied(now, uid, number, "", 1)                    // the same message
		replied(now, uid, number, "wamid."+silent, 1)       // named, and the newest
		replied(now, uid, number, "wamid."+second, 2)       // named, and older
		replied(now, uid, number, "wamid.unknown", 2)       // the newest again
		replied(now, uid, refused, "", 2)                   // nothing reached the number
		replied(now, uid+1, other, "", 2)                   // over another sender
		replied(now.Add(8*24*time.Hour), uid, other, "", 2) // after more than a week
		replied(now.Add(6*24*time.Hour), uid, other, "", 3)

		now = now.Add(30*24*time.Hour + time.Minute)
		check("after a month", ours, uid, number, "")
	})
}
