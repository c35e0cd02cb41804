package flow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Limits of a JSON response.
const (
	maxParts = 50_000 // values, objects and lists
	maxLevel = 100
)

// Decode decodes a JSON response for Pick. It checks the limits first, so that a huge response takes no memory.
func Decode(text []byte) (x any, err error) {
	if err := measure(text); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&x) != nil {
		return nil, errors.New("the response is no JSON")
	}
	return x, nil
}

// measure checks the number of parts and levels of a JSON text. It assumes that the text is valid.
func measure(text []byte) error {
	parts, level, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			parts++
			level++
		case c == '}', c == ']':
			level--
		case c == ',':
			parts++
		}
		if parts > maxParts || level > maxLevel {
			return fmt.Errorf("the response has more than %d values or %d levels", maxParts, maxLevel)
		}
	}
	return nil
}

// Pick returns the scalar at a path of decoded JSON, such as order.items.0.name, as text; "" if there is none.
func Pick(x any, path string) string {
	for name := range strings.SplitSeq(path, ".") {
		switch v := x.(type) {
		case map[string]any:
			x = v[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(v) {
				return ""
			}
			x = v[i]
		default:
			return ""
		}
	}
	switch v := x.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return v.String()
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}
