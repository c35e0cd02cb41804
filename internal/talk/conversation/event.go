package conversation

import (
	"time"

	"carillon/internal/store/chats"
)

// What happens in a conversation, as turns of kind event say it (Extra.Event). Screens put it into their language.
const (
	Asked      = "handoff_requested"
	Missed     = "missed"         // nobody is there, or came in time
	Joined     = "joined"         // a teammate took it; Extra.Name is who
	Released   = "released"       // a teammate gave it back to the queue
	Returned   = "returned"       // a teammate gave it back to the agent
	Resolved   = "resolved"       // by a teammate
	Reopened   = "reopened"       // by a teammate, or since the contact wrote again
	Left       = "left"           // the contact ended it
	Abandoned  = "abandoned"      // the contact left the queue
	Introduced = "introduced"     // the contact left a name or an e-mail address
	Noted      = "noted"          // the agent found something out: Extra.Set
	Rated      = "rated"          // Extra.Rating; the text is the comment
	CalledOff  = "called_off"     // the contact does not want a teammate any more
	FlowBegan  = "flow_began"     // the text is the flow's name
	NoSuchFlow = "event_unknown"  // the contact answers a notification whose name_event no flow knows: the text is the event
	Reacted    = "reacted"        // to the message Extra.About: the text is the emoji, "" where it is taken back
	NotShown   = "not_shown"      // a message of a kind that cannot be shown: the text is the kind
	NoFile     = "file_missing"   // a file that is not there, for the reason Extra.Why: the text is its name
	Renumbered = "number_changed" // the contact has another number: the text is it
	// NumberTaken is of a number that the contact gave as their own, and that another contact has: the text is it.
	NumberTaken = "number_taken"
	Stopped     = "stopped"       // the contact wants no more messages
	Started     = "started"       // the contact wants messages again
	Templated   = "template_sent" // a teammate, Extra.Name, sent a template: the text is what the contact sees, Extra.Notification its id
	Scored      = "scored"        // the contact likes or dislikes the turn Extra.Of, as the text says
)

// What a contact does over a messaging channel that answers nothing.
const (
	Edited     = "edited"           // the message Extra.About: the text is the new one
	Deleted    = "deleted"          // the message Extra.About
	Permission = "call_permission"  // the contact was asked for calls: the text is accept or reject
	Identity   = "identity_changed" // the contact has another telephone, or has installed the channel again
)

func event(what, text string, now time.Time) chats.Turn {
	return chats.Turn{Author: chats.System, Kind: chats.KindEvent, Text: text, Extra: chats.Extra{Event: what}, At: now}
}

func eventBy(what, accountID, name string, now time.Time) chats.Turn {
	t := event(what, "", now)
	t.AccountID, t.Extra.Name = accountID, name
	return t
}
