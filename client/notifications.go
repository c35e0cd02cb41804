package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Types of notifications.
const (
	Marketing     = "marketing"
	Transactional = "transactional"
	Utility       = "utility"
)

// Contact is a recipient. Fields are additional values for placeholders such as {{order}}.
type Contact struct {
	Number    string // international, digits only
	UserID    string // the channel's id of a person, if the number is not known; not for calls
	Name      string
	FirstName string
	LastName  string
	Email     string
	Fields    map[string]string
}

// MarshalJSON implements json.Marshaler. It writes Fields at the same level as the others.
func (c Contact) MarshalJSON() ([]byte, error) {
	all := maps.Clone(c.Fields)
	if all == nil {
		all = map[string]string{}
	}
	for name, value := range map[string]string{
		"number": c.Number, "user_id": c.UserID, "name": c.Name, "first_name": c.FirstName, "last_name": c.LastName, "email": c.Email,
	} {
		if value != "" {
			all[name] = value
		}
	}
	return json.Marshal(all)
}

// Message is a template message to send.
type Message struct {
	Contact  *Contact  `json:"contact,omitempty"`  // a single recipient; or
	Contacts []Contact `json:"contacts,omitempty"` // 1 to 100 recipients

	Template string            `json:"name_template"`
	Language string            `json:"language_template"`
	Values   map[string]string `json:"components_push,omitempty"` // of the template's variables, such as body_text_0

	Sender   string `json:"recipient_id"`      // ID or number
	Type     string `json:"notification_type"` // Marketing, Transactional or Utility
	Campaign string `json:"campaign_name"`
	Event    string `json:"name_event,omitempty"` // starts a flow when the recipient replies

	// Fallback has an agent call each recipient whose message fails or is not delivered in time. Nil: no calls.
	Fallback *Fallback `json:"fallback,omitempty"`

	// At is the sending time: a local time in Zone such as 2030-01-15T09:30:00, or RFC 3339. Empty: immediately.
	At   string `json:"datetime_sending,omitempty"`
	Zone string `json:"timezone,omitempty"` // IANA name; default UTC

	// IdempotencyKey makes a repeated request within 24 hours return the first response. If empty, a key is generated,
	// which protects only against lost responses. A program that may be restarted in between should set its own, such
	// as a booking number.
	IdempotencyKey string `json:"-"`
}

// Fallback is the call to a recipient whose message is not delivered.
type Fallback struct {
	Channel string `json:"channel"`              // FallbackCall
	After   string `json:"after"`                // since the message was sent, from 1m to 24h, such as 15m
	Line    string `json:"recipient_id"`         // ID or number of the voice line; its ID in responses
	Agent   string `json:"agent_id"`             // ID of the agent
	Event   string `json:"name_event,omitempty"` // the flow that the call follows
}

// FallbackCall is the channel of a fallback.
const FallbackCall = "call"

// VoiceCall is a call to place.
type VoiceCall struct {
	Contact  Contact `json:"contact"`
	Agent    string  `json:"agent_id"`          // ID of the agent
	Line     string  `json:"recipient_id"`      // ID or number
	Type     string  `json:"notification_type"` // Marketing or Transactional
	Campaign string  `json:"campaign_name"`
	Event    string  `json:"name_event,omitempty"`
	// Channel is phone, whatsapp, or empty for any. With whatsapp, Line may also name the WhatsApp sender.
	Channel string `json:"channel,omitempty"`

	At             string `json:"datetime_sending,omitempty"` // like Message.At
	Zone           string `json:"timezone,omitempty"`
	IdempotencyKey string `json:"-"`
}

// Accepted is the response to an accepted request.
type Accepted struct {
	ID            string     `json:"notification_id"`
	Message       string     `json:"message"`
	ScheduledTime *time.Time `json:"scheduled_time"` // nil: immediately
	// Replayed reports that this is the response to an earlier request with the same key.
	Replayed bool `json:"-"`
}

// Send sends a template message to 1 to 100 recipients, now or later. The request is accepted or refused as a whole.
func (c *Client) Send(ctx context.Context, m Message) (*Accepted, error) {
	return c.accept(ctx, "notify", m.IdempotencyKey, m)
}

// Call places a call by an agent, now or later.
func (c *Client) Call(ctx context.Context, v VoiceCall) (*Accepted, error) {
	return c.accept(ctx, "notify/voice", v.IdempotencyKey, v)
}

func (c *Client) accept(ctx context.Context, route, key string, body any) (*Accepted, error) {
	if key == "" {
		key = "client-" + rand.Text()
	}
	var a Accepted
	reply, err := c.Do(ctx, Call{Method: http.MethodPost, Path: Prefix + route, Body: body, Out: &a, As: Company, Idempotency: key})
	if err != nil {
		return nil, err
	}
	a.Replayed = reply.Replayed
	return &a, nil
}

// Summary is a notification in a list.
type Summary struct {
	ID            string         `json:"notification_id"`
	Channel       string         `json:"channel"` // messaging or voice
	State         string         `json:"state"`   // scheduled, in_progress, completed or canceled
	Template      string         `json:"name_template"`
	Language      string         `json:"language_template"`
	Agent         string         `json:"agent_id"`
	RecipientID   string         `json:"recipient_id"`
	Sender        *Sender        `json:"sender"` // nil if deleted
	Type          string         `json:"notification_type"`
	Campaign      string         `json:"campaign_name"`
	Event         string         `json:"name_event"`
	CreatedAt     time.Time      `json:"created_at"`
	ScheduledTime *time.Time     `json:"scheduled_time"`
	Counts        map[string]int `json:"counts"` // recipients by state
}

// Sender is a messaging number or voice line.
type Sender struct {
	ID     string `json:"id"`
	Number string `json:"number"`
}

// Notification is a notification with its recipients.
type Notification struct {
	Summary
	Fallback   *Fallback   `json:"fallback"` // nil if there is none
	Timeline   []Moment    `json:"timeline"`
	Recipients []Recipient `json:"recipients"`
	NextCursor string      `json:"next_cursor"`
}

// Moment is an event of a notification as a whole.
type Moment struct {
	At    time.Time `json:"at"`
	Event string    `json:"event"`
	Text  string    `json:"text"` // for people

	Until time.Time `json:"until,omitzero"`  // end of a wait, if it is known
	Ahead int       `json:"ahead,omitempty"` // messages of the sender that are sent before
}

// Recipient is the result for one recipient.
type Recipient struct {
	MessageID  string               `json:"message_id"`
	Number     string               `json:"number"`  // empty if the message goes to an id
	UserID     string               `json:"user_id"` // the channel's id of the person, for a message without a number
	State      string               `json:"state"`
	Reason     string               `json:"reason"`
	ProviderID string               `json:"provider_id"`
	Attempts   int                  `json:"attempts"`
	Times      map[string]time.Time `json:"times"`      // sent_at, delivered_at, …
	ClickedAt  *time.Time           `json:"clicked_at"` // first use of a counted link
	Clicks     *int                 `json:"clicks"`     // nil for a message without counted links
	Fallback   *FollowUp            `json:"fallback"`
	Call       *CallRecord          `json:"call"` // set for calls, and for calls that followed a message
}

// FollowUp is the fallback of a recipient. Fields that do not apply are zero.
type FollowUp struct {
	Channel   string     `json:"channel"`
	State     string     `json:"state"` // waiting, called, not_needed, skipped or canceled
	Reason    string     `json:"reason"`
	DueAt     *time.Time `json:"due_at"` // while it waits: when the call is due at the earliest
	DecidedAt *time.Time `json:"decided_at"`
	CallID    string     `json:"call_id"`
	CallState string     `json:"call_state"`
}

// Notification reads a notification with all of its recipients, of which there are at most 100.
func (c *Client) Notification(ctx context.Context, id string) (*Notification, error) {
	path := Prefix + "notify/" + url.PathEscape(id)
	n, err := get[Notification](ctx, c, Call{Method: http.MethodGet, Path: path, Query: url.Values{"limit": {"100"}}, As: Company})
	if err != nil {
		return nil, err
	}
	for cursor := n.NextCursor; cursor != ""; { // large pages are split
		more, err := get[Notification](ctx, c, Call{
			Method: http.MethodGet, Path: path, Query: url.Values{"limit": {"100"}, "cursor": {cursor}}, As: Company,
		})
		if err != nil {
			return nil, err
		}
		n.Recipients, cursor = append(n.Recipients, more.Recipients...), more.NextCursor
	}
	n.NextCursor = ""
	return n, nil
}

// Filter selects notifications. Empty fields do not filter.
type Filter struct {
	Campaign, Type, Channel, State string
	Sender, Number, UserID         string    // of the line; of a recipient
	From, To                       time.Time // accepted at or after From and before To
	PageSize                       int       // rows per request, at most 100; default 100
}

// Notifications returns the notifications that match a filter, newest first. It ends at the first error.
func (c *Client) Notifications(ctx context.Context, f Filter) iter.Seq2[Summary, error] {
	q := url.Values{}
	for name, value := range map[string]string{
		"campaign": f.Campaign, "type": f.Type, "channel": f.Channel, "state": f.State, "sender": f.Sender, "number": f.Number,
		"user_id": f.UserID,
		"from":    instant(f.From), "to": instant(f.To),
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return pages[Summary](ctx, c, "notify", q, f.PageSize)
}

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// pages returns the rows of a list, read page by page.
func pages[T any](ctx context.Context, c *Client, route string, q url.Values, size int) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		q := maps.Clone(q)
		if q == nil {
			q = url.Values{}
		}
		if size <= 0 {
			size = 100
		}
		q.Set("limit", strconv.Itoa(size))
		for {
			page, err := get[struct {
				Data       []T    `json:"data"`
				NextCursor string `json:"next_cursor"`
			}](ctx, c, Call{Method: http.MethodGet, Path: Prefix + route, Query: q, As: Company})
			if err != nil {
				yield(*new(T), err)
				return
			}
			for _, row := range page.Data {
				if !yield(row, nil) {
					return
				}
			}
			if page.NextCursor == "" {
				return
			}
			q.Set("cursor", page.NextCursor)
		}
	}
}

// Canceled is the result of a cancellation.
type Canceled struct {
	ID          string `json:"notification_id"`
	Canceled    int    `json:"canceled"`
	AlreadySent int    `json:"already_sent"`
	Fallbacks   int    `json:"fallbacks_canceled"` // calls that would have followed messages that were sent
	HungUp      int    `json:"hung_up"`            // calls that were in progress
}

// Cancel cancels the unsent messages of a notification, and the calls that would follow the others. Errors: Conflict if
// there are none.
func (c *Client) Cancel(ctx context.Context, id string) (*Canceled, error) {
	return get[Canceled](ctx, c, Call{Method: http.MethodDelete, Path: Prefix + "notify/" + url.PathEscape(id), As: Company})
}

// HangUp cancels calls, and ends those in progress.
func (c *Client) HangUp(ctx context.Context, id string) (*Canceled, error) {
	return get[Canceled](ctx, c, Call{
		Method: http.MethodDelete, Path: Prefix + "notify/" + url.PathEscape(id), Query: url.Values{"hangup": {"true"}}, As: Company,
	})
}

// Move reschedules a scheduled notification to a time in the form of Message.At. Errors: Conflict once delivery has
// begun.
func (c *Client) Move(ctx context.Context, id, at, zone string) (time.Time, error) {
	body := map[string]string{"datetime_sending": at}
	if zone != "" {
		body["timezone"] = zone
	}
	got, err := get[struct {
		At time.Time `json:"scheduled_time"`
	}](ctx, c, Call{Method: http.MethodPatch, Path: Prefix + "notify/" + url.PathEscape(id), Body: body, As: Company, Safe: true})
	if err != nil {
		return time.Time{}, err
	}
	return got.At, nil
}

// CallRecord is the result of a call. Fields that do not apply are zero.
type CallRecord struct {
	ID            string         `json:"call_id"`
	Attempts      int            `json:"attempts"`
	NextAttemptAt *time.Time     `json:"next_attempt_at"`
	RingingAt     *time.Time     `json:"ringing_at"`
	AnsweredAt    *time.Time     `json:"answered_at"`
	EndedAt       *time.Time     `json:"ended_at"`
	DurationS     int            `json:"duration_s"`
	Cause         string         `json:"cause"`
	EndedBy       string         `json:"ended_by"`
	AnsweredBy    string         `json:"answered_by"`
	Result        map[string]any `json:"result"` // results of the agent's form
	HasRecording  bool           `json:"has_recording"`
	NoRecording   string         `json:"no_recording"` // why a recorded call has none: refused or expired
	Outcomes      []CallOutcome  `json:"outcomes"`
}

// CallOutcome is the result of one attempt.
type CallOutcome struct {
	State    string    `json:"state"`
	Reason   string    `json:"reason"`
	Cause    string    `json:"cause"`
	DialedAt time.Time `json:"dialed_at"`
	EndedAt  time.Time `json:"ended_at"`
}

// CallDetails is a call with its transcript.
type CallDetails struct {
	CallRecord
	Direction      string     `json:"direction"` // outgoing or incoming
	Channel        string     `json:"channel"`   // whatsapp; empty for telephone calls
	NotificationID string     `json:"notification_id"`
	Line           string     `json:"recipient_id"`
	Number         string     `json:"number"`
	Agent          string     `json:"agent_id"`
	State          string     `json:"state"`
	Reason         string     `json:"reason"`
	Turns          []CallTurn `json:"turns"`
}

// CallTurn is one turn of a call's transcript.
type CallTurn struct {
	Seq      int64     `json:"seq"`
	Author   string    `json:"author"`
	Text     string    `json:"text"`
	At       time.Time `json:"at"`
	Digits   string    `json:"digits"`
	OffsetMS *int64    `json:"offset_ms"` // position in the recording
}

// CallDetails reads a call by its ID, as found in a recipient's Call.
func (c *Client) CallDetails(ctx context.Context, id string) (*CallDetails, error) {
	return get[CallDetails](ctx, c, Call{Method: http.MethodGet, Path: Prefix + "calls/" + url.PathEscape(id), As: Company})
}

// Recording writes the recording of a call, a WAV file. There is no time limit as long as data arrives. Errors:
// NotFound if there is no recording.
func (c *Client) Recording(ctx context.Context, id string, to io.Writer) error {
	_, err := c.Do(ctx, Call{Method: http.MethodGet, Path: Prefix + "calls/" + url.PathEscape(id) + "/recording", As: Company, Into: to})
	return err
}

// Media is a file for headers of notifications, at an address that is valid until ExpiresAt.
type Media struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Type      string    `json:"type"`
	Size      int64     `json:"size"`
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Upload stores a file for headers of notifications. There is no time limit as long as data is sent. If the request is
// repeated, the file is read again from its beginning.
func (c *Client) Upload(ctx context.Context, name string, file io.ReadSeeker) (*Media, error) {
	var before *io.PipeReader
	var read chan struct{}
	return get[Media](ctx, c, Call{Method: http.MethodPost, Path: Prefix + "media", As: Company, form: func() (io.Reader, string, error) {
		if before != nil { // a response may come before the whole file is read
			_ = before.Close()
			<-read
		}
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return nil, "", fmt.Errorf("read the file: %w", err)
		}
		out, in := io.Pipe()
		done := make(chan struct{})
		before, read = out, done
		form := multipart.NewWriter(in)
		go func() {
			defer close(done)
			part, err := form.CreateFormFile("file", name)
			if err == nil {
				_, err = io.Copy(part, file)
			}
			if err == nil {
				err = form.Close()
			}
			in.CloseWithError(err)
		}()
		return out, form.FormDataContentType(), nil
	}})
}
