package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"carillon/internal/base/secret"
)

// filling holds the values for a tool's placeholders.
type filling struct {
	arguments map[string]any
	secrets   map[string]string
}

// text returns the value of a placeholder as a text.
func (f filling) text(name string) string {
	if secretName, is := strings.CutPrefix(name, secret.Mention); is {
		return f.secrets[secretName]
	}
	return textOf(f.arguments[name])
}

// textOf returns a decoded JSON value as a text.
func textOf(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	text, _ := json.Marshal(value) // decoded JSON can be encoded
	return string(text)
}

func (f filling) fill(text string, escape func(string) string) string {
	return placeholder.ReplaceAllStringFunc(text, func(m string) string {
		return escape(f.text(placeholder.FindStringSubmatch(m)[1]))
	})
}

var errClimbs = errors.New("a value would leave the path of the address")

// address fills in the URL. A value stays within its part of the path or query.
func (f filling) address(h *HTTP, unplaced []string) (string, error) {
	path, query, _ := strings.Cut(h.URL, "?")
	path = f.fill(path, url.PathEscape)
	for segment := range strings.SplitSeq(path, "/") {
		if plain, err := url.PathUnescape(segment); err != nil || plain == "." || plain == ".." {
			return "", errClimbs
		}
	}
	query = f.fill(query, url.QueryEscape)
	if !h.bodied() {
		for _, name := range unplaced {
			if query != "" {
				query += "&"
			}
			query += url.QueryEscape(name) + "=" + url.QueryEscape(f.text(name))
		}
	}
	if query != "" {
		path += "?" + query
	}
	return path, nil
}

// body returns the JSON body: the template with the values in their types, or the parameters without a placeholder.
func (f filling) body(h *HTTP, unplaced []string) ([]byte, error) {
	if len(h.Body) == 0 {
		all := map[string]any{}
		for _, name := range unplaced {
			all[name] = f.arguments[name]
		}
		return json.Marshal(all)
	}
	var template any
	d := json.NewDecoder(bytes.NewReader(h.Body))
	d.UseNumber()
	if err := d.Decode(&template); err != nil {
		return nil, errors.New("the body is no JSON")
	}
	return json.Marshal(f.value(template))
}

// absent marks an optional parameter without a value; its field is omitted.
type absent struct{}

func (f filling) value(x any) any {
	switch v := x.(type) {
	case string:
		m := placeholder.FindStringSubmatch(v)
		if m == nil || m[0] != strings.TrimSpace(v) || strings.HasPrefix(m[1], secret.Mention) {
			return f.fill(v, func(s string) string { return s })
		}
		if value, given := f.arguments[m[1]]; given {
			return value
		}
		return absent{}
	case []any:
		all := []any{}
		for _, item := range v {
			value := f.value(item)
			if _, missing := value.(absent); !missing {
				all = append(all, value)
			}
		}
		return all
	case map[string]any:
		all := map[string]any{}
		for name, item := range v {
			value := f.value(item)
			if _, missing := value.(absent); !missing {
				all[name] = value
			}
		}
		return all
	}
	return x
}

// unplaced returns the names of the given arguments without a placeholder, sorted.
func (t *Tool) unplaced(arguments map[string]any) (all []string) {
	for name := range arguments {
		if !mentions(t.HTTP.URL, name) && !mentions(string(t.HTTP.Body), name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// request builds the request of an HTTP tool.
func (t *Tool) request(ctx context.Context, f filling, key string) (*http.Request, error) {
	h := t.HTTP
	unplaced := t.unplaced(f.arguments)
	address, err := f.address(h, unplaced)
	if err != nil {
		return nil, err
	}
	var body []byte
	if h.bodied() {
		if body, err = f.body(h, unplaced); err != nil {
			return nil, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, h.Method, address, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the address cannot be read")
	}
	r.Header.Set("Accept", "application/json, text/plain;q=0.9")
	r.Header.Set("User-Agent", "Carillon")
	if h.bodied() {
		r.Header.Set("Content-Type", "application/json")
	}
	f.headers(r.Header, h.Headers)
	r.Header.Set("Idempotency-Key", key)
	return r, nil
}

func (f filling) headers(to http.Header, all map[string]string) {
	for name, value := range all {
		to.Set(name, strings.TrimSpace(f.fill(value, func(s string) string { return s })))
	}
}

// pick returns the value at a JSON Pointer (RFC 6901). An empty pointer is the whole document.
func pick(doc any, pointer string) (any, bool) {
	if pointer == "" {
		return doc, true
	}
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch v := doc.(type) {
		case map[string]any:
			next, has := v[token]
			if !has {
				return nil, false
			}
			doc = next
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			doc = v[i]
		default:
			return nil, false
		}
	}
	return doc, true
}

// shown returns the address and the body of a request for the administrator, with the secrets hidden.
func (t *Tool) shown(f filling) (address, body string, err error) {
	hidden := map[string]string{}
	for name := range f.secrets {
		hidden[name] = secret.Hidden
	}
	f.secrets = hidden
	unplaced := t.unplaced(f.arguments)
	if address, err = f.address(t.HTTP, unplaced); err != nil {
		return "", "", err
	}
	address = t.HTTP.Method + " " + strings.ReplaceAll(address, url.QueryEscape(secret.Hidden), secret.Hidden)
	if t.HTTP.bodied() {
		text, err := f.body(t.HTTP, unplaced)
		return address, string(text), err
	}
	return address, "", nil
}
