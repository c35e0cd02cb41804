package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
)

type usageCommand struct{ keyFlags }

// usageRecord is the response of GET usage (docs/reference/limits.md).
type usageRecord struct {
	Date   string         `json:"date"`
	Quota  int            `json:"quota"`
	Used   int            `json:"used"`
	Reset  string         `json:"reset_time"`
	Limits map[string]int `json:"limits"`
}

// Run shows the used part of the daily quota, and the limits.
func (u *usageCommand) Run(ctx context.Context, env *environment) error {
	var x usageRecord
	if err := u.do(ctx, env, http.MethodGet, "usage", nil, &x); err != nil {
		return err
	}
	rows := [][]string{
		{"date", x.Date},
		{"recipients", fmt.Sprintf("%d of %s", x.Used, noneOr(x.Quota))},
		{"reset", x.Reset},
	}
	for _, name := range slices.Sorted(maps.Keys(x.Limits)) {
		rows = append(rows, []string{name, noneOr(x.Limits[name])})
	}
	return u.show(env, x, rows)
}
