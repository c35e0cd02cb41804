package notify

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/messages"
	"carillon/internal/store/work"
)

// lateAfter is the delay of a message after which the timeline explains it.
const lateAfter = 5 * time.Second

// waits adds the reason for which messages of a notification are late: the first of those that apply.
func (t *timeline) waits(ctx context.Context, s *store.Store, x *messages.Notification, now time.Time) error {
	if x.Canceled || !x.DoneAt.IsZero() || now.Before(x.DueAt.Add(lateAfter)) {
		return nil
	}
	w, err := messages.FirstWaiting(ctx, s.DB, x.Seq())
	if err != nil || w == nil {
		return err
	}
	e, err := waitOf(ctx, s, x, w, now)
	if err != nil {
		return err
	}
	e.At, e.at = instant(now), now
	*t = append(*t, e)
	return nil
}

// waitOf returns the reason for which a message waits.
func waitOf(ctx context.Context, s *store.Store, x *messages.Notification, w *messages.Waiting, now time.Time) (e Event, err error) {
	switch {
	case strings.HasPrefix(w.Hold, messages.RestoredPrefix):
		return Event{Name: "waits_restored", Text: "held after a restore, until the operator sends or fails it"}, nil
	case w.Hold != "":
		return Event{Name: "waits_template", Text: "held until the template is approved again"}, nil
	}
	if c, err := s.Accounts.Company(ctx, x.CompanyID); err != nil {
		return e, err
	} else if c.Refusal() != nil {
		return Event{Name: "waits_suspended", Text: "waits: the company is suspended"}, nil
	}
	all, err := s.Breakers.OfCompany(ctx, x.CompanyID)
	if err != nil {
		return e, err
	}
	for _, b := range all {
		if b.SenderUID == x.SenderUID && b.State != work.BreakerClosed {
			e = Event{Name: "waits_breaker", Text: "waits"}
			if b.Until.After(now) {
				e.Until = carillon.FormatTime(b.Until)
				e.Text += " until " + e.Until
			}
			e.Text += ": the sender's circuit breaker is open: " + because(b.Detail)
			return e, nil
		}
	}
	if w.Attempt > 0 && w.Due.After(now) {
		return Event{
			Name: "waits_retry", Until: carillon.FormatTime(w.Due),
			Text: "waits until " + carillon.FormatTime(w.Due) + " for attempt " + strconv.Itoa(w.Attempt+1) + ": " + because(w.Detail),
		}, nil
	}
	sender, err := s.Senders.Sender(ctx, x.SenderUID)
	if err != nil {
		return e, err
	}
	_, shards, err := s.Nodes.Cluster(ctx)
	if err != nil {
		return e, err
	}
	if !slices.ContainsFunc(shards, func(o work.Shard) bool { return o.ID == sender.Shard() && o.Owner != "" }) {
		return Event{Name: "waits_node", Text: "waits: no node serves the sender"}, nil
	}
	ahead, err := messages.Ahead(ctx, s.DB, sender, x.Class, w, now)
	if err != nil {
		return e, err
	}
	e = Event{Name: "waits_turn", Ahead: &ahead, Text: fmt.Sprintf("waits: %d messages of the sender are ahead", ahead)}
	if sender.PerSecond > 0 {
		e.Text += fmt.Sprintf(", at most %d a second", sender.PerSecond)
	}
	return e, nil
}

func because(detail string) string {
	if detail == "" {
		return "the last attempt failed"
	}
	return detail
}
