package graphtest

import (
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// exchangePath exchanges the code of a finished sign-up dialog for a token of the business.
const exchangePath = "oauth/access_token"

// codeLife is the time in which a code is accepted.
const codeLife = 30 * time.Second

// DialogCode is a code of the sign-up dialog.
type DialogCode struct {
	Text string
	At   time.Time // zero value: long ago
	Used bool
}

// Code returns the code of a dialog that was finished now.
func (a *account) Code() string {
	code := DialogCode{Text: "AQ" + rand.Text(), At: time.Now()}
	a.ChangeAccount(func(now *Account) { now.Codes = append(now.Codes, code) })
	return code.Text
}

// exchange responds with the account's token for a code of the dialog, once.
func (a *account) exchange(w http.ResponseWriter, r *http.Request, _ []byte) *Error {
	q := r.URL.Query()
	for _, name := range []string{"client_id", "client_secret", "code"} {
		if len(q[name]) != 1 || q.Get(name) == "" {
			return invalid("Missing " + name + " parameter.")
		}
	}
	if len(q) != 3 {
		return invalid("Unknown parameter")
	}
	var e *Error
	a.ChangeAccount(func(now *Account) {
		i := slices.IndexFunc(now.Codes, func(c DialogCode) bool { return c.Text == q.Get("code") })
		switch {
		case q.Get("client_id") != now.AppID:
			e = &Error{HTTP: 400, Code: 101, Message: "Error validating application. Cannot get application info due to a system error."}
		case q.Get("client_secret") != a.o.AppSecret:
			e = &Error{HTTP: 400, Code: 1, Message: "Error validating client secret."}
		case i < 0:
			e = invalid("Invalid verification code format.")
		case now.Codes[i].Used:
			e = &Error{HTTP: 400, Code: 100, Subcode: 36009, Message: "This authorization code has been used."}
		case time.Since(now.Codes[i].At) > codeLife:
			e = &Error{HTTP: 400, Code: 100, Subcode: 36007, Message: "This authorization code has expired."}
		default:
			now.Codes[i].Used = true
		}
	})
	if e == nil {
		respond(w, 200, map[string]any{"access_token": a.o.AccessToken, "token_type": "bearer"})
	}
	return e
}

// override is a number's own callback address.
type override struct {
	Address string `json:"override_callback_uri"`
	Token   string `json:"verify_token"`
}

const maxOverride = 200

// redirect sets the callback address of the number after it has verified that it responds with the challenge. An empty address
// removes it.
func (a *account) redirect(w http.ResponseWriter, r *http.Request, o override) *Error {
	switch {
	case a.Account().Lacks != "":
		return &Error{HTTP: 403, Code: 200, Message: "Permissions error"}
	case len(o.Address) > maxOverride:
		return invalid("Invalid parameter: override_callback_uri")
	case o.Address != "" && !verifies(r.Context(), o):
		return &Error{HTTP: 400, Code: 2200, Message: "Callback verification failed"}
	}
	a.ChangeAccount(func(now *Account) { now.Override = o.Address })
	respond(w, 200, map[string]any{"success": true})
	return nil
}

// verifies reports whether a callback address responds with the challenge.
func verifies(ctx context.Context, o override) bool {
	challenge := rand.Text()
	q := url.Values{"hub.mode": {"subscribe"}, "hub.challenge": {challenge}, "hub.verify_token": {o.Token}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.Address+"?"+q.Encode(), nil)
	if err != nil {
		return false
	}
	resp, err := callbackClient.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	return err == nil && resp.StatusCode == http.StatusOK && strings.TrimSpace(string(got)) == challenge
}
