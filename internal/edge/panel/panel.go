// Package panel serves the administration of a company: its pages under /panel, and under /panel/v1 what they call. Callers are
// members of the company, by their own access token or the cookie of a browser's session, whose role has the permission that the
// route names (auth.Permission); the company is the one that `?company=` names, or the only one where their role has it. Responses and errors have the form of the public interface.
// A new installation gets its first owner here, by the one-time token that the program prints while nobody can sign in.
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
	"carillon/internal/agent"
	"carillon/internal/agent/knowledge"
	"carillon/internal/base/egress"
	"carillon/internal/base/httpio"
	"carillon/internal/base/resource"
	"carillon/internal/base/share"
	"carillon/internal/edge/panel/member"
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

// Deps are the parts the panel calls.
type Deps struct {
	Store   *store.Store
	Auth    *auth.Auth
	Notify  *notify.Notify
	Catalog *catalog.Catalog
	Decide  Decide // the sandbox's reviewer
	Events  *realtime.Hub
	Calls   Calls

	Conversations *conversation.Conversations
	Files         *files.Files

	Search  *knowledge.Search
	Thinker agent.Thinker
	Pages   *egress.Client // reads pages that become articles

	Talks    Talks                    // of visitors, on this node
	Trials   Trials                   // of agents, aloud
	Speakers map[string]voice.Speaker // by agent.Voice.Speaker

	// Addresses returns the public addresses of the interface and of the widgets' pages, without a slash at the end; they are
	// known once the program listens.
	Addresses func() (base, widget string)
	Proxies   []netip.Prefix // trusted proxies

	Kinds     []resource.Kind                // of resources; each refers only to kinds before it
	Unbuilt   func(resource.Resource) string // why this version does not use it yet, empty where it does
	Providers map[string]Provider            // that senders may be given here, by name
	Lines     Lines
	Phone     Phone // the sandbox's
	Messages  Messages
	Mobile    Mobile
	Limits    *limit.Limits
	Shares    *share.Set // nil: shares of the panel alone
	People    *person.People
	Jobs      *bulk.Jobs // that send to the people of files
	Hooks     *hook.Deliverer
	Mail      Mailer // nil: no e-mails are sent
	SSO       SSO    // nil: there is no single sign-on
}

// Routes returns the routes of the administration.
func Routes(d Deps) []httpio.Route {
	gate := &member.Gate{Auth: d.Auth, Store: d.Store, Limits: d.Limits, Addresses: d.Addresses, Proxies: d.Proxies}
	exports := d.Shares.Of(share.Exports)

	letters := letters{d.Limits, d.Mail}
	sessions := sessions{gate, d.Store, d.Auth, d.Limits, d.SSO, d.Mail}
	channel := channel{d.Store, d.Notify, d.Messages}
	senders := senders{gate, d.Store, d.Limits, d.Providers, d.Lines}

	return slices.Concat(
		sessions.routes(),
		secondFactors{gate, d.Store, d.Auth}.routes(),
		members{gate, d.Store, d.Auth, d.Conversations}.routes(),
		invitations{gate, d.Store, d.Auth, d.Limits, letters, sessions}.routes(),
		forgotten{gate, d.Store, d.Auth, d.Limits, letters}.routes(),
		keys{gate, d.Store, d.Auth}.routes(),

		inbox{gate, d.Store, d.Conversations, d.Files, channel}.routes(),
		people{gate, d.Store, d.Conversations, d.Notify, d.Events}.routes(),
		written{gate, d.Store, d.Conversations, d.Notify, channel}.routes(),
		attachments{gate, d.Store, d.Files}.routes(),
		talks{gate, d.Store, d.Conversations, d.Talks, roleCheckedEach}.routes(),
		canned{gate, d.Store}.routes(),

		sentList{gate, d.Store, d.Notify, d.Limits}.routes(),
		sending{gate, d.Store, d.Notify, d.Limits}.routes(),
		jobs{gate, d.Store, d.Jobs, d.Shares.Of(share.ListUploads), exports}.routes(),
		campaigns{gate, d.Store, d.Notify, exports}.routes(),
		overview{gate, d.Store}.routes(),
		suppressed{gate, d.Store}.routes(),

		templates{gate, d.Store, d.Catalog, d.Decide}.routes(),

		telephony{gate, d.Store, d.Notify, d.Calls, d.Files}.routes(),
		sandboxed{gate, d.Store, d.Notify, d.Phone}.routes(),
		handset{gate, d.Store, d.Messages, d.Mobile}.routes(),

		resources{gate, d.Store, d.Hooks, d.Kinds, d.Unbuilt, resource.Kind{}}.routes(),
		library{gate, d.Store, d.Search, d.Pages, d.Shares.Of(share.Imports)}.routes(),
		playground{gate, d.Store, d.Thinker, d.Unbuilt, d.Shares.Of(share.Playgrounds)}.routes(),
		listening{gate, d.Store, d.Speakers, d.Shares.Of(share.Listening)}.routes(),
		trialing{gate, d.Store, d.Trials, d.Conversations}.routes(),

		flows{gate, d.Store, d.Limits}.routes(),
		flowRuns{gate, d.Store, d.Conversations}.routes(),

		senders.routes(),
		voiceLines{gate, d.Store, d.Limits, d.Lines, senders, d.Shares.Of(share.TestCalls)}.routes(),
		numbers{gate, d.Store, d.Lines}.routes(),

		companySettings{gate, d.Store}.routes(),
		installation{gate, d.Store, d.Notify}.routes(),
		attention{gate, d.Store, d.Notify, d.Hooks}.routes(),
		activities{gate, d.Store}.routes(),
		personal{gate, d.People}.routes(),

		hookRoutes(gate, d.Hooks),
		screens{gate, d.Events}.routes(),
	)
}

// screens serves the events that the panel's screens follow.
type screens struct {
	gate *member.Gate
	hub  *realtime.Hub
}

func (x screens) routes() []httpio.Route {
	return []httpio.Route{x.gate.Stream("GET", "/events", auth.MayReadNotifications, x.events)}
}

// events streams what happens to the company's notifications, or by ?topic=calls to its calls (realtime.Hub.Serve).
func (x screens) events(w http.ResponseWriter, r *http.Request, by member.Member) error {
	topic := cmp.Or(r.URL.Query().Get("topic"), events.Notifications)
	if topic != events.Notifications && topic != events.Calls {
		return carillon.Invalid("topic", "Must be notifications or calls")
	}
	return x.hub.Serve(w, r, realtime.Stream{
		CompanyID: by.CompanyID, Session: by.AccountID, Topic: topic,
		Allowed: func(ctx context.Context) error {
			_, err := x.gate.Member(r.WithContext(ctx), auth.MayReadNotifications)
			return err
		},
	})
}
