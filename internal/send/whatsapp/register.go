package whatsapp

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"

	"carillon"
)

// pinForm is the format of the PIN of two-step verification.
var pinForm = regexp.MustCompile(`^[0-9]{6}$`)

// refusals are the reasons of the channel's refusals to register a number, to set its PIN, to send its history, or to allow calls.
// The panel has their texts.
var refusals = map[int]string{ //nolint:gochecknoglobals // read only
	133005: "pin_wrong", 133006: "number_unverified", 133008: "pin_locked", 133009: "pin_too_fast", 133010: "number_unregistered",
	133015: "number_deleted_recently", 133016: "registrations_too_many",
	131044: "calls_payment", 131055: "calls_over_sip", 138000: "calls_disabled", 138001: "calls_unreachable", 138002: "calls_too_many",
	138003: "calls_duplicate", 138005: "calls_too_fast", 138006: "calls_no_permission", 138007: "calls_late",
	138009: "calls_request_limit", 138012: "calls_daily_limit", 138013: "calls_country", 138014: "calls_low_quality",
	138015: "calls_limit_low", 138017: "calls_permanent", 138018: "calls_prerequisites", 138019: "calls_media", 138020: "calls_media",
	138021: "calls_media", 138022: "calls_media", 138023: "calls_media",
	2593107: "history_asked_before", 2593108: "history_too_late", 2593109: "history_not_shared",
}

// DetailRefusal is the detail of a conflict error with the reason for a refusal of the channel that the panel has a text for.
const DetailRefusal = "refusal"

// Register registers the number of a sender with a PIN, which becomes the one of two-step verification if there is none.
// The PIN is not kept. Errors: validation_failed, conflict, upstream_unavailable.
func (c *Client) Register(ctx context.Context, s *carillon.Sender, pin string) error {
	return c.change(ctx, s, pin, "/register", map[string]string{"messaging_product": "whatsapp", "pin": pin})
}

// SetPIN changes the PIN of two-step verification. The PIN is not kept. Errors: those of Register.
func (c *Client) SetPIN(ctx context.Context, s *carillon.Sender, pin string) error {
	return c.change(ctx, s, pin, "", map[string]string{"pin": pin})
}

func (c *Client) change(ctx context.Context, s *carillon.Sender, pin, edge string, body map[string]string) error {
	if !pinForm.MatchString(pin) {
		return carillon.Invalid("pin", "This must be six digits")
	}
	var done struct {
		Success bool `json:"success"`
	}
	if err := c.request(ctx, s, edge, body, &done); err != nil {
		return err
	}
	if !done.Success {
		return unavailable(errors.New("response to a change of a number without success"), 0)
	}
	return nil
}

// AskHistory asks the channel to send the history of a number that is also used in its own app: the conversations, or the
// contacts. The channel does so once, within a day after the connection. Errors: conflict, upstream_unavailable.
func (c *Client) AskHistory(ctx context.Context, s *carillon.Sender, contacts bool) error {
	kind := partThreads
	if contacts {
		kind = partContacts
	}
	var done struct {
		RequestID loose `json:"request_id"`
	}
	return c.request(ctx, s, "/smb_app_data", map[string]string{"messaging_product": "whatsapp", "sync_type": kind}, &done)
}

// request posts to an edge of a sender's number.
func (c *Client) request(ctx context.Context, s *carillon.Sender, edge string, body, into any) error {
	text, err := encode(body)
	if err != nil {
		return err
	}
	return c.exchanged(ctx, s, http.MethodPost, edge, nil, text, into)
}

// exchanged sends a request to an edge of a sender's number and reads the response.
func (c *Client) exchanged(
	ctx context.Context, s *carillon.Sender, method, edge string, query url.Values, body []byte, into any,
) error {
	a, err := c.account(s)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, maxAsk)
	defer cancel()
	u, err := url.Parse(a.address(a.phoneNumberID + edge))
	if err != nil {
		return err
	}
	u.RawQuery = query.Encode()
	got, err := c.exchange(ctx, a, method, u, body)
	if err != nil {
		return unavailable(err, 0)
	}
	var b graphBody
	switch {
	case decode(got.body, &b) != nil:
		return unavailable(errors.New("response without the channel's JSON"), retryAfter(got.header))
	case b.Error != nil && b.Error.Code != nil:
		return b.Error.changeError(got)
	case got.status/100 != 2 || decode(got.body, into) != nil:
		return unavailable(errors.New("response without the channel's error"), retryAfter(got.header))
	}
	return nil
}

// changeError returns a refusal with its reason, or upstream_unavailable.
func (e *graphError) changeError(resp response) error {
	r := e.rule(resp.status)
	if resp.status >= 500 && refusals[*e.Code] == "" {
		return unavailable(errors.New(e.detail(r)), e.wait(r, resp.header, 1))
	}
	err := carillon.InConflict("The channel refused: " + e.detail(r))
	if why := refusals[*e.Code]; why != "" {
		err.Details = append(err.Details, carillon.Detail{Key: DetailRefusal, Value: why})
	}
	return err
}
