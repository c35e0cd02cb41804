package store_test

import (
	"context"
	"testing"
	"time"

	"carillon/internal/store/configure"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/store/accounts"
)

// update runs a transaction.
func (r *rig) update(t *testing.T, fn func(ctx context.Context, tx *configure.Tx) error) error {
	t.Helper()
	return r.Config.Update(t.Context(), fn)
}

func factors(t *testing.T, r *rig) {
	a, other := r.account(t, "ana@example.org"), r.account(t, "bob@example.org")
	if f, err := r.Factors.Factor(t.Context(), a.ID); f != nil || err != nil {
		t.Error(f, err)
	}
	for _, secret := range []string{"first", "second"} {
		if err := r.Factors.ProposeFactor(t.Context(), a.ID, []byte(secret), r.now); err != nil {
			t.Fatal(err)
		}
	}
	if done, err := r.Factors.ConfirmFactor(t.Context(), other.ID, 7, []string{"x"}, r.now); done || err != nil {
		t.Error("another account's:", done, err)
	}
	for i, want := range []bool{true, false} {
		if done, err := r.Factors.ConfirmFactor(t.Context(), a.ID, 7, []string{"one", "two"}, r.now); done != want || err != nil {
			t.Errorf("confirmed %d times: %t, %v", i+1, done, err)
		}
	}
	if err := r.Factors.ProposeFactor(t.Context(), a.ID, []byte("third"), r.now); !carillon.IsCode(err, carillon.Conflict) {
		t.Error("over a confirmed one:", err)
	}
	got, err := r.Factors.Factor(t.Context(), a.ID)
	want := &accounts.Factor{AccountID: a.ID, Secret: []byte("second"), ConfirmedAt: r.now, LastStep: 7, Recovery: 2}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Error(err, d)
	}
	for _, x := range []struct {
		step int64
		want bool
	}{{7, false}, {6, false}, {8, true}, {8, false}} {
		if ok, err := r.Factors.SpendStep(t.Context(), a.ID, x.step); ok != x.want || err != nil {
			t.Errorf("the code of %d: %t, %v", x.step, ok, err)
		}
	}
	for _, x := range []struct {
		account, code string
		want          bool
	}{{other.ID, "one", false}, {a.ID, "three", false}, {a.ID, "one", true}, {a.ID, "one", false}} {
		if ok, err := r.Factors.SpendRecovery(t.Context(), x.account, x.code); ok != x.want || err != nil {
			t.Errorf("the recovery code %s: %t, %v", x.code, ok, err)
		}
	}
	if err := r.Factors.ReplaceRecovery(t.Context(), a.ID, []string{"four"}); err != nil {
		t.Fatal(err)
	}
	if ok, err := r.Factors.SpendRecovery(t.Context(), a.ID, "two"); ok || err != nil {
		t.Error("a replaced recovery code:", ok, err)
	}
	c := ours
	if err := r.update(t, func(ctx context.Context, tx *configure.Tx) error {
		for _, x := range []*accounts.Account{a, other} {
			if err := accounts.AddMembership(ctx, tx, accounts.Membership{AccountID: x.ID, CompanyID: c, Role: "viewer"}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if all, err := r.Factors.FactorsOf(t.Context(), c); err != nil || len(all) != 1 || !all[a.ID] {
		t.Error(all, err)
	}
	if err := r.update(t, func(ctx context.Context, tx *configure.Tx) error { return accounts.RemoveFactor(ctx, tx, a.ID) }); err != nil {
		t.Fatal(err)
	}
	if f, err := r.Factors.Factor(t.Context(), a.ID); f != nil || err != nil {
		t.Error(f, err)
	}
}

func invitations(t *testing.T, r *rig) {
	acme, beta := ours, theirs
	put := func(company, email, secret string, life time.Duration) *accounts.Invitation {
		t.Helper()
		x := &accounts.Invitation{
			CompanyID: company, Email: email, Role: "viewer", InvitedBy: "Ana", InviterID: "ana", CreatedAt: r.now,
			ExpiresAt: r.now.Add(life),
		}
		if err := r.update(t, func(ctx context.Context, tx *configure.Tx) error {
			return accounts.PutInvitation(ctx, tx, x, secret)
		}); err != nil {
			t.Fatal(err)
		}
		return x
	}
	first := put(acme, "Vera@example.org", "first", time.Hour)
	again := put(acme, "vera@example.org", "second", time.Hour)
	other := put(beta, "vera@example.org", "third", time.Hour)
	put(acme, "late@example.org", "late", -time.Hour)
	if again.ID != first.ID || other.ID == first.ID {
		t.Error("an invitation sent again is another one, or two companies' are one")
	}
	if x, err := r.Links.InvitationBy(t.Context(), "first"); x != nil || err != nil {
		t.Error("by a link before:", x, err)
	}
	got, err := r.Links.InvitationBy(t.Context(), "second")
	if d := cmp.Diff(again, got); err != nil || d != "" {
		t.Error(err, d)
	}
	for _, secret := range []string{"first", "second"} { // an e-mail with the first link says nothing of the second
		if err := r.Links.InvitationSent(t.Context(), secret, r.now); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := r.Links.Invitations(t.Context(), acme, 10); err != nil || len(all) != 2 || all[0].Email != "late@example.org" ||
		!all[1].SentAt.Equal(r.now) {
		t.Error(all, err)
	}
	if all, err := r.Links.InvitationsOf(t.Context(), "VERA@example.org", r.now, 10); err != nil || len(all) != 2 {
		t.Error(all, err)
	}
	if all, err := r.Links.InvitationsOf(t.Context(), "late@example.org", r.now, 10); err != nil || len(all) != 0 {
		t.Error(all, err)
	}
	if err := r.update(t, func(ctx context.Context, tx *configure.Tx) error {
		if x, err := accounts.FindInvitation(ctx, tx, beta, first.ID); x != nil || err != nil {
			t.Error("by another company:", x, err)
		}
		if n, err := accounts.CountInvitations(ctx, tx, acme); n != 2 || err != nil {
			t.Error(n, err)
		}
		for _, x := range []struct {
			secret string
			want   bool
		}{{"first", false}, {"late", false}, {"second", true}, {"second", false}} {
			if spent, err := accounts.SpendInvitation(ctx, tx, x.secret, r.now); spent != x.want || err != nil {
				t.Errorf("the link %s: %t, %v", x.secret, spent, err)
			}
		}
		if err := accounts.RemoveInvitation(ctx, tx, acme, other.ID); !carillon.IsCode(err, carillon.NotFound) {
			t.Error("another company's:", err)
		}
		return accounts.RemoveInvitation(ctx, tx, beta, other.ID)
	}); err != nil {
		t.Fatal(err)
	}
	if err := r.Links.DropLinks(t.Context(), r.now); err != nil {
		t.Fatal(err)
	}
	if all, err := r.Links.Invitations(t.Context(), acme, 10); err != nil || len(all) != 0 {
		t.Error("what expired stays:", all, err)
	}
}

func passwordLinks(t *testing.T, r *rig) {
	a, late := r.account(t, "ana@example.org"), r.account(t, "late@example.org")
	put := func(x accounts.PasswordLink, secret string, life time.Duration) {
		t.Helper()
		x.CreatedAt, x.ExpiresAt = r.now, r.now.Add(life)
		if err := r.update(t, func(ctx context.Context, tx *configure.Tx) error {
			return accounts.PutPasswordLink(ctx, tx, x, secret)
		}); err != nil {
			t.Fatal(err)
		}
	}
	whose := func(secret string) (id string) {
		t.Helper()
		x, err := r.Links.PasswordLink(t.Context(), secret)
		if err != nil {
			t.Fatal(err)
		}
		if x != nil {
			id = x.AccountID + " " + x.MadeBy + " " + x.CompanyID
		}
		return id
	}
	put(accounts.PasswordLink{AccountID: a.ID, CompanyID: ours, MadeBy: late.ID}, "first", time.Hour)
	put(accounts.PasswordLink{AccountID: a.ID}, "second", time.Hour)
	put(accounts.PasswordLink{AccountID: a.ID}, "old", -time.Minute)
	put(accounts.PasswordLink{AccountID: late.ID}, "late", -time.Hour)
	proves := func(secret string, want bool) {
		t.Helper()
		if x, err := r.Links.PasswordLink(t.Context(), secret); err != nil || x.Proves() != want {
			t.Errorf("the link %s proves who has it: %+v, %v", secret, x, err)
		}
	}
	proves("first", false)
	proves("second", true)
	if err := r.Links.PasswordLinkSent(t.Context(), "first", r.now); err != nil {
		t.Error(err)
	}
	proves("first", true)
	for secret, want := range map[string]string{
		"first": a.ID + " " + late.ID + " " + ours, "second": a.ID + "  ", "late": late.ID + "  ", "other": "",
	} {
		if got := whose(secret); got != want {
			t.Errorf("%s: %s", secret, got)
		}
	}
	if err := r.update(t, func(ctx context.Context, tx *configure.Tx) error {
		if n, err := accounts.CountPasswordLinks(ctx, tx, a.ID, r.now); n != 1 || err != nil {
			t.Error("links that were asked for and are valid:", n, err)
		}
		for _, x := range []struct {
			secret string
			want   bool
		}{{"first", true}, {"first", false}, {"late", false}, {"second", true}} {
			if spent, err := accounts.SpendPasswordLink(ctx, tx, x.secret, r.now); spent != x.want || err != nil {
				t.Errorf("the link %s: %t, %v", x.secret, spent, err)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	put(accounts.PasswordLink{AccountID: a.ID}, "third", time.Hour)
	if err := r.update(t, func(ctx context.Context, tx *configure.Tx) error {
		return accounts.SetPassword(ctx, tx, a.ID, "h2", "", r.now)
	}); err != nil {
		t.Fatal(err)
	}
	if got := whose("third"); got != "" {
		t.Error("after another change of the password:", got)
	}
	if err := r.Links.DropLinks(t.Context(), r.now); err != nil {
		t.Fatal(err)
	}
	if got := whose("late"); got != "" {
		t.Error("what expired stays:", got)
	}
}

func proofs(t *testing.T, r *rig) {
	a := r.account(t, "ana@example.org")
	if err := r.Factors.ProposeFactor(t.Context(), a.ID, []byte("secret"), r.now); err != nil {
		t.Fatal(err)
	}
	prove := func(want bool, hash string) {
		t.Helper()
		if err := r.update(t, func(ctx context.Context, tx *configure.Tx) error {
			was, err := accounts.Proved(ctx, tx, a.ID)
			if err != nil {
				return err
			}
			did, err := accounts.Prove(ctx, tx, a.ID, hash, r.now)
			if did != want || was == want {
				t.Errorf("proved before: %t, now: %t", was, did)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	hash := func() string {
		got, err := r.Accounts.Account(t.Context(), a.ID)
		if err != nil {
			t.Fatal(err)
		}
		return got.PasswordHash
	}
	prove(true, "fresh")
	if f, err := r.Factors.Factor(t.Context(), a.ID); f != nil || err != nil || hash() != "fresh" {
		t.Error("what the maker of the account left:", f, err, hash())
	}
	if prove(false, "second"); hash() != "fresh" {
		t.Error("a proved account got another password")
	}
	if err := r.update(t, func(ctx context.Context, tx *configure.Tx) error {
		return accounts.SetProof(ctx, tx, a.ID, time.Time{})
	}); err != nil {
		t.Fatal(err)
	}
	prove(true, "third")
}

func identities(t *testing.T, r *rig) {
	a, other := r.account(t, "ana@example.org"), r.account(t, "bob@example.org")
	if err := r.update(t, func(ctx context.Context, tx *configure.Tx) error {
		for _, x := range []struct {
			account, issuer, subject string
			want                     bool
		}{
			{a.ID, "i", "1", true},
			{a.ID, "i", "2", false},
			{other.ID, "i", "1", false},
			{other.ID, "i", "2", true},
			{a.ID, "j", "2", true},
			{"nobody", "i", "3", false},
		} {
			if ok, err := accounts.PutIdentity(ctx, tx, x.account, x.issuer, x.subject, r.now); ok != x.want || err != nil {
				t.Errorf("%+v: %t, %v", x, ok, err)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for subject, want := range map[[2]string]*accounts.Account{{"i", "1"}: a, {"i", "2"}: other, {"j", "2"}: a, {"j", "1"}: nil} {
		got, err := r.Accounts.AccountBySubject(t.Context(), subject[0], subject[1])
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Error(subject, err, d)
		}
	}
}
