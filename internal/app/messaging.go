package app

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"carillon"
	"carillon/internal/messaging"
	"carillon/internal/notify"
	"carillon/internal/store/chats"
	"carillon/internal/store/suppressions"
	"carillon/internal/whatsapp"
)

// newMessaging builds what holds conversations over messaging channels.
func newMessaging(a *App) *messaging.Messaging {
	s := a.store
	return messaging.New(messaging.Options{
		Store: s.Replies(), Chats: s.Chats(), Conversations: a.conversations, Agents: talking{s}, Files: a.files,
		Channels: map[string]messaging.Channel{"whatsapp": whatsappReplies{a.whatsapp}}, Sender: s.Sender, AgentOf: agentOf,
		Bound: func(ctx context.Context, x *carillon.Sender, number, replyTo string) ([]*chats.Bound, error) {
			return notify.Bound(ctx, s, x.CompanyID, x.UID, number, replyTo, time.Now())
		},
		Begun: s.Runs().Begun,
		Suppress: func(ctx context.Context, companyID, number string) error {
			return s.Suppress(ctx, companyID, suppressions.All, "asked in a message", time.Now(), number)
		},
		Lift: func(ctx context.Context, companyID, number string) error {
			_, err := s.Unsuppress(ctx, companyID, number)
			return err
		},
		FileURL:   func(f *chats.File) string { return a.files.Signed(f, a.ready.BaseURL, time.Now()).URL },
		Publisher: a.hub, Observer: a.metrics.chat, Log: a.log,
	})
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
	if errors.Is(err, whatsapp.ErrNoFile) {
		err = messaging.ErrNoFile
	}
	return content, mime, err
}
