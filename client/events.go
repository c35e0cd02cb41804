package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Events has the methods for programs that pull events instead of receiving webhooks.
type Events struct{ c *Client }

// Events returns the methods for programs that pull events instead of receiving webhooks.
func (c *Client) Events() Events { return Events{c} }

// Event is an event in the form of webhooks and pulls.
type Event struct {
	ID        string    `json:"id"` // the same for each delivery
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Version   int       `json:"version"`
	// orders the events of one message, call, template or conversation
	Sequence int64           `json:"sequence"`
	Test     bool            `json:"test"` // a test event that did not really happen
	Data     json.RawMessage `json:"data"`
}

// EventData holds the fields that most events have. Fields that an event's type does not have are empty.
type EventData struct {
	NotificationID string `json:"notification_id"`
	MessageID      string `json:"message_id"`
	CallID         string `json:"call_id"`
	ConversationID string `json:"conversation_id"`
	TemplateID     string `json:"template_id"`
	Number         string `json:"number"`
	UserID         string `json:"user_id"` // the channel's id of the recipient, for a message without a number
	Campaign       string `json:"campaign"`
	SenderID       string `json:"sender_id"`
	Status         string `json:"status"`
	PreviousStatus string `json:"previous_status"`
	Reason         string `json:"reason"`
	Attempt        int    `json:"attempt"`
	ReplyTo        string `json:"reply_to"`  // of message.received: the message that it answers
	ChoiceID       string `json:"choice_id"` // of message.received: the chosen AnswerOption
}

// Common decodes the fields that most events have.
func (e *Event) Common() (d EventData, err error) {
	return d, json.Unmarshal(e.Data, &d)
}

// Pull selects the events to pull.
type Pull struct {
	Cursor string   // starting point; empty means from now on
	Types  []string // empty: all
	Wait   int      // seconds that one request waits for the first event, at most 25
}

// EventPage holds events, the earliest first, and the cursor for the next ones.
type EventPage struct {
	Events     []Event `json:"data"`
	NextCursor string  `json:"next_cursor"`
	HasMore    bool    `json:"has_more"`
}

// Pull reads events once. Without a cursor it returns no events, and NextCursor is the present position.
func (x Events) Pull(ctx context.Context, p Pull) (*EventPage, error) {
	q := url.Values{"limit": {"100"}}
	if p.Cursor != "" {
		q.Set("cursor", p.Cursor)
	}
	if len(p.Types) > 0 {
		q.Set("types", strings.Join(p.Types, ","))
	}
	if p.Wait > 0 {
		q.Set("wait", strconv.Itoa(p.Wait))
	}
	return get[EventPage](ctx, x.c, Call{Method: http.MethodGet, Path: Prefix + "events", Query: q, As: Company})
}

// Pulled is an event with the cursor after it. A program that stores Cursor after handling each event misses none
// after a restart; it may get some of the last page again.
type Pulled struct {
	Event
	Cursor string
}

// Follow returns events from a cursor on, without end: it waits for new ones. It ends with an error, which comes with
// the cursor to continue from, or when ctx ends. Without a cursor it begins now; a program that stores cursors should
// get its first one from Pull.
func (x Events) Follow(ctx context.Context, p Pull) iter.Seq2[Pulled, error] {
	return func(yield func(Pulled, error) bool) {
		if p.Wait == 0 {
			p.Wait = 25
		}
		for {
			page, err := x.Pull(ctx, p)
			if err != nil {
				if ctx.Err() == nil {
					yield(Pulled{Cursor: p.Cursor}, err)
				}
				return
			}
			for i, e := range page.Events {
				if i == len(page.Events)-1 {
					p.Cursor = page.NextCursor
				}
				if !yield(Pulled{e, p.Cursor}, nil) {
					return
				}
			}
			p.Cursor = page.NextCursor
		}
	}
}

// Webhooks has the methods for webhooks.
type Webhooks struct{ c *Client }

// Webhooks returns the methods for webhooks.
func (c *Client) Webhooks() Webhooks { return Webhooks{c} }

// Delivery is a request to a webhook, and its response.
type Delivery struct {
	ID         string    `json:"id"`
	WebhookID  string    `json:"webhook_id"`
	EventID    string    `json:"event_id"`
	Type       string    `json:"type"`
	Subject    string    `json:"subject"`
	Attempt    int       `json:"attempt"`
	At         time.Time `json:"at"`
	DurationMS int       `json:"duration_ms"`
	Succeeded  bool      `json:"succeeded"`
	Status     int       `json:"status"` // 0 if there was no response
	Error      string    `json:"error"`
	Request    string    `json:"request"`
	Response   string    `json:"response"`
}

// Webhook is an endpoint that receives events.
type Webhook struct {
	ID                  string          `json:"id,omitempty"`
	URL                 string          `json:"url"`
	Events              []string        `json:"events,omitempty"` // types; empty means all
	Campaigns           []string        `json:"campaigns,omitempty"`
	Senders             []string        `json:"senders,omitempty"`
	Ordered             bool            `json:"ordered,omitempty"`
	Paused              bool            `json:"paused,omitempty"`
	Headers             []WebhookHeader `json:"headers,omitempty"`
	Secret              string          `json:"secret,omitempty"` // only returned on creation and rotation
	PreviousSecretUntil *time.Time      `json:"previous_secret_until,omitempty"`
}

// WebhookHeader is a header of the requests to a webhook. Its value is not returned again.
type WebhookHeader struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
}

// WebhookStatus is the delivery status of a webhook.
type WebhookStatus struct {
	State         string     `json:"state"`  // active, paused, failing, down or disabled
	Reason        string     `json:"reason"` // reason if disabled: gone or failing
	Failures      int        `json:"failures"`
	FailingSince  *time.Time `json:"failing_since"`
	NextAttemptAt *time.Time `json:"next_attempt_at"`
	DisabledAt    *time.Time `json:"disabled_at"`
	SucceededAt   *time.Time `json:"succeeded_at"`
	Waiting       int        `json:"waiting"`
	Failed        int        `json:"failed"`
	Behind        int        `json:"behind"`
	OldestAt      *time.Time `json:"oldest_at"` // time of the oldest event that it still gets
}

// List returns the company's webhooks.
func (x Webhooks) List(ctx context.Context) iter.Seq2[Webhook, error] {
	return pages[Webhook](ctx, x.c, "webhooks", nil, 0)
}

// Add adds a webhook. Only this response contains its secret.
func (x Webhooks) Add(ctx context.Context, w Webhook) (*Webhook, error) {
	return get[Webhook](ctx, x.c, Call{Method: http.MethodPost, Path: Prefix + "webhooks", Body: w, As: Company})
}

// Get reads a webhook, without its secrets.
func (x Webhooks) Get(ctx context.Context, id string) (*Webhook, error) {
	return get[Webhook](ctx, x.c, Call{Method: http.MethodGet, Path: webhookPath(id), As: Company})
}

// Replace replaces a webhook. An omitted secret remains unchanged.
func (x Webhooks) Replace(ctx context.Context, id string, w Webhook) (*Webhook, error) {
	w.ID = ""
	return get[Webhook](ctx, x.c, Call{Method: http.MethodPut, Path: webhookPath(id), Body: w, As: Company, Safe: true})
}

// Delete deletes a webhook.
func (x Webhooks) Delete(ctx context.Context, id string) error {
	_, err := x.c.Do(ctx, Call{Method: http.MethodDelete, Path: webhookPath(id), As: Company})
	return err
}

// Status reads the delivery status of a webhook.
func (x Webhooks) Status(ctx context.Context, id string) (*WebhookStatus, error) {
	return get[WebhookStatus](ctx, x.c, Call{Method: http.MethodGet, Path: webhookPath(id) + "/status", As: Company})
}

// Deliveries returns the deliveries to a webhook, latest first.
func (x Webhooks) Deliveries(ctx context.Context, id string, onlyFailed bool) iter.Seq2[Delivery, error] {
	q := url.Values{}
	if onlyFailed {
		q.Set("succeeded", "false")
	}
	return pages[Delivery](ctx, x.c, "webhooks/"+url.PathEscape(id)+"/deliveries", q, 0)
}

// Test sends a test event to a webhook and returns the delivery.
func (x Webhooks) Test(ctx context.Context, id, eventType string) (*Delivery, error) {
	return get[Delivery](ctx, x.c, Call{
		Method: http.MethodPost, Path: webhookPath(id) + "/test", Body: map[string]string{"type": eventType}, As: Company,
	})
}

// RotateSecret replaces the secret that signs a webhook's events and returns the new one. The previous secret also
// signs for keepHours.
func (x Webhooks) RotateSecret(ctx context.Context, id string, keepHours int) (*Webhook, error) {
	return get[Webhook](ctx, x.c, Call{
		Method: http.MethodPost, Path: webhookPath(id) + "/rotate", Body: map[string]int{"keep_hours": keepHours}, As: Company,
	})
}

// Enable resumes deliveries to a webhook that fails or was disabled.
func (x Webhooks) Enable(ctx context.Context, id string, skipWaiting bool) (*WebhookStatus, error) {
	return get[WebhookStatus](ctx, x.c, Call{
		Method: http.MethodPost, Path: webhookPath(id) + "/enable", Body: map[string]bool{"skip_waiting": skipWaiting}, As: Company,
		Safe: true,
	})
}

// Replay selects the events to send again: a single one, failed ones, or those of a time range.
type Replay struct {
	EventID string     `json:"event_id,omitempty"`
	Failed  bool       `json:"failed,omitempty"`
	From    *time.Time `json:"from,omitempty"`
	To      *time.Time `json:"to,omitempty"`
	Types   []string   `json:"types,omitempty"`
}

// Replayed reports how many events are sent again.
type Replayed struct {
	Replayed int  `json:"replayed"`
	More     bool `json:"more"` // more than one call accepts
}

// Replay sends events to a webhook again, with their original IDs.
func (x Webhooks) Replay(ctx context.Context, id string, r Replay) (*Replayed, error) {
	return get[Replayed](ctx, x.c, Call{Method: http.MethodPost, Path: webhookPath(id) + "/replay", Body: r, As: Company})
}

func webhookPath(id string) string { return Prefix + "webhooks/" + url.PathEscape(id) }
