package messages

import (
	"testing"
	"time"

	"carillon/internal/store/rank"
)

func TestNextIsNeverEarlyAndNeverLate(t *testing.T) {
	const wait = 15 * time.Minute
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for _, c := range []struct {
		name string
		w    WaitingFallback
		next FallbackState
		in   time.Duration // of FallbackWaiting
	}{
		{"queued", WaitingFallback{Q: 1, MessageDue: ago(time.Hour)}, FallbackWaiting, wait},
		{"queued for later", WaitingFallback{Q: 1, MessageDue: now.Add(time.Hour)}, FallbackWaiting, wait + time.Hour},
		{"being sent", WaitingFallback{Q: 2, Started: ago(time.Hour), MessageDue: ago(time.Hour)}, FallbackWaiting, wait},
		{
			"unknown for a while", WaitingFallback{Q: 3, Started: ago(time.Minute), MessageDue: now.Add(time.Hour)},
			FallbackWaiting, 14 * time.Minute,
		},
		{"unknown for long", WaitingFallback{Q: 3, Started: ago(wait)}, FallbackCalled, 0},
		{"unknown for good", WaitingFallback{Rank: rank.FailedUnknown, Started: ago(time.Minute)}, FallbackWaiting, 14 * time.Minute},
		{"unknown for good, and over", WaitingFallback{Rank: rank.FailedUnknown, Started: ago(wait)}, FallbackCalled, 0},
		{"just sent", WaitingFallback{Rank: rank.Sent, Sent: now}, FallbackWaiting, wait},
		{
			"sent, a millisecond left", WaitingFallback{Rank: rank.Sent, Sent: ago(wait - time.Millisecond)},
			FallbackWaiting, time.Millisecond,
		},
		{"sent, over", WaitingFallback{Rank: rank.Sent, Sent: ago(wait)}, FallbackCalled, 0},
		{"sent by a receipt without a time", WaitingFallback{Rank: rank.Sent, Started: ago(wait)}, FallbackCalled, 0},
		{"replied to", WaitingFallback{Rank: rank.Sent, Sent: ago(wait), ReachedPhone: true}, FallbackNotNeeded, 0},
		{"delivered", WaitingFallback{Rank: rank.Delivered, Sent: ago(wait)}, FallbackNotNeeded, 0},
		{"read", WaitingFallback{Rank: rank.Read}, FallbackNotNeeded, 0},
		{"failed just now", WaitingFallback{Rank: rank.Failed, Sent: now}, FallbackCalled, 0},
		{"failed after it was delivered", WaitingFallback{Rank: rank.Failed, ReachedPhone: true}, FallbackNotNeeded, 0},
		{"canceled", WaitingFallback{Rank: rank.Canceled}, FallbackCanceled, 0},
		{"skipped", WaitingFallback{Rank: rank.Skipped}, FallbackCanceled, 0},
	} {
		c.w.Wait = wait
		next, until := c.w.Next(now)
		if next != c.next || next == FallbackWaiting && !until.Equal(now.Add(c.in)) || next != FallbackWaiting && !until.IsZero() {
			t.Errorf("%s: %s until %v", c.name, next, until)
		}
	}
}
