package whatsapp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"carillon"
	"carillon/internal/base/provider"
)

// App is the operator's application at the channel. Administrators connect their numbers by its sign-up dialog (Embedded
// Sign-up).
type App struct {
	ID       string
	Secret   string
	ConfigID string // configuration of the dialog
	BaseURL  string // of the channel; empty means DefaultBaseURL
}

// Steps of a sign-up, as the details of its errors name them.
const (
	stepCode      = "code"
	stepNumber    = "number"
	stepCallbacks = "callbacks"
)

// SignUp exchanges the code of a finished dialog for a token of the business, and finds the number in its account. Errors:
// validation_failed, conflict with a step and a refusal, upstream_unavailable. They never contain the code or the secret.
func (c *Client) SignUp(ctx context.Context, app App, g provider.Grant) (provider.Granted, error) {
	for _, id := range []struct{ field, value string }{{"waba_id", g.AccountID}, {"phone_number_id", g.NumberID}} {
		if id.value != "" && !idForm.MatchString(id.value) || id.value == "" && id.field == "waba_id" {
			return provider.Granted{}, carillon.Invalid(id.field, "Must be the channel's id, digits only")
		}
	}
	if g.Code == "" || checkSecret(g.Code) != "" {
		return provider.Granted{}, carillon.Invalid("authorization_code", "Must be the code of the channel's dialog")
	}
	token, err := c.exchangeCode(ctx, app, g.Code)
	if err != nil {
		return provider.Granted{}, err
	}
	found, err := c.grantedNumber(ctx, app.account(token), g)
	if err != nil {
		return provider.Granted{}, err
	}
	number := digitsOf(found.Display)
	if !carillon.ValidNumber(number) {
		return provider.Granted{}, unavailable(errors.New("a number that is none"), 0)
	}
	values := map[string]string{
		"phone_number_id": string(found.ID), "waba_id": g.AccountID, "access_token": token, "app_secret": app.Secret,
		"verify_token": rand.Text(),
	}
	if app.BaseURL != "" {
		values["base_url"] = app.BaseURL
	}
	settings, err := json.Marshal(values)
	return provider.Granted{Number: number, Settings: settings}, err
}

// account returns the application's view of the channel, with a token of a business or, for the exchange of a code, none.
func (x App) account(token string) *account {
	a := &account{settings: settings{baseURL: DefaultBaseURL, version: DefaultVersion, accessToken: token}}
	if x.BaseURL != "" {
		a.baseURL = x.BaseURL
	}
	a.header = http.Header{"Accept": {"application/json"}, "User-Agent": {"carillon"}}
	if token != "" {
		a.header.Set("Authorization", "Bearer "+token)
	}
	return a
}

// exchangeCode returns the token for a code, which the channel accepts once, within 30 seconds. The channel takes the secret
// and the code only in the query, which is sent to nobody else and is never logged.
func (c *Client) exchangeCode(ctx context.Context, app App, code string) (string, error) {
	k := &checking{c: c, a: app.account("")}
	var x struct {
		Token string `json:"access_token"`
	}
	r := k.ask(ctx, http.MethodGet, "oauth/access_token",
		url.Values{"client_id": {app.ID}, "client_secret": {app.Secret}, "code": {code}}, &x)
	switch {
	case r.code() == 100:
		return "", refusedStep(stepCode, "code_refused", r.detail)
	case r.refused != nil && r.status < 500:
		return "", refusedStep(stepCode, "app_refused", r.detail)
	case r.refused != nil:
		return "", unavailable(errors.New(r.detail), 0)
	case r.lost != nil:
		return "", unavailable(r.lost, 0)
	case x.Token == "" || checkSecret(x.Token) != "":
		return "", unavailable(errors.New("response to a code without a token"), 0)
	}
	return x.Token, nil
}

// grantedNumber finds the number of a grant in its account: the named one, or else the only one.
func (c *Client) grantedNumber(ctx context.Context, a *account, g provider.Grant) (phoneNode, error) {
	a.wabaID = g.AccountID
	k := &checking{c: c, a: a}
	var found []phoneNode
	r, complete := k.numbers(ctx, "id,display_phone_number", func(n phoneNode) bool {
		if g.NumberID == "" || string(n.ID) == g.NumberID {
			found = append(found, n)
		}
		return g.NumberID == "" && len(found) < 2 || len(found) == 0
	})
	switch {
	case r.denies() || r.code() == 100:
		return phoneNode{}, refusedStep(stepNumber, "account_denied", r.detail)
	case r.refused != nil:
		return phoneNode{}, unavailable(errors.New(r.detail), 0)
	case r.lost != nil:
		return phoneNode{}, unavailable(r.lost, 0)
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return phoneNode{}, refusedStep(stepNumber, "number_unclear", "the account has several numbers")
	case g.NumberID == "" && complete:
		return phoneNode{}, refusedStep(stepNumber, "number_missing", "the account has no number")
	}
	return phoneNode{}, refusedStep(stepNumber, "number_elsewhere", "the account does not have the number")
}

// Redirect makes the channel post the callbacks of a sender's number to an address, regardless of the application's own. The
// channel verifies the address first. Errors: conflict, upstream_unavailable.
func (c *Client) Redirect(ctx context.Context, s *carillon.Sender, address string) error {
	a, err := c.account(s)
	if err != nil {
		return err
	}
	if len(address) > maxOverride {
		return refusedStep(stepCallbacks, "address_long", "the address is too long")
	}
	var done struct {
		Success bool `json:"success"`
	}
	err = c.request(ctx, s, "", map[string]any{
		"webhook_configuration": map[string]string{"override_callback_uri": address, "verify_token": a.verifyToken},
	}, &done)
	if e, ok := errors.AsType[*carillon.Error](err); ok && e.Code == carillon.Conflict {
		e.Details = append(e.Details, failedStep(stepCallbacks, "callbacks_refused")...)
	}
	if err == nil && !done.Success {
		err = unavailable(errors.New("response to a callback address without success"), 0)
	}
	return err
}

// maxOverride is the channel's limit of a number's own callback address.
const maxOverride = 200

// refusedStep returns the conflict of a failed step, with a reason that the panel has a text for.
func refusedStep(step, reason, detail string) *carillon.Error {
	err := carillon.InConflict("The channel refused: " + detail)
	err.Details = append(err.Details, failedStep(step, reason)...)
	return err
}

func failedStep(step, reason string) carillon.Details {
	return carillon.Details{{Key: DetailStep, Value: step}, {Key: DetailRefusal, Value: reason}}
}

// DetailStep is the detail of an error with the failed step of a sign-up.
const DetailStep = "step"
