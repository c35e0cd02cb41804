// Package member authenticates callers of the panel's routes: members of a company whose role has the route's
// permission. Every subject of the panel has a Gate, which creates its routes.
package member

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/account/limit"
	"carillon/internal/base/share"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/audit"
	"carillon/internal/store/configure"
	"carillon/internal/talk/conversation"
)

const (
	// Prefix is the prefix of all paths.
	Prefix = "/panel/v1"
	// SessionPath is the path of the panel's pages and of the session cookie.
	SessionPath = "/panel"
	// SessionCookie is the name of the cookie with the secret of a browser's session.
	SessionCookie = "carillon_session"
	// PageHeader is a header that pages of other sites cannot send without a CORS preflight.
	PageHeader = "X-Carillon-Panel"
)

// commandAgent is the prefix of the User-Agent of the program's own commands.
const commandAgent = "carillon/"

// Member is an authenticated caller whose role has the route's permission.
type Member struct {
	AccountID string
	Name      string // as contacts see it
	Email     string
	CompanyID string
	Role      auth.Role
	SessionID string
}

// Holder returns the member as a holder of the node's shared resources.
func (m Member) Holder() share.Holder {
	return share.Holder{Company: m.CompanyID, Session: m.AccountID}
}

// Teammate returns the member in the form used by conversations.
func (m Member) Teammate() conversation.By {
	return conversation.By{CompanyID: m.CompanyID, AccountID: m.AccountID, Name: m.Name}
}

// ShownName returns the name that teammates see of one another.
func ShownName(name, email string) string {
	if name == "" {
		return email
	}
	return name
}

// Gate authenticates callers and creates the routes that require a member.
type Gate struct {
	Auth      *auth.Auth
	Limits    *limit.Limits
	Addresses func() (base, widget string)
	Proxies   []netip.Prefix // trusted proxies
}

// Handler returns the value of the response to a member (httpio.Value).
type Handler[T any] = func(r *http.Request, by Member) (T, error)

// Writer writes its own response to a member.
type Writer func(w http.ResponseWriter, r *http.Request, by Member) error

// One is a handler for one object of the company, named in the path.
type One[T any] = func(r *http.Request, by Member, id string) (T, error)

// ID returns a handler that calls handle with the id in the path. what names the object in the error not_found.
func ID[T any](what string, handle One[T]) Handler[T] {
	return With(func(r *http.Request) (string, error) { return form.ID(r, what) }, handle)
}

// With is like ID, but read extracts the id.
func With[T any](read func(r *http.Request) (id string, err error), handle One[T]) Handler[T] {
	return func(r *http.Request, by Member) (none T, err error) {
		id, err := read(r)
		if err != nil {
			return none, err
		}
		return handle(r, by, id)
	}
}

// Route returns a route that checks the permission before it calls handle.
func Route[T any](g *Gate, method, path string, needed auth.Permission, handle Handler[T]) httpio.Route {
	var none T
	return g.Raw(method, path, needed, func(w http.ResponseWriter, r *http.Request, by Member) error {
		return httpio.Value(func(r *http.Request) (T, error) { return handle(r, by) })(w, r)
	}).Giving(none)
}

// Raw is like Route, for responses other than JSON.
func (g *Gate) Raw(method, path string, needed auth.Permission, handle Writer) httpio.Route {
	return httpio.Route{
		Pattern:    method + " " + Prefix + path,
		Access:     "panel",
		Permission: string(needed),
		Shape:      httpio.Shape{Status: http.StatusOK, File: true},
		Handle: func(w http.ResponseWriter, r *http.Request) error {
			r, by, err := g.enter(r, needed)
			if err != nil {
				return err
			}
			return handle(w, r, by)
		},
	}
}

// Stream is like Raw, for an event stream or a WebSocket.
func (g *Gate) Stream(method, path string, needed auth.Permission, handle Writer) httpio.Route {
	route := g.Raw(method, path, needed, handle)
	route.Stream = true
	return route
}

// Upload is like Raw, for a body of up to maxBody bytes. The body is not read if the caller is refused.
func (g *Gate) Upload(path string, needed auth.Permission, maxBody int64, handle Writer) httpio.Route {
	return httpio.Route{
		Pattern:    "POST " + Prefix + path,
		Access:     "panel",
		Permission: string(needed),
		MaxBody:    maxBody,
		Handle: func(w http.ResponseWriter, r *http.Request) error {
			r, by, err := g.enter(r, needed)
			if err != nil {
				httpio.LeaveBody(r.Context())
				return err
			}
			return handle(w, r, by)
		},
	}
}

// Own returns a route for the caller's own account. It needs no company, so it works even if the company is suspended.
func Own[T any](g *Gate, method, path string, handle func(r *http.Request, c *auth.Caller) (T, error)) httpio.Route {
	var none T
	return httpio.Route{
		Pattern: method + " " + Prefix + path,
		Access:  "user",
		Handle: httpio.Value(func(r *http.Request) (T, error) {
			c, err := g.Caller(r)
			if err != nil {
				return none, err
			}
			return handle(g.By(r, c.Account), c)
		}),
	}.Giving(none)
}

// Open returns a route for callers without a session. It takes bodies of at most maxBody bytes.
func Open[T any](method, path string, maxBody int64, handle func(r *http.Request) (T, error)) httpio.Route {
	var none T
	return httpio.Route{
		Pattern: method + " " + Prefix + path, Access: "none", MaxBody: maxBody, Handle: httpio.Value(handle),
	}.Giving(none)
}

const (
	// maxWrites limits a company's writes of resources per minute. A write larger than writeBytes
	// counts as several.
	maxWrites  = 240
	writeBytes = 64 << 10
)

// Write returns a route that writes a resource, a draft or a canned reply. Refused requests do not count against the
// limit.
func Write[T any](g *Gate, method, path string, needed auth.Permission, handle Handler[T]) httpio.Route {
	return Route(g, method, path, needed, func(r *http.Request, by Member) (none T, err error) {
		name := "resources/" + by.CompanyID
		if _, err := g.Limits.Check(r.Context(), name, maxWrites); err != nil {
			return none, err
		}
		done, err := handle(r, by)
		if err != nil {
			return none, err
		}
		size := r.ContentLength
		if size < 0 { // unknown length
			size = httpio.DefaultMaxBody
		}
		for range 1 + size/writeBytes {
			if _, err := g.Limits.Allow(context.WithoutCancel(r.Context()), name, maxWrites, 1); err != nil {
				break // the limit is reached, but this write has already succeeded
			}
		}
		return done, nil //nolint:nilerr // see above
	})
}

// Member returns the caller. Errors: those of auth.Caller and auth.Member.
func (g *Gate) Member(r *http.Request, needed auth.Permission) (Member, error) {
	_, by, err := g.enter(r, needed)
	return by, err
}

// enter returns the caller, and the request with the caller as the author of its changes.
func (g *Gate) enter(r *http.Request, needed auth.Permission) (*http.Request, Member, error) {
	c, err := g.Caller(r)
	if err != nil {
		return r, Member{}, err
	}
	company, role, err := g.Auth.Member(r.Context(), c, r.URL.Query().Get("company"), needed)
	if err != nil {
		return r, Member{}, err
	}
	httpio.SetCompany(r.Context(), company)
	return g.By(r, c.Account), Member{c.Account.ID, c.Account.Name, c.Account.Email, company, role, c.SessionID}, nil
}

// Operator admits only owners of the installation's first company, for operations that affect all companies.
func Operator(ctx context.Context, s *store.Store, by Member) error {
	first, err := s.Accounts.OldestCompany(ctx)
	if err != nil {
		return err
	}
	if by.Role != auth.Owner || by.CompanyID != first {
		return carillon.Denied("Only an owner of the installation's first company may do this")
	}
	return nil
}

// Caller returns the caller of a request, from an access token or else from the session cookie. Errors: unauthorized;
// forbidden for a request with a cookie that may come from another site.
func (g *Gate) Caller(r *http.Request) (*auth.Caller, error) {
	authorization := r.Header.Get("Authorization")
	cookie, err := r.Cookie(SessionCookie)
	if authorization != "" || err != nil {
		return g.Auth.Caller(r.Context(), authorization)
	}
	if err := g.OwnPage(r); err != nil {
		return nil, err
	}
	return auth.NewBrowsers(g.Auth).Caller(r.Context(), cookie.Value)
}

// OwnPage refuses a request that changes something, unless it comes from a page of the panel.
func (g *Gate) OwnPage(r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	switch {
	case r.Header.Get(PageHeader) != "1":
		return carillon.Denied("A request with the panel's cookie needs the header " + PageHeader + ": 1")
	case site != "" && site != "same-origin", origin != "" && !g.OwnOrigin(r, origin):
		return carillon.Denied("The request comes from another site")
	}
	return nil
}

// OwnOrigin reports whether an origin is the one that the request is addressed to, or the installation's public one.
func (g *Gate) OwnOrigin(r *http.Request, origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false
	}
	base, err := url.Parse(g.BaseURL())
	return strings.EqualFold(u.Host, r.Host) || err == nil && u.Scheme == base.Scheme && strings.EqualFold(u.Host, base.Host)
}

// BaseURL returns the public address of the interface.
func (g *Gate) BaseURL() string {
	base, _ := g.Addresses()
	return base
}

// Network returns a digest of the caller's network, for rate limits.
func (g *Gate) Network(r *http.Request) string {
	return configure.Digest(auth.Network(httpio.ClientAddress(r, g.Proxies)))
}

// By returns the request with an account as the author of its changes.
func (g *Gate) By(r *http.Request, a *accounts.Account) *http.Request {
	author := audit.Author{Kind: "account", ID: a.ID, Name: a.Email, Origin: audit.Panel, Address: httpio.ClientAddress(r, g.Proxies)}
	if strings.HasPrefix(r.UserAgent(), commandAgent) {
		author.Origin = audit.Command
	}
	return r.WithContext(audit.By(r.Context(), author))
}

// ByNew is like By for an account that the request creates. It assigns the account's id.
func (g *Gate) ByNew(r *http.Request, a *accounts.Account) *http.Request {
	a.ID = carillon.NewID(time.Now())
	return g.By(r, a)
}
