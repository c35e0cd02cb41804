package convai

import (
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"carillon/internal/voice"
)

const (
	// maxMessage limits a client's message, in bytes; maxSound limits one with sound.
	maxMessage = 64 << 10
	maxSound   = 1 << 20
	// maxText limits typed texts and remarks, in characters.
	maxText = 4000
	// maxID limits client-generated ids, in bytes.
	maxID = 64
	// maxResult limits the result of a tool, in characters; the rest is cut off.
	maxResult = 16_000
)

// Client holds the callbacks for client messages other than sound. They are called one at a time and in order, and
// must not block. Nil callbacks are ignored.
type Client struct {
	// Type is called for a typed text or a tapped choice. clientID is "" if the client did not generate one.
	Type func(clientID, text string)
	// Remark is called when the page reports what the person is doing. It gets no response.
	Remark func(text string)
	// Active is called when the person does something on the page.
	Active func()
	// ToolResult is called with the result of one of the page's tools.
	ToolResult func(id, result string, failed bool)
	// Score is called when the person likes or dislikes the response in a turn; score is "" if they take it back.
	Score func(turn int64, score string)
	// ToAgent is called when a teammate gives the conversation back to the agent.
	ToAgent func()
	// The recognizer in the client's browser. Without these callbacks its messages are refused.
	Hypothesis func(h voice.Hypothesis)
	Browser    func(state voice.BrowserState, reason string)
	// Detected is called when the page detects the beginning or the end of speech, at a position in the person's
	// sound.
	Detected func(speech bool, at time.Duration)
	// End is called when the person hangs up.
	End func()
}

// incoming is any message from a client.
type incoming struct {
	Type     string          `json:"type"`
	Sound    *string         `json:"user_audio_chunk"`
	EventID  int64           `json:"event_id"`
	Text     json.RawMessage `json:"text"` // a string, or an object in a multimodal_message
	ClientID string          `json:"client_id"`
	Score    *string         `json:"score"`
	ToolID   string          `json:"tool_call_id"`
	Result   json.RawMessage `json:"result"`
	Failed   bool            `json:"is_error"`

	raw []byte // the whole message
}

// refusal is the error for a message that is not accepted. A fatal one ends the connection.
type refusal struct {
	kind  string
	text  string
	fatal bool
}

func (e *refusal) Error() string { return e.text }

func invalid(text string) error { return &refusal{kind: typeInvalid, text: text, fatal: true} }

func tooLong(what string) error { return &refusal{kind: typeValue, text: what + " is too long"} }

// parse reads a message. An unknown type is not an error.
func parse(text []byte) (*incoming, error) {
	m := incoming{raw: text}
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, invalid("The message is no JSON object of the protocol")
	}
	return &m, nil
}

// text returns the text of a message.
func (m *incoming) text() (string, error) {
	if len(m.Text) == 0 {
		return "", nil
	}
	var s string
	if err := json.Unmarshal(m.Text, &s); err != nil {
		return "", invalid("The text of the message is no string")
	}
	return clean(s)
}

// typed returns the text of a multimodal_message. Its files are not accepted.
func (m *incoming) typed() (string, error) {
	if len(m.Text) == 0 || string(m.Text) == "null" {
		return "", &refusal{kind: typeValue, text: "Files are not accepted here"}
	}
	var inner struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(m.Text, &inner); err != nil {
		return "", invalid("The text of the message is no message")
	}
	return clean(inner.Text)
}

// clean trims a text and removes control and invalid characters, except tabs and line breaks.
func clean(s string) (string, error) {
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == utf8.RuneError {
			return -1
		}
		return r
	}, s))
	if utf8.RuneCountInString(s) > maxText {
		return "", tooLong("The text")
	}
	return s, nil
}

// result returns the result of a tool as text. Clients send strings, or objects if their authors chose to.
func (m *incoming) result() string {
	var s string
	if json.Unmarshal(m.Result, &s) != nil {
		s = string(m.Result)
	}
	if runes := []rune(s); len(runes) > maxResult {
		s = string(runes[:maxResult])
	}
	return s
}

// dispatch calls the callback for a message without sound.
func (c *Conn) dispatch(m *incoming, to *Client) error {
	switch m.Type {
	case "pong":
		c.pings.pong(m.EventID)
	case "user_activity":
		call(to.Active)
	case "hang_up":
		call(to.End)
	case "to_agent":
		call(to.ToAgent)
	case "user_playback":
		c.line.slow.Store(true)
	case "user_speech", "user_hearing", "user_vad":
		return c.dispatchHeard(m, to)
	case "user_message", "multimodal_message", "contextual_update", "feedback", "client_tool_result":
		if !c.pace.allow() {
			return &refusal{kind: typeInvalid, text: "Too many messages", fatal: true}
		}
		return c.dispatchText(m, to)
	}
	return nil
}

func call(f func()) {
	if f != nil {
		f()
	}
}

// dispatchText calls the callback for a message with a text.
func (c *Conn) dispatchText(m *incoming, to *Client) error {
	if len(m.ClientID) > maxID || len(m.ToolID) > 2*maxID {
		return tooLong("The id")
	}
	var text string
	var err error
	switch m.Type {
	case "feedback":
		c.score(m, to)
		return nil
	case "client_tool_result":
		if to.ToolResult != nil {
			to.ToolResult(m.ToolID, m.result(), m.Failed)
		}
		return nil
	case "multimodal_message":
		text, err = m.typed()
	default:
		text, err = m.text()
	}
	switch {
	case err != nil || text == "":
		return err
	case m.Type == "contextual_update" && to.Remark != nil:
		to.Remark(text)
	case m.Type != "contextual_update" && to.Type != nil:
		to.Type(m.ClientID, text)
	}
	return nil
}

// score passes on a person's score of a displayed response.
func (c *Conn) score(m *incoming, to *Client) {
	score := ""
	if m.Score != nil {
		score = *m.Score
	}
	turn, shown := c.turnOf(m.EventID)
	if to.Score != nil && shown && (score == "" || score == "like" || score == "dislike") {
		to.Score(turn, score)
	}
}

// asRefusal returns the refusal in err, or nil.
func asRefusal(err error) (r *refusal) {
	errors.As(err, &r)
	return r
}
