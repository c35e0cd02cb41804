package voice

import "carillon/internal/store/chats"

// EventKind is the kind of an Event.
type EventKind string

// The kinds of events.
const (
	Transcribed EventKind = "transcribed" // Text: the words that the person said aloud; Seq: the turn
	Tentative   EventKind = "tentative"   // Text: the words understood so far
	Responding  EventKind = "responding"  // the response ID begins
	Piece       EventKind = "piece"       // Text is the next piece of the response ID
	Sounding    EventKind = "sounding"    // the sound that is written from now on is of the response ID
	Responded   EventKind = "responded"   // Text is the whole response ID, with Sources and Choices; Seq its turn
	Corrected   EventKind = "corrected"   // of the response ID only Text was heard; Original is the whole
	Interrupted EventKind = "interrupted" // the response ID is cut off: its sound that was sent already must not be played
	Score       EventKind = "score"       // Value: the probability that the person is speaking, from 0 to 1
	ToolCall    EventKind = "tool_call"   // the page must run Tool
	ToolUsed    EventKind = "tool_used"   // the agent used one of its own tools
	Moved       EventKind = "moved"       // the conversation's State and Position
	Connected   EventKind = "connected"   // the teammate Name talks from now on
	Gone        EventKind = "gone"        // the teammate has left the line
	Said        EventKind = "said"        // a turn that was typed, or said on another screen: Text, Name, Author, Seq
	Noted       EventKind = "noted"       // the agent found out Name: Text, of the type Code
	Failure     EventKind = "failure"     // Text: the message for the person; Code: machine-readable
	Ended       EventKind = "ended"       // the talk is over; Code: the reason
)

// Event is an update of the person's screen.
type Event struct {
	Kind     EventKind
	ID       int64 // of the response; it only rises
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

// Tool is something that the page does for the agent, or that the agent did.
type Tool struct {
	ID         string
	Name       string
	Parameters string // JSON object
	Failed     bool
}
