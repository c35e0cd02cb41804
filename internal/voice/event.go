package voice

import "carillon/internal/store/chats"

// EventKind is the kind of an Event.
type EventKind string

// The kinds of events.
const (
	Transcribed EventKind = "transcribed" // Text: the person's transcribed words; Seq: the turn
	Tentative   EventKind = "tentative"   // Text: the words understood so far
	Responding  EventKind = "responding"  // the response ID begins
	Piece       EventKind = "piece"       // Text is the next piece of the response ID
	Sounding    EventKind = "sounding"    // the sound written from now on belongs to the response ID
	Responded   EventKind = "responded"   // Text is the whole response ID, with Sources and Choices; Seq its turn
	Corrected   EventKind = "corrected"   // only Text of the response ID was played; Original is the whole text
	// Interrupted: the response ID is cut off; its sound that was already sent must not be played.
	Interrupted EventKind = "interrupted"
	Score       EventKind = "score"     // Value: the probability that the person is speaking, from 0 to 1
	ToolCall    EventKind = "tool_call" // the page must run Tool
	ToolUsed    EventKind = "tool_used" // the agent used one of its own tools
	Moved       EventKind = "moved"     // the conversation's State and Position
	Connected   EventKind = "connected" // the teammate Name speaks from now on
	Gone        EventKind = "gone"      // the teammate has left the line
	// Said: a turn that was typed, or created on another screen: Text, Name, Author, Seq.
	Said    EventKind = "said"
	Noted   EventKind = "noted"   // the agent recorded the result Name: Text, of the type Code
	Failure EventKind = "failure" // Text: the message for the person; Code: machine-readable
	Ended   EventKind = "ended"   // the session has ended; Code: the reason
	// TransferAsked: the person asked by Text to be connected with a number.
	TransferAsked EventKind = "transfer_asked"
)

// Event is an update of the person's screen.
type Event struct {
	Kind     EventKind
	ID       int64 // of the response; it only increases
	Seq      int64 // of the turn
	Text     string
	Original string
	Author   chats.Author
	Name     string
	Code     string
	Value    float32
	Sources  []chats.Source
	Choices  []string
	State    chats.State
	Position int
	Tool     *Tool
}

// Tool is an action of the page for the agent, or an action of the agent.
type Tool struct {
	ID         string
	Name       string
	Parameters string // JSON object
	Failed     bool
}
