package store

import (
	"strings"
	"testing"

	"carillon/internal/store/storetest"
)

// plan tells how the engine would run a query; PostgreSQL is kept from scanning tables that are small only here.
func plan(t *testing.T, s *Store, query string, args ...any) string {
	t.Helper()
	conn, err := s.read.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	explain := "EXPLAIN QUERY PLAN "
	if !s.d.sqlite {
		explain = "EXPLAIN "
		if _, err := conn.ExecContext(t.Context(), "SET enable_seqscan = off"); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := conn.QueryContext(t.Context(), explain+query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	var lines []string
	for rows.Next() {
		var id, parent, unused int
		var line string
		dest := []any{&id, &parent, &unused, &line}
		if !s.d.sqlite {
			dest = dest[3:]
		}
		if err := rows.Scan(dest...); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

func TestTemplatesAndSuppressionsAreReadThroughIndexes(t *testing.T) {
	for name, options := range map[string]func(t *testing.T) Options{
		"sqlite":   func(t *testing.T) Options { return Options{Dir: t.TempDir()} },
		"postgres": func(t *testing.T) Options { return Options{DatabaseURL: storetest.Postgres(t)} },
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(t.Context(), options(t))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			suppressed, numbers := s.suppressedQuery("ours", []string{"34600111222", "34600111333"})
			for _, q := range []struct {
				text string
				args []any
			}{
				{templateList, []any{int64(1)}},
				{templatePolls, []any{int64(1), 10}},
				{templateNextPoll, []any{int64(1)}},
				{templateByID, []any{"ours", "1"}},
				{templateByProviderID, []any{"ours", "1"}},
				{templateOfProvider, []any{int64(1), "1"}},
				{templateNamed, []any{int64(1), "a", "es"}},
				{activeTemplates, []any{"ours"}},
				{suppressionPage, []any{"ours", "", 25}},
				{suppressed, numbers},
			} {
				got := plan(t, s, q.text, q.args...)
				for _, bad := range []string{"Seq Scan", "Sort", "TEMP B-TREE", "SCAN template\n", "SCAN suppression\n", "SCAN sender\n"} {
					if strings.Contains(got+"\n", bad) && !(bad == "Sort" && q.text == templateByProviderID) && !(bad == "TEMP B-TREE" && q.text == templateByProviderID) {
						t.Errorf("%s\n%s", q.text, got)
					}
				}
			}
		})
	}
}
