package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/store/chats"
	"carillon/internal/store/purge"
)

func importing() []sentence {
	return []sentence{
		{"a part of a history is stored once, read once, and its content dropped", pastParts},
		{"an import is claimed by one node, and goes on when more parts come", pastImports},
		{"messages of a history become resolved conversations in their order, once", pastConversations},
		{"messages of a history from a former number are the person's", pastFormer},
		{"a file of a history replaces the event that announced it", pastFiles},
		{"a name in the address book stays, until it is removed there", pastNames},
	}
}

func (r *rig) part(digest string) chats.PastPart {
	return chats.PastPart{
		SenderUID: r.sender.UID, Digest: digest, CompanyID: ours, Kind: "history", Content: "content of " + digest, ReceivedAt: r.now,
	}
}

// received stores a part and returns it.
func (r *rig) received(t *testing.T, digest string) *chats.PastPart {
	t.Helper()
	p := r.part(digest)
	if n, err := r.Past.Receive(t.Context(), []chats.PastPart{p}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	return &p
}

func pastParts(t *testing.T, r *rig) {
	s, ctx := r.Past, t.Context()
	first := r.received(t, "a")
	r.now = r.now.Add(time.Second)
	r.received(t, "b")
	if n, err := s.Receive(ctx, []chats.PastPart{r.part("a")}); n != 0 || err != nil {
		t.Error("again:", n, err)
	}
	for _, company := range []string{theirs, ours} {
		p, err := s.NextPart(ctx, company, r.sender.UID)
		if err != nil || (p == nil) != (company == theirs) || p != nil && *p != *first {
			t.Errorf("of %s: %+v, %v", company, p, err)
		}
	}
	if err := s.TryPart(ctx, first); err != nil {
		t.Error(err)
	}
	if p, err := s.NextPart(ctx, ours, r.sender.UID); err != nil || p.Tries != 1 {
		t.Error(p, err)
	}
	if err := s.EndPart(ctx, first, chats.PartResult{Phase: 1, Progress: 55, Names: 2}); err != nil {
		t.Fatal(err)
	}
	if err := s.EndPart(ctx, first, chats.PartResult{Progress: -1, Refused: true}); err != nil {
		t.Fatal(err)
	}
	if p, err := s.NextPart(ctx, ours, r.sender.UID); err != nil || p.Digest != "b" {
		t.Error(p, err)
	}
	if _, err := s.Stage(ctx, first, nil, r.now); !errors.Is(err, chats.ErrOvertaken) {
		t.Error("a part that was read:", err)
	}
	i, err := s.Import(ctx, ours, r.sender.UID)
	if err != nil || i.Phase != 1 || i.Progress != 55 || i.Names != 2 || !i.Refused || !i.ReceivedAt.Equal(r.now) {
		t.Errorf("%+v, %v", i, err)
	}
	if i, err := s.Import(ctx, theirs, r.sender.UID); err != nil || i.Phase != 0 {
		t.Errorf("of another company: %+v, %v", i, err)
	}
	if n, err := s.Receive(ctx, []chats.PastPart{r.part("a")}); n != 0 || err != nil {
		t.Error("after it was read:", n, err)
	}
	if p, err := r.Purges.Drop(ctx, purge.PastParts, r.now.Add(time.Hour), 10); err != nil || p.Rows != 1 {
		t.Errorf("dropped %+v, %v", p, err)
	}
}

func pastImports(t *testing.T, r *rig) {
	s, ctx := r.Past, t.Context()
	for _, contacts := range []bool{true, false} {
		if err := s.Asked(ctx, theirs, r.sender.UID, contacts, r.now); err != nil {
			t.Fatal(err)
		}
		if err := s.Asked(ctx, ours, r.sender.UID, contacts, r.now); err != nil {
			t.Fatal(err)
		}
	}
	i, err := s.Import(ctx, ours, r.sender.UID)
	if err != nil || !i.AskedAt.Equal(r.now) || !i.ContactsAt.Equal(r.now) || !i.DueAt.IsZero() {
		t.Errorf("%+v, %v", i, err)
	}
	if due, err := s.Due(ctx, r.now, 10, nil); err != nil || len(due) != 0 {
		t.Error(due, err)
	}
	r.received(t, "a")
	due, err := s.Due(ctx, r.now, 10, nil)
	if err != nil || len(due) != 1 {
		t.Fatal(due, err)
	}
	if others, err := s.Due(ctx, r.now, 10, []string{ours}); err != nil || len(others) != 0 {
		t.Error(others, err)
	}
	x := due[0]
	for _, want := range []bool{true, false} {
		if ok, err := s.Claim(ctx, x, "gone", r.now, r.now.Add(time.Minute)); ok != want || err != nil {
			t.Error("claimed:", ok, err)
		}
	}
	for _, alone := range []bool{false, true} { // the node is in no table
		if err := s.Recover(ctx, r.now, alone); err != nil {
			t.Error(err)
		}
	}
	if ok, err := s.Claim(ctx, x, "node", r.now, r.now.Add(time.Minute)); !ok || err != nil {
		t.Error("after the node is dead:", ok, err)
	}
	seen := r.now
	r.now = r.now.Add(time.Second)
	r.received(t, "b")
	if due, err := s.Due(ctx, r.now, 10, nil); err != nil || len(due) != 0 {
		t.Error("in progress:", due, err)
	}
	if err := s.Release(ctx, x, seen, r.now, time.Time{}); err != nil {
		t.Error(err)
	}
	if due, err := s.Due(ctx, r.now, 10, nil); err != nil || len(due) != 1 {
		t.Error("more came meanwhile:", due, err)
	}
	if err := s.Release(ctx, x, r.now, r.now, time.Time{}); err != nil {
		t.Error(err)
	}
	if due, err := s.Due(ctx, r.now, 10, nil); err != nil || len(due) != 0 {
		t.Error("done:", due, err)
	}
	if err := s.Drop(ctx, x); err != nil {
		t.Error(err)
	}
	if p, err := s.NextPart(ctx, ours, r.sender.UID); p != nil || err != nil {
		t.Error(p, err)
	}
}

const pastPerson = "34600111222"

func (r *rig) pastRow(id string, at time.Duration) chats.PastRow {
	return chats.PastRow{
		SenderUID: r.sender.UID, ProviderID: id, CompanyID: ours, Person: pastPerson, At: r.now.Add(at), Content: "content of " + id,
	}
}

// pastBuild builds messages as turns of the person.
func (r *rig) pastBuild(t *testing.T, rows []chats.PastRow, files bool) (*chats.PastBuild, error) {
	t.Helper()
	b := &chats.PastBuild{
		SenderUID: r.sender.UID, Known: []identity.Identity{{Kind: identity.Line, Key: identity.Number(pastPerson)}},
		Contact:  chats.Contact{ID: carillon.NewID(r.now), CompanyID: ours, Number: pastPerson},
		Language: "en", Rows: rows,
	}
	for _, x := range rows {
		b.Turns = append(b.Turns, chats.Turn{
			Author: chats.Visitor, Kind: chats.KindText, ClientID: "visitor:" + x.ProviderID, Text: x.ProviderID, At: x.At,
		})
		b.Files = append(b.Files, files)
	}
	return b, r.Past.Build(t.Context(), b)
}

func (r *rig) pastTurns(t *testing.T, c *chats.Conversation) string {
	t.Helper()
	turns, err := r.Chats.Turns(t.Context(), ours, c.ID, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, x := range turns {
		all = append(all, fmt.Sprint(x.Seq, x.Text))
	}
	return strings.Join(all, " ")
}

func pastConversations(t *testing.T, r *rig) {
	s, ctx := r.Past, t.Context()
	if _, err := r.Replies.Receive(ctx, []chats.Inbound{{
		SenderUID: r.sender.UID, ProviderID: "live", CompanyID: ours, Person: pastPerson, Content: "{}", ReceivedAt: r.now,
	}}); err != nil {
		t.Fatal(err)
	}
	p := r.received(t, "a")
	rows := []chats.PastRow{r.pastRow("m2", -time.Hour), r.pastRow("m1", -2*time.Hour), r.pastRow("live", 0)}
	for _, want := range []int{2, 0} {
		if n, err := s.Stage(ctx, p, rows, r.now); n != want || err != nil {
			t.Error("staged:", n, err)
		}
	}
	if found, err := s.Unbuilt(ctx, theirs, r.sender.UID, 10); err != nil || len(found) != 0 {
		t.Error("of another company:", found, err)
	}
	found, err := s.Unbuilt(ctx, ours, r.sender.UID, 10)
	if err != nil || len(found) != 2 || found[0].ProviderID != "m1" || found[1].ProviderID != "m2" {
		t.Fatal(found, err)
	}
	if _, err := r.pastBuild(t, found, false); err != nil {
		t.Fatal(err)
	}
	if _, err := r.pastBuild(t, found, false); !errors.Is(err, chats.ErrOvertaken) {
		t.Error("again:", err)
	}
	person := identity.Identity{Kind: identity.Line, Key: identity.Number(pastPerson)}
	c, err := r.Chats.OfPerson(ctx, ours, person)
	if err != nil || c == nil || c.State != chats.Resolved || c.Unread() || !c.AskedAt.IsZero() || !c.WaitingAt.IsZero() ||
		!c.OpenedAt.Equal(rows[1].At) || !c.LastAt.Equal(rows[0].At) || !c.ResolvedAt.Equal(rows[0].At) || !c.ReviewAt.IsZero() {
		t.Fatalf("%+v, %v", c, err)
	}
	if got := r.pastTurns(t, c); got != "1m1 2m2" {
		t.Error(got)
	}
	if contact, err := r.Contacts.ContactOf(ctx, ours, c.ContactID); err != nil || !contact.SeenAt.Equal(rows[0].At) {
		t.Errorf("%+v, %v", contact, err)
	}
	// Later ones go on, earlier ones are another conversation.
	build := func(row chats.PastRow) *chats.PastBuild {
		t.Helper()
		if n, err := s.Stage(ctx, p, []chats.PastRow{row}, r.now); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		found, err := s.Unbuilt(ctx, ours, r.sender.UID, 10)
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		b, err := r.pastBuild(t, found, false)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if b := build(r.pastRow("m3", -time.Minute)); b.Made || r.pastTurns(t, c) != "1m1 2m2 3m3" {
		t.Error("later ones:", r.pastTurns(t, c))
	}
	if b := build(r.pastRow("m0", -3*time.Hour)); !b.Made || r.pastTurns(t, c) != "1m1 2m2 3m3" {
		t.Error("earlier ones:", r.pastTurns(t, c))
	}
	if i, err := s.Import(ctx, ours, r.sender.UID); err != nil || i.Messages != 4 || i.Conversations != 2 {
		t.Errorf("%+v, %v", i, err)
	}
	if p, err := r.Purges.Drop(ctx, purge.PastMessages, r.now.Add(time.Hour), 10); err != nil || p.Rows != 4 {
		t.Errorf("dropped %+v, %v", p, err)
	}
}

func pastFiles(t *testing.T, r *rig) {
	s, ctx := r.Past, t.Context()
	p := r.received(t, "a")
	row := r.pastRow("m1", -time.Hour)
	row.Absent = true
	if _, err := s.Stage(ctx, p, []chats.PastRow{row}, r.now); err != nil {
		t.Fatal(err)
	}
	found, err := s.Unbuilt(ctx, ours, r.sender.UID, 10)
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	if _, err := r.pastBuild(t, found, false); err != nil {
		t.Fatal(err)
	}
	absent, err := s.Absent(ctx, ours, r.sender.UID, []string{"m1", "m2"})
	if err != nil || len(absent) != 1 || absent["m1"].Content != row.Content {
		t.Error(absent, err)
	}
	if absent, err := s.Absent(ctx, theirs, r.sender.UID, []string{"m1"}); err != nil || len(absent) != 0 {
		t.Error("of another company:", absent, err)
	}
	row.Absent, row.Content = false, "with a file"
	if n, err := s.Stage(ctx, p, []chats.PastRow{row}, r.now); n != 0 || err != nil {
		t.Error(n, err)
	}
	f, err := s.NextFile(ctx, ours, r.sender.UID, r.now)
	if err != nil || f == nil || f.Content != "with a file" || f.Seq != 1 {
		t.Fatal(f, err)
	}
	if err := s.DelayFile(ctx, f, r.now.Add(time.Minute)); err != nil {
		t.Error(err)
	}
	if f, err := s.NextFile(ctx, ours, r.sender.UID, r.now); f != nil || err != nil {
		t.Error("too early:", f, err)
	}
	if due, err := s.FileDue(ctx, ours, r.sender.UID); err != nil || !due.Equal(r.now.Add(time.Minute)) {
		t.Error(due, err)
	}
	turn := chats.Turn{Author: chats.Teammate, Kind: chats.KindFile, Text: "Look", Extra: chats.Extra{File: &chats.File{ID: "f"}}}
	other := *f
	other.CompanyID = theirs
	for _, x := range []*chats.PastRow{&other, f} {
		if err := s.EndFile(ctx, x, &turn); err != nil {
			t.Fatal(err)
		}
		turns, err := r.Chats.Turns(ctx, ours, f.ConversationID, 0, 10)
		if err != nil || len(turns) != 1 || (turns[0].Kind == chats.KindFile) != (x == f) {
			t.Errorf("%+v, %v", turns, err)
		}
	}
	if due, err := s.FileDue(ctx, ours, r.sender.UID); err != nil || !due.IsZero() {
		t.Error(due, err)
	}
}

func pastFormer(t *testing.T, r *rig) {
	s, ctx := r.Past, t.Context()
	r.received(t, "a")
	p, err := s.NextPart(ctx, ours, r.sender.UID)
	if err != nil {
		t.Fatal(err)
	}
	rows := []chats.PastRow{r.pastRow("early", -time.Hour), r.pastRow("late", time.Hour)}
	if _, err := s.Stage(ctx, p, rows, r.now); err != nil {
		t.Fatal(err)
	}
	before := r.meets(t, ours, []identity.Identity{line(pastPerson)})
	r.meets(t, ours, []identity.Identity{line(pastPerson)}, func(o *chats.Open) {
		o.Became, o.Contact.Number, o.At = []identity.Identity{line("34600111333")}, "34600111333", r.now
	})
	for i, same := range []bool{true, false} {
		b, err := r.pastBuild(t, rows[i:i+1], false)
		if err != nil || !b.Made {
			t.Fatal(b.Made, err)
		}
		all, err := r.Chats.OfContact(ctx, ours, before.Contact.ID, before.Conversation.ID, 10)
		if err != nil || len(all) != 1 {
			t.Errorf("with the %s message the contact has %d conversations of its history, %v", rows[i].ProviderID, len(all), err)
		}
		if c, err := r.Chats.OfPerson(ctx, ours, line(pastPerson)); err != nil || (c == nil) != same {
			t.Errorf("after the %s message the number has the conversation %v, %v", rows[i].ProviderID, c, err)
		}
	}
	r.checkKnown(t, before.Contact.ID, "line 34600111333")
}

func pastNames(t *testing.T, r *rig) {
	ctx := t.Context()
	known := []identity.Identity{{Kind: identity.Line, Key: identity.Number(pastPerson)}}
	set := func(name string, removed bool) {
		t.Helper()
		if err := r.Contacts.SetNames(ctx, []chats.PersonNamed{{
			Known: known, Removed: removed,
			Contact: chats.Contact{ID: carillon.NewID(r.now), CompanyID: ours, Number: pastPerson, Name: name},
		}}, r.now); err != nil {
			t.Fatal(err)
		}
	}
	// writes lets the person write under a name, and checks the contact's name.
	writes := func(name, want string) {
		t.Helper()
		r.now = r.now.Add(time.Second)
		o := &chats.Open{
			Contact: chats.Contact{ID: carillon.NewID(r.now), CompanyID: ours, Number: pastPerson, Name: name}, Known: known, Now: r.now,
			Conversation: chats.Conversation{ID: carillon.NewID(r.now), Channel: "whatsapp", State: chats.Automated},
		}
		if err := r.Chats.Open(ctx, o); err != nil || o.Contact.Name != want {
			t.Errorf("the contact is %q, want %q, %v", o.Contact.Name, want, err)
		}
	}
	set("Pablo, the plumber", false)
	writes("pablito", "Pablo, the plumber")
	set("Pablo", false)
	writes("pablito", "Pablo")
	set("", true)
	writes("", "Pablo")
	writes("pablito", "pablito")
}
