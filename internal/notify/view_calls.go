package notify

import (
	"context"
	"strings"
	"time"

	"carillon"
	"carillon/internal/request"
	"carillon/internal/store/calls"
	"carillon/internal/store/chats"
)

// CallRow is a call in a list.
type CallRow struct {
	CallID         string           `json:"call_id"`
	Direction      string           `json:"direction"` // outgoing
	State          carillon.State   `json:"state"`
	Reason         carillon.Reason  `json:"reason,omitempty"`
	Number         string           `json:"number"`
	Name           string           `json:"name,omitempty"` // of the contact
	AgentID        string           `json:"agent_id"`
	Campaign       string           `json:"campaign_name,omitempty"`
	SenderUID      int64            `json:"-"`
	CreatedAt      string           `json:"created_at"`
	ScheduledAt    string           `json:"scheduled_time,omitempty"`
	DueAt          string           `json:"due_at,omitempty"` // of a call that waits
	DialedAt       string           `json:"dialed_at,omitempty"`
	RingingAt      string           `json:"ringing_at,omitempty"`
	AnsweredAt     string           `json:"answered_at,omitempty"`
	EndedAt        string           `json:"ended_at,omitempty"`
	DurationS      *int             `json:"duration_s,omitempty"`
	Attempts       int              `json:"attempts"`
	Cause          string           `json:"cause,omitempty"`
	EndedBy        string           `json:"ended_by,omitempty"`
	AnsweredBy     string           `json:"answered_by,omitempty"`
	Result         carillon.Details `json:"result,omitempty"`
	HasRecording   bool             `json:"has_recording"`
	ConversationID string           `json:"conversation_id,omitempty"`
}

// Calls returns a page of a company's calls, newest first; next is what the next page begins before, calls.Oldest after the last.
func (n *Notify) Calls(ctx context.Context, companyID string, f calls.Filter) (rows []CallRow, next carillon.MessageKey, err error) {
	now := time.Now()
	found, next, err := n.store.Calls().List(ctx, companyID, f, now)
	if err != nil {
		return nil, next, err
	}
	var ids []string
	for _, c := range found {
		if c.ConversationID != "" {
			ids = append(ids, c.ConversationID)
		}
	}
	noted, err := n.store.Chats().Noted(ctx, companyID, ids)
	if err != nil {
		return nil, next, err
	}
	for _, c := range found {
		rows = append(rows, rowOf(c, noted[c.ConversationID], now))
	}
	return rows, next, nil
}

func rowOf(c *calls.Listed, noted []chats.Value, now time.Time) CallRow {
	r := CallRow{
		CallID: c.NotificationID, Direction: "outgoing", State: c.State, Reason: c.Reason, Number: c.Number, Name: calledName(c.Body, c.Flat),
		AgentID: c.AgentID, Campaign: c.Campaign, SenderUID: c.SenderUID, CreatedAt: instant(c.CreatedAt), DialedAt: instant(c.DialedAt),
		RingingAt: instant(c.RingingAt), AnsweredAt: instant(c.AnsweredAt), EndedAt: instant(c.EndedAt), DurationS: talkedFor(&c.Call), Attempts: c.Dials,
		Cause: c.Cause, EndedBy: c.EndedBy, AnsweredBy: c.AnsweredBy, HasRecording: c.Recording != "", ConversationID: c.ConversationID,
		Result: resultOf([]chats.Turn{{Extra: chats.Extra{Set: noted}}}),
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

// talkedFor is how many seconds an ended call was talked in; nil where nobody answered.
func talkedFor(c *calls.Call) *int {
	if c.AnsweredAt.IsZero() || c.EndedAt.IsZero() {
		return nil
	}
	s := int(c.EndedAt.Sub(c.AnsweredAt).Round(time.Second) / time.Second)
	return &s
}

// calledName is the name of the contact of a call's request.
func calledName(body string, flat bool) string {
	if body == "" {
		return ""
	}
	req, err := request.Parse(carillon.Voice, []byte(body), flat, time.Time{})
	if err != nil || len(req.Contacts) == 0 {
		return ""
	}
	fields := req.Contacts[0].Fields()
	if name := strings.TrimSpace(fields["first_name"] + " " + fields["last_name"]); name != "" {
		return name
	}
	return fields["name"]
}
