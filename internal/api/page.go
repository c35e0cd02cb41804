package api

import (
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"

	"carillon"
)

// Bounds of pages (docs/reference/limits.md).
const (
	pageDefault = 25
	pageMost    = 100
	cursorMost  = 200 // characters of a cursor
)

// page is the part of a list that a request asks for.
type page struct {
	After string // the key of the previous page's last row; empty for the first page
	Limit int
}

// readPage reads the query's cursor and limit. kind names the list: a cursor is valid in its own list only. Errors:
// validation_failed, field `cursor` or `limit`.
func readPage(q url.Values, kind string) (page, error) {
	p := page{Limit: pageDefault}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > pageMost || text[0] == '+' {
			return p, carillon.BadFormat("limit", carillon.Shorten(text), "Whole number from 1 to "+strconv.Itoa(pageMost), pageDefault)
		}
		p.Limit = n
	}
	if text := q.Get("cursor"); text != "" {
		after, ok := decodeCursor(kind, text)
		if !ok {
			return p, carillon.InvalidValue("cursor", "Must be a next_cursor of this list", carillon.Shorten(text))
		}
		p.After = after
	}
	return p, nil
}

// next returns the cursor of the next page, nil after the last one. rows is how many were read, one more than Limit
// where there is a next page.
func (p page) next(kind string, rows int, last string) *string {
	if rows <= p.Limit {
		return nil
	}
	c := encodeCursor(kind, last)
	return &c
}

// encodeCursor makes an opaque cursor from the last row's key.
func encodeCursor(kind, after string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(kind + ":" + after))
}

// decodeCursor reads a cursor that encodeCursor made for the same kind; the key is printable ASCII and not empty.
func decodeCursor(kind, text string) (after string, ok bool) {
	if len(text) > cursorMost || strings.ContainsAny(text, "\r\n") { // the decoder would skip line ends
		return "", false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return "", false
	}
	after, ok = strings.CutPrefix(string(raw), kind+":")
	if !ok || after == "" {
		return "", false
	}
	for i := range len(after) {
		if after[i] <= ' ' || after[i] > '~' {
			return "", false
		}
	}
	return after, true
}
