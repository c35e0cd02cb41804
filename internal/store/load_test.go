package store

import (
	"context"
	"errors"
	"testing"
)

func TestWhoLeavesTheLineForANotificationLetsTheNextOneAsk(t *testing.T) {
	s := &Store{d: postgresDialect()}
	first, leads := s.loads.join(1)
	if !leads {
		t.Fatal("the first one waits")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.load(ctx, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("one who left was told %v", err)
	}
	third, leads := s.loads.join(3)
	if leads {
		t.Fatal("two ask at once")
	}
	s.loads.mu.Lock() // the first has its answer
	if s.loads.waiting[0] != first {
		t.Fatal("the line has another head")
	}
	s.loads.waiting = s.loads.waiting[1:]
	s.loads.next()
	s.loads.mu.Unlock()
	if !<-third.turn || s.loads.waiting[0] != third {
		t.Error("the third is not the next to ask")
	}
	s.loads.mu.Lock()
	s.loads.waiting = nil
	s.loads.next()
	s.loads.mu.Unlock()
	if _, leads = s.loads.join(4); !leads {
		t.Error("one waits though nobody asks")
	}
}
