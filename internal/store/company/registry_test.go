package company

import (
	"slices"
	"strings"
	"testing"

	"carillon/internal/base/need"
	"carillon/internal/store"
	"carillon/internal/store/db"
	"carillon/internal/store/storetest"
)

// engines runs a test on a new store of each engine.
func engines(t *testing.T, test func(t *testing.T, s *store.Store)) {
	t.Helper()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			test(t, newStore(t, engine, 1))
		})
	}
}

// newStore opens a new store; key distinguishes the master keys of installations.
func newStore(t *testing.T, engine string, key byte) *store.Store {
	t.Helper()
	o := store.Options{MasterKey: [32]byte{key}}
	if engine == "sqlite" {
		o.Dir = storetest.Folder(t)
	} else {
		need.Postgres(t)
		o.DatabaseURL = storetest.Postgres(t)
	}
	s, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	// The search table counts as complete, so that an import adds nothing to it.
	if _, err := s.DB.Exec(t.Context(), "INSERT INTO meta (name, value) VALUES ('search', 1000000)"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestEveryTableIsInTheRegistry(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, s *store.Store) {
		columns, err := columnsOf(t.Context(), s.DB)
		if err != nil {
			t.Fatal(err)
		}
		var known []string
		for _, x := range Tables() {
			if slices.Contains(known, x.Name) {
				t.Errorf("%s is in the registry twice", x.Name)
			}
			known = append(known, x.Name)
			cols := columns[x.Name]
			if cols == nil {
				t.Errorf("%s is in the registry and not in the schema", x.Name)
				continue
			}
			has := func(name string) bool {
				return slices.ContainsFunc(cols, func(c column) bool { return c.name == name })
			}
			if owned := has("company_id"); owned != (x.Found == ByCompany) && x.Found != Installation {
				t.Errorf("%s is found by %s; it has a column company_id: %v", x.Name, x.Found, owned)
			}
			if (x.Found == Installation || x.Found == OfMembers) != (x.Stays != "") && x.Found != ByCompany {
				t.Errorf("%s: a reason %q, found by %s", x.Name, x.Stays, x.Found)
			}
			for _, name := range x.Accounts {
				if !has(name) {
					t.Errorf("%s has no column %s", x.Name, name)
				}
			}
			for _, c := range cols {
				if accounts := strings.Contains(c.name, "account_id"); accounts && x.exported() && !slices.Contains(x.Accounts, c.name) {
					t.Errorf("%s.%s has ids of accounts", x.Name, c.name)
				}
			}
		}
		for name := range columns {
			if !slices.Contains(known, name) {
				t.Errorf("the registry does not say how a company's rows are found in %s", name)
			}
		}
	})
}

// TestTablesComeAfterThoseTheyReferTo compares the order of the registry with the foreign keys.
func TestTablesComeAfterThoseTheyReferTo(t *testing.T) {
	t.Parallel()
	s := newStore(t, "sqlite", 1)
	place := map[string]int{}
	for i, x := range Tables() {
		place[x.Name] = i
	}
	err := db.Each(t.Context(), s.DB, func(scan db.Scan) error {
		var from, to string
		if err := scan(&from, &to); err != nil {
			return err
		}
		if place[from] <= place[to] {
			t.Errorf("%s refers to %s and comes before it", from, to)
		}
		return nil
	}, `SELECT DISTINCT m.name, k."table" FROM sqlite_master AS m JOIN pragma_foreign_key_list(m.name) AS k WHERE m.type = 'table'
		AND m.name NOT IN ('session', 'browser_session', 'refresh_token', 'password_link', 'password_reset', 'push_subscription')`)
	if err != nil {
		t.Fatal(err)
	}
}
