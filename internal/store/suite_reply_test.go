package store_test

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/store/chats"
	"carillon/internal/store/configure"
	eventtable "carillon/internal/store/events"
	"carillon/internal/store/purge"
)

func exchanging() []sentence {
	return []sentence{
		{"an inbound message is stored once, and claimed by one", inboundOnce},
		{"replies are sent in the order of their turns, one after the other", repliesInOrder},
		{"a reply that is queued while the one before it ends is sent", repliesAtOnce},
		{"of a reply under way nobody begins another attempt, and receipts only rise", replyStates},
		{"what a node was at that is no more is taken up, and what it waits for is passed", repliesLeft},
		{"a message of an application is stored once by its key, and its states are events", postedOnce},
		{"a phone of the sandbox keeps what happens to it, for its company alone", phones},
	}
}

func inboundOnce(t *testing.T, r *rig) {
	s := r.Replies
	m := chats.Inbound{
		SenderUID: 7, ProviderID: "wamid.1", CompanyID: ours, Person: "34600111222", Content: `{"text":"Hi"}`, ReceivedAt: r.now,
	}
	later := m
	later.ProviderID, later.ReceivedAt = "wamid.2", r.now.Add(time.Millisecond)
	if n, err := s.Receive(t.Context(), []chats.Inbound{m, later}); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := s.Receive(t.Context(), []chats.Inbound{m}); n != 0 || err != nil {
		t.Error("again:", n, err)
	}
	other := m
	other.SenderUID, other.CompanyID = 8, theirs
	if n, err := s.Receive(t.Context(), []chats.Inbound{other}); n != 1 || err != nil {
		t.Error("of another sender:", n, err)
	}
	now := r.now.Add(time.Second)
	waiting, err := s.Waiting(t.Context(), now, 10, nil)
	if err != nil || len(waiting) != 2 || waiting[0].ProviderID != "wamid.1" || waiting[1].ProviderID != "wamid.1" {
		t.Fatal("the second of a person does not wait:", waiting, err)
	}
	if others, err := s.Waiting(t.Context(), now, 10, []string{waiting[0].CompanyID, waiting[1].CompanyID}); len(others) != 0 ||
		err != nil {
		t.Error("without their companies:", others, err)
	}
	first := waiting[0]
	if first.SenderUID != 7 {
		first = waiting[1]
	}
	var got atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			ok, err := s.Claim(t.Context(), first, "gone", now, now.Add(time.Minute))
			if err != nil {
				t.Error(err)
			}
			if ok {
				got.Add(1)
			}
		})
	}
	all.Wait()
	if got.Load() != 1 {
		t.Errorf("%d claimed it", got.Load())
	}
	for _, claimed := range []time.Time{now.Add(time.Hour), now.Add(time.Minute)} { // only who has claimed it releases it
		if err := s.Release(t.Context(), first, claimed, now.Add(time.Second)); err != nil {
			t.Error(err)
		}
		due, err := s.Waiting(t.Context(), now.Add(2*time.Second), 10, nil)
		if released := claimed.Equal(now.Add(time.Minute)); err != nil || (len(due) == 2) != released {
			t.Error("released:", released, due, err)
		}
	}
	now = now.Add(2 * time.Second)
	if ok, err := s.Claim(t.Context(), first, "gone", now, now.Add(time.Hour)); !ok || err != nil {
		t.Fatal(ok, err)
	}
	for _, recovered := range []bool{false, true} {
		if due, err := s.Waiting(t.Context(), now, 10, nil); (len(due) == 2) != recovered || err != nil {
			t.Error("recovered:", recovered, due, err)
		}
		if err := s.Recover(t.Context(), now, true); err != nil {
			t.Error(err)
		}
	}
	if err := s.Done(t.Context(), first); err != nil {
		t.Error(err)
	}
	if waiting, err := s.Waiting(t.Context(), now.Add(time.Hour), 10, nil); len(waiting) != 2 || err != nil {
		t.Error(waiting, err)
	}
	if n, err := s.Receive(t.Context(), []chats.Inbound{m, other}); n != 0 || err != nil {
		t.Error("after it is done:", n, err)
	}
	p, err := r.Purges.Drop(t.Context(), purge.Inbound, now.Add(time.Hour), 10)
	if err != nil || p.Rows != 1 {
		t.Errorf("dropped %+v, %v", p, err)
	}
}

// chatting opens a conversation over a sender, in which the person wrote.
func (r *rig) chatting(t *testing.T) *chats.Conversation {
	t.Helper()
	r.now = r.now.Add(time.Second)
	c := r.talk(t, ours)
	if err := r.Config.Update(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		_, err := tx.Exec(ctx, "UPDATE conversation SET channel = 'whatsapp' WHERE id = $1", c.ID)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	w := &chats.Window{
		CompanyID: ours, ConversationID: c.ID, SenderUID: 7, Number: "34600111222", LastID: "wamid.1", Until: r.now.Add(24 * time.Hour),
	}
	if err := r.Replies.SetWindow(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	before := *w
	before.LastID, before.Until = "wamid.0", w.Until.Add(-time.Minute)
	if err := r.Replies.SetWindow(t.Context(), &before); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Replies.Window(t.Context(), ours, c.ID); err != nil || got == nil || *got != *w {
		t.Errorf("window %+v, %v", got, err)
	}
	if got, err := r.Replies.Window(t.Context(), theirs, c.ID); err != nil || got != nil {
		t.Errorf("window of another company %+v, %v", got, err)
	}
	return c
}

func (r *rig) reply(t *testing.T, c *chats.Conversation, texts ...string) {
	t.Helper()
	change := &chats.Change{CompanyID: ours, ConversationID: c.ID, Edit: func(*chats.Conversation) ([]chats.Turn, error) {
		turns := []chats.Turn{
			{Author: chats.Teammate, Kind: chats.KindText, Note: true, Text: "a note", At: r.now},
			{Author: chats.System, Kind: chats.KindEvent, At: r.now},
		}
		for _, text := range texts {
			turns = append(turns, chats.Turn{Author: chats.Agent, Kind: chats.KindText, Text: text, At: r.now})
		}
		return turns, nil
	}}
	if err := r.Chats.Do(t.Context(), change); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) dueReplies(t *testing.T, at time.Time) (seqs []int64) {
	t.Helper()
	all, err := r.Replies.DueReplies(t.Context(), at, 10, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range all {
		if others, err := r.Replies.DueReplies(t.Context(), at, 10, []string{x.CompanyID}); len(others) != 0 || err != nil {
			t.Error("without their company:", others, err)
		}
		seqs = append(seqs, x.Seq)
	}
	return seqs
}

func repliesInOrder(t *testing.T, r *rig) {
	c, s := r.chatting(t), r.Replies
	r.reply(t, c, "one", "two")
	r.reply(t, c, "three")
	now := r.now.Add(time.Second)
	for _, seq := range []int64{3, 4, 7} {
		if got := r.dueReplies(t, now); len(got) != 1 || got[0] != seq {
			t.Fatalf("due %v, not %d", got, seq)
		}
		x := &chats.Reply{CompanyID: ours, ConversationID: c.ID, Seq: seq}
		if ok, err := s.Begin(t.Context(), x, "gone", now, now.Add(time.Minute)); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if got := r.dueReplies(t, now); len(got) > 0 {
			t.Fatalf("while %d is sent, due %v", seq, got)
		}
		x.State, x.ProviderID = "sent", "wamid.out"
		if risen, err := s.Finish(t.Context(), x, now); !risen || err != nil {
			t.Fatal(risen, err)
		}
	}
	own := &chats.Change{CompanyID: ours, ConversationID: c.ID, Edit: func(*chats.Conversation) ([]chats.Turn, error) {
		return []chats.Turn{{Author: chats.Visitor, Kind: chats.KindText, ClientID: "visitor:wamid.in", Text: "own", At: r.now}}, nil
	}}
	if err := r.Chats.Do(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	if turn, err := r.Chats.TurnBy(t.Context(), ours, c.ID, "visitor:wamid.in"); err != nil || turn == nil || turn.Text != "own" {
		t.Error(turn, err)
	}
	if turn, err := r.Chats.TurnBy(t.Context(), theirs, c.ID, "visitor:wamid.in"); err != nil || turn != nil {
		t.Error("of another company:", turn, err)
	}
	for company, want := range map[string]int64{ours: 7, theirs: 0} { // of several with an id, which do not exist, the last
		if seq, err := s.SeqOf(t.Context(), company, c.ID, "wamid.out"); seq != want || err != nil {
			t.Errorf("the turn of a provider's id is %d, %v", seq, err)
		}
	}
	if seq, err := s.SeqOf(t.Context(), ours, c.ID, "wamid.none"); seq != 0 || err != nil {
		t.Error(seq, err)
	}
	all, err := s.Replies(t.Context(), ours, c.ID, 4, 100)
	if err != nil || len(all) != 2 || all[0].State != "sent" || all[0].SenderUID != 7 || all[0].Number != "34600111222" ||
		all[0].Attempt != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	if all, _ := s.Replies(t.Context(), theirs, c.ID, 0, 100); len(all) > 0 {
		t.Error("another company reads them")
	}
	plain := r.talk(t, ours)
	r.reply(t, plain, "no window")
	if got := r.dueReplies(t, now.Add(time.Hour)); len(got) > 0 {
		t.Errorf("a reply in a chat is due: %v", got)
	}
}

func postedOnce(t *testing.T, r *rig) {
	r.follow(t, ours, eventtable.Notifications)
	c, s := r.chatting(t), r.Replies
	post := func(key, hash string) (*chats.Change, error) {
		x := &chats.Change{
			CompanyID: ours, ConversationID: c.ID, ClientID: carillon.NewID(r.now),
			Posted: &chats.Posted{KeyID: "k", Content: `{"type":"text"}`},
			Edit: func(*chats.Conversation) ([]chats.Turn, error) {
				return []chats.Turn{{Author: chats.Teammate, Kind: chats.KindText, Text: "Hi", At: r.now}}, nil
			},
		}
		x.Posted.Claim = &chats.Claim{
			Route: "messages", Key: key, Hash: hash, Now: r.now, ExpiresAt: r.now.Add(time.Hour),
			Answer: func(turns []chats.Turn) string { return chats.MessageID(c.ID, turns[0].Seq) },
		}
		return x, r.Chats.Do(t.Context(), x)
	}
	first, err := post("a", "1")
	if err != nil || len(first.Turns) != 1 {
		t.Fatal(first.Turns, err)
	}
	id := chats.MessageID(c.ID, first.Turns[0].Seq)
	if again, err := post("a", "1"); err != nil || again.Posted.Claim.Replay != id || len(again.Turns) > 0 {
		t.Errorf("again: %+v, %v", again.Posted.Claim, err)
	}
	if _, err := post("a", "2"); !carillon.IsCode(err, carillon.IdempotencyKeyReused) {
		t.Error("another body:", err)
	}
	seq := first.Turns[0].Seq
	if x, at, err := s.Posted(t.Context(), ours, c.ID, seq); err != nil || x.Content != `{"type":"text"}` || !at.Equal(r.now) {
		t.Errorf("%+v at %v, %v", x, at, err)
	}
	if _, _, err := s.Posted(t.Context(), theirs, c.ID, seq); !carillon.IsCode(err, carillon.NotFound) {
		t.Error("of another company:", err)
	}
	due, err := s.DueReplies(t.Context(), r.now.Add(time.Second), 10, nil)
	if err != nil || len(due) != 1 || due[0].KeyID != "k" {
		t.Fatal(due, err)
	}
	x := due[0]
	if ok, err := s.Begin(t.Context(), x, "gone", r.now, r.now.Add(time.Minute)); !ok || err != nil {
		t.Fatal(ok, err)
	}
	x.State, x.ProviderID, x.Attempt = "sent", "wamid.out", 1
	if risen, err := s.Finish(t.Context(), x, r.now); !risen || err != nil {
		t.Fatal(risen, err)
	}
	r.wantEvents(t, eventtable.Notifications, "message.sent sending")
}

func repliesAtOnce(t *testing.T, r *rig) {
	c, s := r.chatting(t), r.Replies
	r.reply(t, c, "first")
	for range 60 {
		now := r.now.Add(time.Second)
		due, err := s.DueReplies(t.Context(), now, 10, nil)
		if err != nil || len(due) != 1 {
			t.Fatalf("due %v, %v", due, err)
		}
		if ok, err := s.Begin(t.Context(), due[0], "gone", now, now.Add(time.Minute)); !ok || err != nil {
			t.Fatal(ok, err)
		}
		var both sync.WaitGroup
		both.Go(func() { r.reply(t, c, "next") })
		both.Go(func() {
			due[0].State = "sent"
			if _, err := s.Finish(t.Context(), due[0], now); err != nil {
				t.Error(err)
			}
		})
		both.Wait()
	}
}

func repliesLeft(t *testing.T, r *rig) {
	if err := r.Nodes.Join(t.Context(), "lives", "lives"); err != nil {
		t.Fatal(err)
	}
	c, s := r.chatting(t), r.Replies
	r.reply(t, c, "one", "two", "three")
	now := r.now.Add(time.Second)
	begin := func(seq int64, node string) *chats.Reply {
		t.Helper()
		x := &chats.Reply{CompanyID: ours, ConversationID: c.ID, Seq: seq}
		if ok, err := s.Begin(t.Context(), x, node, now, now.Add(time.Minute)); !ok || err != nil {
			t.Fatal(ok, err)
		}
		return x
	}
	left := func(what string, want bool, do func() error) {
		t.Helper()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		if due := r.dueReplies(t, now); (len(due) == 1) != want {
			t.Errorf("%s: due %v", what, due)
		}
	}
	pass := func(company string, written time.Time) func() error {
		return func() error {
			_, err := s.Passed(t.Context(), company, c.ID, written, now)
			return err
		}
	}
	recover := func(alone bool) func() error {
		return func() error { return s.Recover(t.Context(), now, alone) }
	}
	x := begin(3, "lives")
	left("its node lives", false, recover(false))
	left("its node lives, and the person writes", false, pass(ours, now))
	left("its node lives no more, for there is no other", true, recover(true))
	x.State = "unknown"
	if _, err := s.Finish(t.Context(), x, now); err != nil {
		t.Fatal(err)
	}
	x = begin(4, "gone")
	left("of another company", false, pass(theirs, now))
	left("written before", false, pass(ours, now.Add(-time.Millisecond)))
	left("its node is gone", true, recover(false))
	x.State = "unknown"
	if _, err := s.Finish(t.Context(), x, now); err != nil {
		t.Fatal(err)
	}
	x = begin(5, "lives")
	if err := s.Unheard(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	left("the attempt is over", false, recover(false))
	left("the attempt is over, and the person writes", true, pass(ours, now))
	for company, want := range map[string]int{ours: 3, theirs: 0} {
		if all, err := s.Unproven(t.Context(), company, c.ID, 10); len(all) != want || err != nil || want > 0 && all[0].Seq != 5 {
			t.Errorf("%d replies may have arrived, %v", len(all), err)
		}
	}
	if all, err := s.Unproven(t.Context(), ours, c.ID, 1); len(all) != 1 || err != nil {
		t.Error(all, err)
	}
	if err := r.Nodes.Leave(t.Context(), "lives"); err != nil {
		t.Fatal(err)
	}
}

func replyStates(t *testing.T, r *rig) {
	c, s := r.chatting(t), r.Replies
	r.reply(t, c, "one", "two")
	x := &chats.Reply{CompanyID: ours, ConversationID: c.ID, Seq: 3}
	now := r.now.Add(time.Second)
	state := func() string {
		all, err := s.Replies(t.Context(), ours, c.ID, 3, 3)
		if err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		return all[0].State
	}
	for attempt := range 2 {
		if ok, err := s.Begin(t.Context(), x, "gone", now, now.Add(time.Minute)); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if ok, err := s.Begin(t.Context(), x, "gone", now.Add(time.Hour), now.Add(2*time.Hour)); ok || err != nil {
			t.Error("begun twice", err)
		}
		if attempt == 0 {
			if err := s.Again(t.Context(), x, "limited", now, now.Add(time.Second)); err != nil {
				t.Fatal(err)
			}
			now = now.Add(time.Second)
		}
	}
	receipt := func(uid int64, to string) bool {
		known, err := s.Receipt(t.Context(), uid, &chats.Reply{ConversationID: c.ID, Seq: 3, State: to, ProviderID: "wamid.out"}, now)
		if err != nil {
			t.Error(err)
		}
		return known
	}
	if receipt(8, "read") || state() != "sending" {
		t.Error("a receipt of another sender counts")
	}
	if !receipt(7, "delivered") || state() != "delivered" {
		t.Error(state())
	}
	if got := r.dueReplies(t, now); len(got) != 1 || got[0] != 4 {
		t.Errorf("after the delivery due %v", got)
	}
	x.State = "sent" // the response to the attempt comes after its receipt
	if risen, err := s.Finish(t.Context(), x, now); risen || err != nil || state() != "delivered" {
		t.Error(state(), risen, err)
	}
	for _, step := range []struct{ to, want string }{
		{"sent", "delivered"}, {"delivered", "delivered"}, {"read", "read"}, {"read", "read"}, {"delivered", "read"}, {"failed", "read"},
	} {
		before := state()
		if risen := receipt(7, step.to); risen != (before != step.want) || state() != step.want {
			t.Errorf("after %s it is %s, not %s; risen %t", step.to, state(), step.want, risen)
		}
	}
}

func phones(t *testing.T, r *rig) {
	s, number := r.Phones, "34600111222"
	want := func(p chats.Phone) {
		t.Helper()
		p.CompanyID, p.SenderUID, p.Number = ours, 7, number
		if got, err := s.Phone(t.Context(), ours, 7, number); err != nil || *got != p {
			t.Errorf("%+v, %v; not %+v", got, err, p)
		}
	}
	want(chats.Phone{})
	if err := s.SetUnreachable(t.Context(), ours, 7, number, true, r.now); err != nil {
		t.Fatal(err)
	}
	if err := s.MarkPhone(t.Context(), ours, 7, number, r.now, r.now.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	want(chats.Phone{Unreachable: true, ReadAt: r.now, TypingUntil: r.now.Add(time.Minute)})
	if err := s.MarkPhone(t.Context(), ours, 7, number, r.now, time.Time{}); err != nil { // read, while a reply is being written
		t.Fatal(err)
	}
	want(chats.Phone{Unreachable: true, ReadAt: r.now, TypingUntil: r.now.Add(time.Minute)})
	if err := s.SetUnreachable(t.Context(), theirs, 7, number, false, r.now); err != nil {
		t.Fatal(err)
	}
	if err := s.MarkPhone(t.Context(), theirs, 7, number, r.now.Add(time.Hour), time.Time{}); err != nil {
		t.Fatal(err)
	}
	want(chats.Phone{Unreachable: true, ReadAt: r.now, TypingUntil: r.now.Add(time.Minute)})
	if got, err := s.Phone(t.Context(), theirs, 7, number); err != nil || got.Unreachable {
		t.Error("another company reads it:", got, err)
	}
	for i := range 99 {
		if err := s.SetUnreachable(t.Context(), ours, 7, strconv.Itoa(34600200000+i), true, r.now); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SetUnreachable(t.Context(), ours, 7, number, true, r.now); err != nil {
		t.Error("again:", err)
	}
	if err := s.SetUnreachable(t.Context(), ours, 7, "34600300000", true, r.now); !carillon.IsCode(err, carillon.LimitExceeded) {
		t.Error("one too many:", err)
	}
	if all, err := s.Unreachable(t.Context(), 1000); err != nil || len(all) != 100 {
		t.Error(len(all), err)
	}
	if err := s.SetUnreachable(t.Context(), ours, 7, number, false, r.now); err != nil {
		t.Fatal(err)
	}
	if p, err := r.Purges.Drop(t.Context(), purge.Phones, r.now, 1000); err != nil || p.Rows != 0 {
		t.Error(p, err)
	}
	if p, err := r.Purges.Drop(t.Context(), purge.Phones, r.now.Add(time.Millisecond), 1000); err != nil || p.Rows != 100 {
		t.Error(p, err)
	}
	want(chats.Phone{})
	line := identity.Identity{Kind: identity.Line, Key: identity.Number(number)}
	contact := chats.Contact{CompanyID: ours, Number: number}
	o := &chats.Open{
		Contact: contact, Known: []identity.Identity{line},
		Conversation: chats.Conversation{ID: carillon.NewID(r.now), Channel: "whatsapp", State: chats.Automated}, Now: r.now,
	}
	o.Contact.ID = carillon.NewID(r.now)
	if err := r.Chats.Open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if c, err := r.Chats.OfPerson(t.Context(), ours, line); err != nil || c == nil || c.ID != o.Conversation.ID {
		t.Error(c, err)
	}
	if c, err := r.Chats.OfPerson(t.Context(), theirs, line); err != nil || c != nil {
		t.Error("another company's conversation:", c, err)
	}
}
