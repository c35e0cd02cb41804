// Package account serves people's accounts: sign-in, second factors, passwords, invitations, the users of a company,
// and its access keys. Start reading with Sessions.
package account

import (
	"context"
	"net/http"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/jsonbody"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
)

// The panel's pages authenticate with an HttpOnly, SameSite=Strict cookie. A request that changes something also needs
// a header that pages of other sites cannot send without a CORS preflight. If the browser reports the origin of the
// request, it must be the panel's.
const cookieLife = 90 * 24 * time.Hour // the server ends sessions earlier

// maxCredentials limits the body of a request without a credential.
const maxCredentials = 16 << 10

// Sessions serves the sign-in of the panel's pages and the list of the caller's sessions.
type Sessions struct {
	Gate  *member.Gate
	Store *store.Store
	SSO   SSO    // nil disables single sign-on
	Mail  Mailer // nil disables e-mail
}

func (s Sessions) Routes() []httpio.Route {
	return append(s.ssoRoutes(), []httpio.Route{
		httpio.Route{
			Pattern: "POST " + member.Prefix + "/session", Access: "none", MaxBody: maxCredentials, Handle: s.signIn,
		}.Taking(signInRequest{}).Giving(me{}),
		member.Open("GET", "/session/setup", 0, s.setup),
		member.Own(s.Gate, "GET", "/session", func(r *http.Request, c *auth.Caller) (*me, error) { return s.me(r.Context(), c) }),
		httpio.Route{Pattern: "DELETE " + member.Prefix + "/session", Access: "user", Handle: s.signOut}.Giving(httpio.None(nil)),
		member.Own(s.Gate, "GET", "/sessions", s.list),
		member.Own(s.Gate, "DELETE", "/sessions/{id}", s.end),
	}...)
}

func (s Sessions) browsers() auth.Browsers { return auth.NewBrowsers(s.Gate.Auth) }

// cookie returns a session cookie. A negative life deletes it.
func (s Sessions) cookie(secret string, life time.Duration) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // insecure only without TLS on the local machine
		Name: member.SessionCookie, Value: secret, Path: member.SessionPath, MaxAge: int(life / time.Second), HttpOnly: true,
		Secure: strings.HasPrefix(s.Gate.BaseURL(), "https://"), SameSite: http.SameSiteStrictMode,
	}
}

// me is the signed-in account in a response.
type me struct {
	Account   meAccount   `json:"account"`
	Companies []meCompany `json:"companies"`
	First     bool        `json:"first"` // the first owner must still be created; false once someone has signed in
}

type meAccount struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	Name  string `json:"name"`
}

type meCompany struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	Role        string            `json:"role" enum:"owner,admin,developer,marketer,teammate,viewer"`
	Permissions []auth.Permission `json:"permissions"`
	Suspended   bool              `json:"suspended"`
	Moving      bool              `json:"moving"` // to or from another installation, or moved
}

func (s Sessions) me(ctx context.Context, c *auth.Caller) (*me, error) {
	x := &me{Account: meAccount{c.Account.ID, c.Account.Email, c.Account.Name}, Companies: []meCompany{}}
	memberships, err := accounts.Memberships(ctx, s.Store.DB, c.Account.ID)
	if err != nil {
		return nil, err
	}
	for _, m := range memberships {
		company, err := s.Store.Accounts.Company(ctx, m.CompanyID)
		if err != nil {
			return nil, err
		}
		x.Companies = append(x.Companies, meCompany{company.ID, company.Name, m.Role, auth.Role(m.Role).Permissions(), company.Suspended,
			company.Move != ""})
	}
	return x, nil
}

// signInRequest signs in.
type signInRequest struct {
	Email    string `json:"email"`
	Password string `json:"password"`
	Code     string `json:"code,omitempty"`
}

// signIn begins a session with a new secret, even if the browser sent a cookie, and ends that cookie's session.
func (s Sessions) signIn(w http.ResponseWriter, r *http.Request) error {
	if err := s.Gate.OwnPage(r); err != nil {
		return err
	}
	o, err := form.Body[signInRequest](r)
	if err != nil {
		return err
	}
	email, err := o.Find("email").Required("email")
	if err != nil {
		return err
	}
	password, err := secretOf(o, "password")
	if err != nil {
		return err
	}
	code, _, err := o.String("code", "code")
	if err != nil {
		return carillon.BadFormat("code", "(not shown)", "string", "123456")
	}
	with := auth.Credentials{Email: strings.TrimSpace(email), Password: password, Code: code}
	secret, c, err := s.browsers().SignIn(r.Context(), with, s.client(r))
	if err != nil {
		return err
	}
	return s.signedIn(w, r, secret, c)
}

// client returns the origin of a request.
func (s Sessions) client(r *http.Request) auth.Client {
	return auth.Client{Address: httpio.ClientAddress(r, s.Gate.Proxies), Agent: r.UserAgent()}
}

// signedIn sets the cookie of the new session and responds with the signed-in account.
func (s Sessions) signedIn(w http.ResponseWriter, r *http.Request, secret string, c *auth.Caller) error {
	if err := s.endPrevious(r); err != nil {
		return err
	}
	x, err := s.me(r.Context(), c)
	if err != nil {
		return err
	}
	http.SetCookie(w, s.cookie(secret, cookieLife))
	return httpio.JSON(w, http.StatusOK, x)
}

// endPrevious ends the browser's previous session.
func (s Sessions) endPrevious(r *http.Request) error {
	cookie, err := r.Cookie(member.SessionCookie)
	if err != nil {
		return nil //nolint:nilerr // there was none
	}
	c, err := s.browsers().Caller(r.Context(), cookie.Value)
	if carillon.IsCode(err, carillon.Unauthorized) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.Gate.Auth.SignOut(r.Context(), c)
}

// secretOf reads a required string that must not appear in errors.
func secretOf(o *jsonbody.Object, field string) (string, error) {
	text, _, err := o.String(field, field)
	if err != nil {
		return "", carillon.BadFormat(field, "(not shown)", "string", "text")
	}
	if strings.TrimSpace(text) == "" {
		return "", carillon.Missing(field)
	}
	return text, nil
}

// setUp is the data for the sign-in page.
type setUp struct {
	First bool   `json:"first"`
	Mail  bool   `json:"mail"`
	SSO   string `json:"sso,omitempty"`
}

// setup responds with the data for the sign-in page: whether the first owner must still be created with the one-time
// token, whether a forgotten password can be reset by e-mail, and the name of the single sign-on server, if any.
func (s Sessions) setup(r *http.Request) (setUp, error) {
	exists, err := s.Store.Accounts.AnyAccount(r.Context())
	x := setUp{First: !exists, Mail: s.Mail != nil}
	if s.SSO != nil {
		x.SSO = s.SSO.Name()
	}
	return x, err
}

func (s Sessions) signOut(w http.ResponseWriter, r *http.Request) error {
	c, err := s.Gate.Caller(r)
	if err != nil {
		return err
	}
	if err := s.Gate.Auth.SignOut(r.Context(), c); err != nil {
		return err
	}
	http.SetCookie(w, s.cookie("", -time.Second))
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// sessionRow is a session in a response. A session started over the public interface has neither address nor agent.
type sessionRow struct {
	ID        string `json:"id"`
	CreatedAt string `json:"created_at"`
	UsedAt    string `json:"used_at"`
	ExpiresAt string `json:"expires_at"`
	Address   string `json:"address"`
	Agent     string `json:"agent"`
	Current   bool   `json:"current"`
}

func (s Sessions) list(r *http.Request, c *auth.Caller) (httpio.Rows[sessionRow], error) {
	all, err := s.browsers().Sessions(r.Context(), c)
	rows := make([]sessionRow, 0, len(all))
	for _, x := range all {
		rows = append(rows, sessionRowOf(x, c))
	}
	return httpio.RowsOf(rows), err
}

func sessionRowOf(x accounts.Browser, c *auth.Caller) sessionRow {
	return sessionRow{
		ID: x.ID, CreatedAt: carillon.FormatTime(x.CreatedAt), UsedAt: carillon.FormatTime(x.UsedAt),
		ExpiresAt: carillon.FormatTime(x.ExpiresAt),
		Address:   x.Address, Agent: x.Agent, Current: x.ID == c.SessionID,
	}
}

func (s Sessions) end(r *http.Request, c *auth.Caller) (httpio.None, error) {
	id, err := form.ID(r, "Session")
	if err != nil {
		return nil, err
	}
	return nil, s.browsers().End(r.Context(), c, id)
}
