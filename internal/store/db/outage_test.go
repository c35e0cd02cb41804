package db_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"carillon/internal/store/db"
)

func TestAnOutageOfTheDatabaseIsTwoLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		log, o := db.LogOutages(slog.New(slog.NewTextHandler(&out, nil)))
		var back atomic.Bool
		o.Watch(func(context.Context) error {
			if back.Load() {
				return nil
			}
			return errors.New("no")
		})
		down := db.Unavailable(fmt.Errorf("read: %w", &pgconn.PgError{Code: "57P03"}))
		for range 121 {
			log.With("node", "a").Warn("read lane", "error", down)
		}
		log.Warn("something else", "error", errors.New("its own"))
		time.Sleep(5 * time.Second)
		back.Store(true)
		time.Sleep(5 * time.Second)
		text := out.String()
		if strings.Count(text, "\n") != 3 || strings.Count(text, "the database is away") != 1 ||
			strings.Count(text, "the database is back") != 1 ||
			!strings.Contains(text, "something else") || !strings.Contains(text, " after=") {
			t.Errorf("the log:\n%s", text)
		}
		log.Warn("read lane", "error", down)
		if strings.Count(out.String(), "the database is away") != 2 {
			t.Errorf("the second outage:\n%s", out.String())
		}
		time.Sleep(2 * time.Second)
	})
}
