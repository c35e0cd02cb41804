package contract

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Match compares a value with a matcher and returns the differences, each with its path. A matcher is the expected
// value with exactly its keys in exactly their order, with these exceptions:
//
//	"key?"               marks a key that may be absent
//	"<uuid>", "<re:…>"   match any text of a form, see named
//	{"$some": {…}}       an object with at least these keys, in any order
//	{"$each": m}         a list whose elements all match; with {"$has": [m, …]} also one that contains a match for each of these
//	{"$or": [m, …]}      a value that matches one of these
//	{"$jwt": m}          a token whose {"header", "claims"} match
func (v *Vars) Match(want, got any) []string { return v.match("", want, got) }

func (v *Vars) match(at string, want, got any) []string {
	switch want := want.(type) {
	case Object:
		if len(want) > 0 && strings.HasPrefix(want[0].Key, "$") {
			return v.special(at, want, got)
		}
		return v.object(at, want, got, true)
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return fault(at, "a list of %d", got, len(want))
		}
		var faults []string
		for i := range want {
			faults = append(faults, v.match(at+"."+strconv.Itoa(i), want[i], list[i])...)
		}
		return faults
	case string:
		return v.text(at, v.expand(want), got)
	default:
		if want != got {
			return fault(at, "%v", got, want)
		}
		return nil
	}
}

func fault(at, wanted string, got any, args ...any) []string {
	shown, err := json.Marshal(got)
	if err != nil {
		shown = fmt.Append(nil, got)
	}
	return []string{fmt.Sprintf("%s: want "+wanted+", got %s", append(append([]any{strings.TrimPrefix(at, ".")}, args...), shown)...)}
}

// object matches the members. exact requires the same keys in the same order.
func (v *Vars) object(at string, want Object, got any, exact bool) []string {
	o, ok := got.(Object)
	if !ok {
		return fault(at, "an object", got)
	}
	var faults, order []string
	for _, m := range want {
		key, optional := strings.CutSuffix(m.Key, "?")
		value, there := o.Find(key)
		switch {
		case there:
			order = append(order, key)
			faults = append(faults, v.match(at+"."+key, m.Value, value)...)
		case !optional:
			faults = append(faults, fault(at, "the key %s", got, key)...)
		}
	}
	if !exact || len(faults) > 0 {
		return faults
	}
	var keys []string
	for _, m := range o {
		keys = append(keys, m.Key)
	}
	if !slices.Equal(keys, order) {
		return fault(at, "the keys %v in this order", keys, order)
	}
	return nil
}

func (v *Vars) special(at string, want Object, got any) (faults []string) {
	for _, m := range want {
		switch m.Key {
		case "$some":
			some, _ := m.Value.(Object)
			faults = append(faults, v.object(at, some, got, false)...)
		case "$each":
			faults = append(faults, v.all(at, m.Value, got)...)
		case "$has":
			faults = append(faults, v.has(at, m.Value, got)...)
		case "$or":
			faults = append(faults, v.or(at, m.Value, got)...)
		case "$jwt":
			faults = append(faults, v.match(at+"|jwt", m.Value, token(got))...)
		default:
			faults = append(faults, fault(at, "a matcher, not %s", got, m.Key)...)
		}
	}
	return faults
}

func (v *Vars) all(at string, want, got any) []string {
	list, ok := got.([]any)
	if !ok || len(list) == 0 {
		return fault(at, "a list that is not empty", got)
	}
	var faults []string
	for i, x := range list {
		faults = append(faults, v.match(at+"."+strconv.Itoa(i), want, x)...)
	}
	return faults
}

func (v *Vars) has(at string, want, got any) []string {
	list, _ := got.([]any)
	wants, _ := want.([]any)
	var faults []string
	for i, w := range wants {
		if !slices.ContainsFunc(list, func(x any) bool { return len(v.match(at, w, x)) == 0 }) {
			text, _ := json.Marshal(w) // from JSON, cannot fail
			faults = append(faults, fault(at, "an element like number %d, %s", got, i, text)...)
		}
	}
	return faults
}

func (v *Vars) or(at string, want, got any) []string {
	wants, _ := want.([]any)
	var faults []string
	for _, w := range wants {
		f := v.match(at, w, got)
		if len(f) == 0 {
			return nil
		}
		faults = append(faults, f...)
	}
	return faults
}

// token returns the header and claims of a JWT without verifying its signature, or nil if it is no JWT.
func token(got any) any {
	text, _ := got.(string)
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return nil
	}
	o := Object{}
	for i, name := range []string{"header", "claims"} {
		raw, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil {
			return nil
		}
		value, err := Parse(raw)
		if err != nil {
			return nil
		}
		o = append(o, Member{name, value})
	}
	return o
}

var (
	matcher = regexp.MustCompile(`^<([a-z0-9_]+)(?: ([^>]*))?>$`)
	named   = map[string]*regexp.Regexp{
		"string":     regexp.MustCompile(`(?s)^.+$`),
		"uuid":       regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`),
		"uuid7":      regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`),
		"request_id": regexp.MustCompile(`^req_[A-Za-z0-9_-]{20,26}$`),
		"decimal":    regexp.MustCompile(`^[0-9]+$`),
		"date":       regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`),
		"time":       regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$`),
		"timestamp":  regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$`),
	}
)

// text matches a string, or the form that `<name>` stands for: the forms in named; any, object, array, integer;
// `<re:…>`; `<unix n>`, an integer within a minute of n seconds from now; `<sorted a b>`, a list sorted by these keys.
func (v *Vars) text(at, want string, got any) []string {
	text, isText := got.(string)
	if pattern, ok := strings.CutPrefix(want, "<re:"); ok && strings.HasSuffix(want, ">") {
		return hold(isText && regexp.MustCompile(strings.TrimSuffix(pattern, ">")).MatchString(text), at, want, got)
	}
	m := matcher.FindStringSubmatch(want)
	if m == nil {
		return hold(isText && text == want, at, strconv.Quote(want), got)
	}
	if form, ok := named[m[1]]; ok {
		return hold(isText && form.MatchString(text), at, want, got)
	}
	ok := false
	switch m[1] {
	case "any":
		ok = true
	case "object":
		_, ok = got.(Object)
	case "array":
		_, ok = got.([]any)
	case "integer":
		_, ok = integer(got)
	case "unix":
		n, isInteger := integer(got)
		after, _ := strconv.ParseInt(m[2], 10, 64)
		ok = isInteger && math.Abs(float64(n-time.Now().Unix()-after)) <= 60
	case "sorted":
		ok = sorted(strings.Fields(m[2]), got)
	}
	return hold(ok, at, want, got)
}

func hold(ok bool, at, want string, got any) []string {
	if ok {
		return nil
	}
	return fault(at, "%s", got, want)
}

func integer(got any) (int64, bool) {
	n, ok := got.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := strconv.ParseInt(n.String(), 10, 64)
	return i, err == nil
}

func sorted(keys []string, got any) bool {
	list, ok := got.([]any)
	return ok && len(list) > 1 && slices.IsSortedFunc(list, func(a, b any) int {
		for _, k := range keys {
			if c := strings.Compare(textAt(a, k), textAt(b, k)); c != 0 {
				return c
			}
		}
		return 0
	})
}

func textAt(v any, key string) string {
	o, _ := v.(Object)
	x, _ := o.Find(key)
	s, _ := x.(string)
	return s
}

// At returns the value at a path such as recipients.0.state; `|jwt` decodes a token.
func At(v any, path string) (any, error) {
	for part := range strings.SplitSeq(strings.ReplaceAll(path, "|", "."), ".") {
		switch x := v.(type) {
		case Object:
			value, ok := x.Find(part)
			if !ok {
				return nil, fmt.Errorf("there is no %s", path)
			}
			v = value
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(x) {
				return nil, fmt.Errorf("there is no %s", path)
			}
			v = x[i]
		case string:
			if v = token(x); part != "jwt" || v == nil {
				return nil, fmt.Errorf("there is no %s", path)
			}
		default:
			return nil, fmt.Errorf("there is no %s", path)
		}
	}
	return v, nil
}
