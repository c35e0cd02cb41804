package store

import (
	"context"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
)

func openCached(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestAChangeInvalidatesItsCompanyAlone(t *testing.T) {
	s := openCached(t)
	put := func(id, name string) {
		t.Helper()
		if err := s.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
			return accounts.PutCompany(ctx, tx, &carillon.Company{ID: id, Name: name}, time.Now())
		}); err != nil {
			t.Fatal(err)
		}
	}
	named := func(id string) string {
		t.Helper()
		c, err := s.Accounts.Company(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return c.Name
	}
	put("a", "A")
	put("b", "B")
	if k, err := s.Keys.AccessKey(t.Context(), "ck_new"); k != nil || err != nil {
		t.Fatal(k, err)
	}
	theirs, _ := s.Accounts.Company(t.Context(), "b")
	if named("a") != "A" || theirs.Name != "B" {
		t.Fatal("not as written")
	}
	put("a", "A2")
	if again, _ := s.Accounts.Company(t.Context(), "b"); again != theirs {
		t.Error("another company's entry was invalidated")
	}
	if got := named("a"); got != "A2" {
		t.Errorf("the company is %s, want A2", got)
	}
	if err := s.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.PutKey(ctx, tx, &accounts.AccessKey{CompanyID: "b", Label: "l", Key: "ck_new", Scopes: []string{"*"}}, time.Now())
	}); err != nil {
		t.Fatal(err)
	}
	if k, err := s.Keys.AccessKey(t.Context(), "ck_new"); k == nil || err != nil {
		t.Error("a key that was unknown before it was made stays so:", err)
	}
}
