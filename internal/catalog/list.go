package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"carillon"
)

// Record is a template as lists show it; the keys stand in the contract's order.
type Record struct {
	ID              string               `json:"id"`
	Name            string               `json:"name"`
	Status          string               `json:"status"`
	Category        string               `json:"category"`
	Language        string               `json:"language"`
	Components      []carillon.Component `json:"components"`
	ParameterFormat string               `json:"parameter_format"`
}

// RecordOf is a template's record: its status in upper case, the channel's id where it has one.
func RecordOf(t *carillon.Template) Record {
	return Record{
		ID: t.PublicID(), Name: t.Name, Status: strings.ToUpper(string(t.Status)), Category: t.Category, Language: t.Language,
		Components: t.Components, ParameterFormat: t.ParameterFormat,
	}
}

// list is an encoded list and the generation of the configuration that it shows.
type list struct {
	generation uint64
	body       []byte
}

// maxLists bounds the lists kept encoded; a full cache starts over.
const maxLists = 1024

// Approved is a sender's approved templates as the bare array that endpoint 5 answers, by name and language. It is
// encoded once a generation of the configuration; nobody changes it.
func (c *Catalog) Approved(ctx context.Context, senderUID int64) ([]byte, error) {
	generation := c.store.Generation() // before the read: a list made from older templates is never kept as newer
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
