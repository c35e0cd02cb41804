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

// Unreachable means that there was no response.
type Unreachable struct {
	Base string
	Err  error
}

// Error shows the base address only.
func (u *Unreachable) Error() string { return "no response from " + u.Base + ": " + u.Err.Error() }

// Unwrap returns the cause without the request's address.
func (u *Unreachable) Unwrap() error { return u.Err }

// unreachable keeps the cause and drops the request's address, whose query contains the key.
func unreachable(base string, err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	return &Unreachable{base, err}
}

// Retries: 429 after retry_after; 500, 502 and 503 with exponential backoff, at most three attempts.
const (
	maxTries    = 3
	maxLimited  = 20              // attempts against a rate limit
	longestWait = 2 * time.Minute // longer pauses are up to the user
	firstWait   = time.Second / 2 // before the second attempt; doubled before the third
)

// retryIn reports whether and when to repeat a request. One that may have taken effect is repeated only where that is safe:
// reads, and writes with an Idempotency-Key.
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
