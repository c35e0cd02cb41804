package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Session is a user's session.
type Session struct {
	AccessToken  string  `json:"access_token"`
	ExpiresIn    int     `json:"expires_in"` // seconds
	ExpiresAt    int64   `json:"expires_at"` // Unix seconds, by the server's clock
	RefreshToken string  `json:"refresh_token"`
	User         Account `json:"user"`
}

// Account is a user.
type Account struct {
	ID           string    `json:"id"`
	Email        string    `json:"email"`
	CreatedAt    time.Time `json:"created_at"`
	UserMetadata struct {
		Name string `json:"name"`
	} `json:"user_metadata"`
}

// AccessKey is a key of a company.
type AccessKey struct {
	CompanyID   string     `json:"company_id"`
	CompanyName string     `json:"company_name"`
	Key         string     `json:"key"`
	Active      bool       `json:"is_active"`
	LastUsed    *time.Time `json:"last_used"`
}

// CompanyToken can be used instead of an access key.
type CompanyToken struct {
	AccessToken string `json:"access_token"`
	ExpiresIn   int    `json:"expires_in"`
	ExpiresAt   int64  `json:"expires_at"`
	Company     struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"company"`
	Scopes []string `json:"-"`
}

// Usage is today's usage of the quota.
type Usage struct {
	Date      string         `json:"date"`  // the UTC day
	Quota     int            `json:"quota"` // recipients; 0 means no quota
	Used      int            `json:"used"`
	ResetTime time.Time      `json:"reset_time"`
	Limits    map[string]int `json:"limits"`
}

// Usage reads today's usage of the quota.
func (c *Client) Usage(ctx context.Context) (*Usage, error) {
	return get[Usage](ctx, c, Call{Method: http.MethodGet, Path: Prefix + "usage", As: Company})
}

// Suppressions has the methods for suppressed numbers.
type Suppressions struct{ c *Client }

// Suppressions returns the methods for suppressed numbers.
func (c *Client) Suppressions() Suppressions { return Suppressions{c} }

// Suppression is a suppressed number or person.
type Suppression struct {
	Number    string    `json:"number"`  // empty if unknown
	UserID    string    `json:"user_id"` // the channel's ID of the person; empty if unknown
	Reason    string    `json:"reason"`
	CreatedAt time.Time `json:"created_at"`
	Type      string    `json:"type"` // all, or marketing only
}

// List returns the suppressed numbers.
func (x Suppressions) List(ctx context.Context) iter.Seq2[Suppression, error] {
	return pages[Suppression](ctx, x.c, "suppressions", nil, 0)
}

// Add suppresses all messages and calls to a number.
func (x Suppressions) Add(ctx context.Context, number, reason string) (*Suppression, error) {
	body := map[string]string{"number": number}
	if reason != "" {
		body["reason"] = reason
	}
	return get[Suppression](ctx, x.c, Call{Method: http.MethodPost, Path: Prefix + "suppressions", Body: body, As: Company, Safe: true})
}

// Remove ends the suppression of a number. Errors: NotFound if it is not suppressed.
func (x Suppressions) Remove(ctx context.Context, number string) error {
	_, err := x.c.Do(ctx, Call{Method: http.MethodDelete, Path: Prefix + "suppressions/" + url.PathEscape(number), As: Company})
	return err
}
