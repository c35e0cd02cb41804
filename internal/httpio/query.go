package httpio

import (
	"net/url"
	"strings"
)

// QueryValue returns the first value of a name in a query string, as url.ParseQuery reads it, without parsing the rest:
// every request needs one or two names only.
func QueryValue(query, name string) (value string, present bool) {
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		key, value, _ := strings.Cut(pair, "=")
		if pair == "" || len(key) < len(name) || strings.Contains(pair, ";") { // escapes only make a key longer
			continue
		}
		if plain, err := url.QueryUnescape(key); err != nil || plain != name {
			continue
		}
		if plain, err := url.QueryUnescape(value); err == nil {
			return plain, true
		}
	}
	return "", false
}
