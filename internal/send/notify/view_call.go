package notify

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/store"
	"carillon/internal/store/calls"
	"carillon/internal/store/chats"
	"carillon/internal/store/messages"
)

// CallView is the call-specific part of a recipient. Keys that do not apply are omitted.
type CallView struct {
	CallID       string           `json:"call_id"`
	Attempts     *int             `json:"attempts,omitempty"`
	NextAttempt  string           `json:"next_attempt_at,omitempty"`
	RingingAt    string           `json:"ringing_at,omitempty"`
	AnsweredAt   string           `json:"answered_at,omitempty"`
	EndedAt      string           `json:"ended_at,omitempty"`
	DurationS    *int             `json:"duration_s,omitempty"`
	Cause        string           `json:"cause,omitempty"`
	EndedBy      string           `json:"ended_by,omitempty"`
	AnsweredBy   string           `json:"answered_by,omitempty"`
	Result       carillon.Details `json:"result,omitempty" values:"string,number,boolean"` // values that the agent collected
	HasRecording bool             `json:"has_recording"`
	// NoRecording is the reason why a recorded call has no recording.
	NoRecording calls.NoRecording `json:"no_recording,omitempty" enum:"refused,expired"`
	WACID       string            `json:"wacid,omitempty"`    // WhatsApp's id of a call over WhatsApp
	Outcomes    []AttemptView     `json:"outcomes,omitempty"` // of attempts that have ended
}

// AttemptView is an ended attempt at a call.
type AttemptView struct {
	State    carillon.State  `json:"state" enum:"calls"`
	Reason   carillon.Reason `json:"reason,omitempty"`
	Cause    string          `json:"cause,omitempty"`
	DialedAt string          `json:"dialed_at"`
	EndedAt  string          `json:"ended_at"`
}

// The directions of calls.
const (
	outgoing = "outgoing" // placed for a notification
	incoming = "incoming" // to one of the company's lines
)

// CallDetail is a call in `GET calls/{call_id}`.
type CallDetail struct {
	*CallView
	Direction      string            `json:"direction" enum:"outgoing,incoming"`
	Channel        string            `json:"channel,omitempty" enum:"whatsapp"` // whatsapp; empty for telephone calls
	NotificationID string            `json:"notification_id,omitempty"`         // of an outgoing call
	RecipientID    string            `json:"recipient_id"`                      // the line as named in the request
	Number         string            `json:"number"`                            // of the other party; empty if the caller hid it
	AgentID        string            `json:"agent_id"`
	State          carillon.State    `json:"state" enum:"calls"`
	Reason         carillon.Reason   `json:"reason,omitempty"`
	Transfers      []TransferView    `json:"transfers,omitempty"`
	Review         *chats.ReviewView `json:"review,omitempty"` // made after the call
	Turns          []CallTurn        `json:"turns"`
}

// CallTurn is an utterance in a call.
type CallTurn struct {
	Seq    int64  `json:"seq"`
	Author string `json:"author"` // agent, callee, caller, teammate or system
	Text   string `json:"text"`
	At     string `json:"at"`
	Digits string `json:"digits,omitempty"`
	// OffsetMS is its position in the recording, in milliseconds.
	OffsetMS *int64 `json:"offset_ms,omitempty"`
}

// Call reads a call of a company. Errors: not_found.
func (x Calls) Call(ctx context.Context, companyID, id string) (*CallDetail, error) {
	n, key, err := x.placed(ctx, companyID, id)
	if carillon.IsCode(err, carillon.NotFound) {
		return incomingCall(ctx, x.Store, companyID, id)
	}
	if err != nil {
		return nil, err
	}
	c, err := callOf(ctx, x.Store, n, key)
	if err == nil && c == nil {
		err = carillon.Absent("Call")
	}
	if err != nil {
		return nil, err
	}
	recipientID := n.Labels.RecipientID
	if n.Channel == carillon.Messaging {
		line, err := x.Store.Senders.SenderOf(ctx, companyID, c.SenderUID)
		if err != nil {
			return nil, err
		}
		if recipientID = ""; line != nil {
			recipientID = line.ID
		}
	}
	transfers, err := transfersOf(ctx, x.Store.Incoming, companyID, c.ConversationID)
	if err != nil {
		return nil, err
	}
	review, err := reviewOf(ctx, x.Store, companyID, c.ConversationID)
	if err != nil {
		return nil, err
	}
	return &CallDetail{
		Review:    review,
		Transfers: transfers, CallView: viewCall(provider.CallID(n.ID, n.Channel, key), c), Direction: outgoing,
		Channel: x.channelOf(ctx, c.SenderUID), NotificationID: n.ID, RecipientID: recipientID,
		Number: c.Number, AgentID: n.Labels.AgentID, State: callState(n, c.Call, time.Now()), Reason: c.Reason,
		Turns: callTurns(c.turns, c.Recording, "callee"),
	}, nil
}

// placed finds the notification and the key of a placed call. Errors: not_found.
func (x Calls) placed(ctx context.Context, companyID, id string) (n *messages.Notification, key carillon.MessageKey, err error) {
	notificationID, key, of, ok := provider.ParseCallID(id)
	if !ok {
		return nil, 0, carillon.Absent("Call")
	}
	n, err = x.Store.Notifications.Find(ctx, companyID, notificationID)
	if err == nil && n.Channel != of {
		err = carillon.Absent("Call")
	}
	return n, key, err
}

// viewCall returns the view of a call for its recipient and for `GET calls/{call_id}`.
func viewCall(id string, c *talked) *CallView {
	attempts := c.Dials
	if c.UnderWay {
		attempts++
	}
	v := &CallView{
		CallID: id, Attempts: &attempts, RingingAt: instant(c.RingingAt), AnsweredAt: instant(c.AnsweredAt), EndedAt: instant(c.EndedAt),
		Cause: c.Cause, EndedBy: c.EndedBy, AnsweredBy: c.AnsweredBy, Result: resultOf(c.turns), HasRecording: c.Recording != "",
		NoRecording: c.NoRecording, DurationS: talkedFor(c.AnsweredAt, c.EndedAt), WACID: c.WACID,
	}
	if c.Queued && len(c.attempts) > 0 {
		v.NextAttempt = instant(c.Due)
	}
	for _, a := range c.attempts {
		if !a.EndedAt.IsZero() {
			v.Outcomes = append(v.Outcomes, AttemptView{a.State, a.Reason, a.Cause, instant(a.DialedAt), instant(a.EndedAt)})
		}
	}
	return v
}

// HungUp returns the response to a cancel that hangs up a call in the given state. An unanswered call counts as
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
func callState(x *messages.Notification, c *calls.Call, now time.Time) carillon.State {
	if c.Queued && x.Scheduled && c.Attempts == 0 && now.Before(x.DueAt) {
		return carillon.StateScheduled
	}
	return c.State
}

// callStanding returns a call's state for the counts.
func callStanding(c *calls.Call) messages.Standing {
	q := 0
	switch {
	case c.Queued:
		q = 1
	case c.UnderWay:
		q = 2
	}
	return messages.Standing{Q: q, Attempted: c.Attempts > 0, Count: 1}
}

func recipientOfCall(x *messages.Notification, c *talked, now time.Time) RecipientView {
	v := RecipientView{
		MessageID: x.ID + ".0", Number: c.Number, State: callState(x, c.Call, now), Reason: c.Reason, Attempts: c.Dials,
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
		v.Call = viewCall(x.ID, c)
	}
	return v
}

// talked is a call with its attempts and turns.
type talked struct {
	*calls.Call
	attempts []calls.Attempt
	turns    []chats.Turn
}

// maxCallTurns bounds the turns of a call that are shown.
const maxCallTurns = 2000

// callOf reads a call of a notification. It returns nil if there is none.
func callOf(ctx context.Context, s *store.Store, x *messages.Notification, key carillon.MessageKey) (*talked, error) {
	c, err := s.Calls.Find(ctx, key)
	if err != nil || c == nil {
		return nil, err
	}
	t := &talked{Call: c}
	if t.attempts, err = s.Calls.Attempts(ctx, c.Key); err != nil || c.ConversationID == "" {
		return t, err
	}
	t.turns, err = s.Chats.Turns(ctx, x.CompanyID, c.ConversationID, 0, maxCallTurns)
	return t, err
}

// callTurns converts turns for `GET calls/{call_id}`. recording is the id of the call's recording; visitor is the
// label of the other party.
func callTurns(turns []chats.Turn, recording, visitor string) []CallTurn {
	all := []CallTurn{}
	for i := range turns {
		t := &turns[i]
		author, text := string(t.Author), t.Text
		switch {
		case t.Note || t.Kind == chats.KindEvent && len(t.Extra.Set) > 0:
			continue
		case t.Kind == chats.KindEvent:
			text = t.Extra.Event
		case t.Author == chats.Visitor:
			author = visitor
		case t.Extra.Voice != nil && t.Extra.Voice.Cut:
			text = t.Extra.Voice.Heard
		}
		all = append(all, CallTurn{t.Seq, author, text, instant(t.At), t.Extra.Digits, offsetOf(t, recording)})
	}
	return all
}

// resultOf returns the values that an agent collected, each with its last value.
func resultOf(turns []chats.Turn) (result carillon.Details) {
	for i := range turns {
		for _, v := range turns[i].Extra.Set {
			result = v.Add(result)
		}
	}
	return result
}

// Recording returns the file id of a call's recording. Errors: not_found.
func (x Calls) Recording(ctx context.Context, companyID, id string) (fileID, conversationID string, err error) {
	_, key, err := x.placed(ctx, companyID, id)
	if carillon.IsCode(err, carillon.NotFound) {
		return incomingRecording(ctx, x.Store, companyID, id)
	}
	if err != nil {
		return "", "", err
	}
	c, err := x.Store.Calls.Find(ctx, key)
	switch {
	case err != nil:
		return "", "", err
	case c == nil:
		return "", "", carillon.Absent("Call")
	case c.Recording == "":
		return "", "", withoutRecording(c.NoRecording)
	}
	return c.Recording, c.ConversationID, nil
}

// withoutRecording returns the error for a call without a recording.
func withoutRecording(why calls.NoRecording) error {
	e := carillon.Absent("Recording")
	switch why {
	case calls.Refused:
		e.Details = carillon.Details{{Key: "reason", Value: "The other side of the call refused the recording"}}
	case calls.Expired:
		e.Details = carillon.Details{{Key: "reason", Value: "The recording was deleted after the company's recording_days"}}
	}
	return e
}
