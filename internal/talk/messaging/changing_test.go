package messaging_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/base/identity"
	"carillon/internal/store/chats"
)

// changing is somebody with several addresses. The callbacks of each stage are delivered in any order and more than once;
// the last message of the channel about a change comes only after those of the stage before.
type changing struct {
	i      int
	stages [][]message
	lines  []string // every number and id
	texts  []string
}

// writes adds a message from a number, an id or both.
func (c *changing) writes(stage int, number, user string) {
	n := len(c.texts)
	text := fmt.Sprintf("person %d text %d", c.i, n)
	c.texts = append(c.texts, text)
	c.add(stage, number, user, message{"id": fmt.Sprintf("wamid.%d.%d", c.i, n), "type": "text", "text": map[string]any{"body": text}})
}

func (c *changing) add(stage int, number, user string, m message) {
	for len(c.stages) <= stage {
		c.stages = append(c.stages, nil)
	}
	if number != "" {
		m["from"] = number
	}
	if user != "" {
		m["from_user_id"] = user
	}
	c.stages[stage] = append(c.stages[stage], m)
}

// crowd returns people with a number, without one, with two forms of one, and people who show their number, share it or
// change it with their id. Together they send 500 callbacks.
func crowd() (all []*changing) {
	for i := range 100 {
		dialed, id := fmt.Sprintf("5255%08d", i), fmt.Sprintf("MX.%dA", i)
		other, newID := "521"+dialed[2:], fmt.Sprintf("MX.%dB", i)
		c := &changing{i: i, lines: []string{dialed, other, id}}
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
			c.add(0, "", id, message{"id": fmt.Sprintf("wamid.%d.card", i), "type": "contacts", "contacts": []any{map[string]any{
				"origin": "contact_request", "phones": []any{map[string]any{"phone": "+" + dialed, "wa_id": other}},
			}}})
			c.writes(1, other, "")
			c.writes(1, "", id)
		case 4: // gets a new number, and a new id with it
			newLine := fmt.Sprintf("5256%08d", i)
			c.lines = append(c.lines, newLine, newID)
			c.writes(0, dialed, "")
			c.writes(0, other, id)
			c.add(1, other, "", message{"id": fmt.Sprintf("wamid.%d.new", i), "type": "system", "system": map[string]any{
				"type": "user_changed_number", "body": "changed", "wa_id": newLine, "user_id": newID, "previous_user_id": id,
				"parent_user_id": fmt.Sprintf("MX.ENT.%d", i),
			}})
			c.writes(2, newLine, "")
			c.writes(2, "", newID)
		}
		all = append(all, c)
	}
	return all
}

// Callbacks of 100 people come shuffled and doubled, and a node is killed among them. Each person has one contact, every
// text is shown once, and every answer goes to an address of the person who wrote.
func TestEverybodyIsOneContact(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.agent = "robin"
		r.run()
		random := rand.New(rand.NewPCG(48, 3)) //nolint:gosec // reproducible
		all, now := crowd(), r.now()
		for stage := range 3 {
			var due []message
			for _, c := range all {
				if stage < len(c.stages) {
					due = append(due, append(c.stages[stage], c.stages[stage]...)...)
				}
			}
			random.Shuffle(len(due), func(i, j int) { due[i], due[j] = due[j], due[i] })
			for i, m := range due {
				m["timestamp"] = fmt.Sprint(now.Unix())
				r.take(r.sender, unnamed(t, m))
				if i == len(due)/2 {
					r.kill()
					r.build()
					r.run()
				}
			}
			r.untilTaken()
		}
		owned := map[string]int{}
		for _, c := range all {
			contact := ""
			for _, address := range c.lines {
				x := identity.Identity{Kind: identity.Line, Key: identity.Number(address)}
				if identity.ValidUser(address) {
					x = identity.Identity{Kind: identity.Person, Scope: "2000001", Key: identity.User(address)}
				}
				found, err := r.db.Chats.OfPerson(t.Context(), r.company.ID, x)
				if err != nil {
					t.Fatal(err)
				}
				if found != nil && contact != "" && contact != found.ContactID {
					t.Errorf("person %d is two contacts: %s is another one's", c.i, address)
				}
				if found != nil {
					contact = found.ContactID
				}
			}
			if owned[contact]++; contact == "" || owned[contact] > 1 {
				t.Errorf("person %d has the contact %q of somebody else or none", c.i, contact)
				continue
			}
			r.checkShown(c, contact)
		}
	})
}

// unnamed returns the body of a callback with a message whose author has no name.
func unnamed(t *testing.T, m message) []byte {
	number, _ := m["from"].(string)
	user, _ := m["from_user_id"].(string)
	return callback(t, cmp.Or(user, number), "", m)
}

// untilTaken waits until every message is taken in and every reply is sent.
func (r *rig) untilTaken() {
	r.t.Helper()
	r.until("everything is taken in and answered", func() bool {
		waiting, err := r.db.Replies.Waiting(r.t.Context(), r.now().Add(time.Hour), 1, nil)
		if err != nil || len(waiting) > 0 {
			return false
		}
		due, err := r.db.Replies.DueReplies(r.t.Context(), r.now().Add(time.Hour), 1, nil)
		return err == nil && len(due) == 0
	})
	r.comeToRest()
}

// checkShown checks that a person's texts are shown once, in the contact's conversations, and answered to the person only.
func (r *rig) checkShown(c *changing, contact string) {
	r.t.Helper()
	conversations, err := r.db.Chats.OfContact(r.t.Context(), r.company.ID, contact, "", 20)
	if err != nil {
		r.t.Fatal(err)
	}
	shown := map[string]int{}
	for _, x := range conversations {
		turns, err := r.db.Chats.Turns(r.t.Context(), r.company.ID, x.ID, 0, 1000)
		if err != nil {
			r.t.Fatal(err)
		}
		for _, t := range turns {
			if t.Author == chats.Visitor {
				shown[t.Text]++
			}
			if !strings.Contains(t.Text, fmt.Sprintf("person %d ", c.i)) && strings.Contains(t.Text, "person ") {
				r.t.Errorf("person %d sees %q", c.i, t.Text)
			}
		}
	}
	for _, text := range c.texts {
		if shown[text] != 1 {
			r.t.Errorf("%q is shown %d times", text, shown[text])
		}
	}
	r.channel.mu.Lock()
	defer r.channel.mu.Unlock()
	for address, posts := range r.channel.posts {
		for _, p := range posts {
			if strings.Contains(p.Text, fmt.Sprintf("person %d ", c.i)) && !slices.Contains(c.lines, address) {
				r.t.Errorf("%q is sent to %s", p.Text, address)
			}
		}
	}
}
