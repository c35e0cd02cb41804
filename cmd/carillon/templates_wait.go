package main

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"carillon/client"
)

// decided waits until the channel has decided about a template.
func decided(ctx context.Context, c *client.Client, m *made) error {
	for strings.EqualFold(m.Template.Status, "pending") {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
		x, err := findTemplate(ctx, c, url.Values{"template": {m.Template.ID}})
		if err != nil {
			return err
		}
		m.Template.Status = strings.ToLower(x.Status)
	}
	return nil
}

// suggest names the command that comes next: sending an approved template, submitting a draft.
func (t *templatesCreate) suggest(env *environment, m *made) {
	switch {
	case m.Template.Status == "draft":
		env.next(t.JSON, "templates submit "+m.Template.ID+t.again())
	case m.Template.Status == "approved" && t.From != "" && t.File == "":
		var words strings.Builder
		words.WriteString("send" + option("template", t.Name) + option("lang", t.Lang) + option("from", t.From) + " --to 34600111222")
		for i := range markersOf(t.Content) {
			fmt.Fprintf(&words, " --var body_text_%d=Ana", i)
		}
		env.next(t.JSON, words.String()+t.again())
	}
}

// markersOf returns the variables of a text, each once.
func markersOf(content string) (all []string) {
	for part := range strings.SplitSeq(content, "{{") {
		name, _, closed := strings.Cut(part, "}}")
		if name = strings.TrimSpace(name); closed && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}
