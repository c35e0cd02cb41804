package notify

import (
	"context"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/send/request"
	"carillon/internal/store"
	"carillon/internal/store/calls"
	"carillon/internal/store/chats"
)

// CallRow is a call in a list.
type CallRow struct {
	CallID         string           `json:"call_id"`
	NotificationID string           `json:"notification_id,omitempty"`          // of a placed call
	Direction      string           `json:"direction" enum:"outgoing,incoming"` // outgoing or incoming
	Channel        string           `json:"channel,omitempty" enum:"whatsapp"`  // whatsapp; empty for telephone calls
	State          carillon.State   `json:"state" enum:"calls"`
	Reason         carillon.Reason  `json:"reason,omitempty"`
	Number         string           `json:"number"`
	Name           string           `json:"name,omitempty"` // of the contact
	AgentID        string           `json:"agent_id"`
	Campaign       string           `json:"campaign_name,omitempty"`
	SenderUID      int64            `json:"-"`
	CreatedAt      string           `json:"created_at"`
	ScheduledAt    string           `json:"scheduled_time,omitempty"`
	DueAt          string           `json:"due_at,omitempty"` // of a waiting call
	DialedAt       string           `json:"dialed_at,omitempty"`
	RingingAt      string           `json:"ringing_at,omitempty"`
	AnsweredAt     string           `json:"answered_at,omitempty"`
	EndedAt        string           `json:"ended_at,omitempty"`
	DurationS      *int             `json:"duration_s,omitempty"`
	Attempts       int              `json:"attempts"`
	Cause          string           `json:"cause,omitempty"`
	EndedBy        string           `json:"ended_by,omitempty"`
	AnsweredBy     string           `json:"answered_by,omitempty"`
	Result         carillon.Details `json:"result,omitempty" values:"string,number,boolean"`
	HasRecording   bool             `json:"has_recording"`
	// NoRecording is the reason why a recorded call has no recording.
	NoRecording    calls.NoRecording `json:"no_recording,omitempty" enum:"refused,expired"`
	ConversationID string            `json:"conversation_id,omitempty"`
}

// Calls reads calls.
type Calls struct{ Store *store.Store }

// List returns a page of a company's calls, newest first. next is the key before which the next page begins,
// calls.Oldest after the last.
func (x Calls) List(ctx context.Context, companyID string, f calls.Filter) (rows []CallRow, next carillon.MessageKey, err error) {
	now := time.Now()
	found, next, err := x.Store.Calls.List(ctx, companyID, f, now)
	if err != nil {
		return nil, next, err
	}
	var ids []string
	for _, c := range found {
		if c.ConversationID != "" {
			ids = append(ids, c.ConversationID)
		}
	}
	noted, err := x.Store.Chats.Noted(ctx, companyID, ids)
	if err != nil {
		return nil, next, err
	}
	for _, c := range found {
		r := rowOf(c, noted[c.ConversationID], now)
		r.Channel = x.channelOf(ctx, r.SenderUID)
		rows = append(rows, r)
	}
	return rows, next, nil
}

// channelOf returns whatsapp for a line of calls over WhatsApp, and "" for others, also if the line is unknown.
func (x Calls) channelOf(ctx context.Context, senderUID int64) string {
	line, err := x.Store.Senders.Sender(ctx, senderUID)
	if err != nil || provider.OverWhatsApp(line) == "" {
		return ""
	}
	return channelWhatsApp
}

// channelWhatsApp is the channel of calls over WhatsApp.
const channelWhatsApp = "whatsapp"

func rowOf(c *calls.Listed, noted []chats.Value, now time.Time) CallRow {
	r := CallRow{
		CallID: provider.CallID(c.NotificationID, c.Channel, c.Key), NotificationID: c.NotificationID, Direction: outgoing, State: c.State,
		Reason: c.Reason, Number: c.Number, Name: calledName(c),
		AgentID: c.AgentID, Campaign: c.Campaign, SenderUID: c.SenderUID, CreatedAt: instant(c.CreatedAt), DialedAt: instant(c.DialedAt),
		RingingAt: instant(c.RingingAt), AnsweredAt: instant(c.AnsweredAt), EndedAt: instant(c.EndedAt),
		DurationS: talkedFor(c.AnsweredAt, c.EndedAt), Attempts: c.Dials,
		Cause: c.Cause, EndedBy: c.EndedBy, AnsweredBy: c.AnsweredBy, HasRecording: c.Recording != "", NoRecording: c.NoRecording,
		ConversationID: c.ConversationID,
		Result:         resultOf([]chats.Turn{{Extra: chats.Extra{Set: noted}}}),
	}
	if c.Scheduled {
		r.ScheduledAt = instant(c.ScheduledAt)
	}
	switch {
	case c.UnderWay:
		r.Attempts++
	case c.Queued:
		r.DueAt = instant(c.Due)
		if c.Scheduled && c.Call.Attempts == 0 && now.Before(c.ScheduledAt) {
			r.State = carillon.StateScheduled
		}
	}
	return r
}

// talkedFor returns the talk time of an ended call in seconds, or nil if nobody answered.
func talkedFor(answered, ended time.Time) *int {
	if answered.IsZero() || ended.IsZero() {
		return nil
	}
	s := int(ended.Sub(answered).Round(time.Second) / time.Second)
	return &s
}

// calledName returns the name of the contact in a call's request.
func calledName(c *calls.Listed) string {
	req, err := request.Decode(c.Channel, c.Body, c.Flat)
	if err != nil || c.Key.N() >= len(req.Contacts) {
		return "" // deleted, or accepted by an older version and now invalid
	}
	return req.Contacts[c.Key.N()].Name()
}

// CallPage is a call with all details, for members of the company.
type CallPage struct {
	CallRow
	Detail     string            `json:"detail,omitempty"` // of the last attempt, for the operator of the line
	Tries      []TryView         `json:"tries"`
	RecordedAt string            `json:"recorded_at,omitempty"` // when the recording begins
	Turns      []SpokenRow       `json:"turns"`
	Transfers  []TransferView    `json:"transfers,omitempty"`
	Review     *chats.ReviewView `json:"review,omitempty"` // made after the call
}

// reviewOf returns the review of a conversation; nil if there is none.
func reviewOf(ctx context.Context, s *store.Store, companyID, conversationID string) (*chats.ReviewView, error) {
	if conversationID == "" {
		return nil, nil //nolint:nilnil // nobody talked
	}
	all, err := s.Reviews.Of(ctx, companyID, conversationID)
	return all[conversationID].View(), err
}

// TryView is one attempt at a call, which may still be in progress.
type TryView struct {
	N          int             `json:"n"`
	State      carillon.State  `json:"state" enum:"calls"`
	Reason     carillon.Reason `json:"reason,omitempty"`
	Cause      string          `json:"cause,omitempty"`
	Detail     string          `json:"detail,omitempty"`
	Counts     bool            `json:"counts"` // it reached the network
	DialedAt   string          `json:"dialed_at"`
	RingingAt  string          `json:"ringing_at,omitempty"`
	AnsweredAt string          `json:"answered_at,omitempty"`
	EndedAt    string          `json:"ended_at,omitempty"`
}

// SpokenRow is a turn with its position in the recording.
type SpokenRow struct {
	chats.TurnView
	OffsetMS *int64 `json:"offset_ms,omitempty"`
}

// One reads a company's call. Errors: not_found.
func (x Calls) One(ctx context.Context, companyID, id string) (*CallPage, error) {
	c, err := x.Store.Calls.One(ctx, companyID, id)
	if err == nil && c == nil {
		return x.incoming(ctx, companyID, id)
	}
	if err != nil {
		return nil, err
	}
	attempts, err := x.Store.Calls.Attempts(ctx, c.Key)
	if err != nil {
		return nil, err
	}
	var turns []chats.Turn
	if c.ConversationID != "" {
		if turns, err = x.Store.Chats.Turns(ctx, companyID, c.ConversationID, 0, maxCallTurns); err != nil {
			return nil, err
		}
	}
	p := &CallPage{
		CallRow: rowOf(c, nil, time.Now()), Detail: c.Detail, Tries: []TryView{}, Turns: []SpokenRow{},
		RecordedAt: instant(recordedAt(c.Recording)),
	}
	p.Result, p.Channel = resultOf(turns), x.channelOf(ctx, c.SenderUID)
	if p.Review, err = reviewOf(ctx, x.Store, companyID, c.ConversationID); err != nil {
		return nil, err
	}
	if p.Transfers, err = transfersOf(ctx, x.Store.Incoming, companyID, c.ConversationID); err != nil {
		return nil, err
	}
	for _, a := range attempts {
		p.Tries = append(p.Tries, TryView{
			a.N, a.State, a.Reason, a.Cause, a.Detail, a.Counts, instant(a.DialedAt), instant(a.RingingAt), instant(a.AnsweredAt),
			instant(a.EndedAt),
		})
	}
	for i := range turns {
		p.Turns = append(p.Turns, SpokenRow{turns[i].View(), offsetOf(&turns[i], c.Recording)})
	}
	return p, nil
}

// recordedAt returns when a recording begins, or the zero time if there is none.
func recordedAt(recording string) time.Time {
	if !carillon.ValidUUID(recording) {
		return time.Time{}
	}
	ms, err := strconv.ParseInt(recording[:8]+recording[9:13], 16, 64) // its id contains its creation time
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// offsetOf returns the position of a turn in the recording, in milliseconds, or nil if there is no recording. A
// person's turn is stored when it has been understood, an agent's turn when the agent begins to speak.
func offsetOf(t *chats.Turn, recording string) *int64 {
	began := recordedAt(recording)
	if began.IsZero() {
		return nil
	}
	ms := t.At.Sub(began).Milliseconds()
	if v := t.Extra.Voice; v != nil && t.Author == chats.Visitor {
		ms -= v.LengthMS + v.DetectMS + v.TranscribeMS
	}
	ms = max(ms, 0)
	return &ms
}
