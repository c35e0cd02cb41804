package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"carillon/internal/agent"
)

// consultation is a request for one response in JSON, outside of conversations.
type consultation struct {
	rules       string // what the server is to do
	data        any    // what it judges, sent as JSON
	maxResponse int    // bytes; 0 means maxAnswer
	format      *format
}

// consult sends a consultation to the server of the agent in r and returns the response.
func (t *Thinker) consult(ctx context.Context, r *agent.Request, c consultation) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, t.o.Whole)
	defer cancel()
	data, err := json.Marshal(c.data)
	if err != nil {
		return "", err
	}
	e := &exchange{
		Thinker: t, request: r, emit: func(agent.Action) error { return nil }, maxSaid: c.maxResponse, format: c.format,
		messages: []message{{Role: "system", Content: c.rules}, {Role: "user", Content: string(data)}},
	}
	turn, err := e.ask(ctx, nil)
	return turn.Content, err
}

// unfenced returns a response without a code block around it, into which many models put JSON.
func unfenced(text string) string {
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "```"); ok {
		inner = strings.TrimPrefix(inner, "json")
		text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(inner), "```"))
	}
	return text
}

// strictly decodes a response with exactly the fields of into. If the fields differ, its error is fault.
func strictly(text string, into any, fault error) error {
	d := json.NewDecoder(strings.NewReader(unfenced(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fault
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: more follows", fault)
	}
	return nil
}
