package store

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store/configure"
	"carillon/internal/store/messages"
)

func refusedWith(t *testing.T, err error, atLeast int) {
	t.Helper()
	var e *carillon.Error
	if !errors.As(err, &e) || e.Code != carillon.ServiceUnavailable || e.RetryAfter < atLeast {
		t.Errorf("got %v, want service_unavailable with Retry-After of %d s or more", err, atLeast)
	}
}

func TestACrowdOfRequestsLeavesRoomForOwnWrites(t *testing.T) {
	s, err := Open(t.Context(), Options{Dir: t.TempDir(), MaxWaiting: 4})
	if err != nil {
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
	results := make(chan error, 12)
	for range 12 {
		all.Go(func() {
			now := time.Now()
			results <- s.Notifications.Accept(context.WithoutCancel(t.Context()), &messages.Accept{
				Notification: messages.Notification{
					ID: s.Notifications.NewID(now), CompanyID: "c", Channel: carillon.Messaging, SenderUID: 1, Total: 1, Open: 1,
					CreatedAt: now, DueAt: now,
				},
				Messages: []messages.NewMessage{{Number: "34600111222"}}, Quota: messages.Quota{Day: "2027-01-15", Charge: 1},
			})
		})
	}
	for range 8 {
		refusedWith(t, <-results, 1)
	}
	refusedWith(t, s.DB.Commits.Full(), 1)
	own := make(chan error, 1)
	all.Go(func() {
		own <- s.Config.Update(context.WithoutCancel(t.Context()), func(context.Context, *configure.Tx) error { return nil })
	})
	close(release)
	for range 4 {
		if err := <-results; err != nil {
			t.Errorf("a request that waited: %v", err)
		}
	}
	if err := <-own; err != nil {
		t.Errorf("a write of the program's own: %v", err)
	}
	all.Wait()
	if err := s.DB.Commits.Full(); err != nil {
		t.Errorf("when all is stored: %v", err)
	}
	if used, err := s.Notifications.Used(t.Context(), "c", "2027-01-15"); err != nil || used != 4 {
		t.Errorf("%d were stored, want 4; %v", used, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
