package convai

import (
	"encoding/json"
	"regexp"
	"time"

	"carillon/internal/voice"
)

const (
	// maxLag is the maximum age of a hypothesis, in sound.
	maxLag = 2 * time.Second
	// soundGap is the time without sound after which speech that the page detected counts.
	soundGap = time.Second
	// maxUtterances limits the numbers of utterances.
	maxUtterances = 1_000_000
	dayMS         = 86_400_000
)

// failureName is the form of a browser's error names, such as not-allowed.
var failureName = regexp.MustCompile(`^[a-z][a-z-]{0,39}$`)

// heardMessage is a user_speech, user_hearing or user_vad.
type heardMessage struct {
	Event struct { // what a browser has recognized of an utterance so far
		Utterance  *int64   `json:"utterance"`
		Text       *string  `json:"text"`
		Final      bool     `json:"final"`
		Confidence *float64 `json:"confidence"`
		At         *float64 `json:"at_ms"`
	} `json:"user_speech_event"`
	State  voice.BrowserState `json:"state"`
	Error  string             `json:"error"`
	Speech *bool              `json:"speech"`
	At     *float64           `json:"at_ms"`
}

func misfit(text string) error { return &refusal{kind: typeValue, text: text} }

// dispatchHeard calls the callback for a message about a recognizer in the browser, which the client has to offer first.
func (c *Conn) dispatchHeard(m *incoming, to *Client) error {
	if !c.heard.allow() {
		return &refusal{kind: typeInvalid, text: "Too many messages of a recognizer", fatal: true}
	}
	if to.Hypothesis == nil {
		return &refusal{kind: typeInvalid, text: m.Type + " is for talks whose hearing is browser"}
	}
	var x heardMessage
	if json.Unmarshal(m.raw, &x) != nil {
		return misfit("The fields of " + m.Type + " have other types")
	}
	switch m.Type {
	case "user_hearing":
		return x.hearing(to)
	case "user_vad":
		if x.Speech == nil || !position(x.At) {
			return misfit("user_vad takes speech, true or false, and at_ms")
		}
		if c.soundAt.IsZero() || time.Since(c.soundAt) > soundGap { // otherwise the sound is better evidence
			to.Detected(*x.Speech, millis(*x.At))
		}
		return nil
	}
	h, err := c.hypothesis(&x)
	if err != nil {
		return err
	}
	to.Hypothesis(h)
	return nil
}

func (x *heardMessage) hearing(to *Client) error {
	switch {
	case x.State != voice.BrowserOn && x.State != voice.BrowserOff && x.State != voice.BrowserFailed:
		return misfit("The state of user_hearing must be on, off or failed")
	case x.Error != "" && !failureName.MatchString(x.Error):
		return misfit("The error of user_hearing must be a name such as network")
	}
	to.Browser(x.State, x.Error)
	return nil
}

// hypothesis reads a user_speech.
func (c *Conn) hypothesis(x *heardMessage) (h voice.Hypothesis, err error) {
	e := &x.Event
	if e.Utterance == nil || e.Text == nil || !position(e.At) {
		return h, misfit("user_speech_event takes utterance, text, final and at_ms")
	}
	if *e.Utterance < 0 || *e.Utterance > maxUtterances {
		return h, misfit("utterance must be a number from 0 to 1,000,000")
	}
	if e.Confidence != nil && (*e.Confidence < 0 || *e.Confidence > 1) {
		return h, misfit("confidence must be from 0 to 1")
	}
	h = voice.Hypothesis{Utterance: *e.Utterance, Final: e.Final, At: c.position(millis(*e.At))}
	h.Text, err = clean(*e.Text)
	return h, err
}

// position converts a time of the page, which counts the sound that it captured, to a position in the sound that line.Read
// returns. Some of the sound may have been lost on the way.
func (c *Conn) position(at time.Duration) time.Duration {
	if c.received > 0 && time.Since(c.soundAt) <= soundGap {
		at = min(max(at, c.received-maxLag), c.received)
	}
	return max(0, at-c.line.dropped())
}

func position(ms *float64) bool { return ms != nil && *ms >= 0 && *ms <= dayMS }

func millis(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
