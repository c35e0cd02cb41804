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
	"carillon/internal/store/addresses"
	"carillon/internal/store/chats"
	"carillon/internal/store/resources"
	"carillon/internal/talk/conversation"
	"carillon/internal/talk/files"
	"carillon/web"
)

// Translator translates a text for a page; the original comes back where that is not possible.
type Translator interface {
	Translate(ctx context.Context, text, from, to string) string
}

// Search finds what an agent knows.
type Search interface {
	Find(ctx context.Context, q knowledge.Query) ([]knowledge.Hit, error)
}

// Deps are the parts that the routes call.
type Deps struct {
	Auth          *auth.Auth
	Resources     *resources.Store // widgets and agents
	Companies     *accounts.Store
	Conversations *conversation.Conversations
	Chats         *chats.Store
	Limits        *limit.Limits
	Files         *files.Files
	Events        *realtime.Hub
	Pages         *web.Files
	Translator    Translator // nil: nothing is translated
	SessionKey    []byte     // signs the tokens of sessions

	// Of voice widgets.
	Voices  Voices
	Signed  *addresses.Store
	Search  Search
	Engines Client // asks the servers of agents
	// CheckEvery is how often it is checked that a talk may go on; default 20 s.
	CheckEvery time.Duration
	// Speaks reports whether an agent speaks, and whether it understands speech; nil: no agent answers.
	Speaks func(a *agent.Agent) (speech, hearing bool)

	// Addresses returns the public addresses of the interface and of the widgets' pages, without a slash at the end; they are
	// known once the program listens.
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

// host knows the widgets, their companies and the addresses of their pages.
type host struct {
	auth       *auth.Auth
	resources  *resources.Store
	companies  *accounts.Store
	translator Translator
	limits     *limit.Limits
	key        []byte // signs the tokens of sessions
	addresses  func() (base, widget string)
	proxies    []netip.Prefix
}

func (d Deps) host() *host {
	return &host{d.Auth, d.Resources, d.Companies, d.Translator, d.Limits, d.SessionKey, d.Addresses, d.Proxies}
}

// found is a widget with what it belongs to.
type found struct {
	*Widget
	company *carillon.Company
}

// find returns an active widget of a kind ("": of either) and its company; nil: there is none.
func (h *host) find(ctx context.Context, kind, id string) (*found, error) {
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
	return &found{w, company}, err
}

// originOf is the origin of an address.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// admits reports whether a page of the origin may use the widget. The widgets' own pages always may.
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

// frameAncestors is the directive by which browsers show the widget on the pages of its list alone; "" where that is empty, for
// there is no value that admits a web view without an origin.
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

// address is the network of the client, for limits by address.
func (h *host) address(r *http.Request) string { return httpio.ClientNetwork(r, h.proxies) }
