package client

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Error is an unsuccessful response, in the common form of errors (docs/reference/errors.md), or an unreadable
// response. errors.Is compares it with a Code.
type Error struct {
	Status     int             `json:"status"`
	Code       string          `json:"error"`
	Message    string          `json:"message"`
	Details    json.RawMessage `json:"details,omitempty"`
	RetryAfter int             `json:"retry_after,omitempty"`
	RequestID  string          `json:"request_id,omitempty"`
}

// Error returns one line: code, message, all details, and the request ID to quote.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Code + ": " + e.Message)
	for _, d := range e.Each() {
		b.WriteString("; " + d.Name + ": " + d.Text)
	}
	if e.RequestID != "" {
		b.WriteString(" (request_id " + e.RequestID + ")")
	}
	return b.String()
}

// Detail is one member of an error's details, as text.
type Detail struct{ Name, Text string }

// Each returns the details in the response's order.
func (e *Error) Each() []Detail {
	d := json.NewDecoder(bytes.NewReader(e.Details))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var all []Detail
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return all
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return all
		}
		text := string(value)
		var plain string
		if json.Unmarshal(value, &plain) == nil {
			text = plain
		}
		all = append(all, Detail{fmt.Sprint(name), text})
	}
	return all
}

// Detail returns one detail as text, or "" if there is none.
func (e *Error) Detail(name string) string {
	for _, d := range e.Each() {
		if d.Name == name {
			return d.Text
		}
	}
	return ""
}

func readError(resp *http.Response, body []byte) *Error {
	e := &Error{}
	if err := json.Unmarshal(body, e); err != nil || e.Code == "" {
		return unexpected(resp)
	}
	e.Status = resp.StatusCode
	return e
}

// unexpected returns the error for a response that is not from Carillon.
func unexpected(resp *http.Response) *Error {
	return &Error{
		Status: resp.StatusCode, Code: string(UnexpectedAnswer), RetryAfter: seconds(resp.Header.Get("Retry-After")),
		Message:   fmt.Sprintf("%d %s, and not in the form of this program", resp.StatusCode, http.StatusText(resp.StatusCode)),
		RequestID: resp.Header.Get("X-Request-Id"),
	}
}

// seconds parses a Retry-After header; 0 if it is invalid.
func seconds(header string) int {
	if n, err := strconv.Atoi(header); err == nil {
		return max(0, n)
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0
	}
	return max(0, int(time.Until(at)/time.Second)+1)
}

// Unreachable means that there was no response.
type Unreachable struct {
	Base string
	Err  error
}

// Error shows the base address only.
func (u *Unreachable) Error() string { return "no response from " + u.Base + ": " + u.Err.Error() }

// Unwrap returns the cause without the request's address.
func (u *Unreachable) Unwrap() error { return u.Err }

// unreachable keeps the cause and removes the request's address, whose query contains the key.
func unreachable(base string, err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	return &Unreachable{base, err}
}

// Is reports whether target is the error's code.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code) // a target is not wrapped
	return ok && string(code) == e.Code
}

// DetailsInto decodes the details into a value, such as a *FieldFault.
func (e *Error) DetailsInto(v any) error {
	if len(e.Details) == 0 {
		return errors.New("the error has no details")
	}
	return json.Unmarshal(e.Details, v)
}

// Code identifies an error, as in errors.Is(err, client.RateLimitExceeded).
type Code string

// Error implements error.
func (c Code) Error() string { return string(c) }

// Codes of errors.
const (
	ValidationFailed      Code = "validation_failed"
	Unauthorized          Code = "unauthorized"
	Forbidden             Code = "forbidden"
	NotFound              Code = "not_found"
	TemplateNotFound      Code = "template_not_found"
	AgentNotFound         Code = "agent_not_found"
	MethodNotAllowed      Code = "method_not_allowed"
	Conflict              Code = "conflict"
	IdempotencyInProgress Code = "idempotency_in_progress"
	IdempotencyKeyReused  Code = "idempotency_key_reused"
	PayloadTooLarge       Code = "payload_too_large"
	TemplateNotApproved   Code = "template_not_approved"
	VariableMismatch      Code = "variable_mismatch"
	LimitExceeded         Code = "limit_exceeded"
	RateLimitExceeded     Code = "rate_limit_exceeded"
	QuotaExceeded         Code = "quota_exceeded"
	InternalError         Code = "internal_error"
	ServiceUnavailable    Code = "service_unavailable"
	// UnexpectedAnswer is a response that is not from Carillon, such as a proxy's page.
	UnexpectedAnswer Code = "unexpected_answer"
)

// FieldFault holds the details of ValidationFailed. Fields that do not apply are empty.
type FieldFault struct {
	Field          string `json:"field"`
	Reason         string `json:"reason"`
	Provided       any    `json:"provided"`
	ExpectedFormat string `json:"expected_format"`
	Example        any    `json:"example"`
	CurrentTime    string `json:"current_time"`
}

// VariableFault holds the details of VariableMismatch.
type VariableFault struct {
	Template   []string `json:"template_variables"`
	Provided   []string `json:"provided_variables"`
	Missing    []string `json:"missing"`
	Unexpected []string `json:"unexpected"`
}

// LimitFault holds the details of RateLimitExceeded, QuotaExceeded and LimitExceeded. Fields that do not apply are
// zero.
type LimitFault struct {
	Limit     int       `json:"limit"`
	Window    string    `json:"window"` // such as 60s
	Quota     int       `json:"quota"`
	Used      int       `json:"used"`
	ResetTime time.Time `json:"reset_time"`
}

// retryIn reports whether to repeat a request, and after which pause. A request that may have taken effect is repeated
// only if that is safe: reads, and writes with an Idempotency-Key.
func (c *Client) retryIn(err error, call Call, try int) (time.Duration, bool) {
	if err == nil || call.Once {
		return 0, false
	}
	attempts, limited := cmp.Or(c.retries.Attempts, 3), cmp.Or(c.retries.Limited, 20)
	safe := call.Method == http.MethodGet || call.Idempotency != "" || call.Safe
	backoff := jitter(cmp.Or(c.retries.First, time.Second/2) << min(try-1, 10))
	if _, ok := errors.AsType[*Unreachable](err); ok {
		return backoff, safe && try < attempts
	}
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return 0, false
	}
	after := time.Duration(e.RetryAfter) * time.Second
	switch {
	case after > cmp.Or(c.retries.Longest, 2*time.Minute):
		return 0, false
	case e.Status == http.StatusTooManyRequests:
		return max(after, time.Second), try < limited
	case e.Status == http.StatusServiceUnavailable:
		return max(after, backoff), try < attempts // the request was not started
	case e.Code == string(IdempotencyInProgress):
		return max(after, backoff), try < attempts
	case slices.Contains([]int{
		http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout,
	}, e.Status):
		return max(after, backoff), safe && try < attempts
	}
	return 0, false
}

// jitter makes a pause up to a quarter longer, so that many clients do not come back at the same time.
func jitter(d time.Duration) time.Duration { return d + rand.N(d/4+1) } //nolint:gosec // nothing is guessed from it

// expired reports whether a token was refused.
func expired(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Status == http.StatusUnauthorized && e.Code == string(Unauthorized)
}
