package store_test

import (
	"context"
	"testing"
	"time"

	"carillon/internal/store/configure"
	"carillon/internal/store/messages"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/store/settings"
)

func reporting() []sentence {
	return []sentence{
		{"what a channel says of a sender is kept, and shown to its company alone", keepingReports},
		{"an older notice changes nothing, and a check does not forget what it did not find out", keepingTheNewest},
		{"what waits of a sender is counted, and how late it is", countingBacklogs},
	}
}

func keepingReports(t *testing.T, r *rig) {
	ctx := t.Context()
	if got, err := r.Senders.Report(ctx, ours, r.sender.UID); err != nil ||
		!cmp.Equal(got, settings.SenderReport{SenderUID: r.sender.UID}) {
		t.Fatal(got, err)
	}
	found := provider.Inspection{
		Quality: "GREEN", Limit: "TIER_2K",
		Findings: []provider.Finding{{
			Item: "number", State: provider.FindingBad, Code: "number_differs", Values: map[string]string{"actual": "34600111222"},
		}},
	}
	check(t, r.Senders.KeepHandshake(ctx, r.sender, r.now))
	check(t, r.Senders.KeepCallback(ctx, r.sender, r.now.Add(time.Minute)))
	check(t, r.Senders.KeepCallback(ctx, r.sender, r.now))
	check(t, r.Senders.KeepInspection(ctx, r.sender, found, r.now.Add(time.Hour)))
	check(t, r.Senders.KeepNotice(ctx, r.sender, provider.Notice{Event: "FLAGGED", Limit: "TIER_250", At: r.now.Add(2 * time.Hour)}))
	check(t, r.Senders.KeepCallback(ctx, r.foreign, r.now))
	misplaced := *r.foreign
	misplaced.CompanyID = ours
	check(t, r.Senders.KeepCallback(ctx, &misplaced, r.now.Add(time.Hour))) // another company's sender is nobody's here
	want := settings.SenderReport{
		SenderUID: r.sender.UID, HandshakeAt: r.now, CallbackAt: r.now.Add(time.Minute), Notice: "FLAGGED",
		NoticeAt: r.now.Add(2 * time.Hour), Quality: "GREEN",
		QualityAt: r.now.Add(time.Hour), Messages: "TIER_250", MessagesAt: r.now.Add(2 * time.Hour), Findings: found.Findings,
		CheckedAt: r.now.Add(time.Hour),
	}
	got, err := r.Senders.Report(ctx, ours, r.sender.UID)
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Error(err, d)
	}
	all, err := r.Senders.Reports(ctx, ours)
	if d := cmp.Diff(map[int64]settings.SenderReport{r.sender.UID: want}, all); err != nil || d != "" {
		t.Error(err, d)
	}
	if got, err := r.Senders.Report(ctx, ours, r.foreign.UID); err != nil || !got.CallbackAt.IsZero() {
		t.Error("another company's report is shown:", got, err)
	}
	if got, err := r.Senders.Report(ctx, theirs, r.foreign.UID); err != nil || !got.CallbackAt.Equal(r.now) {
		t.Error(got, err)
	}
	r.configure(t, func(ctx context.Context, tx *configure.Tx) error {
		return settings.RemoveSender(ctx, tx, ours, r.sender.ID, r.now)
	})
	check(t, r.Senders.KeepCallback(ctx, r.sender, r.now.Add(time.Hour)))
	if all, err := r.Senders.Reports(ctx, ours); err != nil || len(all) != 0 {
		t.Error("a removed sender keeps its report:", all, err)
	}
}

func keepingTheNewest(t *testing.T, r *rig) {
	ctx := t.Context()
	notice := func(event, limit string, after time.Duration) {
		t.Helper()
		check(t, r.Senders.KeepNotice(ctx, r.sender, provider.Notice{Event: event, Limit: limit, At: r.now.Add(after)}))
	}
	want := func(event, messages, quality string) {
		t.Helper()
		got, err := r.Senders.Report(ctx, ours, r.sender.UID)
		if err != nil || got.Notice != event || got.Messages != messages || got.Quality != quality {
			t.Error(got, err)
		}
	}
	notice("UPGRADE", "TIER_10K", time.Minute)
	notice("ONBOARDING", "TIER_250", 0)
	want("UPGRADE", "TIER_10K", "")
	notice("ACCOUNT_VIOLATION", "", time.Hour)
	want("ACCOUNT_VIOLATION", "TIER_10K", "")
	check(t, r.Senders.KeepInspection(ctx, r.sender, provider.Inspection{Quality: "YELLOW"}, r.now.Add(2*time.Hour)))
	want("ACCOUNT_VIOLATION", "TIER_10K", "YELLOW")
	check(t, r.Senders.KeepInspection(ctx, r.sender, provider.Inspection{Limit: "TIER_2K"}, r.now.Add(3*time.Hour)))
	want("ACCOUNT_VIOLATION", "TIER_2K", "YELLOW")
	// The channel's time is the beginning of the second in which it reported.
	check(t, r.Senders.KeepInspection(ctx, r.sender, provider.Inspection{Limit: "TIER_10K"}, r.now.Add(4*time.Hour+700*time.Millisecond)))
	notice("DOWNGRADE", "TIER_1K", 4*time.Hour-time.Second)
	want("DOWNGRADE", "TIER_10K", "YELLOW")
	notice("DOWNGRADE", "TIER_250", 4*time.Hour)
	want("DOWNGRADE", "TIER_250", "YELLOW")
}

func countingBacklogs(t *testing.T, r *rig) {
	ctx := t.Context()
	now := r.now
	if got, err := r.Senders.Backlog(ctx, r.sender, now); err != nil || got != (settings.SenderBacklog{}) {
		t.Fatal(got, err)
	}
	for class, due := range map[carillon.Class]time.Duration{
		carillon.Transactional: -2 * time.Minute, carillon.Marketing: -time.Minute, carillon.Utility: time.Hour,
	} {
		r.accepted(t, 1, func(a *messages.Accept) { a.Notification.Class, a.Notification.DueAt = class, now.Add(due) })
	}
	got, err := r.Senders.Backlog(ctx, r.sender, now)
	if err != nil || got.Messages != 3 || got.Due != 2 || got.More || !got.Oldest.Equal(now.Add(-2*time.Minute)) {
		t.Error(got, err)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
