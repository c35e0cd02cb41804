package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"carillon/client"
)

type usageCommand struct {
	keyed
	jsonFlag
}

// usageRecord is the body of GET usage (docs/reference/limits.md).
type usageRecord struct {
	Date   string         `json:"date"`
	Quota  int            `json:"quota"`
	Used   int            `json:"used"`
	Reset  string         `json:"reset_time"`
	Limits map[string]int `json:"limits"`
}

// Run shows how much of the day's quota is used, and the limits.
func (u *usageCommand) Run(ctx context.Context, env *environment) error {
	c, _, err := u.connect(env)
	if err != nil {
		return err
	}
	var x usageRecord
	if _, err := c.Do(ctx, client.Call{Method: http.MethodGet, Path: client.Prefix + "usage", As: client.Company, Out: &x}); err != nil {
		return err
	}
	if u.JSON {
		return writeJSON(env.Stdout, x)
	}
	rows := [][]string{
		{"date", x.Date},
		{"recipients", fmt.Sprintf("%d of %s", x.Used, orNone(x.Quota))},
		{"reset", x.Reset},
	}
	for _, name := range slices.Sorted(maps.Keys(x.Limits)) {
		rows = append(rows, []string{name, orNone(x.Limits[name])})
	}
	return writeTable(env.Stdout, rows)
}

// orNone writes a limit, of which 0 means none.
func orNone(limit int) string {
	if limit == 0 {
		return "no limit"
	}
	return fmt.Sprint(limit)
}
