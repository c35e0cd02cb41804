package notify_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"
)

func TestTheBodyIsKeptOnlyForRecipientsToSendTo(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		r := newRig(t, o, func(r *rig) { r.company.Suppresses = true })
		defer r.start()()
		if err := r.store.Suppressions.Suppress(t.Context(), r.company.ID, settings.SuppressAll, "stop", time.Now(), "34600111222",
			"34600111223"); err != nil {
			t.Fatal(err)
		}
		skipped := r.accept(body("", "34600111222", "34600111223"))
		mixed := r.accept(body("", "34600111222", "34600111224"))
		for id, kept := range map[string]bool{skipped: false, mixed: true} {
			n, err := r.store.Notifications.Load(t.Context(), carillon.SeqOf(id))
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

// An id or number entered by another company never causes a refusal. A number that is proved to belong to another
// company does.
func TestAcceptRefusesOnlyNumbersProvedToBeAnothers(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		r := newRig(t, o, nil)
		defer r.start()()
		const entered, number, proved = "invoice-7", "34600111222", "34600111333"
		if err := r.store.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
			other := &carillon.Company{ID: carillon.NewID(time.Now()), Name: "Other"}
			err := accounts.PutCompany(ctx, tx, other, time.Now())
			for id, number := range map[string]string{entered: number, "own": proved} {
				x := *r.sender
				x.CompanyID, x.ID, x.Number, x.Default, x.UID = other.ID, id, number, false, 0
				err = errors.Join(err, settings.PutSender(ctx, tx, &x, time.Now()))
				if number == proved {
					_, unproved := settings.ProveNumber(ctx, tx, &x, false, time.Now())
					err = errors.Join(err, unproved)
				}
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		to := func(recipientID string) error {
			b := strings.Replace(string(body("", "34600000001")), `"recipient_id":"main"`, `"recipient_id":"`+recipientID+`"`, 1)
			_, err := r.submit(t.Context(), []byte(b))
			return err
		}
		for _, name := range []string{entered, number, "own", "flow"} {
			if err := to(name); err != nil {
				t.Errorf("to %s: %v", name, err)
			}
		}
		if err := to(proved); !carillon.IsCode(err, carillon.Forbidden) {
			t.Errorf("to a number of another company: %v", err)
		}
	})
}
