package graphtest

import (
	"fmt"
	"maps"
	"time"
)

// Somebody is a person with several addresses. The callbacks of each stage are delivered in any order and more than once;
// those of a change follow those of the previous stage.
type Somebody struct {
	I        int
	Stages   [][]Inbound  // messages, without timestamps
	Statuses [][]Reported // of notifications, by stage
	Lines    []string     // every number and id, in the end
	Passed   []string     // those that were the person's and are another's in the end
	Texts    []string
	Late     []string // of them, those sent before a change that comes before them
}

// Reported is the recipient in a status of a message.
type Reported struct{ Number, UserID string }

const (
	early  = "early"  // marks a message that was sent before the change
	second = "second" // marks a change that follows another
)

func (c *Somebody) writes(stage int, number, user string) {
	text := fmt.Sprintf("person %d text %d", c.I, len(c.Texts))
	c.Texts = append(c.Texts, text)
	c.add(stage, number, user, Inbound{
		"id": fmt.Sprintf("wamid.%d.%d", c.I, len(c.Texts)), "type": "text", "text": map[string]any{"body": text},
	})
}

// wrote adds a message that was sent before the change and comes after it.
func (c *Somebody) wrote(stage int, number, user string) {
	c.writes(stage, number, user)
	c.Late = append(c.Late, c.Texts[len(c.Texts)-1])
	c.Stages[stage][len(c.Stages[stage])-1]["timestamp"] = early
}

func (c *Somebody) add(stage int, number, user string, m Inbound) {
	for len(c.Stages) <= stage {
		c.Stages, c.Statuses = append(c.Stages, nil), append(c.Statuses, nil)
	}
	if number != "" {
		m["from"] = number
	}
	if user != "" {
		m["from_user_id"] = user
	}
	c.Stages[stage] = append(c.Stages[stage], m)
}

// delivers adds the status of a notification, after a message of the same stage.
func (c *Somebody) delivers(stage int, number, user string) {
	c.Statuses[stage] = append(c.Statuses[stage], Reported{number, user})
}

// Dated returns a message with its timestamp. Those of later stages are sent later; early ones precede all stages.
func Dated(m Inbound, stage int, begin time.Time) Inbound {
	m = maps.Clone(m)
	at := begin.Add(time.Duration(stage) * time.Minute)
	switch m["timestamp"] {
	case early:
		at = begin
	case second:
		at = at.Add(time.Second)
	}
	m["timestamp"] = fmt.Sprint(at.Unix())
	return m
}

// CrowdStages is the number of stages of a crowd.
const CrowdStages = 4

// Crowd returns people with a number, without one, with two forms of one, and people who show their number, share it or
// change it with their id; some of the numbers become those of others. They cause about 500 messages.
func Crowd() (all []*Somebody) {
	for i := range 100 {
		dialed, id := fmt.Sprintf("5255%08d", i), fmt.Sprintf("MX.%dA", i)
		other := "521" + dialed[2:]
		c := &Somebody{I: i, Lines: []string{dialed, other, id}}
		all = append(all, c)
		switch i % 5 {
		case 0:
			for range 5 {
				c.writes(0, dialed, "")
			}
		case 1:
			for range 5 {
				c.writes(0, "", id)
			}
		case 2: // in both forms, with and without the id
			c.writes(0, dialed, "")
			c.writes(0, other, "")
			c.writes(0, "", id)
			c.writes(0, other, id)
			c.writes(0, dialed, id)
		case 3: // shares the number
			c.writes(0, "", id)
			c.writes(0, "", id)
			c.add(0, "", id, Inbound{"id": fmt.Sprintf("wamid.%d.card", i), "type": "contacts", "contacts": []any{map[string]any{
				"origin": "contact_request", "phones": []any{map[string]any{"phone": "+" + dialed, "wa_id": other}},
			}}})
			c.writes(1, other, "")
			c.writes(1, "", id)
			c.delivers(1, dialed, id)
		case 4:
			if next := c.changes(dialed, other, id); next != nil {
				all = append(all, next)
			}
		}
	}
	return all
}

// moves reports that a number and its id have changed.
func (c *Somebody) moves(from, id, number, newID, at string) {
	m := Inbound{"id": "wamid." + newID, "type": "system", "system": map[string]any{
		"type": "user_changed_number", "body": "changed", "wa_id": number, "user_id": newID, "previous_user_id": id,
		"parent_user_id": fmt.Sprintf("MX.ENT.%d", c.I),
	}}
	if at != "" {
		m["timestamp"] = at
	}
	c.add(1, from, "", m)
}

// changes gives the person a new number, and a new id with it. It returns the next owner of the number, if there is one.
func (c *Somebody) changes(dialed, other, id string) (next *Somebody) {
	number, newID := fmt.Sprintf("5256%08d", c.I), fmt.Sprintf("MX.%dB", c.I)
	c.Lines = append(c.Lines, number, newID)
	c.writes(0, dialed, "")
	c.writes(0, other, id)
	c.moves(other, id, number, newID, "")
	c.delivers(1, dialed, id)
	if c.I%4 == 0 { // and again a second later: the two are reported in any order
		last, lastID := fmt.Sprintf("5257%08d", c.I), fmt.Sprintf("MX.%dD", c.I)
		c.Lines = append(c.Lines, last, lastID)
		c.moves(number, newID, last, lastID, second)
		c.delivers(1, number, newID)
		number, newID = last, lastID
	}
	c.writes(2, number, "")
	c.writes(2, "", newID)
	c.wrote(2, dialed, "")
	c.wrote(2, other, id)
	c.wrote(2, "", id)
	c.delivers(2, dialed, id)
	c.delivers(2, number, newID)
	if c.I%2 == 0 {
		return nil
	}
	c.wrote(3, other, "")
	c.wrote(3, "", id)
	c.Lines, c.Passed = []string{number, newID, id}, []string{dialed, other}
	nextID := fmt.Sprintf("MX.%dC", c.I)
	next = &Somebody{I: 100 + c.I, Lines: []string{dialed, other, nextID}}
	next.writes(2, other, nextID)
	next.delivers(2, dialed, nextID)
	next.writes(3, dialed, "")
	next.writes(3, "", nextID)
	return next
}
