package catalog

import (
	"context"
	"strings"

	"carillon"
	"carillon/internal/base/content"
)

// Record is a template as lists show it; the keys are in the contract's order.
type Record struct {
	ID              string `json:"id"`
	Name            string `json:"name"`
	Status          string `json:"status"`
	Category        string `json:"category"`
	Language        string `json:"language"`
	Components      []any  `json:"components"` // textPart, mediaPart or buttonsPart
	ParameterFormat string `json:"parameter_format"`
}

// The forms of a component; the keys are in the contract's order.
type (
	textPart struct {
		Text    string                     `json:"text"`
		Type    string                     `json:"type"`
		Format  string                     `json:"format,omitempty"` // of a header
		Example *carillon.ComponentExample `json:"example,omitempty"`
	}
	mediaPart struct {
		Type    string                     `json:"type"`
		Format  string                     `json:"format"`
		Example *carillon.ComponentExample `json:"example,omitempty"`
	}
	buttonsPart struct {
		Type    string            `json:"type"`
		Buttons []carillon.Button `json:"buttons"`
	}
)

func partOf(c *carillon.Component) any {
	switch {
	case c.Type == content.TypeButtons:
		return buttonsPart{c.Type, c.Buttons}
	case c.Type == content.TypeHeader && c.Format != content.FormatText && c.Format != "":
		return mediaPart{c.Type, c.Format, c.Example}
	default:
		return textPart{c.Text, c.Type, c.Format, c.Example}
	}
}

// RecordOf is a template's record: its status in upper case, the channel's id where it has one.
func RecordOf(t *carillon.Template) Record {
	r := Record{
		ID: t.PublicID(), Name: t.Name, Status: strings.ToUpper(string(t.Status)), Category: t.Category, Language: t.Language,
		Components: make([]any, len(t.Components)), ParameterFormat: t.ParameterFormat,
	}
	for i := range t.Components {
		r.Components[i] = partOf(&t.Components[i])
	}
	return r
}

// Approved returns a sender's approved templates by name and language.
func (c *Catalog) Approved(ctx context.Context, senderUID int64) ([]Record, error) {
	all, err := c.store.Templates.Templates(ctx, senderUID)
	if err != nil {
		return nil, err
	}
	records := []Record{}
	for _, t := range all {
		if t.Status == carillon.TemplateApproved {
			records = append(records, RecordOf(t))
		}
	}
	return records, nil
}
