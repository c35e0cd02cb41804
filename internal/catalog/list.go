package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"carillon"
	"carillon/internal/content"
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

// list is an encoded list and the generation of the configuration that it was made from.
type list struct {
	generation uint64
	body       []byte
}

// maxLists bounds the encoded lists that are cached; a full cache is cleared.
const maxLists = 1024

// Approved returns a sender's approved templates as a JSON array, by name and language. It is encoded once per generation of
// the configuration and must not be changed.
func (c *Catalog) Approved(ctx context.Context, senderUID int64) ([]byte, error) {
	generation := c.store.Generation() // before the read: a list made from older templates is never cached as newer
	c.mu.RLock()
	kept, ok := c.lists[senderUID]
	c.mu.RUnlock()
	if ok && kept.generation == generation {
		return kept.body, nil
	}
	templates, err := c.store.Templates(ctx, senderUID)
	if err != nil {
		return nil, err
	}
	body, err := encodeApproved(templates)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.lists) >= maxLists {
		clear(c.lists)
	}
	c.lists[senderUID] = list{generation, body}
	return body, nil
}

func encodeApproved(templates []*carillon.Template) ([]byte, error) {
	records := []Record{}
	for _, t := range templates {
		if t.Status == carillon.TemplateApproved {
			records = append(records, RecordOf(t))
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(records); err != nil {
		return nil, fmt.Errorf("encode templates: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
