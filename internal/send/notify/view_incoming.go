package notify

import (
	"context"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/calls"
	"carillon/internal/store/chats"
)

// heard is an incoming call with its turns.
type heard struct {
	*calls.IncomingCall
	turns     []chats.Turn
	transfers []TransferView
}

// TransferView is one transfer of a call to a number.
type TransferView struct {
	Number string `json:"number"`
	// Mode is bridge, by a second leg here, or refer, by the telephone company.
	Mode calls.TransferMode `json:"mode" enum:"bridge,refer"`
	// State is dialing, in_progress, completed, busy, no_answer, rejected, canceled or failed.
	State      carillon.State        `json:"state" enum:"calls"`
	Outcome    calls.TransferOutcome `json:"outcome,omitempty" enum:"transfers"`
	Cause      string                `json:"cause,omitempty"`
	DialedAt   string                `json:"dialed_at"`
	AnsweredAt string                `json:"answered_at,omitempty"`
	TakenAt    string                `json:"taken_at,omitempty"`
	EndedAt    string                `json:"ended_at,omitempty"`
}

// transfersOf returns the transfers of a call, by its conversation.
func transfersOf(ctx context.Context, table *calls.Incoming, companyID, conversationID string) (all []TransferView, err error) {
	if conversationID == "" {
		return nil, nil
	}
	found, err := table.Transfers(ctx, companyID, conversationID)
	for i := range found {
		t := &found[i]
		all = append(all, TransferView{
			t.Number, t.Mode, t.State, t.Outcome, t.Cause,
			instant(t.DialedAt), instant(t.AnsweredAt), instant(t.TakenAt), instant(t.EndedAt),
		})
	}
	return all, err
}

// incomingOf reads a call to one of a company's lines. Errors: not_found.
func incomingOf(ctx context.Context, companyID, id string, table *calls.Incoming, talks *chats.Store) (*heard, error) {
	c, err := table.Find(ctx, companyID, id)
	if err == nil && c == nil {
		err = carillon.Absent("Call")
	}
	if err != nil {
		return nil, err
	}
	h := &heard{IncomingCall: c}
	if c.ConversationID != "" {
		if h.turns, err = talks.Turns(ctx, companyID, c.ConversationID, 0, maxCallTurns); err != nil {
			return nil, err
		}
	}
	h.transfers, err = transfersOf(ctx, table, companyID, c.ConversationID)
	return h, err
}

// incomingCall returns an incoming call for `GET calls/{call_id}`.
func incomingCall(ctx context.Context, s *store.Store, companyID, id string) (*CallDetail, error) {
	c, err := incomingOf(ctx, companyID, id, s.Incoming, s.Chats)
	if err != nil {
		return nil, err
	}
	d := &CallDetail{
		CallView: &CallView{
			CallID: c.ID, RingingAt: instant(c.RingingAt), AnsweredAt: instant(c.AnsweredAt), EndedAt: instant(c.EndedAt),
			DurationS: talkedFor(c.AnsweredAt, c.EndedAt), Cause: c.Cause, EndedBy: c.EndedBy, Result: resultOf(c.turns),
			HasRecording: c.Recording != "", NoRecording: c.NoRecording, WACID: c.WACID,
		},
		Direction: incoming, Channel: Calls{s}.channelOf(ctx, c.SenderUID),
		Number: c.Number, AgentID: c.AgentID, State: c.State, Reason: c.Reason, Transfers: c.transfers,
		Turns: callTurns(c.turns, c.Recording, "caller"),
	}
	if d.Review, err = reviewOf(ctx, s, companyID, c.ConversationID); err != nil {
		return nil, err
	}
	line, err := s.Senders.Sender(ctx, c.SenderUID)
	switch {
	case err == nil:
		d.RecipientID = line.ID
	case carillon.IsCode(err, carillon.NotFound): // the line was removed
		err = nil
	}
	return d, err
}

func incomingRecording(ctx context.Context, s *store.Store, companyID, id string) (fileID, conversationID string, err error) {
	c, err := s.Incoming.Find(ctx, companyID, id)
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

// incoming returns an incoming call for members of the company.
func (x Calls) incoming(ctx context.Context, companyID, id string) (*CallPage, error) {
	c, err := incomingOf(ctx, companyID, id, x.Store.Incoming, x.Store.Chats)
	if err != nil {
		return nil, err
	}
	p := &CallPage{
		CallRow: rowOfIncoming(c.IncomingCall), Detail: c.Detail, Tries: []TryView{}, Turns: []SpokenRow{},
		RecordedAt: instant(recordedAt(c.Recording)),
	}
	p.Channel = x.channelOf(ctx, c.SenderUID)
	p.Result, p.Transfers = resultOf(c.turns), c.transfers
	if p.Review, err = reviewOf(ctx, x.Store, companyID, c.ConversationID); err != nil {
		return nil, err
	}
	if p.Name, err = x.callerName(ctx, companyID, c.ConversationID); err != nil {
		return nil, err
	}
	for i := range c.turns {
		p.Turns = append(p.Turns, SpokenRow{c.turns[i].View(), offsetOf(&c.turns[i], c.Recording)})
	}
	return p, nil
}

// callerName returns the name of a conversation's contact, or "" if it is unknown.
func (x Calls) callerName(ctx context.Context, companyID, conversationID string) (string, error) {
	if conversationID == "" {
		return "", nil
	}
	talk, err := x.Store.Chats.Find(ctx, companyID, conversationID)
	if err == nil {
		var contact *chats.Contact
		if contact, err = x.Store.Contacts.ContactOf(ctx, companyID, talk.ContactID); err == nil {
			return contact.Name, nil
		}
	}
	if carillon.IsCode(err, carillon.NotFound) { // the contact was deleted
		err = nil
	}
	return "", err
}

func rowOfIncoming(c *calls.IncomingCall) CallRow {
	return CallRow{
		CallID: c.ID, Direction: incoming, State: c.State, Reason: c.Reason, Number: c.Number, AgentID: c.AgentID, SenderUID: c.SenderUID,
		CreatedAt: instant(c.RingingAt), RingingAt: instant(c.RingingAt), AnsweredAt: instant(c.AnsweredAt), EndedAt: instant(c.EndedAt),
		DurationS: talkedFor(c.AnsweredAt, c.EndedAt), Cause: c.Cause, EndedBy: c.EndedBy, HasRecording: c.Recording != "",
		NoRecording: c.NoRecording, ConversationID: c.ConversationID,
	}
}

// ListIncoming returns a page of the calls to a company's lines, newest first. next is the cursor before which the
// next page begins, "" after the last.
func (x Calls) ListIncoming(ctx context.Context, companyID string, f calls.IncomingFilter) (rows []CallRow, next string, err error) {
	found, next, err := x.Store.Incoming.List(ctx, companyID, f)
	if err != nil {
		return nil, "", err
	}
	talks := make([]string, 0, len(found))
	for _, c := range found {
		talks = append(talks, c.ConversationID)
	}
	noted, err := x.Store.Chats.Noted(ctx, companyID, talks)
	if err != nil {
		return nil, "", err
	}
	for _, c := range found {
		r := rowOfIncoming(&c.IncomingCall)
		r.Channel = x.channelOf(ctx, r.SenderUID)
		r.Name, r.Result = c.Name, resultOf([]chats.Turn{{Extra: chats.Extra{Set: noted[c.ConversationID]}}})
		rows = append(rows, r)
	}
	return rows, next, nil
}
