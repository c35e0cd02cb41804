package messaging

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/base/share"
	"carillon/internal/store/chats"
	"carillon/internal/store/db"
)

const (
	sendTimeout = 45 * time.Second
	// After sendLease the outcome of an attempt is unknown, and the next reply is sent.
	sendLease = sendTimeout + 15*time.Second
	sendTries = 6
)

// waits are the waits between attempts.
//
//nolint:gochecknoglobals // read only
var waits = []time.Duration{
	time.Second, 4 * time.Second, 16 * time.Second, time.Minute, 5 * time.Minute,
}

// Reasons for not sending a reply, in addition to those of the channel.
const (
	reasonClosed  = string(provider.ReasonWindowClosed)
	reasonUnknown = string(carillon.ReasonOutcomeUnknown)
)

// closedWhy is the reason of a run that ends because its message came too late.
const closedWhy = "The contact wrote more than 24 hours ago: only a template reaches them (window_closed)"

// sends returns the workers that send due replies.
func (m *Messaging) sends() *share.Crew[*chats.Reply] {
	return &share.Crew[*chats.Reply]{
		Places: m.o.Shares.Of(share.ChannelSends), Page: page,
		Due: func(ctx context.Context, without []string) ([]*chats.Reply, error) {
			return m.o.Store.DueReplies(ctx, m.now(), page, without)
		},
		Key:     func(r *chats.Reply) string { return r.ConversationID + "/" + strconv.FormatInt(r.Seq, 10) },
		Company: func(r *chats.Reply) string { return r.CompanyID },
		Work: func(ctx context.Context, r *chats.Reply) bool {
			ok, err := m.send(ctx, r)
			if err != nil && ctx.Err() == nil {
				m.o.Log.WarnContext(ctx, "send a reply", "company", r.CompanyID, "conversation", r.ConversationID, "seq", r.Seq,
					"error", err)
			}
			return ok
		},
		Wake: m.Said,
	}
}

// send sends a reply that is due. It returns false if another node does, or if it failed.
func (m *Messaging) send(ctx context.Context, r *chats.Reply) (bool, error) {
	if r.State == "sending" { // its node stopped, or got no response
		return true, m.finish(ctx, r, "unknown", reasonUnknown, "no response is known; it is not sent again")
	}
	now := m.now()
	w, err := m.o.Store.Window(ctx, r.CompanyID, r.ConversationID)
	if err != nil {
		return false, err
	}
	if w == nil || !now.Before(w.Until) {
		return true, m.finish(ctx, r, "failed", reasonClosed, "the person wrote more than 24 hours ago")
	}
	if r.KeyID != "" && w.SenderUID != r.SenderUID { // the window of the sender that the message is for is no longer known
		return true, m.finish(ctx, r, "failed", reasonClosed, "the person has written to another sender since")
	}
	s, err := m.o.Sender(ctx, r.SenderUID)
	if carillon.IsCode(err, carillon.NotFound) {
		return true, m.finish(ctx, r, "failed", string(carillon.ReasonProviderRefused), "the sender was removed")
	}
	if err != nil {
		return false, err
	}
	channel := m.o.Channels[s.Provider]
	if channel == nil {
		return true, m.finish(ctx, r, "failed", string(carillon.ReasonProviderRefused), "the provider "+s.Provider+" sends no replies")
	}
	message, err := m.message(ctx, r, w)
	switch {
	case err == nil:
	case db.Transient(err):
		return false, err
	default: // otherwise it would be retried every second
		return true, errors.Join(err, m.finish(ctx, r, "failed", string(carillon.ReasonAttemptsExhausted), "the reply cannot be read"))
	}
	if ok, err := m.o.Store.Begin(ctx, r, m.o.Node, now, now.Add(sendLease)); !ok || err != nil {
		return false, err
	}
	r.Attempt++
	message.Ref.Attempt = r.Attempt
	sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendTimeout)
	defer cancel()
	r.State = "sending"
	m.show(r)
	return true, m.judge(context.WithoutCancel(ctx), r, channel.SendReply(sending, s, message))
}

// message builds the message of a turn. The recipient is the address in the window: the number in the reply may belong
// to somebody else by now.
func (m *Messaging) message(ctx context.Context, r *chats.Reply, w *chats.Window) (*provider.Reply, error) {
	turns, err := m.o.Chats.TurnsBefore(ctx, r.CompanyID, r.ConversationID, r.Seq+1, 1)
	if err != nil {
		return nil, err
	}
	if len(turns) == 0 || turns[0].Seq != r.Seq {
		return nil, fmt.Errorf("there is no turn %d", r.Seq)
	}
	c, err := m.o.Chats.Find(ctx, r.CompanyID, r.ConversationID)
	if err != nil {
		return nil, err
	}
	t := &turns[0]
	x := &provider.Reply{
		Ref: provider.ReplyRef{ConversationID: r.ConversationID, Seq: r.Seq}, To: w.Number, UserID: w.UserID,
		Text: t.Text, Choices: t.Extra.Choices, Language: c.Language, AskNumber: t.Extra.AskNumber && w.Number == "",
	}
	if t.Extra.AskCalls {
		x.Message = &provider.Message{Type: provider.MessageCallPermission, Text: t.Text}
	}
	if r.Content != "" {
		x.Message = &provider.Message{}
		if err := json.Unmarshal([]byte(r.Content), x.Message); err != nil {
			return nil, fmt.Errorf("read an application's message: %w", err)
		}
	}
	for _, source := range t.Extra.Sources {
		if source.URL != "" {
			x.Text += "\n" + source.URL
		}
	}
	if t.Extra.File != nil {
		address, err := m.o.FileURL(ctx, r.CompanyID, t.Extra.File)
		if err != nil {
			return nil, err
		}
		x.File = &provider.ReplyFile{URL: address, Type: t.Extra.File.Type, Name: t.Extra.File.Name}
	}
	return x, nil
}

// judge stores the outcome of an attempt.
func (m *Messaging) judge(ctx context.Context, r *chats.Reply, o provider.Outcome) error {
	switch o.Verdict {
	case provider.Sent:
		if r.Number != "" && o.Number != "" && !identity.Number(r.Number).Is(o.Number) {
			if err := m.o.Contacts.Learn(ctx, r.CompanyID, []chats.Report{{Number: r.Number, As: o.Number}}, m.now()); err != nil {
				// Not an error: the reply was sent.
				m.o.Log.WarnContext(ctx, "store the channel's form of a number", "company", r.CompanyID, "error", err)
			}
		}
		r.ProviderID = o.ProviderID
		return m.finish(ctx, r, "sent", "", o.Detail)
	case provider.Unknown:
		// A receipt or a message of the person may clarify the outcome; until then the next reply waits.
		return m.o.Store.Unheard(ctx, r)
	case provider.RetryLater, provider.PauseSender:
		tries := sendTries
		if o.MaxTries > 0 {
			tries = min(tries, o.MaxTries)
		}
		if r.Attempt < tries {
			now, wait := m.now(), waits[min(r.Attempt, len(waits))-1]
			return m.o.Store.Again(ctx, r, o.Detail, now, now.Add(max(wait, o.RetryAfter)))
		}
		return m.finish(ctx, r, "failed", string(carillon.ReasonAttemptsExhausted), o.Detail)
	default:
		return m.finish(ctx, r, "failed", string(o.Reason), o.Detail)
	}
}

// finish stores the final state of a reply, after which the next one is sent. If the window is closed, it first ends
// the run that sent the reply: the state is stored last, so after a crash both steps are repeated.
func (m *Messaging) finish(ctx context.Context, r *chats.Reply, state, reason, detail string) error {
	if reason == reasonClosed {
		if err := m.o.Conversations.Runner.Unsent(ctx, r.CompanyID, r.ConversationID, r.Seq, closedWhy); err != nil {
			return fmt.Errorf("end the run of a reply: %w", err)
		}
	}
	r.State, r.Reason, r.Detail = state, reason, detail
	risen, err := m.o.Store.Finish(ctx, r, m.now())
	if risen && err == nil {
		m.show(r)
	}
	return err
}

// refused ends the run whose reply the channel refused after accepting it, because the window was closed.
func (m *Messaging) refused(ctx context.Context, r *chats.Reply) error {
	all, err := m.o.Store.Replies(ctx, r.CompanyID, r.ConversationID, r.Seq, r.Seq)
	if err != nil || len(all) == 0 || all[0].Reason != reasonClosed {
		return err
	}
	return m.o.Conversations.Runner.Unsent(ctx, r.CompanyID, r.ConversationID, r.Seq, closedWhy)
}

// Deliveries returns the delivery states of the replies among turns, by seq.
func (m *Messaging) Deliveries(ctx context.Context, companyID, conversationID string, turns []chats.Turn) (map[int64]Delivery, error) {
	if len(turns) == 0 {
		return nil, nil
	}
	all, err := m.o.Store.Replies(ctx, companyID, conversationID, turns[0].Seq, turns[len(turns)-1].Seq)
	if err != nil {
		return nil, err
	}
	states := make(map[int64]Delivery, len(all))
	for _, r := range all {
		states[r.Seq] = Delivery{r.Seq, r.State, r.Reason, r.Detail}
	}
	return states, nil
}
