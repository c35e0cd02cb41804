package messaging_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/send/whatsapp"
	"carillon/internal/store/chats"
)

// person writes to a sender and receives its messages.
type person struct {
	*rig
	number  string // empty if the channel does not report it
	user    string // the channel's ID of the person; empty if it reports none
	n       int    // texts written
	contact string // empty if not known yet
}

func (r *rig) person(number string) *person { return &person{rig: r, number: number} }

func (p *person) message(id, text string, at time.Time) message {
	return p.sign(message{"id": id, "timestamp": fmt.Sprint(at.Unix()), "type": "text", "text": map[string]any{"body": text}})
}

// callback returns the body of a callback with messages of a person.
func callback(t *testing.T, number, name string, messages ...message) []byte {
	t.Helper()
	contact := map[string]any{"profile": map[string]string{"name": name, "username": strings.ToLower(strings.ReplaceAll(name, " ", "."))}}
	if identity.ValidUser(number) {
		contact["user_id"] = number
	} else {
		contact["wa_id"] = number
	}
	body, err := json.Marshal(map[string]any{"object": "whatsapp_business_account", "entry": []any{map[string]any{
		"id": "2000001", "changes": []any{map[string]any{"field": "messages", "value": map[string]any{
			"messaging_product": "whatsapp", "metadata": map[string]string{
				"display_phone_number": "15555550100",
				"phone_number_id":      phoneID,
			},
			"contacts": []any{contact}, "messages": messages,
		}}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

const phoneID = "1000001"

// take delivers a callback to a sender.
func (r *rig) take(s *carillon.Sender, body []byte) {
	r.t.Helper()
	cb, err := whatsapp.ParseCallback(body, s.UID)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.Receive(r.t.Context(), s, cb.Inbound[phoneID]); err != nil {
		r.t.Fatal(err)
	}
}

// writes delivers messages of the person, each twice, the second time in reverse order.
func (p *person) writes(messages ...message) {
	p.t.Helper()
	for range 2 {
		p.take(p.sender, callback(p.t, p.address(), "Ana "+p.address(), messages...))
		slices.Reverse(messages)
	}
}

// text delivers a text of the person, sent now.
func (p *person) text(text string) {
	p.t.Helper()
	p.n++
	p.writes(p.message(fmt.Sprintf("wamid.%s.%d", p.address(), p.n), text, p.now()))
}

// write delivers a message with the members of a JSON object.
func (p *person) write(id, members string) {
	p.t.Helper()
	m := p.sign(message{"id": id, "timestamp": fmt.Sprint(p.now().Unix())})
	if err := json.Unmarshal([]byte(members), &m); err != nil {
		p.t.Fatalf("%s: %v", members, err)
	}
	p.writes(m)
}

// gets returns the replies accepted for the person, in order and in short form.
func (p *person) gets() (all []string) {
	for _, x := range p.channel.of(p.address()) {
		if !x.accepted {
			continue
		}
		line := x.Text
		for _, c := range x.Choices {
			line += " [" + c + "]"
		}
		if x.File != nil {
			line += fmt.Sprintf(" (%s %s %s)", x.File.Name, x.File.Type, x.File.URL)
		}
		all = append(all, line)
	}
	return all
}

// got waits for replies to the person, until their outcomes are stored, and checks that they are exactly these.
func (p *person) got(want ...string) {
	p.t.Helper()
	p.until(fmt.Sprintf("%s gets %q, not %q", p.address(), p.gets(), want), func() bool { return len(p.gets()) >= len(want) })
	p.conversation() // remembers the contact, even if the number changes later
	p.untilStored()
	p.comeToRest()
	if diff := cmp.Diff(want, p.gets()); diff != "" {
		p.t.Fatalf("%s gets others (-want +got):\n%s\nand the conversation shows\n%s", p.address(), diff, strings.Join(p.lines(), "\n"))
	}
}

// untilStored waits until no attempt to send the person a reply is under way: the channel has a reply before its outcome is
// stored.
func (p *person) untilStored() {
	p.t.Helper()
	id := p.conversation().ID
	p.until("the outcomes are stored", func() bool {
		var n int
		err := p.db.DB.Row(p.t.Context(), []any{&n},
			"SELECT COUNT(*) FROM reply WHERE conversation_id = $1 AND state = 'sending' AND node <> ''", id)
		return err == nil && n == 0
	})
}

// last returns the last reply posted for the person.
func (p *person) last() post {
	p.t.Helper()
	all := p.channel.of(p.address())
	if len(all) == 0 {
		p.t.Fatalf("nothing was posted for %s", p.address())
	}
	return all[len(all)-1]
}

// conversation returns the person's conversation, or nil.
func (p *person) conversation() *chats.Conversation {
	p.t.Helper()
	if p.contact != "" { // independent of the person's current number and ID
		all, err := p.db.Chats.OfContact(p.t.Context(), p.company.ID, p.contact, "", 1)
		if err != nil {
			p.t.Fatal(err)
		}
		if len(all) > 0 {
			return all[0]
		}
	}
	for _, x := range p.known() {
		c, err := p.db.Chats.OfPerson(p.t.Context(), p.company.ID, x)
		if err != nil {
			p.t.Fatal(err)
		}
		if c != nil {
			p.contact = c.ContactID
			return c
		}
	}
	return nil
}

// newestRun returns the newest run in the person's conversation.
func (p *person) newestRun() *chats.Run {
	p.t.Helper()
	all, err := p.db.Runs.OfConversation(p.t.Context(), p.company.ID, p.conversation().ID, 1)
	if err != nil || len(all) != 1 {
		p.t.Fatal(all, err)
	}
	return all[0]
}

// turns returns the turns of the person's conversation.
func (p *person) turns() []chats.Turn {
	p.t.Helper()
	c := p.conversation()
	if c == nil {
		return nil
	}
	turns, err := p.db.Chats.Turns(p.t.Context(), p.company.ID, c.ID, 0, 1000)
	if err != nil {
		p.t.Fatal(err)
	}
	return turns
}

// lines returns the turns of the person's conversation in short form, with the reasons of failed replies.
func (p *person) lines() (lines []string) {
	p.t.Helper()
	turns := p.turns()
	if len(turns) == 0 {
		return nil
	}
	states, err := p.Deliveries(p.t.Context(), p.company.ID, p.conversation().ID, turns)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, t := range turns {
		parts := []string{map[chats.Author]string{chats.Visitor: ">", chats.System: "*", chats.Agent: "<"}[t.Author]}
		for _, text := range []string{t.Extra.Event, t.Text, t.Extra.Why} {
			if text != "" {
				parts = append(parts, text)
			}
		}
		if f := t.Extra.File; f != nil {
			parts = append(parts, fmt.Sprintf("(%s %s)", f.Name, f.Type))
		}
		if len(t.Extra.Choices) > 0 {
			parts = append(parts, fmt.Sprint(t.Extra.Choices))
		}
		if t.Extra.About != "" {
			parts = append(parts, "{"+t.Extra.About+"}")
		}
		if d := states[t.Seq]; d.State == "failed" || d.State == "unknown" {
			parts = append(parts, "! "+d.Reason)
		}
		lines = append(lines, strings.Join(parts, " "))
	}
	return lines
}

// shows waits until the conversation shows exactly these lines.
func (p *person) shows(want ...string) {
	p.t.Helper()
	p.until(fmt.Sprintf("of %s is shown %q", p.address(), want), func() bool {
		got := p.lines()
		return len(got) > len(want) || slices.Equal(got, want)
	})
	p.comeToRest()
	if diff := cmp.Diff(want, p.lines()); diff != "" {
		p.t.Fatalf("of %s is shown something else (-want +got):\n%s", p.address(), diff)
	}
}

// nameless returns a person whose number the channel does not report.
func (r *rig) nameless(user string) *person { return &person{rig: r, user: user} }

// address returns the number of the person, or the ID if there is none.
func (p *person) address() string {
	if p.number != "" {
		return p.number
	}
	return p.user
}

// sign adds the author to a message.
func (p *person) sign(m message) message {
	if p.number != "" {
		m["from"] = p.number
	}
	if p.user != "" {
		m["from_user_id"] = p.user
	}
	return m
}

// known returns the identities of the person.
func (p *person) known() (all []identity.Identity) {
	if p.user != "" {
		all = append(all, identity.Identity{Kind: identity.Person, Scope: p.portfolios[p.sender.ID], Key: identity.User(p.user)})
	}
	if p.number != "" {
		all = append(all, identity.Identity{Kind: identity.Line, Key: identity.Number(p.number)})
	}
	return all
}

// message is a message as WhatsApp sends it: from, id, timestamp, type, and the member named like the type.
type message map[string]any
