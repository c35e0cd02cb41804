package widget

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/account/limit"
	"carillon/internal/agent"
	"carillon/internal/agent/knowledge"
	"carillon/internal/edge/httpio"
	"carillon/internal/event/realtime"
	"carillon/internal/store/accounts"
	"carillon/internal/store/chats"
	"carillon/internal/store/resources"
	"carillon/internal/store/widgets"
	"carillon/internal/talk/conversation"
	"carillon/internal/talk/files"
	"carillon/web"
)

// Translator translates a text for a page. It returns the original if translation is not possible.
type Translator interface {
	Translate(ctx context.Context, text, from, to string) string
}

// Search searches an agent's knowledge.
type Search interface {
	Find(ctx context.Context, q knowledge.Query) ([]knowledge.Hit, error)
}

// Deps are the dependencies of the routes.
type Deps struct {
	Auth          *auth.Auth
	Resources     *resources.Store // widgets and agents
	Widgets       *widgets.Store   // logos, and sites that loaded widgets
	Companies     *accounts.Store
	Conversations *conversation.Conversations
	Chats         *chats.Store
	Limits        *limit.Limits
	Files         *files.Files
	Events        *realtime.Hub
	Pages         *web.Files
	Translator    Translator // nil disables translation
	SessionKey    []byte     // signs session tokens

	// For voice widgets.
	Voices  Voices
	Signed  *chats.SignedAddresses
	Search  Search
	Engines Client // for requests to the agents' servers
	// CheckEvery is the interval at which a spoken conversation's authorization is checked; default 20 s.
	CheckEvery time.Duration
	// Speaks reports whether an agent has speech, and whether it understands speech. If nil, no agent answers.
	Speaks func(a *agent.Agent) (speech, hearing bool)

	// Addresses returns the public addresses of the interface and of the widgets' pages, without a trailing slash.
	// They are known once the program listens.
	Addresses func() (base, widget string)
	Proxies   []netip.Prefix // trusted proxies
	Log       *slog.Logger
}

const prefix = "/functions/v1"

// Routes returns the routes of the widgets.
func Routes(d Deps) []httpio.Route {
	h := d.host()
	c := chat{host: h, conversations: d.Conversations, chats: d.Chats, files: d.Files, events: d.Events}
	s := spoken{
		host: h, chat: c, signer: d.signer(), conversations: d.Conversations, voices: d.Voices, knowledge: d.Search, speaks: d.Speaks,
		checkEvery: d.CheckEvery, log: d.Log,
	}
	return slices.Concat(wrapper{h, d.Log}.routes(), c.routes(), s.routes())
}

// host finds widgets and their companies, and knows the addresses of their pages.
type host struct {
	auth       *auth.Auth
	resources  *resources.Store
	widgets    *widgets.Store
	companies  *accounts.Store
	translator Translator
	limits     *limit.Limits
	key        []byte // signs session tokens
	addresses  func() (base, widget string)
	proxies    []netip.Prefix
	sites      *sites
}

func (d Deps) host() *host {
	return &host{
		auth: d.Auth, resources: d.Resources, widgets: d.Widgets, companies: d.Companies, translator: d.Translator, limits: d.Limits,
		key: d.SessionKey, addresses: d.Addresses, proxies: d.Proxies, sites: newSites(d.Widgets, d.Log),
	}
}

// companyWidget is a widget with its company.
type companyWidget struct {
	*Widget
	company *carillon.Company
}

// find returns the widget with an id and its company, or nil. An empty kind matches both kinds.
func (h *host) find(ctx context.Context, kind, id string) (*companyWidget, error) {
	x, companyID, err := h.resources.Find(ctx, Kind(), id)
	if err != nil || x == nil {
		return nil, err
	}
	w, ok := x.(*Widget)
	if !ok || kind != "" && w.Kind != kind {
		return nil, nil
	}
	company, err := h.companies.Company(ctx, companyID)
	if carillon.IsCode(err, carillon.NotFound) {
		return nil, nil
	}
	return &companyWidget{w, company}, err
}

// originOf returns the origin of an address.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// admits reports whether a page of an origin may use the widget. The widgets' own pages are always admitted.
func (h *host) admits(w *Widget, origin string) bool {
	base, pages := h.addresses()
	if len(w.AllowedOrigins) == 0 || origin == originOf(pages) || origin == originOf(base) {
		return true
	}
	for _, allowed := range w.AllowedOrigins {
		if strings.EqualFold(allowed, origin) {
			return true
		}
	}
	return false
}

// frameAncestors returns the CSP directive that restricts embedding to the widget's allowed origins. It is "" if there
// are none, because no value of the directive would admit a web view without an origin.
func (h *host) frameAncestors(w *Widget) string {
	if len(w.AllowedOrigins) == 0 {
		return ""
	}
	base, pages := h.addresses()
	own := originOf(base)
	if other := originOf(pages); other != own {
		own += " " + other
	}
	return "; frame-ancestors " + own + " " + strings.Join(w.AllowedOrigins, " ")
}

// address returns the client's network, for rate limits.
func (h *host) address(r *http.Request) string { return httpio.ClientNetwork(r, h.proxies) }
