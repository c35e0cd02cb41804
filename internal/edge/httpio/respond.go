// Package httpio handles HTTP for every endpoint. It routes, reads bodies within limits, writes JSON responses, errors
// in their single format (docs/reference/errors.md), CORS headers and server-sent events, assigns request ids and logs
// requests. It knows no endpoint: api and panel return rows of type Route.
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

// state belongs to one request: the limits of its route, and the data for its log line.
type state struct {
	id      string
	company string
	code    string // error code of the response
	err     error
	access  string // Access of the route
	maxBody int64
	held    int64        // bytes of the router's memory for bodies
	holder  share.Holder // owner of the held bytes
	unread  bool         // part of the body was not read from the connection
	key     string       // id of the access key
	message string       // error message of the response
	body    []byte       // request body, as far as it was read
	read    bool         // at least part of the body was read
	refusal []byte       // response body of an error
	router  *Router
}

func stateOf(ctx context.Context) *state {
	if s, ok := ctx.Value(stateKey).(*state); ok {
		return s
	}
	return &state{maxBody: DefaultMaxBody}
}

// RequestID returns the id of the request that a context belongs to.
func RequestID(ctx context.Context) string { return stateOf(ctx).id }

// SetCompany sets the company of a request, for its log line and as the holder of its body.
func SetCompany(ctx context.Context, companyID string) { stateOf(ctx).company = companyID }

// SetKey sets the id of the request's access key.
func SetKey(ctx context.Context, keyID string) { stateOf(ctx).key = keyID }

// JSON writes v with the status. It does not escape HTML characters, because responses are read by programs.
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

// None is the value of a 204 response.
type None = *struct{}

// Created is the value of a 201 response.
type Created[T any] struct{ Value T }

func (c Created[T]) created() any { return c.Value }

// Value returns a handler for a function that returns the value of a response: a None, a Created, or that of a 200.
func Value[T any](handle func(r *http.Request) (T, error)) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		v, err := handle(r)
		if err != nil {
			return err
		}
		switch v := any(v).(type) {
		case nil, None:
			w.WriteHeader(http.StatusNoContent)
			return nil
		case interface{ created() any }:
			return JSON(w, http.StatusCreated, v.created())
		}
		return JSON(w, http.StatusOK, v)
	}
}

// shortBody fits into net/http's response buffer of 2048 bytes.
const shortBody = 2000

// Raw writes encoded JSON. It forbids caching unless Cache-Control is already set.
func Raw(w http.ResponseWriter, status int, body []byte) error {
	h := w.Header()
	h["Content-Type"] = jsonType
	if h["Cache-Control"] == nil {
		h["Cache-Control"] = noStore
	}
	if len(body) > shortBody { // net/http sets the length of a shorter body
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // a disconnected client is not an error; the content type is set and browsers must not sniff
	return nil
}

//nolint:gochecknoglobals // header values, shared to save an allocation a request
var (
	jsonType = []string{"application/json"}
	noStore  = []string{"no-store"}
)

// errorBody is the JSON of an error. The contract fixes the order of its keys; absent keys are omitted.
type errorBody struct {
	Error      string           `json:"error"`
	Message    string           `json:"message"`
	Details    carillon.Details `json:"details,omitempty"`
	RetryAfter int              `json:"retry_after,omitempty"`
	RequestID  string           `json:"request_id"`
}

// clientLeft is the status, in the log and the metrics, of a request that was aborted because its client disconnected.
// It is never sent.
const clientLeft = 499

// Error writes err as the response. Anything other than a *carillon.Error becomes internal_error with a fixed reason,
// and its text goes to the log.
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
	if err != nil { // the details could not be marshaled
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

// Logger returns log with the request's id.
func Logger(ctx context.Context, log *slog.Logger) *slog.Logger {
	return log.With("request_id", RequestID(ctx))
}

// Repeatable writes JSON that repeats of the request receive as well, and marks a replayed response.
func Repeatable(w http.ResponseWriter, body []byte, replayed bool) error {
	if replayed {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	return Raw(w, http.StatusOK, body)
}
