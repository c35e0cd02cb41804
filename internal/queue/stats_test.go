package queue

import (
	"testing"
	"time"
)

func TestASendersMessagesAreNotLateWhileItMayNotSend(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	l := due(now, 3)
	l.class[1].next = now.Add(-time.Hour)
	p := &pump{lanes: map[int64]*lane{1: l}}
	if s := p.stats(now); s.Oldest != time.Hour || s.Waiting[0] != 3 {
		t.Errorf("%d wait, the oldest for %s", s.Waiting[0], s.Oldest)
	}
	l.off = true // its company was suspended
	if s := p.stats(now); s.Oldest != 0 {
		t.Errorf("the oldest is late by %s", s.Oldest)
	}
}
