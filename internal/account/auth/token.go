package auth

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"carillon"
	"carillon/internal/store/accounts"
)

// Audiences and types distinguish the two kinds of tokens. Neither kind is accepted in place of the other.
const (
	userAudience    = "authenticated"
	userType        = "JWT"
	companyAudience = "company"
	companyType     = "company+jwt"
)

// claims are the claims of both kinds. The audience is a string, not an array, as in GoTrue.
type claims struct {
	Issuer   string `json:"iss"`
	Subject  string `json:"sub"`
	Audience string `json:"aud"`
	Expires  int64  `json:"exp"`
	Issued   int64  `json:"iat"`
	Role     string `json:"role"`

	*userClaims
	*companyClaims
}

type userClaims struct {
	Email        string       `json:"email"`
	Phone        string       `json:"phone"`
	AppMetadata  AppMetadata  `json:"app_metadata"`
	UserMetadata UserMetadata `json:"user_metadata"`
	SessionID    string       `json:"session_id"`
	AAL          string       `json:"aal"`
	AMR          []amr        `json:"amr"`
	IsAnonymous  bool         `json:"is_anonymous"`
}

type amr struct {
	Method    string `json:"method"`
	Timestamp int64  `json:"timestamp"`
}

type companyClaims struct {
	KeyID string `json:"key_id"`
}

func (c *claims) GetIssuer() (string, error)              { return c.Issuer, nil }
func (c *claims) GetSubject() (string, error)             { return c.Subject, nil }
func (c *claims) GetAudience() (jwt.ClaimStrings, error)  { return jwt.ClaimStrings{c.Audience}, nil }
func (c *claims) GetNotBefore() (*jwt.NumericDate, error) { return nil, nil } // not used
func (c *claims) GetExpirationTime() (*jwt.NumericDate, error) {
	return jwt.NewNumericDate(time.Unix(c.Expires, 0)), nil
}

func (c *claims) GetIssuedAt() (*jwt.NumericDate, error) {
	return jwt.NewNumericDate(time.Unix(c.Issued, 0)), nil
}

// sign returns a token with the claims. It adds the times and the issuer.
func (r *keyring) sign(ctx context.Context, typ string, c *claims, now, expires time.Time) (Token, error) {
	k, err := r.signer(ctx, now)
	if err != nil {
		return Token{}, err
	}
	c.Issuer, c.Role, c.Issued, c.Expires = issuer, c.Audience, now.Unix(), expires.Unix()
	token := jwt.NewWithClaims(jwt.SigningMethodES256, c)
	token.Header["kid"], token.Header["typ"] = k.id, typ
	signed, err := token.SignedString(k.private)
	if err != nil {
		return Token{}, fmt.Errorf("sign token: %w", err)
	}
	return Token{AccessToken: signed, ExpiresIn: int(expires.Sub(now) / time.Second), ExpiresAt: expires}, nil
}

// maxToken bounds the tokens that are parsed, in bytes.
const maxToken = 8192

// parse parses a token of one type and audience. Errors: unauthorized, whose reason is invalid or expired.
func (r *keyring) parse(ctx context.Context, token, typ, audience string) (*claims, error) {
	if len(token) > maxToken {
		return nil, refused("token", reasonInvalid)
	}
	if strings.HasPrefix(token, keyPrefix) {
		return nil, misplaced(audience)
	}
	c := &claims{userClaims: &userClaims{}, companyClaims: &companyClaims{}}
	var internal error
	parser := jwt.NewParser(jwt.WithValidMethods([]string{algorithm}), jwt.WithAudience(audience), jwt.WithExpirationRequired())
	_, err := parser.ParseWithClaims(token, c, func(parsed *jwt.Token) (any, error) {
		if parsed.Header["typ"] != typ {
			return nil, errUnknownKey
		}
		id, _ := parsed.Header["kid"].(string)
		key, err := r.verifier(ctx, id)
		if err != nil && !errors.Is(err, errUnknownKey) {
			internal = err
		}
		return key, err
	})
	switch {
	case internal != nil:
		return nil, internal
	case errors.Is(err, jwt.ErrTokenExpired) && !errors.Is(err, jwt.ErrTokenInvalidAudience):
		return nil, refused("token", reasonExpired)
	case err != nil:
		return nil, refused("token", reasonInvalid)
	}
	return c, nil
}

// misplaced returns the error for an access key in place of a token. The key is not looked up: the response is the
// same for all keys.
func misplaced(audience string) error {
	if audience == userAudience {
		return carillon.NoAccess("The token is invalid: this needs the access token of a signed-in user, not an access key", reasonInvalid)
	}
	return carillon.NoAccess("The token is invalid: an access key belongs in the query parameter access_key, not in Authorization",
		reasonInvalid)
}

// bearer parses an Authorization header with the scheme Bearer (RFC 6750).
func bearer(authorization string) (token string, ok bool) {
	scheme, token, _ := strings.Cut(authorization, " ")
	token = strings.TrimSpace(token)
	return token, strings.EqualFold(scheme, "Bearer") && token != ""
}

// Token is an access or company token.
type Token struct {
	AccessToken string
	ExpiresIn   int // seconds
	ExpiresAt   time.Time
}

func (a *Auth) userToken(ctx context.Context, u *accounts.Account, session accounts.Session, now time.Time) (Token, error) {
	return a.keys.sign(ctx, userType, &claims{Subject: u.ID, Audience: userAudience, userClaims: &userClaims{
		Email: u.Email, Phone: u.Phone, AppMetadata: appMetadata(), UserMetadata: userMetadata(u), SessionID: session.ID,
		AAL: "aal1", AMR: []amr{{"password", session.CreatedAt.Unix()}},
	}}, now, now.Add(tokenLife))
}

// CompanyToken returns a token that can be used in place of the key of p. It does not outlive the key.
func (a *Auth) CompanyToken(ctx context.Context, p *Principal) (Token, error) {
	now := time.Now()
	expires := now.Add(tokenLife)
	if !p.ExpiresAt.IsZero() && p.ExpiresAt.Before(expires) {
		expires = p.ExpiresAt
	}
	return a.keys.sign(ctx, companyType, &claims{
		Subject: p.Company.ID, Audience: companyAudience, companyClaims: &companyClaims{KeyID: p.KeyID},
	}, now, expires)
}
