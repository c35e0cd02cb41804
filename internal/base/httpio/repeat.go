package httpio

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"

	"carillon"
)

const idempotencyHeader = "Idempotency-Key"

// IdempotencyKey reads the header of that name: 1 to 255 printable characters; "" where there is none.
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

// ContentHash identifies what a request asks for: it covers the body and the query without the access key, which may be replaced
// between repeats.
func ContentHash(q url.Values, body []byte) string {
	q.Del("access_key")
	h := sha256.New()
	_, _ = h.Write([]byte(q.Encode()))
	_, _ = h.Write([]byte{'\n'})
	_, _ = h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// Repeatable writes JSON that a repeat of the request gets again, and says so where this is one.
func Repeatable(w http.ResponseWriter, body []byte, replayed bool) error {
	if replayed {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	return Raw(w, http.StatusOK, body)
}
