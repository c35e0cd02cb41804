package messaging_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/store/chats"
	"carillon/internal/talk/conversation"
	"carillon/internal/talk/flow"
)

// closed are the lines of a conversation whose run ended because its message came too late.
var closed = []string{"* handoff_requested", "* missed"}

// checkClosed checks that the person's run failed at a step because the window was closed.
func checkClosed(t *testing.T, p *person) {
	t.Helper()
	run := p.newestRun()
	if run.State != "failed" || run.Open || !strings.Contains(run.Error, "window_closed") || !strings.HasPrefix(run.Error, "steps.") {
		t.Errorf("the run of %s is %+v", p.number, run)
	}
}

func TestARunEndsWhereItsWordsComeADayLate(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.flows.lay("late", flow.Trigger{Keywords: []string{"late"}},
			`[{"say": "First"}, {"wait": "23h"}, {"say": "Second"}, {"wait": "2h"}, {"say": "Third"}, {"ask": "x"}, {"say": "{{x}}"}]`)
		r.run()
		p := r.person("34600810001")
		p.text("late")
		p.got("First")
		r.pass(23 * time.Hour)
		p.got("First", "Second")
		r.pass(2 * time.Hour)
		p.shows(append([]string{"> late", "* flow_began late", "< First", "< Second", "< Third ! window_closed"}, closed...)...)
		p.got("First", "Second")
		checkClosed(t, p)
		// A message of the person reopens the window, for teammates too.
		p.text("I am back")
		p.until("it is shown", func() bool { return slices.Contains(p.lines(), "> I am back") })
		ben := conversation.By{CompanyID: r.company.ID, AccountID: carillon.NewID(r.now()), Name: "Ben"}
		if _, err := r.talks.Desk.Take(t.Context(), ben, p.conversation().ID, ""); err != nil {
			t.Fatal(err)
		}
		said := conversation.Said{ClientID: "1", Kind: chats.KindText, Text: "Welcome"}
		if _, _, err := r.talks.Desk.Answer(t.Context(), ben, p.conversation().ID, said, -1); err != nil {
			t.Fatal(err)
		}
		p.got("First", "Second", "Welcome")
	})
}

// A message opens the window even if it could not be processed: a teammate sees that there was one, and asks.
func TestAMessageThatIsGivenUpOpensTheWindow(t *testing.T) {
	onSQLite(t, func(t *testing.T, r *rig) {
		r.binding = func() error { return errors.New("a fault") }
		r.run()
		p := r.person("34600810005")
		p.text("Hello")
		time.Sleep(time.Hour) // fake time
		p.until("it is shown", func() bool { return slices.Contains(p.lines(), "* not_shown") })
		w, err := r.db.Replies.Window(t.Context(), r.company.ID, p.conversation().ID)
		if err != nil || w == nil || w.Number != p.number || w.Until.Before(r.now().Add(22*time.Hour)) {
			t.Errorf("%+v, %v", w, err)
		}
	})
}

// The channel is the authority on whether a day has passed. It refuses at once, or later.
func TestARunEndsWhoseWordsTheChannelRefusesAsLate(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		const refusedNumber = "34600810002"
		r.channel.by(func(x post) *provider.Outcome {
			if x.To == refusedNumber {
				return &provider.Outcome{Verdict: provider.Refused, Reason: provider.ReasonWindowClosed}
			}
			return nil
		})
		r.run()
		refused, later, again, read := r.person(refusedNumber), r.person("34600810003"), r.person("34600810004"), r.person("34600810005")
		for _, p := range []*person{refused, later, again, read} {
			p.text("echo")
		}
		ended := append([]string{"> echo", "* flow_began echo", "< What? ! window_closed"}, closed...)
		refused.shows(ended...)
		later.got("What?")
		again.got("What?")
		old := again.last()
		r.report(r.sender, later.last(), carillon.StateFailed, carillon.StateFailed)
		later.shows(ended...)
		// A report about a message sent before the person wrote again ends nothing.
		again.text("x")
		again.got("What?", "x")
		again.text("echo")
		again.got("What?", "x", "What?")
		r.report(r.sender, old, carillon.StateFailed)
		again.text("y")
		again.got("What?", "x", "What?", "y")
		// Nor does a report about a message that the person has read.
		read.got("What?")
		r.report(r.sender, read.last(), carillon.StateRead, carillon.StateFailed)
		read.text("z")
		read.got("What?", "z")
		for _, p := range []*person{refused, later} {
			checkClosed(t, p)
		}
	})
}

func TestAReplyWhoseSenderWasRemovedIsRefused(t *testing.T) {
	onSQLite(t, func(t *testing.T, r *rig) {
		r.flows.lay("late", flow.Trigger{Keywords: []string{"late"}}, `[{"say": "First"}, {"wait": "1h"}, {"say": "Second"}]`)
		r.run()
		p := r.person("34600810005")
		p.text("late")
		p.got("First")
		r.removed.Store(true)
		r.pass(time.Hour)
		p.shows("> late", "* flow_began late", "< First", "< Second ! provider_refused")
	})
}
