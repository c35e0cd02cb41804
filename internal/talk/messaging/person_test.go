package messaging_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/store/chats"
	"carillon/internal/talk/conversation"
	"carillon/internal/talk/flow"
)

const ana = "US.13491208655302741918"

func TestAPersonWithoutANumberIsAnsweredByTheID(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.agent = "robin"
		r.run()
		p := r.nameless(ana)
		p.text("echo")
		p.got("What?")
		p.text("a cake")
		p.got("What?", "a cake")
		p.text("Hola")
		p.got("What?", "a cake", "es: Hola\nhttps://acme.test/faq")
		if x := p.last(); x.To != "" || x.UserID != ana {
			t.Errorf("the reply goes to %q, %q", x.To, x.UserID)
		}
		contact, err := r.db.Contacts.ContactOf(t.Context(), r.company.ID, p.conversation().ContactID)
		if err != nil || contact.UserID != ana || contact.Number != "" || contact.Name != "Ana "+ana ||
			contact.Username != strings.ToLower("ana."+ana) {
			t.Errorf("the contact is %+v, %v", contact, err)
		}
		ben := conversation.By{CompanyID: r.company.ID, AccountID: carillon.NewID(r.now()), Name: "Ben"}
		if _, err := r.talks.Desk.Take(t.Context(), ben, p.conversation().ID, ""); err != nil {
			t.Fatal(err)
		}
		if _, _, err := r.talks.Desk.Answer(t.Context(), ben, p.conversation().ID,
			conversation.Said{ClientID: "1", Kind: chats.KindText, Text: "I am Ben"}, -1); err != nil {
			t.Fatal(err)
		}
		p.got("What?", "a cake", "es: Hola\nhttps://acme.test/faq", "I am Ben")
	})
}

func TestStopHoldsForEveryFormOfTheNumber(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.run()
		for _, forms := range [][2]string{
			{"5215512345601", "525512345601"},
			{"525512345602", "5215512345602"},
			{"5491123456789", "541123456789"},
			{"541123456780", "5491123456780"},
			{"555198765432", "5551998765432"},
			{"5551998765430", "555198765430"},
		} {
			p, other := r.person(forms[0]), r.person(forms[1])
			p.text("STOP")
			p.got(stopped["en"])
			checkSuppressed(t, p, "the form that wrote", true)
			checkSuppressed(t, other, "the other form", true)
			other.text("START")
			other.got(started["en"])
			p.until("the suppression is lifted", func() bool {
				is, err := r.suppressed(t.Context(), r.company.ID, forms[0])
				return !is && err == nil
			})
		}
		landline := r.person("551132345678")
		landline.text("STOP")
		landline.got(stopped["en"])
		checkSuppressed(t, r.person("5511932345678"), "a number that looks like a landline's other form", false)
	})
}

func TestStopByAnIDHoldsForTheNumber(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.run()
		p := r.nameless(ana)
		p.text("STOP")
		p.got(stopped["en"])
		checkSuppressed(t, r.nameless(ana), "the id", true)
		checkSuppressed(t, r.person("525512345601"), "a number that is not known yet", false)
		both := &person{rig: r, user: ana, number: "5215512345601"}
		both.write("wamid.both", `{"type":"text","text":{"body":"Hello"}}`)
		p.until("the message is shown", func() bool { return slices.Contains(p.lines(), "> Hello") })
		checkSuppressed(t, r.person("525512345601"), "the number, known since", true)
		p.text("START")
		p.until("the suppression is lifted", func() bool {
			is, err := r.suppressed(t.Context(), r.company.ID, "525512345601")
			return !is && err == nil
		})
		// Now the ID and its number are known to be the same person: STOP from the ID also suppresses the number.
		p.text("STOP")
		p.until("the number is suppressed", func() bool {
			is, err := r.suppressed(t.Context(), r.company.ID, "5215512345601")
			return is && err == nil
		})
	})
}

// A flow continues with a message from another form of the number. It also starts if the notification was sent to the
// dialed form.
func TestAFlowIsOneForAllFormsOfANumber(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.flows.lay("order", flow.Trigger{Event: "order-shipped"}, `[{"say": "Shall we?"}, {"ask": "go"}, {"say": "{{go}}!"}]`)
		r.run()
		for i, forms := range [][2]string{
			{"5215512345601", "525512345601"}, {"541123456789", "5491123456789"}, {"555198765432", "5551998765432"},
		} {
			r.bind(forms[1], &chats.Bound{Event: "order-shipped", NotificationID: fmt.Sprint("n", i)})
			p, other := r.person(forms[0]), r.person(forms[1])
			p.text("Yes, please")
			p.got("Shall we?")
			other.text("yes")
			other.got("yes!")
			if a, b := p.conversation(), other.conversation(); a == nil || b == nil || a.ID != b.ID {
				t.Errorf("%v are two conversations", forms)
			}
		}
	})
}

func TestPeopleOfOtherPortfoliosAndCompaniesAreOthers(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		beta := &carillon.Company{ID: carillon.NewID(time.Now().Add(time.Millisecond)), Name: "Beta"}
		side, foreign := r.addSender(r.company, "side"), r.addSender(beta, "main")
		r.portfolios["side"] = "2000009"
		r.run()
		p := r.nameless(ana)
		p.text("echo")
		p.got("What?")
		p.take(side, callback(t, ana, "Ana", p.message("wamid.side", "Hello", r.now())))
		p.take(foreign, callback(t, ana, "Ana", p.message("wamid.foreign", "Hello", r.now())))
		seen := map[string]bool{}
		for _, x := range []struct{ company, sender string }{{r.company.ID, "main"}, {r.company.ID, "side"}, {beta.ID, "main"}} {
			known := p.known()[0]
			known.Scope = r.portfolios[x.sender]
			r.until("it is a conversation", func() bool {
				c, err := r.db.Chats.OfPerson(t.Context(), x.company, known)
				if c != nil && c.LastSeq > 0 {
					seen[c.ID] = true
				}
				return err == nil && c != nil && c.LastSeq > 0
			})
		}
		if len(seen) != 3 {
			t.Errorf("there are %d conversations", len(seen))
		}
		p.text("a cake")
		p.got("What?", "a cake")
	})
}

func TestAPersonIsTheSameUnderANewNumberAndANewID(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.run()
		p := &person{rig: r, user: "US.1", number: "525512345601"}
		p.text("echo")
		p.got("What?")
		p.write("wamid.changed", `{"type":"system","system":{"type":"user_changed_number","body":"Ana changed",`+
			`"wa_id":"34600111222","user_id":"US.9","previous_user_id":"US.1"}}`)
		p.until("it is shown", func() bool { return slices.Contains(p.lines(), "* number_changed 34600111222") })
		renewed := &person{rig: r, user: "US.9", number: "34600111222"}
		renewed.text("a cake")
		renewed.got("a cake")
		if a, b := p.conversation(), renewed.conversation(); b == nil || a.ID != b.ID {
			t.Fatal("they are two conversations")
		}
		// The second kind of report contains neither number.
		nameless := r.nameless("US.9")
		nameless.write("wamid.renamed", `{"type":"system","system":{"type":"user_changed_user_id","user_id":"US.10",`+
			`"previous_user_id":"US.9"}}`)
		r.until("the report is counted", func() bool { return r.counts.of("applied") > 0 })
		again := r.nameless("US.10")
		again.text("Hello")
		again.until("it is shown", func() bool { return slices.Contains(p.lines(), "> Hello") })
		if r.counts.of("applied") != 1 || r.counts.of("ignored") != 0 {
			t.Errorf("the reports are counted as %v", r.counts.all)
		}
		// The next owner of the old number is a different person, who sees nothing of the old conversation.
		stranger := &person{rig: r, user: "US.77", number: "5215512345601"}
		stranger.text("echo")
		stranger.got("What?")
		if a, b := p.conversation(), stranger.conversation(); b == nil || a.ID == b.ID {
			t.Error("who has the old number now is in the conversation")
		}
		stranger.shows("> echo", "* flow_began echo", "< What?")
	})
}

func TestANumberThatAPersonGivesIsTheirs(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.run()
		owner := r.person("34600111222")
		owner.text("echo")
		owner.got("What?")
		p := r.nameless(ana)
		gives := func(id, origin, phone string) {
			t.Helper()
			p.write(id, `{"type":"contacts","contacts":[{"origin":"`+origin+
				`","name":{"formatted_name":"Ana"},"phones":[{"phone":"+`+phone+`","wa_id":"`+phone+`"}]}]}`)
		}
		for i, x := range [][2]string{{"other", "34600111333"}, {"contact_request", "34600111222"}, {"contact_request", "5215512345601"}} {
			gives(fmt.Sprint("wamid.", i), x[0], x[1])
			p.until("it is shown", func() bool { return slices.Contains(p.lines(), "> Ana +"+x[1]) })
		}
		r.comeToRest()
		var shown []string
		for _, line := range p.lines() {
			if line[0] == '>' || strings.Contains(line, "number_taken") {
				shown = append(shown, line)
			}
		}
		want := []string{"> Ana +34600111333", "* number_taken 34600111222", "> Ana +34600111222", "> Ana +5215512345601"}
		if d := cmp.Diff(want, shown); d != "" {
			t.Error(d)
		}
		lines, err := r.db.Contacts.LinesOf(t.Context(), r.company.ID, p.known())
		if err != nil || len(lines) != 2 || !identity.Has(lines, "525512345601") {
			t.Errorf("the person's lines are %v, %v", lines, err)
		}
		if owner.shows("> echo", "* flow_began echo", "< What?"); owner.conversation().ID == p.conversation().ID {
			t.Error("who has the number is in the conversation")
		}
	})
}
