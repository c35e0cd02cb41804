package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
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

// decimal reads a number such as 0.2; 0 where there is none.
func decimal(f *form, name string) float64 {
	x, ok := f.find(name)
	if !ok {
		return 0
	}
	var text string
	switch n := x.value.(type) {
	case *ast.IntegerNode:
		text = n.Token.Value
	case *ast.FloatNode:
		text = n.Token.Value
	case *ast.InfinityNode, *ast.NanNode:
	default:
		f.wrong(x, "must be a number, not "+kindOf(x.value))
		return 0
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(n, 0) || strings.ContainsAny(text, "_xX") {
		f.wrong(x, "must be a number such as 0.2")
		return 0
	}
	return n
}

// duration reads a text such as 6s or 10m; a bare 0 is allowed.
func (f *form) duration(name string, left, least, most time.Duration) time.Duration {
	x, ok := f.find(name)
	if !ok {
		return left
	}
	s, _ := scalarText(x.value)
	if i, ok := x.value.(*ast.IntegerNode); ok && i.Token.Value == "0" {
		s = "0"
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < least || d > most || d%time.Millisecond != 0 {
		f.wrong(x, fmt.Sprintf("must be a duration such as 6s or 10m, in whole milliseconds, from %v to %v", least, most))
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
