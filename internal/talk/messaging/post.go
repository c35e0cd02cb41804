package messaging

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/store/chats"
	"carillon/internal/talk/conversation"
	"carillon/internal/talk/freeform"
)

// Submission is an application's request to send a message, whose credential, scope and rate limit have been checked.
type Submission struct {
	CompanyID      string
	KeyID, KeyName string
	Request        *freeform.Request
	// Route, IdempotencyKey and Hash identify repeats; the key may be empty.
	Route, IdempotencyKey, Hash string
}

// Accepted is the response to an accepted message.
type Accepted struct {
	ID             string `json:"id"`
	State          string `json:"state"`
	ConversationID string `json:"conversation_id"`
	ClosesAt       string `json:"window_closes_at"`
}

// Response is the response for the caller. Repeats get the same bytes.
type Response struct {
	ID       string // of the message; empty if it is replayed
	JSON     []byte
	Replayed bool
}

// keepAnswers is the retention of idempotency keys.
const keepAnswers = 24 * time.Hour

// Accept checks whether the person may get a message now, and stores it in the conversation, from which it is sent like a
// teammate's reply. Errors: validation_failed, not_found,
// conflict if the window is closed, idempotency_key_reused.
func (m *Messaging) Accept(ctx context.Context, s *Submission) (*Response, error) {
	r := s.Request
	c, w, err := m.reachable(ctx, s.CompanyID, r)
	if err != nil {
		return nil, err
	}
	post := conversation.Post{
		CompanyID: s.CompanyID, Name: s.KeyName, ClientID: carillon.NewID(m.now()), Text: freeform.Text(&r.Message),
		Choices: freeform.Titles(&r.Message), Stored: chats.Posted{KeyID: s.KeyID},
	}
	for _, o := range r.Options() {
		post.ChoiceIDs = append(post.ChoiceIDs, o.ID)
	}
	content, err := m.resolve(ctx, c, r, &post)
	if err != nil {
		return nil, err
	}
	post.Stored.Content = string(content)
	answer := func(turns []chats.Turn) string {
		text, _ := json.Marshal(Accepted{ // texts cannot fail
			chats.MessageID(c.ID, turns[len(turns)-1].Seq), string(carillon.StateQueued), c.ID, carillon.FormatTime(w.Until),
		})
		return string(text)
	}
	if s.IdempotencyKey != "" {
		post.Stored.Claim = &chats.Claim{
			Route: s.Route, Key: s.IdempotencyKey, Hash: s.Hash, Answer: answer, Now: m.now(), ExpiresAt: m.now().Add(keepAnswers),
		}
	}
	change, err := m.o.Conversations.Desk.Post(ctx, post, c.ID)
	switch {
	case err != nil:
		return nil, err
	case post.Stored.Claim != nil && post.Stored.Claim.Replay != "":
		return &Response{JSON: []byte(post.Stored.Claim.Replay), Replayed: true}, nil
	case change.Repeated != nil: // the transaction was repeated after its response was lost
		change.Turns = []chats.Turn{*change.Repeated}
	}
	return &Response{ID: chats.MessageID(c.ID, change.Turns[len(change.Turns)-1].Seq), JSON: []byte(answer(change.Turns))}, nil
}

// reachable returns the conversation of the request's person and its window, which is open.
func (m *Messaging) reachable(ctx context.Context, companyID string, r *freeform.Request) (*chats.Conversation, *chats.Window, error) {
	var uid int64
	if r.RecipientID != "" {
		s, err := m.named(ctx, companyID, r.RecipientID)
		if err != nil {
			return nil, nil, err
		}
		uid = s.UID
	}
	c, err := m.conversationOf(ctx, companyID, r)
	if err != nil {
		return nil, nil, err
	}
	if c == nil {
		return nil, nil, closedAt(time.Time{}, "The person has not written yet")
	}
	w, err := m.o.Store.Window(ctx, companyID, c.ID)
	switch {
	case err != nil:
		return nil, nil, err
	case w == nil || w.Until.IsZero():
		return nil, nil, closedAt(time.Time{}, "The person has not written yet")
	case uid != 0 && w.SenderUID != uid:
		return nil, nil, closedAt(time.Time{}, "The person last wrote to another sender; without recipient_id, that one sends")
	case !m.now().Before(w.Until):
		return nil, nil, closedAt(w.Until, "The person last wrote more than 24 hours ago")
	}
	return c, w, nil
}

// sendInstead is the advice for a person whose window is closed.
const sendInstead = "a template: POST /functions/v1/notify"

// closedAt returns the 409 for a closed window. until is zero if the person never opened it.
func closedAt(until time.Time, reason string) error {
	var at any
	if !until.IsZero() {
		at = carillon.FormatTime(until)
	}
	err := carillon.InConflict(reason)
	err.Details = append(err.Details, carillon.Detail{Key: "window_closed_at", Value: at},
		carillon.Detail{Key: "send_instead", Value: sendInstead})
	return err
}

// named returns the company's messaging sender with an id or number.
func (m *Messaging) named(ctx context.Context, companyID, name string) (*carillon.Sender, error) {
	all, err := m.o.Senders(ctx, companyID, name)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.Channel == carillon.Messaging {
			return s, nil
		}
	}
	return nil, carillon.InvalidValue("recipient_id", "No messaging sender of the company has this id or number", name)
}

// conversationOf returns the conversation of the person that the request names; nil if there is none.
func (m *Messaging) conversationOf(ctx context.Context, companyID string, r *freeform.Request) (*chats.Conversation, error) {
	switch {
	case r.ConversationID != "":
		c, err := m.o.Chats.Find(ctx, companyID, strings.ToLower(r.ConversationID))
		if err == nil && c.Channel != "whatsapp" {
			err = carillon.InvalidValue("conversation_id", "Over "+c.Channel+", not over a messaging channel", r.ConversationID)
		}
		return c, err
	case r.To.UserID != "":
		return m.o.Chats.OfUser(ctx, companyID, identity.User(r.To.UserID))
	default:
		return m.o.Chats.OfPerson(ctx, companyID, identity.Identity{Kind: identity.Line, Key: identity.Number(r.To.Number)})
	}
}

// resolve returns the message as JSON, with the channel's ids of the messages that it names.
func (m *Messaging) resolve(ctx context.Context, c *chats.Conversation, r *freeform.Request, post *conversation.Post) ([]byte, error) {
	x := r.Message
	if x.ReplyTo != "" {
		t, id, err := m.referred(ctx, c, "reply_to", x.ReplyTo)
		if err != nil {
			return nil, err
		}
		x.ReplyTo, post.Of, post.About = id, t.Seq, begin(t.Text)
	}
	if x.Reaction != nil {
		t, id, err := m.referred(ctx, c, "reaction.message_id", x.Reaction.MessageID)
		if err != nil {
			return nil, err
		}
		x.Reaction = &provider.Reaction{MessageID: id, Emoji: x.Reaction.Emoji}
		post.Of, post.About = t.Seq, begin(t.Text)
	}
	return json.Marshal(&x)
}

// referred returns the turn of a conversation with a public id, and its channel id.
func (m *Messaging) referred(ctx context.Context, c *chats.Conversation, field, id string) (*chats.Turn, string, error) {
	none := carillon.InvalidValue(field, "The conversation has no such message", id)
	conversationID, seq, ok := chats.ParseMessageID(id)
	if !ok || conversationID != c.ID {
		return nil, "", none
	}
	t, channelID, err := m.turn(ctx, c.CompanyID, conversationID, seq)
	switch {
	case err != nil:
		return nil, "", err
	case t == nil:
		return nil, "", none
	case channelID == "":
		return nil, "", carillon.InvalidValue(field, "The channel has not named this message yet, or never sent it", id)
	}
	return t, channelID, nil
}

// turn returns a turn and its channel id, which is empty if the channel has not reported it; nil for none.
func (m *Messaging) turn(ctx context.Context, companyID, conversationID string, seq int64) (*chats.Turn, string, error) {
	turns, err := m.o.Chats.TurnsBefore(ctx, companyID, conversationID, seq+1, 1)
	if err != nil || len(turns) == 0 || turns[0].Seq != seq || turns[0].Kind == chats.KindEvent || turns[0].Note {
		return nil, "", err
	}
	t := &turns[0]
	if id, of := strings.CutPrefix(t.ClientID, string(chats.Teammate)+":"); of && t.Extra.PhoneApp {
		return t, id, nil
	}
	if id, of := strings.CutPrefix(t.ClientID, string(chats.Visitor)+":"); of {
		if strings.HasPrefix(id, "sha256.") { // our own, for a message to which the channel gave no id
			id = ""
		}
		return t, id, nil
	}
	replies, err := m.o.Store.Replies(ctx, companyID, conversationID, seq, seq)
	if err != nil || len(replies) == 0 {
		return t, "", err
	}
	return t, replies[0].ProviderID, nil
}

// MarkRead reports to the channel that a message of a person was read, and so were those before it. If typing is set, it
// also shows the typing indicator. Errors: not_found, service_unavailable.
func (m *Messaging) MarkRead(ctx context.Context, companyID, messageID string, typing bool) error {
	conversationID, seq, ok := chats.ParseMessageID(messageID)
	if !ok {
		return carillon.Absent("Message")
	}
	t, id, err := m.turn(ctx, companyID, conversationID, seq)
	switch {
	case err != nil:
		return err
	case t == nil || t.Author != chats.Visitor || id == "":
		return carillon.Absent("Message")
	}
	w, err := m.o.Store.Window(ctx, companyID, conversationID)
	switch {
	case err != nil:
		return err
	case w == nil:
		return carillon.Absent("Message")
	}
	s, err := m.o.Sender(ctx, w.SenderUID)
	if err != nil {
		return err
	}
	channel := m.o.Channels[s.Provider]
	if channel == nil {
		return carillon.InConflict("The provider " + s.Provider + " marks no messages as read")
	}
	if err := channel.MarkRead(ctx, s, id, typing); err != nil {
		return &carillon.Error{
			Code: carillon.ServiceUnavailable, Message: "The channel did not mark the message as read", Err: err,
			Details: carillon.Details{{Key: "service", Value: s.Provider}},
		}
	}
	return nil
}

// View is an application's message in `GET messages/{id}`. Keys that do not apply are omitted.
type View struct {
	ID             string         `json:"id"`
	ConversationID string         `json:"conversation_id"`
	Type           string         `json:"type"`
	Number         string         `json:"number,omitempty"`
	State          carillon.State `json:"state"`
	Reason         string         `json:"reason,omitempty"`
	Attempt        int            `json:"attempt,omitempty"`
	CreatedAt      string         `json:"created_at"`
	SentAt         string         `json:"sent_at,omitempty"`
	DeliveredAt    string         `json:"delivered_at,omitempty"`
	ReadAt         string         `json:"read_at,omitempty"`
	FailedAt       string         `json:"failed_at,omitempty"`
}

// Find returns an application's message of a company. Errors: not_found.
func (m *Messaging) Find(ctx context.Context, companyID, id string) (*View, error) {
	conversationID, seq, ok := chats.ParseMessageID(id)
	if !ok {
		return nil, carillon.Absent("Message")
	}
	r, at, err := m.o.Store.Posted(ctx, companyID, conversationID, seq)
	if err != nil {
		return nil, err
	}
	var x provider.Message
	if err := json.Unmarshal([]byte(r.Content), &x); err != nil {
		return nil, err
	}
	v := &View{
		ID: chats.MessageID(conversationID, seq), ConversationID: conversationID, Type: x.Type, Number: r.Number,
		State: chats.PublicState(r.State), Attempt: r.Attempt, CreatedAt: carillon.FormatTime(at), SentAt: timeOf(r.SentAt),
		DeliveredAt: timeOf(r.DeliveredAt), ReadAt: timeOf(r.ReadAt),
	}
	if v.State == carillon.StateFailed {
		v.Reason, v.FailedAt = r.Reason, timeOf(r.ChangedAt)
	}
	return v, nil
}

func timeOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return carillon.FormatTime(t)
}
