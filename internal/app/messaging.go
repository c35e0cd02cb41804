package app

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/send/notify"
	"carillon/internal/send/sandbox"
	"carillon/internal/send/whatsapp"
	"carillon/internal/store/chats"
	"carillon/internal/store/suppressions"
	"carillon/internal/talk/messaging"
)

// newMessaging builds what holds conversations over messaging channels.
func newMessaging(a *App) *messaging.Messaging {
	s := a.store
	return messaging.New(messaging.Options{
		Shares: a.shares,
		Store:  s.Replies, Chats: s.Chats, Contacts: s.Contacts, Conversations: a.conversations, Agents: talking{s}, Files: a.files,
		Channels: map[string]messaging.Channel{"whatsapp": whatsappReplies{a.whatsapp}, "sandbox": sandboxReplies{a.sandbox}}, Sender: s.Senders.Sender, AgentOf: agentOf,
		Portfolio: portfolioOf,
		Bound: func(ctx context.Context, x *carillon.Sender, lines []identity.Key, replyTo string) ([]*chats.Bound, error) {
			return notify.Bound(ctx, s, x.CompanyID, x.UID, lines, replyTo, time.Now())
		},
		Sent: func(ctx context.Context, x *carillon.Sender, lines []identity.Key, providerID string) (string, error) {
			return notify.SentAs(ctx, s, x.CompanyID, x.UID, lines, providerID, time.Now())
		},
		Proved: func(ctx context.Context, x *carillon.Sender, lines []identity.Key, providerID string) (bool, error) {
			return notify.Proved(ctx, a.notify, x, lines, providerID)
		},
		Begun: s.Runs.Begun,
		Suppress: func(ctx context.Context, companyID string, addresses ...string) error {
			return s.Suppressions.Suppress(ctx, companyID, suppressions.All, "asked in a message", time.Now(), addresses...)
		},
		Lift: func(ctx context.Context, companyID string, who identity.Key) error {
			_, err := s.Suppressions.Unsuppress(ctx, companyID, who)
			return err
		},
		Suppressed: func(ctx context.Context, companyID string, who identity.Key) (bool, error) {
			found, err := s.Suppressions.Suppressed(ctx, companyID, carillon.Marketing, []identity.Key{who})
			return found[who], err
		},
		FileURL:   func(f *chats.File) string { return a.files.Signed(f, a.ready.BaseURL, time.Now()).URL },
		Publisher: a.hub, Observer: a.metrics.Chat, Log: a.log, Alone: s.DB.SQLite(), Node: a.queue.ID(),
	})
}

// portfolioOf is the scope of the ids of people that the channel reports to a sender: a business portfolio of WhatsApp. In the sandbox all
// senders of a company are in one.
func portfolioOf(s *carillon.Sender) string {
	if s.Provider == "whatsapp" {
		return whatsapp.Portfolio(s.Settings)
	}
	return s.Provider
}

// agentOf is the id of the agent that answers for a messaging sender.
func agentOf(s *carillon.Sender) string {
	var settings struct {
		Agent string `json:"agent"`
	}
	if json.Unmarshal(s.Settings, &settings) != nil {
		return ""
	}
	return settings.Agent
}

// whatsappReplies is the channel of WhatsApp.
type whatsappReplies struct{ *whatsapp.Client }

// File implements messaging.Channel.
func (w whatsappReplies) File(ctx context.Context, s *carillon.Sender, id string, most int64) ([]byte, string, error) {
	content, mime, err := w.Client.File(ctx, s, id, most)
	switch {
	case errors.Is(err, whatsapp.ErrNoFile):
		err = messaging.ErrNoFile
	case errors.Is(err, whatsapp.ErrFileTooLarge):
		err = messaging.ErrFileTooLarge
	}
	return content, mime, err
}

// sandboxReplies is the channel of the sandbox.
type sandboxReplies struct{ *sandbox.Channel }

// File implements messaging.Channel.
func (c sandboxReplies) File(ctx context.Context, s *carillon.Sender, id string, most int64) ([]byte, string, error) {
	content, mime, err := c.Channel.File(ctx, s, id, most)
	if errors.Is(err, sandbox.ErrNoFile) {
		err = messaging.ErrNoFile
	}
	return content, mime, err
}

// MessageID implements calls.Mobile.
func (sandboxReplies) MessageID(address, client string) string {
	return sandbox.MessageID(address, client)
}

// Person implements calls.Mobile.
func (sandboxReplies) Person(s *carillon.Sender, username string) identity.Identity {
	return identity.Identity{Kind: identity.Person, Scope: portfolioOf(s), Key: identity.User(sandbox.UserID(username))}
}

// Sample implements calls.Mobile.
func (sandboxReplies) Sample(id string) (f provider.InboundFile, ok bool) {
	name, mime, ok := sandbox.Sample(id)
	return provider.InboundFile{ID: id, Type: mime, Name: name}, ok
}

// unreachableMost bounds the phones of all companies that the sandbox knows to be unreachable.
const unreachableMost = 10_000

// newSandbox builds the sandbox's channel, whose phones keep what happens to them in the database.
func newSandbox(a *App, reviewed func(context.Context, provider.TemplateEvent) error) *sandbox.Channel {
	phones := a.store.Replies
	return sandbox.New(sandbox.Options{
		Receipts: a.sandboxReceipts, Templates: reviewed, Logger: a.log,
		Replies: func(ctx context.Context, senderUID int64, rs []provider.ReplyReceipt) error {
			s, err := a.store.Senders.Sender(ctx, senderUID)
			if err != nil {
				return err
			}
			return a.messaging.Receipts(ctx, s, rs)
		},
		Unreachable: func(ctx context.Context) ([]sandbox.Recipient, error) {
			all, err := phones.Unreachable(ctx, unreachableMost)
			recipients := make([]sandbox.Recipient, len(all))
			for i, p := range all {
				recipients[i] = sandbox.Recipient{SenderUID: p.SenderUID, Number: p.Number}
			}
			return recipients, err
		},
		Marked: func(ctx context.Context, s *carillon.Sender, number string, typingUntil time.Time) error {
			return phones.MarkPhone(ctx, s.CompanyID, s.UID, number, time.Now(), typingUntil)
		},
	})
}
