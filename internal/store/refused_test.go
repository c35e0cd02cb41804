package store_test

import (
	"context"
	"testing"
	"time"

	"carillon/internal/store"
	"carillon/internal/store/storetest"
)

func TestARefusedDatabaseKeepsNoSessions(t *testing.T) {
	t.Parallel()
	dsn := storetest.Postgres(t)
	s, err := store.Open(t.Context(), store.Options{DatabaseURL: dsn + "&application_name=refused"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	other, err := store.Open(t.Context(), store.Options{DatabaseURL: dsn})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	listening, heard := make(chan struct{}), make(chan error, 1)
	go func() {
		heard <- s.DB.Listen(context.Background(), "refused", func() { close(listening) }, func(string) {})
	}()
	<-listening
	s.DB.Health.Distrust(t.Context(), "a test")
	if err := <-heard; err == nil {
		t.Error("a listener goes on")
	}
	for range 40 {
		if err := s.DB.Health.Ping(t.Context()); err == nil {
			t.Fatal("it is used")
		}
	}
	sessions := -1
	for end := time.Now().Add(2 * time.Minute); sessions != 0; <-time.After(10 * time.Millisecond) {
		err := other.DB.Row(t.Context(), []any{&sessions}, "SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = 'refused'")
		if err != nil || time.Now().After(end) {
			t.Fatal(sessions, "sessions are left:", err)
		}
	}
}
