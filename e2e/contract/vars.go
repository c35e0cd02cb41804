package contract

import (
	"crypto/rand"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Vars are the values of `${…}` in one run of a case: captured values, and
//
//	${run}             a word unique to this run
//	${future 2h}       a time after the start of the case, local form, UTC
//	${future_z 2h}     the same in the form of responses
//	${past 1m}         a time before the start
//	${repeat x 60}     a text repeated that many times
type Vars struct {
	start time.Time
	named map[string]string
}

// NewVars returns the variables for a new run of a case.
func NewVars() *Vars {
	return &Vars{start: time.Now().UTC().Truncate(time.Second), named: map[string]string{"run": rand.Text()[:10]}}
}

// Set stores a captured value.
func (v *Vars) Set(name, value string) { v.named[name] = value }

// with returns a copy with another variable.
func (v *Vars) with(name, value string) *Vars {
	w := &Vars{start: v.start, named: maps.Clone(v.named)}
	w.Set(name, value)
	return w
}

var variable = regexp.MustCompile(`\$\{([^{}]+)\}`)

// expand replaces the variables in a text. Variables that have no value yet stay unchanged.
func (v *Vars) expand(s string) string {
	return variable.ReplaceAllStringFunc(s, func(whole string) string {
		words := strings.Fields(whole[2 : len(whole)-1])
		if filled, err := v.fill(words); err == nil {
			return filled
		}
		return whole
	})
}

func (v *Vars) fill(words []string) (string, error) {
	switch {
	case len(words) == 2 && words[0] == "future":
		d, err := time.ParseDuration(words[1])
		return v.start.Add(d).Format("2006-01-02T15:04:05"), err
	case len(words) == 2 && words[0] == "future_z":
		d, err := time.ParseDuration(words[1])
		return v.start.Add(d).Format(time.RFC3339), err
	case len(words) == 2 && words[0] == "past":
		d, err := time.ParseDuration(words[1])
		return v.start.Add(-d).Format("2006-01-02T15:04:05"), err
	case len(words) == 3 && words[0] == "repeat":
		n, err := strconv.Atoi(words[2])
		return strings.Repeat(words[1], max(n, 0)), err
	}
	if value, ok := v.named[strings.Join(words, " ")]; ok {
		return value, nil
	}
	return "", fmt.Errorf("nothing is called %s", strings.Join(words, " "))
}

// expandValue expands every string in a value, and turns `{"$repeat": n, "value": …}` into a list. Within its value,
// `${i}` is the index in five digits.
func (v *Vars) expandValue(x any) any {
	switch x := x.(type) {
	case string:
		return v.expand(x)
	case []any:
		list := make([]any, len(x))
		for i := range x {
			list[i] = v.expandValue(x[i])
		}
		return list
	case Object:
		if times, ok := x.Find("$repeat"); ok {
			value, _ := x.Find("value")
			return v.repeated(times, value)
		}
		o := make(Object, len(x))
		for i, m := range x {
			o[i] = Member{m.Key, v.expandValue(m.Value)}
		}
		return o
	default:
		return x
	}
}

func (v *Vars) repeated(times, value any) []any {
	n, _ := strconv.Atoi(fmt.Sprint(times))
	list := make([]any, n)
	for i := range list {
		list[i] = v.with("i", fmt.Sprintf("%05d", i)).expandValue(value)
	}
	return list
}
