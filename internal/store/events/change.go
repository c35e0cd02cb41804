package events

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/store/db"
	"carillon/internal/store/rank"
)

// payload is the payload of an event. Version 1; fields are only added.
type payload struct {
	Version        int             `json:"v"`
	NotificationID string          `json:"notification_id,omitempty"` // empty for an incoming call
	MessageID      string          `json:"message_id,omitempty"`
	ConversationID string          `json:"conversation_id,omitempty"` // of an application's message
	Number         string          `json:"number,omitempty"`
	UserID         string          `json:"user_id,omitempty"` // the channel's id of a person, instead of a number
	Campaign       string          `json:"campaign,omitempty"`
	SenderID       string          `json:"sender_id,omitempty"`
	Recipients     int             `json:"recipients,omitempty"`
	State          carillon.State  `json:"state"`
	Previous       carillon.State  `json:"previous_state,omitempty"`
	Reason         carillon.Reason `json:"reason,omitempty"`
	Attempt        int             `json:"attempt,omitempty"`
	At             string          `json:"at"`
	*callPayload
}

// callPayload holds the additional fields of a call's event.
type callPayload struct {
	CallID     string           `json:"call_id"`
	Direction  string           `json:"direction"` // outgoing or incoming
	AgentID    string           `json:"agent_id,omitempty"`
	AnsweredBy string           `json:"answered_by,omitempty"`
	EndedBy    string           `json:"ended_by,omitempty"`
	DurationS  *int             `json:"duration_s,omitempty"` // for an answered call that ended
	Result     carillon.Details `json:"result,omitempty"`
	// NoRecording is the reason why a recorded call has no recording.
	NoRecording string `json:"no_recording,omitempty"`
}

// lasted returns the duration of an answered call.
func (p *callPayload) lasted(answered, ended time.Time) {
	if !answered.IsZero() && !ended.IsZero() {
		s := int(ended.Sub(answered).Round(time.Second) / time.Second)
		p.DurationS = &s
	}
}

func (p payload) event(companyID, topic, kind string, at time.Time) *Event {
	p.Version, p.At = 1, carillon.FormatTime(at)
	subject := p.NotificationID
	switch {
	case p.MessageID != "":
		subject = p.MessageID
	case p.callPayload != nil:
		subject = p.CallID
	}
	return &Event{CompanyID: companyID, Topic: topic, Kind: kind, Subject: subject, Payload: p.json(), At: at}
}

// Notification holds the fields of a notification for its events.
type Notification struct {
	CompanyID, ID, Campaign, SenderID string
	At                                time.Time // time of acceptance
}

// Accepted returns the event of an accepted notification.
func (n *Notification) Accepted(recipients int, scheduled bool) *Event {
	p := payload{NotificationID: n.ID, Campaign: n.Campaign, SenderID: n.SenderID, Recipients: recipients, State: carillon.StateQueued}
	if scheduled {
		p.State = carillon.StateScheduled
	}
	return p.event(n.CompanyID, Notifications, "notification.accepted", n.At)
}

// Reply holds the fields of an application's message in a conversation for its events.
type Reply struct {
	CompanyID, ConversationID, MessageID string
	Number, UserID, SenderID             string
	Attempt                              int
}

// Reached returns the event of a message that reached a state.
func (r *Reply) Reached(state, previous carillon.State, reason carillon.Reason, at time.Time) *Event {
	p := payload{
		MessageID: r.MessageID, ConversationID: r.ConversationID, Number: r.Number, UserID: r.UserID, SenderID: r.SenderID,
		State: state, Previous: previous, Attempt: r.Attempt,
	}
	if state == carillon.StateFailed {
		p.Reason = reason
	}
	return p.event(r.CompanyID, Notifications, "message."+string(state), at)
}

// message holds the fields of a message for its events.
type message struct {
	key                          carillon.MessageKey
	companyID, notificationID    string
	campaign, number, senderID   string
	q, attempt                   int
	rank                         rank.Rank
	reason                       carillon.Reason
	sent, delivered, read, ended int64
}

// Skipped returns the event of the n-th message, which ended on acceptance.
func (n *Notification) Skipped(i int, number string, reason carillon.Reason) *Event {
	m := n.message(carillon.SeqOf(n.ID).Message(i), number)
	m.reason = reason
	return m.event(carillon.StateSkipped, "", db.Millis(n.At))
}

func (n *Notification) message(key carillon.MessageKey, number string) message {
	return message{key: key, companyID: n.CompanyID, notificationID: n.ID, campaign: n.Campaign, senderID: n.SenderID, number: number}
}

// payload returns the payload of an event of the message.
func (m *message) payload(state, previous carillon.State) payload {
	number, userID := identity.Split(m.number)
	return payload{
		NotificationID: m.notificationID, MessageID: provider.MessageID(m.notificationID, m.key.N()), Number: number, UserID: userID,
		Campaign: m.campaign,
		SenderID: m.senderID, State: state, Previous: previous, Attempt: m.attempt,
	}
}

func (m *message) event(state, previous carillon.State, at int64) *Event {
	p := m.payload(state, previous)
	if state == carillon.StateFailed || state == carillon.StateCanceled || state == carillon.StateSkipped {
		p.Reason = m.reason
	}
	return p.event(m.companyID, Notifications, "message."+string(state), db.Instant(at))
}

func (m *message) state() carillon.State {
	if m.rank == rank.None && m.q >= 2 {
		return carillon.StateSending
	}
	return m.rank.State()
}

// changes returns the events for every state that a message reached since it was before. A receipt for a state that it
// has already passed gives none.
func (m *message) changes(before *message) (all []*Event) {
	previous := before.state()
	reach := func(to rank.Rank, at, had int64) {
		if before.rank < to && to <= m.rank && at > 0 && had == 0 {
			all = append(all, m.event(to.State(), previous, at))
			previous = to.State()
		}
	}
	reach(rank.Sent, m.sent, before.sent)
	if m.rank != before.rank && slices.Contains([]carillon.State{
		carillon.StateFailed, carillon.StateCanceled,
		carillon.StateSkipped,
	}, m.rank.State()) {
		all = append(all, m.event(m.rank.State(), previous, m.ended))
	}
	reach(rank.Delivered, m.delivered, before.delivered)
	reach(rank.Read, m.read, before.read)
	return all
}

// Messages runs change and records an event for each new state of these messages. Without keys it only runs change:
// companies without subscribers pay nothing. The messages are locked as change locks them, but sorted.
func Messages(ctx context.Context, tx *db.Tx, keys []carillon.MessageKey, change func() error) error {
	if len(keys) == 0 {
		return change()
	}
	keys = sorted(keys)
	var before, after []message
	if err := tx.Run(ctx, readBefore(tx.DB(), keys, &before)); err != nil {
		return fmt.Errorf("read messages: %w", err)
	}
	if err := change(); err != nil {
		return err
	}
	if err := tx.Run(ctx, readMessages(tx.DB(), keys, "", &after)); err != nil {
		return fmt.Errorf("read messages: %w", err)
	}
	for i := range after {
		if at, there := find(before, after[i].key); there {
			Record(tx, after[i].changes(&before[at])...)
		}
	}
	return nil
}

func sorted(keys []carillon.MessageKey) []carillon.MessageKey {
	slices.Sort(keys)
	return slices.Compact(keys)
}

func find(all []message, key carillon.MessageKey) (at int, there bool) {
	return slices.BinarySearchFunc(all, key, func(m message, k carillon.MessageKey) int { return cmp.Compare(m.key, k) })
}

// lock prevents concurrent changes from being attributed to this transaction.
func lock(d *db.DB, of string) string {
	if d.SQLite() {
		return ""
	}
	return " FOR UPDATE" + of
}

// readBefore reads the states of messages, sorted by key, and locks them.
func readBefore(d *db.DB, keys []carillon.MessageKey, into *[]message) db.Statement {
	return db.Statement{
		SQL: `SELECT id, q, rank, COALESCE(sent_at, 0), COALESCE(delivered_at, 0), COALESCE(read_at, 0)
		FROM message WHERE id ` + d.In(1) + " ORDER BY id" + lock(d, ""),
		Args: []any{d.List(keys)},
		Scan: func(scan db.Scan) error {
			var m message
			err := scan(&m.key, &m.q, &m.rank, &m.sent, &m.delivered, &m.read)
			*into = append(*into, m)
			return err
		},
	}
}

// readMessages reads complete messages, sorted by key.
func readMessages(d *db.DB, keys []carillon.MessageKey, locked string, into *[]message) db.Statement {
	return db.Statement{
		SQL: `SELECT m.id, n.company_id, n.id, n.campaign, s.id, m.number, m.q, m.attempt, m.rank, COALESCE(m.reason, ''),
		COALESCE(m.sent_at, 0), COALESCE(m.delivered_at, 0), COALESCE(m.read_at, 0), COALESCE(m.ended_at, 0)
		FROM message AS m JOIN notification AS n ON n.seq = m.id / 128 JOIN sender AS s ON s.uid = n.sender
		WHERE m.id ` + d.In(1) + " ORDER BY m.id" + locked,
		Args: []any{d.List(keys)},
		Scan: func(scan db.Scan) error {
			var m message
			err := scan(&m.key, &m.companyID, &m.notificationID, &m.campaign, &m.senderID, &m.number, &m.q, &m.attempt, &m.rank, &m.reason,
				&m.sent, &m.delivered, &m.read, &m.ended)
			*into = append(*into, m)
			return err
		},
	}
}

// Clicked records that a recipient first followed a counted link of a message. Its state is the one that it has.
func Clicked(ctx context.Context, tx *db.Tx, key carillon.MessageKey, at time.Time) error {
	var found []message
	if err := tx.Run(ctx, readMessages(tx.DB(), []carillon.MessageKey{key}, "", &found)); err != nil {
		return fmt.Errorf("read a message: %w", err)
	}
	for i := range found {
		m := &found[i]
		p := m.payload(m.state(), "")
		Record(tx, p.event(m.companyID, Notifications, "message.clicked", at))
	}
	return nil
}

// End is the result of an attempt to send a message, as it is written: the rank only rises, and a time is written
// once.
type End struct {
	Key         carillon.MessageKey
	Attempt     int
	Rank        rank.Rank
	Reason      carillon.Reason
	Sent, Ended int64
}

func (e *End) after(m message) message {
	if m.attempt != e.Attempt {
		return m
	}
	m.q = 0
	if m.rank < e.Rank {
		m.rank, m.reason, m.ended = e.Rank, e.Reason, e.Ended
	}
	if m.sent == 0 {
		m.sent = e.Sent
	}
	return m
}

// Ends records the events of some ends. It reads and locks the messages before the results are written, in the same
// transaction.
func Ends(ctx context.Context, tx *db.Tx, ends []End) error {
	if len(ends) == 0 {
		return nil
	}
	keys := make([]carillon.MessageKey, len(ends))
	for i := range ends {
		keys[i] = ends[i].Key
	}
	var messages []message
	if err := tx.Run(ctx, readMessages(tx.DB(), sorted(keys), lock(tx.DB(), " OF m"), &messages)); err != nil {
		return fmt.Errorf("read messages: %w", err)
	}
	for i := range ends {
		if at, there := find(messages, ends[i].Key); there {
			m := &messages[at]
			after := ends[i].after(*m)
			Record(tx, after.changes(m)...)
			*m = after
		}
	}
	return nil
}

// SendingEnded records the events of an attempt whose message, to a number, is still in state sending: nothing has to
// be read.
func (n *Notification) SendingEnded(tx *db.Tx, number string, e *End) {
	before := n.message(e.Key, number)
	before.q, before.attempt = 2, e.Attempt
	after := e.after(before)
	Record(tx, after.changes(&before)...)
}

// Call records the event of a call for its new state in this transaction: started, completed, or failed for the other
// final states. result holds the agent's findings.
func Call(ctx context.Context, tx *db.Tx, key carillon.MessageKey, result carillon.Details) error {
	p := payload{callPayload: &callPayload{Direction: "outgoing", Result: result}}
	var companyID string
	var dialed, answered, ended int64
	var channel carillon.Channel
	if err := tx.Row(ctx, []any{
		&companyID, &p.NotificationID, &channel, &p.Campaign, &p.SenderID, &p.AgentID, &p.Number, &p.State, &p.Reason, &p.Attempt,
		&p.AnsweredBy, &p.EndedBy, &p.NoRecording, &dialed, &answered, &ended,
	}, `SELECT n.company_id, n.id, n.channel, n.campaign, s.id, n.agent_id, c.number, c.state, c.reason, c.attempt, c.answered_by,
		c.ended_by, c.no_recording, c.dialed_at, c.answered_at, c.ended_at
		FROM call AS c JOIN notification AS n ON n.seq = c.id / 128 JOIN sender AS s ON s.uid = c.sender WHERE c.id = $1`,
		int64(key)); err != nil {
		return fmt.Errorf("read call: %w", err)
	}
	p.CallID = provider.CallID(p.NotificationID, channel, key)
	if channel == carillon.Messaging {
		p.MessageID = p.CallID
	}
	at := ended
	if p.State == carillon.StateDialing {
		at = dialed
	} else {
		p.lasted(db.Instant(answered), db.Instant(ended))
	}
	Record(tx, p.event(companyID, Calls, callKind(p.State), db.Instant(at)))
	return nil
}

func callKind(s carillon.State) string {
	switch s {
	case carillon.StateDialing, carillon.StateRinging:
		return "call.started"
	case carillon.StateCompleted:
		return "call.completed"
	default:
		return "call.failed"
	}
}

// IncomingCall holds the fields of a call to a line for its events.
type IncomingCall struct {
	ID, CompanyID, AgentID, Number string
	SenderUID                      int64
	State                          carillon.State
	Reason                         carillon.Reason
	EndedBy, NoRecording           string
	Result                         carillon.Details
	AnsweredAt, At                 time.Time // At is the time of its state
}

// Incoming records the event of a call to a line for its new state in this transaction.
func Incoming(ctx context.Context, tx *db.Tx, c *IncomingCall) error {
	p := payload{
		Number: c.Number, State: c.State, Reason: c.Reason,
		callPayload: &callPayload{
			CallID: c.ID, Direction: "incoming", AgentID: c.AgentID, EndedBy: c.EndedBy, Result: c.Result, NoRecording: c.NoRecording,
		},
	}
	if c.State != carillon.StateRinging {
		p.lasted(c.AnsweredAt, c.At)
	}
	if err := tx.Row(ctx, []any{&p.SenderID}, "SELECT id FROM sender WHERE uid = $1", c.SenderUID); err != nil {
		return fmt.Errorf("read the line: %w", err)
	}
	Record(tx, p.event(c.CompanyID, Calls, callKind(c.State), c.At))
	return nil
}
