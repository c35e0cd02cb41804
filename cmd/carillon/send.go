package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"carillon/internal/base/config"
)

type sendCommand struct {
	Template string        `required:"" placeholder:"NAME" help:"Name of an approved template."`
	Lang     string        `default:"en" placeholder:"LANG" help:"Language of the template, as es_ES; default ${default}."`
	To       []typedNumber `placeholder:"NUMBER" help:"Recipient with country code, as 34600111222; may be repeated."`
	CSV      string        `placeholder:"FILE" help:"${csv_help}"`
	Column   []string      `sep:"none" placeholder:"FIELD=COLUMN" help:"Column of a field in the file, as number=Phone; may be repeated."`
	Var      []string      `sep:"none" placeholder:"KEY=VALUE" help:"${send_var_help}"`
	At       string        `placeholder:"WHEN" help:"Local time to send at, as 2030-01-31T09:00:00; else now."`
	TZ       string        `name:"tz" placeholder:"ZONE" help:"Time zone of --at, as Europe/Madrid; else UTC."`
	From     string        `placeholder:"SENDER" help:"Id or number of the sender; else the demo's."`
	Type     string        `enum:"transactional,utility,marketing" default:"utility" placeholder:"TYPE" help:"${send_type_help}"`
	Campaign string        `default:"command line" placeholder:"NAME" help:"Campaign; default \"${default}\"."`
	Event    string        `placeholder:"NAME" help:"Event that starts a conversation flow."`
	RunID    string        `placeholder:"ID" help:"${send_run_help}"`
	keyFlags
}

// maxBatch is the API's limit of recipients per request.
const maxBatch = 100

// Run sends in batches and reports failures.
func (s *sendCommand) Run(ctx context.Context, env *environment) error {
	components, err := pairs("--var", "body_text_0=Ana", s.Var)
	if err != nil {
		return err
	}
	contacts, content, err := s.contacts()
	if err != nil {
		return err
	}
	c, facts, err := s.connect(env)
	if err != nil {
		return err
	}
	request, err := s.request(components, facts)
	if err != nil {
		return err
	}
	r := &sending{
		client: c, env: env, asJSON: s.JSON, total: len(contacts), request: request, run: s.run(content, request),
		bar: progress{out: raw(env.Stderr), terminal: env.Terminal, total: len(contacts)},
	}
	if s.JSON {
		r.bar.total = 0
	}
	good := r.sift(contacts, placeholdersOf(components, request))
	for n, batch := range slices.Collect(slices.Chunk(good, maxBatch)) {
		if err := r.batch(ctx, n, batch); err != nil {
			return r.stopped(err)
		}
	}
	if err := r.summary(); err != nil {
		return err
	}
	if sent := r.outcome.Notifications; len(sent) == 1 {
		env.next(s.JSON, "notifications watch "+sent[0].ID+" --until delivered"+s.sameFlags())
	}
	return nil
}

// pairs parses the values of a flag; example shows their form in errors.
func pairs(flag, example string, given []string) (map[string]string, error) {
	all := map[string]string{}
	for _, v := range given {
		key, value, found := strings.Cut(v, "=")
		if !found || key == "" {
			return nil, usage("%s must be of the form %s", flag, example)
		}
		if _, twice := all[key]; twice {
			return nil, usage("%s gives %s twice", flag, key)
		}
		all[key] = value
	}
	return all, nil
}

// contacts returns the recipients and the text of their file, which is nil for --to.
func (s *sendCommand) contacts() ([]contact, []byte, error) {
	if (len(s.To) > 0) == (s.CSV != "") {
		return nil, nil, usage("give recipients by --to or by --csv")
	}
	if s.TZ != "" && s.At == "" {
		return nil, nil, usage("--tz goes with --at")
	}
	columns, err := pairs("--column", "number=Phone", s.Column)
	if err != nil {
		return nil, nil, err
	}
	if s.CSV != "" {
		return readCSV(s.CSV, columns)
	}
	if len(columns) > 0 {
		return nil, nil, usage("--column goes with --csv")
	}
	all := make([]contact, len(s.To))
	for i, n := range s.To {
		all[i] = contact{fields: map[string]string{"number": string(n)}}
	}
	return all, nil, nil
}

// request returns the body of a batch without its contacts.
func (s *sendCommand) request(components map[string]string, facts config.DemoFacts) (map[string]any, error) {
	from := orElse(s.From, facts.Sender)
	if from == "" {
		return nil, usage("--from is required: the id or number of the sender")
	}
	body := map[string]any{
		"name_template": s.Template, "language_template": s.Lang, "recipient_id": from,
		"notification_type": s.Type, "campaign_name": s.Campaign,
	}
	for name, value := range map[string]string{"name_event": s.Event, "datetime_sending": s.At, "timezone": s.TZ} {
		if value != "" {
			body[name] = value
		}
	}
	if len(components) > 0 {
		body["components_push"] = components
	}
	return body, nil
}

// run returns the name of the run, which makes repeats idempotent: --run-id, or a digest of the file and the request.
func (s *sendCommand) run(content []byte, request map[string]any) string {
	if s.RunID != "" {
		return s.RunID
	}
	if content == nil {
		return rand.Text()
	}
	shape, _ := json.Marshal(request) // marshaling a map of strings cannot fail
	sum := sha256.Sum256(slices.Concat(shape, []byte(strings.Join(s.Column, "\x00")), content))
	return hex.EncodeToString(sum[:])
}

// placeholdersOf returns the placeholders for which every contact needs a value.
func placeholdersOf(components map[string]string, request map[string]any) []string {
	var names []string
	for _, value := range components {
		name, ok := strings.CutPrefix(strings.TrimSpace(value), "{{")
		if !ok {
			continue
		}
		name, ok = strings.CutSuffix(name, "}}")
		name = strings.TrimSpace(name)
		_, inRoot := request[name]
		fromRoot := inRoot && slices.Contains(rootNames, name)
		if ok && !fromRoot && !strings.ContainsAny(name, "{}") && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
