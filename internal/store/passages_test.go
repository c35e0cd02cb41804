package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"carillon/internal/base/resource/resourcetest"
	"carillon/internal/store/configure"
	"carillon/internal/store/resources"
)

// passageRows counts the rows of the search index that each transaction writes.
type passageRows struct {
	now  int
	rows []int
}

func (w *passageRows) watch(query string, args []any) {
	switch {
	case strings.HasPrefix(query, "BEGIN"):
		w.now = 0
	case query == "COMMIT" && w.now > 0:
		w.rows = append(w.rows, w.now)
	case strings.HasPrefix(query, "INSERT") && strings.Contains(query, " INTO passage"):
		if n := strings.Count(query, "(?"); n > 0 {
			w.now += n
			return
		}
		if texts, ok := args[0].([]string); ok {
			w.now += len(texts)
		}
	case strings.HasPrefix(query, "DELETE FROM passage"):
		w.now += resources.MaxRows
	}
}

func TestWhatIsSearchedIsWrittenInShortTransactions(t *testing.T) {
	onEach(t, func(t *testing.T, r *rig) {
		k := kindOf("knowledge")
		k.MaxBytes = 1 << 20
		base := func(word string) *resourcetest.Thing {
			x := knowledgeOf("faq")
			for i := range 150 {
				x.Articles = append(x.Articles, resourcetest.Article{
					Title: "t", Text: fmt.Sprintf("%s %s%d %s%d %s%d %s", word, word, 3*i, word, 3*i+1, word, 3*i+2,
						strings.Repeat(".", 3000)),
				})
			}
			return x
		}
		for _, word := range []string{"ship", "boat"} {
			var w passageRows
			r.DB.Watch(w.watch)
			r.putResource(t, ours, k, base(word))
			r.DB.Watch(nil)
			total := 0
			for _, n := range w.rows {
				if total += n; n > resources.MaxRows {
					t.Errorf("a transaction has %d rows", n)
				}
			}
			if total < 150+451 || len(w.rows) < 150*3000/resources.MaxBytes+451/resources.MaxRows {
				t.Errorf("%d rows in %d transactions", total, len(w.rows))
			}
			if got := r.occurrences(t, ours, []string{"faq"}, word, word+"449", "ship"); len(got[word]) != 150 ||
				len(got[word+"449"]) != 1 || word != "ship" && len(got["ship"]) > 0 {
				t.Errorf("%s: %d occurrences", word, len(got[word]))
			}
		}
		var w passageRows
		r.DB.Watch(w.watch)
		before := r.Config.Generation()
		r.putResource(t, ours, k, base("boat"))
		if r.DB.Watch(nil); len(w.rows) > 0 || r.Config.Generation() != before {
			t.Errorf("what was there already is written again: %v", w.rows)
		}
		r.DB.Watch(w.watch)
		err := r.Resources.DeleteResource(t.Context(), ours, resourcetest.Kinds(), k, "faq")
		if r.DB.Watch(nil); err != nil || len(w.rows) < 4 {
			t.Errorf("deleted in %d transactions, %v", len(w.rows), err)
		}
		for _, table := range []string{"passage", "passage_term", "knowledge_index"} {
			n := 0
			if err := r.DB.Row(t.Context(), []any{&n}, "SELECT COUNT(*) FROM "+table); err != nil || n > 0 {
				t.Errorf("%d rows of %s are left, %v", n, table, err)
			}
		}
	})
}

// After a large copy, PostgreSQL knows how many terms and passages there are, and finds them along the primary keys.
func TestALargeCopyRenewsTheStatistics(t *testing.T) {
	r := newRig(t, openPostgres(t))
	analyzed := func() (tables int) {
		err := r.DB.Row(t.Context(), []any{&tables}, "SELECT COUNT(*) FROM pg_class WHERE relname IN ('passage', 'passage_term') "+
			"AND relnamespace = current_schema()::regnamespace AND reltuples > 0")
		if err != nil {
			t.Fatal(err)
		}
		return tables
	}
	r.putResource(t, ours, kindOf("knowledge"), knowledgeOf("small", "ships"))
	if n := analyzed(); n != 0 { // autovacuum ignores tables with so few changes
		t.Errorf("statistics of %d tables after one passage", n)
	}
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "ship%d ", i)
	}
	r.putResource(t, ours, kindOf("knowledge"), knowledgeOf("faq", text.String()))
	if n := analyzed(); n != 2 {
		t.Errorf("statistics of %d tables", n)
	}
}

// Searches use the old copy until the new one is complete, and never parts of both.
func TestSearchesFindOneCopyAsAWhole(t *testing.T) {
	onEach(t, func(t *testing.T, r *rig) {
		k := kindOf("knowledge")
		texts := func(word string) []string {
			var all []string
			for i := range 500 {
				all = append(all, fmt.Sprintf("%s %s%d", word, word, i))
			}
			return all
		}
		r.putResource(t, ours, k, knowledgeOf("faq", texts("ship")...))
		ended := make(chan error, 1)
		go func() {
			_, err := r.Resources.PutResource(t.Context(), ours, k, knowledgeOf("faq", texts("boat")...))
			ended <- err
		}()
		for done := false; !done; {
			select {
			case err := <-ended:
				if err != nil {
					t.Fatal(err)
				}
				done = true
			default:
			}
			got := r.occurrences(t, ours, []string{"faq"}, "ship", "boat")
			if len(got["ship"])+len(got["boat"]) != 500 || len(got["ship"]) > 0 && len(got["boat"]) > 0 {
				t.Fatalf("%d and %d are found", len(got["ship"]), len(got["boat"]))
			}
		}
		if got := r.occurrences(t, ours, []string{"faq"}, "ship", "boat"); len(got["boat"]) != 500 {
			t.Errorf("%d are found at last", len(got["boat"]))
		}
	})
}

func TestTwoWhoWriteTheSameKnowledgeAtOnceLeaveOneCopy(t *testing.T) {
	onEach(t, func(t *testing.T, r *rig) {
		k := kindOf("knowledge")
		ended := make(chan error)
		for i := range 4 {
			go func() {
				var err error
				for n := range 5 {
					_, putErr := r.Resources.PutResource(t.Context(), ours, k, knowledgeOf("faq", fmt.Sprintf("word%d-%d ships", i, n)))
					if err == nil {
						err = putErr
					}
				}
				ended <- err
			}()
		}
		for range 4 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		stored, err := r.Resources.Resource(t.Context(), ours, k, "faq")
		if err != nil {
			t.Fatal(err)
		}
		word, _, _ := strings.Cut(stored.(*resourcetest.Thing).Articles[0].Text, " ")
		if got := r.occurrences(t, ours, []string{"faq"}, word, "ships"); len(got[word]) != 1 || len(got["ships"]) != 1 {
			t.Errorf("of %s: %v", word, got)
		}
		passages, copies := 0, 0
		if err := r.DB.Row(t.Context(), []any{&passages}, "SELECT COUNT(*) FROM passage"); err != nil {
			t.Fatal(err)
		}
		if err := r.DB.Row(t.Context(), []any{&copies}, "SELECT COUNT(*) FROM knowledge_index WHERE version = 0"); err != nil ||
			passages != 1 || copies != 1 {
			t.Errorf("%d passages in %d copies are left, %v", passages, copies, err)
		}
	})
}

// A program that stopped while it wrote left a copy, and the resource without one that fits.
func TestACopyThatWasLeftIsDeletedAndMadeAgain(t *testing.T) {
	onEach(t, func(t *testing.T, r *rig) {
		k := kindOf("knowledge")
		r.putResource(t, ours, k, knowledgeOf("faq", "big ships"))
		hours := func(n int) int64 { return time.Now().Add(-time.Duration(n) * time.Hour).UnixMilli() }
		if err := r.Config.Update(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
			for key, at := range map[string]int64{"faq#old": hours(2), "faq#young": hours(0)} {
				for _, query := range []string{
					"INSERT INTO knowledge_index (company_id, knowledge_id, version, updated_at, passages) VALUES ($1, $2, 0, $3, 0)",
					"INSERT INTO passage (company_id, knowledge_id, n, article, title, text, url, language) VALUES ($1, $2, 0, 0, " +
						"'', 'big ships', '', '')",
					"INSERT INTO passage_term (company_id, knowledge_id, term, passages) VALUES ($1, $2, 'ships', '0')",
				} {
					args := []any{ours, key}
					if strings.Contains(query, "$3") {
						args = append(args, at)
					}
					if _, err := tx.Exec(ctx, query, args...); err != nil {
						return err
					}
				}
			}
			_, err := tx.Exec(ctx, "UPDATE resource SET updated_at = updated_at + 1 WHERE kind = 'knowledge'")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if err := r.Resources.RefreshPassages(t.Context(), k); err != nil {
			t.Fatal(err)
		}
		if got := r.occurrences(t, ours, []string{"faq"}, "ships"); len(got["ships"]) != 1 {
			t.Error(got)
		}
		n := 0
		if err := r.DB.Row(t.Context(), []any{&n}, "SELECT COUNT(*) FROM passage"); err != nil || n != 2 {
			t.Errorf("%d passages, not those that are used and those that are written now, %v", n, err)
		}
		if ids, err := r.Resources.KnowledgeIDs(t.Context(), ours, 10); len(ids) != 1 || err != nil {
			t.Error(ids, err)
		}
	})
}
