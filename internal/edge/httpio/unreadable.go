package httpio

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"carillon"
)

// Unreadable returns a replacement for net/http's own response to a request that it could not read or route, and the
// replacement's request id. plain is the beginning of the data that net/http writes to the connection. ok is false if
// the response comes from a handler.
func Unreadable(plain []byte) (response []byte, requestID string, ok bool) {
	line, header, _ := bytes.Cut(plain, []byte("\r\n"))
	text, ok := strings.CutPrefix(string(line), "HTTP/1.1 ")
	code, reason, _ := strings.Cut(text, " ")
	status, err := strconv.Atoi(code)
	switch {
	case !ok || err != nil:
		return nil, "", false
	case status == http.StatusExpectationFailed: // looks like a handler's response, but none of our handlers sends it
	case !bytes.HasPrefix(header, []byte("Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")):
		return nil, "", false
	}
	if _, more, found := strings.Cut(reason, ": "); found {
		reason = more
	}
	id := carillon.NewRequestID()
	e := unreadable(status, reason)
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(errorBody{e.Code.String(), e.Message, e.Details, 0, id}); err != nil {
		return nil, "", false
	}
	body.Truncate(body.Len() - 1) // the line break
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nCache-Control: no-store\r\nConnection: close\r\nContent-Type: "+
		"application/json\r\nX-Request-Id: %s\r\nContent-Length: %d\r\n\r\n%s",
		status, http.StatusText(status), id, body.Len(), body.Bytes()), id, true
}

func unreadable(status int, reason string) *carillon.Error {
	switch status {
	case http.StatusRequestHeaderFieldsTooLarge:
		return carillon.Invalid("headers", "The request line and the headers are too long together")
	case http.StatusHTTPVersionNotSupported:
		return carillon.Invalid("version", "Must be HTTP/1.0 or HTTP/1.1")
	case http.StatusNotImplemented:
		return carillon.Invalid("Transfer-Encoding", "Only chunked is supported")
	case http.StatusExpectationFailed:
		return carillon.Invalid("Expect", "Only 100-continue is supported")
	}
	return carillon.Invalid("request", "Not a valid HTTP request: "+reason)
}
