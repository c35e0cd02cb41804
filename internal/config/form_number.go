package config

import (
	"fmt"
	"strconv"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// number reads a whole number from 0 to most.
func (f *form) number(name string, left, most int) int {
	x, ok := f.find(name)
	if !ok {
		return left
	}
	i, ok := x.value.(*ast.IntegerNode)
	if !ok {
		f.wrong(x, "must be a whole number, not "+kindOf(x.value))
		return left
	}
	// The parser reads 012 as octal; only the plain decimal form is unambiguous.
	n, err := strconv.Atoi(i.Token.Value)
	if err != nil || n < 0 || n > most || strconv.Itoa(n) != i.Token.Value {
		f.wrong(x, fmt.Sprintf("must be a whole number from 0 to %d", most))
		return left
	}
	return n
}

// duration reads a text such as 6s or 10m; a bare 0 is allowed.
func (f *form) duration(name string, left, most time.Duration) time.Duration {
	x, ok := f.find(name)
	if !ok {
		return left
	}
	if i, ok := x.value.(*ast.IntegerNode); ok && i.Token.Value == "0" {
		return 0
	}
	s, ok := scalarText(x.value)
	if !ok {
		f.wrong(x, "must be a duration such as 6s or 10m")
		return left
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > most || d%time.Millisecond != 0 {
		f.wrong(x, fmt.Sprintf("must be a duration such as 6s or 10m, in whole milliseconds, at most %v", most))
		return left
	}
	return d
}

// durationBetween reads a duration with a minimum.
func (f *form) durationBetween(name string, left, least, most time.Duration) time.Duration {
	d := f.duration(name, left, most)
	if d < least {
		f.r.problem(f.place(name), fmt.Sprintf("%s must be at least %v", name, least))
		return left
	}
	return d
}

// instant reads an RFC 3339 time, zero when it is absent.
func (f *form) instant(name string) time.Time {
	x, ok := f.find(name)
	if !ok {
		return time.Time{}
	}
	s, _ := scalarText(x.value)
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || t.Year() < 1971 {
		f.wrong(x, "must be an instant such as 2030-01-31T09:00:00Z")
		return time.Time{}
	}
	return t.UTC()
}
