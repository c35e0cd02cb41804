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
	"carillon/internal/base/provider"
	"carillon/internal/talk/flow"
	"carillon/internal/talk/messaging"
)

const three = `[{"say": "one"}, {"say": "two"}, {"say": "three"}]`

func TestRepliesFollowOneAnotherThoughOneIsTriedAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.flows.lay("three", flow.Trigger{Keywords: []string{"three"}}, three)
		p := r.person("34600800001")
		r.channel.by(func(x post) *provider.Outcome {
			if x.Text == "one" && x.Ref.Attempt == 1 {
				return &provider.Outcome{Verdict: provider.RetryLater, Detail: "rate"}
			}
			return nil
		})
		r.run()
		p.text("three")
		p.got("one", "two", "three")
		if n := r.channel.tried(p.number, false); n != 1 {
			t.Errorf("%d attempts failed", n)
		}
	})
}

func TestAReplyIsTriedAgainAfterLongerAndLongerTimes(t *testing.T) {
	onSQLite(t, func(t *testing.T, r *rig) {
		r.flows.lay("three", flow.Trigger{Keywords: []string{"three"}}, three)
		var tried, hinted []time.Time
		r.channel.by(func(x post) *provider.Outcome {
			switch {
			case x.To == "34600800001" && x.Text == "one":
				tried = append(tried, time.Now())
				return &provider.Outcome{Verdict: provider.PauseSender}
			case x.To == "34600800002" && x.Text == "one" && x.Ref.Attempt < 3:
				hinted = append(hinted, time.Now())
				return &provider.Outcome{Verdict: provider.RetryLater, RetryAfter: 30 * time.Second}
			case x.To == "34600800003" && x.Text == "one":
				return &provider.Outcome{Verdict: provider.RetryLater, MaxTries: 2}
			case x.To == "34600800004" && x.Text == "one":
				return &provider.Outcome{Verdict: provider.Refused, Reason: carillon.ReasonUndeliverable}
			}
			return nil
		})
		r.run()
		refused, hint, few, none := r.person("34600800001"), r.person("34600800002"), r.person("34600800003"), r.person("34600800004")
		for _, p := range []*person{refused, hint, few, none} {
			p.text("three")
		}
		time.Sleep(10 * time.Minute)
		refused.got("two", "three")
		hint.got("one", "two", "three")
		few.got("two", "three")
		none.got("two", "three")
		var waits []time.Duration
		for i := range len(tried) - 1 {
			waits = append(waits, tried[i+1].Sub(tried[i]).Round(2*time.Second))
		}
		want := []time.Duration{2 * time.Second, 4 * time.Second, 16 * time.Second, time.Minute, 5 * time.Minute}
		if diff := cmp.Diff(want, waits); diff != "" {
			t.Error(diff)
		}
		if n := r.channel.tried(few.number, false); n != 2 {
			t.Errorf("what the channel takes twice at most is tried %d times", n)
		}
		if wait := hinted[1].Sub(hinted[0]); wait < 30*time.Second || wait > 32*time.Second {
			t.Errorf("the channel's own wait of 30 s becomes %s", wait)
		}
		refused.shows("> three", "* flow_began three", "< one ! attempts_exhausted", "< two", "< three")
		few.shows("> three", "* flow_began three", "< one ! attempts_exhausted", "< two", "< three")
		none.shows("> three", "* flow_began three", "< one ! undeliverable", "< two", "< three")
	})
}

func TestAReplyWhoseOutcomeIsUnknownHoldsTheNextUntilAReceipt(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.flows.lay("three", flow.Trigger{Keywords: []string{"three"}}, three)
		r.channel.by(func(x post) *provider.Outcome {
			if x.Text == "one" {
				return &provider.Outcome{Verdict: provider.Unknown}
			}
			return nil
		})
		r.run()
		p := r.person("34600800002")
		p.text("three")
		p.got("one")
		p.shows("> three", "* flow_began three", "< one", "< two", "< three")
		r.report(r.sender, p.last(), carillon.StateDelivered)
		p.got("one", "two", "three")
	})
}

// Without a receipt, the reply is not sent again, but the ones behind it are sent.
func TestAReplyWhoseOutcomeStaysUnknownIsNotSentAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.flows.lay("three", flow.Trigger{Keywords: []string{"three"}}, three)
		r.channel.by(func(x post) *provider.Outcome {
			if x.Text == "one" {
				return &provider.Outcome{Verdict: provider.Unknown}
			}
			return nil
		})
		r.run()
		p := r.person("34600800002")
		p.text("three")
		p.got("one")
		r.pass(2 * time.Minute)
		p.got("one", "two", "three")
		p.shows("> three", "* flow_began three", "< one ! outcome_unknown", "< two", "< three")
	})
}

// The channel reports a reply's receipts and the person's answer before it responds to our request.
func TestWhatComesBeforeTheResponseIsKnown(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		p := r.person("34600800003")
		r.channel.by(func(x post) *provider.Outcome {
			if x.Text == "What?" {
				r.report(r.sender, x, carillon.StateRead, carillon.StateDelivered, carillon.StateSent)
				p.writes(p.message("wamid.e2", "hello", r.now()))
			}
			return nil
		})
		r.run()
		p.text("echo")
		p.got("What?", "hello")
		p.shows("> echo", "* flow_began echo", "< What?", "> hello", "< hello")
		c, turns := p.conversation(), p.turns()
		states, err := r.Deliveries(t.Context(), r.company.ID, c.ID, turns)
		if err != nil || states[turns[2].Seq].State != "read" {
			t.Errorf("the first reply is %+v, %v", states[turns[2].Seq], err)
		}
	})
}

// Reports arrive twice and in the wrong order, one of them for a sender that does not own the reply.
func TestScreensShowAReplyRise(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		stranger := r.addSender(&carillon.Company{ID: carillon.NewID(time.Now()), Name: "Beta"}, "main")
		r.run()
		p := r.person("34600800003")
		p.text("echo")
		p.got("What?")
		x := p.last()
		r.report(stranger, x, carillon.StateFailed)
		r.report(r.sender, x, carillon.StateDelivered)
		r.report(r.sender, x, carillon.StateSent, carillon.StateDelivered, carillon.StateRead, carillon.StateDelivered)
		p.text("x")
		p.got("What?", "x")
		p.comeToRest()
		r.mu.Lock()
		defer r.mu.Unlock()
		shown := map[string][]string{}
		for _, e := range r.screens {
			if e.Kind != "delivery" {
				continue
			}
			var d struct {
				Seq   int64
				State string
			}
			if err := json.Unmarshal(e.Payload, &d); err != nil {
				t.Fatal(err)
			}
			topic, _, _ := strings.Cut(e.Topic, ".")
			shown[fmt.Sprint(topic, " ", d.Seq)] = append(shown[fmt.Sprint(topic, " ", d.Seq)], d.State)
		}
		if len(shown) != 4 {
			t.Errorf("screens show %v", shown)
		}
		for of, states := range shown {
			order := []string{"sending", "sent", "delivered", "read"}
			var ranks []int
			for _, state := range states {
				// The response may be shown after a receipt that overtook it; screens ignore it.
				if state != "sent" || !slices.Contains(ranks, 2) {
					ranks = append(ranks, slices.Index(order, state))
				}
			}
			if rises := slices.IsSorted(ranks) && len(slices.Compact(ranks)) == len(ranks) && ranks[0] == 0; !rises {
				t.Errorf("%s is shown as %v", of, states)
			}
			if strings.HasSuffix(of, " 3") && ranks[len(ranks)-1] != slices.Index(order, "read") {
				t.Errorf("%s is shown as %v", of, states)
			}
		}
	})
}

// A channel truncates long choices; the selected one is identified by its ID.
func TestAChoiceComesBackAsItWasMeant(t *testing.T) {
	onSQLite(t, func(t *testing.T, r *rig) {
		const morning, evening = "The tour of the old harbour in the morning", "The tour of the old harbour in the evening"
		r.flows.lay("long", flow.Trigger{Keywords: []string{"long"}},
			`[{"say": "Which?"}, {"ask": "which", "choices": ["`+morning+`", "`+evening+`", "None"]}, {"say": "{{which}}"}]`)
		r.run()
		n := 0
		for id, want := range map[string]string{
			"choice.2": evening, "choice.3": "None", "choice.4": "", "choice.0": "", "choice.x": "", "2": "",
		} {
			n++
			p := r.person(fmt.Sprintf("346008100%02d", n))
			p.text("long")
			p.got("Which? [" + morning + "] [" + evening + "] [None]")
			p.write("wamid.of."+id, `{"type":"interactive","interactive":{"type":"list_reply",
				"list_reply":{"id":"`+id+`","title":"The tour of the old har…"}},"context":{"id":"`+p.last().id+`"}}`)
			if want == "" { // not one of the choices: the conversation shows the person's text
				p.until("it asks again", func() bool { return len(p.gets()) == 2 })
				continue
			}
			p.got("Which? ["+morning+"] ["+evening+"] [None]", want)
			asked := "< Which? [" + morning + " " + evening + " None]"
			p.shows("> long", "* flow_began long", asked, "> "+want+" {Which?}", "< "+want)
		}
	})
}

// When a teammate has the conversation open, it is marked as read and the person sees a typing indicator, at a limited
// rate and only while replies can be sent.
func TestThePersonSeesThatATeammateReadsAndWrites(t *testing.T) {
	onSQLite(t, func(t *testing.T, r *rig) {
		r.run()
		p := r.person("34600111222")
		p.text("Hello")
		p.until("it is taken in", func() bool { return len(p.turns()) > 0 })
		id := p.conversation().ID
		read := func(companyID string, typing bool) {
			t.Helper()
			if err := r.Read(t.Context(), companyID, id, typing); err != nil {
				t.Error(err)
			}
		}
		p.comeToRest()
		before := len(r.channel.marked())
		last := fmt.Sprintf("wamid.%s.1", p.number)
		read(r.company.ID, false)
		read(r.company.ID, true)
		read(r.company.ID, true)
		r.pass(11 * time.Second)
		read(r.company.ID, true)
		r.pass(messaging.Window)
		read(r.company.ID, false)
		read(r.company.ID, true)
		if got, want := r.channel.marked()[before:], []mark{{last, false}, {last, true}, {last, true}}; !slices.Equal(got, want) {
			t.Errorf("the channel is told %v", got)
		}
	})
}

// A reply whose text is gone fails visibly, and is not retried forever.
func TestAReplyThatCannotBeReadFails(t *testing.T) {
	onSQLite(t, func(t *testing.T, r *rig) {
		r.flows.lay("one", flow.Trigger{Keywords: []string{"one"}}, `[{"say": "gone"}]`)
		p := r.person("34600800077")
		r.channel.by(func(post) *provider.Outcome {
			return &provider.Outcome{Verdict: provider.RetryLater, Detail: "rate", RetryAfter: time.Hour}
		})
		r.run()
		p.text("one")
		r.until("the first attempt", func() bool { return r.channel.tried(p.number, false) == 1 })
		r.comeToRest()
		if _, err := r.db.DB.Exec(t.Context(), "DELETE FROM turn WHERE text = 'gone'"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour) // fake time
		all, err := r.db.Replies.Replies(t.Context(), r.company.ID, p.conversation().ID, 0, 100)
		if err != nil || len(all) != 1 || all[0].State != "failed" || all[0].Detail != "the reply cannot be read" {
			t.Errorf("%+v, %v", all, err)
		}
	})
}
