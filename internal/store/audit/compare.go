package audit

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"carillon/internal/base/redact"
)

// Field is a changed field, by its path: `limits.daily_recipients`, `nodes[ask].text`. Before or After is null if the
// field was absent. Values of secrets are not recorded: they are true if there was one.
type Field struct {
	Path   string          `json:"path"`
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
	Secret bool            `json:"secret,omitempty"`
	Cut    bool            `json:"cut,omitempty"`  // the values were truncated
	More   int             `json:"more,omitempty"` // in the last field only: number of omitted fields
}

// Bounds of a recorded change.
const (
	maxFields = 100
	maxValue  = 2000  // bytes of one value
	maxBytes  = 64000 // bytes of all values
	// maxRead bounds the part of a value that is searched for secrets. It is longer than the recorded part, so that a
	// token across its end is seen whole.
	maxRead = maxValue + 2000
)

// Decoded is a document already decoded from JSON, with numbers as json.Number, so that it is not encoded and decoded
// again.
type Decoded map[string]any

// leaf is a value that is neither an object nor a list, or an empty one.
type leaf struct {
	text   string // JSON
	secret bool
}

// compare returns the fields in which two documents differ, by path.
func compare(before, after any) ([]Field, error) {
	a, err := leaves(before)
	if err != nil {
		return nil, err
	}
	b, err := leaves(after)
	if err != nil {
		return nil, err
	}
	paths := slices.Collect(maps.Keys(a))
	for path := range b {
		if _, both := a[path]; !both {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	fields, size := []Field{}, 0
	for i, path := range paths {
		if a[path].text == b[path].text {
			continue
		}
		if len(fields) == maxFields || size > maxBytes {
			fields[len(fields)-1].More = rest(paths[i:], a, b)
			break
		}
		f := fieldOf(path, a[path], b[path])
		if !f.Secret && !f.Cut && bytes.Equal(f.Before, f.After) { // they differ only in unrecorded parts
			continue
		}
		size += len(f.Path) + len(f.Before) + len(f.After)
		fields = append(fields, f)
	}
	return fields, nil
}

func rest(paths []string, a, b map[string]leaf) (n int) {
	for _, path := range paths {
		if a[path].text != b[path].text {
			n++
		}
	}
	return n
}

func fieldOf(path string, a, b leaf) Field {
	f := Field{Path: path, Secret: a.secret || b.secret}
	if f.Secret {
		f.Before, f.After = there(a), there(b)
		return f
	}
	var cutA, cutB bool
	f.Before, cutA = value(a.text)
	f.After, cutB = value(b.text)
	f.Cut = cutA || cutB
	return f
}

// there returns true for a secret that is present.
func there(x leaf) json.RawMessage {
	if x.text == "" || x.text == `""` || x.text == "null" {
		return nil
	}
	return json.RawMessage("true")
}

// value returns the recorded form of a value: texts with likely secrets removed, and truncated.
func value(text string) (v json.RawMessage, cut bool) {
	var s string
	if json.Unmarshal([]byte(text), &s) != nil {
		if len(text) <= maxValue {
			return json.RawMessage(text), false
		}
		s = text
	}
	s = redact.Text(strings.ToValidUTF8(s[:min(len(s), maxRead)], ""))
	if cut = len(text) > maxValue; cut {
		s = strings.ToValidUTF8(s[:min(len(s), maxValue)], "")
	}
	v, _ = json.Marshal(s) // a text cannot fail
	return v, cut
}

// leaves returns the values of a document by path; nil has none.
func leaves(doc any) (map[string]leaf, error) {
	all := map[string]leaf{}
	if doc == nil {
		return all, nil
	}
	if decoded, ok := doc.(Decoded); ok {
		walk(all, "", map[string]any(decoded), false)
		return all, nil
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	walk(all, "", v, false)
	return all, nil
}

// walk adds the leaves of a value. Everything below a secret is secret, and so are the headers of requests.
func walk(all map[string]leaf, path string, v any, secret bool) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			below := name
			if path != "" {
				below = path + "." + name
			}
			_, flag := value.(bool)
			walk(all, below, value, secret || (redact.Name(name) || strings.EqualFold(name, "headers")) && !flag)
		}
		if len(v) > 0 {
			return
		}
	case []any:
		names := elementNames(v)
		for i, value := range v {
			walk(all, path+"["+names[i]+"]", value, secret)
		}
		if len(v) > 0 {
			return
		}
	case nil:
		return // treated as absent
	}
	text, _ := json.Marshal(v) // a decoded value can be encoded
	all[path] = leaf{string(text), secret}
}

// elementNames returns names for the elements of a list: their ids or names if those differ, so that an insertion does
// not rename later elements; else their positions.
func elementNames(list []any) []string {
	names := make([]string, len(list))
	for _, field := range []string{"id", "name"} {
		seen := map[string]bool{}
		for i, x := range list {
			o, _ := x.(map[string]any)
			names[i], _ = o[field].(string)
			seen[names[i]] = true
		}
		if len(seen) == len(list) && !seen[""] {
			return names
		}
	}
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}
