// Package api serves the public interface under /functions/v1, one file per subject, and the callbacks of providers.
// Handlers check the access key, company, scope, idempotent replay, rate limit, body and fields, in this order. notify
// and catalog check the rest.
package api

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/account/limit"
	"carillon/internal/base/provider"
	"carillon/internal/base/resource"
	"carillon/internal/edge/httpio"
	"carillon/internal/event/hook"
	"carillon/internal/send/catalog"
	"carillon/internal/send/notify"
	"carillon/internal/store"
	"carillon/internal/store/audit"
	"carillon/internal/talk/files"
	"carillon/internal/talk/person"
)

// Deps are the dependencies of the endpoints.
type Deps struct {
	Store     *store.Store
	Auth      *auth.Auth
	Notify    *notify.Notify
	Calls     Calls // nil disables calls
	Catalog   *catalog.Catalog
	Limits    *limit.Limits
	Callbacks map[string]Callback // by provider
	Messaging Messaging           // nil ignores inbound messages
	History   History             // nil ignores earlier conversations
	Reports   Reports             // nil ignores reports about calls
	Window    Window
	Ready     func(ctx context.Context) (carillon.Details, error)
	Log       *slog.Logger
	Proxies   []netip.Prefix // trusted proxies
	Files     *files.Files
	BaseURL   func() string // the installation's public address
	Hooks     *hook.Deliverer
	Kinds     []resource.Kind // resource kinds
	People    *person.People
	// Accepted is called with each accepted notification; may be nil.
	Accepted func(companyID string, a audit.AcceptedCall)
}

// History receives the parts of a sender's earlier conversations.
type History interface {
	Receive(ctx context.Context, s *carillon.Sender, parts []provider.HistoryPart) error
}

// Reports receives the channel's reports about calls of a messaging sender's number.
type Reports interface {
	Reported(ctx context.Context, s *carillon.Sender, all []provider.CallReport) error
}

// Messaging receives inbound messages and the receipts of replies to them.
type Messaging interface {
	Receive(ctx context.Context, s *carillon.Sender, all []provider.Inbound) error
	Receipts(ctx context.Context, s *carillon.Sender, all []provider.ReplyReceipt) error
	// Ignore counts messages that have no conversation.
	Ignore(all []provider.Inbound)
}

// Callback reads the callbacks of one provider. app sets its functions to the provider's.
type Callback struct {
	Handshake func(settings json.RawMessage, query url.Values) (challenge string, ok bool)
	// Signed reports whether a callback carries a well-formed signature. The body of a callback without one is not
	// read.
	Signed func(header http.Header) bool
	Verify func(settings json.RawMessage, header http.Header, body []byte) bool
	// Portfolio returns the scope within which the provider's user ids, as this sender sees them, are unique.
	Portfolio func(s *carillon.Sender) string
	// Parse returns the events of one sender in a callback, and counts those of other numbers.
	Parse func(body []byte, s *carillon.Sender) (CallbackEvents, error)
}

// CallbackEvents are the events of one sender in a callback.
type CallbackEvents struct {
	Receipts  []provider.Receipt
	Inbound   []provider.Inbound
	Unnamed   []provider.Inbound            // messages without an author
	Elsewhere map[string][]provider.Inbound // messages to other numbers, by the provider's id of the number
	Replies   []provider.ReplyReceipt
	Templates []provider.TemplateEvent
	Notice    *provider.Notice // the newest notice from the channel about itself; nil if there is none
	Concerned bool             // the callback is about this sender
	Ignored   int              // number of parts not stored, other than messages

	Preferences []provider.Preference // earliest first
	History     []provider.HistoryPart
	Calls       []provider.CallReport
}

const prefix = "/functions/v1"

// Routes returns the routes of the interface, grouped by subject.
func Routes(d Deps) []httpio.Route {
	g := guard{d.Auth, d.Proxies}
	all := slices.Concat(
		signIn{d.Auth, d.Proxies}.routes(),
		sending{g, d.Store, d.Limits, d.Notify, d.Accepted}.routes(),
		freeForm{g, d.Store, d.Limits, d.Notify, d.Window, d.Accepted}.routes(),
		notifications{g, d.Store, d.Limits, d.Notify, d.Calls}.routes(),
		calls{g, notify.Calls{Store: d.Store}, d.Files}.routes(),
		templates{g, d.Store, d.Limits, d.Catalog}.routes(),
		suppressionList{g, d.Store}.routes(),
		personal{g, d.People}.routes(),
		hookRoutes(g, d),
		mediaUpload{g, d.Limits, d.Files, d.BaseURL}.routes(),
		callbacks{d.Callbacks, d.Store, d.Notify, d.Catalog, d.Messaging, d.History, d.Reports, &callbackTimes{}, d.Log}.routes(),
		meta{d.Store, d.Ready}.routes(),
	)
	for i := range all {
		// Signing in must work during maintenance; otherwise nobody could end the window.
		if strings.Contains(all[i].Pattern, " "+prefix+"/") && !strings.Contains(all[i].Pattern, " "+prefix+"/auth") {
			all[i].Handle = Gated(d.Store, all[i].Handle)
		}
	}
	return all
}

// Gated wraps h to respond with 503 while a maintenance window is set. The panel and the providers' callbacks are not
// gated: the panel ends the window, and a callback must not be lost.
func Gated(s *store.Store, h httpio.Handler) httpio.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := notify.UnderMaintenance(r.Context(), s); err != nil {
			return err
		}
		return h(w, r)
	}
}

func route(pattern, access string, handle httpio.Handler) httpio.Route {
	return httpio.Route{Pattern: pattern, Access: access, Handle: handle}
}

// guard authenticates access keys and company tokens.
type guard struct {
	auth    *auth.Auth
	proxies []netip.Prefix // trusted proxies
}

// changes reports whether a request may make changes to record in the activity log (audit.Record). Sends are excluded
// because there are too many.
func changes(r *http.Request, scope auth.Scope) bool {
	send := r.Method == http.MethodPost && (scope == auth.NotifySend || scope == auth.VoiceSend || scope == auth.MessagesWrite)
	return !send && r.Method != http.MethodGet && r.Method != http.MethodHead
}

// by returns the request with the access key as the author of its changes.
func (g guard) by(r *http.Request, scope auth.Scope, p *auth.Principal) *http.Request {
	if !changes(r, scope) {
		return r
	}
	return r.WithContext(audit.By(r.Context(), audit.Author{
		Kind: "key", ID: p.KeyID, Name: p.Label, Origin: audit.API, Address: httpio.ClientAddress(r, g.proxies),
	}))
}

// keyRoute returns a route that requires an access key or a company token with the scope.
func (g guard) keyRoute(
	pattern string, scope auth.Scope, handle func(w http.ResponseWriter, r *http.Request, p *auth.Principal) error,
) httpio.Route {
	return route(pattern, "key:"+string(scope), func(w http.ResponseWriter, r *http.Request) error {
		p, err := g.principal(r, scope)
		if err != nil {
			return err
		}
		return handle(w, g.by(r, scope, p), p)
	})
}

// valueRoute returns a keyRoute whose handler returns the value of a 200 response, or nil for a 204.
func (g guard) valueRoute(
	pattern string, scope auth.Scope, handle func(r *http.Request, p *auth.Principal) (any, error),
) httpio.Route {
	return route(pattern, "key:"+string(scope), httpio.Value(func(r *http.Request) (any, error) {
		p, err := g.principal(r, scope)
		if err != nil {
			return nil, err
		}
		return handle(g.by(r, scope, p), p)
	}))
}

// principal authenticates a request. If access_key is present, it alone decides; otherwise a company token is read as
// Bearer (docs/reference/signing-in.md). Then the company and the scope are checked.
func (g guard) principal(r *http.Request, scope auth.Scope) (*auth.Principal, error) {
	p, err := g.auth.Principal(r.Context(), accessKey(r), r.Header.Get("Authorization"))
	if err != nil {
		nameKey(r, err)
		return nil, err
	}
	httpio.SetCompany(r.Context(), p.Company.ID)
	httpio.SetKey(r.Context(), p.KeyID)
	if err := p.Company.Refusal(); err != nil {
		return nil, err
	}
	if !p.Allows(scope) {
		return nil, carillon.Denied("The access key lacks the scope " + string(scope))
	}
	return p, nil
}

// nameKey records the company and key of a known but no longer accepted credential, so that the company sees its use.
func nameKey(r *http.Request, err error) {
	if k, ok := errors.AsType[*auth.FormerKey](err); ok {
		httpio.SetCompany(r.Context(), k.CompanyID)
		httpio.SetKey(r.Context(), k.ID)
	}
}

// accessKey reads the query parameter access_key. Present distinguishes an empty parameter from a missing one.
func accessKey(r *http.Request) auth.PresentedKey {
	q := r.URL.Query()
	return auth.PresentedKey{Key: q.Get("access_key"), Present: q.Has("access_key")}
}
