package hook

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"

	"carillon"
	"carillon/internal/store/events"
)

const maxCursor = 300

// Pulled returns the topics that are available to clients that pull events.
func Pulled() []string { return append(events.Topics(), events.Requested) }

// Position is a reader's position in each topic.
type Position map[string]int64

// String returns the cursor of a position.
func (p Position) String() string {
	var parts []string
	for _, topic := range Pulled() {
		if seq := p[topic]; seq > 0 {
			parts = append(parts, letters[topic]+strconv.FormatInt(seq, 36))
		}
	}
	return base64.RawURLEncoding.EncodeToString([]byte("events:" + strings.Join(parts, ".")))
}

// ReadPosition parses a cursor that String returned.
func ReadPosition(text string) (Position, bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	list, ok := strings.CutPrefix(string(raw), "events:")
	if err != nil || !ok || len(text) > maxCursor {
		return nil, false
	}
	p := Position{}
	for part := range strings.SplitSeq(list, ".") {
		if part == "" {
			continue
		}
		topic := ""
		for t, letter := range letters {
			if letter == part[:1] {
				topic = t
			}
		}
		seq, err := strconv.ParseInt(part[1:], 36, 64)
		if topic == "" || err != nil || seq < 0 {
			return nil, false
		}
		p[topic] = seq
	}
	return p, true
}

// Behind reports whether a topic has events after the position.
func (p Position) Behind(last map[string]int64) bool {
	for topic, seq := range last {
		if letters[topic] != "" && seq > p[topic] {
			return true
		}
	}
	return false
}

// FindEvent returns an event of a company by its id. Errors: not_found, also for an event past its retention.
func (d *Deliverer) FindEvent(ctx context.Context, companyID, id string) (*events.Event, error) {
	topic, seq, ok := Place(id)
	if !ok || topic == events.Requested {
		return nil, carillon.Absent("Event")
	}
	found, err := d.store.Topics.EventsAfter(ctx, companyID, topic, seq-1, 1)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 || found[0].Seq != seq || ID(&found[0]) != id {
		return nil, carillon.Absent("Event")
	}
	return &found[0], nil
}

// Request stores an event for clients that pull events.
func (d *Deliverer) Request(ctx context.Context, companyID string, b *Body) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return d.store.Events.AddEvents(ctx, &events.Event{
		CompanyID: companyID, Topic: events.Requested, Kind: b.Type, Subject: b.ID, Payload: text, At: d.o.Now(),
	})
}
