// Package panel serves the administration of a company: its pages under /panel, and their API under /panel/v1. Callers
// are members of the company, authenticated by an access token or a session cookie, whose role has the route's
// permission (auth.Permission). The company is the one in `?company=`, or the only one in which the caller's role has
// the permission. Responses and errors have the form of the public interface. Each folder is one subject; Routes
// combines them. A new installation gets its first owner here, with the one-time token that the program prints while
// there is no account.
package panel

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"slices"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/account/limit"
	"carillon/internal/account/push"
	"carillon/internal/agent"
	"carillon/internal/agent/document"
	"carillon/internal/agent/knowledge"
	"carillon/internal/agent/meaning"
	"carillon/internal/agent/tools"
	"carillon/internal/agent/trial"
	"carillon/internal/base/egress"
	"carillon/internal/base/resource"
	"carillon/internal/base/share"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/account"
	"carillon/internal/edge/panel/agents"
	"carillon/internal/edge/panel/calls"
	"carillon/internal/edge/panel/channels"
	"carillon/internal/edge/panel/flows"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/inbox"
	"carillon/internal/edge/panel/member"
	"carillon/internal/edge/panel/sending"
	"carillon/internal/edge/panel/system"
	"carillon/internal/edge/panel/templates"
	"carillon/internal/edge/stream"
	"carillon/internal/edge/webhooks"
	"carillon/internal/event/hook"
	"carillon/internal/event/realtime"
	"carillon/internal/send/bulk"
	"carillon/internal/send/catalog"
	"carillon/internal/send/notify"
	"carillon/internal/store"
	"carillon/internal/store/events"
	"carillon/internal/talk/conversation"
	"carillon/internal/talk/files"
	"carillon/internal/talk/person"
	"carillon/internal/voice"
)

// Deps are the dependencies of the panel.
type Deps struct {
	Store   *store.Store
	Auth    *auth.Auth
	Notify  *notify.Notify
	Catalog *catalog.Catalog
	Decide  templates.Decide // the sandbox's reviewer
	Events  *realtime.Hub
	Calls   calls.Switchboard

	Conversations *conversation.Conversations
	Files         *files.Files

	Search  *knowledge.Search
	Vectors *meaning.Vectors
	Thinker agent.Thinker
	Tests   trial.Runner   // tests of agents
	Toolbox *tools.Box     // runs the tools of agents
	Pages   *egress.Client // fetches the pages that become articles

	Documents *document.Reader // reads the files that become articles
	WakeSites func()           // starts the looks at sites that are due; nil without background work

	Talks    inbox.Talks              // visitors' spoken conversations on this node
	Trials   agents.Trials            // spoken tests of agents
	Speakers map[string]voice.Speaker // by agent.Voice.Speaker

	// Addresses returns the public addresses of the interface and of the widgets' pages, without a trailing slash.
	// They are known once the program listens.
	Addresses func() (base, widget string)
	Proxies   []netip.Prefix // trusted proxies

	Kinds     []resource.Kind                // resource kinds; each refers only to earlier kinds
	Unbuilt   func(resource.Resource) string // returns why this version does not use the resource yet; empty if it does
	Providers map[string]channels.Provider   // the providers that members may choose, by name
	SignUp    *channels.SignUp               // nil without an application of the operator at the channel
	Lines     channels.Lines
	Phone     calls.Phone // the sandbox's phone
	Messages  interface {
		inbox.Reader
		calls.Receiver
	}
	Mobile calls.Mobile
	Limits *limit.Limits
	Shares *share.Set // nil creates shares for the panel alone
	People *person.People
	Jobs   *bulk.Jobs // sending to the people in a file
	Hooks  *hook.Deliverer
	Mail   account.Mailer // nil disables e-mail
	Push   *push.Pusher
	SSO    account.SSO // nil disables single sign-on
}

// Routes returns the routes of the administration.
func Routes(d Deps) []httpio.Route {
	gate := &member.Gate{Auth: d.Auth, Limits: d.Limits, Addresses: d.Addresses, Proxies: d.Proxies}
	letters := account.Letters{Limits: d.Limits, Mail: d.Mail}
	sessions := account.Sessions{Gate: gate, Store: d.Store, SSO: d.SSO, Mail: d.Mail}
	send := sending.Send{Gate: gate, Store: d.Store, Notify: d.Notify}
	channel := inbox.Channel{Store: d.Store, Messages: d.Messages}
	senders := channels.Senders{Gate: gate, Store: d.Store, Providers: d.Providers, Lines: d.Lines, SignUp: d.SignUp}
	exports := d.Shares.Of(share.Exports)
	return form.WithRules(slices.Concat(
		sessions.Routes(),
		account.Factors{Gate: gate, Store: d.Store}.Routes(),
		account.Users{Gate: gate, Store: d.Store, Conversations: d.Conversations}.Routes(),
		account.Invitations{Gate: gate, Store: d.Store, Letters: letters, Sessions: sessions}.Routes(),
		account.Forgotten{Gate: gate, Store: d.Store, Letters: letters}.Routes(),
		account.Keys{Gate: gate, Store: d.Store}.Routes(),

		inbox.Inbox{
			Gate: gate, Store: d.Store, Conversations: d.Conversations, Files: d.Files, Channel: channel, Mails: d.Mail != nil,
		}.Routes(),
		inbox.People{Gate: gate, Store: d.Store, Conversations: d.Conversations, Events: d.Events}.Routes(),
		inbox.Templates{Gate: gate, Store: d.Store, Conversations: d.Conversations, Send: send, Channel: channel}.Routes(),
		inbox.Files{Gate: gate, Store: d.Store, Files: d.Files}.Routes(),
		inbox.Voice{Gate: gate, Store: d.Store, Conversations: d.Conversations, Talks: d.Talks}.Routes(),
		inbox.Canned{Gate: gate, Store: d.Store}.Routes(),
		inbox.Notices{Gate: gate, Store: d.Store, Push: d.Push, Mails: d.Mail != nil}.Routes(),

		send.Routes(),
		sending.Sent{Gate: gate, Store: d.Store, Notify: d.Notify, Send: send}.Routes(),
		sending.Jobs{Gate: gate, Store: d.Store, Jobs: d.Jobs, Uploads: d.Shares.Of(share.ListUploads), Exports: exports}.Routes(),
		sending.Campaigns{Gate: gate, Store: d.Store, Exports: exports}.Routes(),
		sending.Overview{Gate: gate, Store: d.Store}.Routes(),
		sending.Charges{Gate: gate, Store: d.Store}.Routes(),
		sending.Suppressions{Gate: gate, Store: d.Store}.Routes(),

		templates.Templates{Gate: gate, Store: d.Store, Catalog: d.Catalog, Decide: d.Decide}.Routes(),

		calls.Calls{Gate: gate, Store: d.Store, Notify: d.Notify, Calls: d.Calls, Files: d.Files}.Routes(),
		calls.Sandbox{Gate: gate, Store: d.Store, Send: send, Phone: d.Phone}.Routes(),
		calls.Handset{Gate: gate, Store: d.Store, Notify: d.Notify, Messages: d.Messages, Mobile: d.Mobile}.Routes(),

		agents.Resources{Gate: gate, Store: d.Store, Hooks: d.Hooks, Kinds: d.Kinds, Unbuilt: d.Unbuilt}.Routes(),
		agents.Knowledge{
			Gate: gate, Store: d.Store, Search: d.Search, Pages: d.Pages, Imports: d.Shares.Of(share.Imports),
			Uploads: d.Shares.Of(share.DocumentUploads), Files: d.Documents,
		}.Routes(),
		agents.Widgets{Gate: gate, Store: d.Store, Kind: kindOf(d.Kinds, "widget"), Uploads: d.Shares.Of(share.DocumentUploads)}.Routes(),
		agents.Sites{Gate: gate, Store: d.Store, Wake: d.WakeSites}.Routes(),
		agents.Embeddings{Gate: gate, Store: d.Store, Vectors: d.Vectors, Trials: d.Shares.Of(share.Imports)}.Routes(),
		agents.Questions{Gate: gate, Store: d.Store, Search: d.Search}.Routes(),
		agents.Answers{Gate: gate, Store: d.Store, Exports: exports}.Routes(),
		agents.Playground{
			Gate: gate, Store: d.Store, Thinker: d.Thinker, Toolbox: d.Toolbox, Unbuilt: d.Unbuilt, Plays: d.Shares.Of(share.Playgrounds),
		}.Routes(),
		agents.Tests{Gate: gate, Store: d.Store, Runner: d.Tests, Share: d.Shares.Of(share.TestRuns)}.Routes(),
		agents.Tools{Gate: gate, Store: d.Store, Toolbox: d.Toolbox, Trials: d.Shares.Of(share.Playgrounds)}.Routes(),
		agents.Listening{Gate: gate, Store: d.Store, Speakers: d.Speakers, Share: d.Shares.Of(share.Listening)}.Routes(),
		agents.Trying{Gate: gate, Store: d.Store, Trials: d.Trials, Conversations: d.Conversations}.Routes(),

		flows.Flows{Gate: gate, Store: d.Store}.Routes(),
		flows.Runs{Gate: gate, Store: d.Store, Conversations: d.Conversations}.Routes(),

		senders.Routes(),
		channels.TestCalls{Gate: gate, Store: d.Store, Lines: d.Lines, Senders: senders, Trials: d.Shares.Of(share.TestCalls)}.Routes(),
		channels.Numbers{Gate: gate, Store: d.Store, Lines: d.Lines}.Routes(),

		system.Company{Gate: gate, Store: d.Store}.Routes(),
		system.Installation{Gate: gate, Store: d.Store, Notify: d.Notify}.Routes(),
		system.Attention{Gate: gate, Store: d.Store, Hooks: d.Hooks}.Routes(),
		system.Search{Gate: gate, Store: d.Store, Sent: notify.Sent{Store: d.Store}, Kinds: searched(d.Kinds)}.Routes(),
		system.Activity{Gate: gate, Store: d.Store}.Routes(),
		system.People{Gate: gate, People: d.People}.Routes(),

		hookRoutes(gate, webhooks.Table(d.Store, d.Hooks, d.Kinds)),
		screens{gate, d.Events}.routes(),
	))
}

// searched returns the kinds that the search finds: those that have pages.
func searched(all []resource.Kind) []resource.Kind {
	return slices.DeleteFunc(slices.Clone(all), func(k resource.Kind) bool {
		return !slices.Contains([]string{"agent", "knowledge", "flow", "tool", "widget"}, k.Name)
	})
}

// kindOf returns the kind with a name.
func kindOf(all []resource.Kind, name string) resource.Kind {
	i := slices.IndexFunc(all, func(k resource.Kind) bool { return k.Name == name })
	if i < 0 {
		return resource.Kind{Name: name}
	}
	return all[i]
}

// screens serves the events that the panel's screens follow.
type screens struct {
	gate *member.Gate
	hub  *realtime.Hub
}

func (x screens) routes() []httpio.Route {
	return []httpio.Route{x.gate.Stream("GET", "/events", auth.MayReadNotifications, x.events)}
}

// events streams the events of the company's notifications or, with ?topic=calls, of its calls (stream.Serve).
func (x screens) events(w http.ResponseWriter, r *http.Request, by member.Member) error {
	topic := cmp.Or(r.URL.Query().Get("topic"), events.Notifications)
	if topic != events.Notifications && topic != events.Calls {
		return carillon.Invalid("topic", "Must be notifications or calls")
	}
	return stream.Serve(w, r, x.hub, stream.Topic{
		CompanyID: by.CompanyID, Session: by.AccountID, Name: topic,
		Allowed: func(ctx context.Context) error {
			_, err := x.gate.Member(r.WithContext(ctx), auth.MayReadNotifications)
			return err
		},
	})
}
