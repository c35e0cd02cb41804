package conversation

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/chats"
)

// list returns the ids of a folder.
func (r *rig) list(folder string, oldest bool) (ids []string) {
	r.t.Helper()
	for cursor := ""; ; {
		page, next, err := r.store.Chats.List(r.t.Context(), chats.Filter{
			CompanyID: r.company, Folder: folder, Oldest: oldest, Cursor: cursor, Limit: 2,
		})
		if err != nil {
			r.t.Fatal(err)
		}
		for _, c := range page {
			ids = append(ids, c.ID)
		}
		if cursor = next; next == "" {
			return ids
		}
	}
}

func TestTheQuestionOfAConversationIsKept(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		for _, channel := range []string{"web_chat", "web_voice", "whatsapp", "phone"} {
			c, _, err := r.Open(t.Context(), Start{
				Contact: chats.Contact{CompanyID: r.company, WidgetID: "w", VisitorID: channel}, Channel: channel, AgentID: "a",
				Language: "en",
			})
			if err != nil {
				t.Fatal(err)
			}
			want := func(want string) {
				t.Helper()
				if got := r.find(c.ID).Question; got != want {
					t.Errorf("%s: the question is %q, not %q", channel, got, want)
				}
			}
			r.say(c.ID, "1", "Hello")
			want("")
			r.say(c.ID, "2", "When does\nthe boat  leave?")
			want("When does the boat leave?")
			r.say(c.ID, "3", "Thanks")
			r.say(c.ID, "4", "Talk to a person")
			r.must(r.Ask(t.Context(), r.company, c.ID, "asked for a person", true))
			want("When does the boat leave?")
			r.must(r.Desk.Take(t.Context(), r.ana, c.ID, ""))
			r.say(c.ID, "5", "And back?")
			want("And back?")
			file := Said{ClientID: "6", Kind: chats.KindFile, File: &chats.File{Name: "a"}}
			if _, _, err := r.Say(t.Context(), r.company, c.ID, file); err != nil {
				t.Fatal(err)
			}
			want("And back?")
		}
	})
}

func TestThoseWhoWaitLongestComeFirst(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.present(r.ana)
		var ids []string
		for range 3 {
			id := r.open()
			r.say(id, "1", "May I bring a dog?")
			r.pass(time.Minute)
			r.must(r.Ask(t.Context(), r.company, id, "", true))
			ids = append(ids, id)
		}
		first := r.find(ids[0])
		if !first.WaitingAt.Equal(first.StateAt) || !first.NoticeAt.Equal(first.WaitingAt) {
			t.Errorf("it waits since %s, in its state since %s, with a notice at %s", first.WaitingAt, first.StateAt, first.NoticeAt)
		}
		r.say(ids[1], "2", "Hello?") // newest activity
		r.must(r.Ask(t.Context(), r.company, ids[0], "", false))
		r.pass(6 * time.Minute)
		if err := r.Sweep(t.Context()); err != nil { // the first becomes missed or abandoned, which is no new wait
			t.Fatal(err)
		}
		if c := r.find(ids[0]); c.State == chats.Queued || !c.WaitingAt.Equal(first.WaitingAt) {
			t.Errorf("it is %s and waits since %s, not %s", c.State, c.WaitingAt, first.WaitingAt)
		}
		if diff := cmp.Diff(ids, r.list("unassigned", true)); diff != "" {
			t.Error("the longest wait first:", diff)
		}
		if diff := cmp.Diff([]string{ids[1], ids[2], ids[0]}, r.list("unassigned", false)); diff != "" {
			t.Error("the newest first:", diff)
		}
		if diff := cmp.Diff([]string{ids[0], ids[2], ids[1]}, r.list("all", true)); diff != "" {
			t.Error("all, the oldest activity first:", diff)
		}
		r.must(r.Desk.Take(t.Context(), r.ana, ids[0], ""))
		if c := r.find(ids[0]); !c.WaitingAt.IsZero() || !c.NoticeAt.IsZero() {
			t.Errorf("taken, it waits since %s", c.WaitingAt)
		}
		if diff := cmp.Diff(ids[1:], r.list("unassigned", true)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestWhereNoAgentAnswersTheWaitBeginsWithTheFirstMessage(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		c, _, err := r.Open(t.Context(), Start{
			Contact: chats.Contact{CompanyID: r.company, WidgetID: "w", VisitorID: "v"}, Channel: "web_chat", Language: "en",
		})
		if err != nil {
			t.Fatal(err)
		}
		if have := r.find(c.ID); have.State != chats.Missed || have.WaitingAt.IsZero() || !have.NoticeAt.IsZero() {
			t.Errorf("opened: %s, waits since %s, notice at %s", have.State, have.WaitingAt, have.NoticeAt)
		}
		r.pass(time.Hour)
		r.say(c.ID, "1", "Do you take dogs?")
		began := r.now()
		r.pass(time.Minute)
		r.say(c.ID, "2", "Small ones")
		if have := r.find(c.ID); !have.WaitingAt.Equal(began) || !have.NoticeAt.Equal(began) {
			t.Errorf("it waits since %s with a notice at %s, not %s", have.WaitingAt, have.NoticeAt, began)
		}
	})
}

func TestQuestionsThatTheAgentLeftOpenAreListed(t *testing.T) {
	answering(t, func(t *testing.T, r *rig) {
		gave, picked, fine := r.open(), r.open(), r.open()
		r.ask(fine, "1", "When do you open?")
		r.ask(gave, "1", "May I bring a dog?")
		r.ask(gave, "2", "A person")
		r.ask(picked, "1", "Opening?")
		if diff := cmp.Diff([]string{picked, gave}, r.list("unanswered", false)); diff != "" {
			t.Error(diff)
		}
		if got := r.find(picked).Unanswered; got != "Opening?" {
			t.Errorf("the question is %q", got)
		}
		r.ask(picked, "2", "Opening hours")
		if diff := cmp.Diff([]string{gave}, r.list("unanswered", false)); diff != "" {
			t.Error("after the choice:", diff)
		}
		if got := r.find(gave).Unanswered; got != "May I bring a dog?" {
			t.Errorf("the question is %q", got)
		}
		if n, err := r.store.Chats.Count(t.Context(), r.company, ""); err != nil || n.Unanswered != 1 {
			t.Error(n, err)
		}
		r.must(r.Desk.Resolve(t.Context(), r.ana, gave))
		if got := r.list("unanswered", false); len(got) != 0 {
			t.Error("resolved:", got)
		}
	})
}

func TestAChangeIsUndone(t *testing.T) {
	r := newRig(t, store.Options{})
	named := func(_ context.Context, id string) (*By, error) {
		for _, by := range []By{r.ana, r.ben, r.cat} {
			if by.AccountID == id {
				return &by, nil
			}
		}
		return nil, nil
	}
	changes := map[string]func(id string) (*chats.Conversation, error){
		"resolved": func(id string) (*chats.Conversation, error) { return r.Desk.Resolve(t.Context(), r.ana, id) },
		"taken": func(id string) (*chats.Conversation, error) {
			return r.Desk.Take(t.Context(), r.ana, id, r.ben.AccountID)
		},
		"assigned": func(id string) (*chats.Conversation, error) { return r.Desk.Assign(t.Context(), r.ana, r.cat, id) },
		"released": func(id string) (*chats.Conversation, error) { return r.Desk.Release(t.Context(), r.ana, id, false) },
	}
	for what, change := range changes {
		for _, state := range states {
			if state == chats.Resolved || what == "released" && state == chats.Queued {
				continue
			}
			id := r.bring(state)
			before := r.find(id)
			r.pass(time.Second)
			after := r.must(change(id))
			if _, err := r.Desk.Undo(t.Context(), r.ben, id, named); !carillon.IsCode(err, carillon.Conflict) {
				t.Errorf("another teammate undid it: %v", err)
			}
			c, err := r.Desk.Undo(t.Context(), r.ana, id, named)
			if err != nil {
				t.Fatalf("%s from %s: %v", what, state, err)
			}
			if c.State != before.State || c.Assignee != before.Assignee || !c.WaitingAt.Equal(before.WaitingAt) ||
				!c.StateAt.Equal(before.StateAt) || !c.ResolvedAt.IsZero() || c.LastSeq != after.LastSeq+1 {
				t.Errorf("%s from %s: undone it is %+v, before it was %+v", what, state, c, before)
			}
			if _, err := r.Desk.Undo(t.Context(), r.ana, id, named); !carillon.IsCode(err, carillon.Conflict) {
				t.Errorf("it was undone twice: %v", err)
			}
			if _, err := r.Desk.Undo(t.Context(), By{CompanyID: carillon.NewID(r.now()), AccountID: r.ana.AccountID}, id,
				named); !carillon.IsCode(err, carillon.NotFound) {
				t.Errorf("another company undid it: %v", err)
			}
		}
	}
	written := r.bring(chats.Active)
	r.must(r.Desk.Resolve(t.Context(), r.ana, written))
	r.say(written, "after", "One more thing")
	late := r.bring(chats.Active)
	r.must(r.Desk.Resolve(t.Context(), r.ana, late))
	r.pass(11 * time.Minute)
	gone := r.bring(chats.Active)
	r.must(r.Desk.Resolve(t.Context(), r.ana, gone))
	for what, id := range map[string]string{"the contact wrote": written, "a while ago": late} {
		if _, err := r.Desk.Undo(t.Context(), r.ana, id, named); !carillon.IsCode(err, carillon.Conflict) {
			t.Errorf("%s, and it is undone: %v", what, err)
		}
	}
	nobody := func(context.Context, string) (*By, error) { return nil, nil }
	if _, err := r.Desk.Undo(t.Context(), r.ana, gone, nobody); !carillon.IsCode(err, carillon.Conflict) {
		t.Errorf("it went back to a former teammate: %v", err)
	}
}
