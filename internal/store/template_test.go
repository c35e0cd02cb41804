package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/identity"
	"carillon/internal/store"
	"carillon/internal/store/storetest"
)

// onBoth runs a test on a fresh store of each engine with one company and one sender.
func onBoth(t *testing.T, test func(t *testing.T, st *store.Store, sender *carillon.Sender)) {
	for name, options := range map[string]func(t *testing.T) store.Options{
		"sqlite":   func(t *testing.T) store.Options { return store.Options{Dir: storetest.Folder(t)} },
		"postgres": func(t *testing.T) store.Options { return store.Options{DatabaseURL: storetest.PatientPostgres(t)} },
	} {
		t.Run(name, func(t *testing.T) {
			st, err := store.Open(t.Context(), options(t))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := st.Close(); err != nil {
					t.Error(err)
				}
			})
			sender := &carillon.Sender{
				CompanyID: "ours", ID: "main", Number: "15555550100", Channel: carillon.Messaging, Provider: "sandbox",
				MediaCheck: "syntax", Unknown: carillon.DefaultUnknownPolicy(), Settings: []byte("{}"),
			}
			change(t, st, func(ctx context.Context, tx *configure.Tx) error {
				return errors.Join(accounts.PutCompany(ctx, tx, &carillon.Company{ID: "ours", Name: "Ours"}, time.Now()),
					accounts.PutCompany(ctx, tx, &carillon.Company{ID: "theirs", Name: "Theirs"}, time.Now()),
					settings.PutSender(ctx, tx, sender, time.Now()))
			})
			test(t, st, sender)
		})
	}
}

func change(t *testing.T, st *store.Store, fn func(ctx context.Context, tx *configure.Tx) error) {
	t.Helper()
	if err := st.Config.Change(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func declared(sender *carillon.Sender, id, name, language string) *carillon.Template {
	return &carillon.Template{
		ID: id, CompanyID: sender.CompanyID, SenderUID: sender.UID, Name: name, Language: language, Category: "UTILITY",
		Status: carillon.TemplateApproved, ParameterFormat: content.Positional,
		Components: []carillon.Component{{Type: content.TypeBody, Text: "Hola {{1}}"}},
	}
}

func TestTemplatesComeByNameAndLanguageCompiled(t *testing.T) {
	onBoth(t, func(t *testing.T, st *store.Store, sender *carillon.Sender) {
		change(t, st, func(ctx context.Context, tx *configure.Tx) error {
			return errors.Join(
				settings.PutTemplate(ctx, tx, declared(sender, "1", "b", "es"), time.Now()),
				settings.PutTemplate(ctx, tx, declared(sender, "2", "a_b", "es_MX"), time.Now()),
				settings.PutTemplate(ctx, tx, declared(sender, "3", "a_b", "es_ES"), time.Now()),
				settings.PutTemplate(ctx, tx, declared(sender, "4", "a", "es"), time.Now()))
		})
		all, err := st.Templates.Templates(t.Context(), sender.UID)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, x := range all {
			got = append(got, x.Name+" "+x.Language+" "+strings.Join(x.Shape.Markers, ","))
		}
		if diff := cmp.Diff([]string{"a es 1", "a_b es_ES 1", "a_b es_MX 1", "b es 1"}, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestATemplatePutTwiceChangesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, st *store.Store, sender *carillon.Sender) {
		put := func(id, text string, at time.Time) *settings.TemplateRecord {
			x := declared(sender, id, "a", "es")
			x.Components[0].Text = text
			change(t, st, func(ctx context.Context, tx *configure.Tx) error { return settings.PutTemplate(ctx, tx, x, at) })
			r, err := st.Templates.Template(t.Context(), "ours", x.ID)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		begin := time.UnixMilli(1_800_000_000_000).UTC()
		first := put("1", "Hola", begin)
		again := put("2", "Hola", begin.Add(time.Hour))
		first.Shape, again.Shape = nil, nil
		if diff := cmp.Diff(first, again); diff != "" {
			t.Error(diff)
		}
		if changed := put("3", "Adiós", begin.Add(time.Hour)); changed.ID != "1" || !changed.UpdatedAt.After(first.UpdatedAt) ||
			changed.Components[0].Text != "Adiós" {
			t.Error(changed)
		}
	})
}

func TestASwapNeedsTheStateItWasDecidedOn(t *testing.T) {
	onBoth(t, func(t *testing.T, st *store.Store, sender *carillon.Sender) {
		change(t, st, func(ctx context.Context, tx *configure.Tx) error {
			return settings.PutTemplate(ctx, tx, declared(sender, "1", "a", "es"), time.Now())
		})
		read, err := st.Templates.Template(t.Context(), "ours", "1")
		if err != nil {
			t.Fatal(err)
		}
		generation := st.Config.Generation()
		for i, want := range []bool{true, false} {
			next := *read
			next.Reason = fmt.Sprint(i)
			if ok, err := st.Templates.SwapTemplate(t.Context(), read, &next, read.UpdatedAt, settings.TemplateLimits{}); ok != want ||
				err != nil {
				t.Error(i, ok, err)
			}
			if raised := st.Config.Generation() != generation; raised != want {
				t.Errorf("swap %d: caches emptied: %v", i, raised)
			}
			generation = st.Config.Generation()
		}
		if gone, err := st.Templates.DeleteTemplate(t.Context(), read); gone || err != nil {
			t.Error(gone, err)
		}
	})
}

func TestSuppressedNumbersAreFoundOfAnyCount(t *testing.T) {
	onBoth(t, func(t *testing.T, st *store.Store, _ *carillon.Sender) {
		var all []string
		for i := range 100 {
			all = append(all, fmt.Sprint(34600000000+i))
		}
		if err := st.Suppressions.Suppress(t.Context(), "ours", settings.SuppressAll, "manual", time.Now(), all[0], all[3], all[99],
			all[0]); err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 2, 4, 5, 20, 21, 100} {
			want := map[string]bool{all[0]: true}
			if n > 3 {
				want[all[3]] = true
			}
			if n > 99 {
				want[all[99]] = true
			}
			got, err := st.Suppressions.Suppressed(t.Context(), "ours", carillon.Utility, identity.Numbers(all[:n]...))
			if diff := cmp.Diff(want, textsOf(got)); err != nil || diff != "" {
				t.Error(n, err, diff)
			}
			if foreign, err := st.Suppressions.Suppressed(t.Context(), "theirs", carillon.Marketing,
				identity.Numbers(all[:n]...)); len(foreign) > 0 || err != nil {
				t.Error(foreign, err)
			}
		}
	})
}

// textsOf are keys as the database has them.
func textsOf(found map[identity.Key]bool) map[string]bool {
	texts := map[string]bool{}
	for k, is := range found {
		texts[k.String()] = is
	}
	return texts
}

func TestOnlyTheFirstSuppressionEmptiesTheCaches(t *testing.T) {
	onBoth(t, func(t *testing.T, st *store.Store, _ *carillon.Sender) {
		suppresses := func() bool {
			c, err := st.Accounts.Company(t.Context(), "ours")
			if err != nil {
				t.Fatal(err)
			}
			return c.Suppresses
		}
		add := func(number string) bool {
			before := st.StoredGeneration(t)
			if err := st.Suppressions.Suppress(t.Context(), "ours", settings.SuppressAll, "manual", time.Now(), number); err != nil {
				t.Fatal(err)
			}
			return st.StoredGeneration(t) != before
		}
		if suppresses() || !add("34600000001") || !suppresses() {
			t.Error("the first one was not noticed")
		}
		if add("34600000002") || !suppresses() {
			t.Error("the second one emptied the caches")
		}
		for _, number := range []string{"34600000001", "34600000002"} {
			if removed, err := st.Suppressions.Unsuppress(t.Context(), "ours", identity.Number(number)); !removed || err != nil {
				t.Error(removed, err)
			}
		}
		if removed, err := st.Suppressions.Unsuppress(t.Context(), "ours", identity.Number("34600000001")); removed || err != nil {
			t.Error(removed, err)
		}
		// The cache may still say that the company has suppressions. The next one must nevertheless count as the
		// first.
		if !add("34600000003") || !suppresses() {
			t.Error("the first one after a removal was not noticed")
		}
	})
}

func TestSuppressionsComeInPages(t *testing.T) {
	onBoth(t, func(t *testing.T, st *store.Store, _ *carillon.Sender) {
		at := time.UnixMilli(1_800_000_000_000).UTC()
		if err := st.Suppressions.Suppress(t.Context(), "ours", settings.SuppressAll, "manual", at, "34600000002", "34600000001",
			"34600000003"); err != nil {
			t.Fatal(err)
		}
		if err := st.Suppressions.Suppress(t.Context(), "ours", settings.SuppressMarketing, settings.OptedOut, at.Add(time.Hour),
			"34600000001"); err != nil {
			t.Fatal(err)
		}
		var got []settings.Suppression
		for after := ""; ; {
			rows, err := st.Suppressions.Suppressions(t.Context(), "ours", after, 2)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, rows...)
			if len(rows) < 2 {
				break
			}
			after = rows[1].Number
		}
		want := []settings.Suppression{
			{Number: "34600000001", Type: settings.SuppressAll, Reason: "manual", CreatedAt: at},
			{Number: "34600000002", Type: settings.SuppressAll, Reason: "manual", CreatedAt: at},
			{Number: "34600000003", Type: settings.SuppressAll, Reason: "manual", CreatedAt: at},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if rows, err := st.Suppressions.Suppressions(t.Context(), "theirs", "", 10); len(rows) > 0 || err != nil {
			t.Error(rows, err)
		}
		if _, err := st.Suppressions.Suppression(t.Context(), "theirs", identity.Number("34600000001")); !carillon.IsCode(err,
			carillon.NotFound) {
			t.Error(err)
		}
	})
}
