package flow

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Pick returns the scalar at a path in decoded JSON, such as order.items.0.name, as a text; "": there is none.
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
