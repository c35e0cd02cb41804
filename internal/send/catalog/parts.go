package catalog

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"carillon"
	"carillon/internal/base/content"
)

// sameParts reports whether a channel's parts are those that are stored. Samples are ignored, because the channel
// returns them in another form, and addresses of sample files that change with every read. A one-time code's texts are
// the channel's own.
func sameParts(category string, stored, listed []carillon.Component) bool {
	return reflect.DeepEqual(plainParts(category, stored), plainParts(category, listed))
}

// plainParts returns the parts as plain values, in a fixed order and without parts that do not count.
func plainParts(category string, parts []carillon.Component) []any {
	all := make([]any, 0, len(parts))
	for i := range parts {
		c := parts[i]
		c.Type, c.Format = strings.ToUpper(c.Type), strings.ToUpper(c.Format)
		if c.Type == content.TypeHeader && c.Format == "" {
			c.Format = content.FormatText
		}
		if category == authentication {
			c = codePart(c)
		}
		b, err := json.Marshal(c)
		var v any
		if err == nil {
			err = json.Unmarshal(b, &v)
		}
		if err == nil {
			all = append(all, without(v))
		}
	}
	slices.SortStableFunc(all, func(a, b any) int { return order(a) - order(b) })
	return all
}

const authentication = "AUTHENTICATION"

// codePart returns a part of a one-time code without the channel's own texts, and without its buttons, which the channel
// shows as addresses.
func codePart(c carillon.Component) carillon.Component {
	c.Text, c.Buttons = "", make([]carillon.Button, len(c.Buttons))
	return c
}

// order is the usual place of a part.
func order(v any) int {
	o, _ := v.(map[string]any)
	t, _ := o["type"].(string)
	return slices.Index([]string{content.TypeHeader, content.TypeBody, content.TypeFooter, content.TypeButtons}, t)
}

// without removes samples at any depth.
func without(v any) any {
	switch x := v.(type) {
	case map[string]any:
		maps.DeleteFunc(x, func(name string, _ any) bool { return name == "example" })
		for name := range x {
			x[name] = without(x[name])
		}
	case []any:
		for i := range x {
			x[i] = without(x[i])
		}
	}
	return v
}
