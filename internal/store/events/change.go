package events

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/db"
	"carillon/internal/store/rank"
)

// payload is what an event says. Version 1; fields are only added.
type payload struct {
	Version        int             `json:"v"`
	NotificationID string          `json:"notification_id,omitempty"` // not of a call to a line
	MessageID      string          `json:"message_id,omitempty"`
	Number         string          `json:"number,omitempty"`
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

// callPayload is what the event of a call says besides.
type callPayload struct {
	CallID     string           `json:"call_id"`
	Direction  string           `json:"direction"` // outgoing or incoming
	AgentID    string           `json:"agent_id,omitempty"`
	AnsweredBy string           `json:"answered_by,omitempty"`
	EndedBy    string           `json:"ended_by,omitempty"`
	DurationS  *int             `json:"duration_s,omitempty"` // of one that was answered, once it ended
	Result     carillon.Details `json:"result,omitempty"`
}

// lasted is how long an answered call was talked in.
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

// Notification is a notification as far as events go.
type Notification struct {
	CompanyID, ID, Campaign, SenderID string
	At                                time.Time // when it was accepted
}

// Accepted is the event of a notification that was accepted.
func (n *Notification) Accepted(recipients int, scheduled bool) *Event {
	p := payload{NotificationID: n.ID, Campaign: n.Campaign, SenderID: n.SenderID, Recipients: recipients, State: carillon.StateQueued}
	if scheduled {
		p.State = carillon.StateScheduled
	}
	return p.event(n.CompanyID, Notifications, "notification.accepted", n.At)
}

// message is a message as far as events go.
type message struct {
	key                          carillon.MessageKey
	companyID, notificationID    string
	campaign, number, senderID   string
	q, attempt                   int
	rank                         rank.Rank
	reason                       carillon.Reason
	sent, delivered, read, ended int64
}

// Skipped is the event of its n-th message, which ended as it was accepted.
func (n *Notification) Skipped(i int, number string, reason carillon.Reason) *Event {
	m := message{companyID: n.CompanyID, notificationID: n.ID, campaign: n.Campaign, senderID: n.SenderID, number: number, reason: reason}
	m.key = carillon.SeqOf(n.ID).Message(i)
	return m.event(carillon.StateSkipped, "", db.Millis(n.At))
}

func (m *message) event(state, previous carillon.State, at int64) *Event {
	p := payload{
		NotificationID: m.notificationID, MessageID: m.notificationID + "." + strconv.Itoa(m.key.N()), Number: m.number, Campaign: m.campaign,
		SenderID: m.senderID, State: state, Previous: previous, Attempt: m.attempt,
	}
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

// changes are the events of what happened to a message since it was as before: of every state that it reached on its way up. What
// a receipt says of a state that it has passed is none.
func (m *message) changes(before *message) (all []*Event) {
	previous := before.state()
	reach := func(to rank.Rank, at, had int64) {
		if before.rank < to && to <= m.rank && at > 0 && had == 0 {
			all = append(all, m.event(to.State(), previous, at))
			previous = to.State()
		}
	}
	reach(rank.Sent, m.sent, before.sent)
	if m.rank != before.rank && slices.Contains([]carillon.State{carillon.StateFailed, carillon.StateCanceled, carillon.StateSkipped}, m.rank.State()) {
		all = append(all, m.event(m.rank.State(), previous, m.ended))
	}
	reach(rank.Delivered, m.delivered, before.delivered)
	reach(rank.Read, m.read, before.read)
	return all
}

// Messages runs change and records an event for each state that it brings one of these messages to. Without keys it only runs
// change: whoever is not subscribed to pays nothing. The messages are locked by it as change locks them, but sorted.
func Messages(ctx context.Context, tx *db.Tx, keys []carillon.MessageKey, change func() error) error {
	if len(keys) == 0 {
		return change()
	}
	c := ChangesOf(keys)
	if err := tx.Run(ctx, c.Before(tx.DB())); err != nil {
		return fmt.Errorf("read messages: %w", err)
	}
	if err := change(); err != nil {
		return err
	}
	if err := tx.Run(ctx, c.After(tx.DB())); err != nil {
		return fmt.Errorf("read messages: %w", err)
	}
	tx.Record(c)
	return nil
}

// Changes are the events of what happens to messages between two statements. Both are of one transaction, which records the changes.
type Changes struct {
	keys          []carillon.MessageKey
	before, after []message // sorted by key
	found         []*Event  // nil: not looked for yet
}

// ChangesOf sorts the keys.
func ChangesOf(keys []carillon.MessageKey) *Changes {
	slices.Sort(keys)
	return &Changes{keys: slices.Compact(keys)}
}

// Before reads how far the messages have come. On PostgreSQL it locks them: what another transaction changes meanwhile is not to be
// taken for a change of this one.
func (c *Changes) Before(d *db.DB) db.Statement {
	lock := ""
	if !d.SQLite() {
		lock = " FOR UPDATE"
	}
	return db.Statement{
		SQL: `SELECT id, q, rank, COALESCE(sent_at, 0), COALESCE(delivered_at, 0), COALESCE(read_at, 0)
		FROM message WHERE id ` + d.In(1) + " ORDER BY id" + lock,
		Args: []any{d.List(c.keys)},
		Scan: func(scan db.Scan) error {
			var m message
			err := scan(&m.key, &m.q, &m.rank, &m.sent, &m.delivered, &m.read)
			c.before = append(c.before, m)
			return err
		},
	}
}

// After reads the messages whole.
func (c *Changes) After(d *db.DB) db.Statement {
	return db.Statement{
		SQL: `SELECT m.id, n.company_id, n.id, n.campaign, s.id, m.number, m.q, m.attempt, m.rank, COALESCE(m.reason, ''),
		COALESCE(m.sent_at, 0), COALESCE(m.delivered_at, 0), COALESCE(m.read_at, 0), COALESCE(m.ended_at, 0)
		FROM message AS m JOIN notification AS n ON n.seq = m.id / 128 JOIN sender AS s ON s.uid = n.sender
		WHERE m.id ` + d.In(1) + " ORDER BY m.id",
		Args: []any{d.List(c.keys)},
		Scan: func(scan db.Scan) error {
			var m message
			err := scan(&m.key, &m.companyID, &m.notificationID, &m.campaign, &m.senderID, &m.number, &m.q, &m.attempt, &m.rank, &m.reason,
				&m.sent, &m.delivered, &m.read, &m.ended)
			c.after = append(c.after, m)
			return err
		},
	}
}

// events are the same at each call.
func (c *Changes) events() []*Event {
	if c.found == nil {
		c.found = []*Event{}
		for i := range c.after {
			m := &c.after[i]
			if at, there := slices.BinarySearchFunc(c.before, m.key, func(b message, k carillon.MessageKey) int { return cmp.Compare(b.key, k) }); there {
				c.found = append(c.found, m.changes(&c.before[at])...)
			}
		}
	}
	return c.found
}

// Call records the event of a call that was brought to its state in this transaction: started, completed, or failed, where
// the state says how else it ended. result is what the agent found out.
func Call(ctx context.Context, tx *db.Tx, key carillon.MessageKey, result carillon.Details) error {
	p := payload{callPayload: &callPayload{Direction: "outgoing", Result: result}}
	var companyID string
	var dialed, answered, ended int64
	if err := tx.Row(ctx, []any{
		&companyID, &p.NotificationID, &p.Campaign, &p.SenderID, &p.AgentID, &p.Number, &p.State, &p.Reason, &p.Attempt, &p.AnsweredBy, &p.EndedBy, &dialed, &answered, &ended,
	}, `SELECT n.company_id, n.id, n.campaign, s.id, n.agent_id, c.number, c.state, c.reason, c.attempt, c.answered_by, c.ended_by, c.dialed_at, c.answered_at, c.ended_at
		FROM call AS c JOIN notification AS n ON n.seq = c.id / 128 JOIN sender AS s ON s.uid = n.sender WHERE c.id = $1`, int64(key)); err != nil {
		return fmt.Errorf("read call: %w", err)
	}
	p.CallID = p.NotificationID
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

// IncomingCall is a call to a line as far as events go.
type IncomingCall struct {
	ID, CompanyID, AgentID, Number string
	SenderUID                      int64
	State                          carillon.State
	Reason                         carillon.Reason
	EndedBy                        string
	Result                         carillon.Details
	AnsweredAt, At                 time.Time // the latter of its state
}

// Incoming records the event of a call to a line that was brought to its state in this transaction.
func Incoming(ctx context.Context, tx *db.Tx, c *IncomingCall) error {
	p := payload{
		Number: c.Number, State: c.State, Reason: c.Reason,
		callPayload: &callPayload{CallID: c.ID, Direction: "incoming", AgentID: c.AgentID, EndedBy: c.EndedBy, Result: c.Result},
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
