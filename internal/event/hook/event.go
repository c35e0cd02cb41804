package hook

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/store/events"
)

// letters represent topics in event ids.
var letters = map[string]string{ //nolint:gochecknoglobals // read-only
	events.Notifications: "n", events.Calls: "c", events.Templates: "t", events.Conversations: "v", events.Requested: "r",
}

// ID returns the id of an event: the company, the topic with the sequence number, and the time, because a restored
// database reuses sequence numbers. It contains no full stop, as Standard Webhooks requires.
func ID(e *events.Event) string {
	company, err := hex.DecodeString(strings.ReplaceAll(e.CompanyID, "-", ""))
	if err != nil {
		company = []byte(e.CompanyID)
	}
	return "evt_" + base64.RawURLEncoding.EncodeToString(company) + "_" + letters[e.Topic] + strconv.FormatInt(e.Seq, 36) + "_" +
		strconv.FormatInt(e.At.UnixMilli(), 36)
}

// Place returns the topic and Seq of an event id. ok is false if the id is malformed. The caller must check that the
// event exists and has this id.
func Place(id string) (topic string, seq int64, ok bool) {
	parts := strings.Split(strings.TrimPrefix(id, "evt_"), "_")
	if len(parts) < 3 || !strings.HasPrefix(id, "evt_") { // the company's part may contain an underscore
		return "", 0, false
	}
	place := parts[len(parts)-2]
	for t, letter := range letters {
		if digits, found := strings.CutPrefix(place, letter); found {
			if seq, err := strconv.ParseInt(digits, 36, 64); err == nil && seq > 0 {
				return t, seq, true
			}
		}
	}
	return "", 0, false
}

// Version is the version of the event format. Within a version, fields are only added.
const Version = 1

// Body is an event in the form that is sent.
type Body struct {
	ID        string                     `json:"id"`
	Type      string                     `json:"type"`
	Timestamp string                     `json:"timestamp"`
	Version   int                        `json:"version"`
	Sequence  int64                      `json:"sequence"`
	Test      bool                       `json:"test,omitempty"`
	Data      map[string]json.RawMessage `json:"data"`
}

// BodyOf returns an event in the form that is sent.
func BodyOf(e *events.Event) (*Body, error) {
	if e.Topic == events.Requested { // it is stored as it is sent
		b := &Body{}
		return b, json.Unmarshal(e.Payload, b)
	}
	b := &Body{ID: ID(e), Type: e.Kind, Timestamp: carillon.FormatTime(e.At), Version: Version, Sequence: e.Seq}
	if err := json.Unmarshal(e.Payload, &b.Data); err != nil {
		return nil, err
	}
	delete(b.Data, "v")
	delete(b.Data, "at")
	for stored, sent := range map[string]string{"state": "status", "previous_state": "previous_status"} {
		if value, has := b.Data[stored]; has {
			delete(b.Data, stored)
			b.Data[sent] = value
		}
	}
	return b, nil
}

// wants reports whether the endpoint asks for an event.
func (w *Webhook) wants(e *events.Event) bool {
	if !slices.Contains(w.Events, "*") && !slices.Contains(w.Events, e.Kind) {
		return false
	}
	if len(w.Campaigns) == 0 && len(w.Senders) == 0 {
		return true
	}
	var of struct {
		Campaign *string `json:"campaign"`
		SenderID *string `json:"sender_id"`
	}
	if err := json.Unmarshal(e.Payload, &of); err != nil {
		return true // when in doubt, deliver: a superfluous event is better than a lost one
	}
	return matches(w.Campaigns, of.Campaign) && matches(w.Senders, of.SenderID)
}

func matches(wanted []string, value *string) bool {
	return len(wanted) == 0 || value == nil || slices.Contains(wanted, *value)
}

// Sample returns an example event of a type, for tests of an endpoint.
func Sample(companyID, kind string, now time.Time) (*Body, error) {
	e := &events.Event{
		CompanyID: companyID, Topic: events.TopicOf(kind), Seq: 1, Kind: kind, At: now, Payload: json.RawMessage(sampleOf(kind)),
	}
	b, err := BodyOf(e)
	if err != nil {
		return nil, err
	}
	b.ID, b.Test, b.Sequence = "evt_test_"+strconv.FormatInt(now.UnixNano(), 36), true, 0
	return b, nil
}

func sampleOf(kind string) string {
	const notification = `"notification_id":"0197f0a2-0000-7000-8000-000000000001"`
	const message = notification + `,"message_id":"0197f0a2-0000-7000-8000-000000000001.0","number":"34600111222","campaign":"Test",` +
		`"sender_id":"test"`
	const conversation = `"conversation_id":"0197f0a2-0000-7000-8000-000000000003","channel":"chat"`
	group, state, _ := strings.Cut(kind, ".")
	switch {
	case kind == "notification.accepted":
		return `{` + notification + `,"campaign":"Test","sender_id":"test","recipients":1,"state":"queued"}`
	case kind == "message.received":
		return `{` + conversation + `,"number":"34600111222","text":"This is a test"}`
	case kind == "message.failed":
		return `{` + message + `,"state":"failed","previous_state":"sent","reason":"undeliverable","attempt":1}`
	case kind == "message.clicked":
		return `{` + message + `,"state":"read","attempt":1}`
	case group == "message":
		return `{` + message + `,"state":"` + state + `","attempt":1}`
	case group == "call":
		return `{` + notification + `,"call_id":"0197f0a2-0000-7000-8000-000000000001","direction":"outgoing",` +
			`"number":"34600111222","campaign":"Test","sender_id":"test","state":"` + state + `"}`
	case group == "template":
		return `{"template_id":"0197f0a2-0000-7000-8000-000000000002","name":"test","language":"en","state":"` + state + `"}`
	case kind == "conversation.reviewed":
		return `{` + conversation + `,"state":"resolved","review":{` +
			`"summary":"Began with “How much is a tour?”. Questions: 1 answered.",` +
			`"goal":{"goal":"The person knows the price","reached":"yes","reason":"The person marked the answer as helpful."},` +
			`"result":{"people":2},"topics":["Prices"],"by":"rules","turn":3,` +
			`"ended_at":"2026-06-05T09:30:00Z","at":"2026-06-05T09:30:10Z"}}`
	case kind == "feedback.received":
		return `{` + conversation + `,"rating":5}`
	}
	return `{` + conversation + `,"state":"` + state + `"}`
}
