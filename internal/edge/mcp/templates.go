package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"carillon/client"
)

type numberInput struct {
	Sender string `json:"sender_number" jsonschema:"number of the sender, digits only"`
}

type templateInput struct {
	Template string `json:"template" jsonschema:"name or id of a template of any status"`
	Language string `json:"language,omitempty" jsonschema:"such as en or es_ES; an approved one comes first without it"`
}

type draftInput struct {
	Name      string            `json:"name" jsonschema:"lower-case letters, digits and _"`
	Language  string            `json:"language" jsonschema:"such as en or es_ES"`
	Category  string            `json:"category" jsonschema:"UTILITY, MARKETING or AUTHENTICATION"`
	Header    *headerInput      `json:"header,omitempty" jsonschema:"a short text, a picture, a film or a document above the body"`
	Body      string            `json:"body" jsonschema:"at most 1024 characters, with {{name}} markers for variables"`
	Variables []string          `json:"variables,omitempty" jsonschema:"the names of the markers"`
	Samples   map[string]string `json:"samples,omitempty" jsonschema:"example of each variable of the body, for the reviewer"`
	Footer    string            `json:"footer,omitempty" jsonschema:"a line below the body, at most 60 characters, without variables"`
	Buttons   []buttonInput     `json:"buttons,omitempty" jsonschema:"at most 10: 2 URL, 1 PHONE_NUMBER; quick replies adjacent"`
	Sender    string            `json:"sender_number,omitempty" jsonschema:"number of the sender; the default one without it"`
}

type headerInput struct {
	Format string `json:"format,omitempty" jsonschema:"TEXT (default), IMAGE, VIDEO or DOCUMENT"`
	Text   string `json:"text,omitempty" jsonschema:"of a TEXT header: at most 60 characters and one marker, as in the body"`
	Sample string `json:"sample,omitempty" jsonschema:"example of the variable, or the https address of a sample file of media"`
}

type buttonInput struct {
	Type        string `json:"type" jsonschema:"URL, QUICK_REPLY or PHONE_NUMBER"`
	Text        string `json:"text" jsonschema:"at most 25 characters"`
	URL         string `json:"url,omitempty" jsonschema:"of a URL button: the address, which may end in the marker {{1}}"`
	PhoneNumber string `json:"phone_number,omitempty" jsonschema:"of a PHONE_NUMBER button: international, digits only"`
	Sample      string `json:"sample,omitempty" jsonschema:"example of the whole address of a url with a marker"`
}

type templateID struct {
	ID string `json:"id" jsonschema:"id of the template"`
}

func (t tools) templates(s *sdk.Server, key *client.Key) {
	if key.Allows("templates:read") {
		add(s, reads, "list_templates", "List approved templates",
			"The approved templates of a sender, with their texts, variables and buttons.",
			func(ctx context.Context, in numberInput) (any, error) {
				all, err := t.c.Templates().List(ctx, in.Sender)
				return map[string]any{"templates": all}, err
			})
		add(s, reads, "get_template", "Look up a template",
			"A template with its status, and why it was rejected or paused. One name may have several languages.",
			func(ctx context.Context, in templateInput) (any, error) {
				return t.c.Templates().Find(ctx, in.Template, in.Language)
			})
	}
	if key.Allows("templates:write") {
		add(s, adds, "create_template", "Draft a template",
			"Creates a draft of a template: a body, with an optional header, footer and buttons. Samples are for the channel's reviewer; "+
				"a media header needs one before it is submitted, and its file is named when the template is sent. A template can be "+
				"sent once it was submitted and the channel has approved it.", t.draft)
		add(s, adds, "submit_template", "Submit a template",
			"Submits a draft to the channel's review, which takes minutes to a day. get_template says how it stands.",
			func(ctx context.Context, in templateID) (any, error) { return t.c.Templates().Submit(ctx, in.ID) })
	}
}

// draft creates a template. Errors refer to the tool's arguments instead of the API's fields.
func (t tools) draft(ctx context.Context, in draftInput) (any, error) {
	d := client.Draft{
		Name: in.Name, Language: in.Language, Category: in.Category, Body: in.Body, Variables: in.Variables, Samples: in.Samples,
	}
	names := []string{"content", "body", "phone_number", "sender_number"} // pairs of field prefix and argument prefix
	part := func(c client.Component, member, argument string) {
		names = append(names, fmt.Sprintf("components.%d.%s", len(d.Components), member), argument)
		d.Components = append(d.Components, c)
	}
	if in.Header != nil {
		header, err := in.Header.component()
		if err != nil {
			return nil, err
		}
		part(header, "", "header.")
	}
	if in.Footer != "" {
		part(client.Component{Type: "FOOTER", Text: in.Footer}, "text", "footer")
	}
	if len(in.Buttons) > 0 {
		buttons := client.Component{Type: "BUTTONS"}
		for _, b := range in.Buttons {
			buttons.Buttons = append(buttons.Buttons, b.button())
		}
		part(buttons, "buttons", "buttons")
	}
	made, err := t.c.Templates().Create(ctx, in.Sender, d)
	return made, renameField(err, names)
}

var marker = regexp.MustCompile(`{{\s*(\w+)\s*}}`)

// component converts the header to the API's form.
func (h *headerInput) component() (c client.Component, err error) {
	c = client.Component{Type: "HEADER", Format: strings.ToUpper(cmp.Or(h.Format, "TEXT")), Text: h.Text}
	if h.Sample == "" {
		return c, nil
	}
	example := map[string]any{"header_handle": []string{h.Sample}}
	if c.Format == "TEXT" {
		found := marker.FindStringSubmatch(h.Text)
		switch {
		case found == nil:
			return c, errors.New("header.sample is an example of the variable in header.text, and that has none")
		case strings.Trim(found[1], "0123456789") == "":
			example = map[string]any{"header_text": []string{h.Sample}}
		default:
			example = map[string]any{"header_text_named_params": []any{map[string]string{"param_name": found[1], "example": h.Sample}}}
		}
	}
	c.Example, err = json.Marshal(example)
	return c, err
}

func (b buttonInput) button() client.Button {
	x := client.Button{Type: b.Type, Text: b.Text, URL: b.URL, PhoneNumber: b.PhoneNumber}
	if b.Sample != "" {
		x.Example = []string{b.Sample}
	}
	return x
}

// renameField replaces the field name in an error. names holds pairs of prefixes: the API's and its replacement.
func renameField(err error, names []string) error {
	var refused *client.Error
	if !errors.As(err, &refused) {
		return err
	}
	field := refused.Detail("field")
	for pair := range slices.Chunk(names, 2) {
		if rest, is := strings.CutPrefix(field, pair[0]); is {
			e := *refused
			e.Details = bytes.Replace(e.Details, fmt.Appendf(nil, `"field":%q`, field), fmt.Appendf(nil, `"field":%q`, pair[1]+rest), 1)
			return &e
		}
	}
	return err
}
