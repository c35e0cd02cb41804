package whatsapp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"carillon"
)

// What callers in this package tell apart; a caller outside never sees errAbsent.
var (
	errAbsent = errors.New("the channel has no such template")
	errExists = errors.New("the channel has a template of that name and language")
)

// Subcodes of the channel's template management.
const (
	subcodeNoObject    = 33
	subcodeTooMany     = 2388019
	subcodeDeleting    = 2388023
	subcodeExists      = 2388024
	subcodeNoTemplate  = 2593002
	recoveryUnforeseen = 5 * time.Minute // what we say when the channel does not
	service            = "whatsapp"
)

// request is one call of template management.
type request struct {
	method string
	path   string
	query  url.Values
	body   any
}

// manage does one call and decodes its answer. Its errors are errAbsent, or *carillon.Error.
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
	got, err := c.exchange(ctx, newTarget(r.method, u, a.header), body)
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

func judgeManagement(a answer, into any) error {
	var r reply
	foreign := a.status == http.StatusBadGateway || a.status == http.StatusGatewayTimeout
	if foreign || decode(a.body, &r) != nil {
		return unavailable(fmt.Errorf("answer %d without the channel's JSON", a.status), retryAfter(a.header))
	}
	if r.Error != nil && r.Error.Code != nil {
		return r.Error.managementError(a)
	}
	if a.status/100 != 2 {
		return unavailable(fmt.Errorf("answer %d without the channel's error", a.status), retryAfter(a.header))
	}
	if into == nil {
		return nil
	}
	if err := decode(a.body, into); err != nil {
		return unavailable(fmt.Errorf("decode answer: %w", err), 0)
	}
	return nil
}

// managementError shows the author what the author can mend, in the channel's own words for users; the rest is the
// channel's or the operator's.
func (e *graphError) managementError(a answer) error {
	r := e.rule(a.status)
	cause := errors.New(e.detail(r))
	switch e.Subcode {
	case subcodeNoObject, subcodeNoTemplate:
		return fmt.Errorf("%w: %w", errAbsent, cause)
	case subcodeExists:
		return refusal(carillon.InConflict(e.words(r)), fmt.Errorf("%w: %w", errExists, cause))
	case subcodeTooMany, subcodeDeleting:
		return refusal(carillon.InConflict(e.words(r)), cause)
	}
	if r.verdict == carillon.Refused || r.verdict == carillon.PauseTemplate {
		return refusal(carillon.Invalid("template", e.words(r)), cause)
	}
	return unavailable(cause, e.wait(r, a.header, 1))
}

func refusal(e *carillon.Error, cause error) error {
	e.Err = cause
	return e
}

// words are what the channel wrote for its users, else our own title of the code.
func (e *graphError) words(r rule) string {
	const most = 1000
	said := strings.TrimSpace(e.UserMsg)
	if said == "" {
		said = strings.TrimSpace(e.UserTitle)
	}
	if said == "" {
		return "The channel refused the template: " + r.title
	}
	if len(said) > most {
		said = strings.ToValidUTF8(said[:most], "") + "…"
	}
	return said
}

// unavailable is the 502 for a channel that could not be asked (decisions.md, section 1).
func unavailable(cause error, wait time.Duration) error {
	if wait <= 0 {
		wait = recoveryUnforeseen
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
