package widget

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"carillon"
	"carillon/internal/store/chats"
)

const (
	sessionAge      = time.Hour
	sessionAudience = "chat"
	maxToken        = 4096 // bytes
)

// session is the content of a widget page's token: one contact, one conversation, one origin.
type session struct {
	Conversation string `json:"conversation"`
	Contact      string `json:"contact"`
	Company      string `json:"company"`
	Widget       string `json:"widget"`
	Origin       string `json:"origin,omitempty"`
	jwt.RegisteredClaims
}

func (h *host) token(s session, audience string, age time.Duration, now time.Time) (token string, expires time.Time, err error) {
	expires = now.Add(age).Truncate(time.Second).UTC()
	s.RegisteredClaims = jwt.RegisteredClaims{
		Audience: jwt.ClaimStrings{audience}, ExpiresAt: jwt.NewNumericDate(expires), IssuedAt: jwt.NewNumericDate(now),
	}
	token, err = jwt.NewWithClaims(jwt.SigningMethodHS256, s).SignedString(h.key)
	return token, expires, err
}

// claims returns the claims of a request's token, which must be for the audience. Errors: unauthorized.
func (h *host) claims(r *http.Request, audience string) (*session, error) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || token == "" {
		return nil, carillon.NoAccess("The session token is missing", "missing")
	}
	var s session
	if len(token) > maxToken {
		return nil, carillon.NoAccess("The session token is invalid", "invalid")
	}
	_, err := jwt.ParseWithClaims(token, &s, func(*jwt.Token) (any, error) { return h.key, nil },
		jwt.WithValidMethods([]string{"HS256"}), jwt.WithAudience(audience), jwt.WithExpirationRequired())
	switch {
	case errors.Is(err, jwt.ErrTokenExpired):
		return nil, carillon.NoAccess("The session token is expired", "expired")
	case err != nil:
		return nil, carillon.NoAccess("The session token is invalid", "invalid")
	}
	if origin := r.Header.Get("Origin"); origin != "" && s.Origin != "" && origin != s.Origin {
		return &s, carillon.Denied("The session was begun on a page of another origin")
	}
	return &s, nil
}

// session returns the session of a chat request. Its widget and company must still exist. Errors: unauthorized,
// forbidden.
func (d chat) session(r *http.Request) (*session, *companyWidget, error) {
	s, err := d.host.claims(r, sessionAudience)
	if err != nil {
		return nil, nil, err
	}
	f, err := d.host.find(r.Context(), "chat", s.Widget)
	switch {
	case err != nil:
		return nil, nil, err
	case f == nil || f.company.ID != s.Company:
		return nil, nil, carillon.NoAccess("The widget is gone", "revoked")
	}
	return s, f, d.host.mayUse(r, f)
}

// mayUse checks that the company is in use here and that the request's origin is allowed.
func (h *host) mayUse(r *http.Request, f *companyWidget) error {
	if err := f.company.Refusal(); err != nil {
		return err
	}
	if origin := r.Header.Get("Origin"); origin != "" && !h.admits(f.Widget, origin) {
		return carillon.Denied("The widget may not be used on pages of this origin")
	}
	return nil
}

// identity is a visitor's identity, as asserted by the company's application.
type identity struct {
	Name  string `json:"name"`
	Email string `json:"email"`
	jwt.RegisteredClaims
}

// identify verifies the identity sent by a page. Errors: unauthorized.
func (w *Widget) identify(token string) (*identity, error) {
	var id identity
	if w.IdentitySecret == "" || len(token) > maxToken {
		return nil, carillon.NoAccess("The identity is invalid", "invalid")
	}
	_, err := jwt.ParseWithClaims(token, &id, func(*jwt.Token) (any, error) { return []byte(w.IdentitySecret), nil },
		jwt.WithValidMethods([]string{"HS256"}), jwt.WithExpirationRequired())
	switch {
	case errors.Is(err, jwt.ErrTokenExpired):
		return nil, carillon.NoAccess("The identity is expired", "expired")
	case err != nil || strings.TrimSpace(id.Subject) == "" || len(id.Subject) > 255:
		return nil, carillon.NoAccess("The identity is invalid", "invalid")
	}
	return &id, nil
}

// contact returns the visitor, identified by the page's visitor id or by the identity from the company's application.
// Errors: unauthorized.
func (f *companyWidget) contact(visitor, lang, token string) (chats.Contact, error) {
	c := chats.Contact{CompanyID: f.company.ID, WidgetID: f.ID, VisitorID: visitor, Language: lang}
	if token == "" {
		return c, nil
	}
	who, err := f.identify(token)
	if err != nil {
		return c, err
	}
	c.VisitorID, c.Verified, c.Name, c.Email = who.Subject, true, clip(who.Name, maxNameLength), clip(who.Email, maxEmailLength)
	return c, nil
}
