package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Error is a response other than success, in the form that all errors have (docs/reference/errors.md).
type Error struct {
	Status     int             `json:"status"`
	Code       string          `json:"error"`
	Message    string          `json:"message"`
	Details    json.RawMessage `json:"details,omitempty"`
	RetryAfter int             `json:"retry_after,omitempty"`
	RequestID  string          `json:"request_id,omitempty"`
}

// Error is one line: code, message, each detail, and the id to quote.
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

// Each lists the details in the answer's order.
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

// Detail returns one detail as text, empty when there is none.
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
		*e = Error{
			Code: "unexpected_answer", Message: fmt.Sprintf("%d %s, and not in the form of this program", resp.StatusCode, http.StatusText(resp.StatusCode)),
			RequestID: resp.Header.Get("X-Request-Id"),
		}
	}
	e.Status = resp.StatusCode
	return e
}

// Unreachable says that no answer came.
type Unreachable struct {
	Base string
	Err  error
}

// Error names the base address alone.
func (u *Unreachable) Error() string { return "no answer from " + u.Base + ": " + u.Err.Error() }

// Unwrap is the cause, without the request's address.
func (u *Unreachable) Unwrap() error { return u.Err }

// unreachable keeps the cause and drops the address around it, whose query holds the key.
func unreachable(base string, err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	return &Unreachable{base, err}
}

// The contract's retry rules: 429 after retry_after, 500, 502 and 503 with exponential backoff, at most three tries.
const (
	maxTries    = 3
	maxLimited  = 20              // tries against a rate limit, which frees itself
	longestWait = 2 * time.Minute // for longer ones the person decides
	firstWait   = time.Second / 2 // before the second try; doubled before the third
)

// retryIn reports whether to try again, and when. What may have happened is repeated only where repeating is safe: reads,
// and writes that carry an Idempotency-Key.
func retryIn(err error, call Call, try int) (time.Duration, bool) {
	if err == nil || call.Once {
		return 0, false
	}
	safe := call.Method == http.MethodGet || call.Idempotency != ""
	backoff := firstWait << (try - 1)
	if _, ok := errors.AsType[*Unreachable](err); ok {
		return backoff, safe && try < maxTries
	}
	var e *Error
	if !errors.As(err, &e) {
		return 0, false
	}
	after := time.Duration(e.RetryAfter) * time.Second
	switch {
	case after > longestWait:
		return 0, false
	case e.Status == http.StatusTooManyRequests:
		return max(after, time.Second), try < maxLimited
	case e.Status == http.StatusServiceUnavailable:
		return max(after, backoff), try < maxTries // it was not begun
	case e.Code == "idempotency_in_progress":
		return backoff, try < maxTries
	case e.Status == http.StatusInternalServerError || e.Status == http.StatusBadGateway:
		return backoff, safe && try < maxTries
	}
	return 0, false
}
