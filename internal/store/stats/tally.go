package stats

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"carillon"
	"carillon/internal/store/db"
	"carillon/internal/store/rank"
)

// key holds the common properties of recipients that are counted together.
type key struct {
	Company  string           `json:"o"`
	Campaign string           `json:"c"`
	Hour     int64            `json:"h"`
	Class    carillon.Class   `json:"t"`
	Sender   int64            `json:"s"`
	Template string           `json:"n,omitempty"`
	Language string           `json:"l,omitempty"`
	Channel  carillon.Channel `json:"v"`
}

// counted holds the counts of a key, and the acceptance times of its first and last notification; zero if unknown.
type counted struct {
	Counts

	first, at int64
}

// accepted records acceptance times of notifications.
func (c *counted) accepted(first, last int64) {
	if c.at = max(c.at, last); first > 0 && (c.first == 0 || first < c.first) {
		c.first = first
	}
}

// tally counts notifications and their recipients, by block.
type tally struct {
	blocks map[Block]map[key]*counted
	calls  map[Block]calls
	of     map[carillon.Seq]of
	rows   int
}

// of holds the counters for the recipients of a notification.
type of struct {
	in    *counted
	due   int64
	key   key
	agent string
}

func newTally() *tally {
	return &tally{blocks: map[Block]map[key]*counted{}, calls: map[Block]calls{}, of: map[carillon.Seq]of{}}
}

// NotificationColumns are the columns of a notification that a tally reads.
const NotificationColumns = "seq, company_id, channel, sender, class, campaign, name_template, language, created_at, due_at, agent_id"

// notification reads a row of NotificationColumns.
func (t *tally) notification(scan db.Scan) error {
	var seq carillon.Seq
	var k key
	var created, due int64
	var agent string
	if err := scan(&seq, &k.Company, &k.Channel, &k.Sender, &k.Class, &k.Campaign, &k.Template, &k.Language, &created, &due,
		&agent); err != nil {
		return err
	}
	k.Campaign, k.Template, k.Language = valid(k.Campaign), valid(k.Template), valid(k.Language)
	k.Hour = created - created%time.Hour.Milliseconds()
	b := BlockOf(seq)
	if t.blocks[b] == nil {
		t.blocks[b] = map[key]*counted{}
	}
	in := t.blocks[b][k]
	if in == nil {
		in = &counted{}
		t.blocks[b][k] = in
	}
	in.accepted(created, created)
	t.of[seq] = of{in, due, k, valid(agent)}
	t.rows++
	return nil
}

// MessageColumns are the columns of a message that a tally reads.
const MessageColumns = "id, q, rank, COALESCE(sent_at, 0), COALESCE(delivered_at, 0), COALESCE(read_at, 0)"

// message reads a row of MessageColumns. Messages of unread notifications are ignored.
func (t *tally) message(scan db.Scan) error {
	var id carillon.MessageKey
	var q int
	var r rank.Rank
	var sent, delivered, read int64
	if err := scan(&id, &q, &r, &sent, &delivered, &read); err != nil {
		return err
	}
	t.rows++
	n, ok := t.of[id.Seq()]
	if !ok {
		return nil
	}
	c := &n.in.Counts
	c.Accepted++
	// A receipt may arrive before those of earlier states, or instead of them.
	wasRead := read > 0 || r == rank.Read
	wasDelivered := wasRead || delivered > 0 || r == rank.Delivered
	add(&c.Read, wasRead)
	add(&c.Delivered, wasDelivered)
	add(&c.Sent, wasDelivered || sent > 0 || r == rank.Sent)
	add(&c.Waiting, q > 0)
	add(&c.Failed, r == rank.Failed || r == rank.FailedUnknown)
	add(&c.Skipped, r == rank.Skipped)
	add(&c.Canceled, r == rank.Canceled)
	if sent > 0 {
		c.late(time.Duration(sent-n.due) * time.Millisecond)
	}
	return nil
}

func add(n *int64, one bool) {
	if one {
		*n++
	}
}

// CallColumns are the columns of a call that a tally reads.
const CallColumns = "id, q, state, dials, dialed_at, answered_at, sender"

// call reads a row of CallColumns. A call that followed a message counts among the calls of its line only: its recipient
// is already counted.
func (t *tally) call(scan db.Scan) error {
	var id carillon.MessageKey
	var q, dials int
	var state carillon.State
	var dialed, answered, line int64
	if err := scan(&id, &q, &state, &dials, &dialed, &answered, &line); err != nil {
		return err
	}
	t.rows++
	n, ok := t.of[id.Seq()]
	if !ok {
		return nil
	}
	b := BlockOf(id.Seq())
	if t.calls[b] == nil {
		t.calls[b] = calls{}
	}
	if n.key.Channel == carillon.Messaging {
		n.key.Sender = line
		t.calls[b].counted(&n, q, state)
		return nil
	}
	c := &n.in.Counts
	c.Accepted++
	add(&c.Sent, dials > 0 || dialed > 0 || answered > 0)
	add(&c.Delivered, answered > 0)
	add(&c.Waiting, q > 0)
	t.calls[b].counted(&n, q, state)
	switch state {
	case carillon.StateSkipped:
		c.Skipped++
	case carillon.StateCanceled:
		c.Canceled++
	case carillon.StateFailed, carillon.StateBusy, carillon.StateNoAnswer, carillon.StateRejected:
		add(&c.Failed, q == 0)
	default:
	}
	return nil
}

// part is an element of a block's document.
type part struct {
	key

	N []int64 `json:"k"` // the fields without trailing zeros
}

// document returns the counts of a block in JSON; "" if there are none.
func document(all map[key]*counted) string {
	parts := make([]part, 0, len(all))
	for k, c := range all {
		if c.zero() {
			continue
		}
		p := part{key: k}
		for i, n := range c.fields() {
			if *n != 0 {
				p.N = append(p.N, make([]int64, i-len(p.N))...)
				p.N = append(p.N, *n)
			}
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		return ""
	}
	text, _ := json.Marshal(parts) // texts and numbers cannot fail
	return string(text)
}

// parsed reads a block's document.
func parsed(doc string) (map[key]*counted, error) {
	var parts []part
	if err := json.Unmarshal([]byte(doc), &parts); err != nil {
		return nil, fmt.Errorf("read what was counted: %w", err)
	}
	all := make(map[key]*counted, len(parts))
	for _, p := range parts {
		c := &counted{}
		fields := c.fields()
		for i, n := range p.N {
			if i < len(fields) {
				*fields[i] = n
			}
		}
		all[p.key] = c
	}
	return all, nil
}

// valid returns a text that JSON preserves unchanged.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
