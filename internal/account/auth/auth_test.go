package auth

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"carillon"
	"carillon/internal/account/limit"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/storetest"
)

// cheap parameters keep the tests fast. Security does not matter here.
var cheap = Params{Memory: 64, Passes: 1, Threads: 1}

const (
	ownerEmail    = "owner@acme.test"
	ownerPassword = "correct-horse-battery"
	liveKey       = "ck_test_live"
)

// world is an installation with a company, its owner and a key.
type world struct {
	*Auth
	store   *store.Store
	company *carillon.Company
	owner   *accounts.Account
	key     *accounts.AccessKey
}

// newWorld opens a store. In a synctest bubble the store must also be closed inside the bubble; t.Cleanup does that.
func newWorld(t *testing.T, so store.Options, o Options) *world {
	t.Helper()
	if so.Dir == "" && so.DatabaseURL == "" {
		so.Dir = t.TempDir()
	}
	s, err := store.Open(t.Context(), so)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if o.Params == (Params{}) {
		o.Params = cheap
	}
	a := New(s, limit.New(s.Rates, slog.New(slog.DiscardHandler)), o)
	w := &world{
		Auth: a, store: s, company: &carillon.Company{ID: carillon.NewID(time.Now()), Name: "Acme", Limits: carillon.NewCompany("").Limits},
	}
	hash, err := a.HashPassword(t.Context(), ownerPassword)
	if err != nil {
		t.Fatal(err)
	}
	w.owner = &accounts.Account{Email: ownerEmail, Name: "Owner", PasswordHash: hash}
	w.key = &accounts.AccessKey{CompanyID: w.company.ID, Key: liveKey, Label: "live", Scopes: []string{"*"}}
	w.configure(t, func(ctx context.Context, tx *configure.Tx) error {
		now := time.Now()
		return errors.Join(
			accounts.PutCompany(ctx, tx, w.company, now),
			accounts.PutAccount(ctx, tx, w.owner, now),
			accounts.PutMembership(ctx, tx, accounts.Membership{AccountID: w.owner.ID, CompanyID: w.company.ID, Role: "owner"}),
			accounts.PutKey(ctx, tx, w.key, now),
		)
	})
	return w
}

func (w *world) configure(t *testing.T, fn func(ctx context.Context, tx *configure.Tx) error) {
	t.Helper()
	if err := w.store.Config.Change(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// putKey adds a key to the company.
func (w *world) putKey(t *testing.T, k accounts.AccessKey) *accounts.AccessKey {
	t.Helper()
	k.CompanyID = w.company.ID
	w.configure(t, func(ctx context.Context, tx *configure.Tx) error { return accounts.PutKey(ctx, tx, &k, time.Now()) })
	return &k
}

func (w *world) signIn(t *testing.T) *Session {
	t.Helper()
	x, err := w.SignIn(t.Context(), Credentials{Email: ownerEmail, Password: ownerPassword}, "192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// wantReason checks that err is a 401 with the reason.
func wantReason(t *testing.T, err error, reason string) {
	t.Helper()
	var e *carillon.Error
	if !errors.As(err, &e) || e.Code != carillon.Unauthorized || e.Details.Find("reason") != reason {
		t.Errorf("got %v, want a 401 with the reason %s", err, reason)
	}
}

// engines runs a test on both databases.
func engines(t *testing.T, test func(t *testing.T, so store.Options)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, store.Options{}) })
	t.Run("postgres", func(t *testing.T) { test(t, store.Options{DatabaseURL: storetest.PatientPostgres(t)}) })
}
