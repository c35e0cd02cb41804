package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"carillon/client"
)

type notificationsCommand struct {
	List   notificationsList   `cmd:"" help:"List notifications, newest first."`
	Show   notificationsShow   `cmd:"" help:"Show a notification and its recipients."`
	Move   notificationsMove   `cmd:"" help:"Change the time of a notification whose delivery has not begun."`
	Cancel notificationsCancel `cmd:"" help:"Cancel what has not been sent."`
	Watch  notificationsWatch  `cmd:"" help:"Follow a notification until it has ended for every recipient."`
}

// notification is the response of GET notify/{id} (docs/reference/sending.md).
type notification struct {
	ID         string          `json:"notification_id"`
	Channel    string          `json:"channel"`
	State      string          `json:"state"`
	Template   string          `json:"name_template,omitempty"`
	Language   string          `json:"language_template,omitempty"`
	AgentID    string          `json:"agent_id,omitempty"`
	Recipient  string          `json:"recipient_id"`
	Sender     *senderName     `json:"sender,omitempty"`
	Type       string          `json:"notification_type"`
	Campaign   string          `json:"campaign_name"`
	Event      string          `json:"name_event,omitempty"`
	CreatedAt  string          `json:"created_at"`
	Scheduled  string          `json:"scheduled_time,omitempty"`
	Counts     json.RawMessage `json:"counts"`
	Timeline   []timelineEvent `json:"timeline,omitempty"`
	Recipients []recipient     `json:"recipients,omitempty"`
	Next       string          `json:"next_cursor,omitempty"`
}

// senderName identifies the sender of a notification.
type senderName struct {
	ID     string `json:"id"`
	Number string `json:"number"`
}

// String returns the id with the number in parentheses, or only the id if they are equal.
func (s *senderName) String() string {
	if s.ID == s.Number {
		return s.ID
	}
	return s.ID + " (" + s.Number + ")"
}

// timelineEvent is one event of a notification's timeline.
type timelineEvent struct {
	At   string `json:"at"`
	Name string `json:"event"`
	Text string `json:"text"`
}

// defaultSenderNote returns the timeline's text about a default sender used for an unknown recipient_id, or "" if none
// was used.
func (n *notification) defaultSenderNote() string {
	for _, e := range n.Timeline {
		if e.Name == "default_sender" {
			return e.Text
		}
	}
	return ""
}

// recipient is one recipient of a notification.
type recipient struct {
	MessageID  string          `json:"message_id"`
	Number     string          `json:"number"`
	State      string          `json:"state"`
	Reason     string          `json:"reason,omitempty"`
	ProviderID string          `json:"provider_id,omitempty"`
	Attempts   int             `json:"attempts"`
	Times      json.RawMessage `json:"times"`
}

// counts formats {"sent":2,"failed":1} as "2 sent, 1 failed", in the order of the response.
func counts(raw json.RawMessage) string {
	var parts []string
	for _, d := range (&client.Error{Details: raw}).Each() {
		parts = append(parts, d.Text+" "+d.Name)
	}
	return strings.Join(parts, ", ")
}

type notificationsList struct {
	Campaign string      `placeholder:"NAME" help:"Only this campaign."`
	Type     string      `placeholder:"TYPE" help:"Only marketing, transactional or utility."`
	Channel  string      `placeholder:"CHANNEL" help:"Only messaging or voice."`
	State    string      `placeholder:"STATE" help:"Only scheduled, in_progress, completed or canceled."`
	Sender   string      `placeholder:"ID" help:"Only of this sender, by id or number."`
	Number   typedNumber `placeholder:"NUMBER" help:"Only with this recipient."`
	From     string      `placeholder:"WHEN" help:"Only created at or after this instant."`
	To       string      `placeholder:"WHEN" help:"Only created before this instant."`
	Limit    int         `default:"25" help:"Largest number of rows."`
	keyFlags
}

// Run lists notifications.
func (l *notificationsList) Run(ctx context.Context, env *environment) error {
	if l.Limit < 1 {
		return usage("--limit must be 1 or more")
	}
	c, _, err := l.connect(env)
	if err != nil {
		return err
	}
	q := url.Values{}
	for name, value := range map[string]string{
		"campaign": l.Campaign, "type": l.Type, "channel": l.Channel, "state": l.State, "sender": l.Sender,
		"number": string(l.Number), "from": l.From, "to": l.To,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	call := route(http.MethodGet, "notify")
	call.Query = q
	all, err := pages[notification](ctx, c, call, l.Limit)
	if err != nil {
		return err
	}
	rows := [][]string{{"ID", "CREATED", "STATE", "WHAT", "TYPE", "CAMPAIGN", "RECIPIENTS"}}
	for _, n := range all {
		rows = append(rows, []string{n.ID, localTime(n.CreatedAt), n.State, n.what(), n.Type, oneLine(n.Campaign, 30), counts(n.Counts)})
	}
	return l.show(env, all, rows)
}

func (n *notification) what() string {
	if n.Channel == "voice" {
		return "call by " + n.AgentID
	}
	return n.Template + " " + n.Language
}

// findSender reads a notification that was just accepted, to show its sender. It returns nil if the notification
// cannot be read, for example with a send-only key.
func findSender(ctx context.Context, c *client.Client, id string) *notification {
	var n notification
	if err := get(ctx, c, "notify/"+url.PathEscape(id), url.Values{"limit": {"1"}}, &n); err != nil || n.Sender == nil {
		return nil
	}
	return &n
}

// fetch reads a notification with all its recipients.
func fetch(ctx context.Context, c *client.Client, id string) (*notification, error) {
	var whole notification
	query := url.Values{"limit": {"100"}}
	for {
		var page notification
		if err := get(ctx, c, "notify/"+url.PathEscape(id), query, &page); err != nil {
			return nil, err
		}
		recipients := append(whole.Recipients, page.Recipients...)
		next := page.Next
		whole = page
		whole.Recipients, whole.Next = recipients, ""
		if next == "" || len(page.Recipients) == 0 {
			return &whole, nil
		}
		query.Set("cursor", next)
	}
}

type notificationsShow struct {
	ID string `arg:"" help:"Id of the notification."`
	keyFlags
}

// Run shows one notification.
func (s *notificationsShow) Run(ctx context.Context, env *environment) error {
	c, _, err := s.connect(env)
	if err != nil {
		return err
	}
	n, err := fetch(ctx, c, s.ID)
	if err != nil {
		return err
	}
	if s.JSON {
		return writeJSON(env.Stdout, n)
	}
	head := [][]string{
		{"notification", n.ID},
		{"state", n.State + " (" + counts(n.Counts) + ")"},
		{"what", n.what()},
		{"recipient_id", n.Recipient},
		{"type", n.Type},
		{"campaign", n.Campaign},
		{"created", localTime(n.CreatedAt)},
	}
	if n.Sender != nil {
		head = append(head, []string{"sender", n.Sender.String()})
	}
	for _, x := range [][]string{{"scheduled", localTime(n.Scheduled)}, {"event", n.Event}} {
		if x[1] != "" {
			head = append(head, x)
		}
	}
	timeline := [][]string{{"WHEN", "WHAT HAPPENED"}}
	for _, e := range n.Timeline {
		timeline = append(timeline, []string{localTime(e.At), e.Text})
	}
	rows := [][]string{{"NUMBER", "STATE", "REASON", "ATTEMPTS", "SINCE"}}
	for _, r := range n.Recipients {
		rows = append(rows, []string{r.Number, r.State, r.Reason, fmt.Sprint(r.Attempts), enteredAt(r)})
	}
	for i, table := range [][][]string{head, timeline, rows} {
		if i > 0 {
			_, _ = fmt.Fprintln(env.Stdout)
		}
		if err := writeTable(env.Stdout, table); err != nil {
			return err
		}
	}
	return nil
}

// enteredAt returns the time when a recipient entered its current state.
func enteredAt(r recipient) string {
	return localTime((&client.Error{Details: r.Times}).Detail(r.State + "_at"))
}

type notificationsMove struct {
	ID string `arg:"" help:"Id of the notification."`
	At string `required:"" placeholder:"WHEN" help:"Local time to send at, as 2030-01-31T09:00:00."`
	TZ string `name:"tz" placeholder:"ZONE" help:"Time zone of --at, as Europe/Madrid; else UTC."`
	keyFlags
}

// Run reschedules the notification.
func (m *notificationsMove) Run(ctx context.Context, env *environment) error {
	body := map[string]string{"datetime_sending": m.At}
	if m.TZ != "" {
		body["timezone"] = m.TZ
	}
	var response struct {
		ID        string `json:"notification_id"`
		Scheduled string `json:"scheduled_time"`
	}
	if err := m.do(ctx, env, http.MethodPatch, "notify/"+url.PathEscape(m.ID), body, &response); err != nil {
		return err
	}
	return m.done(env, response, "to be sent at "+response.Scheduled)
}

type notificationsCancel struct {
	ID     string `arg:"" help:"Id of the notification."`
	HangUp bool   `name:"hang-up" help:"Also end a call that is ringing or talking."`
	keyFlags
}

// Run cancels the notification.
func (x *notificationsCancel) Run(ctx context.Context, env *environment) error {
	c, _, err := x.connect(env)
	if err != nil {
		return err
	}
	var response struct {
		ID       string `json:"notification_id"`
		Canceled int    `json:"canceled"`
		Sent     int    `json:"already_sent"`
	}
	call := route(http.MethodDelete, "notify/"+url.PathEscape(x.ID))
	if call.Out = &response; x.HangUp {
		call.Query.Set("hangup", "true")
	}
	if _, err := c.Do(ctx, call); err != nil {
		return err
	}
	return x.done(env, response, fmt.Sprintf("%d canceled, %d already sent", response.Canceled, response.Sent))
}
