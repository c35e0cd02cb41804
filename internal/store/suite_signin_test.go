package store_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"carillon/internal/store/configure"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/store/accounts"
)

func signingIn() []sentence {
	return []sentence{
		{"an account is one e-mail's, whatever its letter case", signingUp},
		{"members are seen by their company", members},
		{"a refresh token is good once and once more in its grace, then it ends its family", refreshing},
		{"a refresh token reused after its grace ends its family", refreshingLate},
		{"another password ends the account's sessions", changingPasswords},
		{"a session that is over refreshes nothing and is dropped", endingSessions},
		{"a browser's session is found by its secret, prolonged by its use, and ends as others do", browserSessions},
		{"an access key is found by its secret and its id until revoked", keys},
		{"an access key's secret belongs to one company", keysOfTwoCompanies},
		{"signing keys follow each other, one at a time", signingKeys},
		{"a second factor counts once confirmed, its codes and recovery codes once", factors},
		{"an invitation is one company's and is spent once", invitations},
		{"a link for a password is the last one and is spent once", passwordLinks},
		{"an account is known by one subject of a server", identities},
		{"an account is proved once, and takes nothing of its maker along", proofs},
		{"the first token is spent once, while there is no account", firstToken},
	}
}

func (r *rig) account(t *testing.T, email string) *accounts.Account {
	t.Helper()
	a := &accounts.Account{Email: email, Name: "N", PasswordHash: "h"}
	if err := r.Config.Update(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.AddAccount(ctx, tx, a, r.now)
	}); err != nil {
		t.Fatal(err)
	}
	return a
}

func signingUp(t *testing.T, r *rig) {
	if any, err := r.Accounts.AnyAccount(t.Context()); any || err != nil {
		t.Error(any, err)
	}
	a := r.account(t, "Ana@Example.org")
	got, err := r.Accounts.AccountByEmail(t.Context(), "ANA@example.ORG")
	if d := cmp.Diff(a, got); err != nil || d != "" {
		t.Error(err, d)
	}
	double := &accounts.Account{Email: "ana@example.org"}
	err = r.Config.Update(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.AddAccount(ctx, tx, double, r.now)
	})
	if !carillon.IsCode(err, carillon.Conflict) {
		t.Error(err)
	}
	for from, want := range map[string]bool{"other": false, "h": true} {
		x := accounts.Session{ID: "checked " + from, AccountID: a.ID, CreatedAt: r.now, ExpiresAt: r.now.Add(life)}
		if started, err := r.Sessions.StartSession(t.Context(), x, from, from, "new"); started != want || err != nil {
			t.Errorf("a session begun with the hash %s: %t, %v", from, started, err)
		}
	}
	if got, err := r.Accounts.Account(t.Context(), a.ID); err != nil || got.PasswordHash != "new" {
		t.Error(got, err)
	}
	if forms, err := r.Accounts.PasswordHashes(t.Context()); !slices.Equal(forms, []string{"new"}) || err != nil {
		t.Error(forms, err)
	}
	put := &accounts.Account{Email: "ANA@example.org", Name: "Other"}
	if err := r.Config.Update(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.PutAccount(ctx, tx, put, r.now)
	}); err != nil || put.ID != a.ID {
		t.Error(put.ID, err)
	}
	if got, err := r.Accounts.Account(t.Context(), a.ID); err != nil || got.Name != "Other" || got.PasswordHash != "new" {
		t.Error(got, err)
	}
	if nobody, err := r.Accounts.Account(t.Context(), "nobody"); nobody != nil || err != nil {
		t.Error(nobody, err)
	}
	if any, err := r.Accounts.AnyAccount(t.Context()); !any || err != nil {
		t.Error(any, err)
	}
}

func members(t *testing.T, r *rig) {
	ana, bob := r.account(t, "ana@example.org"), r.account(t, "bob@example.org")
	join := func(a *accounts.Account, company, role string) error {
		return r.Config.Update(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
			return accounts.AddMembership(ctx, tx, accounts.Membership{AccountID: a.ID, CompanyID: company, Role: role})
		})
	}
	if err := errors.Join(join(ana, ours, "owner"), join(bob, ours, "viewer"), join(ana, theirs, "teammate")); err != nil {
		t.Fatal(err)
	}
	if err := join(ana, ours, "viewer"); !carillon.IsCode(err, carillon.Conflict) {
		t.Error(err)
	}
	all, err := accounts.Memberships(t.Context(), r.DB, ana.ID)
	if want := []accounts.Membership{
		{AccountID: ana.ID, CompanyID: ours, Role: "owner"},
		{AccountID: ana.ID, CompanyID: theirs, Role: "teammate"},
	}; err != nil || !slices.Equal(all, want) {
		t.Error(all, err)
	}
	ids := []string{ana.ID, bob.ID}
	slices.Sort(ids)
	var got []string
	for after := ""; ; {
		page, err := r.Accounts.Members(t.Context(), ours, after, 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		got, after = append(got, page[0].ID), page[0].ID
	}
	if !slices.Equal(got, ids) {
		t.Errorf("members %v, want %v", got, ids)
	}
	if page, err := r.Accounts.Members(t.Context(), theirs, "", 10); err != nil || len(page) != 1 ||
		page[0].Email != "ana@example.org" || page[0].Role != "teammate" {
		t.Error(page, err)
	}
	err = r.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		if n, err := accounts.CountMembers(ctx, tx, ours, "owner"); n != 1 || err != nil {
			t.Errorf("%d owners, %v", n, err)
		}
		return errors.Join(accounts.RemoveMembership(ctx, tx, accounts.Membership{AccountID: ana.ID, CompanyID: ours}),
			accounts.RemoveMembership(ctx, tx, accounts.Membership{AccountID: bob.ID, CompanyID: ours}))
	})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := r.Accounts.Account(t.Context(), ana.ID); a == nil || err != nil {
		t.Errorf("a member of another company: %v, %v", a, err)
	}
	if a, err := r.Accounts.Account(t.Context(), bob.ID); a != nil || err != nil {
		t.Errorf("a member of none: %v, %v", a, err)
	}
}

const (
	grace = 10 * time.Second
	life  = time.Hour
)

func (r *rig) refresh(t *testing.T, token, next string) accounts.Refreshed {
	t.Helper()
	_, end, err := r.Sessions.Refresh(t.Context(), token, next, r.now, grace, life)
	if err != nil {
		t.Fatal(err)
	}
	return end
}

func (r *rig) session(t *testing.T, a *accounts.Account, id, token string) {
	t.Helper()
	x := accounts.Session{ID: id, AccountID: a.ID, CreatedAt: r.now, ExpiresAt: r.now.Add(life)}
	if started, err := r.Sessions.StartSession(t.Context(), x, token, "h", "h"); !started || err != nil {
		t.Fatal(started, err)
	}
}

func refreshing(t *testing.T, r *rig) {
	a := r.account(t, "ana@example.org")
	r.session(t, a, "s", "t1")
	if got, err := r.Accounts.Account(t.Context(), a.ID); err != nil || !got.LastSignInAt.Equal(r.now) {
		t.Error(got, err)
	}
	r.now = r.now.Add(time.Minute)
	x, end, err := r.Sessions.Refresh(t.Context(), "t1", "t2", r.now, grace, life)
	if want := (accounts.Session{
		ID: "s", AccountID: a.ID, CreatedAt: r.now.Add(-time.Minute),
		ExpiresAt: r.now.Add(life),
	}); err != nil || end != accounts.RefreshDone || x != want {
		t.Error(x, end, err)
	}
	r.now = r.now.Add(grace - time.Millisecond)
	if end := r.refresh(t, "t1", "t3"); end != accounts.RefreshDone {
		t.Errorf("within its grace: %d", end)
	}
	if end := r.refresh(t, "none", "t4"); end != accounts.RefreshUnknown {
		t.Errorf("nobody's token: %d", end)
	}
	if end := r.refresh(t, "t1", "t5"); end != accounts.RefreshRevoked {
		t.Errorf("reused twice within its grace: %d", end)
	}
	for _, token := range []string{"t2", "t3"} {
		if end := r.refresh(t, token, token+"'"); end != accounts.RefreshRevoked {
			t.Errorf("%s of a revoked family: %d", token, end)
		}
	}
	if x, err := r.Sessions.Session(t.Context(), "s"); err != nil || !x.EndedAt.Equal(r.now) {
		t.Error(x, err)
	}
}

func refreshingLate(t *testing.T, r *rig) {
	r.session(t, r.account(t, "ana@example.org"), "s", "t1")
	if end := r.refresh(t, "t1", "t2"); end != accounts.RefreshDone {
		t.Errorf("the first use: %d", end)
	}
	r.now = r.now.Add(grace)
	for _, token := range []string{"t1", "t2"} {
		if end := r.refresh(t, token, token+"'"); end != accounts.RefreshRevoked {
			t.Errorf("%s, the first of which was reused after its grace: %d", token, end)
		}
	}
}

func changingPasswords(t *testing.T, r *rig) {
	a, other := r.account(t, "ana@example.org"), r.account(t, "bob@example.org")
	for _, id := range []string{"one", "two", "three"} {
		r.session(t, a, id, id)
	}
	r.session(t, other, "other", "other")
	change := func(fn func(ctx context.Context, tx *configure.Tx) error) {
		t.Helper()
		if err := r.Config.Update(t.Context(), fn); err != nil {
			t.Fatal(err)
		}
	}
	live := func(want ...string) {
		t.Helper()
		for _, id := range []string{"one", "two", "three", "other"} {
			x, err := r.Sessions.Session(t.Context(), id)
			if err != nil || x.EndedAt.IsZero() != slices.Contains(want, id) {
				t.Errorf("session %s: %+v, %v; want %v to live", id, x, err, want)
			}
		}
	}
	put := func(hash string) {
		t.Helper()
		change(func(ctx context.Context, tx *configure.Tx) error {
			return accounts.PutAccount(ctx, tx, &accounts.Account{Email: a.Email, Name: "New name", PasswordHash: hash}, r.now)
		})
	}
	put("h")
	put("")
	live("one", "two", "three", "other")
	change(func(ctx context.Context, tx *configure.Tx) error {
		return accounts.EndSessions(ctx, tx, a.ID, "two", r.now)
	})
	live("two", "other")
	r.session(t, a, "four", "four")
	change(func(ctx context.Context, tx *configure.Tx) error {
		return accounts.SetPassword(ctx, tx, a.ID, "changed", "four", r.now)
	})
	live("other")
	if end := r.refresh(t, "four", "five"); end != accounts.RefreshDone {
		t.Errorf("the session that changed the password: %d", end)
	}
	put("by a set-up")
	live("other")
	if end := r.refresh(t, "five", "six"); end != accounts.RefreshRevoked {
		t.Errorf("after a set-up changed the password: %d", end)
	}
	if got, err := r.Accounts.Account(t.Context(), a.ID); err != nil || got.PasswordHash != "by a set-up" {
		t.Error(got, err)
	}
}

func endingSessions(t *testing.T, r *rig) {
	a := r.account(t, "ana@example.org")
	r.session(t, a, "ended", "e")
	r.session(t, a, "old", "o")
	r.now = r.now.Add(life / 2)
	r.session(t, a, "young", "y")
	if err := r.Sessions.EndSession(t.Context(), "ended", r.now); err != nil {
		t.Fatal(err)
	}
	r.now = r.now.Add(life / 2)
	for token, want := range map[string]accounts.Refreshed{
		"e": accounts.RefreshRevoked, "o": accounts.RefreshExpired, "y": accounts.RefreshDone,
	} {
		if end := r.refresh(t, token, token+"2"); end != want {
			t.Errorf("%s: %d, want %d", token, end, want)
		}
	}
	if err := r.Sessions.DropSessions(t.Context(), r.now.Add(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]bool{"ended": false, "old": false, "young": true} {
		if x, err := r.Sessions.Session(t.Context(), id); (x != nil) != want || err != nil {
			t.Error(id, x, err)
		}
	}
	if end := r.refresh(t, "o", "o3"); end != accounts.RefreshUnknown {
		t.Errorf("a dropped session's token is kept: %d", end)
	}
}

func browserSessions(t *testing.T, r *rig) {
	a, other := r.account(t, "ana@example.org"), r.account(t, "bob@example.org")
	x := accounts.Browser{
		Session: accounts.Session{ID: "b1", AccountID: a.ID, CreatedAt: r.now, ExpiresAt: r.now.Add(life)}, Address: "192.0.2.1",
		Agent: "Browser",
	}
	if started, err := r.Sessions.StartBrowser(t.Context(), x, "secret", "another hash", "h"); started || err != nil {
		t.Error("with a password that changed meanwhile:", started, err)
	}
	if started, err := r.Sessions.StartBrowser(t.Context(), x, "secret", "h", "h"); !started || err != nil {
		t.Fatal(started, err)
	}
	r.now = r.now.Add(time.Minute)
	r.session(t, a, "s2", "token")
	r.session(t, other, "s3", "other token")
	if got, err := r.Sessions.Browser(t.Context(), "another secret"); got != nil || err != nil {
		t.Error(got, err)
	}
	want := x
	want.UsedAt, want.Address, want.Agent = x.CreatedAt, "", ""
	got, err := r.Sessions.Browser(t.Context(), "secret")
	if d := cmp.Diff(&want, got); err != nil || d != "" {
		t.Error(err, d)
	}
	if err := r.Sessions.UseBrowser(t.Context(), "b1", r.now, r.now.Add(2*life)); err != nil {
		t.Fatal(err)
	}
	x.UsedAt, x.ExpiresAt = r.now, r.now.Add(2*life)
	plain := accounts.Browser{
		Session: accounts.Session{ID: "s2", AccountID: a.ID, CreatedAt: r.now, ExpiresAt: r.now.Add(life)}, UsedAt: r.now,
	}
	all, err := r.Sessions.Sessions(t.Context(), a.ID, r.now, 10)
	if d := cmp.Diff([]accounts.Browser{plain, x}, all); err != nil || d != "" {
		t.Error(err, d)
	}
	if all, err := r.Sessions.Sessions(t.Context(), a.ID, r.now.Add(life), 10); err != nil || len(all) != 1 || all[0].ID != "b1" {
		t.Error(all, err)
	}
	for id, of := range map[string]string{"b1": other.ID, "none": a.ID} {
		if ended, err := r.Sessions.EndOwnSession(t.Context(), of, id, r.now); ended || err != nil {
			t.Error(id, ended, err)
		}
	}
	if ended, err := r.Sessions.EndOwnSession(t.Context(), a.ID, "b1", r.now); !ended || err != nil {
		t.Error(ended, err)
	}
	if ended, err := r.Sessions.EndOwnSession(t.Context(), a.ID, "b1", r.now); ended || err != nil {
		t.Error("ended twice:", ended, err)
	}
	if err := r.Sessions.UseBrowser(t.Context(), "b1", r.now, r.now.Add(9*life)); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Sessions.Browser(t.Context(), "secret"); err != nil || !got.EndedAt.Equal(r.now) ||
		!got.ExpiresAt.Equal(r.now.Add(2*life)) {
		t.Error(got, err)
	}
	if err := r.Sessions.DropSessions(t.Context(), r.now.Add(3*life)); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Sessions.Browser(t.Context(), "secret"); got != nil || err != nil {
		t.Error("dropped with its session:", got, err)
	}
}

func keys(t *testing.T, r *rig) {
	expired := &accounts.AccessKey{CompanyID: ours, Label: "old", Key: "ck_old", Scopes: []string{"*"}, ExpiresAt: r.now.Add(time.Minute)}
	k := &accounts.AccessKey{CompanyID: ours, Label: "l", Key: "ck_one", Scopes: []string{"notify:send", "notify:read"}}
	r.configure(t, func(ctx context.Context, tx *configure.Tx) error {
		err := errors.Join(accounts.PutKey(ctx, tx, expired, r.now), accounts.PutKey(ctx, tx, k, r.now.Add(time.Millisecond)))
		if n, cerr := accounts.CountKeys(ctx, tx, ours); n != 2 || cerr != nil {
			t.Error(n, cerr)
		}
		return err
	})
	r.now = r.now.Add(time.Hour)
	want := *k
	want.Key = ""
	for name, find := range map[string]func() (*accounts.AccessKey, error){
		"secret": func() (*accounts.AccessKey, error) { return r.Keys.AccessKey(t.Context(), "ck_one") },
		"id":     func() (*accounts.AccessKey, error) { return r.Keys.AccessKeyByID(t.Context(), k.ID) },
	} {
		got, err := find()
		if d := cmp.Diff(&want, got); err != nil || d != "" {
			t.Error(name, err, d)
		}
	}
	if all, err := r.Keys.AccessKeys(t.Context(), ours, "", 10); err != nil || len(all) != 2 || all[0].Key != "ck_old" {
		t.Error(all, err)
	}
	if all, err := r.Keys.AccessKeys(t.Context(), ours, expired.ID, 10); err != nil || len(all) != 1 || all[0].ID != k.ID {
		t.Error(all, err)
	}
	if all, err := r.Keys.UsableKeys(t.Context(), ours, r.now); err != nil || len(all) != 1 || all[0].Key != "ck_one" {
		t.Error(all, err)
	}
	if err := r.Keys.TouchKeys(t.Context(), map[string]time.Time{k.ID: r.now}); err != nil {
		t.Error(err)
	}
	revoke := func(company string) error {
		return r.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
			return accounts.RevokeKey(ctx, tx, company, k.ID, r.now)
		})
	}
	if err := revoke(theirs); !carillon.IsCode(err, carillon.NotFound) {
		t.Error(err)
	}
	if err := revoke(ours); err != nil {
		t.Error(err)
	}
	r.configure(t, func(ctx context.Context, tx *configure.Tx) error { // a set-up that does not know of it
		again := *k
		again.RevokedAt = time.Time{}
		return accounts.PutKey(ctx, tx, &again, r.now)
	})
	if got, err := r.Keys.AccessKey(t.Context(), "ck_one"); err != nil || !got.RevokedAt.Equal(r.now) || !got.LastUsed.Equal(r.now) {
		t.Errorf("%+v, %v", got, err)
	}
}

func keysOfTwoCompanies(t *testing.T, r *rig) {
	add := func(company string) error {
		k := &accounts.AccessKey{CompanyID: company, Label: "l", Key: "ck_one", Scopes: []string{"*"}}
		return r.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error { return accounts.PutKey(ctx, tx, k, r.now) })
	}
	if err := add(ours); err != nil {
		t.Fatal(err)
	}
	if err := add(theirs); !carillon.IsCode(err, carillon.Conflict) {
		t.Error(err)
	}
	if got, err := r.Keys.AccessKey(t.Context(), "ck_one"); err != nil || got.CompanyID != ours {
		t.Error(got, err)
	}
}

func signingKeys(t *testing.T, r *rig) {
	add := func(id string, signs, last time.Time) {
		k := accounts.SigningKey{ID: id, Alg: "EdDSA", Private: []byte("private"), CreatedAt: r.now, SignsAt: signs}
		if err := r.Keys.AddSigningKey(t.Context(), k, last); err != nil {
			t.Fatal(err)
		}
	}
	add("first", r.now, r.now.Add(-time.Hour))
	add("late", r.now.Add(time.Hour), r.now.Add(-time.Hour)) // another node was first
	add("second", r.now.Add(time.Hour), r.now)
	all, err := r.Keys.SigningKeys(t.Context())
	if err != nil || len(all) != 2 || all[0].ID != "first" || all[1].ID != "second" || string(all[0].Private) != "private" {
		t.Error(all, err)
	}
	if err := r.Keys.DropSigningKey(t.Context(), "first"); err != nil {
		t.Error(err)
	}
	if all, err := r.Keys.SigningKeys(t.Context()); err != nil || len(all) != 1 {
		t.Error(all, err)
	}
}

func firstToken(t *testing.T, r *rig) {
	if err := errors.Join(r.Links.PutFirstToken(t.Context(), "old", r.now.Add(life)),
		r.Links.PutFirstToken(t.Context(), "token", r.now.Add(life))); err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]time.Time{"token": r.now.Add(life), "old": {}} {
		if got, err := r.Links.FirstToken(t.Context(), token); err != nil || !got.Equal(want) {
			t.Error(token, got, err)
		}
	}
	spend := func(token string, now time.Time) (spent bool) {
		err := r.Config.Update(t.Context(), func(ctx context.Context, tx *configure.Tx) (err error) {
			spent, err = accounts.SpendFirstToken(ctx, tx, token, now)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return spent
	}
	if spend("old", r.now) || spend("token", r.now.Add(life)) || !spend("token", r.now) || spend("token", r.now) {
		t.Error("not spent exactly once by the living token")
	}
	if err := r.Links.PutFirstToken(t.Context(), "token", r.now.Add(life)); err != nil {
		t.Fatal(err)
	}
	r.account(t, "ana@example.org")
	if spend("token", r.now) {
		t.Error("spent although there is an account")
	}
}
