package auth

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/storetest"
)

func TestPrincipalSaysWhyAKeyIsRefused(t *testing.T) {
	engines(t, func(t *testing.T, so store.Options) {
		w := newWorld(t, so, Options{})
		past := time.Now().Add(-time.Hour)
		w.putKey(t, accounts.AccessKey{Key: "ck_test_expired", ExpiresAt: past})
		w.putKey(t, accounts.AccessKey{Key: "ck_test_revoked", RevokedAt: past})
		user := "Bearer " + w.signIn(t).AccessToken
		for _, tt := range []struct {
			name, authorization string
			key                 PresentedKey
			reason              string
		}{
			{"none", "", PresentedKey{}, "missing"},
			{"empty", "", PresentedKey{Present: true}, "missing"},
			{"empty beside a token", user, PresentedKey{Present: true}, "missing"},
			{"no bearer", "Basic dTpw", PresentedKey{}, "missing"},
			{"unknown", "", PresentedKey{"ck_nobody", true}, "invalid"},
			{"unknown again", "", PresentedKey{"ck_nobody", true}, "invalid"},
			{"too long", "", PresentedKey{strings.Repeat("k", maxKey+1), true}, "invalid"},
			{"expired", "", PresentedKey{"ck_test_expired", true}, "expired"},
			{"revoked", "", PresentedKey{"ck_test_revoked", true}, "revoked"},
			{"a user's token", user, PresentedKey{}, "invalid"},
			{"not a token", "Bearer x", PresentedKey{}, "invalid"},
		} {
			t.Run(tt.name, func(t *testing.T) {
				_, err := w.Principal(t.Context(), tt.key, tt.authorization)
				wantReason(t, err, tt.reason)
				if err != nil && tt.reason == "missing" && !strings.Contains(err.Error(), "key is missing") {
					t.Errorf("the message does not say that the key is missing: %v", err)
				}
				if err != nil && len(tt.key.Key) > 2 && strings.Contains(err.Error(), tt.key.Key) {
					t.Errorf("the error repeats the key: %v", err)
				}
			})
		}
	})
}

func TestAPresentKeyDecidesAlone(t *testing.T) {
	w := newWorld(t, store.Options{}, Options{})
	p, err := w.Principal(t.Context(), PresentedKey{liveKey, true}, "Bearer rubbish")
	if err != nil || p.Company.ID != w.company.ID || p.KeyID != w.key.ID {
		t.Fatalf("with rubbish beside it: %+v, %v", p, err)
	}
	token, err := w.CompanyToken(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Principal(t.Context(), PresentedKey{"ck_wrong", true}, "Bearer "+token.AccessToken)
	wantReason(t, err, "invalid")
}

func TestScopesOfAKeyAreThoseOfItsToken(t *testing.T) {
	w := newWorld(t, store.Options{}, Options{})
	w.putKey(t, accounts.AccessKey{Key: "ck_readonly", Scopes: []string{"templates:read"}})
	p, err := w.Principal(t.Context(), PresentedKey{"ck_readonly", true}, "")
	if err != nil {
		t.Fatal(err)
	}
	token, err := w.CompanyToken(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	byToken, err := w.Principal(t.Context(), PresentedKey{}, "bearer "+token.AccessToken)
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range []*Principal{p, byToken} {
		if !each.Allows(TemplatesRead) || each.Allows(TemplatesWrite) || each.Allows(NotifySend) {
			t.Errorf("a key for templates:read allows the wrong things: %+v", each)
		}
	}
	all, err := w.Principal(t.Context(), PresentedKey{liveKey, true}, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range Scopes() {
		if !all.Allows(s) {
			t.Errorf("* does not allow %s", s)
		}
	}
}

func TestCompanyTokenDiesWithItsKey(t *testing.T) {
	engines(t, func(t *testing.T, so store.Options) {
		w := newWorld(t, so, Options{})
		p, err := w.Principal(t.Context(), PresentedKey{liveKey, true}, "")
		if err != nil {
			t.Fatal(err)
		}
		token, err := w.CompanyToken(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Principal(t.Context(), PresentedKey{}, "Bearer "+token.AccessToken); err != nil {
			t.Fatalf("while the key lives: %v", err)
		}
		w.configure(t, func(ctx context.Context, tx *configure.Tx) error {
			return accounts.RevokeKey(ctx, tx, w.company.ID, w.key.ID, time.Now())
		})
		_, err = w.Principal(t.Context(), PresentedKey{}, "Bearer "+token.AccessToken)
		wantReason(t, err, "revoked")
	})
}

func TestCompanyTokenExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, store.Options{}, Options{})
		w.putKey(t, accounts.AccessKey{Key: "ck_short", ExpiresAt: time.Now().Add(10 * time.Minute)})
		tokens := map[string]Token{}
		for _, key := range []string{liveKey, "ck_short"} {
			p, err := w.Principal(t.Context(), PresentedKey{key, true}, "")
			if err != nil {
				t.Fatal(err)
			}
			if tokens[key], err = w.CompanyToken(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		}
		if got := tokens[liveKey].ExpiresIn; got != 3600 {
			t.Errorf("a token is good for %d s", got)
		}
		if got := tokens["ck_short"].ExpiresIn; got != 600 {
			t.Errorf("a token is good for %d s, its key for 600", got)
		}
		time.Sleep(time.Hour - time.Second) // fake time
		if _, err := w.Principal(t.Context(), PresentedKey{}, "Bearer "+tokens[liveKey].AccessToken); err != nil {
			t.Errorf("in its last second: %v", err)
		}
		time.Sleep(time.Second)
		_, err := w.Principal(t.Context(), PresentedKey{}, "Bearer "+tokens[liveKey].AccessToken)
		wantReason(t, err, "expired")
		for _, k := range []PresentedKey{{"ck_short", true}, {}} {
			_, err := w.Principal(t.Context(), k, "Bearer "+tokens["ck_short"].AccessToken)
			wantReason(t, err, "expired")
		}
	})
}

func TestANewKeyWorksAtOnceThoughItWasTriedBefore(t *testing.T) {
	w := newWorld(t, store.Options{}, Options{})
	_, err := w.Principal(t.Context(), PresentedKey{"ck_soon", true}, "")
	wantReason(t, err, "invalid")
	w.putKey(t, accounts.AccessKey{Key: "ck_soon"})
	if _, err := w.Principal(t.Context(), PresentedKey{"ck_soon", true}, ""); err != nil {
		t.Error(err)
	}
}

func TestLastUsedIsWrittenWithinAMinuteAndOnStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, store.Options{}, Options{})
		stored := func() time.Time {
			keys, err := w.store.Keys.AccessKeys(t.Context(), w.company.ID, "", 10)
			if err != nil || len(keys) != 1 {
				t.Fatal(keys, err)
			}
			return keys[0].LastUsed
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- w.Run(ctx) }()
		use := func() time.Time {
			if _, err := w.Principal(t.Context(), PresentedKey{liveKey, true}, ""); err != nil {
				t.Fatal(err)
			}
			return time.Now().UTC()
		}
		first := use()
		if got := stored(); !got.IsZero() {
			t.Errorf("the hot path wrote %v", got)
		}
		if got := w.LastUsed(w.key); !got.Equal(first) {
			t.Errorf("this node says %v, want %v", got, first)
		}
		time.Sleep(31 * time.Second) // fake time
		synctest.Wait()
		if got := stored(); !got.Equal(first) {
			t.Errorf("after half a minute %v is stored, want %v", got, first)
		}
		second := use()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if got := stored(); !got.Equal(second) {
			t.Errorf("after the stop %v is stored, want %v", got, second)
		}
	})
}

func TestPutKeyAppliedTwiceChangesNothingAndRevocationStands(t *testing.T) {
	engines(t, func(t *testing.T, so store.Options) {
		w := newWorld(t, so, Options{})
		again := w.putKey(t, accounts.AccessKey{Key: liveKey, Label: "live", Scopes: []string{"*"}})
		if again.ID != w.key.ID {
			t.Errorf("the key has another id: %s, was %s", again.ID, w.key.ID)
		}
		w.configure(t, func(ctx context.Context, tx *configure.Tx) error {
			return accounts.RevokeKey(ctx, tx, w.company.ID, w.key.ID, time.Now())
		})
		w.putKey(t, accounts.AccessKey{Key: liveKey, Label: "renamed", Scopes: []string{"notify:send"}})
		keys, err := w.store.Keys.AccessKeys(t.Context(), w.company.ID, "", 10)
		if err != nil || len(keys) != 1 {
			t.Fatal(keys, err)
		}
		if k := keys[0]; k.Label != "renamed" || k.Scopes[0] != "notify:send" || k.RevokedAt.IsZero() || k.Key != liveKey {
			t.Errorf("after set-up came again: %+v", k)
		}
		other := &carillon.Company{ID: carillon.NewID(time.Now()), Name: "Other"}
		err = w.store.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
			if err := accounts.PutCompany(ctx, tx, other, time.Now()); err != nil {
				return err
			}
			return accounts.PutKey(ctx, tx, &accounts.AccessKey{CompanyID: other.ID, Key: liveKey}, time.Now())
		})
		if !carillon.IsCode(err, carillon.Conflict) {
			t.Errorf("one key for two companies: %v", err)
		}
	})
}

func BenchmarkPrincipal(b *testing.B) {
	s, err := store.Open(b.Context(), store.Options{Dir: storetest.Folder(b)})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	a := New(s, nil, Options{})
	c := &carillon.Company{ID: carillon.NewID(time.Now()), Name: "Acme"}
	if err := s.Config.Change(b.Context(), func(ctx context.Context, tx *configure.Tx) error {
		if err := accounts.PutCompany(ctx, tx, c, time.Now()); err != nil {
			return err
		}
		return accounts.PutKey(ctx, tx, &accounts.AccessKey{CompanyID: c.ID, Key: liveKey, Scopes: []string{"*"}}, time.Now())
	}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := a.Principal(b.Context(), PresentedKey{liveKey, true}, ""); err != nil {
				b.Error(err)
			}
		}
	})
}
