package client

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"time"
)

// Answer is a message to a person who wrote on the messaging channel within the last 24 hours. Type is one of text, image,
// video, audio, document, sticker, buttons, list, link, location, location_request, contacts, contact_request,
// call_permission_request, product, products, flow and reaction; it determines the other fields.
type Answer struct {
	To           *Person `json:"to,omitempty"` // or
	Conversation string  `json:"conversation_id,omitempty"`
	Sender       string  `json:"recipient_id,omitempty"` // ID or number; by default the one that the person last wrote to

	Type       string          `json:"type"`
	Text       string          `json:"text,omitempty"`
	PreviewURL bool            `json:"preview_url,omitempty"`
	Header     *AnswerHeader   `json:"header,omitempty"`
	Footer     string          `json:"footer,omitempty"`
	Media      *AnswerMedia    `json:"media,omitempty"`
	Buttons    []AnswerOption  `json:"buttons,omitempty"`
	List       *AnswerList     `json:"list,omitempty"`
	Link       *AnswerLink     `json:"link,omitempty"`
	Location   *AnswerLocation `json:"location,omitempty"`
	Contacts   []AnswerCard    `json:"contacts,omitempty"`
	Product    *AnswerProduct  `json:"product,omitempty"`
	Products   *AnswerProducts `json:"products,omitempty"`
	Flow       *AnswerFlow     `json:"flow,omitempty"`
	Reaction   *AnswerReaction `json:"reaction,omitempty"`
	ReplyTo    string          `json:"reply_to,omitempty"` // ID of the message that it answers

	// IdempotencyKey is like Message.IdempotencyKey.
	IdempotencyKey string `json:"-"`
}

// Person is the recipient of an Answer, identified by one of the two fields.
type Person struct {
	Number string `json:"number,omitempty"`
	UserID string `json:"user_id,omitempty"` // the channel's ID of a person whose number is unknown
}

// AnswerHeader is a text, or the URL of a file.
type AnswerHeader struct {
	Text     string `json:"text,omitempty"`
	Image    string `json:"image,omitempty"`
	Video    string `json:"video,omitempty"`
	Document string `json:"document,omitempty"`
}

// AnswerMedia is a file at a public https URL.
type AnswerMedia struct {
	URL      string `json:"url"`
	Caption  string `json:"caption,omitempty"`
	Filename string `json:"filename,omitempty"`
	Voice    bool   `json:"voice,omitempty"`
}

// AnswerOption is a button or a row of a list. The event of the person's choice has its ID as choice_id.
type AnswerOption struct {
	ID          string `json:"id"`
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
}

// AnswerList is a list that a button opens.
type AnswerList struct {
	Button   string          `json:"button"`
	Sections []AnswerSection `json:"sections"`
}

// AnswerSection is a part of a list.
type AnswerSection struct {
	Title string         `json:"title,omitempty"`
	Rows  []AnswerOption `json:"rows"`
}

// AnswerLink is a button that opens a URL.
type AnswerLink struct {
	Title string `json:"title"`
	URL   string `json:"url"`
}

// AnswerLocation is a geographic location.
type AnswerLocation struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
	Name      string  `json:"name,omitempty"`
	Address   string  `json:"address,omitempty"`
}

// AnswerCard is a contact card.
type AnswerCard struct {
	Name      string   `json:"name"`
	Company   string   `json:"company,omitempty"`
	Title     string   `json:"title,omitempty"`
	Birthday  string   `json:"birthday,omitempty"`
	Numbers   []string `json:"numbers,omitempty"`
	Emails    []string `json:"emails,omitempty"`
	URLs      []string `json:"urls,omitempty"`
	Addresses []string `json:"addresses,omitempty"`
}

// AnswerProduct is a product of a catalog.
type AnswerProduct struct {
	Catalog string `json:"catalog_id"`
	ID      string `json:"product_id"`
}

// AnswerProducts is a choice of products of a catalog.
type AnswerProducts struct {
	Catalog  string                 `json:"catalog_id"`
	Sections []AnswerProductSection `json:"sections"`
}

// AnswerProductSection is a part of AnswerProducts.
type AnswerProductSection struct {
	Title    string   `json:"title,omitempty"`
	Products []string `json:"product_ids"`
}

// AnswerFlow opens a flow of the channel.
type AnswerFlow struct {
	ID     string         `json:"id,omitempty"`
	Name   string         `json:"name,omitempty"`
	Button string         `json:"button"`
	Token  string         `json:"token"`
	Screen string         `json:"screen,omitempty"`
	Data   map[string]any `json:"data,omitempty"`
}

// AnswerReaction reacts to a message; an empty emoji removes the reaction.
type AnswerReaction struct {
	MessageID string `json:"message_id"`
	Emoji     string `json:"emoji"`
}

// Answered is the response to an accepted Answer.
type Answered struct {
	ID             string    `json:"id"`
	State          string    `json:"state"`
	ConversationID string    `json:"conversation_id"`
	ClosesAt       time.Time `json:"window_closes_at"`
	// Replayed reports that this is the response to an earlier request with the same key.
	Replayed bool `json:"-"`
}

// AnswerState is the state of an accepted Answer. Times that do not apply are nil.
type AnswerState struct {
	ID             string     `json:"id"`
	ConversationID string     `json:"conversation_id"`
	Type           string     `json:"type"`
	Number         string     `json:"number"`
	State          string     `json:"state"` // queued, sending, sent, delivered, read or failed
	Reason         string     `json:"reason"`
	Attempt        int        `json:"attempt"`
	CreatedAt      time.Time  `json:"created_at"`
	SentAt         *time.Time `json:"sent_at"`
	DeliveredAt    *time.Time `json:"delivered_at"`
	ReadAt         *time.Time `json:"read_at"`
	FailedAt       *time.Time `json:"failed_at"`
}

// Answers has the methods for messages without a template.
type Answers struct{ c *Client }

// AnswersOf returns the methods for messages without a template, to people who wrote within the last 24 hours.
func AnswersOf(c *Client) Answers { return Answers{c} }

// Send sends a message to a person who wrote within the last 24 hours. For others, the error is Conflict, and its details
// have window_closed_at.
func (x Answers) Send(ctx context.Context, m Answer) (*Answered, error) {
	if m.IdempotencyKey == "" {
		m.IdempotencyKey = "client-" + rand.Text()
	}
	var a Answered
	reply, err := x.c.Do(ctx, Call{
		Method: http.MethodPost, Path: Prefix + "messages", Body: m, Out: &a, As: Company, Idempotency: m.IdempotencyKey,
	})
	if err != nil {
		return nil, err
	}
	a.Replayed = reply.Replayed
	return &a, nil
}

// State reads the state of an Answer by its ID.
func (x Answers) State(ctx context.Context, id string) (*AnswerState, error) {
	return get[AnswerState](ctx, x.c, Call{Method: http.MethodGet, Path: Prefix + "messages/" + url.PathEscape(id), As: Company})
}

// MarkRead marks a person's message, and those before it, as read, by the message_id of its event. If typing is set, it
// also shows the typing indicator.
func (x Answers) MarkRead(ctx context.Context, messageID string, typing bool) error {
	_, err := x.c.Do(ctx, Call{
		Method: http.MethodPost, Path: Prefix + "messages", As: Company, Safe: true,
		Body: map[string]any{"type": "read", "message_id": messageID, "typing": typing},
	})
	return err
}
