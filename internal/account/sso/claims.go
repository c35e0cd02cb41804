package sso

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"golang.org/x/oauth2"
)

// claims are the claims about a person in a token or in the userinfo. A claim of an unexpected type is ignored.
type claims struct {
	Subject  word   `json:"sub"`
	Email    word   `json:"email"`
	Verified *truth `json:"email_verified"` // nil if absent
	Name     word   `json:"name"`
}

// word is a string. Any other type becomes empty.
type word string

// UnmarshalJSON implements json.Unmarshaler.
func (w *word) UnmarshalJSON(text []byte) error {
	var s string
	_ = json.Unmarshal(text, &s) // otherwise it stays empty
	*w = word(s)
	return nil
}

// truth is a boolean that some servers encode as a string, in any case. Anything else is false.
type truth bool

// UnmarshalJSON implements json.Unmarshaler.
func (t *truth) UnmarshalJSON(text []byte) error {
	*t = truth(strings.EqualFold(strings.Trim(string(text), `"`), "true"))
	return nil
}

// maxInfo bounds a userinfo, in bytes.
const maxInfo = 1 << 20

// info reads the userinfo of a person, as JSON or signed (OpenID Connect Core 1.0, section 5.3.2). The library's own
// function fails if email_verified has an unexpected form.
func (p *known) info(ctx context.Context, token *oauth2.Token) (*claims, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.UserInfoEndpoint(), nil)
	if err != nil {
		return nil, err
	}
	token.SetAuthHeader(r)
	client, _ := ctx.Value(oauth2.HTTPClient).(*http.Client)
	resp, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the userinfo is answered by %s", resp.Status)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxInfo+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxInfo:
		return nil, fmt.Errorf("the userinfo has more than %d bytes", maxInfo)
	}
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err == nil && kind == "application/jwt" {
		if text, err = p.keys.VerifySignature(ctx, string(text)); err != nil {
			return nil, fmt.Errorf("the signature of the userinfo: %w", err)
		}
	}
	var said claims
	if json.Unmarshal(text, &said) != nil {
		return nil, errors.New("the userinfo is no JSON object")
	}
	return &said, nil
}
