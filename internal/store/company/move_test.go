package company

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/store"
	"carillon/internal/store/db"
	"carillon/internal/store/tuple"
)

// TestEveryRowBelongsToOneCompanyOrTheInstallation fills every table for two companies and finds the rows of each.
func TestEveryRowBelongsToOneCompanyOrTheInstallation(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, s *store.Store) {
		fill(t, s)
		tables, err := tablesOf(t.Context(), s.DB)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range tables {
			if x.from() == "" {
				continue
			}
			var all int
			if err := s.DB.Row(t.Context(), []any{&all}, "SELECT COUNT(*) FROM "+quoted(x.Name)); err != nil {
				t.Fatal(err)
			}
			owner := map[string]string{} // by key
			for _, id := range companies {
				if err := db.Each(t.Context(), s.DB, func(scan db.Scan) error {
					var key string
					if err := scan(&key); err != nil {
						return err
					}
					if owner[key] != "" {
						t.Errorf("%s: a row of %s is found for %s", x.Name, owner[key], id)
					}
					owner[key] = id
					return nil
				}, "SELECT CAST("+strings.ReplaceAll(x.keys("t."), ", ", " AS TEXT) || '/' || CAST(")+" AS TEXT)"+x.from(),
					id); err != nil {
					t.Fatal(err)
				}
			}
			if want := all; len(owner) != want || all == 0 && x.Name != "company_key" {
				t.Errorf("%s has %d rows, %d are found", x.Name, all, len(owner))
			}
		}
	})
}

// contents returns the counts and hashes of a company's rows, by table, without the log of changes, which a move adds to.
func contentsOf(t *testing.T, s *store.Store, id string) map[string]Content {
	t.Helper()
	tables, err := tablesOf(t.Context(), s.DB)
	if err != nil {
		t.Fatal(err)
	}
	at, err := newSnapshot(t.Context(), s.DB)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = at.close() }()
	all := map[string]Content{}
	for _, x := range exportedOf(tables) {
		var sum summed
		if err := at.rows(t.Context(), x, id, func(row []byte) error { sum.add(row); return nil }); err != nil {
			t.Fatal(err)
		}
		if sum.rows > 0 && x.Name != "audit" {
			all[x.Name] = sum.content()
		}
	}
	return all
}

// trip moves a company from one installation to another and removes it from the former.
func trip(t *testing.T, from, to *store.Store, id string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	source, target := New(from, "test"), New(to, "test")
	states, err := source.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	name := states[slices.IndexFunc(states, func(s State) bool { return s.ID == id })].Name
	done, err := source.Export(t.Context(), id, ExportOptions{To: file, Grace: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	before := contentsOf(t, from, id)
	imported, err := target.Import(t.Context(), ImportOptions{From: file, Key: file + KeySuffix})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(done.Manifest, imported.Manifest); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, contentsOf(t, to, id)); diff != "" {
		t.Error(diff)
	}
	if err := target.Resume(t.Context(), id, "", false); err == nil {
		t.Error("it is in use without the code")
	}
	if err := source.Remove(t.Context(), id, name, nil); err == nil {
		t.Error("a company that was not moved is removed")
	}
	code, err := source.Finish(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if err := source.Resume(t.Context(), id, code, true); err == nil {
		t.Error("a company that was given up is taken back")
	}
	if err := target.Resume(t.Context(), id, code, false); err != nil {
		t.Fatal(err)
	}
	if err := source.Remove(t.Context(), id, "another name", nil); err == nil {
		t.Error("removed with another name")
	}
	if err := source.Remove(t.Context(), id, name, nil); err != nil {
		t.Fatal(err)
	}
	if left := contentsOf(t, from, id); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestACompanyMovesThereAndBack moves a company with rows in every table between installations of both engines.
func TestACompanyMovesThereAndBack(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, a *store.Store) {
		for _, engine := range []string{"sqlite", "postgres"} {
			if engine == a.DB.Engine() && engine == "postgres" {
				continue
			}
			b := newStore(t, engine, 2)
			fillOnce(t, a)
			moving, stays := companies[0], companies[1]
			other := contentsOf(t, a, stays)
			before := contentsOf(t, a, moving)
			trip(t, a, b, moving)
			if diff := cmp.Diff(before, contentsOf(t, b, moving)); diff != "" {
				t.Error(diff)
			}
			trip(t, b, a, moving)
			if diff := cmp.Diff(before, contentsOf(t, a, moving)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(other, contentsOf(t, a, stays)); diff != "" {
				t.Error("the other company: ", diff)
			}
			var left int
			if err := b.DB.Row(t.Context(), []any{&left}, "SELECT COUNT(*) FROM account"); err != nil || left > 0 {
				t.Errorf("%d accounts are left, %v", left, err)
			}
			f, err := a.Factors.Factor(t.Context(), accountID(0, 1))
			if err != nil || f == nil || string(f.Secret) != "secret of "+accountID(0, 1) || f.Recovery != 1 {
				t.Errorf("a second factor: %+v, %v", f, err)
			}
		}
	})
}

// fillOnce fills a store that has no companies, and seals for the first time.
func fillOnce(t *testing.T, s *store.Store) {
	t.Helper()
	states, err := New(s, "test").List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(states) == 0 {
		fill(t, s)
	}
}

// TestARefusedImportChangesNothing imports files that are damaged or do not fit, and compares the target before and after.
func TestARefusedImportChangesNothing(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, s *store.Store) {
		fill(t, s)
		id := companies[0]
		file := filepath.Join(t.TempDir(), "file")
		if _, err := New(s, "test").Export(t.Context(), id, ExportOptions{To: file, Grace: time.Millisecond}); err != nil {
			t.Fatal(err)
		}
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		write := func(name string, data []byte) string {
			name = filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
			return name
		}
		flipped := slices.Clone(whole)
		flipped[len(flipped)/2] ^= 1
		other := write("key", []byte(`{"secret":"AAAA"}`))
		for name, x := range map[string]struct {
			file, key string
			prepare   string // at the target
			want      string
		}{
			"cut":       {write("cut", whole[:len(whole)/2]), file + KeySuffix, "", "damaged"},
			"flipped":   {write("flipped", flipped), file + KeySuffix, "", "file"},
			"forged":    {forged(t, file, false), file + KeySuffix, "", "changed"},
			"another's": {forged(t, file, true), file + KeySuffix, "", "another company"},
			"empty":     {write("empty", nil), file + KeySuffix, "", "damaged"},
			"wrong key": {file, other, "", "key"},
			"taken number": {
				file, file + KeySuffix,
				"INSERT INTO number_owner (number, company_id, assigned_at) SELECT 'number 0 1 ñ 漢字 \\N\t''\n', id, 1 FROM company",
				"number_owner",
			},
			"taken name": {file, file + KeySuffix, "UPDATE company SET name = 'name 0 0 ñ 漢字 \\N\t''\n'", "company"},
			"taken seq":  {file, file + KeySuffix, "UPDATE notification SET seq = 1 WHERE seq = 1001", "notification"},
			"taken email": {
				file, file + KeySuffix, "UPDATE account SET email = 'account-0-1@example.com', proved_at = 0, password_hash = 'x' " +
					"WHERE id = 'account-1-1'", "e-mail",
			},
			"taken identity": {
				file, file + KeySuffix, "UPDATE account_identity SET subject = 'account-0-1' WHERE subject = 'account-1-1'", "identity",
			},
		} {
			target := newStore(t, s.DB.Engine(), 2)
			fill(t, target)
			prepareTarget(t, target, x.prepare)
			before := contentsOf(t, target, companies[1])
			_, err := New(target, "test").Import(t.Context(), ImportOptions{From: x.file, Key: x.key})
			if err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("%s: %v", name, err)
			}
			if diff := cmp.Diff(before, contentsOf(t, target, companies[1])); diff != "" {
				t.Error(name, diff)
			}
			if left := contentsOf(t, target, id); len(left) > 0 {
				t.Errorf("%s: %v", name, slices.Sorted(maps.Keys(left)))
			}
		}
		if _, err := New(s, "test").Import(t.Context(), ImportOptions{From: file, Key: file + KeySuffix}); err == nil ||
			!strings.Contains(err.Error(), "already") {
			t.Errorf("into its own installation: %v", err)
		}
	})
}

// forged copies a file with a row more: a membership in the other company. The manifest agrees with it, and with is sealed by
// the key of the file.
func forged(t *testing.T, file string, with bool) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "forged")
	key, err := readKey(file + KeySuffix)
	if err != nil {
		t.Fatal(err)
	}
	r, err := open(file)
	if err != nil {
		t.Fatal(err)
	}
	w, err := create(name)
	if err != nil {
		t.Fatal(err)
	}
	var of describedTable
	var header Header
	all := sums{}
	for {
		kind, content, err := r.next()
		if errors.Is(err, io.EOF) {
			break
		}
		switch kind {
		case frameHeader:
			err = errors.Join(err, readJSON(content, &header))
		case frameTable:
			of = describedTable{}
			err = errors.Join(err, readJSON(content, &of))
		case frameRows:
			if of.Name == "membership" {
				content = slices.Clone(content)
				err = errors.Join(err, tuple.Each(slices.Clone(content), len(of.Columns), func(_ []byte, fields [][]byte) error {
					at := slices.IndexFunc(of.Columns, func(c describe) bool { return c.Name == "company_id" })
					fields[at] = []byte(companies[1])
					content = tuple.AppendRaw(content, fields)
					return nil
				}))
			}
			err = errors.Join(err, tuple.Each(content, len(of.Columns), func(row []byte, _ [][]byte) error {
				all.add(&table{Table: Table{Name: of.Name}}, row)
				return nil
			}))
		case frameManifest:
			var m Manifest
			err = errors.Join(err, readJSON(content, &m))
			if m.Tables = all.contents(); with {
				err = errors.Join(err, m.sealed(header.CompanyID, key))
			}
			if err == nil {
				content, err = json.Marshal(m)
			}
		}
		if err = errors.Join(err, w.frame(kind, content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(r.close(), w.close()); err != nil {
		t.Fatal(err)
	}
	return name
}

// prepareTarget removes the first company and its accounts from a filled store, and changes what is left.
func prepareTarget(t *testing.T, s *store.Store, change string) {
	t.Helper()
	m := New(s, "test")
	file := filepath.Join(t.TempDir(), "file")
	if _, err := m.Export(t.Context(), companies[0], ExportOptions{To: file, Grace: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Finish(t.Context(), companies[0]); err != nil {
		t.Fatal(err)
	}
	if err := m.erase(t.Context(), companies[0], "", func(Progress) {}); err != nil {
		t.Fatal(err)
	}
	for _, st := range []string{"DELETE FROM account WHERE id LIKE 'account-0-%'", change} {
		if st == "" {
			continue
		}
		if _, err := s.DB.Exec(t.Context(), st); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAnInterruptedMoveStartsOver ends exports, imports and removals in each of their phases and repeats them.
func TestAnInterruptedMoveStartsOver(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, a *store.Store) {
		fill(t, a)
		b := newStore(t, a.DB.Engine(), 2)
		id := companies[0]
		before := contentsOf(t, a, id)
		file := filepath.Join(t.TempDir(), "file")
		// interrupted runs do with a context that ends at a later and later report, until it succeeds.
		interrupted := func(do func(ctx context.Context, report func(Progress)) error) {
			t.Helper()
			for n := 1; ; n += 13 {
				ctx, stop := context.WithCancel(t.Context())
				reports := 0
				err := do(ctx, func(Progress) {
					if reports++; reports == n {
						stop()
					}
				})
				stop()
				if err == nil {
					return
				}
				if !errors.Is(err, context.Canceled) {
					t.Fatal(n, err)
				}
			}
		}
		interrupted(func(ctx context.Context, report func(Progress)) error {
			_, err := New(a, "test").Export(ctx, id, ExportOptions{To: file, Grace: time.Millisecond, Report: report})
			if err != nil {
				if states, _ := New(a, "test").List(t.Context()); states[0].State != active {
					t.Errorf("after an interrupted export: %v", states)
				}
			}
			return err
		})
		interrupted(func(ctx context.Context, report func(Progress)) error {
			_, err := New(b, "test").Import(ctx, ImportOptions{From: file, Key: file + KeySuffix, Report: report})
			return err
		})
		if diff := cmp.Diff(before, contentsOf(t, b, id)); diff != "" {
			t.Error(diff)
		}
		states, err := New(a, "test").List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(a, "test").Finish(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		interrupted(func(ctx context.Context, report func(Progress)) error {
			return New(a, "test").Remove(ctx, id, states[0].Name, report)
		})
		if left := contentsOf(t, a, id); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}

// TestAccountsOfTheSamePersonAreUsed imports a company whose members have other accounts at the new installation.
func TestAccountsOfTheSamePersonAreUsed(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, a *store.Store) {
		fill(t, a)
		b := newStore(t, a.DB.Engine(), 2)
		if _, err := b.DB.Exec(t.Context(), `INSERT INTO account (id, email, name, password_hash, confirmed_at, created_at,
			updated_at, proved_at) VALUES ('there', $1, 'The same', 'other', 1, 1, 1, 1)`, accountID(0, 0)+"@example.com"); err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 1} {
			if _, err := a.DB.Exec(t.Context(), "INSERT INTO membership (account_id, company_id, role) VALUES ($1, $2, 'owner')",
				accountID(0, n), companies[1]); err != nil {
				t.Fatal(err)
			}
		}
		before := contentsOf(t, a, companies[0])
		trip2 := func(from, to *store.Store) {
			t.Helper()
			file := filepath.Join(t.TempDir(), "file")
			if _, err := New(from, "test").Export(t.Context(), companies[0], ExportOptions{To: file, Grace: time.Millisecond}); err != nil {
				t.Fatal(err)
			}
			code, err := New(from, "test").Finish(t.Context(), companies[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := New(from, "test").erase(t.Context(), companies[0], Moved, func(Progress) {}); err != nil {
				t.Fatal(err)
			}
			if _, err := New(to, "test").Import(t.Context(), ImportOptions{From: file, Key: file + KeySuffix}); err != nil {
				t.Fatal(err)
			}
			if err := New(to, "test").Resume(t.Context(), companies[0], code, false); err != nil {
				t.Fatal(err)
			}
		}
		trip2(a, b)
		for _, query := range []string{
			"SELECT COUNT(*) FROM membership WHERE account_id = 'there'", "SELECT COUNT(*) FROM turn WHERE account_id = 'there'",
			"SELECT COUNT(*) FROM conversation WHERE assignee = 'there'", "SELECT COUNT(*) FROM event WHERE payload LIKE '%there%'",
			"SELECT COUNT(*) FROM company WHERE inbox LIKE '%there%'",
		} {
			var n int
			if err := b.DB.Row(t.Context(), []any{&n}, query); err != nil || n != 1 {
				t.Error(query, n, err)
			}
		}
		// A member who has an account at the former installation, too, changes the address at the new one.
		if _, err := b.DB.Exec(t.Context(), "UPDATE account SET email = 'changed@example.com' WHERE id = $1", accountID(0, 1)); err != nil {
			t.Fatal(err)
		}
		trip2(b, a)
		if diff := cmp.Diff(before, contentsOf(t, a, companies[0])); diff != "" {
			t.Error(diff)
		}
	})
}
