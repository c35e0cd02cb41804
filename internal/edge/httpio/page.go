package httpio

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"carillon"
)

// Bounds of pages (docs/reference/limits.md).
const (
	pageDefault = 25
	maxPage     = 100
	pageBytes   = 1<<20 - 4<<10 // of its rows; the rest is for what surrounds them
	maxCursor   = 200           // characters of a cursor
)

// Page is the part of a list that a request asks for.
type Page struct {
	After string // the key of the previous page's last row; empty for the first page
	Limit int
}

// ReadPage reads the query's cursor and limit. kind names the list: a cursor is valid in its own list only. Errors:
// validation_failed, field `cursor` or `limit`.
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

// BadCursor is the error of a cursor that this list did not give.
func BadCursor(q url.Values) *carillon.Error {
	return carillon.InvalidValue("cursor", "Must be a next_cursor of this list", carillon.Shorten(q.Get("cursor")))
}

// List is a response of many rows.
type List[T any] struct {
	Data []T     `json:"data"`
	Next *string `json:"next_cursor"`
}

// Rows is a response of all rows there are.
type Rows[T any] struct {
	Data []T `json:"data"`
}

// RowsOf makes the response.
func RowsOf[T any](all []T) Rows[T] { return Rows[T]{all} }

// Part makes the response of a page that was read with the key that the next one begins after; "": there is none.
func Part[T any](kind string, rows []T, after string) List[T] {
	return List[T]{Data: append([]T{}, rows...), Next: NextCursor(kind, after)}
}

// NextCursor is the cursor of the page that begins after a key; nil: there is none.
func NextCursor(kind, after string) *string {
	if after == "" {
		return nil
	}
	cursor := EncodeCursor(kind, after)
	return &cursor
}

// ListOf makes the response of a page, for which up to one row more than its limit was read. key is what the next page
// begins after.
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

// Fit returns how many rows a page has room for, at least one of them.
func Fit[T any](rows []T) int {
	size := 0
	for i := range rows {
		row, _ := json.Marshal(rows[i]) // what cannot be written fails when the response is
		if size += len(row) + 1; size > pageBytes && i > 0 {
			return i
		}
	}
	return len(rows)
}

// EncodeCursor makes an opaque cursor from the last row's key.
func EncodeCursor(kind, after string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(kind + ":" + after))
}

// decodeCursor reads a cursor that EncodeCursor made for the same kind; the key is printable ASCII and not empty.
func decodeCursor(kind, text string) (after string, ok bool) {
	if len(text) > maxCursor || strings.ContainsAny(text, "\r\n") { // the decoder would skip line ends
		return "", false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return "", false
	}
	after, ok = strings.CutPrefix(string(raw), kind+":")
	return after, ok && after != "" && !strings.ContainsFunc(after, func(c rune) bool { return c <= ' ' || c > '~' })
}
