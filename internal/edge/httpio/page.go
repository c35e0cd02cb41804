package httpio

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"carillon"
)

// Limits of pages (docs/reference/limits.md).
const (
	pageDefault = 25
	maxPage     = 100
	pageBytes   = 1<<20 - 4<<10 // limit for the rows; the rest is for the surrounding JSON
	maxCursor   = 200           // characters of a cursor
)

// Page is the part of a list that a request asks for.
type Page struct {
	After string // key of the previous page's last row; empty for the first page
	Limit int
}

// ReadPage reads the query's cursor and limit. kind names the list, because a cursor is valid only in its own list.
// Errors: validation_failed, field `cursor` or `limit`.
func ReadPage(q url.Values, kind string) (Page, error) {
	p := Page{Limit: pageDefault}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxPage || text[0] == '+' {
			return p, carillon.BadFormat("limit", carillon.Shorten(text), "Whole number from 1 to "+strconv.Itoa(maxPage), pageDefault)
		}
		p.Limit = n
	}
	if text := q.Get("cursor"); text != "" {
		after, ok := decodeCursor(kind, text)
		if !ok {
			return p, BadCursor(q)
		}
		p.After = after
	}
	return p, nil
}

// BadCursor is the error for a cursor that this list did not return.
func BadCursor(q url.Values) *carillon.Error {
	return carillon.InvalidValue("cursor", "Must be a next_cursor of this list", carillon.Shorten(q.Get("cursor")))
}

// List is a page of rows with a cursor to the next page.
type List[T any] struct {
	Data []T     `json:"data"`
	Next *string `json:"next_cursor"`
}

// Rows is a response with all rows.
type Rows[T any] struct {
	Data []T `json:"data"`
}

// RowsOf returns the response with all rows.
func RowsOf[T any](all []T) Rows[T] { return Rows[T]{all} }

// Part returns the response of a page. after is the key of its last row, or "" for the last page.
func Part[T any](kind string, rows []T, after string) List[T] {
	return List[T]{Data: append([]T{}, rows...), Next: NextCursor(kind, after)}
}

// NextCursor returns the cursor of the page that begins after a key, or nil if the key is empty.
func NextCursor(kind, after string) *string {
	if after == "" {
		return nil
	}
	cursor := EncodeCursor(kind, after)
	return &cursor
}

// ListOf returns the response of a page. rows holds up to one row more than the limit. key returns the key after which
// the next page begins.
func ListOf[R, T any](p Page, kind string, rows []R, key func(R) string, row func(R) T) List[T] {
	l := List[T]{Data: []T{}}
	if len(rows) > p.Limit {
		rows = rows[:p.Limit]
		next := EncodeCursor(kind, key(rows[p.Limit-1]))
		l.Next = &next
	}
	for _, r := range rows {
		l.Data = append(l.Data, row(r))
	}
	if n := Fit(l.Data); n < len(l.Data) {
		l.Data = l.Data[:n]
		next := EncodeCursor(kind, key(rows[n-1]))
		l.Next = &next
	}
	return l
}

// Fit returns the number of rows that fit into a page, at least one.
func Fit[T any](rows []T) int {
	size := 0
	for i := range rows {
		row, _ := json.Marshal(rows[i]) // a row that cannot be marshaled fails later, in the response
		if size += len(row) + 1; size > pageBytes && i > 0 {
			return i
		}
	}
	return len(rows)
}

// EncodeCursor returns an opaque cursor for the last row's key.
func EncodeCursor(kind, after string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(kind + ":" + after))
}

// decodeCursor reads a cursor that EncodeCursor made for the same kind. The key is printable ASCII and not empty.
func decodeCursor(kind, text string) (after string, ok bool) {
	if len(text) > maxCursor || strings.ContainsAny(text, "\r\n") { // the decoder would skip line breaks
		return "", false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return "", false
	}
	after, ok = strings.CutPrefix(string(raw), kind+":")
	return after, ok && after != "" && !strings.ContainsFunc(after, func(c rune) bool { return c <= ' ' || c > '~' })
}
