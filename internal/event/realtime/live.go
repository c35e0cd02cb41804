package realtime

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"time"

	"carillon"
	"carillon/internal/store/events"
)

const (
	kindLive       = "live"
	maxLive        = 64 << 10 // bytes of live events that wait
	maxCompanyLive = 16 << 10 // of these, of one company
	maxLiveName    = 64       // bytes of a kind
	maxLiveSubject = 200      // bytes of a subject
)

// Relay carries payloads of a company's topic to the other nodes, faster than the database. It may lose them.
type Relay interface {
	// Active reports whether it reaches all nodes now. If not, payloads go over the database.
	Active() bool
	// Publish sends a payload to the other nodes. It never blocks.
	Publish(companyID, topic string, payload []byte)
	// Subscribe passes on the payloads that other nodes publish, until end is called. It does not wait until the
	// subscription is active. received may be called until shortly after end.
	Subscribe(companyID, topic string, received func(payload []byte)) (end func())
}

// live is the part of a bus for events that are not stored: typing, viewing, presence, and the pieces of a reply. While
// the relay is active, they go over it immediately. Otherwise they wait for the next flush and are then sent together.
type live struct {
	from    string // of this node, in payloads: the database returns them to it
	relay   Relay  // nil if there is none
	show    func(e *events.Event)
	waiting *Outbox[*events.Event]

	notified, relayed, received, refused atomic.Int64
}

func (l *live) init() {
	l.from = carillon.NewID(time.Now())
	l.show = func(*events.Event) {}
	l.waiting = NewOutbox[*events.Event](maxLive, maxCompanyLive)
}

// LiveCounts are numbers of live events since the start.
type LiveCounts struct{ Notified, Relayed, Dropped, Received, Refused int64 }

// LiveCounts returns the numbers of the live events that were sent over the database and over the relay, that were
// dropped because too many waited, that came from other nodes, and that were refused because they were unreadable.
func (b *Bus) LiveCounts() LiveCounts {
	l := &b.live
	return LiveCounts{
		Notified: l.notified.Load(), Relayed: l.relayed.Load(), Dropped: l.waiting.Dropped(), Received: l.received.Load(),
		Refused: l.refused.Load(),
	}
}

// liveEvent is an event between nodes. Over a relay, company and topic are those of the subscription.
type liveEvent struct {
	CompanyID string          `json:"c,omitempty"`
	Topic     string          `json:"t,omitempty"`
	Kind      string          `json:"k"`
	Subject   string          `json:"s,omitempty"`
	Payload   json.RawMessage `json:"p,omitempty"`
	At        int64           `json:"a"` // Unix time in milliseconds
}

// Send sends live events to the other nodes. It never blocks, and drops what exceeds the company's share.
func (b *Bus) Send(all ...*events.Event) {
	l := &b.live
	fast := l.relay != nil && l.relay.Active()
	for _, e := range all {
		if !fast {
			l.waiting.Add(e.CompanyID, len(e.Topic)+len(e.Kind)+len(e.Subject)+len(e.Payload), e)
		} else if text := encodeLive(e, false); text != nil {
			l.relay.Publish(e.CompanyID, e.Topic, text)
			l.relayed.Add(1)
		}
	}
	if !fast {
		b.wake()
	}
}

// flushLive sends the live events that wait.
func (b *Bus) flushLive(ctx context.Context) {
	l := &b.live
	waiting := l.waiting.Take()
	if len(waiting) == 0 {
		return
	}
	head := kindLive + "\n" + l.from
	text := head
	notify := func() {
		if text == head {
			return
		}
		if err := b.transport.Notify(ctx, channel, text); err != nil && ctx.Err() == nil {
			b.log.WarnContext(ctx, "publish to other nodes", "kind", kindLive, "error", err)
		}
		text = head
	}
	for _, e := range waiting {
		line := encodeLive(e, true)
		if line == nil || len(head)+1+len(line) > payloadMax {
			l.refused.Add(1)
			continue
		}
		if len(text)+1+len(line) > payloadMax {
			notify()
		}
		text += "\n" + string(line)
		l.notified.Add(1)
	}
	notify()
}

// encodeLive returns an event as one line of JSON, or nil if its payload is not JSON.
func encodeLive(e *events.Event, named bool) []byte {
	x := liveEvent{Kind: e.Kind, Subject: e.Subject, Payload: e.Payload, At: e.At.UnixMilli()}
	if named {
		x.CompanyID, x.Topic = e.CompanyID, e.Topic
	}
	text, err := json.Marshal(x)
	if err != nil {
		return nil
	}
	return text
}

// receiveLive shows the events of another node that came with NOTIFY.
func (b *Bus) receiveLive(text string) {
	from, lines, _ := strings.Cut(text, "\n")
	if from == b.live.from {
		return
	}
	for line := range strings.Lines(lines) {
		var x liveEvent
		if json.Unmarshal([]byte(line), &x) != nil || !x.valid() {
			b.live.refused.Add(1)
			continue
		}
		b.live.received.Add(1)
		b.live.show(x.event())
	}
}

// relayLive shows an event of another node that came over the relay.
func (h *Hub) relayLive(t topic, payload []byte) {
	var x liveEvent
	if json.Unmarshal(payload, &x) != nil || !x.valid() {
		h.live.refused.Add(1)
		return
	}
	h.live.received.Add(1)
	x.CompanyID, x.Topic = t.companyID, t.name
	h.show(x.event())
}

// valid reports whether the event can be shown. Kinds become lines of a stream.
func (x *liveEvent) valid() bool {
	if x.Kind == "" || len(x.Kind) > maxLiveName || len(x.Subject) > maxLiveSubject {
		return false
	}
	return !strings.ContainsFunc(x.Kind, func(c rune) bool { return (c < 'a' || c > 'z') && c != '_' && c != '.' })
}

func (x *liveEvent) event() *events.Event {
	return &events.Event{
		CompanyID: x.CompanyID, Topic: x.Topic, Kind: x.Kind, Subject: x.Subject, Payload: x.Payload, At: time.UnixMilli(x.At).UTC(),
	}
}
