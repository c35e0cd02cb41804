package chats

import (
	"context"
	"time"

	"carillon/internal/base/provider"
	"carillon/internal/store/db"
	"carillon/internal/store/events"
)

// outward is the data of a conversation's events for the company's own programs. Version 1; fields are only added.
type outward struct {
	Version        int     `json:"v"`
	ConversationID string  `json:"conversation_id"`
	Channel        string  `json:"channel"`
	State          State   `json:"state"`
	Previous       State   `json:"previous_state,omitempty"`
	WidgetID       string  `json:"widget_id,omitempty"`
	AgentID        string  `json:"agent_id,omitempty"`
	Contact        *person `json:"contact,omitempty"`

	// For message.received.
	Turn      int64  `json:"turn,omitempty"`
	MessageID string `json:"message_id,omitempty"` // over WhatsApp
	ReplyTo   string `json:"reply_to,omitempty"`   // over WhatsApp: the message that it answers
	ChoiceID  string `json:"choice_id,omitempty"`  // over WhatsApp: of an application's button or row
	Name      string `json:"name,omitempty"`       // of the author, in a group
	Kind      string `json:"kind,omitempty"`
	Text      string `json:"text,omitempty"`
	File      *File  `json:"file,omitempty"`
	provider.Enclosed

	// For conversation.reviewed.
	Review *ReviewView `json:"review,omitempty"`
	CallID string      `json:"call_id,omitempty"` // of a telephone call

	// For feedback.received.
	Rating  int    `json:"rating,omitempty"`
	Comment string `json:"comment,omitempty"`
}

type person struct {
	ID       string `json:"id"`
	Name     string `json:"name,omitempty"`
	Number   string `json:"number,omitempty"`
	Email    string `json:"email,omitempty"`
	UserID   string `json:"user_id,omitempty"`
	Username string `json:"username,omitempty"`
}

// recordOutward records the events of a change for subscribers, if the company has any; before is nil for a new
// conversation. Turns said aloud have no events: their transcript comes with the call or the conversation.
func (s *Store) recordOutward(ctx context.Context, tx *db.Tx, before, c *Conversation, turns []Turn, review *Review) error {
	if !s.followed(ctx, c.CompanyID, events.Conversations) {
		return nil
	}
	base := outward{Version: 1, ConversationID: c.ID, Channel: c.Channel, State: c.State, WidgetID: c.WidgetID, AgentID: c.AgentID}
	var all []happened
	add := func(kind string, o outward, at time.Time) { all = append(all, happened{kind, o, at}) }
	if before == nil {
		add("conversation.started", base, c.OpenedAt)
	}
	for i := range turns {
		t := &turns[i]
		if t.Author != Visitor || t.Kind == KindEvent || c.Channel != "whatsapp" && c.Channel != "web_chat" {
			continue
		}
		o := base
		o.Turn, o.Name, o.Kind, o.Text, o.File, o.Enclosed = t.Seq, t.Extra.Name, t.Kind, t.Text, t.Extra.File, t.Extra.Enclosed
		if c.Channel == "whatsapp" {
			o.MessageID, o.ChoiceID = MessageID(c.ID, t.Seq), t.Extra.ChoiceID
			if t.Extra.Of > 0 {
				o.ReplyTo = MessageID(c.ID, t.Extra.Of)
			}
		}
		add("message.received", o, t.At)
	}
	if before != nil {
		o := base
		if before.State != c.State {
			o.Previous = before.State
			switch c.State {
			case Queued:
				add("conversation.handoff", o, c.StateAt)
			case Resolved:
				add("conversation.resolved", o, c.StateAt)
			case Automated, Active, WrapUp, Missed, Abandoned:
			}
		}
		if before.Rating != c.Rating || before.Comment != c.Comment {
			o = base
			o.Rating, o.Comment = c.Rating, c.Comment
			add("feedback.received", o, lastAt(turns))
		}
	}
	if review != nil {
		o := base
		o.Review = review.View()
		add("conversation.reviewed", o, review.At)
	}
	if len(all) == 0 {
		return nil
	}
	who := person{ID: c.ContactID}
	if err := tx.Row(ctx, []any{&who.Name, &who.Number, &who.Email, &who.UserID, &who.Username},
		"SELECT name, number, email, user_id, username FROM contact WHERE id = $1 AND company_id = $2", c.ContactID,
		c.CompanyID); err != nil {
		return db.Wrap(db.Ignore(err), "read contact")
	}
	if review != nil && c.Channel == "phone" {
		id, err := callOf(ctx, tx, c)
		if err != nil {
			return err
		}
		all[len(all)-1].what.CallID = id
	}
	for _, x := range all {
		x.what.Contact = &who
		events.Record(tx, &events.Event{
			CompanyID: c.CompanyID, Topic: events.Conversations, Kind: x.kind, Subject: c.ID, At: x.at, Payload: jsonOf(x.what),
		})
	}
	return nil
}

// happened is an event before it is recorded.
type happened struct {
	kind string
	what outward
	at   time.Time
}

// lastAt returns the time of the last of some turns.
func lastAt(turns []Turn) time.Time {
	if len(turns) == 0 {
		return time.Now()
	}
	return turns[len(turns)-1].At
}
