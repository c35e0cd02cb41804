package events

import (
	"encoding/json"
	"strconv"
)

// json returns the same as json.Marshal. Most events are of messages, with plain texts: reflecting on their types each
// time takes longer than the rest of such an event.
func (p *payload) json() []byte {
	if p.callPayload != nil {
		call := *p                     // otherwise every payload, also of a message, would escape to the heap
		text, _ := json.Marshal(&call) // marshaling texts and numbers cannot fail
		return text
	}
	b := append(make([]byte, 0, 288), `{"v":`...)
	b = strconv.AppendInt(b, int64(p.Version), 10)
	b = appendField(b, "notification_id", p.NotificationID)
	b = appendField(b, "message_id", p.MessageID)
	b = appendField(b, "conversation_id", p.ConversationID)
	b = appendField(b, "number", p.Number)
	b = appendField(b, "user_id", p.UserID)
	b = appendField(b, "campaign", p.Campaign)
	b = appendField(b, "sender_id", p.SenderID)
	b = appendCount(b, "recipients", p.Recipients)
	b = appendText(append(b, `,"state":`...), string(p.State))
	b = appendField(b, "previous_state", string(p.Previous))
	b = appendField(b, "reason", string(p.Reason))
	b = appendCount(b, "attempt", p.Attempt)
	b = appendText(append(b, `,"at":`...), p.At)
	return append(b, '}')
}

// appendField omits empty values.
func appendField(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return appendText(appendName(b, name), value)
}

func appendCount(b []byte, name string, n int) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(appendName(b, name), int64(n), 10)
}

func appendName(b []byte, name string) []byte {
	b = append(b, `,"`...)
	b = append(b, name...)
	return append(b, `":`...)
}

// appendText appends a quoted text.
func appendText(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			quoted, _ := json.Marshal(text) // cannot fail
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, text...)
	return append(b, '"')
}
