package inbox

import (
	"context"
	"encoding/json"
	"net/http"

	"carillon/internal/account/auth"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/member"
	"carillon/internal/edge/stream"
	"carillon/internal/store/chats"
	"carillon/internal/store/events"
	"carillon/internal/talk/conversation"
)

// events streams the events of the company's conversations (stream.Serve). A caller who may answer conversations
// counts as present while the stream is open.
func (x People) events(w http.ResponseWriter, r *http.Request, by member.Member) error {
	f := &follower{people: x, r: r}
	defer f.leave()
	return stream.Serve(w, r, x.Events, stream.Topic{
		CompanyID: by.CompanyID, Session: by.AccountID, Name: events.Inbox, Allowed: f.allowed, Show: inboxEvent,
	})
}

// follower is one open stream of the inbox.
type follower struct {
	people People
	r      *http.Request
	visit  *conversation.Visit // set if the caller may answer
}

// allowed checks the caller, and records their presence.
func (f *follower) allowed(ctx context.Context) error {
	by, err := f.people.Gate.Member(f.r.WithContext(ctx), auth.MayReadConversations)
	if err != nil {
		return err
	}
	if !by.Role.Can(auth.MayAnswerConversations) {
		f.leave()
		return nil
	}
	if f.visit == nil {
		f.visit = f.people.Conversations.Attendance.Enter(by.Teammate())
	}
	return f.visit.Stay(ctx)
}

func (f *follower) leave() {
	if f.visit != nil {
		f.visit.Leave(f.r.Context())
		f.visit = nil
	}
}

// activityEvent is the data of the events typing and viewing.
type activityEvent struct {
	ConversationID string       `json:"conversation_id"`
	Author         chats.Author `json:"author"`
	Name           string       `json:"name,omitempty"`
	AccountID      string       `json:"account_id,omitempty"`
}

// deliveryOf is the data of the event delivery.
type deliveryOf struct {
	ConversationID string `json:"conversation_id"`
	delivery
}

// inboxEvent converts an event of the topic for teammates.
func inboxEvent(e *events.Event) (httpio.Event, bool) {
	if e.Kind == "delivery" {
		d := deliveryOf{ConversationID: e.Subject}
		if json.Unmarshal(e.Payload, &d.delivery) != nil {
			return httpio.Event{}, false
		}
		return stream.EventOf(e, d), true
	}
	if e.Kind == conversation.RunChanged {
		return stream.EventOf(e, e.Payload), true
	}
	if e.Kind != "typing" && e.Kind != "viewing" {
		return stream.EventOf(e, withFileURLs(e.CompanyID, e.Subject, e.Payload)), true
	}
	var what conversation.Ephemeral
	if json.Unmarshal(e.Payload, &what) != nil {
		return httpio.Event{}, false
	}
	return stream.EventOf(e, activityEvent{e.Subject, what.Author, what.Name, what.Account}), true
}
