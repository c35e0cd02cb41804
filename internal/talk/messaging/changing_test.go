package messaging_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/send/whatsapp/graphtest"
	"carillon/internal/store/chats"
)

// portfolio is the scope of the ids of people at the rig's sender.
const portfolio = "2000001"

// Callbacks of 100 people come shuffled and doubled, and a node is killed among them. Each person has one contact, every
// text is shown once, and every answer goes to an address of the person who wrote.
func TestEverybodyIsOneContact(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.agent = "robin"
		r.run()
		random := rand.New(rand.NewPCG(48, 3)) //nolint:gosec // reproducible
		all, now := graphtest.Crowd(), r.now().Add(-time.Hour)
		for stage := range graphtest.CrowdStages {
			var due []func()
			for _, c := range all {
				if stage >= len(c.Stages) {
					continue
				}
				for _, m := range slices.Repeat(c.Stages[stage], 2) {
					due = append(due, func() { r.take(r.sender, unnamed(t, message(graphtest.Dated(m, stage, now)))) })
				}
				for _, x := range slices.Repeat(c.Statuses[stage], 2) {
					due = append(due, func() { r.learn(x) })
				}
			}
			for _, x := range r.posted() {
				due = append(due, func() { r.report(r.sender, x, carillon.StateRead, carillon.StateDelivered) })
			}
			random.Shuffle(len(due), func(i, j int) { due[i], due[j] = due[j], due[i] })
			for i, deliver := range due {
				deliver()
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
			for _, address := range c.Lines {
				x := identity.Identity{Kind: identity.Line, Key: identity.Number(address)}
				if identity.ValidUser(address) {
					x = identity.Identity{Kind: identity.Person, Scope: portfolio, Key: identity.User(address)}
				}
				found, err := r.db.Chats.OfPerson(t.Context(), r.company.ID, x)
				if err != nil {
					t.Fatal(err)
				}
				if found != nil && contact != "" && contact != found.ContactID {
					t.Errorf("person %d is two contacts: %s is another one's", c.I, address)
				}
				if found != nil {
					contact = found.ContactID
				}
			}
			if owned[contact]++; contact == "" || owned[contact] > 1 {
				t.Errorf("person %d has the contact %q of somebody else or none", c.I, contact)
				continue
			}
			r.checkShown(c, contact)
		}
	})
}

// learn stores the recipient in a status of a notification.
func (r *rig) learn(x graphtest.Reported) {
	r.t.Helper()
	id := identity.Identity{Kind: identity.Person, Scope: portfolio, Key: identity.User(x.UserID)}
	reports := []chats.Report{{Number: x.Number, As: x.Number, Person: &id}}
	if err := r.db.Contacts.Learn(r.t.Context(), r.company.ID, reports, r.now()); err != nil {
		r.t.Error(err)
	}
}

// unnamed returns the body of a callback with a message whose author has no name.
func unnamed(t *testing.T, m message) []byte {
	number, _ := m["from"].(string)
	user, _ := m["from_user_id"].(string)
	return callback(t, cmp.Or(user, number), "", m)
}

// isAbout reports whether a reply repeats one of some texts.
func isAbout(reply string, texts []string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(reply, text) })
}

// posted returns all accepted replies.
func (r *rig) posted() (all []post) {
	r.channel.mu.Lock()
	defer r.channel.mu.Unlock()
	for _, posts := range r.channel.posts {
		for _, x := range posts {
			if x.accepted {
				all = append(all, x)
			}
		}
	}
	return all
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
func (r *rig) checkShown(c *graphtest.Somebody, contact string) {
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
			if !strings.Contains(t.Text, fmt.Sprintf("person %d ", c.I)) && strings.Contains(t.Text, "person ") {
				r.t.Errorf("person %d sees %q", c.I, t.Text)
			}
		}
	}
	for _, text := range c.Texts {
		if shown[text] != 1 {
			r.t.Errorf("%q is shown %d times", text, shown[text])
		}
	}
	r.channel.mu.Lock()
	defer r.channel.mu.Unlock()
	for address, posts := range r.channel.posts {
		for _, p := range posts {
			if strings.Contains(p.Text, fmt.Sprintf("person %d ", c.I)) && !slices.Contains(c.Lines, address) &&
				(!slices.Contains(c.Passed, address) || isAbout(p.Text, c.Late)) {
				r.t.Errorf("%q is sent to %s", p.Text, address)
			}
		}
	}
}
