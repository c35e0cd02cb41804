package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"carillon/client"
)

type eventsCommand struct {
	Listen  eventsListen  `cmd:"" help:"Pass events on to a program on this machine as they happen, signed as a webhook's."`
	Trigger eventsTrigger `cmd:"" help:"Have an event happen through the sandbox."`
	List    eventsList    `cmd:"" help:"List the events that are kept, the earliest first."`
	Replay  eventsReplay  `cmd:"" help:"Send an event again."`
}

// event is an event in its wire format (docs/reference/webhooks.md).
type event struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Timestamp string `json:"timestamp"`
	Data      struct {
		NotificationID string `json:"notification_id"`
		Number         string `json:"number"`
		Status         string `json:"status"`
	} `json:"data"`
	text json.RawMessage // the complete JSON, as received
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *event) UnmarshalJSON(text []byte) error {
	type plain event
	if err := json.Unmarshal(text, (*plain)(e)); err != nil {
		return err
	}
	e.text = append(e.text[:0], text...)
	return nil
}

// pulledEvents is a page of GET events.
type pulledEvents struct {
	Data       []event `json:"data"`
	NextCursor string  `json:"next_cursor"`
	HasMore    bool    `json:"has_more"`
}

// pull requests the events after a cursor. A nil cursor returns the current position. pull modifies q.
func pull(ctx context.Context, c *client.Client, q url.Values, cursor *string) (*pulledEvents, error) {
	if cursor != nil {
		q.Set("cursor", *cursor)
	}
	page := &pulledEvents{}
	return page, get(ctx, c, "events", q, page)
}

type eventsList struct {
	Types  []string `placeholder:"TYPE" help:"Only events of these types, as message.failed,call.failed."`
	Most   int      `default:"100" placeholder:"N" help:"How many at most; default ${default}."`
	Cursor string   `placeholder:"CURSOR" help:"Go on where a list ended, which prints it; else from the oldest event that is kept."`
	keyFlags
}

// oldest is the cursor before the first stored event.
const oldest = "ZXZlbnRzOg"

// Run lists events.
func (l *eventsList) Run(ctx context.Context, env *environment) error {
	if l.Most < 1 {
		return usage("--most must be at least 1")
	}
	c, _, err := l.connect(env)
	if err != nil {
		return err
	}
	cursor, more, rows, texts := orElse(l.Cursor, oldest), true, [][]string{{"ID", "TYPE", "AT", "NUMBER", "STATUS"}}, []json.RawMessage{}
	for more && len(texts) < l.Most {
		q := url.Values{"limit": {strconv.Itoa(min(100, l.Most-len(texts)))}}
		if len(l.Types) > 0 {
			q.Set("types", strings.Join(l.Types, ","))
		}
		page, err := pull(ctx, c, q, &cursor)
		if err != nil {
			return err
		}
		for _, e := range page.Data {
			rows = append(rows, []string{e.ID, e.Type, e.Timestamp, orElse(e.Data.Number, "-"), orElse(e.Data.Status, "-")})
			texts = append(texts, e.text)
		}
		cursor, more = page.NextCursor, page.HasMore
	}
	if l.JSON {
		return writeJSON(env.Stdout, map[string]any{"data": texts, "next_cursor": cursor, "has_more": more})
	}
	if err := writeTable(env.Stdout, rows); err != nil || !more {
		return err
	}
	env.next(false, "events list --cursor "+quote(cursor)+option("types", strings.Join(l.Types, ","))+l.sameFlags())
	return nil
}

type eventsReplay struct {
	ID      string `arg:"" help:"Id of the event."`
	Webhook string `placeholder:"ID" help:"Webhook to send it to; else whoever pulls events gets it, such as \"events listen\"."`
	keyFlags
}

// Run sends the event again.
func (r *eventsReplay) Run(ctx context.Context, env *environment) error {
	path, body, to := "events/"+url.PathEscape(r.ID)+"/replay", map[string]any{}, "whoever pulls events"
	if r.Webhook != "" {
		path, to = "webhooks/"+url.PathEscape(r.Webhook)+"/replay", "webhook "+r.Webhook
		body["event_id"] = r.ID
	}
	var response struct {
		Replayed int64 `json:"replayed"`
	}
	if err := r.do(ctx, env, http.MethodPost, path, body, &response); err != nil {
		return err
	}
	return r.done(env, response, "event "+r.ID+" is sent again to "+to)
}

// triggers maps each event type to a sandbox number whose messages cause it (docs/guides/sandbox.md).
func triggers() map[string]string {
	const well, refused = "34600119999", "34600110001"
	return map[string]string{
		"notification.accepted": well, "message.sent": well, "message.delivered": well, "message.read": well, "message.failed": refused,
	}
}

// triggered lists the keys of triggers in display order.
const triggered = "notification.accepted, message.sent, message.delivered, message.read, message.failed"

type eventsTrigger struct {
	Type     string            `arg:"" help:"Type of the event: ${triggered}."`
	From     string            `placeholder:"SENDER" help:"${trigger_from_help}"`
	Template string            `placeholder:"NAME" help:"Approved template of that sender; else the demo's."`
	Lang     string            `default:"en" placeholder:"LANG" help:"Language of the template; default ${default}."`
	Var      map[string]string `placeholder:"KEY=VALUE" help:"${trigger_var_help}"`
	keyFlags
}

// triggerWait bounds the wait for the event.
const triggerWait = 30 * time.Second

// Run sends a message to a sandbox number that causes the event, and waits for the event.
func (x *eventsTrigger) Run(ctx context.Context, env *environment) error {
	number := triggers()[x.Type]
	if number == "" {
		return usage("cannot have %s happen; the types that can: %s. `carillon webhooks test` sends an example of any type",
			x.Type, triggered)
	}
	c, facts, err := x.connect(env)
	if err != nil {
		return err
	}
	from, template := orElse(x.From, facts.Sender), orElse(x.Template, facts.Template)
	if from == "" || template == "" {
		return usage("--from and --template are required where the program is not the demo")
	}
	body := map[string]any{
		"contact": map[string]string{"number": number, "name": "Ana"}, "name_template": template, "language_template": x.Lang,
		"recipient_id": from, "notification_type": "transactional", "campaign_name": "events trigger",
	}
	switch {
	case len(x.Var) > 0:
		body["components_push"] = x.Var
	case template == facts.Template:
		body["components_push"] = map[string]string{"body_text_0": "{{name}}"}
	}
	before, err := pull(ctx, c, url.Values{}, nil) // the first pull turns on event storage, even if no webhook is subscribed
	if err != nil {
		return err
	}
	var response struct {
		ID string `json:"notification_id"`
	}
	call := route(http.MethodPost, "notify")
	call.Body, call.Out = body, &response
	if _, err := c.Do(ctx, call); err != nil {
		return err
	}
	return x.await(ctx, env, c, before.NextCursor, response.ID)
}

// await waits for the event of a notification and prints it.
func (x *eventsTrigger) await(ctx context.Context, env *environment, c *client.Client, cursor, notificationID string) error {
	ctx, cancel := context.WithTimeout(ctx, triggerWait)
	defer cancel()
	for {
		page, err := pull(ctx, c, url.Values{"wait": {"10"}, "types": {x.Type}}, &cursor)
		if ctx.Err() != nil {
			return fmt.Errorf("notification %s was accepted, but %s has not happened within %v: is its sender one of the sandbox?",
				notificationID, x.Type, triggerWait)
		}
		if err != nil {
			return err
		}
		for _, e := range page.Data {
			if e.Data.NotificationID != notificationID {
				continue
			}
			if err := x.done(env, e.text, e.ID); err != nil {
				return err
			}
			env.next(x.JSON, "events replay "+e.ID+x.sameFlags())
			return nil
		}
		cursor = page.NextCursor
	}
}
