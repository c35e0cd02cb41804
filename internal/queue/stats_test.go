package queue

import (
	"testing"
	"time"
)

func TestASendersMessagesAreNotLateWhileItMayNotSend(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	l := due(now, 1, 3)
	l.Buffers[1].Wake(now.Add(-time.Hour))
	k := kindOf(nil, Kind{})
	k.lanes[1] = l
	if s := statsOf(k, now); s.Oldest != time.Hour || s.Waiting[0] != 3 {
		t.Errorf("%d wait, the oldest for %s", s.Waiting[0], s.Oldest)
	}
	l.Settings.Suspended = true // its company was suspended
	if s := statsOf(k, now); s.Oldest != 0 {
		t.Errorf("the oldest is late by %s", s.Oldest)
	}
}
