package chats

import (
	"encoding/json"
	"strings"
	"time"

	"carillon"
	"carillon/internal/store/events"
)

// TurnView is a turn in JSON. Note and AccountID are for teammates only.
type TurnView struct {
	Seq       int64  `json:"seq"`
	Author    Author `json:"author"`
	Kind      string `json:"kind" enum:"text,choices,choice,file,event"`
	Text      string `json:"text"`
	At        string `json:"at"`
	ClientID  string `json:"client_id,omitempty"`
	Note      bool   `json:"note,omitempty"`
	AccountID string `json:"account_id,omitempty"`
	Extra
}

// View returns the turn in JSON's form.
func (t *Turn) View() TurnView {
	return TurnView{
		t.Seq, t.Author, t.Kind, t.Text, carillon.FormatTime(t.At), strings.TrimPrefix(t.ClientID, string(t.Author)+":"), t.Note,
		t.AccountID, t.Extra,
	}
}

// Views returns turns in JSON's form.
func Views(turns []Turn) []TurnView {
	views := make([]TurnView, len(turns))
	for i := range turns {
		views[i] = turns[i].View()
	}
	return views
}

// Summary is a conversation in a teammate's list.
type Summary struct {
	ID         string   `json:"id"`
	Channel    string   `json:"channel"`
	WidgetID   string   `json:"widget_id,omitempty"`
	AgentID    string   `json:"agent_id,omitempty"`
	ContactID  string   `json:"contact_id"`
	State      State    `json:"state"`
	StateAt    string   `json:"state_at"`
	Assignee   string   `json:"assignee,omitempty"`
	Language   string   `json:"language,omitempty"`
	Page       string   `json:"page,omitempty"`
	Tags       []string `json:"tags"`
	LastSeq    int64    `json:"last_seq"`
	LastAt     string   `json:"last_at"`
	LastAuthor Author   `json:"last_author,omitempty"`
	LastText   string   `json:"last_text"`
	Question   string   `json:"question,omitempty"` // the contact's newest message that is neither small talk nor a request for a teammate
	VisitorSeq int64    `json:"visitor_seq"`
	CompanySeq int64    `json:"company_seq"`
	SeenSeq    int64    `json:"seen_seq"`
	AskedAt    string   `json:"asked_at,omitempty"`   // time of the contact's first unanswered turn
	WaitingAt  string   `json:"waiting_at,omitempty"` // when the contact began to wait for a teammate
	Unanswered string   `json:"unanswered,omitempty"` // the last question that the agent left open
	Unread     bool     `json:"unread"`
	Rating     int      `json:"rating,omitempty"`
	Comment    string   `json:"comment,omitempty"`
	OpenedAt   string   `json:"opened_at"`
	ResolvedAt string   `json:"resolved_at,omitempty"`
}

// Summarize returns the summary of a conversation.
func Summarize(c *Conversation) Summary {
	return Summary{
		ID: c.ID, Channel: c.Channel, WidgetID: c.WidgetID, AgentID: c.AgentID, ContactID: c.ContactID, State: c.State,
		StateAt:  formatTime(c.StateAt),
		Assignee: c.Assignee, Language: c.Language, Page: c.Page, Tags: append([]string{}, c.Tags...), LastSeq: c.LastSeq,
		LastAt:     formatTime(c.LastAt),
		LastAuthor: c.LastAuthor, LastText: c.LastText, Question: c.Question,
		VisitorSeq: c.VisitorSeq, CompanySeq: c.CompanySeq, SeenSeq: c.SeenSeq,
		Unread:  c.Unread(),
		AskedAt: formatTime(c.AskedAt), WaitingAt: formatTime(c.WaitingAt), Unanswered: c.Unanswered,
		Rating: c.Rating, Comment: c.Comment, OpenedAt: formatTime(c.OpenedAt), ResolvedAt: formatTime(c.ResolvedAt),
	}
}

// ContactView is a contact in a teammate's view.
type ContactView struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Email     string `json:"email"`
	Number    string `json:"number"`
	UserID    string `json:"user_id,omitempty"`
	Username  string `json:"username,omitempty"`
	Language  string `json:"language"`
	Verified  bool   `json:"verified"`
	VisitorID string `json:"visitor_id"`
	CreatedAt string `json:"created_at"`
	SeenAt    string `json:"seen_at"`
}

// View returns the contact in JSON's form.
func (c *Contact) View() ContactView {
	return ContactView{
		c.ID, c.Name, c.Email, c.Number, c.UserID, c.Username, c.Language, c.Verified, c.VisitorID, formatTime(c.CreatedAt),
		formatTime(c.SeenAt),
	}
}

func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return carillon.FormatTime(t)
}

// Update is the payload of the inbox event conversation.updated: the current conversation, and the appended turns.
// Version 1; fields are only added.
type Update struct {
	Version      int        `json:"v"`
	Conversation Summary    `json:"conversation"`
	Turns        []TurnView `json:"turns"`
	// Review is set after a new review.
	Review *ReviewView `json:"review,omitempty"`
}

// turnEvent returns the event of a turn, which is stored in the table of turns.
func turnEvent(companyID, conversationID string, t *Turn) *events.Event {
	return &events.Event{
		CompanyID: companyID, Topic: Topic(conversationID), Seq: t.Seq, Kind: "turn", Subject: conversationID, At: t.At,
		Payload: jsonOf(t.View()), Own: true,
	}
}

func eventsOf(companyID, conversationID string, turns []Turn) []events.Event {
	all := make([]events.Event, len(turns))
	for i := range turns {
		all[i] = *turnEvent(companyID, conversationID, &turns[i])
	}
	return all
}

// jsonOf marshals values of texts and numbers, which cannot fail.
func jsonOf(v any) json.RawMessage {
	text, _ := json.Marshal(v) // it cannot fail
	return text
}
