package account

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/account/sso"
	"carillon/internal/base/config"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
)

// SSO is a single sign-on server.
type SSO interface {
	Issuer() string
	Name() string
	Begin(ctx context.Context, redirect string) (sso.Attempt, string, error)
	Finish(ctx context.Context, a sso.Attempt, redirect, state, code string) (*sso.Person, error)
}

const (
	attemptCookie = "carillon_sso"
	attemptPath   = member.Prefix + "/sso"
	attemptLife   = 10 * time.Minute
	attemptRate   = 120 // sign-in steps per minute from one network; each may cost requests to the server
)

// attempt is the sign-in state kept in the browser. Its cookie is SameSite=Lax, because the server redirects back from
// another site.
type attempt struct {
	sso.Attempt
	Next string `json:"next,omitempty"` // the requested page, below /panel
}

func (s Sessions) ssoRoutes() []httpio.Route {
	redirects := httpio.Shape{Status: http.StatusFound}
	return []httpio.Route{
		{Pattern: "GET " + attemptPath, Access: "none", Shape: redirects, Handle: s.beginSSO},
		{Pattern: "GET " + attemptPath + "/callback", Access: "none", Shape: redirects, Handle: s.finishSSO},
	}
}

func (s Sessions) redirectURL() string { return s.Gate.BaseURL() + attemptPath + "/callback" }

// beginSSO redirects the browser to the single sign-on server.
func (s Sessions) beginSSO(w http.ResponseWriter, r *http.Request) error {
	if s.SSO == nil {
		return carillon.Absent("Single sign-on")
	}
	if err := s.mayTry(r); err != nil {
		return s.ssoProblem(w, r, err)
	}
	a, address, err := s.SSO.Begin(r.Context(), s.redirectURL())
	if err != nil {
		return s.ssoProblem(w, r, err)
	}
	kept, err := json.Marshal(attempt{a, ownPath(r.URL.Query().Get("next"))})
	if err != nil {
		return err
	}
	http.SetCookie(w, s.attemptCookie(base64.RawURLEncoding.EncodeToString(kept), attemptLife))
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, address, http.StatusFound)
	return nil
}

// mayTry limits the rate of sign-in steps. Errors: rate_limit_exceeded.
func (s Sessions) mayTry(r *http.Request) error {
	_, err := s.Gate.Limits.Allow(r.Context(), "sso/address/"+s.Gate.Network(r), attemptRate, 1)
	return err
}

func (s Sessions) attemptCookie(value string, life time.Duration) *http.Cookie {
	c := s.cookie(value, life) //nolint:gosec // Lax, because the browser returns from another site
	c.Name, c.Path, c.SameSite = attemptCookie, attemptPath, http.SameSiteLaxMode
	return c
}

// ownPath returns next if it is a path below the panel, otherwise "". This prevents redirects to other sites.
func ownPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(u.Path, "/") || path.Clean(u.Path) != u.Path ||
		strings.ContainsAny(next, "\\\r\n\t") || len(next) > 1000 {
		return ""
	}
	return next
}

// finishSSO signs in a browser that returns from the server, and redirects it to the requested page.
func (s Sessions) finishSSO(w http.ResponseWriter, r *http.Request) error {
	if s.SSO == nil {
		return carillon.Absent("Single sign-on")
	}
	var a attempt
	if cookie, err := r.Cookie(attemptCookie); err == nil {
		if raw, err := base64.RawURLEncoding.DecodeString(cookie.Value); err == nil && json.Unmarshal(raw, &a) != nil {
			a = attempt{}
		}
	}
	http.SetCookie(w, s.attemptCookie("", -time.Second))
	w.Header().Set("Cache-Control", "no-store")
	q := r.URL.Query()
	if q.Get("error") != "" {
		return s.ssoProblem(w, r, sso.ErrRefused)
	}
	if err := s.mayTry(r); err != nil {
		return s.ssoProblem(w, r, err)
	}
	person, err := s.SSO.Finish(r.Context(), a.Attempt, s.redirectURL(), q.Get("state"), q.Get("code"))
	if err != nil {
		return s.ssoProblem(w, r, err)
	}
	v := auth.Vouched{Issuer: s.SSO.Issuer(), Subject: person.Subject, Name: person.Name}
	if person.Verified && config.ValidEmail(person.Email) && len(person.Email) <= form.MaxEmail {
		v.Email = person.Email
	}
	secret, c, err := s.browsers().SignInVouched(r.Context(), v, s.client(r))
	if err != nil {
		return err
	}
	if c == nil {
		return s.ssoProblem(w, r, errStranger)
	}
	if err := s.endPrevious(r); err != nil {
		return err
	}
	http.SetCookie(w, s.cookie(secret, cookieLife))
	// Next is checked again, because someone else may have planted the cookie.
	http.Redirect(w, r, member.SessionPath+ownPath(a.Next), http.StatusSeeOther)
	return nil
}

var errStranger = errors.New("nobody with this e-mail is a member or invited")

// ssoProblem redirects the browser to the sign-in page, which explains the problem.
func (s Sessions) ssoProblem(w http.ResponseWriter, r *http.Request, err error) error {
	problem := "refused"
	switch {
	case errors.Is(err, errStranger):
		problem = "stranger"
	case carillon.IsCode(err, carillon.RateLimitExceeded):
		problem = "often"
	case errors.Is(err, sso.ErrDown):
		problem = "down"
	case !errors.Is(err, sso.ErrRefused):
		return err
	}
	http.Redirect(w, r, "/panel/sign-in?sso="+problem, http.StatusSeeOther)
	return nil
}
