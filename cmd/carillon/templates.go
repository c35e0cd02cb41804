package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"carillon/client"
)

type templatesCommand struct {
	List   templatesList   `cmd:"" help:"List the approved templates of a sender."`
	Show   templatesShow   `cmd:"" help:"Show a template by id or name, drafts too."`
	Create templatesCreate `cmd:"" help:"Create a template as a draft, or submit it at once."`
	Submit templatesSubmit `cmd:"" help:"Submit a draft to the channel's review."`
	Delete templatesDelete `cmd:"" help:"Delete a template."`
	Review templatesReview `cmd:"" help:"Approve or reject a template that waits for the sandbox's review."`
}

type templatesList struct {
	From string `placeholder:"NUMBER" help:"Phone number of the sender; else the demo's."`
	keyFlags
}

// record is a template as listed.
type record struct {
	ID              string          `json:"id"`
	Name            string          `json:"name"`
	Status          string          `json:"status"`
	Category        string          `json:"category"`
	Language        string          `json:"language"`
	Components      json.RawMessage `json:"components"`
	ParameterFormat string          `json:"parameter_format"`
}

// Run lists the templates.
func (t *templatesList) Run(ctx context.Context, env *environment) error {
	c, facts, err := t.connect(env)
	if err != nil {
		return err
	}
	from := orElse(t.From, facts.Sender)
	if from == "" {
		return usage("--from is required: the phone number of the sender")
	}
	var all []record
	if err := get(ctx, c, "notify/templates", url.Values{"phone_number": {from}}, &all); err != nil {
		return err
	}
	rows := [][]string{{"ID", "NAME", "LANGUAGE", "CATEGORY", "STATUS", "BODY"}}
	for _, x := range all {
		rows = append(rows, []string{x.ID, x.Name, x.Language, x.Category, x.Status, bodyText(x.Components)})
	}
	return t.show(env, all, rows)
}

func bodyText(components json.RawMessage) string {
	var all []struct{ Type, Text string }
	if json.Unmarshal(components, &all) != nil {
		return ""
	}
	for _, c := range all {
		if c.Type == "BODY" {
			return oneLine(c.Text, 60)
		}
	}
	return ""
}

// oneLine truncates a text to a column's width.
func oneLine(s string, most int) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > most {
		r = append(r[:most-1:most-1], '…')
	}
	return string(r)
}

type templatesCreate struct {
	Name     string   `placeholder:"NAME" help:"Name: a-z, 0-9 and _."`
	Lang     string   `placeholder:"LANG" help:"Language, as es_ES."`
	Category string   `placeholder:"CATEGORY" help:"MARKETING, UTILITY or AUTHENTICATION."`
	Content  string   `placeholder:"TEXT" help:"Text, with {{var}} for a variable."`
	Variable []string `placeholder:"NAME" help:"Name of a variable; may be repeated; else those of the text."`
	File     string   `placeholder:"FILE" help:"File with the whole payload in JSON instead, - for standard input."`
	From     string   `placeholder:"NUMBER" help:"Phone number of the sender; else the default one."`
	Submit   bool     `help:"Submit it to the channel's review at once."`
	Wait     bool     `help:"With --submit: wait until the channel has decided."`
	keyFlags
}

// created is the response to a creation.
type created struct {
	Success  bool   `json:"success"`
	Message  string `json:"message"`
	Template struct {
		ID     string `json:"id"`
		Name   string `json:"name"`
		Status string `json:"status"`
	} `json:"template"`
}

// Run creates the template.
func (t *templatesCreate) Run(ctx context.Context, env *environment) error {
	if t.Wait && !t.Submit {
		return usage("--wait goes with --submit")
	}
	body, err := t.body(env)
	if err != nil {
		return err
	}
	c, _, err := t.connect(env)
	if err != nil {
		return err
	}
	call := route(http.MethodPost, "notify/templates")
	if t.From != "" {
		call.Query.Set("phone_number", t.From)
	}
	var m created
	call.Body, call.Out = body, &m
	if _, err := c.Do(ctx, call); err != nil {
		return err
	}
	if t.Wait {
		if err := awaitReview(ctx, c, &m); err != nil {
			return err
		}
	}
	if err := t.done(env, m, fmt.Sprintf("template %s (%s) is %s", m.Template.Name, m.Template.ID, m.Template.Status)); err != nil {
		return err
	}
	t.suggest(env, &m)
	return nil
}

func (t *templatesCreate) body(env *environment) (map[string]any, error) {
	read := t.bodyOfFlags
	if t.File != "" {
		read = t.bodyOfFile
	}
	body, err := read(env)
	if err == nil && t.Submit {
		body["submit"] = true
	}
	return body, err
}

func (t *templatesCreate) bodyOfFile(env *environment) (map[string]any, error) {
	if t.Name != "" || t.Lang != "" || t.Category != "" || t.Content != "" || t.Variable != nil {
		return nil, usage("--file holds the whole payload: leave the other parts out")
	}
	body := map[string]any{}
	if err := readPayload(env, t.File, &body); err != nil {
		return nil, err
	}
	if body == nil {
		return nil, usage("%s holds no JSON object", t.File)
	}
	return body, nil
}

func (t *templatesCreate) bodyOfFlags(*environment) (map[string]any, error) {
	body := map[string]any{}
	for name, value := range map[string]string{"name": t.Name, "language": t.Lang, "category": t.Category, "content": t.Content} {
		if value == "" {
			return nil, usage("--name, --lang, --category and --content are required, or --file")
		}
		body[name] = value
	}
	if t.Variable != nil {
		body["variables"] = slices.Clone(t.Variable)
	}
	return body, nil
}

// maxPayload is the API's limit of a request body.
const maxPayload = 1 << 20

func readPayload(env *environment, name string, out any) error {
	in := env.Stdin
	if name != "-" {
		f, err := os.Open(name) //nolint:gosec // the user chooses the path
		if err != nil {
			return usageError{err}
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxPayload))
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if err := json.Unmarshal(text, out); err != nil {
		return usage("%s holds no JSON object: %w", name, err)
	}
	return nil
}

type templatesShow struct {
	Template string `arg:"" help:"Id or name of the template."`
	Lang     string `placeholder:"LANG" help:"Language, for a name that has several."`
	keyFlags
}

// Run shows the template.
func (t *templatesShow) Run(ctx context.Context, env *environment) error {
	c, _, err := t.connect(env)
	if err != nil {
		return err
	}
	query := url.Values{"template": {t.Template}}
	if t.Lang != "" {
		query.Set("language", t.Lang)
	}
	x, err := findTemplate(ctx, c, query)
	if err != nil {
		return err
	}
	rows := [][]string{
		{"id", x.ID},
		{"name", x.Name},
		{"language", x.Language},
		{"category", x.Category},
		{"status", x.Status},
		{"variables", x.ParameterFormat},
	}
	return t.show(env, x, append(rows, componentRows(x.Components)...))
}

// findTemplate reads one template by id or name, including drafts.
func findTemplate(ctx context.Context, c *client.Client, query url.Values) (record, error) {
	var response struct {
		Template record `json:"template"`
	}
	err := get(ctx, c, "notify/template/components", query, &response)
	return response.Template, err
}

// componentRows formats the texts and buttons of a template as rows.
func componentRows(components json.RawMessage) (rows [][]string) {
	var all []struct {
		Type, Format, Text string
		Buttons            []struct{ Type, Text, URL string }
	}
	if json.Unmarshal(components, &all) != nil {
		return nil
	}
	for _, c := range all {
		if c.Text != "" || c.Format != "" {
			rows = append(rows, []string{strings.ToLower(c.Type), orElse(c.Text, c.Format)})
		}
		for _, b := range c.Buttons {
			rows = append(rows, []string{"button", strings.TrimSpace(b.Type + " " + b.Text + " " + b.URL)})
		}
	}
	return rows
}

type templatesDelete struct {
	ID string `arg:"" help:"Id of the template."`
	keyFlags
}

// Run deletes the template.
func (t *templatesDelete) Run(ctx context.Context, env *environment) error {
	if err := t.do(ctx, env, http.MethodDelete, "notify/templates/"+url.PathEscape(t.ID), nil, nil); err != nil {
		return err
	}
	return t.done(env, map[string]any{"id": t.ID, "deleted": true}, "template "+t.ID+" deleted")
}

type templatesSubmit struct {
	ID string `arg:"" help:"Id of the template."`
	keyFlags
}

// Run submits the template.
func (t *templatesSubmit) Run(ctx context.Context, env *environment) error {
	var x record
	if err := t.do(ctx, env, http.MethodPost, "notify/templates/"+url.PathEscape(t.ID)+"/submit", nil, &x); err != nil {
		return err
	}
	return t.done(env, x, fmt.Sprintf("template %s (%s) is %s", x.Name, x.ID, strings.ToLower(x.Status)))
}

// awaitReview waits until the channel has approved or rejected a template.
func awaitReview(ctx context.Context, c *client.Client, m *created) error {
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

// suggest prints the next command: sending an approved template, or submitting a draft.
func (t *templatesCreate) suggest(env *environment, m *created) {
	switch {
	case m.Template.Status == "draft":
		env.next(t.JSON, "templates submit "+m.Template.ID+t.sameFlags())
	case m.Template.Status == "approved" && t.From != "" && t.File == "":
		var words strings.Builder
		words.WriteString("send" + option("template", t.Name) + option("lang", t.Lang) + option("from", t.From) + " --to 34600111222")
		for i := range markersOf(t.Content) {
			fmt.Fprintf(&words, " --var body_text_%d=Ana", i)
		}
		env.next(t.JSON, words.String()+t.sameFlags())
	}
}

// markersOf returns the distinct variables of a text.
func markersOf(content string) (all []string) {
	for part := range strings.SplitSeq(content, "{{") {
		name, _, closed := strings.Cut(part, "}}")
		if name = strings.TrimSpace(name); closed && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

type templatesReview struct {
	ID      string `arg:"" help:"Id of the template."`
	Approve bool   `xor:"decision" help:"Approve it."`
	Reject  bool   `xor:"decision" help:"Reject it."`
	Reason  string `placeholder:"TEXT" help:"Why it is rejected."`
	memberFlags
}

// decision is the request to the sandbox's reviewer.
type decision struct {
	Approve bool   `json:"approve"`
	Reason  string `json:"reason,omitempty"`
}

// Run approves or rejects the template.
func (t *templatesReview) Run(ctx context.Context, env *environment) error {
	if t.Approve == t.Reject {
		return usage("say --approve or --reject")
	}
	d := decision{Approve: t.Approve, Reason: t.Reason}
	if err := t.do(ctx, env, http.MethodPost, "templates/"+url.PathEscape(t.ID)+"/review", d, nil); err != nil {
		return err
	}
	word := "approved"
	if t.Reject {
		word = "rejected"
	}
	return t.done(env, d, "template "+t.ID+" is "+word)
}
