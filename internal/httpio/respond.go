// Package answer is how Carillon speaks HTTP: it routes, reads bodies within bounds, writes every JSON answer and every
// error in the one form of the contract (interface.md, Errors; decisions.md, section 1), gives each request its id and
// logs a line about it. It knows no endpoint; api and panel bring them.
package httpio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"carillon"
)

type contextKey int

const stateKey contextKey = 0

// state is what a request gathers for its log line.
type state struct {
	id      string
	company string
	code    string // of the error that was answered
	err     error
}

func stateOf(ctx context.Context) *state {
	if s, ok := ctx.Value(stateKey).(*state); ok {
		return s
	}
	return &state{}
}

// RequestID is the id of the request a context belongs to.
func RequestID(ctx context.Context) string { return stateOf(ctx).id }

// SetCompany names the company in the request's log line.
func SetCompany(ctx context.Context, companyID string) { stateOf(ctx).company = companyID }

// JSON writes v with the status. HTML characters are not escaped: answers are read by programs.
func JSON(w http.ResponseWriter, status int, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	return Raw(w, status, bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// shortBody fits into net/http's buffer of an answer, 2048 bytes.
const shortBody = 2000

// Raw writes JSON that is already encoded.
func Raw(w http.ResponseWriter, status int, body []byte) error {
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Cache-Control"] = noStore
	if len(body) > shortBody { // a shorter one's length is told by net/http, which has it all by then
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // a caller that left is no error of ours
	return nil
}

// Public writes a 200 that anyone may keep for a time.
func Public(w http.ResponseWriter, keep time.Duration, v any) error {
	return JSON(cacheable{w, "public, max-age=" + strconv.Itoa(int(keep/time.Second))}, http.StatusOK, v)
}

// cacheable puts its own Cache-Control in the place of no-store.
type cacheable struct {
	http.ResponseWriter
	control string
}

func (c cacheable) WriteHeader(status int) {
	c.Header()["Cache-Control"] = []string{c.control}
	c.ResponseWriter.WriteHeader(status)
}

//nolint:gochecknoglobals // header values, shared to save an allocation a request
var (
	jsonType = []string{"application/json"}
	noStore  = []string{"no-store"}
)

// errorBody has the key order of decisions.md, section 1; absent keys are left out.
type errorBody struct {
	Error      string           `json:"error"`
	Message    string           `json:"message"`
	Details    carillon.Details `json:"details,omitempty"`
	RetryAfter int              `json:"retry_after,omitempty"`
	RequestID  string           `json:"request_id"`
}

// Error writes err. What is not a *carillon.Error becomes internal_error with a fixed reason; its text goes to the log.
func Error(w http.ResponseWriter, r *http.Request, err error) {
	st := stateOf(r.Context())
	st.err = err
	var e *carillon.Error
	if !errors.As(err, &e) {
		e = internalError(err)
	}
	st.code = e.Code.String()
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
	limitHeaders(w.Header(), e)
	if e.Code == carillon.Unauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	_ = JSON(w, e.Code.Status(), errorBody{e.Code.String(), e.Message, e.Details, e.RetryAfter, st.id})
}

func internalError(err error) *carillon.Error {
	return &carillon.Error{
		Code: carillon.InternalError, Message: "An unexpected error occurred", Err: err,
		Details: carillon.Details{{Key: "reason", Value: "Unexpected failure; quote the request_id to support"}},
	}
}

// MaxBody bounds the bodies of the interface (decisions.md, section 1).
const MaxBody = 1 << 20

// Body reads a JSON request's body: the content type must be application/json, the size at most MaxBody.
func Body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if err := contentType(r); err != nil {
		return nil, err
	}
	return Bytes(w, r, MaxBody)
}

func contentType(r *http.Request) error {
	given := r.Header.Get("Content-Type")
	if given == "application/json" {
		return nil
	}
	media, _, _ := strings.Cut(given, ";")
	if strings.EqualFold(strings.TrimSpace(media), "application/json") {
		return nil
	}
	if given == "" {
		return carillon.Missing("Content-Type")
	}
	return carillon.BadFormat("Content-Type", given, "application/json", "application/json")
}

// Bytes reads a body of at most limit bytes, whatever its type.
func Bytes(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		w.Header().Set("Connection", "close")
		return nil, tooLarge(limit)
	}
	buf := make([]byte, 0, max(512, r.ContentLength+1))
	body := http.MaxBytesReader(w, r.Body, limit)
	for {
		n, err := body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == nil {
			if len(buf) == cap(buf) {
				buf = append(buf, 0)[:len(buf)]
			}
			continue
		}
		if errors.Is(err, io.EOF) {
			return buf, nil
		}
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return nil, tooLarge(limit)
		}
		e := carillon.Invalid("body", "The body could not be read to its end")
		e.Err = err
		return nil, e
	}
}

func tooLarge(limit int64) *carillon.Error {
	return &carillon.Error{Code: carillon.PayloadTooLarge, Message: "The body is too large", Details: carillon.Details{
		{Key: "field", Value: "body"}, {Key: "reason", Value: "At most " + strconv.FormatInt(limit, 10) + " bytes"},
	}}
}

// Logger is slog with the request's id.
func Logger(ctx context.Context, log *slog.Logger) *slog.Logger {
	return log.With("request_id", RequestID(ctx))
}
