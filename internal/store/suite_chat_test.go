package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/store/accounts"
	"carillon/internal/store/chats"
	"carillon/internal/store/configure"
	"carillon/internal/store/purge"
)

func talking() []sentence {
	return []sentence{
		{"a contact has one open conversation, which it finds again", conversationFound},
		{"a verified contact and an unverified one of the same id are two", contactsVerified},
		{"a change appends its turns in order, or changes nothing", conversationChanged},
		{"a repeated client id finds its turn", conversationRepeated},
		{"the times of a spoken turn are added to it", turnSpoken},
		{"another company finds no conversation, turn or contact", conversationsApart},
		{"conversations are listed by folder, search, tag and contact, page by page", conversationsListed},
		{"what waits too long is found by its state, in its order", conversationsWaiting},
		{"a notice about a waiting visitor is claimed once", noticesClaimed},
		{"replies for e-mails are collected, claimed once and finished", mailsClaimed},
		{"a browser gets the notices of the last member who subscribed it, while the session lasts", browsersSubscribed},
		{"teammates are present until an instant", teammatesPresent},
		{"canned replies are kept by their shortcuts", cannedReplies},
		{"turns are the events of their conversation's topic", turnEvents},
		{"quiet conversations are deleted with their turns, and contacts without any", conversationsPurged},
	}
}

// opened is the conversation of a visitor of a company.
func (r *rig) opened(t *testing.T, company, visitor string, change ...func(o *chats.Open)) *chats.Open {
	t.Helper()
	r.now = r.now.Add(time.Millisecond)
	o := &chats.Open{
		Contact: chats.Contact{ID: carillon.NewID(r.now), CompanyID: company, WidgetID: "w", VisitorID: visitor, Language: "en"},
		Conversation: chats.Conversation{
			ID: carillon.NewID(r.now), Channel: "web_chat", WidgetID: "w", AgentID: "a", State: chats.Automated, Language: "en",
			Page: "https://a.test/",
		},
		Keep: 24 * time.Hour, Now: r.now,
	}
	for _, c := range change {
		c(o)
	}
	if err := r.Chats.Open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	return o
}

// changes stores a change of our conversation.
func (r *rig) changes(t *testing.T, id string, edit func(c *chats.Conversation) []chats.Turn) *chats.Change {
	t.Helper()
	r.now = r.now.Add(time.Millisecond)
	c := &chats.Change{CompanyID: ours, ConversationID: id, Edit: func(c *chats.Conversation) ([]chats.Turn, error) { return edit(c), nil }}
	if err := r.Chats.Do(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return c
}

// says appends a text.
func (r *rig) says(t *testing.T, id string, author chats.Author, text string) *chats.Change {
	t.Helper()
	return r.changes(t, id, func(*chats.Conversation) []chats.Turn {
		return []chats.Turn{{Author: author, Kind: chats.KindText, Text: text, At: r.now}}
	})
}

func (r *rig) state(t *testing.T, id string, to chats.State, assignee string) {
	t.Helper()
	r.changes(t, id, func(c *chats.Conversation) []chats.Turn {
		c.SetState(to, r.now)
		c.Assignee = assignee
		return nil
	})
}

func conversationFound(t *testing.T, r *rig) {
	first := r.opened(t, ours, "maria", func(o *chats.Open) { o.Contact.Name = "Maria" })
	if !first.Made || first.Contact.Name != "Maria" || first.Conversation.ContactID != first.Contact.ID {
		t.Fatalf("made %+v", first)
	}
	again := r.opened(t, ours, "maria", func(o *chats.Open) { o.Contact.Email = "m@a.test"; o.Anew = true })
	if again.Made || again.Conversation.ID != first.Conversation.ID || again.Contact.ID != first.Contact.ID {
		t.Errorf("found %+v", again)
	}
	if c := again.Contact; c.Name != "Maria" || c.Email != "m@a.test" || !c.SeenAt.Equal(r.now) || !c.CreatedAt.Equal(first.Now) {
		t.Errorf("the contact is %+v", c)
	}
	r.state(t, first.Conversation.ID, chats.Resolved, "")
	if o := r.opened(t, ours, "maria"); o.Made || o.Conversation.ID != first.Conversation.ID {
		t.Errorf("a resolved one: %+v", o)
	}
	second := r.opened(t, ours, "maria", func(o *chats.Open) { o.Anew = true })
	if !second.Made || second.Contact.ID != first.Contact.ID {
		t.Errorf("another one: %+v", second)
	}
	c := &chats.Change{CompanyID: ours, ConversationID: first.Conversation.ID, Edit: func(c *chats.Conversation) ([]chats.Turn, error) {
		c.SetState(chats.Active, r.now)
		return nil, nil
	}}
	if err := r.Chats.Do(t.Context(), c); !carillon.IsCode(err, carillon.Conflict) {
		t.Errorf("two open conversations of a contact: %v", err)
	}
	others, err := r.Chats.OfContact(t.Context(), ours, first.Contact.ID, second.Conversation.ID, 20)
	if err != nil || len(others) != 1 || others[0].ID != first.Conversation.ID {
		t.Error(others, err)
	}
	r.state(t, second.Conversation.ID, chats.Resolved, "")
	r.now = r.now.Add(48 * time.Hour)
	if third := r.opened(t, ours, "maria"); !third.Made {
		t.Error("a conversation resolved long ago goes on")
	}
}

func contactsVerified(t *testing.T, r *rig) {
	plain := r.opened(t, ours, "maria")
	signed := r.opened(t, ours, "maria", func(o *chats.Open) { o.Contact.Verified = true })
	foreign := r.opened(t, theirs, "maria")
	if plain.Contact.ID == signed.Contact.ID || plain.Contact.ID == foreign.Contact.ID || !signed.Made || !foreign.Made {
		t.Error("they are one")
	}
	name, none, number := "María", "", "34600111222"
	c, err := r.Contacts.EditContact(t.Context(), ours, plain.Contact.ID, chats.ContactEdit{Name: &name, Email: &none, Number: &number})
	if err != nil || c.Name != name || c.Email != "" || c.Number != number || c.Language != "en" {
		t.Error(c, err)
	}
	if err := r.Contacts.SetContact(t.Context(), ours, plain.Contact.ID, "", "m@a.test"); err != nil {
		t.Error(err)
	}
	named := r.opened(t, ours, "signed", func(o *chats.Open) { o.Contact.Verified, o.Contact.Name, o.Contact.Email = true, "Ana", "" })
	for _, email := range []string{"ana@a.test", "boss@a.test"} {
		if err := r.Contacts.SetContact(t.Context(), ours, named.Contact.ID, "The boss", email); err != nil {
			t.Error(err)
		}
	}
	if c, err = r.Contacts.ContactOf(t.Context(), ours, named.Contact.ID); err != nil || c.Name != "Ana" || c.Email != "ana@a.test" {
		t.Errorf("a verified contact has another name: %+v %v", c, err)
	}
	later := r.now.Add(time.Hour)
	if err := r.Contacts.Alive(t.Context(), ours, plain.Contact.ID, later); err != nil {
		t.Error(err)
	}
	if c, err = r.Contacts.ContactOf(t.Context(), ours, plain.Contact.ID); err != nil || c.Name != name || c.Email != "m@a.test" ||
		!c.SeenAt.Equal(later) {
		t.Error(c, err)
	}
	far := r.opened(t, ours, "far")
	farNumber, farEmail := "5491122223333", "far@a.test"
	edit := chats.ContactEdit{Number: &farNumber, Email: &farEmail}
	if _, err := r.Contacts.EditContact(t.Context(), ours, far.Contact.ID, edit); err != nil {
		t.Error(err)
	}
	for text, want := range map[string]int{"M@A.TEST": 1, "nobody": 0, "%": 0} {
		found, err := r.Contacts.Search(t.Context(), ours, text, identity.Key{}, "", 5)
		if err != nil || len(found) != want || want == 1 && (found[0].ID != plain.Contact.ID || found[0].ConversationID == "") {
			t.Errorf("%q: %+v %v", text, found, err)
		}
	}
	if found, err := r.Contacts.Search(t.Context(), theirs, "m@a.test", identity.Key{}, "", 5); err != nil || len(found) != 0 {
		t.Errorf("another company finds: %+v %v", found, err)
	}
	// a number is found in all its forms
	for _, x := range []struct{ text, digits string }{
		{farNumber, farNumber}, {"541122223333", "541122223333"}, {"Far@A.test", ""},
	} {
		key := identity.Number(x.digits)
		for company, want := range map[string]int{ours: 1, theirs: 0} {
			found, err := r.Contacts.Search(t.Context(), company, x.text, key, x.digits, 5)
			if err != nil || len(found) != want {
				t.Errorf("%s finds %q: %+v %v", company, x.text, found, err)
			}
		}
	}
	if _, err := r.Contacts.EditContact(t.Context(), theirs, plain.Contact.ID,
		chats.ContactEdit{Name: &none}); !carillon.IsCode(err, carillon.NotFound) {
		t.Errorf("another company edits: %v", err)
	}
	if err := r.Contacts.SetContact(t.Context(), theirs, plain.Contact.ID, "Eve", ""); !carillon.IsCode(err, carillon.NotFound) {
		t.Errorf("another company writes: %v", err)
	}
}

func conversationChanged(t *testing.T, r *rig) {
	id := r.opened(t, ours, "maria").Conversation.ID
	r.says(t, id, chats.Visitor, "Hello")
	asked := r.now
	r.says(t, id, chats.Visitor, "Anybody?")
	c := r.changes(t, id, func(c *chats.Conversation) []chats.Turn {
		if c.LastSeq != 2 || !c.Unread() || !c.AskedAt.Equal(asked) {
			t.Errorf("before it is %+v", c)
		}
		c.Tags, c.ReadSeq = []string{"vip"}, c.LastSeq
		return []chats.Turn{
			{Author: chats.System, Kind: chats.KindEvent, At: r.now, Extra: chats.Extra{Event: "joined", Name: "Ana"}},
			{Author: chats.Teammate, Kind: chats.KindText, AccountID: "ana", Text: "Yes", At: r.now},
			{Author: chats.Teammate, Kind: chats.KindText, Note: true, Text: "a note", At: r.now},
		}
	})
	want, err := r.Chats.Find(t.Context(), ours, id)
	if diff := cmp.Diff(want, c.Conversation); diff != "" || err != nil {
		t.Errorf("stored, not as returned: %s, %v", diff, err)
	}
	if want.LastSeq != 5 || want.VisitorSeq != 2 || want.CompanySeq != 4 || want.LastText != "Yes" ||
		want.LastAuthor != chats.Teammate || want.Unread() || !want.AskedAt.IsZero() {
		t.Errorf("it is %+v", want)
	}
	turns, err := r.Chats.Turns(t.Context(), ours, id, 2, 10)
	if diff := cmp.Diff(c.Turns, turns); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if turns, err = r.Chats.TurnsBefore(t.Context(), ours, id, 5, 2); err != nil || len(turns) != 2 || turns[0].Seq != 3 ||
		turns[1].Seq != 4 {
		t.Error(turns, err)
	}
	refused := carillon.InConflict("no")
	err = r.Chats.Do(t.Context(), &chats.Change{
		CompanyID: ours, ConversationID: id,
		Edit: func(c *chats.Conversation) ([]chats.Turn, error) {
			c.Tags[0], c.LastSeq = "changed", 99
			return nil, refused
		},
	})
	after, err2 := r.Chats.Find(t.Context(), ours, id)
	if diff := cmp.Diff(want, after); diff != "" || !errors.Is(err, refused) || err2 != nil {
		t.Errorf("a refused change: %s, %v, %v", diff, err, err2)
	}
}

func conversationRepeated(t *testing.T, r *rig) {
	id := r.opened(t, ours, "maria").Conversation.ID
	say := func(clientID, text string) *chats.Change {
		c := &chats.Change{CompanyID: ours, ConversationID: id, ClientID: clientID, Edit: func(*chats.Conversation) ([]chats.Turn, error) {
			return []chats.Turn{{Author: chats.Visitor, Kind: chats.KindText, Text: text, ClientID: clientID, At: r.now}}, nil
		}}
		if err := r.Chats.Do(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	first, again := say("1", "Hello"), say("1", "Other")
	if first.Repeated != nil || again.Repeated == nil || again.Repeated.Text != "Hello" || len(again.Turns) != 0 ||
		again.Conversation.LastSeq != 1 {
		t.Errorf("first %+v, again %+v", first, again)
	}
}

func turnSpoken(t *testing.T, r *rig) {
	id := r.opened(t, ours, "v").Conversation.ID
	r.changes(t, id, func(*chats.Conversation) []chats.Turn {
		return []chats.Turn{{Author: chats.Agent, Kind: chats.KindText, Text: "Long words", At: r.now, Extra: chats.Extra{Name: "Ada"}}}
	})
	want := chats.Voice{LengthMS: 1200, FirstAudioMS: 40, Cut: true, Heard: "Long"}
	for _, company := range []string{theirs, ours} {
		c := &chats.Change{CompanyID: company, ConversationID: id, Spoken: &chats.Spoken{Seq: 1, Voice: want}}
		if err := r.Chats.Do(t.Context(), c); carillon.IsCode(err, carillon.NotFound) != (company == theirs) {
			t.Fatalf("%s: %v", company, err)
		}
		turns, err := r.Chats.Turns(t.Context(), ours, id, 0, 10)
		if err != nil || len(turns) != 1 || turns[0].Extra.Name != "Ada" || turns[0].Text != "Long words" {
			t.Fatalf("%+v, %v", turns, err)
		}
		if v := turns[0].Extra.Voice; (v != nil) != (company == ours) || v != nil && *v != want {
			t.Errorf("%s: %+v", company, v)
		}
	}
}

func conversationsApart(t *testing.T, r *rig) {
	o := r.opened(t, ours, "maria")
	id := o.Conversation.ID
	r.says(t, id, chats.Visitor, "Hello")
	if _, err := r.Chats.Find(t.Context(), theirs, id); !carillon.IsCode(err, carillon.NotFound) {
		t.Error(err)
	}
	if _, err := r.Contacts.ContactOf(t.Context(), theirs, o.Contact.ID); !carillon.IsCode(err, carillon.NotFound) {
		t.Error(err)
	}
	after, err := r.Chats.Turns(t.Context(), theirs, id, 0, 10)
	before, err2 := r.Chats.TurnsBefore(t.Context(), theirs, id, 10, 10)
	others, err3 := r.Chats.OfContact(t.Context(), theirs, o.Contact.ID, "", 10)
	if len(after)+len(before)+len(others) != 0 || err != nil || err2 != nil || err3 != nil {
		t.Error(after, before, others, err, err2, err3)
	}
	c := &chats.Change{CompanyID: theirs, ConversationID: id, Edit: func(*chats.Conversation) ([]chats.Turn, error) {
		t.Error("another company's change reached it")
		return nil, nil
	}}
	if err := r.Chats.Do(t.Context(), c); !carillon.IsCode(err, carillon.NotFound) {
		t.Error(err)
	}
}

func conversationsListed(t *testing.T, r *rig) {
	names := map[string]string{}
	for i, x := range []struct {
		name, assignee string
		state          chats.State
		tags           []string
	}{
		{"bot", "", chats.Automated, nil},
		{"queued", "", chats.Queued, []string{"vip", "100%"}},
		{"missed", "", chats.Missed, []string{"vip-2"}},
		{"abandoned", "", chats.Abandoned, nil},
		{"mine", "ana", chats.Active, []string{"a_b", "África"}},
		{"wrapping", "ana", chats.WrapUp, nil},
		{"hers", "ben", chats.Active, []string{"axb"}},
		{"closed", "ana", chats.Resolved, []string{"vip"}},
	} {
		o := r.opened(t, ours, x.name, func(o *chats.Open) {
			o.Contact.Name, o.Contact.Email = "Visitor "+strconv.Itoa(i), x.name+"@a.test"
		})
		names[o.Conversation.ID] = x.name
		r.says(t, o.Conversation.ID, chats.Visitor, "about "+x.name+" 50% Ñandú")
		r.changes(t, o.Conversation.ID, func(c *chats.Conversation) []chats.Turn {
			c.SetState(x.state, r.now)
			c.Assignee, c.Tags = x.assignee, x.tags
			if x.name == "hers" || x.name == "bot" {
				c.Unanswered = "May I bring a dog?"
			}
			return nil
		})
	}
	foreign := r.opened(t, theirs, "mine")
	list := func(f chats.Filter) (found []string) {
		t.Helper()
		f.CompanyID, f.AccountID = ours, "ana"
		for {
			page, next, err := r.Chats.List(t.Context(), f)
			if err != nil || len(page) > f.Limit {
				t.Fatal(page, err)
			}
			for _, x := range page {
				found = append(found, names[x.ID])
				if x.Email != names[x.ID]+"@a.test" {
					t.Errorf("its contact is %s", x.Email)
				}
			}
			if f.Cursor = next; next == "" {
				return found
			}
		}
	}
	for _, c := range []struct {
		f    chats.Filter
		want []string
	}{
		{chats.Filter{Folder: "all"}, []string{"hers", "wrapping", "mine", "abandoned", "missed", "queued", "bot"}},
		{chats.Filter{Folder: "mine"}, []string{"wrapping", "mine"}},
		{chats.Filter{Folder: "unassigned"}, []string{"abandoned", "missed", "queued"}},
		{chats.Filter{Folder: "unassigned", Oldest: true}, []string{"queued", "missed", "abandoned"}},
		{chats.Filter{Folder: "mine", Oldest: true}, []string{"mine", "wrapping"}},
		{chats.Filter{Folder: "unanswered"}, []string{"hers", "bot"}},
		{chats.Filter{Folder: "unanswered", Oldest: true}, []string{"bot", "hers"}},
		{chats.Filter{Folder: "automated"}, []string{"bot"}},
		{chats.Filter{Folder: "mine", Closed: true}, []string{"closed"}},
		{chats.Filter{Folder: "all", Tag: "vip"}, []string{"queued"}},
		{chats.Filter{Folder: "all", Tag: "VIP"}, []string{"queued"}},
		{chats.Filter{Folder: "all", Tag: "África"}, []string{"mine"}},
		{chats.Filter{Folder: "all", Tag: "100%"}, []string{"queued"}},
		{chats.Filter{Folder: "all", Tag: "a_b"}, []string{"mine"}},
		{chats.Filter{Folder: "all", Tag: "%"}, nil},
		{chats.Filter{Folder: "all", Search: "VISITOR 4"}, []string{"mine"}},
		{chats.Filter{Folder: "all", Search: "mine@"}, []string{"mine"}},
		{chats.Filter{Folder: "all", Search: "about h"}, []string{"hers"}},
		{chats.Filter{Folder: "all", Search: "Ñandú"}, []string{"hers", "wrapping", "mine", "abandoned", "missed", "queued", "bot"}},
		{chats.Filter{Folder: "all", Search: "0%"}, []string{"hers", "wrapping", "mine", "abandoned", "missed", "queued", "bot"}},
		{chats.Filter{Folder: "all", Search: "5%%"}, nil},
		{chats.Filter{Folder: "all", ContactID: foreign.Contact.ID}, nil},
	} {
		for _, limit := range []int{1, 3, 100} {
			c.f.Limit = limit
			if diff := cmp.Diff(c.want, list(c.f)); diff != "" {
				t.Errorf("%+v: %s", c.f, diff)
			}
		}
	}
	var held []string
	for _, most := range []int{1, 10} {
		all, err := r.Chats.HeldBy(t.Context(), ours, "ana", most)
		if err != nil {
			t.Fatal(err)
		}
		held = nil
		for _, c := range all {
			held = append(held, names[c.ID])
		}
	}
	if diff := cmp.Diff([]string{"mine", "wrapping"}, held); diff != "" {
		t.Error(diff)
	}
	n, err := r.Chats.Count(t.Context(), ours, "ana")
	if diff := cmp.Diff(chats.Counts{Mine: 2, Unassigned: 3, Unanswered: 2, Automated: 1, All: 7}, n); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if _, _, err := r.Chats.List(t.Context(), chats.Filter{
		CompanyID: ours, Folder: "all", Cursor: "x",
		Limit: 1,
	}); !carillon.IsCode(err, carillon.ValidationFailed) {
		t.Error(err)
	}
}

func conversationsWaiting(t *testing.T, r *rig) {
	var ids []string
	for i := range 4 {
		id := r.opened(t, ours, fmt.Sprint("v", i)).Conversation.ID
		ids = append(ids, id)
		r.state(t, id, chats.Queued, "")
	}
	other := r.opened(t, theirs, "v")
	for i, id := range ids {
		c, err := r.Chats.Find(t.Context(), ours, id)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := r.Chats.QueuePosition(t.Context(), c); n != i+1 || err != nil {
			t.Errorf("number %d is at %d: %v", i, n, err)
		}
	}
	r.state(t, ids[1], chats.Active, "ana")
	idsOf := func(all []*chats.Conversation, err error) (found []string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			found = append(found, c.ID)
		}
		return found
	}
	found := idsOf(r.Chats.InState(t.Context(), chats.Queued, r.now.Add(time.Hour), 2))
	if diff := cmp.Diff([]string{ids[0], ids[2]}, found); diff != "" {
		t.Error(diff)
	}
	if found := idsOf(r.Chats.InState(t.Context(), chats.Queued, r.now.Add(-time.Hour), 2)); len(found) != 0 {
		t.Error(found)
	}
	for _, id := range []string{ids[3], ids[0]} {
		r.changes(t, id, func(c *chats.Conversation) []chats.Turn {
			c.ReplySeq, c.ReplyAt = 1, r.now
			return nil
		})
	}
	if diff := cmp.Diff([]string{ids[3], ids[0]}, idsOf(r.Chats.Unreplied(t.Context(), r.now.Add(time.Second), 10))); diff != "" {
		t.Error(diff)
	}
	states, err := r.Chats.States(t.Context())
	if diff := cmp.Diff(map[chats.State]int{chats.Queued: 3, chats.Active: 1, chats.Automated: 1}, states); diff != "" || err != nil {
		t.Error(diff, err, other.Conversation.ID)
	}
}

func teammatesPresent(t *testing.T, r *rig) {
	var ana string
	r.configure(t, func(ctx context.Context, tx *configure.Tx) error {
		a := &accounts.Account{Email: "ana@a.test"}
		err := accounts.PutAccount(ctx, tx, a, r.now)
		ana = a.ID
		return err
	})
	there := func(want ...chats.Presence) {
		t.Helper()
		got, err := r.Attendance.Present(t.Context(), ours, r.now)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("present are %v, want %v: %v", got, want, err)
		}
	}
	attend := func(until time.Time, want bool) {
		t.Helper()
		if away, err := r.Attendance.Attend(t.Context(), ours, ana, until); away != want || err != nil {
			t.Error(away, err)
		}
	}
	minute := r.now.Add(time.Minute)
	attend(minute, false)
	attend(r.now, false) // of a slower node
	there(chats.Presence{AccountID: ana})
	if present, err := r.Attendance.SetAway(t.Context(), ours, ana, true, r.now); !present || err != nil {
		t.Error(present, err)
	}
	attend(minute, true)
	there(chats.Presence{AccountID: ana, Away: true})
	if err := r.Attendance.EndAttendance(t.Context(), ours, ana, minute.Add(-time.Second), r.now); err != nil {
		t.Error(err)
	}
	there(chats.Presence{AccountID: ana, Away: true}) // another node recorded more
	if err := r.Attendance.EndAttendance(t.Context(), ours, ana, minute, r.now); err != nil {
		t.Error(err)
	}
	there()
	if present, err := r.Attendance.SetAway(t.Context(), theirs, ana, false, r.now); present || err != nil {
		t.Error(present, err)
	}
}

func cannedReplies(t *testing.T, r *rig) {
	c := chats.Canned{Shortcut: "hi", Text: "Hello"}
	if err := r.Canned.Add(t.Context(), ours, &c, r.now); err != nil {
		t.Fatal(err)
	}
	same := chats.Canned{Shortcut: "hi", Text: "Other"}
	if err := r.Canned.Add(t.Context(), ours, &same, r.now); !carillon.IsCode(err, carillon.Conflict) {
		t.Error(err)
	}
	if err := r.Canned.Add(t.Context(), theirs, &same, r.now); err != nil {
		t.Error(err)
	}
	bye := chats.Canned{Shortcut: "bye", Text: "Goodbye"}
	if err := r.Canned.Add(t.Context(), ours, &bye, r.now); err != nil {
		t.Error(err)
	}
	if err := r.Canned.Replace(t.Context(), ours, chats.Canned{ID: c.ID, Shortcut: "bye", Text: "x"}, r.now); !carillon.IsCode(err,
		carillon.Conflict) {
		t.Error(err)
	}
	c.Text = "Hello!"
	if err := r.Canned.Replace(t.Context(), ours, c, r.now); err != nil {
		t.Error(err)
	}
	if err := r.Canned.Replace(t.Context(), theirs, c, r.now); !carillon.IsCode(err, carillon.NotFound) {
		t.Error(err)
	}
	if err := r.Canned.Delete(t.Context(), theirs, bye.ID); !carillon.IsCode(err, carillon.NotFound) {
		t.Error(err)
	}
	all, err := r.Canned.List(t.Context(), ours)
	if diff := cmp.Diff([]chats.Canned{bye, c}, all); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if err := r.Canned.Delete(t.Context(), ours, bye.ID); err != nil {
		t.Error(err)
	}
	for i := range chats.MaxCanned - 1 {
		if err := r.Canned.Add(t.Context(), ours, &chats.Canned{Shortcut: fmt.Sprint("n", i), Text: "x"}, r.now); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Canned.Add(t.Context(), ours, &chats.Canned{Shortcut: "more", Text: "x"}, r.now); !carillon.IsCode(err,
		carillon.LimitExceeded) {
		t.Error(err)
	}
}

func turnEvents(t *testing.T, r *rig) {
	id := r.opened(t, ours, "maria").Conversation.ID
	topic := chats.Topic(id)
	if seq, err := r.Topics.LastEvent(t.Context(), ours, topic); seq != 0 || err != nil {
		t.Error(seq, err)
	}
	for _, text := range []string{"one", "two", "three"} {
		r.says(t, id, chats.Visitor, text)
	}
	if seq, err := r.Topics.LastEvent(t.Context(), ours, topic); seq != 3 || err != nil {
		t.Error(seq, err)
	}
	all, err := r.Topics.EventsAfter(t.Context(), ours, topic, 1, 10)
	if err != nil || len(all) != 2 || all[0].Seq != 2 || all[1].Seq != 3 || all[0].Kind != "turn" {
		t.Error(all, err)
	}
	if all, err := r.Topics.EventsAfter(t.Context(), theirs, topic, 0, 10); len(all) != 0 || err != nil {
		t.Error(all, err)
	}
	if err := r.Topics.Follow(t.Context(), ours, chats.InboxTopic); err != nil {
		t.Fatal(err)
	}
	r.says(t, id, chats.Visitor, "four")
	inbox, err := r.Topics.EventsAfter(t.Context(), ours, chats.InboxTopic, 0, 10)
	if err != nil || len(inbox) != 1 || inbox[0].Subject != id {
		t.Error(inbox, err)
	}
	r.changes(t, id, func(*chats.Conversation) []chats.Turn { return nil })
	if inbox, err = r.Topics.EventsAfter(t.Context(), ours, chats.InboxTopic, 0, 10); err != nil || len(inbox) != 1 {
		t.Errorf("a change that changes nothing leaves %d events: %v", len(inbox), err)
	}
}

func conversationsPurged(t *testing.T, r *rig) {
	old, kept := r.opened(t, ours, "old"), r.opened(t, ours, "kept")
	long := r.opened(t, ours, "long")
	foreign := r.opened(t, theirs, "old")
	for range 10 {
		r.says(t, long.Conversation.ID, chats.Visitor, "x")
	}
	r.says(t, old.Conversation.ID, chats.Visitor, "x")
	limit := r.now.Add(time.Hour)
	r.now = limit.Add(time.Hour)
	r.says(t, kept.Conversation.ID, chats.Visitor, "x")
	if company, err := r.Purges.Next(t.Context(), purge.Contacts, ""); company != ours || err != nil {
		t.Error(company, err)
	}
	if company, err := r.Purges.Next(t.Context(), purge.Contacts, ours); company != theirs || err != nil {
		t.Error(company, err)
	}
	if company, err := r.Purges.Next(t.Context(), purge.Contacts, theirs); company != "" || err != nil {
		t.Error(company, err)
	}
	steps := 0
	for more := true; more; steps++ {
		p, err := r.Purges.DropConversations(t.Context(), ours, limit, 5)
		if err != nil {
			t.Fatal(err)
		}
		more = p.More
	}
	if steps < 2 {
		t.Errorf("it took %d steps", steps)
	}
	p, err := r.Purges.DropOf(t.Context(), purge.Contacts, ours, limit, 10)
	if err != nil || p.Rows != 2 || p.More {
		t.Error(p, err)
	}
	for _, o := range []*chats.Open{old, long} {
		_, err := r.Chats.Find(t.Context(), ours, o.Conversation.ID)
		_, err2 := r.Contacts.ContactOf(t.Context(), ours, o.Contact.ID)
		var turns int
		err3 := r.DB.Row(t.Context(), []any{&turns}, "SELECT count(*) FROM turn WHERE conversation_id = $1", o.Conversation.ID)
		if !carillon.IsCode(err, carillon.NotFound) || !carillon.IsCode(err2, carillon.NotFound) || err3 != nil || turns != 0 {
			t.Error(err, err2, err3, turns)
		}
	}
	for _, o := range []*chats.Open{kept, foreign} {
		if _, err := r.Chats.Find(t.Context(), o.Contact.CompanyID, o.Conversation.ID); err != nil {
			t.Error(err)
		}
		if _, err := r.Contacts.ContactOf(t.Context(), o.Contact.CompanyID, o.Contact.ID); err != nil {
			t.Error(err)
		}
	}
}
