package notify_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/configure"
	"carillon/internal/store/storetest"
)

func TestRepeatOfARunningRequestIsToldSo(t *testing.T) {
	r := newRig(t, sqlite(t), nil)
	defer r.start()()
	_, done, err := r.notify.Repeat(t.Context(), r.company.ID, "notify", "k", "hash")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.notify.Repeat(t.Context(), r.company.ID, "notify", "k", "hash"); !carillon.IsCode(err,
		carillon.IdempotencyInProgress) {
		t.Errorf("while the first request runs, its repeat was told %v", err)
	}
	_, other, err := r.notify.Repeat(t.Context(), r.company.ID, "notify/voice", "k", "hash")
	if err != nil {
		t.Fatalf("the key of another route: %v", err)
	}
	other()
	_, theirs, err := r.notify.Repeat(t.Context(), "another company", "notify", "k", "another hash")
	if err != nil {
		t.Fatalf("the key of another company: %v", err)
	}
	theirs()
	done()
	_, done, err = r.notify.Repeat(t.Context(), r.company.ID, "notify", "k", "hash")
	if err != nil {
		t.Fatalf("after the first request ended without an answer: %v", err)
	}
	done()
}

func TestMoreThanCanWaitIsRefusedWithRetryAfter(t *testing.T) {
	s, err := store.Open(t.Context(), store.Options{Dir: storetest.Folder(t), MaxWaiting: 1})
	if err != nil {
		t.Fatal(err)
	}
	begun, release := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		_ = s.Config.Update(t.Context(), func(context.Context, *configure.Tx) error {
			close(begun)
			<-release
			return nil
		})
	})
	<-begun
	const n = 8
	refused := make(chan error, n)
	for range n {
		all.Go(func() {
			refused <- s.Config.Update(t.Context(), func(context.Context, *configure.Tx) error { return nil })
		})
	}
	for range n - 1 { // one waits, the others are refused at once
		err := <-refused
		var e *carillon.Error
		if !errors.As(err, &e) || e.Code != carillon.ServiceUnavailable || e.RetryAfter < 1 {
			t.Errorf("a write past the bound was told %v", err)
		}
	}
	close(release)
	if err := <-refused; err != nil {
		t.Errorf("the one that could wait was told %v", err)
	}
	all.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
