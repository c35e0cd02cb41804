package carillon

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// Code is the machine-readable code of an error response. errorCodes is the table of codes and HTTP statuses.
type Code int

// Codes of error responses.
const (
	ValidationFailed Code = iota
	Unauthorized
	Forbidden
	NotFound
	TemplateNotFound
	AgentNotFound
	MethodNotAllowed
	Conflict
	IdempotencyInProgress
	PayloadTooLarge
	TemplateNotApproved
	VariableMismatch
	IdempotencyKeyReused
	LimitExceeded
	RateLimitExceeded
	QuotaExceeded
	InternalError
	UpstreamUnavailable // 502: the channel's service is down while the caller waits
	ServiceUnavailable  // 503: overload or maintenance
	codeCount
)

var errorCodes = [codeCount]struct { //nolint:gochecknoglobals // the one table of codes, read only
	name   string
	status int
}{
	ValidationFailed:      {"validation_failed", 400},
	Unauthorized:          {"unauthorized", 401},
	Forbidden:             {"forbidden", 403},
	NotFound:              {"not_found", 404},
	TemplateNotFound:      {"template_not_found", 404},
	AgentNotFound:         {"agent_not_found", 404},
	MethodNotAllowed:      {"method_not_allowed", 405},
	Conflict:              {"conflict", 409},
	IdempotencyInProgress: {"idempotency_in_progress", 409},
	PayloadTooLarge:       {"payload_too_large", 413},
	TemplateNotApproved:   {"template_not_approved", 422},
	VariableMismatch:      {"variable_mismatch", 422},
	IdempotencyKeyReused:  {"idempotency_key_reused", 422},
	LimitExceeded:         {"limit_exceeded", 422},
	RateLimitExceeded:     {"rate_limit_exceeded", 429},
	QuotaExceeded:         {"quota_exceeded", 429},
	InternalError:         {"internal_error", 500},
	UpstreamUnavailable:   {"service_unavailable", 502},
	ServiceUnavailable:    {"service_unavailable", 503},
}

// String returns the code in the form of the `error` field of responses.
func (c Code) String() string { return errorCodes[c].name }

// Status returns the HTTP status of the code.
func (c Code) Status() int { return errorCodes[c].status }

// Detail is one member of an error's details.
type Detail struct {
	Key   string
	Value any
}

// Details is an object with ordered members.
type Details []Detail

// MarshalJSON writes the members in order.
func (d Details) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, m := range d {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := enc.Encode(m.Key); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := enc.Encode(m.Value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Find returns the value of one member, or nil if there is none.
func (d Details) Find(key string) any {
	for _, m := range d {
		if m.Key == key {
			return m.Value
		}
	}
	return nil
}

// Error is an error that is shown to the caller. Other errors are internal: they are logged and shown as
// internal_error. Err is logged and never shown.
type Error struct {
	Code       Code
	Message    string
	Details    Details
	RetryAfter int // whole seconds; 0 if absent
	Err        error
}

// Error returns the text for the log: the code, the message, the field and the cause.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Code.String())
	b.WriteString(": ")
	b.WriteString(e.Message)
	if f, ok := e.Details.Find("field").(string); ok {
		b.WriteString(" (" + f + ")")
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause, which is not shown to the caller.
func (e *Error) Unwrap() error { return e.Err }

// IsCode reports whether err is, or wraps, an *Error with the code.
func IsCode(err error, c Code) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == c
}

// Missing returns the 400 for a missing required field.
func Missing(field string) *Error {
	return invalid("Required field missing", field, Detail{"reason", "This field is required"})
}

// BadFormat returns the 400 for a value of the wrong type or form.
func BadFormat(field string, provided any, expected string, example any) *Error {
	return invalid("Invalid parameter format", field,
		Detail{"provided", shown(provided)}, Detail{"expected_format", expected}, Detail{"example", example})
}

// BadNumber returns the 400 for a phone number that is not 7 to 15 ASCII digits.
func BadNumber(field string, provided any) *Error {
	e := BadFormat(field, provided, "Numbers only, no + or spaces", "34600111222")
	e.Message = "Invalid phone number format"
	return e
}

// Invalid returns any other 400, with the field and the reason.
func Invalid(field, reason string) *Error {
	return invalid("Invalid value", field, Detail{"reason", reason})
}

// InvalidValue is Invalid with the provided value.
func InvalidValue(field, reason string, provided any) *Error {
	return invalid("Invalid value", field, Detail{"reason", reason}, Detail{"provided", shown(provided)})
}

// invalid returns a validation_failed error. The field is shortened, since it may be a key from the caller.
func invalid(message, field string, more ...Detail) *Error {
	return &Error{Code: ValidationFailed, Message: message, Details: append(Details{{"field", Shorten(field)}}, more...)}
}

// shown shortens a text that an error repeats.
func shown(provided any) any {
	if s, ok := provided.(string); ok {
		return Shorten(s)
	}
	return provided
}

// maxShown is the maximum length of a caller's text in an error, in characters.
const maxShown = 100

// Shorten truncates a caller's text to a hundred characters, the most that an error may repeat. Text from a query
// string may be invalid UTF-8.
func Shorten(s string) string {
	n, cut := 0, 0
	for i := range s {
		switch n {
		case maxShown - 1:
			cut = i
		case maxShown:
			return s[:cut] + "…"
		}
		n++
	}
	return s
}

// NoAccess returns the 401. reason says whether the credential is missing, invalid, expired or revoked.
func NoAccess(message, reason string) *Error {
	return &Error{Code: Unauthorized, Message: message, Details: Details{{"reason", reason}}}
}

// Denied returns the 403.
func Denied(reason string) *Error {
	return &Error{Code: Forbidden, Message: "Access denied", Details: Details{{"reason", reason}}}
}

// Absent returns the 404 for an object that does not exist or belongs to another company; the response does not say
// which.
func Absent(what string) *Error {
	return &Error{Code: NotFound, Message: what + " not found", Details: Details{{"reason", "There is no such " + strings.ToLower(what)}}}
}

// InConflict returns the 409 for an action that the present state does not allow.
func InConflict(reason string) *Error {
	return &Error{Code: Conflict, Message: "The present state does not allow this", Details: Details{{"reason", reason}}}
}

// FormatTime formats a time for responses: RFC 3339, UTC, `Z`, whole seconds.
func FormatTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }
