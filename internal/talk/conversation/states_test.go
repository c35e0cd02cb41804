package conversation

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/docs"
	"carillon/internal/store"
	"carillon/internal/store/chats"
)

// states are all states of a conversation, in the order of the columns below.
var states = []chats.State{chats.Automated, chats.Queued, chats.Active, chats.WrapUp, chats.Resolved, chats.Missed, chats.Abandoned}

// bring creates a conversation in a state. In states with a teammate, it is Ben.
func (r *rig) bring(to chats.State) string {
	r.t.Helper()
	id := r.open()
	r.say(id, "first", "Hello")
	switch to {
	case chats.Queued, chats.Abandoned:
		r.present(r.ben)
		r.must(r.Ask(r.t.Context(), r.company, id, "", true))
	case chats.Missed:
		r.must(r.Ask(r.t.Context(), r.company, id, "", false))
	case chats.Active, chats.WrapUp, chats.Resolved:
		r.must(r.Desk.Take(r.t.Context(), r.ben, id, ""))
	default:
	}
	switch to {
	case chats.WrapUp, chats.Abandoned:
		r.must(r.Leave(r.t.Context(), r.company, id))
	case chats.Resolved:
		r.must(r.Desk.Resolve(r.t.Context(), r.ben, id))
	default:
	}
	if c := r.find(id); c.State != to {
		r.t.Fatalf("it is %s, not %s", c.State, to)
	}
	return id
}

// present makes exactly these teammates present.
func (r *rig) present(all ...By) {
	r.t.Helper()
	for _, by := range []By{r.ana, r.ben, r.cat} {
		var err error
		if slices.Contains(all, by) {
			_, err = r.store.Attendance.Attend(r.t.Context(), r.company, by.AccountID, r.now().Add(time.Hour))
		} else {
			err = r.store.Attendance.EndAttendance(r.t.Context(), r.company, by.AccountID, r.now().Add(24*time.Hour), r.now())
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

// TestEveryActionInEveryState checks the table of actions and states. Each cell has the next state and the assignee,
// ". " if nothing happens, or "conflict" if the action is refused. Ana acts; an existing assignee is Ben.
func TestEveryActionInEveryState(t *testing.T) {
	r := newRig(t, store.Options{})
	there := func(yes bool) func(ctx context.Context, id string) error {
		return func(ctx context.Context, id string) error {
			r.present()
			if yes {
				r.present(r.ana)
			}
			_, err := r.Ask(ctx, r.company, id, "", true)
			return err
		}
	}
	answer := func(seen int64) func(ctx context.Context, id string) error {
		return func(ctx context.Context, id string) error {
			_, _, err := r.Desk.Answer(ctx, r.ana, id, Said{ClientID: "a", Kind: chats.KindText, Text: "Yes"}, seen)
			return err
		}
	}
	// Covered by TestTheSweepLooksAfterTheQueue.
	happened := map[docs.Transition]bool{{From: "queued", To: "missed"}: true}
	for _, c := range []struct {
		action string
		do     func(ctx context.Context, id string) error
		// One word per state in the list above.
		want string
	}{
		{"the contact writes", func(ctx context.Context, id string) error {
			_, _, err := r.Say(ctx, r.company, id, Said{ClientID: "v", Kind: chats.KindText, Text: "More"})
			return err
		}, "bot, queued, active ben, active ben, bot, missed, bot"},
		{"the contact asks for a teammate", there(true), "queued, ., ., queued, queued, queued, queued"},
		{"the contact asks where nobody is there", there(false), "missed, ., ., missed, missed, ., missed"},
		{"the contact leaves", func(ctx context.Context, id string) error {
			_, err := r.Leave(ctx, r.company, id)
			return err
		}, "resolved, abandoned, wrap_up ben, ., ., resolved, ."},
		{"the contact rates", func(ctx context.Context, id string) error {
			return r.Rate(ctx, r.company, id, 4, "good")
		}, "bot, queued, active ben, wrap_up ben, resolved ben, missed, abandoned"},
		{"a teammate's words come late", func(ctx context.Context, id string) error {
			_, err := r.Desk.Caption(ctx, r.ana, id, Said{ClientID: "c", Kind: chats.KindText, Text: "Goodbye"})
			return err
		}, "bot, queued, active ben, wrap_up ben, resolved ben, missed, abandoned"},
		{"another teammate takes it", func(ctx context.Context, id string) error {
			_, err := r.Desk.Take(ctx, r.ana, id, "")
			return err
		}, "active ana, active ana, conflict, conflict, active ana, active ana, active ana"},
		{"another teammate takes it from the one who has it", func(ctx context.Context, id string) error {
			_, err := r.Desk.Take(ctx, r.ana, id, r.ben.AccountID)
			return err
		}, "active ana, active ana, active ana, active ana, active ana, active ana, active ana"},
		{"the teammate who has it takes it again", func(ctx context.Context, id string) error {
			_, err := r.Desk.Take(ctx, r.ben, id, "")
			return err
		}, "active ben, active ben, ., active ben, active ben, active ben, active ben"},
		{"another teammate answers", answer(0), "active ana, active ana, conflict, conflict, active ana, active ana, active ana"},
		{
			"another teammate answers all the same", answer(-1),
			"active ana, active ana, active ana, active ana, active ana, active ana, active ana",
		},
		{"another teammate writes a note", func(ctx context.Context, id string) error {
			_, _, err := r.Desk.Note(ctx, r.ana, id, Said{ClientID: "n", Kind: chats.KindText, Text: "Hm"})
			return err
		}, "bot, queued, active ben, wrap_up ben, resolved ben, missed, abandoned"},
		{"it is released to the queue", func(ctx context.Context, id string) error {
			_, err := r.Desk.Release(ctx, r.ana, id, false)
			return err
		}, "queued, ., queued, queued, conflict, queued, queued"},
		{"it is released to the agent", func(ctx context.Context, id string) error {
			_, err := r.Desk.Release(ctx, r.ana, id, true)
			return err
		}, "., bot, bot, bot, conflict, bot, bot"},
		{"it is assigned", func(ctx context.Context, id string) error {
			_, err := r.Desk.Assign(ctx, r.ana, r.cat, id)
			return err
		}, "active cat, active cat, active cat, active cat, active cat, active cat, active cat"},
		{"it is resolved", func(ctx context.Context, id string) error {
			_, err := r.Desk.Resolve(ctx, r.ana, id)
			return err
		}, "resolved, resolved, resolved ben, resolved ben, ., resolved, resolved"},
		{"it is reopened", func(ctx context.Context, id string) error {
			_, err := r.Desk.Reopen(ctx, r.ana, id)
			return err
		}, "., ., ., ., active ana, ., ."},
		{"too long in the queue", func(ctx context.Context, _ string) error {
			r.pass(6 * time.Minute)
			return r.Sweep(ctx)
		}, "., abandoned, ., ., ., ., ."},
		{"an hour later", func(ctx context.Context, _ string) error {
			r.pass(time.Hour)
			return r.Sweep(ctx)
		}, "., abandoned, ., resolved ben, ., ., ."},
	} {
		for i, want := range strings.Split(c.want, ", ") {
			id := r.bring(states[i])
			before := r.find(id)
			err := c.do(t.Context(), id)
			after := r.find(id)
			happened[docs.Transition{From: string(before.State), To: string(after.State)}] = true
			got := string(after.State)
			for name, by := range map[string]By{" ana": r.ana, " ben": r.ben, " cat": r.cat} {
				if after.Assignee == by.AccountID {
					got += name
				}
			}
			switch {
			case carillon.IsCode(err, carillon.Conflict):
				got = "conflict"
				fallthrough
			case err == nil && after.LastSeq == before.LastSeq:
				if got != "conflict" {
					got = "."
				}
				if after.LastSeq != before.LastSeq || after.State != before.State || after.Assignee != before.Assignee {
					t.Errorf("%s in %s: %s, but it changed", c.action, states[i], got)
				}
			case err != nil:
				t.Errorf("%s in %s: %v", c.action, states[i], err)
			}
			if got != want {
				t.Errorf("%s in %s: %s, want %s", c.action, states[i], got, want)
			}
			if after.State != chats.Automated && after.ReplySeq != 0 {
				t.Errorf("%s in %s: it still waits for the agent", c.action, states[i])
			}
		}
	}
	drawing, err := docs.Transitions("states-conversation.svg")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range drawing {
		if !happened[x] {
			t.Errorf("docs/images/states-conversation.svg shows that %s becomes %s, which no action does", x.From, x.To)
		}
	}
}
