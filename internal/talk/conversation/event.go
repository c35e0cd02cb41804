package conversation

import (
	"time"

	"carillon/internal/store/chats"
)

// Events of a conversation: the values of Extra.Event in turns of kind event. Screens translate them.
const (
	Asked      = "handoff_requested"
	Missed     = "missed"      // no teammate was present, or none came in time
	Joined     = "joined"      // a teammate took it; Extra.Name is their name
	Released   = "released"    // a teammate gave it back to the queue
	Returned   = "returned"    // a teammate gave it back to the agent
	Resolved   = "resolved"    // by a teammate
	Reopened   = "reopened"    // by a teammate, or because the contact wrote again
	Left       = "left"        // the contact ended it
	Abandoned  = "abandoned"   // the contact left the queue
	Introduced = "introduced"  // the contact left a name or an e-mail address
	Noted      = "noted"       // the agent recorded results: Extra.Set
	ToolCalled = "tool_called" // the agent called tools: Extra.Tools; a note for teammates
	Rated      = "rated"       // Extra.Rating; the text is the comment
	CalledOff  = "called_off"  // the contact no longer wants a teammate
	FlowBegan  = "flow_began"  // the text is the flow's name
	// NoSuchFlow: the contact replied to a notification whose name_event starts no flow; the text is the event.
	NoSuchFlow = "event_unknown"
	Reacted    = "reacted"        // to the message Extra.About; the text is the emoji, empty if withdrawn
	NotShown   = "not_shown"      // a message of a kind that cannot be shown; the text is the kind
	NoFile     = "file_missing"   // a file is missing, for the reason Extra.Why; the text is its name
	Renumbered = "number_changed" // the contact has a new number, which is the text
	// NumberTaken: the contact gave a number as their own that belongs to another contact; the text is the number.
	NumberTaken = "number_taken"
	Stopped     = "stopped" // the contact wants no more messages
	Started     = "started" // the contact wants messages again
	// Templated: a teammate, Extra.Name, sent a template; the text is the message as the contact sees it,
	// Extra.Notification its ID.
	Templated = "template_sent"
	Scored    = "scored" // the contact likes or dislikes the turn Extra.Of; the text says which
)

// Actions of a contact on a messaging channel that need no answer.
const (
	Edited     = "edited"           // the message Extra.About was edited; the text is the new version
	Deleted    = "deleted"          // the message Extra.About was deleted
	Permission = "call_permission"  // the contact answered a request to allow calls; the text is accept or reject
	Identity   = "identity_changed" // the contact has a new telephone or reinstalled the channel's app
)

func event(what, text string, now time.Time) chats.Turn {
	return chats.Turn{Author: chats.System, Kind: chats.KindEvent, Text: text, Extra: chats.Extra{Event: what}, At: now}
}

func eventBy(what, accountID, name string, now time.Time) chats.Turn {
	t := event(what, "", now)
	t.AccountID, t.Extra.Name = accountID, name
	return t
}
