package app

import (
	"net/http"
	"slices"

	"carillon/docs"
	"carillon/internal/account/activity"
	"carillon/internal/account/sso"
	"carillon/internal/base/share"
	"carillon/internal/edge/api"
	"carillon/internal/edge/attachment"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/link"
	"carillon/internal/edge/manual"
	"carillon/internal/edge/panel"
	"carillon/internal/edge/widget"
	"carillon/internal/talk/person"
	"carillon/internal/voice/speech"
	"carillon/web"
)

// route builds the router with all routes.
func (p *parts) route(a *App) error {
	sessionKey, err := a.store.Sealer.Derive("chat sessions")
	if err != nil {
		return err
	}
	a.router = httpio.NewRouter(a.log, p.observer.Responded, p.routes(a, sessionKey)...)
	a.router.Slow, a.router.Refused = a.cfg.LogSlow, a.refusals(p.activity)
	a.router.Proxies, a.router.Bodies = a.cfg.TrustedProxies, a.shares.Of(share.Bodies)
	a.router.Streams = a.shares.Of(share.EventStreams.Of(int64(a.cfg.MaxConnections+1) / 2)) // the rest is for requests
	return nil
}

func (p *parts) routes(a *App, sessionKey []byte) []httpio.Route {
	people := person.New(a.store, a.shares)
	public := api.Routes(api.Deps{
		Store: a.store, Auth: p.auth, Notify: p.notify, Calls: p.calls, Catalog: p.catalog, Limits: p.limits, Callbacks: callbacks(),
		Messaging: p.messaging, History: p.history, Reports: p.telephone,
		Window: p.messaging, Ready: a.readiness.Ready, Log: a.log, Proxies: a.cfg.TrustedProxies, Files: p.files,
		BaseURL: a.BaseURL,
		Hooks:   p.hooks, Kinds: kinds(), Accepted: p.activity.Accepted, People: people,
	})
	widgets := p.widgetDeps(a, sessionKey)
	admin := panel.Routes(p.panelDeps(a, people, widgets))
	pages, root := panel.Pages(web.Embedded(), a.addresses, a.cfg.MetaAppID != "")
	documentation := manual.New(manual.Options{OpenAPI: api.OpenAPI(), Pages: docs.Files, Files: web.Embedded(), Base: a.BaseURL})
	links := link.Route(link.Deps{Links: p.notify, Visits: a.shares.Of(share.LinkVisits), Proxies: a.cfg.TrustedProxies, Log: a.log})
	return slices.Concat(public, admin, pages, p.widgetRoutes(a, widgets, root), documentation.Routes(), []httpio.Route{links})
}

func (a *App) addresses() (base, widgets string) { return a.ready.BaseURL, a.ready.WidgetURL }

func (p *parts) panelDeps(a *App, people *person.People, widgets widget.Deps) panel.Deps {
	d := panel.Deps{
		Store: a.store, Auth: p.auth, Notify: p.notify, Catalog: p.catalog, Decide: p.sandbox.Decide, Events: p.hub, Calls: p.calls,
		Conversations: p.conversations, Files: p.files, Addresses: a.addresses, Proxies: a.cfg.TrustedProxies,
		Search: p.search, Vectors: p.vectors,
		Thinker: p.thinker, Tests: p.tests, Toolbox: p.toolbox, Pages: p.pages, Documents: p.documents, WakeSites: p.sites.Wake,
		People: people, Kinds: kinds(), Unbuilt: unbuiltResource,
		Providers: panelProviders(p.whatsapp, &a.cfg, a.o.CallPeer), SignUp: signUp(&a.cfg, p.whatsapp, a.o.GraphURL),
		Lines: lines{p.sip, p.telephone, a.cfg.CallsDenied, p.speakers[speech.Fallback]}, Phone: p.phone,
		Messages: p.messaging, Mobile: p.sandbox, Limits: p.limits, Shares: a.shares, Jobs: p.bulk, Hooks: p.hooks, Talks: p.voices,
		Trials: widgets, Speakers: p.speakers, Push: p.push,
	}
	if p.mailer != nil {
		d.Mail = p.mailer
	}
	if a.cfg.OIDCIssuer != "" {
		d.SSO = sso.New(sso.Options{
			Issuer: a.cfg.OIDCIssuer, ClientID: a.cfg.OIDCClientID, ClientSecret: a.cfg.OIDCClientSecret.Reveal(), Name: a.cfg.OIDCName,
			TrustEmails: a.cfg.OIDCTrustEmail, Log: a.log,
		})
	}
	return d
}

func (p *parts) widgetDeps(a *App, sessionKey []byte) widget.Deps {
	d := widget.Deps{
		Auth: p.auth, Resources: a.store.Resources, Companies: a.store.Accounts, Conversations: p.conversations,
		Chats: a.store.Chats, Limits: p.limits, Widgets: a.store.Widgets,
		Files: p.files, Events: p.hub, Pages: web.Embedded(), SessionKey: sessionKey, Proxies: a.cfg.TrustedProxies, Log: a.log,
		Addresses: a.addresses, Voices: p.voices, Signed: a.store.Addresses, Search: p.search, Engines: p.engines, Speaks: speech.Speaks,
	}
	if p.translator != nil {
		d.Translator = p.translator
	}
	return d
}

// widgetRoutes returns the routes of the widgets. root serves the page at the installation's address.
func (p *parts) widgetRoutes(a *App, d widget.Deps, root httpio.Handler) []httpio.Route {
	all := append(widget.Routes(d), attachment.Routes(p.files)...)
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

// refusals returns a function that records refused and failed calls, with the client's address and user agent. Those of a
// company that is being moved are not recorded: its rows must not change.
func (a *App) refusals(to *activity.Recorder) func(r *http.Request, x httpio.Refusal) {
	return func(r *http.Request, x httpio.Refusal) {
		if x.CompanyID != "" {
			if c, err := a.store.Accounts.Company(r.Context(), x.CompanyID); err == nil && c.Move != "" {
				return
			}
		}
		to.Refused(activity.Refused{
			CompanyID: x.CompanyID, KeyID: x.KeyID, RequestID: x.RequestID, Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery,
			Status: x.Status, Code: x.Code, Message: x.Message, Agent: r.UserAgent(),
			Address:     httpio.ClientAddress(r, a.cfg.TrustedProxies),
			ContentType: r.Header.Get("Content-Type"), Repeat: r.Header.Get("Idempotency-Key"), Body: x.Body, BodyRead: x.BodyRead,
			Response: x.Response, Took: x.Took,
		})
	}
}
