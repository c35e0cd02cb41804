package httpio

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"carillon"
	"carillon/internal/base/jsonbody"
	"carillon/internal/base/share"
)

const (
	// DefaultMaxBody limits a request's body on routes without their own limit.
	DefaultMaxBody = 1 << 20
	// maxDropped limits how much of a refused body is read.
	maxDropped = 8 << 20
	// firstBuffer is the allocation before any byte has arrived, because Content-Length is only a claim.
	firstBuffer = 4 << 10
)

// Body reads the body of a JSON request. The content type must be application/json and the size at most the route's
// MaxBody. The bytes are valid until the response has been written.
func Body(r *http.Request) ([]byte, error) {
	if err := contentType(r); err != nil {
		return nil, err
	}
	return RawBody(r)
}

// Object reads a body that is a JSON object.
func Object(r *http.Request) (*jsonbody.Object, error) {
	body, err := Body(r)
	if err != nil {
		return nil, err
	}
	return jsonbody.Parse(body)
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

// LeaveBody closes the connection after the response. It is for requests refused before their body is read: the server
// would otherwise wait for the body to reach the next request.
func LeaveBody(ctx context.Context) { stateOf(ctx).unread = true }

// RawBody reads a body of any type, of at most the route's MaxBody bytes. Errors: payload_too_large;
// service_unavailable if the memory for bodies is used up.
func RawBody(r *http.Request) ([]byte, error) {
	st := stateOf(r.Context())
	if r.ContentLength > st.maxBody {
		return nil, tooLarge(st, r)
	}
	st.holder = holderOf(st, r)
	buf, err := growBody(st, r, nil, min(max(512, r.ContentLength+1), firstBuffer))
	if err != nil {
		return nil, err
	}
	for {
		n, err := r.Body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		st.body, st.read = buf, true
		switch {
		case int64(len(buf)) > st.maxBody:
			return nil, tooLarge(st, r)
		case errors.Is(err, io.EOF):
			return buf, nil
		case err != nil:
			e := carillon.Invalid("body", "The body could not be read to its end")
			e.Err = err
			return nil, e
		}
		if len(buf) == cap(buf) {
			if buf, err = growBody(st, r, buf, nextSize(int64(cap(buf)), r.ContentLength)); err != nil {
				return nil, err
			}
		}
	}
}

// visitorAccess lists the kinds of routes whose credential is given to anyone who opens a company's page.
var visitorAccess = []string{"chat", "voice"} //nolint:gochecknoglobals // read only

// holderOf returns the holder whose memory budget a body counts against: the company set by SetCompany, with a
// separate part for its visitors, or else all requests with the same route Access. One client gets at most half of
// either part.
func holderOf(st *state, r *http.Request) share.Holder {
	h := share.Holder{Company: st.company}
	switch {
	case h.Company == "":
		h.Company = st.access
	case slices.Contains(visitorAccess, st.access):
		h.Visitor = true
	default:
		return h
	}
	if st.router != nil {
		h.Client = ClientNetwork(r, st.router.Proxies)
	}
	return h
}

// nextSize doubles a full buffer, or returns the announced length if that is smaller: by then at least half has
// arrived.
func nextSize(size, announced int64) int64 {
	if announced >= size && announced < 2*size {
		return announced + 1
	}
	return 2 * size
}

func growBody(st *state, r *http.Request, buf []byte, size int64) ([]byte, error) {
	if st.router != nil {
		more := size - int64(cap(buf))
		if err := st.router.Bodies.Add(st.holder, more); err != nil {
			drop(st, r)
			return nil, overloaded(err)
		}
		st.held += more
	}
	return append(make([]byte, 0, size), buf...), nil
}

// overloaded returns the refusal for a body that does not fit into memory. It is always a 503, not a 429, because the
// problem is the size of concurrent requests, not their number.
func overloaded(err error) *carillon.Error {
	e := &carillon.Error{
		Code: carillon.ServiceUnavailable, Message: "The service is overloaded", RetryAfter: 1, Err: err,
		Details: carillon.Details{{Key: "reason", Value: "Too many large requests at once; retry later"}},
	}
	if bound, ok := errors.AsType[*carillon.Error](err); ok {
		e.Details = append(e.Details, carillon.Detail{Key: "bound", Value: bound.Details.Find("bound")})
	}
	return e
}

// drop reads the rest of a refused body, up to a limit, so that a client that writes its whole request before reading
// sees the response.
func drop(st *state, r *http.Request) {
	// A client that waits for 100 Continue has not sent anything yet, and reading would prompt it to.
	st.unread = r.Header.Get("Expect") != ""
	if !st.unread {
		_, err := io.CopyN(io.Discard, r.Body, maxDropped)
		st.unread = !errors.Is(err, io.EOF)
	}
}

func tooLarge(st *state, r *http.Request) *carillon.Error {
	drop(st, r)
	return &carillon.Error{Code: carillon.PayloadTooLarge, Message: "The body is too large", Details: carillon.Details{
		{Key: "field", Value: "body"}, {Key: "reason", Value: "At most " + strconv.FormatInt(st.maxBody, 10) + " bytes"},
	}}
}

const idempotencyHeader = "Idempotency-Key"

// IdempotencyKey reads the Idempotency-Key header: 1 to 255 printable characters, or "" if absent.
func IdempotencyKey(r *http.Request) (string, error) {
	values := r.Header.Values(idempotencyHeader)
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	if len(values) > 1 || key == "" || len(key) > 255 || strings.ContainsFunc(key, func(c rune) bool { return c < 0x20 || c > 0x7e }) {
		return "", carillon.Invalid(idempotencyHeader, "One value of 1 to 255 printable ASCII characters")
	}
	return key, nil
}

// ContentHash identifies the content of a request. It covers the body and the query, except the access key, which may
// be replaced between repeats.
func ContentHash(q url.Values, body []byte) string {
	q.Del("access_key")
	h := sha256.New()
	_, _ = h.Write([]byte(q.Encode()))
	_, _ = h.Write([]byte{'\n'})
	_, _ = h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}
