package notify

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/store"
	"carillon/internal/store/calls"
	"carillon/internal/store/messages"
	"carillon/internal/store/rank"
)

// View is a notification in `GET notify/{id}`. Keys that do not apply are omitted (docs/reference/sending.md).
type View struct {
	ID           string           `json:"notification_id"`
	Channel      carillon.Channel `json:"channel"`
	State        carillon.State   `json:"state" enum:"scheduled,in_progress,completed,canceled"`
	TemplateName string           `json:"name_template,omitempty"`
	Language     string           `json:"language_template,omitempty"`
	AgentID      string           `json:"agent_id,omitempty"`
	RecipientID  string           `json:"recipient_id"`
	Sender       *SenderView      `json:"sender,omitempty"`
	Type         string           `json:"notification_type" enum:"transactional,utility,marketing"`
	Campaign     string           `json:"campaign_name"`
	Event        string           `json:"name_event,omitempty"`
	CreatedAt    string           `json:"created_at"`
	Scheduled    string           `json:"scheduled_time,omitempty"`
	Counts       carillon.Details `json:"counts" values:"integer"`
	Fallback     *FallbackView    `json:"fallback,omitempty"`
	Timeline     []Event          `json:"timeline,omitempty"`
	Recipients   []RecipientView  `json:"recipients,omitempty"`
	NextCursor   string           `json:"next_cursor,omitempty"`
}

// SenderView is the actual sender of a notification, which may differ from its recipient_id.
type SenderView struct {
	ID     string `json:"id"`
	Number string `json:"number"`
}

// RecipientView is one recipient of a notification.
type RecipientView struct {
	MessageID  string           `json:"message_id"`
	Number     string           `json:"number"`            // empty if the message goes to an id
	UserID     string           `json:"user_id,omitempty"` // the channel's id of a person, instead of a number
	State      carillon.State   `json:"state"`
	Reason     carillon.Reason  `json:"reason,omitempty"`
	ProviderID string           `json:"provider_id,omitempty"`
	Attempts   int              `json:"attempts"`
	Times      carillon.Details `json:"times" values:"string"`
	ClickedAt  string           `json:"clicked_at,omitempty"` // first use of a counted link
	Clicks     *int             `json:"clicks,omitempty"`     // nil for a message without counted links
	Fallback   *FollowUpView    `json:"fallback,omitempty"`
	Call       *CallView        `json:"call,omitempty"`
}

// stateOf returns the state of a message.
func stateOf(n *messages.Notification, q int, known rank.Rank, attempted bool, now time.Time) carillon.State {
	switch {
	case known != rank.None:
		return known.State()
	case q >= 2:
		return carillon.StateSending
	case n.Scheduled && !attempted && now.Before(n.DueAt):
		return carillon.StateScheduled
	default:
		return carillon.StateQueued
	}
}

// order is the order of states in counts.
//
//nolint:gochecknoglobals // a constant table
var order = []carillon.State{
	carillon.StateScheduled, carillon.StateQueued, carillon.StateSending, carillon.StateSent, carillon.StateDelivered, carillon.StateRead,
	carillon.StateDialing, carillon.StateRinging, carillon.StateInProgress, carillon.StateCompleted, carillon.StateBusy,
	carillon.StateNoAnswer, carillon.StateRejected, carillon.StateVoicemail, carillon.StateFailed, carillon.StateCanceled,
	carillon.StateSkipped,
}

// viewsOf returns views of notifications without their recipients.
func viewsOf(ctx context.Context, s *store.Store, all []*messages.Notification, now time.Time) ([]*View, error) {
	messaging, voice := byChannel(all)
	tallies, err := s.Messages.Standings(ctx, messaging...)
	if err != nil {
		return nil, err
	}
	called, err := s.Calls.Of(ctx, voice)
	if err != nil {
		return nil, err
	}
	views := make([]*View, len(all))
	for i, x := range all {
		views[i] = viewOf(x, tallies[x.Seq()], called[x.Seq()], now)
		sender, err := s.Senders.SenderOf(ctx, x.CompanyID, x.SenderUID)
		if err != nil {
			return nil, err
		}
		if sender != nil {
			views[i].Sender = &SenderView{sender.ID, sender.Number}
		}
	}
	return views, nil
}

func byChannel(all []*messages.Notification) (messaging, voice []carillon.Seq) {
	for _, x := range all {
		if x.Channel == carillon.Voice {
			voice = append(voice, x.Seq())
		} else {
			messaging = append(messaging, x.Seq())
		}
	}
	return messaging, voice
}

func viewOf(x *messages.Notification, tallies []messages.Standing, call *calls.Call, now time.Time) *View {
	v := &View{
		ID: x.ID, Channel: x.Channel, TemplateName: x.Labels.TemplateName, Language: x.Labels.Language,
		RecipientID: x.Labels.RecipientID, Type: x.Class.String(), Campaign: x.Campaign, Event: x.Labels.Event,
		CreatedAt: carillon.FormatTime(x.CreatedAt), Counts: carillon.Details{},
	}
	if x.Scheduled {
		v.Scheduled = carillon.FormatTime(x.DueAt)
	}
	if x.Channel == carillon.Voice { // of messages, it is the fallback's
		v.AgentID = x.Labels.AgentID
	}
	if call != nil {
		tallies = []messages.Standing{callStanding(call)}
	}
	v.State = summary(x, tallies, now)
	if call != nil {
		v.Counts = append(v.Counts, carillon.Detail{Key: string(callState(x, call, now)), Value: 1})
		return v
	}
	counts := map[carillon.State]int{}
	for _, t := range tallies {
		counts[stateOf(x, t.Q, t.Rank, t.Attempted, now)] += t.Count
	}
	for _, s := range order {
		if counts[s] > 0 {
			v.Counts = append(v.Counts, carillon.Detail{Key: string(s), Value: counts[s]})
		}
	}
	return v
}

// summary returns the state of the notification itself: scheduled, in_progress, completed or canceled. It is in progress
// until its fallbacks are decided and their calls have ended.
func summary(x *messages.Notification, tallies []messages.Standing, now time.Time) carillon.State {
	open, begun := hasFallback(x) && x.Open > 0, false
	for _, t := range tallies {
		open = open || t.Q > 0
		begun = begun || t.Attempted
	}
	switch {
	case x.Canceled:
		return carillon.StateCanceled
	case !open:
		return carillon.StateCompleted
	case x.Scheduled && !begun && now.Before(x.DueAt):
		return carillon.StateScheduled
	default:
		return carillon.StateInProgress
	}
}

// Find reads a notification with its timeline and a page of its recipients, which begins at index first. next is the
// index of the next page, 0 after the last. Errors: not_found.
func (x Sent) Find(ctx context.Context, companyID, id string, first, limit int) (v *View, next int, err error) {
	now := time.Now()
	n, err := x.Store.Notifications.Find(ctx, companyID, id)
	if err != nil {
		return nil, 0, err
	}
	views, err := viewsOf(ctx, x.Store, []*messages.Notification{n}, now)
	if err != nil {
		return nil, 0, err
	}
	v = views[0]
	var call *talked
	if n.Channel == carillon.Voice {
		if call, err = callOf(ctx, x.Store, n, n.Seq().Message(0)); err != nil {
			return nil, 0, err
		}
	}
	followUps, err := followUpsOf(ctx, x.Store, n)
	if err != nil {
		return nil, 0, err
	}
	if v.Fallback, err = fallbackView(ctx, x.Store, n, followUps); err != nil {
		return nil, 0, err
	}
	if v.Timeline, err = timelineOf(ctx, x.Store, n, v.Sender, call, followUps); err != nil {
		return nil, 0, err
	}
	if call != nil {
		if v.Recipients = []RecipientView{}; first == 0 {
			v.Recipients = append(v.Recipients, recipientOfCall(n, call, now))
		}
		return v, 0, nil
	}
	rows, err := x.Store.Messages.List(ctx, n.Seq(), first, limit+1)
	if err != nil {
		return nil, 0, err
	}
	if len(rows) > limit {
		next = rows[limit].N
		rows = rows[:limit]
	}
	counted, err := countsClicks(ctx, x.Store, n)
	if err != nil {
		return nil, 0, err
	}
	v.Recipients = make([]RecipientView, len(rows))
	for i := range rows {
		v.Recipients[i] = recipientOf(n, &rows[i], now)
		v.Recipients[i].showClicks(&rows[i], counted)
	}
	follow(v.Recipients, first, n, followUps)
	return v, next, nil
}

func recipientOf(x *messages.Notification, m *messages.Message, now time.Time) RecipientView {
	number, userID := identity.Split(m.Number)
	return RecipientView{
		MessageID: provider.MessageID(x.ID, m.N), Number: number, UserID: userID, State: stateOf(x, m.Q, m.Rank, m.Attempts > 0, now),
		Reason: m.Reason, ProviderID: m.ProviderID, Attempts: m.Attempts, Times: timesOf(x, m, now),
	}
}

// timesOf returns when a message entered each of its states.
func timesOf(x *messages.Notification, m *messages.Message, now time.Time) carillon.Details {
	t := times{}
	if m.Rank != rank.Skipped || m.Attempts > 0 {
		t.accepted(x, m.Attempts > 0, m.Rank == rank.None, now)
	}
	t.add(carillon.StateSending, m.StartedAt)
	t.add(carillon.StateSent, m.SentAt)
	t.add(carillon.StateDelivered, m.DeliveredAt)
	t.add(carillon.StateRead, m.ReadAt)
	if !m.EndedAt.IsZero() {
		t.add(m.Rank.State(), m.EndedAt)
	}
	return carillon.Details(t)
}

// times records when a message or call entered its states.
type times carillon.Details

func (t *times) add(s carillon.State, at time.Time) {
	if !at.IsZero() {
		*t = append(*t, carillon.Detail{Key: string(s) + "_at", Value: instant(at)})
	}
}

// accepted adds when a message or call of the notification was scheduled and queued.
func (t *times) accepted(x *messages.Notification, attempted, waits bool, now time.Time) {
	if !x.Scheduled {
		t.add(carillon.StateQueued, x.CreatedAt)
		return
	}
	t.add(carillon.StateScheduled, x.CreatedAt)
	if attempted || waits && !now.Before(x.DueAt) {
		t.add(carillon.StateQueued, x.DueAt)
	}
}

// Views returns a page of a company's notifications, newest first. next is the cursor of the next page, "" after the
// last.
func (x Sent) Views(ctx context.Context, companyID string, f messages.Filter) (views []*View, next string, err error) {
	now := time.Now()
	rows, next, err := x.Store.Notifications.List(ctx, companyID, f, now)
	if err != nil {
		return nil, "", err
	}
	views, err = viewsOf(ctx, x.Store, rows, now)
	return views, next, err
}

// Canceled is the response to a cancel.
type Canceled struct {
	ID        string `json:"notification_id"`
	Canceled  int    `json:"canceled"`
	Sent      int    `json:"already_sent"`
	Fallbacks int    `json:"fallbacks_canceled,omitempty"` // calls that would have followed messages that were sent
	HungUp    int    `json:"hung_up,omitempty"`
}

// Cancel cancels the messages that have not been started, and the calls that would follow the others; with hangUp it
// also ends such calls in progress. Errors: not_found, conflict.
func (n *Notify) Cancel(ctx context.Context, companyID, id string, hangUp bool) (*Canceled, error) {
	c, err := n.store.Notifications.Cancel(ctx, companyID, id, hangUp, time.Now())
	if err != nil {
		return nil, err
	}
	return &Canceled{ID: id, Canceled: c.Messages, Sent: c.Sent, Fallbacks: c.Fallbacks, HungUp: c.HungUp}, nil
}

// Moved is the response to a move.
type Moved struct {
	ID        string `json:"notification_id"`
	Scheduled string `json:"scheduled_time"`
}

// Move reschedules a notification. Errors: not_found; conflict once delivery has begun.
func (n *Notify) Move(ctx context.Context, companyID, id string, due time.Time) (*Moved, error) {
	x, err := n.store.Notifications.Move(ctx, companyID, id, due, time.Now())
	if err != nil {
		return nil, err
	}
	n.entries.Invalidate(entryKey(x.Seq())) // even if it is being loaded
	n.wakeAt(x)
	return &Moved{id, carillon.FormatTime(due)}, nil
}
