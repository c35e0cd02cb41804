// Package httpio handles HTTP for every endpoint: it routes, reads bodies within limits, writes JSON responses, the one
// form of errors (docs/reference/errors.md), CORS headers and server-sent events, gives each request its id and logs a
// line about it. It knows no endpoint: api and panel return rows of type Route.
package httpio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"carillon"
	"carillon/internal/base/share"
)

type contextKey int

const stateKey contextKey = 0

// state belongs to one request: the bounds of its route, and what its log line needs.
type state struct {
	id      string
	company string
	code    string // of the error in the response
	err     error
	access  string // of the route
	maxBody int64
	held    int64        // bytes of the router's memory for bodies
	holder  share.Holder // of them
	unread  bool         // a part of the body is left on the connection
	key     string       // the id of the access key
	message string       // of the error in the response
	body    []byte       // of the request, as far as it was read
	read    bool         // a part of the body at least
	refusal []byte       // the response, where it is an error
	router  *Router
}

func stateOf(ctx context.Context) *state {
	if s, ok := ctx.Value(stateKey).(*state); ok {
		return s
	}
	return &state{maxBody: DefaultMaxBody}
}

// RequestID is the id of the request a context belongs to.
func RequestID(ctx context.Context) string { return stateOf(ctx).id }

// SetCompany names the company in the request's log line, and as the holder of its body.
func SetCompany(ctx context.Context, companyID string) { stateOf(ctx).company = companyID }

// SetKey names the access key of the request, by its id.
func SetKey(ctx context.Context, keyID string) { stateOf(ctx).key = keyID }

// JSON writes v with the status. HTML characters are not escaped: programs read responses.
func JSON(w http.ResponseWriter, status int, v any) error {
	body, err := encode(v)
	if err != nil {
		return err
	}
	return Raw(w, status, body)
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Created is the value of a 201.
type Created struct{ Value any }

// Value makes the handler of a function that returns the value of a 200, nil for a 204, or a Created.
func Value(handle func(r *http.Request) (any, error)) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		v, err := handle(r)
		if err != nil {
			return err
		}
		switch v := v.(type) {
		case nil:
			w.WriteHeader(http.StatusNoContent)
			return nil
		case Created:
			return JSON(w, http.StatusCreated, v.Value)
		}
		return JSON(w, http.StatusOK, v)
	}
}

// shortBody fits into net/http's response buffer of 2048 bytes.
const shortBody = 2000

// Raw writes JSON that is already encoded. No cache may keep it unless the header says so already.
func Raw(w http.ResponseWriter, status int, body []byte) error {
	h := w.Header()
	h["Content-Type"] = jsonType
	if h["Cache-Control"] == nil {
		h["Cache-Control"] = noStore
	}
	if len(body) > shortBody { // net/http sets the length of a shorter one
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // a client that left is not an error; the caller says what it is, and browsers do not guess
	return nil
}

//nolint:gochecknoglobals // header values, shared to save an allocation a request
var (
	jsonType = []string{"application/json"}
	noStore  = []string{"no-store"}
)

// errorBody has the key order of the contract; absent keys are left out.
type errorBody struct {
	Error      string           `json:"error"`
	Message    string           `json:"message"`
	Details    carillon.Details `json:"details,omitempty"`
	RetryAfter int              `json:"retry_after,omitempty"`
	RequestID  string           `json:"request_id"`
}

// clientLeft is the status in the log and the metrics of a request that was given up because its client closed the connection:
// nobody reads it.
const clientLeft = 499

// Error writes err. What is not a *carillon.Error becomes internal_error with a fixed reason; its text goes to the log.
func Error(w http.ResponseWriter, r *http.Request, err error) {
	st := stateOf(r.Context())
	st.err = err
	var e *carillon.Error
	if !errors.As(err, &e) {
		if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
			w.WriteHeader(clientLeft)
			return
		}
		e = internalError(err)
	}
	st.code = e.Code.String()
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
	if st.unread {
		w.Header().Set("Connection", "close")
	}
	limitHeaders(w.Header(), e)
	if e.Code == carillon.Unauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	body, err := encode(errorBody{e.Code.String(), e.Message, e.Details, e.RetryAfter, st.id})
	if err != nil { // of details that cannot be written
		body, _ = encode(errorBody{Error: e.Code.String(), Message: e.Message, RequestID: st.id})
	}
	st.message, st.refusal = e.Message, body
	_ = Raw(w, e.Code.Status(), body)
}

func internalError(err error) *carillon.Error {
	return &carillon.Error{
		Code: carillon.InternalError, Message: "An unexpected error occurred", Err: err,
		Details: carillon.Details{{Key: "reason", Value: "Unexpected failure; quote the request_id to support"}},
	}
}

// Logger is slog with the request's id.
func Logger(ctx context.Context, log *slog.Logger) *slog.Logger {
	return log.With("request_id", RequestID(ctx))
}

// Repeatable writes JSON that a repeat of the request gets again, and says so where this is one.
func Repeatable(w http.ResponseWriter, body []byte, replayed bool) error {
	if replayed {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	return Raw(w, http.StatusOK, body)
}
