package store_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"carillon/internal/base/provider"
	"carillon/internal/store"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
	"carillon/internal/store/storetest"
)

// hostileTexts are texts that PostgreSQL refuses and SQLite keeps, and their stored form.
func hostileTexts() map[string]string {
	return map[string]string{
		"plain": "Ana \u00e9\u4e16 \U0001F600", "NUL": "a\x00b", "NUL alone": "\x00", "a lone surrogate": "a\xed\xa0\x80b",
		"half a letter": "a\xc3", "no UTF-8": "\xff\xfe",
		"an escape": `a\u0000b`, "an escaped escape": `a\\u0000b`, "long": strings.Repeat("\x00x", 1<<20),
	}
}

// A text is stored the same on both engines, on every path to the database.
func TestTextsAreStoredTheSameOnBothEngines(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]store.Options{
		"sqlite": {Dir: storetest.Folder(t)}, "postgres": {DatabaseURL: storetest.PatientPostgres(t)},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, o)
			for what, text := range hostileTexts() {
				storeEveryWay(t, s, what, text)
			}
		})
	}
}

type named string

func storeEveryWay(t *testing.T, s *store.Store, what, text string) {
	t.Helper()
	want := db.Storable(text)
	if strings.ContainsRune(want, 0) {
		t.Fatalf("%s: %q is not storable", what, want)
	}
	for way, arg := range map[string]any{
		"text": text, "named": named(text), "pointer": &text, "nullable": sql.NullString{String: text, Valid: true},
	} {
		if _, err := s.DB.Exec(t.Context(), `INSERT INTO meta (name, text) VALUES ('test', $1)
			ON CONFLICT (name) DO UPDATE SET text = excluded.text`, arg); err != nil {
			t.Errorf("%s as %s: %v", what, way, err)
			continue
		}
		var got, found string
		if err := s.DB.Row(t.Context(), []any{&got}, "SELECT text FROM meta WHERE name = 'test'"); err != nil || got != want {
			t.Errorf("%s as %s: %.20q, %v", what, way, got, err)
		}
		if err := s.DB.Row(t.Context(), []any{&found}, "SELECT text FROM meta WHERE name = 'test' AND text = $1", arg); err != nil {
			t.Errorf("%s as %s is not found by itself: %v", what, way, err)
		}
	}
	err := s.Config.Update(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		b := db.NewBulk("meta", "ON CONFLICT (name) DO UPDATE SET text = excluded.text", "name:text", "text:text")
		b.Add("test", text)
		b.Add("test2", text)
		if err := b.Write(ctx, tx.Tx); err != nil {
			return err
		}
		var got, listed string
		if err := tx.Row(ctx, []any{&got}, "SELECT text FROM meta WHERE name = 'test2' AND text "+s.DB.In(1),
			s.DB.List([]string{"", text})); err != nil || got != want {
			t.Errorf("%s in a list: %.20q, %v", what, got, err)
		}
		if err := tx.Row(ctx, []any{&listed}, "SELECT value ->> 0 FROM "+s.DB.Elements(1),
			db.JSON([][]string{{text}})); err != nil || listed != want {
			t.Errorf("%s in JSON: %.20q, %v", what, listed, err)
		}
		return nil
	})
	if err != nil {
		t.Errorf("%s among many: %v", what, err)
	}
}

// A channel's texts about a sender, and about the outcome of a message, are always stored.
func TestWhatAChannelSaysIsStoredOnBothEngines(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]store.Options{
		"sqlite": {Dir: storetest.Folder(t)}, "postgres": {DatabaseURL: storetest.PatientPostgres(t)},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, open(t, o))
			for what, text := range hostileTexts() {
				r.now = r.now.Add(time.Minute)
				found := provider.Inspection{Quality: text, Findings: []provider.Finding{{Item: "number", Detail: text}}}
				if err := r.Senders.KeepInspection(t.Context(), r.sender, found, r.now); err != nil {
					t.Errorf("%s, found by a check: %v", what, err)
				}
				if err := r.Senders.KeepNotice(t.Context(), r.sender, provider.Notice{Event: text, At: r.now}); err != nil {
					t.Errorf("%s, a notice: %v", what, err)
				}
				got, err := r.Senders.Report(t.Context(), ours, r.sender.UID)
				if err != nil || got.Quality != db.Storable(text) || got.Notice != db.Storable(text) {
					t.Errorf("%s: %.20q, %.20q, %v", what, got.Quality, got.Notice, err)
				}
			}
		})
	}
}
