package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"carillon"
	"carillon/internal/store/accounts"
)

// User is the user object of the contract. All keys are always present, in the contract's order.
type User struct {
	ID               string       `json:"id"`
	Audience         string       `json:"aud"`
	Role             string       `json:"role"`
	Email            string       `json:"email"`
	EmailConfirmedAt *string      `json:"email_confirmed_at"`
	Phone            string       `json:"phone"`
	ConfirmedAt      *string      `json:"confirmed_at"`
	LastSignInAt     *string      `json:"last_sign_in_at"`
	AppMetadata      AppMetadata  `json:"app_metadata"`
	UserMetadata     UserMetadata `json:"user_metadata"`
	Identities       []Identity   `json:"identities"`
	CreatedAt        *string      `json:"created_at"`
	UpdatedAt        *string      `json:"updated_at"`
	IsAnonymous      bool         `json:"is_anonymous"`
}

// AppMetadata describes how the user signs in.
type AppMetadata struct {
	Provider  string   `json:"provider"`
	Providers []string `json:"providers"`
}

// UserMetadata describes the person.
type UserMetadata struct {
	EmailVerified bool   `json:"email_verified"`
	Name          string `json:"name"`
}

// Identity is the e-mail identity of an account.
type Identity struct {
	IdentityID   string       `json:"identity_id"`
	ID           string       `json:"id"`
	UserID       string       `json:"user_id"`
	Data         IdentityData `json:"identity_data"`
	Provider     string       `json:"provider"`
	LastSignInAt *string      `json:"last_sign_in_at"`
	CreatedAt    *string      `json:"created_at"`
	UpdatedAt    *string      `json:"updated_at"`
	Email        string       `json:"email"`
}

// IdentityData describes the identity.
type IdentityData struct {
	Email         string `json:"email"`
	EmailVerified bool   `json:"email_verified"`
	PhoneVerified bool   `json:"phone_verified"`
	Sub           string `json:"sub"`
}

const emailProvider = "email"

func appMetadata() AppMetadata {
	return AppMetadata{Provider: emailProvider, Providers: []string{emailProvider}}
}

func userMetadata(a *accounts.Account) UserMetadata {
	return UserMetadata{EmailVerified: !a.ConfirmedAt.IsZero(), Name: a.Name}
}

// userObject returns the user object of an account.
func userObject(a *accounts.Account) *User {
	confirmed, signedIn, created, updated := TimeOrNull(a.ConfirmedAt), TimeOrNull(a.LastSignInAt), TimeOrNull(a.CreatedAt),
		TimeOrNull(a.UpdatedAt)
	return &User{
		ID: a.ID, Audience: userAudience, Role: userAudience, Email: a.Email, EmailConfirmedAt: confirmed, Phone: a.Phone,
		ConfirmedAt: confirmed, LastSignInAt: signedIn, AppMetadata: appMetadata(), UserMetadata: userMetadata(a),
		Identities: []Identity{{
			IdentityID: identityID(a.ID), ID: a.ID, UserID: a.ID,
			Data:     IdentityData{Email: a.Email, EmailVerified: !a.ConfirmedAt.IsZero(), Sub: a.ID},
			Provider: emailProvider, LastSignInAt: signedIn, CreatedAt: created, UpdatedAt: created, Email: a.Email,
		}},
		CreatedAt: created, UpdatedAt: updated,
	}
}

// identityID returns the id of an account's e-mail identity: a UUIDv8 (RFC 9562, section 5.8) derived from the
// account's id.
func identityID(account string) string {
	sum := sha256.Sum256([]byte("identity:email:" + account))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// TimeOrNull formats an instant for a response. It returns nil for the zero time.
func TimeOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := carillon.FormatTime(t)
	return &s
}

// Caller is a signed-in person.
type Caller struct {
	Account   *accounts.Account
	SessionID string
}

// User returns the caller's user object.
func (c *Caller) User() *User { return userObject(c.Account) }

// Caller resolves a user's access token, given as Bearer. A token whose session has ended is revoked. Errors:
// unauthorized, whose reason is missing, invalid, expired or revoked.
func (a *Auth) Caller(ctx context.Context, authorization string) (*Caller, error) {
	token, ok := bearer(authorization)
	if !ok {
		return nil, refused("access token", reasonMissing)
	}
	c, err := a.keys.parse(ctx, token, userType, userAudience)
	if err != nil {
		return nil, err
	}
	session, err := a.store.Sessions.Session(ctx, c.SessionID)
	if err != nil {
		return nil, err
	}
	if session == nil || session.AccountID != c.Subject || !session.EndedAt.IsZero() {
		return nil, refused("token", reasonRevoked)
	}
	account, err := a.store.Accounts.Account(ctx, c.Subject)
	if err != nil {
		return nil, err
	}
	if account == nil {
		return nil, refused("token", reasonRevoked)
	}
	return &Caller{Account: account, SessionID: session.ID}, nil
}
