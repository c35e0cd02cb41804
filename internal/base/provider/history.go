package provider

import (
	"encoding/json"

	"carillon"
)

// HistoryPart is a part of a callback about the use of a number in the channel's own app, as received: conversations
// from before the connection, or changes of the app's contacts.
type HistoryPart struct {
	Kind    string // the channel's name of it
	Content json.RawMessage
}

// History is the content of a HistoryPart.
type History struct {
	Phase    int  // from 0, the most recent days
	Progress int  // percent of the whole history; -1 if the channel does not say
	Refused  bool // the business does not share its history
	Messages []PastMessage
	Names    []PersonName
	Ignored  int // messages that name no person, and groups
}

// PastMessage is a message from before the connection. Echo says who wrote it.
type PastMessage struct {
	Inbound
	State carillon.State `json:"state,omitempty"` // of a message of the business; empty if unknown
	// Absent means that the message had a file that this part does not name. A later part may name it.
	Absent bool `json:"absent,omitempty"`
}

// PersonName is the name of a person in the app's contacts.
type PersonName struct {
	Number, UserID string
	Name           string
	Removed        bool // no longer among the contacts
}
