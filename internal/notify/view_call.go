package notify

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/calls"
)

// CallView is the part of a call's recipient about the call; keys that do not apply are left out.
type CallView struct {
	CallID       string        `json:"call_id"`
	Attempts     int           `json:"attempts"`
	NextAttempt  string        `json:"next_attempt_at,omitempty"`
	RingingAt    string        `json:"ringing_at,omitempty"`
	AnsweredAt   string        `json:"answered_at,omitempty"`
	EndedAt      string        `json:"ended_at,omitempty"`
	DurationS    *int          `json:"duration_s,omitempty"`
	Cause        string        `json:"cause,omitempty"`
	EndedBy      string        `json:"ended_by,omitempty"`
	AnsweredBy   string        `json:"answered_by,omitempty"`
	HasRecording bool          `json:"has_recording"`
	Outcomes     []AttemptView `json:"outcomes,omitempty"` // of ended attempts
}

// AttemptView is one ended attempt at a call.
type AttemptView struct {
	State    carillon.State  `json:"state"`
	Reason   carillon.Reason `json:"reason,omitempty"`
	Cause    string          `json:"cause,omitempty"`
	DialedAt string          `json:"dialed_at"`
	EndedAt  string          `json:"ended_at"`
}

// CallDetail is a call in `GET calls/{call_id}`.
type CallDetail struct {
	*CallView
	NotificationID string          `json:"notification_id"`
	RecipientID    string          `json:"recipient_id"` // the line, as the request named it
	Number         string          `json:"number"`
	AgentID        string          `json:"agent_id"`
	State          carillon.State  `json:"state"`
	Reason         carillon.Reason `json:"reason,omitempty"`
	Turns          []struct{}      `json:"turns"` // none: lines of this version carry no speech
}

// Call reads a call of a company. Errors: not_found.
func (n *Notify) Call(ctx context.Context, companyID, id string) (*CallDetail, error) {
	x, err := n.store.Notification(ctx, companyID, id)
	if carillon.IsCode(err, carillon.NotFound) {
		return nil, carillon.Absent("Call")
	}
	if err != nil {
		return nil, err
	}
	c, attempts, err := n.callOf(ctx, x)
	if err == nil && c == nil {
		err = carillon.Absent("Call")
	}
	if err != nil {
		return nil, err
	}
	return &CallDetail{
		CallView: viewCall(x.ID, c, attempts), NotificationID: x.ID, RecipientID: x.Labels.RecipientID, Number: c.Number, AgentID: x.Labels.AgentID,
		State: callState(x, c, time.Now()), Reason: c.Reason, Turns: []struct{}{},
	}, nil
}

// viewCall returns the view of a call for its recipient and `GET calls/{call_id}`; id is its notification's.
func viewCall(id string, c *calls.Call, attempts []calls.Attempt) *CallView {
	v := &CallView{
		CallID: id, Attempts: c.Dials, RingingAt: instant(c.RingingAt), AnsweredAt: instant(c.AnsweredAt), EndedAt: instant(c.EndedAt),
		Cause: c.Cause, EndedBy: c.EndedBy, AnsweredBy: c.AnsweredBy,
	}
	if c.Queued && len(attempts) > 0 {
		v.NextAttempt = instant(c.Due)
	}
	if c.UnderWay {
		v.Attempts++
	}
	if !c.AnsweredAt.IsZero() && !c.EndedAt.IsZero() {
		s := int(c.EndedAt.Sub(c.AnsweredAt).Round(time.Second) / time.Second)
		v.DurationS = &s
	}
	for _, a := range attempts {
		if !a.EndedAt.IsZero() {
			v.Outcomes = append(v.Outcomes, AttemptView{a.State, a.Reason, a.Cause, instant(a.DialedAt), instant(a.EndedAt)})
		}
	}
	return v
}

// HungUp returns the response to a cancel that hangs up a call, by the state that the call was in: an unanswered call is
// canceled.
func HungUp(id string, state carillon.State) *Canceled {
	if state == carillon.StateInProgress {
		return &Canceled{ID: id, Sent: 1, HungUp: 1}
	}
	return &Canceled{ID: id, Canceled: 1, HungUp: 1}
}

const millis = "2006-01-02T15:04:05.000Z"

func instant(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(millis)
}

// callState returns the state of a call.
func callState(x *store.Notification, c *calls.Call, now time.Time) carillon.State {
	if c.Queued && x.Scheduled && c.Attempts == 0 && now.Before(x.DueAt) {
		return carillon.StateScheduled
	}
	return c.State
}

// callStanding returns a call's state for the counts.
func callStanding(c *calls.Call) store.Standing {
	q := 0
	switch {
	case c.Queued:
		q = 1
	case c.UnderWay:
		q = 2
	}
	return store.Standing{Q: q, Attempted: c.Attempts > 0, Count: 1}
}

func recipientOfCall(x *store.Notification, c *calls.Call, attempts []calls.Attempt, now time.Time) RecipientView {
	v := RecipientView{
		MessageID: x.ID + ".0", Number: c.Number, State: callState(x, c, now), Reason: c.Reason, Attempts: c.Dials,
	}
	if c.UnderWay {
		v.Attempts++
	}
	t := times{}
	if c.State != carillon.StateSkipped || c.Attempts > 0 {
		t.accepted(x, c.Attempts > 0, c.Queued, now)
	}
	t.add(carillon.StateDialing, c.DialedAt)
	t.add(carillon.StateRinging, c.RingingAt)
	t.add(carillon.StateInProgress, c.AnsweredAt)
	if !c.EndedAt.IsZero() {
		t.add(c.State, c.EndedAt)
	}
	v.Times = carillon.Details(t)
	if c.State != carillon.StateSkipped {
		v.Call = viewCall(x.ID, c, attempts)
	}
	return v
}

// callOf reads the call of a notification with its attempts, nil for one with messages.
func (n *Notify) callOf(ctx context.Context, x *store.Notification) (*calls.Call, []calls.Attempt, error) {
	if x.Channel != carillon.Voice {
		return nil, nil, nil
	}
	c, err := n.store.Calls().Find(ctx, x.Seq().Message(0))
	if err != nil || c == nil {
		return nil, nil, err
	}
	attempts, err := n.store.Calls().Attempts(ctx, c.Key)
	return c, attempts, err
}
