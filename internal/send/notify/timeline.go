package notify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/messages"
)

// Event is one line of a notification's timeline (docs/reference/sending.md).
type Event struct {
	At   string `json:"at"`
	Name string `json:"event"`
	Text string `json:"text"`

	Until string `json:"until,omitempty"` // end of a wait
	Ahead *int   `json:"ahead,omitempty"` // messages that are sent before

	at time.Time
}

// Notes of an accepted notification that its timeline shows.
const (
	noteUnknownEvent  = "name_event_unknown" // no flow uses this name_event
	noteDefaultSender = "default_sender"     // recipient_id does not name a sender

	noteUnknownFallbackEvent = "fallback_event_unknown" // no flow uses the name_event of the fallback
)

// addNote adds a note to a notification that is being accepted.
func addNote(to *messages.Notification, note string) {
	if to.Notes != "" {
		to.Notes += " "
	}
	to.Notes += note
}

// timeline is the list of events of a notification, in order: a few about the notification, and four for each call
// attempt.
type timeline []Event

func (t *timeline) add(at time.Time, name, text string) {
	if !at.IsZero() {
		*t = append(*t, Event{At: instant(at), Name: name, Text: text, at: at})
	}
}

// Timeline returns the events of a notification as a whole. Errors: not_found.
func (x Sent) Timeline(ctx context.Context, companyID, id string) ([]Event, error) {
	v, _, err := x.Find(ctx, companyID, id, 0, 1)
	if err != nil {
		return nil, err
	}
	return v.Timeline, nil
}

// timelineOf returns the events of a notification, without the states of its recipients. sender is nil if it was
// removed. call is nil for messages; followUps are the fallbacks of messages.
func timelineOf(
	ctx context.Context, s *store.Store, x *messages.Notification, sender *SenderView, call *talked, followUps []followUp,
) ([]Event, error) {
	var t timeline
	t.accepted(x, sender)
	if call != nil {
		since := x.CreatedAt
		if x.MovedAt.After(since) {
			since = x.MovedAt
		}
		t.called(since, x.DueAt, call)
	} else {
		m, err := s.Messages.Milestones(ctx, x.Seq())
		if err != nil {
			return nil, err
		}
		t.add(m.FirstSent, "sent", "first message sent")
		t.followed(x, followUps)
		if err := t.waits(ctx, s, x, time.Now()); err != nil {
			return nil, err
		}
		if !x.Canceled {
			t.add(m.CanceledAt, "canceled", fmt.Sprintf("canceled for %d of %d recipients", m.Canceled, x.Total))
		}
	}
	if x.Canceled {
		t.add(x.DoneAt, "canceled", "canceled")
	} else {
		t.add(x.DoneAt, "completed", "completed")
	}
	slices.SortStableFunc(t, func(a, b Event) int { return cmp.Compare(a.at.UnixMilli(), b.at.UnixMilli()) })
	return t, nil
}

// accepted adds the events of the acceptance, and the due time.
func (t *timeline) accepted(x *messages.Notification, sender *SenderView) {
	t.add(x.CreatedAt, "accepted", "accepted")
	for note := range strings.FieldsSeq(x.Notes) {
		switch note {
		case noteUnknownEvent:
			t.add(x.CreatedAt, note, "name_event "+strconv.Quote(x.Labels.Event)+" belongs to no flow")
		case noteUnknownFallbackEvent:
			t.add(x.CreatedAt, note, "name_event of the fallback belongs to no flow")
		case noteDefaultSender:
			name := "the default sender"
			if sender != nil {
				name = "default sender " + sender.ID
			}
			t.add(x.CreatedAt, note, name+" sends; "+strconv.Quote(x.Labels.RecipientID)+" is none of the senders")
		}
	}
	switch due := carillon.FormatTime(x.DueAt); {
	case !x.MovedAt.IsZero():
		t.add(x.MovedAt, "moved", "moved to "+due) // the previous time is not stored
	case x.Scheduled:
		t.add(x.CreatedAt, "scheduled", "scheduled for "+due)
	}
}

// called adds the attempts at a call that was queued since an instant, due at another, and the next planned one.
func (t *timeline) called(since, due time.Time, c *talked) {
	ended := since
	for i := range c.attempts {
		a := &c.attempts[i]
		if a.Reason == carillon.ReasonDelivered {
			t.add(a.EndedAt, "fallback_not_needed", "delivered before it was dialed: not called")
			continue
		}
		t.add(a.DialedAt, "dialed", "dialed")
		t.add(a.RingingAt, "rang", "rang")
		t.add(a.AnsweredAt, "answered", "answered")
		if a.EndedAt.IsZero() {
			continue
		}
		ended = a.EndedAt
		text := "ended: " + string(a.State)
		if a.Reason != "" {
			text += ", " + string(a.Reason)
		}
		if a.Cause != "" {
			text += " (" + a.Cause + ")"
		}
		t.add(ended, "ended", text)
	}
	switch at := carillon.FormatTime(c.Due); {
	case !c.Queued:
	case len(c.attempts) > 0:
		t.add(ended, "redial", "will be dialed again at "+at)
	case c.Due.After(due):
		t.add(ended, "calling_hours", "waits for calling hours until "+at)
	}
}
