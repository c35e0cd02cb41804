package flow

import (
	"encoding/json"
	"slices"
)

// Head holds the fields of a flow that lists and triggers need.
type Head struct {
	Trigger Trigger  `json:"trigger"`
	Steps   int      `json:"steps"`
	Digest  string   `json:"digest"`            // of Document
	Secrets []string `json:"secrets,omitempty"` // names, sorted

	plain []string // keywords in the form of Plain
}

// Head implements resource.Headed.
func (f *Flow) Head() any {
	h := &Head{Trigger: f.Trigger, Steps: len(f.Steps), plain: plainKeywords(&f.Trigger)}
	_, h.Digest, _ = f.Document() // cannot fail: the flow has been stored
	for _, r := range f.References() {
		if r.Kind == secretKind {
			h.Secrets = append(h.Secrets, *r.To)
		}
	}
	slices.Sort(h.Secrets)
	h.Secrets = slices.Compact(h.Secrets)
	return h
}

// UnmarshalJSON implements json.Unmarshaler.
func (h *Head) UnmarshalJSON(text []byte) error {
	type fields Head
	if err := json.Unmarshal(text, (*fields)(h)); err != nil {
		return err
	}
	h.plain = plainKeywords(&h.Trigger)
	return nil
}

func plainKeywords(t *Trigger) []string {
	all := make([]string, len(t.Keywords))
	for i, k := range t.Keywords {
		all[i] = Plain(k)
	}
	return all
}

// Keyword reports whether a message, in the form of Plain, starts the flow.
func (h *Head) Keyword(plain string) bool { return plain != "" && slices.Contains(h.plain, plain) }

// Listed is a flow without its steps.
type Listed struct {
	ID, Name string
	*Head
}

// Listed returns the flow without its steps.
func (f *Flow) Listed() Listed {
	h, _ := f.Head().(*Head)
	return Listed{f.ID, f.Name, h}
}
