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
	"carillon/internal/edge/stream"
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

// Panel serves the administration's endpoints.
type Panel struct{ Deps }

// New builds the panel.
func New(d Deps) *Panel { return &Panel{d} }

const prefix = "/panel/v1"

// Routes returns the routes of the administration.
func (p *Panel) Routes() []httpio.Route {
	m := members{p.Deps}
	x := senders{p}
	cloud := cloudSenders{x}
	exports := p.Shares.Of(share.Exports)
	return slices.Concat(sessions{p}.routes(), secondFactors{p}.routes(), p.invitationRoutes(), p.forgottenRoutes(), p.resourceRoutes(), p.hookRoutes(), inbox{p}.routes(), talks{inbox{p}, roleCheckedEach}.routes(), attachments{inbox{p}}.routes(), written{inbox{p}}.routes(), canned{p}.routes(), library{p, p.Shares.Of(share.Imports)}.routes(), flows{p}.routes(), flowRuns{p}.routes(), playground{p, p.Shares.Of(share.Playgrounds)}.routes(), listening{p, p.Shares.Of(share.Listening)}.routes(), trialing{p}.routes(), voiceLines{x, p.Shares.Of(share.TestCalls)}.routes(), cloud.routes(), numbers{p}.routes(), companySettings{p}.routes(), sandboxed{p}.routes(), handset{p}.routes(), telephony{p}.routes(), templates{p}.routes(), overview{p}.routes(), activities{p}.routes(), suppressed{p}.routes(), personal{p}.routes(), sentList{p}.routes(), campaigns{p, exports}.routes(), sending{p}.routes(), jobs{p, p.Shares.Of(share.ListUploads), exports}.routes(), []httpio.Route{
		p.route("GET", "/keys", auth.MayReadKeys, p.listKeys),
		p.route("POST", "/keys", auth.MayWriteKeys, p.createKey),
		p.route("DELETE", "/keys/{id}", auth.MayWriteKeys, p.revokeKey),
		p.route("GET", "/users", auth.MayReadUsers, m.listUsers),
		m.firstOr(p.route("POST", "/users", auth.MayWriteUsers, m.addUser)),
		p.route("PATCH", "/users/{id}", auth.MayWriteUsers, m.changeRole),
		p.route("DELETE", "/users/{id}", auth.MayWriteUsers, m.removeUser),
		p.route("POST", "/users/{id}/password", auth.MayWriteUsers, m.resetPassword),
		p.route("DELETE", "/users/{id}/sessions", auth.MayWriteUsers, m.signOutUser),
		p.ownRoute("POST", "/user/password", m.changePassword),
		p.ownRoute("DELETE", "/user/sessions", m.signOutOthers),
		p.route("GET", "/senders", auth.MayReadSenders, p.listSenders),
		p.route("POST", "/senders", auth.MayWriteSenders, x.add),
		p.route("GET", "/senders/{id}", auth.MayReadSenders, x.get),
		p.route("PUT", "/senders/{id}", auth.MayWriteSenders, x.replace),
		p.route("DELETE", "/senders/{id}", auth.MayWriteSenders, x.remove),
		{Pattern: "GET " + prefix + "/events", Access: "panel", Permission: string(auth.MayReadNotifications), Stream: true, Handle: p.events},
		p.route("GET", "/maintenance", auth.MayReadInstallation, p.showMaintenance),
		p.route("POST", "/maintenance", auth.MayOperate, p.startMaintenance),
		p.route("DELETE", "/maintenance", auth.MayOperate, p.endMaintenance),
		p.route("GET", "/restored", auth.MayOperate, p.showRestored),
		p.route("POST", "/restored", auth.MayOperate, p.decideRestored),
	})
}

// member is the caller, whose role has the route's permission.
type member struct {
	accountID string
	name      string // as contacts see it
	email     string
	companyID string
	role      auth.Role
}

// holder is the member for what a node bounds.
func (m member) holder() share.Holder {
	return share.Holder{Company: m.companyID, Session: m.accountID}
}

// route returns a route that checks the permission before it calls handle, which returns what httpio.Value responds with.
func (p *Panel) route(method, path string, needed auth.Permission, handle func(r *http.Request, by member) (any, error)) httpio.Route {
	return httpio.Route{
		Pattern: method + " " + prefix + path, Access: "panel", Permission: string(needed),
		Handle: httpio.Value(func(r *http.Request) (any, error) {
			r, by, err := p.memberOf(r, needed)
			if err != nil {
				return nil, err
			}
			return handle(r, by)
		}),
	}
}

// ownRoute is a route for what callers do with their own account: it needs no company, not even one that is not suspended.
func (p *Panel) ownRoute(method, path string, handle func(r *http.Request, c *auth.Caller) (any, error)) httpio.Route {
	return httpio.Route{Pattern: method + " " + prefix + path, Access: "user", Handle: httpio.Value(func(r *http.Request) (any, error) {
		c, err := p.caller(r)
		if err != nil {
			return nil, err
		}
		return handle(p.by(r, c.Account), c)
	})}
}

// member returns the caller. Errors: those of auth.Caller and auth.Member.
func (p *Panel) member(r *http.Request, needed auth.Permission) (member, error) {
	_, by, err := p.memberOf(r, needed)
	return by, err
}

// memberOf is member for a request that changes something: what it returns has its changes recorded as the caller's.
func (p *Panel) memberOf(r *http.Request, needed auth.Permission) (*http.Request, member, error) {
	c, err := p.caller(r)
	if err != nil {
		return r, member{}, err
	}
	company, role, err := p.Auth.Member(r.Context(), c, r.URL.Query().Get("company"), needed)
	if err != nil {
		return r, member{}, err
	}
	httpio.SetCompany(r.Context(), company)
	return p.by(r, c.Account), member{c.Account.ID, c.Account.Name, c.Account.Email, company, role}, nil
}

// events streams what happens to the company's notifications, or by ?topic=calls to its calls (stream.Serve).
func (p *Panel) events(w http.ResponseWriter, r *http.Request) error {
	by, err := p.member(r, auth.MayReadNotifications)
	if err != nil {
		return err
	}
	topic := cmp.Or(r.URL.Query().Get("topic"), events.Notifications)
	if topic != events.Notifications && topic != events.Calls {
		return carillon.Invalid("topic", "Must be notifications or calls")
	}
	return stream.Serve(w, r, p.Events, stream.Topic{CompanyID: by.companyID, Session: by.accountID, Name: topic, Allowed: func(ctx context.Context) error {
		_, err := p.member(r.WithContext(ctx), auth.MayReadNotifications)
		return err
	}})
}
