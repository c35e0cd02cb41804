package app

import (
	"context"
	"strings"
	"time"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/agent/knowledge"
	"carillon/internal/base/httpio"
	"carillon/internal/edge/api"
	"carillon/internal/edge/attachment"
	"carillon/internal/edge/widget"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/store/questions"
	"carillon/internal/talk/conversation"
	"carillon/web"
)

// talking finds the agents of conversations.
type talking struct{ store *store.Store }

// TalkingAgent implements conversation.Agents.
func (t talking) TalkingAgent(ctx context.Context, companyID, id string) (*agent.Agent, string, error) {
	x, owner, err := t.store.Resources.Find(ctx, agent.Kind(), id)
	if err != nil {
		return nil, "", err
	}
	a, ok := x.(*agent.Agent)
	if !ok || owner != companyID {
		return nil, "", carillon.Absent("Agent")
	}
	company, err := t.store.Accounts.Company(ctx, companyID)
	if err != nil {
		return nil, "", err
	}
	return a, company.Name, nil
}

const (
	maxPage           = 2 << 20 // bytes of a page that becomes an article
	maxEngineResponse = 4 << 20 // bytes of a response of an agent's engine
	engineTimeout     = 45 * time.Second
)

// newConversations builds what holds conversations.
func newConversations(a *App) *conversation.Conversations {
	s, log := a.store, a.log
	a.flowServers = newFlowServers(a.cfg.MediaAllowPrivate)
	return conversation.New(conversation.Options{
		Shares: a.shares,
		Store:  s, Agents: talking{s}, Thinker: a.thinker, Publisher: a.hub, Observer: a.metrics.Chat, Log: log,
		Alone: s.DB.SQLite(), Node: a.queue.ID(),
		Flows: laidOut{s, a.log}, Effects: flowEffects{s, a.notify, a.flowServers}, Runs: s.Runs, Suspended: suspended(s), Spoke: func() { a.messaging.Said() },
		Unanswered: func(ctx context.Context, c *chats.Conversation, question string) {
			if err := recordQuestion(ctx, s.Questions, c, question); err != nil {
				log.WarnContext(ctx, "record a question without an answer", "conversation", c.ID, "error", err)
			}
		},
	})
}

const (
	questionLength = 500 // characters of a question that are kept
	questionWords  = 300 // bytes of its words that make it the same question
)

// recordQuestion lists a question that an agent had no answer to. One without words is none.
func recordQuestion(ctx context.Context, s *questions.Store, c *chats.Conversation, question string) error {
	words := strings.Join(knowledge.Words(question), " ")
	if words == "" {
		return nil
	}
	text := []rune(question)
	now := time.Now()
	return s.Record(ctx, &questions.Question{
		ID: carillon.NewID(now), CompanyID: c.CompanyID, AgentID: c.AgentID, Words: strings.ToValidUTF8(words[:min(len(words), questionWords)], ""),
		Text: string(text[:min(len(text), questionLength)]), Language: c.Language, LastAt: now, ConversationID: c.ID,
	})
}

// widgetDeps are the parts that the widgets use.
func widgetDeps(a *App, sessionKey []byte) widget.Deps {
	d := widget.Deps{
		Auth: a.auth, Resources: a.store.Resources, Companies: a.store.Accounts, Conversations: a.conversations, Chats: a.store.Chats, Limits: a.limits, Files: a.files,
		Events: a.hub, Pages: web.Embedded(), SessionKey: sessionKey, Proxies: a.cfg.TrustedProxies, Log: a.log,
		Addresses: func() (string, string) { return a.ready.BaseURL, a.ready.WidgetURL },
		Voices:    a.voices, Signed: a.store.Addresses, Search: a.search, Engines: a.engines, Speaks: speaks,
	}
	if a.translator != nil {
		d.Translator = a.translator
	}
	return d
}

// widgetRoutes are the routes of the widgets; root is the page at the installation's address.
func widgetRoutes(a *App, d widget.Deps, root httpio.Handler) []httpio.Route {
	all := append(widget.Routes(d), attachment.Routes(a.files)...)
	for i := range all {
		all[i].Handle = api.Gated(a.store, all[i].Handle)
	}
	all = append(append(all, widget.Pages(d, root)...), widget.TryRoute(d))
	if a.cfg.Demo {
		all = append(all, widget.DemoRoute(d, func() widget.Demo {
			return widget.Demo{Widget: a.ready.ChatWidgetID, Voice: a.ready.VoiceWidgetID, Key: a.ready.AccessKey}
		}))
	}
	return all
}

// suspended returns what reports whether a company is.
func suspended(s *store.Store) func(ctx context.Context, companyID string) (bool, error) {
	return func(ctx context.Context, companyID string) (bool, error) {
		c, err := s.Accounts.Company(ctx, companyID)
		if err != nil {
			return false, err
		}
		return c.Suspended, nil
	}
}
