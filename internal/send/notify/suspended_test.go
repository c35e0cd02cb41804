package notify_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/storetest"
)

func TestNothingOfASuspendedCompanyLeavesThoughItWasReadAhead(t *testing.T) {
	dir := storetest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, store.Options{Dir: dir}, nil) // its queue does not know of suspensions
		defer r.start()()
		suspend := func(suspended bool) {
			r.company.Suspended = suspended
			if err := r.store.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
				return accounts.PutCompany(ctx, tx, r.company, time.Now())
			}); err != nil {
				t.Fatal(err)
			}
		}
		r.provider.decide = deferred(9)
		due := time.Now().Add(10 * time.Second).UTC()
		id := r.accept(body(`,"datetime_sending":"`+due.Format("2006-01-02T15:04:05.000")+`"`, "34600111222", "34600111223"))
		time.Sleep(9500 * time.Millisecond) // it is prefetched
		suspend(true)
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := r.provider.count(); n != 0 {
			t.Errorf("%d messages left", n)
		}
		suspend(false)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := r.provider.count(); n < 2 {
			t.Errorf("%d requests left in the end", n)
		}
		time.Sleep(6 * time.Hour)
		synctest.Wait()
		if v := r.view(id); sentOf(v) != 2 {
			t.Errorf("in the end %v: looking at a suspended company's messages used their attempts up", v.Counts)
		}
	})
}
