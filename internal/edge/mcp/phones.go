package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/url"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"carillon/client"
)

// phones are the sandbox's phones, as the panel shows them: they display messages sent to a sandbox number, and answer
// from it.
type phones struct{ c *client.Client }

type phoneInput struct {
	Sender string `json:"sender" jsonschema:"id or number of a sender of the sandbox"`
	Number string `json:"number" jsonschema:"digits only, or @ and the username of a person who hides the number"`
}

type writeInput struct {
	Sender string `json:"sender" jsonschema:"id or number of a sender of the sandbox"`
	Number string `json:"number" jsonschema:"of the phone, digits only; or @ and the username of a person who hides the number"`
	Text   string `json:"text" jsonschema:"what the phone writes, or the text of the button that it taps"`
	Tap    bool   `json:"tap,omitempty" jsonschema:"true: it taps the button of that text"`
	About  string `json:"about,omitempty" jsonschema:"id of the message whose button is tapped, from read_sandbox_phone"`
}

// add adds the tools that the key's scopes also allow, because a user's session must not give an assistant more rights
// than its key.
func (p phones) add(s *sdk.Server, key *client.Key) {
	if key.Allows("notify:read") {
		p.reading(s)
	}
	if key.Allows("notify:send") {
		p.writing(s)
	}
}

func (p phones) reading(s *sdk.Server) {
	add(s, reads, "list_sandbox_phones", "Senders and phones of the sandbox",
		"The senders of the sandbox, which reach nobody real, and the numbers that were sent to last. What the last digits of a "+
			"number do is in carillon://docs/guides/sandbox.md.",
		func(ctx context.Context, in struct {
			Sender string `json:"sender,omitempty" jsonschema:"of which the numbers are listed"`
		},
		) (any, error) {
			return p.panel(ctx, http.MethodGet, "sandbox/phone/numbers", url.Values{"sender": {in.Sender}}, nil)
		})
	add(s, reads, "read_sandbox_phone", "What a sandbox phone shows",
		"The messages that a phone of the sandbox got, and what it wrote, the earliest first.",
		func(ctx context.Context, in phoneInput) (any, error) {
			return p.panel(ctx, http.MethodGet, "sandbox/phone", url.Values{"sender": {in.Sender}, "number": {in.Number}}, nil)
		})
}

func (p phones) writing(s *sdk.Server) {
	add(s, adds, "write_from_sandbox_phone", "Answer from a sandbox phone",
		"Writes from a phone of the sandbox, or taps a button there, as a recipient would: it may start or continue a flow.",
		func(ctx context.Context, in writeInput) (any, error) {
			body := map[string]any{"sender": in.Sender, "number": in.Number, "client_id": rand.Text(), "kind": "text", "text": in.Text}
			if in.Tap {
				body["kind"] = "choice"
			}
			if in.About != "" {
				body["reply_to"] = in.About
			}
			return p.panel(ctx, http.MethodPost, "sandbox/phone/messages", nil, body)
		})
}

func (p phones) panel(ctx context.Context, method, path string, q url.Values, body any) (any, error) {
	var out json.RawMessage
	_, err := p.c.Do(ctx, client.Call{Method: method, Path: "/panel/v1/" + path, Query: q, Body: body, As: client.User, Out: &out})
	return out, err
}
