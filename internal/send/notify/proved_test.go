package notify_test

import (
	"testing"
	"testing/synctest"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/send/notify"
	"carillon/internal/store"
)

// The channel accepted a message but its response was lost. A tap on the message's button, with an unknown id, proves
// that the message arrived: it is not sent again, and its flow begins. If the tap could belong to two messages, it
// proves nothing.
func TestATapProvesThatItsMessageArrived(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, store.Options{Dir: dir}, func(r *rig) { r.provider.always(provider.Outcome{Verdict: provider.Unknown}) })
		defer r.start()()
		const number, other = "34600111222", "34600111333"
		id := r.accept(body(`,"name_event":"shipped"`, number))
		for range 2 {
			r.accept(body(`,"name_event":"shipped"`, other))
		}
		await(t, "all are taken", func() bool { return r.provider.count() >= 3 })
		prove := func(company string, uid int64, number, providerID string) bool {
			t.Helper()
			s := *r.sender
			s.CompanyID, s.UID = company, uid
			known, err := notify.Proved(t.Context(), r.notify, &s, identity.Numbers(number), providerID)
			if err != nil {
				t.Fatal(err)
			}
			return known
		}
		if prove(carillon.NewID(time.Now()), r.sender.UID, number, "wamid.x") || prove(r.company.ID, r.sender.UID+1, number, "wamid.x") {
			t.Error("another company or sender proves it")
		}
		if prove(r.company.ID, r.sender.UID, other, "wamid.y") {
			t.Error("one of two is proved")
		}
		if !prove(r.company.ID, r.sender.UID, number, "wamid.x") || prove(r.company.ID, r.sender.UID, number, "wamid.x") {
			t.Error("it is not proved, once")
		}
		await(t, "it has arrived", func() bool { return r.view(id).State == carillon.StateCompleted })
		if m := r.view(id).Recipients[0]; m.State != carillon.StateDelivered || m.ProviderID != "wamid.x" {
			t.Errorf("%+v", m)
		}
		all, err := notify.Bound(t.Context(), r.store, r.company.ID, r.sender.UID, identity.Numbers(number), "wamid.x", time.Now())
		if err != nil || len(all) != 1 || all[0].Event != "shipped" {
			t.Errorf("it begins %+v, %v", all, err)
		}
		before := r.provider.count()
		time.Sleep(time.Hour)
		for _, x := range r.provider.sent[before:] {
			if x.Number == number {
				t.Error("it is sent again")
			}
		}
	})
}
