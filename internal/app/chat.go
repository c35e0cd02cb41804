package app

import (
	"context"
	"log/slog"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/api"
	"carillon/internal/conversation"
	"carillon/internal/httpio"
	"carillon/internal/realtime"
	"carillon/internal/store"
	"carillon/internal/widget"
	"carillon/web"
)

// talking finds the agents of conversations.
type talking struct{ store *store.Store }

// TalkingAgent implements conversation.Agents.
func (t talking) TalkingAgent(ctx context.Context, companyID, id string) (*agent.Agent, string, error) {
	x, owner, err := t.store.Find(ctx, agent.Kind(), id)
	if err != nil {
		return nil, "", err
	}
	a, ok := x.(*agent.Agent)
	if !ok || owner != companyID {
		return nil, "", carillon.Absent("Agent")
	}
	company, err := t.store.Company(ctx, companyID)
	if err != nil {
		return nil, "", err
	}
	return a, company.Name, nil
}

// newConversations builds what holds conversations.
func newConversations(s *store.Store, hub *realtime.Hub, log *slog.Logger) *conversation.Conversations {
	return conversation.New(conversation.Options{
		Store: s.Chats(), Agents: talking{s}, Thinker: agent.Builtin{}, Publisher: hub, Log: log, Alone: s.SQLite(),
	})
}

// widgetRoutes are the routes of the widgets; root is the page at the installation's address.
func widgetRoutes(a *App, sessionKey []byte, root httpio.Handler) []httpio.Route {
	d := widget.Deps{
		Auth: a.auth, Resources: a.store, Companies: a.store, Conversations: a.conversations, Chats: a.store.Chats(), Limits: a.limits,
		Events: a.hub, Pages: web.Embedded(), SessionKey: sessionKey, Proxies: a.cfg.TrustedProxies, Log: a.log,
		Addresses: func() (string, string) { return a.ready.BaseURL, a.ready.WidgetURL },
	}
	all := widget.Routes(d)
	for i := range all {
		all[i].Handle = api.Gated(a.store, all[i].Handle)
	}
	return append(all, widget.Pages(d, root)...)
}
