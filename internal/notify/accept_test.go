package notify_test

import (
	"testing"
	"time"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/suppressions"
)

func TestTheBodyIsKeptOnlyForRecipientsToSendTo(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		r := newRig(t, o, func(r *rig) { r.company.Suppresses = true })
		defer r.start()()
		if err := r.store.Suppress(t.Context(), r.company.ID, suppressions.All, "stop", time.Now(), "34600111222", "34600111223"); err != nil {
			t.Fatal(err)
		}
		skipped := r.accept(body("", "34600111222", "34600111223"))
		mixed := r.accept(body("", "34600111222", "34600111224"))
		for id, kept := range map[string]bool{skipped: false, mixed: true} {
			n, err := r.store.LoadNotification(t.Context(), carillon.SeqOf(id))
			if err != nil || (n.Body != "") != kept {
				t.Errorf("%q is stored, %v", n.Body, err)
			}
		}
		v := r.view(skipped)
		if v.State != carillon.StateCompleted || v.TemplateName != "hello" || v.Campaign != "c" || len(v.Recipients) != 2 {
			t.Errorf("%+v", v)
		}
	})
}
