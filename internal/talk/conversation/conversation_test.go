package conversation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/talk/flow"
)

func TestARepeatedClientIDIsTheFirstTurn(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		id := r.open()
		first := r.say(id, "1", "Hello")
		if again := r.say(id, "1", "Something else"); again.Seq != first.Seq || again.Text != "Hello" {
			t.Errorf("again it is %+v", again)
		}
		answer := func(clientID string) *chats.Turn {
			turn, _, err := r.Desk.Answer(t.Context(), r.ana, id, Said{ClientID: clientID, Kind: chats.KindText, Text: "Yes"}, 0)
			if err != nil {
				t.Fatal(err)
			}
			return turn
		}
		if a, b := answer("1"), answer("1"); a.Seq != b.Seq || a.Author != chats.Teammate {
			t.Errorf("answers %+v and %+v", a, b) // client IDs of contacts and teammates are separate
		}
		if diff := cmp.Diff([]string{"visitor Hello", "system joined", "teammate Yes"}, r.turns(id)); diff != "" {
			t.Error(diff)
		}
		other := r.open()
		if turn := r.say(other, "1", "Another contact"); turn.Text != "Another contact" {
			t.Errorf("in another conversation it is %+v", turn)
		}
	})
}

func TestAnsweringTwiceWarns(t *testing.T) {
	r := newRig(t, store.Options{})
	id := r.bring(chats.Missed)
	said := func(text string) Said { return Said{ClientID: text, Kind: chats.KindText, Text: text} }
	_, c, err := r.Desk.Answer(t.Context(), r.ana, id, said("Yes"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Desk.Answer(t.Context(), r.ana, id, said("No"), 0); !carillon.IsCode(err, carillon.Conflict) {
		t.Errorf("what is answered meanwhile: %v", err) // answered from another screen meanwhile
	}
	if _, _, err := r.Desk.Answer(t.Context(), r.ana, id, said("Also"), c.CompanySeq); err != nil {
		t.Errorf("whoever saw the answer: %v", err)
	}
	if _, _, err := r.Desk.Answer(t.Context(), r.ben, id, said("Mine"), 99); !carillon.IsCode(err, carillon.Conflict) {
		t.Errorf("a conversation of another: %v", err)
	}
	if _, _, err := r.Desk.Note(t.Context(), r.ben, id, said("a note")); err != nil {
		t.Error(err)
	}
	if _, _, err := r.Desk.Answer(t.Context(), r.ana, id, said("Last"), r.find(id).CompanySeq); err != nil {
		t.Errorf("a note is no answer: %v", err)
	}
}

// Two teammates repeatedly take a conversation at the same time. One wins each time, and the other learns who did.
func TestOneOfTwoTeammatesWins(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		id := r.open()
		for n := range 200 {
			var both sync.WaitGroup
			errs := make([]error, 2)
			for i, by := range []By{r.ana, r.ben} {
				both.Go(func() { _, errs[i] = r.Desk.Take(t.Context(), by, id, "") })
			}
			both.Wait()
			winner, loser := r.ana, errs[1]
			if errs[0] != nil {
				winner, loser = r.ben, errs[0]
			}
			c := r.find(id)
			e := &carillon.Error{}
			refused := errors.As(loser, &e)
			if (errs[0] == nil) == (errs[1] == nil) || c.Assignee != winner.AccountID || !refused ||
				e.Details.Find(DetailAssignee) != winner.AccountID {
				t.Fatalf("time %d: %v; %s has it", n, errs, c.Assignee)
			}
			r.must(r.Desk.Release(t.Context(), winner, id, false))
		}
		if turns := r.turns(id); len(turns) != 400 {
			t.Errorf("%d turns", len(turns))
		}
	})
}

func TestTurnsAreNumberedInOneOrder(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		id := r.open()
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for n := range 20 {
					r.say(id, fmt.Sprintf("%d/%d", i, n), fmt.Sprintf("%d", n))
				}
			})
		}
		all.Wait()
		if turns := r.turns(id); len(turns) != 160 || r.find(id).LastSeq != 160 {
			t.Errorf("%d turns", len(turns))
		}
	})
}

func TestAContactWhoReturnsFindsTheConversation(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		c := r.openAs("maria", false)
		r.must(r.Desk.Take(t.Context(), r.ana, c.ID, ""))
		r.must(r.Desk.Resolve(t.Context(), r.ana, c.ID))
		if again := r.openAs("maria", false); again.ID != c.ID {
			t.Error("a resolved conversation is not found again")
		}
		r.say(c.ID, "1", "One more thing")
		if got := r.find(c.ID); got.State != chats.Automated || got.Assignee != "" || got.ReplySeq != got.LastSeq {
			t.Errorf("it is %+v", got)
		}
		if diff := cmp.Diff([]string{"system joined", "system resolved", "system reopened", "visitor One more thing"},
			r.turns(c.ID)); diff != "" {
			t.Error(diff)
		}
		if again := r.openAs("maria", true); again.ID != c.ID {
			t.Error("a new one was made though the old one is open")
		}
		r.must(r.Desk.Resolve(t.Context(), r.ana, c.ID))
		second := r.openAs("maria", true)
		if second.ID == c.ID {
			t.Error("no new one was made")
		}
		if _, err := r.Desk.Reopen(t.Context(), r.ana, c.ID); !carillon.IsCode(err, carillon.Conflict) {
			t.Errorf("an old one together with the new one: %v", err)
		}
		if _, _, err := r.Say(t.Context(), r.company, c.ID,
			Said{ClientID: "2", Kind: chats.KindText, Text: "Here"}); !carillon.IsCode(err, carillon.Conflict) {
			t.Errorf("a turn in an old one together with the new one: %v", err)
		}
		r.must(r.Desk.Resolve(t.Context(), r.ana, second.ID))
		r.pass(keepResolved + time.Hour)
		if third := r.openAs("maria", false); third.ID == c.ID || third.ID == second.ID {
			t.Error("after a long time an old one goes on")
		}
	})
}

func TestTheSweepLooksAfterTheQueue(t *testing.T) {
	r := newRig(t, store.Options{})
	r.present(r.ana)
	alive, gone := r.open(), r.open()
	for _, id := range []string{alive, gone} {
		r.must(r.Ask(t.Context(), r.company, id, "", true))
	}
	sweep := func(wantAlive, wantGone chats.State) {
		t.Helper()
		if err := r.Alive(t.Context(), r.find(alive)); err != nil {
			t.Fatal(err)
		}
		if err := r.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if a, b := r.find(alive).State, r.find(gone).State; a != wantAlive || b != wantGone {
			t.Errorf("they are %s and %s, want %s and %s", a, b, wantAlive, wantGone)
		}
	}
	r.pass(time.Minute)
	sweep(chats.Queued, chats.Queued)
	r.pass(time.Minute + time.Second)
	sweep(chats.Queued, chats.Abandoned)
	r.pass(3 * time.Minute)
	sweep(chats.Missed, chats.Abandoned)
	r.must(r.Desk.Take(t.Context(), r.ana, alive, ""))
	r.must(r.Leave(t.Context(), r.company, alive))
	r.pass(wrapUpAfter - time.Second)
	sweep(chats.WrapUp, chats.Abandoned)
	r.pass(2 * time.Second)
	sweep(chats.Resolved, chats.Abandoned)
	if diff := cmp.Diff([]string{"system handoff_requested", "system missed", "system joined", "system left", "system resolved"},
		r.turns(alive)); diff != "" {
		t.Error(diff)
	}
}

func TestAConversationHasABound(t *testing.T) {
	r := newRig(t, store.Options{})
	id := r.open()
	if err := r.store.Chats.Do(t.Context(), &chats.Change{
		CompanyID: r.company, ConversationID: id,
		Edit: func(c *chats.Conversation) ([]chats.Turn, error) {
			c.LastSeq = maxTurns
			return nil, nil
		},
	}); err != nil {
		t.Fatal(err)
	}
	said := Said{ClientID: "1", Kind: chats.KindText, Text: "More"}
	_, _, err := r.Say(t.Context(), r.company, id, said)
	_, _, err2 := r.Desk.Answer(t.Context(), r.ana, id, said, 0)
	_, _, err3 := r.Desk.Note(t.Context(), r.ana, id, said)
	for _, err := range []error{
		err, err2, err3, r.Rate(t.Context(), r.company, id, 5, ""), r.Introduce(t.Context(), r.company, id, "M", "m@acme.test"),
	} {
		if !carillon.IsCode(err, carillon.LimitExceeded) {
			t.Error(err)
		}
	}
	r.must(r.Ask(t.Context(), r.company, id, "", true))
	r.must(r.Desk.Resolve(t.Context(), r.ana, id))
	if _, err := r.Ask(t.Context(), r.company, id, "", true); !carillon.IsCode(err, carillon.LimitExceeded) {
		t.Errorf("asked again after its end: %v", err)
	}
}

func TestAnotherCompanyReachesNothing(t *testing.T) {
	r := newRig(t, store.Options{})
	id := r.open()
	stranger := By{carillon.NewID(time.Now()), carillon.NewID(time.Now()), "Eve"}
	said := Said{ClientID: "1", Kind: chats.KindText, Text: "More"}
	var errs []error
	add := func(_ any, err error) { errs = append(errs, err) }
	add(r.Desk.Take(t.Context(), stranger, id, ""))
	add(r.Desk.Release(t.Context(), stranger, id, false))
	add(r.Desk.Assign(t.Context(), stranger, stranger, id))
	add(r.Desk.Resolve(t.Context(), stranger, id))
	add(r.Desk.Reopen(t.Context(), stranger, id))
	add(r.Desk.Tag(t.Context(), stranger.CompanyID, id, []string{"x"}))
	add(r.Desk.Read(t.Context(), stranger.CompanyID, id, 1))
	add(r.Leave(t.Context(), stranger.CompanyID, id))
	add(r.Ask(t.Context(), stranger.CompanyID, id, "", true))
	_, _, err := r.Desk.Answer(t.Context(), stranger, id, said, -1)
	_, _, err2 := r.Desk.Note(t.Context(), stranger, id, said)
	_, _, err3 := r.Say(t.Context(), stranger.CompanyID, id, said)
	errs = append(errs, err, err2, err3, r.Rate(t.Context(), stranger.CompanyID, id, 1, ""),
		r.Introduce(t.Context(), stranger.CompanyID, id, "E", "e@e.test"),
		r.Seen(t.Context(), stranger.CompanyID, id, 1))
	for i, err := range errs {
		if !carillon.IsCode(err, carillon.NotFound) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if turns := r.turns(id); len(turns) != 0 {
		t.Errorf("it has %v", turns)
	}
}

func TestTeammatesAreThereWhileTheirInboxIsOpen(t *testing.T) {
	r := newRig(t, store.Options{})
	there := func(want bool) {
		t.Helper()
		if got, err := r.anybodyThere(t.Context(), r.company); got != want || err != nil {
			t.Errorf("somebody is there: %v, %v", got, err)
		}
	}
	events := func(want ...PresenceView) {
		t.Helper()
		r.Attendance.forget(t.Context(), r.now().Add(-stayAfter))
		if diff := cmp.Diff(want, r.presences()); diff != "" {
			t.Error(diff)
		}
	}
	stay := func(v *Visit) {
		t.Helper()
		if err := v.Stay(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	there(false)
	one, two := r.Attendance.Enter(r.ana), r.Attendance.Enter(r.ana)
	stay(one)
	stay(two)
	there(true)
	events(PresenceView{r.ana.AccountID, "Ana", true, false})
	for range 10 { // heartbeats of a stream
		r.pass(20 * time.Second)
		stay(two)
		there(true)
	}
	one.Leave(t.Context())
	there(true)
	if present, err := r.Attendance.SetAway(t.Context(), r.ana, true); !present || err != nil {
		t.Error(present, err)
	}
	there(false)
	events(PresenceView{r.ana.AccountID, "Ana", true, true})
	if present, err := r.Attendance.SetAway(t.Context(), r.ana, false); !present || err != nil {
		t.Error(present, err)
	}
	two.Leave(t.Context())
	three := r.Attendance.Enter(r.ana) // the page was reloaded
	stay(three)
	r.pass(stayAfter + time.Second)
	stay(three)
	there(true)
	events(PresenceView{r.ana.AccountID, "Ana", true, false})
	three.Leave(t.Context())
	r.pass(stayAfter + time.Second)
	there(false)
	events(PresenceView{r.ana.AccountID, "Ana", false, false})
	if present, err := r.Attendance.SetAway(t.Context(), r.ana, true); present || err != nil {
		t.Error(present, err)
	}
	stay(r.Attendance.Enter(r.ben)) // its node stops
	r.pass(presentFor + time.Second)
	there(false)
}

func TestATeammateWithAnInboxOnAnotherNodeIsStillThere(t *testing.T) {
	r := newRig(t, store.Options{})
	other := r.node()
	stay := func(v *Visit) {
		t.Helper()
		if err := v.Stay(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	shows := func(what string, want ...PresenceView) {
		t.Helper()
		r.Attendance.forget(t.Context(), r.now().Add(-stayAfter))
		other.Attendance.forget(t.Context(), r.now().Add(-stayAfter))
		if diff := cmp.Diff(want, r.presences()); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	there, gone := PresenceView{r.ana.AccountID, "Ana", true, false}, PresenceView{r.ana.AccountID, "Ana", false, false}
	here, elsewhere := r.Attendance.Enter(r.ana), other.Attendance.Enter(r.ana)
	stay(here)
	r.pass(time.Second)
	stay(elsewhere)
	shows("on two nodes", there, there)
	here.Leave(t.Context())
	r.pass(stayAfter + time.Second)
	shows("on one of them")
	again := r.Attendance.Enter(r.ana)
	stay(again)
	shows("on two again", there)
	again.Leave(t.Context()) // its sign was the last, so its end ends the presence until the other node's next sign
	r.pass(stayAfter + time.Second)
	shows("after the last sign", gone)
	r.pass(signEvery)
	stay(elsewhere)
	shows("after the other node's sign", there)
	elsewhere.Leave(t.Context())
	r.pass(stayAfter + time.Second)
	shows("on none", gone)
}

// says returns a reply function that performs the given actions.
func says(actions ...agent.Action) func(context.Context, *agent.Request, func(agent.Action) error) error {
	return func(_ context.Context, _ *agent.Request, emit func(agent.Action) error) error {
		for _, a := range actions {
			if err := emit(a); err != nil {
				return err
			}
		}
		return nil
	}
}

func TestTheAgentReplies(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.agent.set(func(_ context.Context, q *agent.Request, emit func(agent.Action) error) error {
			return says(agent.Action{Say: "You said "},
				agent.Action{Say: q.Message(), Sources: []agent.Source{{Title: "FAQ"}}})(nil, q, emit)
		})
		r.run()
		id := r.open()
		r.say(id, "1", "Hello")
		r.within("the reply", func() bool { return r.find(id).ReplySeq == 0 })
		if diff := cmp.Diff([]string{"visitor Hello", "agent You said Hello"}, r.turns(id)); diff != "" {
			t.Error(diff)
		}
		if c := r.find(id); !c.AskedAt.IsZero() {
			t.Error("it is not known as answered")
		}
		r.agent.set(says(agent.Action{Say: "A person will help."}, agent.Action{Handoff: "asked"}))
		r.say(id, "2", "A person")
		r.within("the handoff", func() bool { return r.find(id).State == chats.Missed })
		r.must(r.Desk.Release(t.Context(), r.ana, id, true))
		r.agent.set(says(agent.Action{Say: "Goodbye"}, agent.Action{End: true}))
		r.say(id, "3", "Bye")
		r.within("the end", func() bool { return r.find(id).State == chats.Resolved })
		want := []string{
			"visitor Hello", "agent You said Hello", "visitor A person", "agent A person will help.", "system handoff_requested",
			"system missed", "system returned",
			"visitor Bye", "agent Goodbye", "system resolved",
		}
		if diff := cmp.Diff(want, r.turns(id)); diff != "" {
			t.Error(diff)
		}
	})
}

// A teammate takes the conversation while the agent is replying. The agent stops, and nothing of its reply is
// appended.
func TestAnAgentThatIsInterruptedAppendsNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		talking, stopped := make(chan struct{}), make(chan error)
		r.agent.set(func(ctx context.Context, _ *agent.Request, emit func(agent.Action) error) error {
			_ = emit(agent.Action{Say: "Let me "})
			close(talking)
			<-ctx.Done()
			err := emit(agent.Action{Say: "think."})
			stopped <- ctx.Err()
			return err // like a thinker that ignores its context
		})
		r.run()
		id := r.open()
		r.say(id, "1", "Hello")
		<-talking
		r.must(r.Desk.Take(t.Context(), r.ana, id, ""))
		<-stopped
		r.within("the worker is done", func() bool {
			r.replies.mu.Lock()
			defer r.replies.mu.Unlock()
			return len(r.replies.inProgress) == 0
		})
		if diff := cmp.Diff([]string{"visitor Hello", "system joined"}, r.turns(id)); diff != "" {
			t.Error(diff)
		}
	})
}

// One node takes the conversation while the agent replies on another.
func TestAnAgentOnAnotherNodeStopsToo(t *testing.T) {
	r := newRig(t, store.Options{})
	talking, went := make(chan struct{}), make(chan error, 1)
	r.agent.set(func(ctx context.Context, _ *agent.Request, emit func(agent.Action) error) error {
		close(talking)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for hung := time.Now().Add(2 * time.Minute); time.Now().Before(hung); {
			<-tick.C
			if err := emit(agent.Action{Say: "…"}); err != nil {
				went <- ctx.Err()
				return err
			}
		}
		went <- fmt.Errorf("it went on")
		return nil
	})
	r.run()
	id := r.open()
	r.say(id, "1", "Hello")
	<-talking
	other := New(r.o)
	r.must(other.Desk.Take(t.Context(), r.ana, id, ""))
	if err := <-went; err != nil {
		t.Errorf("it did not end since the conversation was taken: %v", err)
	}
	if diff := cmp.Diff([]string{"visitor Hello", "system joined"}, r.turns(id)); diff != "" {
		t.Error(diff)
	}
}

func TestWhatTheContactAddsWhileTheAgentThinksIsAnswered(t *testing.T) {
	r := newRig(t, store.Options{})
	thinking, more := make(chan struct{}, 2), make(chan struct{})
	r.agent.set(func(_ context.Context, q *agent.Request, emit func(agent.Action) error) error {
		thinking <- struct{}{}
		<-more
		return emit(agent.Action{Say: "To " + q.Message()})
	})
	r.run()
	id := r.open()
	r.say(id, "1", "one")
	<-thinking
	r.say(id, "2", "two")
	close(more)
	r.within("both are answered", func() bool { return r.find(id).ReplySeq == 0 })
	if diff := cmp.Diff([]string{"visitor one", "visitor two", "agent To one", "agent To two"}, r.turns(id)); diff != "" {
		t.Error(diff)
	}
}

func TestWhatTheAgentCannotReplyToGoesToTeammates(t *testing.T) {
	r := newRig(t, store.Options{})
	r.agent.set(func(context.Context, *agent.Request, func(agent.Action) error) error { return fmt.Errorf("broken") })
	r.run()
	broken := r.open()
	r.say(broken, "1", "Hello")
	r.within("the handoff of a broken agent", func() bool { return r.find(broken).State == chats.Missed })
	r.agent.mu.Lock()
	r.agent.gone = true
	r.agent.mu.Unlock()
	r.present(r.ana)
	gone := r.open()
	r.say(gone, "1", "Hello")
	r.within("the handoff of a deleted agent", func() bool { return r.find(gone).State == chats.Queued })
	for _, id := range []string{broken, gone} {
		if c := r.find(id); c.ReplySeq != 0 || !slices.Contains(r.turns(id), "system handoff_requested") {
			t.Errorf("it is %+v", c)
		}
	}
}

// A node stops while the agent replies. Another node, or the next start, gives the reply once.
func TestTheReplyOfAStoppedNodeIsGiven(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		id := r.open()
		r.say(id, "1", "Hello") // no node is running
		r.agent.set(says(agent.Action{Say: "Hello"}))
		r.pass(overdue - time.Second)
		if err := r.Sweep(t.Context()); err != nil || len(r.replies.jobs) != 1 {
			t.Fatalf("before it is overdue %d jobs: %v", len(r.replies.jobs), err) // still the first node's
		}
		r.pass(2 * time.Second)
		other, found := New(r.o), r.find(id)
		for range 3 {
			if err := other.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(other.replies.jobs); n != 1 {
			t.Errorf("the other node takes it up %d times", n)
		}
		third := New(r.o)
		if err := third.replies.takeOverReply(t.Context(), found); err != nil || len(third.replies.jobs) != 0 {
			t.Errorf("a third node takes it up too: %v", err)
		}
		var both sync.WaitGroup
		for _, node := range []*Conversations{r.Conversations, other} {
			both.Go(func() { node.replies.work(t.Context(), <-node.replies.jobs) })
		}
		both.Wait()
		if diff := cmp.Diff([]string{"visitor Hello", "agent Hello"}, r.turns(id)); diff != "" {
			t.Error(diff)
		}
	})
}

// observed records the calls of an observer, one per line.
type observed []string

func (o *observed) Opened(state chats.State) { *o = append(*o, "opened "+string(state)) }

func (o *observed) Moved(from, to chats.State, after time.Duration) {
	*o = append(*o, fmt.Sprintf("%s > %s after %s", from, to, after))
}

func (*observed) Ran(flow.State) {}

func (o *observed) Reviewed(maker, goal string, failed bool) {
	*o = append(*o, fmt.Sprintf("reviewed by %s: %s, failed %t", maker, goal, failed))
}

func (o *observed) Turned(author chats.Author, replied time.Duration) {
	*o = append(*o, fmt.Sprintf("%s %s", author, replied))
}

func TestWhatIsStoredIsObserved(t *testing.T) {
	r := newRig(t, store.Options{})
	var got observed
	r.o.Observer = &got
	id := r.open()
	r.pass(time.Second)
	r.say(id, "1", "Hello")
	r.say(id, "1", "Hello") // repeated
	r.must(r.Ask(t.Context(), r.company, id, "", false))
	r.pass(2 * time.Second)
	r.say(id, "2", "Anybody?")
	r.pass(time.Minute)
	said := Said{ClientID: "1", Kind: chats.KindText, Text: "Yes"}
	for range 2 {
		if _, _, err := r.Desk.Answer(t.Context(), r.ana, id, said, -1); err != nil {
			t.Fatal(err)
		}
	}
	said.ClientID = "2"
	if _, _, err := r.Desk.Note(t.Context(), r.ana, id, said); err != nil {
		t.Fatal(err)
	}
	said.ClientID = "3"
	if _, _, err := r.Desk.Answer(t.Context(), r.ana, id, said, -1); err != nil {
		t.Fatal(err)
	}
	want := observed{
		"opened bot", "visitor 0s", "bot > missed after 1s", "visitor 0s", "missed > active after 1m2s", "teammate 1m2s", "teammate 0s",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhatAMemberHadWhoIsDismissedGoesBack(t *testing.T) {
	r := newRig(t, store.Options{})
	active, finishing, closed, other := r.bring(chats.Active), r.bring(chats.WrapUp), r.bring(chats.Resolved), r.open()
	r.must(r.Desk.Take(t.Context(), r.ana, other, ""))
	if err := r.Desk.Dismiss(t.Context(), r.cat, r.ben.AccountID); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]chats.State{
		active: chats.Queued, finishing: chats.Resolved, closed: chats.Resolved, other: chats.Active,
	} {
		if c := r.find(id); c.State != want {
			t.Errorf("it is %s, want %s", c.State, want)
		}
	}
	if c := r.find(active); c.Assignee != "" {
		t.Errorf("%s still has it", c.Assignee)
	}
}
