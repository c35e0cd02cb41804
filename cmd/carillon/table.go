package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"text/tabwriter"

	"carillon/client"
)

// writeTable writes rows in aligned columns; the first row is the header.
func writeTable(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		row = slices.Clone(row)
		for i := range row {
			row[i] = cleanCell(row[i])
		}
		if _, err := io.WriteString(t, strings.Join(row, "\t")+"\n"); err != nil {
			return err
		}
	}
	return t.Flush()
}

// listed is a resource type with a list route in the panel.
type listed interface {
	list() (path string, columns []string)
	rows() [][]string
}

// listCommand lists a company's resources of one type.
type listCommand[T listed] struct{ memberFlags }

// Run lists all of them, page by page.
func (l *listCommand[T]) Run(ctx context.Context, env *environment) error {
	c, err := l.open(ctx, env)
	if err != nil {
		return err
	}
	all, err := listOf[T](ctx, c, &l.administered)
	if err != nil {
		return err
	}
	var one T
	_, columns := one.list()
	rows := [][]string{columns}
	for _, x := range all {
		rows = append(rows, x.rows()...)
	}
	return l.show(env, all, rows)
}

// listOf returns all of a company's resources of one type.
func listOf[T listed](ctx context.Context, c *client.Client, a *administered) ([]T, error) {
	var one T
	path, _ := one.list()
	return pages[T](ctx, c, a.panel(http.MethodGet, path), 0)
}

// pages reads a list to its end, or up to most rows if most is not 0.
func pages[T any](ctx context.Context, c *client.Client, call client.Call, most int) ([]T, error) {
	all := []T{}
	for {
		limit := 100
		if most > 0 {
			limit = min(limit, most-len(all))
		}
		call.Query.Set("limit", fmt.Sprint(limit))
		var page struct {
			Data []T     `json:"data"`
			Next *string `json:"next_cursor"`
		}
		call.Out = &page
		if _, err := c.Do(ctx, call); err != nil {
			return nil, err
		}
		all = append(all, page.Data...)
		if page.Next == nil || *page.Next == "" || most > 0 && len(all) >= most {
			return all, nil
		}
		call.Query.Set("cursor", *page.Next)
	}
}
