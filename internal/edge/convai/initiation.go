package convai

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/language"
)

// Settings of a widget that a client may override.
const (
	OverrideLanguage     = "language"
	OverrideFirstMessage = "first_message"
	OverrideVoice        = "voice" // the voice and its speed
	OverrideTextOnly     = "text_only"
)

// Recognizers of a person's speech.
const (
	HearingBrowser = "browser"
	HearingServer  = "server"
	HearingNone    = "none"
)

// Initiation is the client's request at the start of a conversation.
type Initiation struct {
	Language     string // BCP 47; empty for the conversation's language
	FirstMessage string // empty for the agent's
	NoGreeting   bool   // the person speaks first, because the client sent an empty first message
	Voice        string // empty for the agent's voice
	Speed        float64
	TextOnly     bool              // no sound in either direction
	Variables    map[string]string // dynamic_variables
	UserID       string            // the person's id, as claimed by the page
	Source       string            // the client's name and version
	Hearing      *Hearing          // the recognizer in the client's browser; nil for none
	Binary       bool              // sound in binary frames
}

// Hearing describes the recognizer in a client's browser.
type Hearing struct {
	Local    bool   // on the device
	Language string // BCP 47
	Track    bool   // it gets the page's own microphone, without the echo of our words
}

const (
	maxVariables     = 50
	maxVariable      = 500 // characters of a value
	maxUserID        = 255
	maxFirstMessage  = 1000
	maxVoice         = 200
	minSpeed         = 0.5
	maxSpeed         = 2
	maxSourceName    = 64
	initiationType   = "conversation_initiation_client_data"
	audioBinary      = "binary" // a value of source_info.audio
	overrideRefusal  = "The widget does not allow to override "
	variableNameForm = `^[A-Za-z_][A-Za-z0-9_.-]{0,63}$`
)

var variableName = regexp.MustCompile(variableNameForm)

// initiationMessage is the message that begins a conversation. Unlisted fields are ignored.
type initiationMessage struct {
	Override struct {
		Agent struct {
			Prompt *struct {
				Prompt *string `json:"prompt"`
				LLM    *string `json:"llm"`
			} `json:"prompt"`
			FirstMessage *string `json:"first_message"`
			Language     *string `json:"language"`
		} `json:"agent"`
		TTS struct {
			VoiceID *string  `json:"voice_id"`
			Speed   *float64 `json:"speed"`
		} `json:"tts"`
		Conversation struct {
			TextOnly *bool `json:"text_only"`
		} `json:"conversation"`
	} `json:"conversation_config_override"`
	Variables map[string]json.RawMessage `json:"dynamic_variables"`
	UserID    string                     `json:"user_id"`
	Source    struct {
		Source  string       `json:"source"`
		Version string       `json:"version"`
		Hearing *hearingInfo `json:"hearing"`
		Audio   string       `json:"audio"`
	} `json:"source_info"`
}

// hearingInfo is the offer of a client to recognize speech in its browser.
type hearingInfo struct {
	By    string `json:"by"`
	Local bool   `json:"local"`
	Lang  string `json:"lang"`
	Track bool   `json:"track"`
}

// hearing reads the offer.
func (x *Initiation) hearing(o *hearingInfo) error {
	if o == nil {
		return nil
	}
	if o.By != HearingBrowser {
		return &refusal{kind: typeValue, text: "source_info.hearing.by must be browser", fatal: true}
	}
	tag, err := language.Parse(clip(o.Lang, maxID))
	if err != nil {
		return &refusal{kind: typeValue, text: "source_info.hearing.lang must be a tag such as es or pt-BR", fatal: true}
	}
	x.Hearing = &Hearing{Local: o.Local, Language: tag.String(), Track: o.Track}
	return nil
}

// parseInitiation reads a client's first message, which may override the allowed settings. Its errors are refusals.
func parseInitiation(text []byte, allowed []string) (*Initiation, error) {
	var m initiationMessage
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, invalid("The first message is no " + initiationType + " of the protocol")
	}
	x := &Initiation{Source: strings.TrimSpace(clip(m.Source.Source, maxSourceName) + " " + clip(m.Source.Version, maxSourceName))}
	if err := x.override(&m, allowed); err != nil {
		return nil, err
	}
	if utf8.RuneCountInString(m.UserID) > maxUserID {
		return nil, overrun("user_id")
	}
	x.UserID, x.Binary = m.UserID, m.Source.Audio == audioBinary
	if err := x.hearing(m.Source.Hearing); err != nil {
		return nil, err
	}
	return x, x.variables(m.Variables)
}

func (x *Initiation) override(m *initiationMessage, allowed []string) error {
	may := func(what string, given bool) error {
		if given && !slices.Contains(allowed, what) {
			return &refusal{kind: typeOverride, text: overrideRefusal + what, fatal: true}
		}
		return nil
	}
	o := &m.Override
	if p := o.Agent.Prompt; p != nil && (given(p.Prompt) || given(p.LLM)) {
		return &refusal{kind: typeOverride, text: overrideRefusal + "prompt", fatal: true}
	}
	for _, err := range []error{
		may(OverrideLanguage, given(o.Agent.Language)), may(OverrideFirstMessage, given(o.Agent.FirstMessage)),
		may(OverrideVoice, given(o.TTS.VoiceID) || o.TTS.Speed != nil),
		may(OverrideTextOnly, o.Conversation.TextOnly != nil && *o.Conversation.TextOnly),
	} {
		if err != nil {
			return err
		}
	}
	if given(o.Agent.Language) {
		tag, err := language.Parse(clip(*o.Agent.Language, maxID))
		if err != nil {
			return &refusal{kind: typeValue, text: "language must be a tag such as es or pt-BR", fatal: true}
		}
		x.Language = tag.String()
	}
	if m := o.Agent.FirstMessage; m != nil && slices.Contains(allowed, OverrideFirstMessage) {
		x.NoGreeting = strings.TrimSpace(*m) == ""
		if x.FirstMessage = *m; utf8.RuneCountInString(x.FirstMessage) > maxFirstMessage {
			return overrun("first_message")
		}
	}
	if given(o.TTS.VoiceID) {
		if x.Voice = *o.TTS.VoiceID; utf8.RuneCountInString(x.Voice) > maxVoice {
			return overrun("voice_id")
		}
	}
	if s := o.TTS.Speed; s != nil {
		if x.Speed = *s; x.Speed < minSpeed || x.Speed > maxSpeed {
			return &refusal{kind: typeValue, text: "speed must be from 0.5 to 2", fatal: true}
		}
	}
	x.TextOnly = o.Conversation.TextOnly != nil && *o.Conversation.TextOnly
	return nil
}

// variables reads strings, numbers and booleans. It skips names that cannot occur as a placeholder in a text.
func (x *Initiation) variables(given map[string]json.RawMessage) error {
	if len(given) > maxVariables {
		return &refusal{kind: typeValue, text: "dynamic_variables has more than " + strconv.Itoa(maxVariables) + " entries", fatal: true}
	}
	x.Variables = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !variableName.MatchString(name) {
			continue
		}
		var v any
		if err := json.Unmarshal(given[name], &v); err != nil {
			return invalid("dynamic_variables holds a value that is no JSON")
		}
		switch v := v.(type) {
		case string:
			x.Variables[name] = v
		case float64, bool:
			x.Variables[name] = string(given[name])
		case nil:
			continue
		default:
			return &refusal{kind: typeValue, text: "dynamic_variables holds something else than texts, numbers and booleans", fatal: true}
		}
		if utf8.RuneCountInString(x.Variables[name]) > maxVariable {
			return overrun("dynamic_variables." + name)
		}
	}
	return nil
}

func overrun(field string) error {
	return &refusal{kind: typeValue, text: field + " is too long", fatal: true}
}

func given(s *string) bool { return s != nil && *s != "" }

func clip(s string, most int) string {
	runes := []rune(s)
	return string(runes[:min(len(runes), most)])
}
