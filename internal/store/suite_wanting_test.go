package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/store/chats"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"
)

func wanting() []sentence {
	return []sentence{
		{"a number is suppressed in every form, and lifted by any", suppressedInEveryForm},
		{"what a person wants by the id counts for the numbers, known then or later", suppressedByID},
		{"what a person wants by a number counts for the id, and for a number that is noted", suppressedByNumber},
		{"a person is suppressed under another number too, and not the stranger's history", suppressedAfterAChange},
		{"people without a number are on the list by their ids", idsAreListed},
		{"a number that a teammate noted of somebody stays suppressed as its owner wants", notedNumberIsItsOwners},
		{"who had a number stays suppressed, also under another number", formerOwnerStaysSuppressed},
		{"a number that becomes known while its person is suppressed is suppressed too", knownMeanwhile},
	}
}

// suppressedAre checks which addresses are suppressed.
func (r *rig) suppressedAre(t *testing.T, company string, want map[string]bool) {
	t.Helper()
	for address, is := range want {
		who := identity.Of(address)
		found, err := r.Suppressions.Suppressed(t.Context(), company, carillon.Transactional, []identity.Key{who})
		if err != nil || found[who] != is {
			t.Errorf("%s is suppressed: %t, %v", address, found[who], err)
		}
	}
}

func (r *rig) suppress(t *testing.T, addresses ...string) {
	t.Helper()
	if err := r.Suppressions.Suppress(t.Context(), ours, settings.SuppressAll, "asked in a message", r.now, addresses...); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) unsuppress(t *testing.T, address string) {
	t.Helper()
	if removed, err := r.Suppressions.Unsuppress(t.Context(), ours, identity.Of(address)); err != nil || !removed {
		t.Fatal(removed, err)
	}
}

func suppressedInEveryForm(t *testing.T, r *rig) {
	for _, forms := range [][2]string{
		{"525512345601", "5215512345601"}, {"541123456789", "5491123456789"}, {"555198765432", "5551998765432"},
	} {
		for i := range forms {
			given, other := forms[i], forms[1-i]
			r.suppress(t, given)
			r.suppressedAre(t, ours, map[string]bool{given: true, other: true})
			r.suppressedAre(t, theirs, map[string]bool{given: false, other: false})
			r.suppress(t, other) // it is on the list
			if x, err := r.Suppressions.Suppression(t.Context(), ours, identity.Number(other)); err != nil || x.Number != given {
				t.Errorf("the entry is %+v, %v", x, err)
			}
			if all, err := r.Suppressions.Suppressions(t.Context(), ours, "", 10); err != nil || len(all) != 1 {
				t.Errorf("the list is %+v, %v", all, err)
			}
			r.unsuppress(t, other)
			r.suppressedAre(t, ours, map[string]bool{given: false, other: false})
		}
	}
	r.suppress(t, "551132345678")
	r.suppressedAre(t, ours, map[string]bool{"5511932345678": false})
}

func suppressedByID(t *testing.T, r *rig) {
	id := personOf("w", "US.1")
	r.meets(t, ours, []identity.Identity{id, line("34600111222")}[:1])
	r.suppress(t, "US.1")
	r.suppressedAre(t, ours, map[string]bool{"US.1": true, "34600111222": false})
	r.meets(t, ours, []identity.Identity{line("525512345601"), id})
	r.suppressedAre(t, ours, map[string]bool{"US.1": true, "525512345601": true, "5215512345601": true})
	if all, err := r.Suppressions.Suppressions(t.Context(), ours, "", 10); err != nil || len(all) != 1 ||
		all[0].Number != "525512345601" || all[0].UserID != "US.1" {
		t.Errorf("the list is %+v, %v", all, err)
	}
	r.unsuppress(t, "US.1")
	r.suppressedAre(t, ours, map[string]bool{"US.1": false, "5215512345601": false})
	// Both are known when the person asks.
	second := personOf("w", "US.2")
	r.meets(t, ours, []identity.Identity{line("34600111333"), second})
	r.suppress(t, "US.2")
	r.suppressedAre(t, ours, map[string]bool{"US.2": true, "34600111333": true})
	r.unsuppress(t, "34600111333")
	r.suppressedAre(t, ours, map[string]bool{"US.2": false, "34600111333": false})
}

func suppressedByNumber(t *testing.T, r *rig) {
	id := personOf("w", "US.1")
	o := r.meets(t, ours, []identity.Identity{line("34600111222"), id})
	r.suppress(t, "34600111222")
	r.suppressedAre(t, ours, map[string]bool{"US.1": true})
	noted := "5215512345601"
	if _, err := r.Contacts.EditContact(t.Context(), ours, o.Contact.ID, chats.ContactEdit{Number: &noted}); err != nil {
		t.Fatal(err)
	}
	r.suppressedAre(t, ours, map[string]bool{"525512345601": true})
	if c, err := r.Chats.OfPerson(t.Context(), ours, line(noted)); err != nil || c != nil {
		t.Errorf("a number that a teammate noted finds the conversation: %v, %v", c, err)
	}
	none := ""
	if _, err := r.Contacts.EditContact(t.Context(), ours, o.Contact.ID, chats.ContactEdit{Number: &none}); err != nil {
		t.Fatal(err)
	}
	r.checkKnown(t, o.Contact.ID, "line 34600111222", "person w US.1")
}

func suppressedAfterAChange(t *testing.T, r *rig) {
	old := []identity.Identity{line("34600111222"), personOf("w", "US.1")}
	r.meets(t, ours, old)
	r.suppress(t, "34600111222")
	r.meets(t, ours, old, func(o *chats.Open) {
		o.Became, o.Contact.Number = []identity.Identity{line("34600111333"), personOf("w", "US.2")}, "34600111333"
	})
	r.suppressedAre(t, ours, map[string]bool{"34600111222": true, "34600111333": true, "US.2": true})
	// The next owner of the number has not asked for messages.
	r.meets(t, ours, []identity.Identity{line("34600111222"), personOf("w", "US.3")})
	r.suppressedAre(t, ours, map[string]bool{"34600111222": true})
	r.unsuppress(t, "US.3")
	r.suppressedAre(t, ours, map[string]bool{"34600111222": false, "34600111333": true})
}

func idsAreListed(t *testing.T, r *rig) {
	r.suppress(t, "34600111222", "US.1", "ES.2")
	var got []string
	for after := ""; ; {
		page, err := r.Suppressions.Suppressions(t.Context(), ours, after, 2)
		if err != nil {
			t.Fatal(err)
		}
		for i := range page {
			got = append(got, page[i].Number+"/"+page[i].UserID)
		}
		if len(page) < 2 {
			break
		}
		after = page[1].Address()
	}
	if d := cmp.Diff([]string{"34600111222/", "/ES.2", "/US.1"}, got); d != "" {
		t.Error(d)
	}
	if page, err := r.Suppressions.SuppressionsFrom(t.Context(), ours, "346", "", 10); err != nil || len(page) != 1 {
		t.Error(page, err)
	}
	r.unsuppress(t, "ES.2")
	r.suppressedAre(t, ours, map[string]bool{"ES.2": false, "US.1": true})
}

// note has a teammate note a number of a contact.
func (r *rig) note(t *testing.T, contactID, number string) {
	t.Helper()
	if _, err := r.Contacts.EditContact(t.Context(), ours, contactID, chats.ContactEdit{Number: &number}); err != nil {
		t.Fatal(err)
	}
}

func notedNumberIsItsOwners(t *testing.T, r *rig) {
	owner := []identity.Identity{line("34600111222"), personOf("w", "US.1")}
	r.meets(t, ours, owner)
	other := r.meets(t, ours, []identity.Identity{line("34600111333"), personOf("w", "US.2")})
	r.suppress(t, "US.1")
	r.note(t, other.Contact.ID, "34600111222")
	r.suppressedAre(t, ours, map[string]bool{"34600111222": true, "US.1": true, "34600111333": false, "US.2": false})
	r.now = r.now.Add(time.Second)
	r.suppress(t, "US.2")
	r.suppressedAre(t, ours, map[string]bool{"34600111222": true, "US.1": true, "34600111333": true, "US.2": true})
	r.unsuppress(t, "34600111333")
	r.suppressedAre(t, ours, map[string]bool{"34600111222": true, "US.1": true, "34600111333": false, "US.2": false})
	r.unsuppress(t, "34600111222")
	r.suppressedAre(t, ours, map[string]bool{"34600111222": false, "US.1": false})
	// Numbers suppressed together with the person are lifted with them.
	r.suppress(t, "US.2")
	r.suppressedAre(t, ours, map[string]bool{"34600111222": true, "US.1": false})
	r.unsuppress(t, "US.2")
	r.suppressedAre(t, ours, map[string]bool{"34600111222": false})
	// So is marketing.
	for i, id := range []string{"US.1", "US.2"} {
		at := r.now.Add(time.Duration(i) * time.Second)
		if err := r.Suppressions.Suppress(t.Context(), ours, settings.SuppressMarketing, settings.OptedOut, at, id); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Suppressions.LiftOptOut(t.Context(), ours, r.now.Add(time.Minute), "US.2"); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]bool{"34600111222": true, "US.1": true, "34600111333": false, "US.2": false} {
		who := identity.Of(address)
		if found, err := r.Suppressions.Suppressed(t.Context(), ours, carillon.Marketing, []identity.Key{who}); err != nil ||
			found[who] != want {
			t.Errorf("%s gets no marketing: %t, %v", address, found[who], err)
		}
	}
}

func formerOwnerStaysSuppressed(t *testing.T, r *rig) {
	first, second := personOf("w", "US.1"), personOf("w", "US.2")
	r.meets(t, ours, []identity.Identity{line("5215512345601"), first})
	r.suppress(t, "525512345601")
	r.meets(t, ours, []identity.Identity{line("525512345601"), second})
	r.suppressedAre(t, ours, map[string]bool{"525512345601": true, "US.1": true, "US.2": true})
	r.meets(t, ours, []identity.Identity{line("34600111222"), first})
	r.suppressedAre(t, ours, map[string]bool{"34600111222": true})
	r.unsuppress(t, "US.2")
	r.suppressedAre(t, ours, map[string]bool{"525512345601": false, "US.2": false, "34600111222": true, "US.1": true})
	r.unsuppress(t, "US.1")
	r.suppressedAre(t, ours, map[string]bool{"34600111222": false, "US.1": false})
	// Each person's opt-out is kept: one from marketing, the other from everything.
	third, fourth := personOf("w", "US.3"), personOf("w", "US.4")
	r.meets(t, ours, []identity.Identity{line("34600111444"), third})
	if err := r.Suppressions.Suppress(t.Context(), ours, settings.SuppressMarketing, settings.OptedOut, r.now, "US.3"); err != nil {
		t.Fatal(err)
	}
	r.suppress(t, "US.4")
	r.meets(t, ours, []identity.Identity{line("34600111444"), fourth})
	r.suppressedAre(t, ours, map[string]bool{"US.3": false, "US.4": true, "34600111444": true})
	if x, err := r.Suppressions.Suppression(t.Context(), ours, identity.User("US.3")); err != nil || x.Type != settings.SuppressMarketing {
		t.Errorf("who had it has %+v, %v", x, err)
	}
}

// meanwhile has a transaction stand open while something else begins, until that waits for it or is done.
func (r *rig) meanwhile(t *testing.T, open func(ctx context.Context, tx *configure.Tx) error, other func()) {
	t.Helper()
	begun, end, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- r.Config.Update(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
			err := open(ctx, tx)
			close(begun)
			<-end
			return err
		})
	}()
	<-begun
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		other()
	}()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for waits := r.DB.Engine() == "sqlite"; !waits; {
		select {
		case <-ended:
			waits = true
		case <-look.C:
			if err := r.DB.Row(t.Context(), []any{&waits}, "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted)"); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(end)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	<-ended
}

// A suppression is stored while the person's first message by a number is taken in: the transactions do not see each other's rows.
func knownMeanwhile(t *testing.T, r *rig) {
	id := personOf("w", "US.1")
	r.meets(t, ours, []identity.Identity{id})
	x := settings.Suppression{Type: settings.SuppressAll, CreatedAt: r.now}
	r.meanwhile(t, func(ctx context.Context, tx *configure.Tx) error {
		if _, err := tx.Exec(ctx, "UPDATE company SET updated_at = updated_at WHERE id = $1", ours); err != nil { // as AddSuppressions does
			return err
		}
		_, err := settings.PlaceSuppression(ctx, tx.Tx, ours, x, "US.1")
		return err
	}, func() { r.meets(t, ours, []identity.Identity{line("34600111222"), id}) })
	r.suppressedAre(t, ours, map[string]bool{"34600111222": true})
}
