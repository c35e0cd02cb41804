package conversation

import (
	"encoding/json"
	"time"

	"carillon/internal/store/chats"
	"carillon/internal/store/events"
)

// Screens publishes events that are not stored: typing, viewing, and the pieces of a reply.
type Screens struct {
	publisher Publisher
	clock     func() time.Time
}

// Ephemeral is the payload of events of a conversation's topic that are not stored.
type Ephemeral struct {
	Author  chats.Author `json:"author"`
	Name    string       `json:"name,omitempty"`
	Account string       `json:"account_id,omitempty"`
	Text    string       `json:"text,omitempty"`  // delta: the next piece of the agent's reply
	After   int64        `json:"after,omitempty"` // delta: seq of the last turn before the reply
}

// Typing publishes that somebody is typing. accountID is the teammate's.
func (s *Screens) Typing(companyID, id string, by chats.Author, name, accountID string) {
	s.publish(companyID, chats.Topic(id), "typing", id, Ephemeral{Author: by, Name: name, Account: accountID})
	s.publish(companyID, chats.InboxTopic, "typing", id, Ephemeral{Author: by, Name: name, Account: accountID})
}

// Viewing publishes to teammates that one of them has the conversation open.
func (s *Screens) Viewing(by By, id string) {
	s.publish(by.CompanyID, chats.InboxTopic, "viewing", id, Ephemeral{Author: chats.Teammate, Name: by.Name, Account: by.AccountID})
}

// RunChanged is the kind of the event for a changed run of a flow.
const RunChanged = "flow_run"

// RunMark is the payload of RunChanged.
type RunMark struct {
	RunID          string `json:"run_id"`
	FlowID         string `json:"flow_id"`
	ConversationID string `json:"conversation_id"`
	State          string `json:"state"`
}

func (s *core) ran(x *chats.Run) {
	text, _ := json.Marshal(RunMark{x.ID, x.FlowID, x.ConversationID, x.State}) // texts cannot fail
	s.o.Publisher.Publish(&events.Event{
		CompanyID: x.CompanyID, Topic: chats.InboxTopic, Kind: RunChanged, Subject: x.ConversationID, Payload: text, At: s.now(),
	})
}

func (s *Screens) delta(c *chats.Conversation, text string) {
	s.publish(c.CompanyID, chats.Topic(c.ID), "delta", c.ID, Ephemeral{Author: chats.Agent, Text: text, After: c.LastSeq})
}

func (s *Screens) publish(companyID, topic, kind, subject string, what Ephemeral) {
	text, _ := json.Marshal(what) // texts cannot fail
	s.publisher.Publish(&events.Event{CompanyID: companyID, Topic: topic, Kind: kind, Subject: subject, Payload: text, At: s.clock()})
}
