// Package api serves the endpoints of the interface, one file each, and the callbacks of providers. Its handlers check
// in the order of decisions.md, section 1: access key, company, scope, idempotent replay, rate limit, body and fields,
// then what notify and catalog check.
package api

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"carillon"
	"carillon/internal/auth"
	"carillon/internal/catalog"
	"carillon/internal/httpio"
	"carillon/internal/limit"
	"carillon/internal/notify"
	"carillon/internal/store"
)

// Deps are the parts the endpoints call.
type Deps struct {
	Store     *store.Store
	Auth      *auth.Auth
	Notify    *notify.Notify
	Catalog   *catalog.Catalog
	Limits    *limit.Limits
	Callbacks map[string]Callback // by provider
	Ready     func(ctx context.Context) (carillon.Details, error)
	Log       *slog.Logger
	Proxies   []netip.Prefix // trusted proxies
}

// Callback reads the callbacks of one provider; app wires the provider's own functions.
type Callback struct {
	Handshake func(settings json.RawMessage, query url.Values) (challenge string, ok bool)
	Verify    func(settings json.RawMessage, header http.Header, body []byte) bool
	// Parse gives what a callback tells of one sender; what it tells of other numbers is left out.
	Parse func(body []byte, s *carillon.Sender) (CallbackEvents, error)
}

// CallbackEvents is what one callback told.
type CallbackEvents struct {
	Receipts  []carillon.Receipt
	Templates []carillon.TemplateEvent
	Ignored   int
}

// Server holds the endpoints.
type Server struct{ Deps }

// New builds the endpoints' server.
func New(d Deps) *Server { return &Server{d} }

const prefix = "/functions/v1"

// Routes is the route map of the interface.
func (s *Server) Routes() []httpio.Route {
	var all []httpio.Route
	for _, part := range [][]httpio.Route{s.authRoutes(), s.notifyRoutes(), s.templateRoutes(), s.callbackRoutes(), s.metaRoutes()} {
		all = append(all, part...)
	}
	for i := range all {
		// Signing in goes on: without it nobody could end the window.
		if strings.Contains(all[i].Pattern, " "+prefix+"/") && !strings.Contains(all[i].Pattern, " "+prefix+"/auth") {
			all[i].Handle = s.gated(all[i].Handle)
		}
	}
	return all
}

func route(pattern, access string, handle httpio.Handler) httpio.Route {
	return httpio.Route{Pattern: pattern, Access: access, Handle: handle}
}

// keyRoute is a route for the holder of an access key, or of a company token, with the scope.
func (s *Server) keyRoute(pattern string, scope auth.Scope, handle func(w http.ResponseWriter, r *http.Request, p *auth.Principal) error) httpio.Route {
	return route(pattern, "key:"+string(scope), func(w http.ResponseWriter, r *http.Request) error {
		p, err := s.principal(r, scope)
		if err != nil {
			return err
		}
		return handle(w, r, p)
	})
}

// principal resolves the credential of a request: a present access_key decides alone, else a company token as Bearer
// (decisions.md, section 2). Then the company, then the scope.
func (s *Server) principal(r *http.Request, scope auth.Scope) (*auth.Principal, error) {
	p, err := s.Auth.Principal(r.Context(), accessKey(r), r.Header.Get("Authorization"))
	if err != nil {
		return nil, err
	}
	httpio.SetCompany(r.Context(), p.Company.ID)
	if p.Company.Suspended {
		return nil, carillon.Denied("The company is suspended")
	}
	if !p.Allows(scope) {
		return nil, carillon.Denied("The access key lacks the scope " + string(scope))
	}
	return p, nil
}

// accessKey reads the query parameter access_key. present distinguishes an empty one from none.
func accessKey(r *http.Request) auth.PresentedKey {
	key, present := httpio.QueryValue(r.URL.RawQuery, "access_key")
	return auth.PresentedKey{Key: key, Present: present}
}
