package agent_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"carillon"
	"carillon/internal/account/limit"
	"carillon/internal/agent"
	"carillon/internal/store"
	"carillon/internal/store/storetest"
)

// turnsOf maps companies to their daily limit of responses.
type turnsOf map[string]int

func (c turnsOf) Company(_ context.Context, id string) (*carillon.Company, error) {
	return &carillon.Company{ID: id, Limits: carillon.Limits{EngineTurnsPerDay: c[id]}}, nil
}

func TestOneConversationUsesAFiftiethOfTheDaysResponses(t *testing.T) {
	for name, o := range map[string]func(t *testing.T) store.Options{
		"sqlite": func(t *testing.T) store.Options { t.Helper(); return store.Options{Dir: storetest.Folder(t)} },
		"postgres": func(t *testing.T) store.Options {
			t.Helper()
			return store.Options{DatabaseURL: storetest.PatientPostgres(t)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := store.Open(t.Context(), o(t))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			limits := limit.New(s.Rates, slog.New(slog.DiscardHandler))
			limits.Now = func() time.Time { return time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC) }
			x := agent.EngineTurns{turnsOf{"a": 100, "b": 1, "free": 0}, limits}
			used := func(company, conversation string, tries int) (n int) {
				for range tries {
					switch err := x.Allow(t.Context(), &agent.Request{CompanyID: company, ConversationID: conversation}); {
					case err == nil:
						n++
					case !carillon.IsCode(err, carillon.RateLimitExceeded):
						t.Fatal(err)
					}
				}
				return n
			}
			for i := range 49 {
				if n := used("a", fmt.Sprintf("conversation %d", i), 4); n != 2 {
					t.Fatalf("conversation %d uses %d", i, n)
				}
			}
			if n := used("a", "", 10); n != 2 {
				t.Errorf("the playground uses %d of the 2 that are left", n)
			}
			if n := used("a", "the last", 2); n != 0 {
				t.Errorf("%d beyond the day", n)
			}
			if n := used("b", "of b", 2); n != 1 {
				t.Errorf("another company's conversation uses %d, want 1", n)
			}
			if n := used("free", "endless", 20); n != 20 {
				t.Errorf("%d without a bound", n)
			}
		})
	}
}
