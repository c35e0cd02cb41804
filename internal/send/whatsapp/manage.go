package whatsapp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/provider"
)

// Errors for callers in this package. Callers outside never see errAbsent.
var (
	errAbsent = errors.New("the channel has no such template")
	errExists = errors.New("the channel has a template of that name and language")
)

// Subcodes of the channel's template management.
const (
	subcodeNoObject   = 33
	subcodeTooMany    = 2388019
	subcodeDeleting   = 2388023
	subcodeExists     = 2388024
	subcodeNoTemplate = 2593002
	defaultRecovery   = 5 * time.Minute // estimate for the caller if the channel gives none
	service           = "whatsapp"
)

// request is one request of template management.
type request struct {
	method string
	path   string
	query  url.Values
	body   any
}

// manage makes one request and decodes its response. Its errors are errAbsent or a *carillon.Error.
func (c *Client) manage(ctx context.Context, a *account, r request, into any) error {
	u, err := url.Parse(a.address(r.path))
	if err != nil {
		return fmt.Errorf("address of a template: %w", err)
	}
	u.RawQuery = r.query.Encode()
	var body []byte
	if r.body != nil {
		if body, err = encode(r.body); err != nil {
			return fmt.Errorf("encode template: %w", err)
		}
	}
	got, err := c.exchange(ctx, a, r.method, u, body)
	if err != nil {
		return unavailable(err, 0)
	}
	return judgeManagement(got, into)
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

func judgeManagement(resp response, into any) error {
	var b graphBody
	gateway := resp.status == http.StatusBadGateway || resp.status == http.StatusGatewayTimeout
	if gateway || decode(resp.body, &b) != nil {
		return unavailable(fmt.Errorf("response %d without the channel's JSON", resp.status), retryAfter(resp.header))
	}
	if b.Error != nil && b.Error.Code != nil {
		return b.Error.managementError(resp)
	}
	if resp.status/100 != 2 {
		return unavailable(fmt.Errorf("response %d without the channel's error", resp.status), retryAfter(resp.header))
	}
	if into == nil {
		return nil
	}
	if err := decode(resp.body, into); err != nil {
		return unavailable(fmt.Errorf("decode response: %w", err), 0)
	}
	return nil
}

// managementError returns errors that the template's author can correct as validation_failed or conflict, with the
// channel's text for users. All others are upstream_unavailable.
func (e *graphError) managementError(resp response) error {
	r := e.rule(resp.status)
	cause := errors.New(e.detail(r))
	switch e.Subcode {
	case subcodeNoObject, subcodeNoTemplate:
		return fmt.Errorf("%w: %w", errAbsent, cause)
	case subcodeExists:
		return refusal(carillon.InConflict(e.message(r)), fmt.Errorf("%w: %w", errExists, cause))
	case subcodeTooMany, subcodeDeleting:
		return refusal(carillon.InConflict(e.message(r)), cause)
	}
	if r.verdict == provider.Refused || r.verdict == provider.PauseTemplate {
		return refusal(carillon.Invalid("template", e.message(r)), cause)
	}
	return unavailable(cause, e.wait(r, resp.header, 1))
}

func refusal(e *carillon.Error, cause error) error {
	e.Err = cause
	return e
}

// message returns the channel's text for users, or our own title for the code.
func (e *graphError) message(r rule) string {
	text := cmp.Or(strings.TrimSpace(e.UserMsg), strings.TrimSpace(e.UserTitle), "The channel refused the template: "+r.title)
	return shorten(text, maxReason)
}

// unavailable returns the 502 upstream_unavailable for a channel without a usable response.
func unavailable(cause error, wait time.Duration) error {
	if wait <= 0 {
		wait = defaultRecovery
	}
	return &carillon.Error{
		Code: carillon.UpstreamUnavailable, Message: "The messaging channel is not available",
		Details: carillon.Details{
			{Key: "service", Value: service},
			{Key: "estimated_recovery", Value: carillon.FormatTime(time.Now().Add(wait))},
		},
		Err: cause,
	}
}
