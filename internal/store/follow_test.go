package store

import (
	"context"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/events"
)

// Programs pull events all the time: that must not wait for the writer of SQLite, nor keep others waiting.
func TestAPulledTopicIsFollowedWithoutAWrite(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	c := &carillon.Company{ID: carillon.NewID(time.Now()), Name: "Company"}
	if err := s.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.PutCompany(ctx, tx, c, time.Now())
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Events.FollowPull(t.Context(), c.ID, events.Calls); err != nil {
		t.Fatal(err)
	}
	begun, release := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		_ = s.Config.Update(context.WithoutCancel(t.Context()), func(context.Context, *configure.Tx) error {
			close(begun)
			<-release
			return nil
		})
	})
	<-begun
	hung, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := s.Events.FollowPull(hung, c.ID, events.Calls); err != nil {
		t.Error(err)
	}
	close(release)
	all.Wait()
}
