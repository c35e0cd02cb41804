package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"carillon/client"
)

// tools are the tools for the public API.
type tools struct{ c *client.Client }

type recipient struct {
	Number string            `json:"number,omitempty" jsonschema:"international, digits only, such as 34600111222"`
	UserID string            `json:"user_id,omitempty" jsonschema:"the channel's id of a person whose number is not known; not for calls"`
	Name   string            `json:"name,omitempty" jsonschema:"for {{name}} in values"`
	Fields map[string]string `json:"fields,omitempty" jsonschema:"further values for placeholders, such as order for {{order}}"`
}

type sendInput struct {
	SendID   string            `json:"send_id" jsonschema:"your name for this send, such as reminder-HT-1042; reuse it to retry"`
	To       []recipient       `json:"to" jsonschema:"1 to 100 recipients of the same message"`
	Template string            `json:"template" jsonschema:"name of an approved template"`
	Language string            `json:"language" jsonschema:"of the template, such as en or es_ES"`
	Values   map[string]string `json:"values,omitempty" jsonschema:"of the template's variables, such as body_text_0"`
	Sender   string            `json:"sender" jsonschema:"id or number of the sender"`
	Type     string            `json:"type" jsonschema:"marketing, transactional or utility"`
	Campaign string            `json:"campaign" jsonschema:"groups notifications in lists, such as reminders-november"`
	At       string            `json:"at,omitempty" jsonschema:"local time in zone, such as 2030-01-15T09:30:00; default now"`
	Zone     string            `json:"zone,omitempty" jsonschema:"IANA zone of at, such as Europe/Madrid; UTC without it"`
	Fallback *fallback         `json:"fallback,omitempty" jsonschema:"has an agent call those whose message is not delivered"`
}

type fallback struct {
	After string `json:"after" jsonschema:"time since the message was sent, from 1m to 24h, such as 15m"`
	Agent string `json:"agent" jsonschema:"id of the virtual agent that talks"`
	Line  string `json:"line" jsonschema:"id or number of the voice line"`
}

type callInput struct {
	SendID   string    `json:"send_id" jsonschema:"your name for this call, such as visit-HT-1042; reuse it to retry"`
	To       recipient `json:"to" jsonschema:"who is called"`
	Agent    string    `json:"agent" jsonschema:"id of the virtual agent that talks"`
	Line     string    `json:"line" jsonschema:"id or number of the voice line"`
	Type     string    `json:"type" jsonschema:"marketing or transactional"`
	Campaign string    `json:"campaign" jsonschema:"groups calls in lists"`
	At       string    `json:"at,omitempty" jsonschema:"local time in zone, such as 2030-01-15T09:30:00; default now"`
	Zone     string    `json:"zone,omitempty" jsonschema:"IANA zone of at; UTC without it"`
}

type idInput struct {
	ID string `json:"notification_id" jsonschema:"of send_message, place_call or list_notifications"`
}

type cancelInput struct {
	ID     string `json:"notification_id" jsonschema:"of send_message, place_call or list_notifications"`
	HangUp bool   `json:"hang_up,omitempty" jsonschema:"true: end a call in progress too"`
}

type moveInput struct {
	ID   string `json:"notification_id" jsonschema:"of send_message, place_call or list_notifications"`
	At   string `json:"at" jsonschema:"the new local time, such as 2030-01-15T09:30:00"`
	Zone string `json:"zone,omitempty" jsonschema:"IANA zone of at; UTC without it"`
}

func contact(r recipient) client.Contact {
	return client.Contact{Number: r.Number, UserID: r.UserID, Name: r.Name, Fields: r.Fields}
}

// sending adds the tools that send, or that change messages not yet sent.
func (t tools) sending(s *sdk.Server, key *client.Key) {
	if key.Allows("notify:send") {
		add(s, sends, "send_message", "Send a template message",
			"Sends an approved template to 1 to 100 recipients, now or at a time. It is accepted whole or refused whole, "+
				"and counts against the day's quota of recipients. Returns the notification_id; get_notification has its status.\n\n"+
				"Retry a failed call with the same send_id: within 24 hours it sends nothing twice and returns the first response.\n\n"+
				"Keys of values: body_text_0 is {{1}} of the body, header_text the variable of the header, header_image the URL of a "+
				"picture, such as that of upload_media, button_url_0 the end of the first button's URL, or a whole https address "+
				"if the button counts clicks. Values may have placeholders such as {{name}}.\n\n"+
				"With fallback, an agent calls each recipient whose message fails or is not delivered in time; get_notification "+
				"shows both.",
			t.send)
	}
	if key.Allows("messages:write") {
		t.answering(s)
	}
	if key.Allows("voice:send") {
		add(s, sends, "place_call", "Have an agent call",
			"Has a virtual agent call a number, now or at a time. Outside the company's calling hours the call waits for them. "+
				"Returns the notification_id; get_notification has the call_id once it was dialed, and get_call what was said.\n\n"+
				"Retry a failed call with the same send_id: within 24 hours it places no second call.", t.call)
	}
	if key.Allows("notify:send", "voice:send") {
		add(s, destroys, "cancel_notification", "Cancel what was not sent",
			"Cancels the recipients of a notification to whom nothing was sent yet, and calls that wait to follow messages; with "+
				"hang_up it also ends a call in progress, "+
				"which hung_up in the response counts. Messages that were sent stay sent. A conflict says that nothing is left.", t.cancel)
		add(s, repeatable, "move_notification", "Move to another time",
			"Sends a scheduled notification at another time. A conflict says that delivery has begun.",
			func(ctx context.Context, in moveInput) (any, error) {
				at, err := t.c.Move(ctx, in.ID, in.At, in.Zone)
				return map[string]any{"notification_id": in.ID, "scheduled_time": at}, err
			})
	}
}

// sendKey returns the Idempotency-Key of a send. It is a digest, because a header cannot contain the non-ASCII
// characters that an id may have.
func sendKey(id string) (string, error) {
	if id == "" || len(id) > 200 {
		return "", errors.New("send_id must have 1 to 200 characters")
	}
	sum := sha256.Sum256([]byte("carillon mcp\x00" + id))
	return "mcp-" + hex.EncodeToString(sum[:16]), nil
}

func accepted(a *client.Accepted, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	out := map[string]any{"notification_id": a.ID, "already_accepted": a.Replayed}
	if a.ScheduledTime != nil {
		out["scheduled_time"] = a.ScheduledTime
	}
	return out, nil
}

func (t tools) send(ctx context.Context, in sendInput) (any, error) {
	key, err := sendKey(in.SendID)
	if err != nil {
		return nil, err
	}
	m := client.Message{
		Template: in.Template, Language: in.Language, Values: in.Values, Sender: in.Sender, Type: in.Type, Campaign: in.Campaign, At: in.At,
		Zone: in.Zone, IdempotencyKey: key,
	}
	if f := in.Fallback; f != nil {
		m.Fallback = &client.Fallback{Channel: client.FallbackCall, After: f.After, Line: f.Line, Agent: f.Agent}
	}
	for _, r := range in.To {
		m.Contacts = append(m.Contacts, contact(r))
	}
	return accepted(t.c.Send(ctx, m))
}

func (t tools) call(ctx context.Context, in callInput) (any, error) {
	key, err := sendKey(in.SendID)
	if err != nil {
		return nil, err
	}
	return accepted(t.c.Call(ctx, client.VoiceCall{
		Contact: contact(in.To), Agent: in.Agent, Line: in.Line, Type: in.Type, Campaign: in.Campaign, At: in.At, Zone: in.Zone,
		IdempotencyKey: key,
	}))
}

func (t tools) cancel(ctx context.Context, in cancelInput) (any, error) {
	if in.HangUp {
		return t.c.HangUp(ctx, in.ID)
	}
	return t.c.Cancel(ctx, in.ID)
}

type listInput struct {
	Campaign string `json:"campaign,omitempty" jsonschema:"of this campaign alone"`
	Type     string `json:"type,omitempty" jsonschema:"marketing, transactional or utility"`
	Channel  string `json:"channel,omitempty" jsonschema:"messaging or voice"`
	State    string `json:"state,omitempty" jsonschema:"scheduled, in_progress, completed or canceled"`
	Sender   string `json:"sender,omitempty" jsonschema:"id or number of the sender"`
	Number   string `json:"number,omitempty" jsonschema:"of a recipient, digits only"`
	UserID   string `json:"user_id,omitempty" jsonschema:"the channel's id of a recipient without a number"`
	Since    string `json:"since,omitempty" jsonschema:"accepted at this instant or later, RFC 3339"`
	Until    string `json:"until,omitempty" jsonschema:"accepted before this instant, RFC 3339"`
	Limit    int    `json:"limit,omitempty" jsonschema:"1 to 100 of the latest; 20 without it"`
}

type callID struct {
	ID string `json:"call_id" jsonschema:"of a recipient in get_notification"`
}

type eventsInput struct {
	Cursor string   `json:"cursor,omitempty" jsonschema:"next_cursor of the last call; without it, no events and the current cursor"`
	Types  []string `json:"types,omitempty" jsonschema:"such as message.failed; all without it"`
	Wait   int      `json:"wait,omitempty" jsonschema:"seconds to wait for the first event, at most 25"`
}

// reading adds the read-only tools.
func (t tools) reading(s *sdk.Server, key *client.Key) {
	if key.Allows("notify:read") {
		add(s, reads, "get_notification", "Look up a notification",
			"A notification with its timeline and each recipient's state (queued, sent, delivered, read, failed, skipped, …), "+
				"reason and times.",
			func(ctx context.Context, in idInput) (any, error) { return t.c.Notification(ctx, in.ID) })
		add(
			s, reads, "list_notifications", "List notifications",
			"Notifications, the newest first, with the number of recipients in each state.", t.list,
		)
		add(s, reads, "get_call", "Look up a call", "A call: how it ended, what was said turn by turn, and what the agent found out.",
			func(ctx context.Context, in callID) (any, error) { return t.c.CallDetails(ctx, in.ID) })
	}
	if key.Allows("events:read") {
		add(s, reads, "list_events", "What happened since",
			"Events since a cursor, the earliest first: messages delivered or failed, calls that ended, people who wrote.",
			func(ctx context.Context, in eventsInput) (any, error) {
				return t.c.Events().Pull(ctx, client.Pull{Cursor: in.Cursor, Types: in.Types, Wait: min(max(in.Wait, 0), 25)})
			})
	}
}

func (t tools) list(ctx context.Context, in listInput) (any, error) {
	f := client.Filter{Campaign: in.Campaign, Type: in.Type, Channel: in.Channel, State: in.State, Sender: in.Sender, Number: in.Number}
	f.UserID = in.UserID
	for _, x := range []struct {
		name, text string
		to         *time.Time
	}{{"since", in.Since, &f.From}, {"until", in.Until, &f.To}} {
		if x.text == "" {
			continue
		}
		at, err := time.Parse(time.RFC3339, x.text)
		if err != nil {
			return nil, fmt.Errorf("%s must look like 2030-01-15T09:30:00Z", x.name)
		}
		*x.to = at
	}
	most := in.Limit
	if most <= 0 {
		most = 20
	}
	most = min(most, 100)
	f.PageSize = most
	rows, more := []client.Summary{}, false
	for n, err := range t.c.Notifications(ctx, f) {
		if err != nil {
			return nil, err
		}
		if more = len(rows) == most; more {
			break
		}
		rows = append(rows, n)
	}
	return map[string]any{"notifications": rows, "more": more}, nil
}

type suppressInput struct {
	Number string `json:"number" jsonschema:"digits only"`
	Reason string `json:"reason,omitempty" jsonschema:"why, for people"`
}

type nothing struct{}

func (t tools) account(s *sdk.Server, key *client.Key) {
	if key.Allows("usage:read") {
		add(
			s, reads, "get_usage", "Today's quota",
			"How many recipients of the day's quota are used, when it begins again, and the limits.",
			func(ctx context.Context, _ nothing) (any, error) { return t.c.Usage(ctx) },
		)
	}
	if key.Allows("suppressions:write") {
		add(s, repeatable, "suppress_number", "Stop sending to a number",
			"Has a number get nothing any more, of any type, until somebody removes it in the panel.",
			func(ctx context.Context, in suppressInput) (any, error) {
				return t.c.Suppressions().Add(ctx, in.Number, in.Reason)
			})
	}
}
