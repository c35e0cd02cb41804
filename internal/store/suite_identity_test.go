package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/store/chats"
	"carillon/internal/store/configure"
	"carillon/internal/store/people"
)

func identifying() []sentence {
	return []sentence{
		{"the forms of a number are one contact, in either order", formsAreOneContact},
		{"numbers that are not paired are two contacts", othersAreTwoContacts},
		{"who calls is nobody whom the company called", callersAreApart},
		{"an id is a contact of its company and portfolio", idsHaveScopes},
		{"a number and an id that come together are one contact", numberAndIDBecomeOne},
		{"contacts that are joined keep their conversations, of which one is open", contactsAreJoined},
		{"a number that changes hands takes no history and no replies along", numberPassesOn},
		{"a contact with another number and another id is the same one, done once or twice", contactBecomesAnother},
		{"who gets a number is nobody whose other numbers are known", newcomerHasNoOtherLines},
		{"a message that was sent before a change is the person's, whose address is the present one", formerIsTheSame},
		{"changes of a person make one contact, in whatever order they are reported", changesInAnyOrder},
		{"a change that was long overtaken joins nobody", changeLongAgo},
		{"who erases a person erases their former addresses, unless they are another's", formerIsErased},
		{"a person whose contact is deleted meanwhile is a new one", deletedMeanwhile},
		{"a number that a person gives is theirs unless it is another contact's", numberIsShared},
		{"what a channel reports of a recipient is kept where it matters", reportsAreLearned},
		{"a contact that a program before schema 37 made is found by any form", olderContactIsFound},
	}
}

func line(number string) identity.Identity {
	return identity.Identity{Kind: identity.Line, Key: identity.Number(number)}
}

func personOf(scope, id string) identity.Identity {
	return identity.Identity{Kind: identity.Person, Scope: scope, Key: identity.User(id)}
}

// meets opens the conversation of a person over the messaging channel who is known by identities.
func (r *rig) meets(t *testing.T, company string, known []identity.Identity, change ...func(o *chats.Open)) *chats.Open {
	t.Helper()
	return r.opened(t, company, "", append([]func(o *chats.Open){func(o *chats.Open) {
		o.Contact.WidgetID, o.Contact.VisitorID = "", ""
		o.Conversation.Channel, o.Conversation.WidgetID = "whatsapp", ""
		if o.Known = known; len(known) > 0 && known[0].Kind != identity.Person {
			o.Contact.Number = known[0].Key.String()
		}
	}}, change...)...)
}

// knows lists the identities of a contact, each as kind, scope and key.
func (r *rig) knows(t *testing.T, company, contactID string) []string {
	t.Helper()
	all, err := r.Contacts.Identities(t.Context(), company, contactID)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, x := range all {
		lines = append(lines, strings.TrimSpace(string(x.Kind)+" "+x.Scope)+" "+x.Key.String())
	}
	slices.Sort(lines)
	return lines
}

func (r *rig) checkKnown(t *testing.T, contactID string, want ...string) {
	t.Helper()
	if d := cmp.Diff(want, r.knows(t, ours, contactID)); d != "" {
		t.Errorf("the contact is known by others: %s", d)
	}
}

func formsAreOneContact(t *testing.T, r *rig) {
	for _, forms := range [][]string{
		{"525512345601", "5215512345601"},
		{"5215512345602", "525512345602"},
		{"541123456789", "5491123456789"},
		{"5491123456780", "541123456780"},
		{"5551998765432", "555198765432"},
		{"555198765430", "5551998765430"},
	} {
		first := r.meets(t, ours, []identity.Identity{line(forms[0])})
		again := r.meets(t, ours, []identity.Identity{line(forms[1])})
		if !first.Made || again.Made || again.Contact.ID != first.Contact.ID || again.Conversation.ID != first.Conversation.ID {
			t.Errorf("%v are two contacts", forms)
		}
		for _, form := range forms {
			c, err := r.Chats.OfPerson(t.Context(), ours, line(form))
			if err != nil || c == nil || c.ID != first.Conversation.ID {
				t.Errorf("%s is not found: %v, %v", form, c, err)
			}
		}
		r.checkKnown(t, first.Contact.ID, "line "+identity.Number(forms[0]).String())
		lines, err := r.Contacts.LinesOf(t.Context(), ours, []identity.Identity{line(forms[1])})
		if err != nil || !slices.Equal(lines, identity.Numbers(forms[0])) {
			t.Errorf("the lines are %v, %v", lines, err)
		}
	}
}

func othersAreTwoContacts(t *testing.T, r *rig) {
	for _, two := range [][]string{
		{"551132345678", "5511932345678"},
		{"525512345601", "5255123456010"},
		{"54912345678", "5412345678"},
		{"34600111222", "346001112220"},
	} {
		a, b := r.meets(t, ours, []identity.Identity{line(two[0])}), r.meets(t, ours, []identity.Identity{line(two[1])})
		if a.Contact.ID == b.Contact.ID {
			t.Errorf("%v are one contact", two)
		}
	}
}

func callersAreApart(t *testing.T, r *rig) {
	caller := func(number string) []identity.Identity {
		return []identity.Identity{{Kind: identity.Caller, Key: identity.Number(number)}}
	}
	called := r.meets(t, ours, []identity.Identity{line("525512345601")})
	calls := r.meets(t, ours, caller("525512345601"))
	again := r.meets(t, ours, caller("5215512345601"))
	if calls.Contact.ID == called.Contact.ID || again.Contact.ID != calls.Contact.ID || calls.Contact.Verified || !called.Contact.Verified {
		t.Errorf("who was called is %+v, who calls %+v and %+v", called.Contact, calls.Contact, again.Contact)
	}
}

func idsHaveScopes(t *testing.T, r *rig) {
	const id = "US.13491208655302741918"
	one := r.meets(t, ours, []identity.Identity{personOf("w1", id)}, func(o *chats.Open) {
		o.Contact.UserID, o.Contact.Username = id, "ana.r"
	})
	other := r.meets(t, ours, []identity.Identity{personOf("w2", id)})
	foreign := r.meets(t, theirs, []identity.Identity{personOf("w1", id)})
	again := r.meets(t, ours, []identity.Identity{personOf("w1", id)}, func(o *chats.Open) { o.Contact.Username = "ana.b" })
	if one.Contact.ID == other.Contact.ID || one.Contact.ID == foreign.Contact.ID || again.Contact.ID != one.Contact.ID {
		t.Errorf("the contacts are %s, %s, %s and %s", one.Contact.ID, other.Contact.ID, foreign.Contact.ID, again.Contact.ID)
	}
	if c := again.Contact; c.UserID != id || c.Username != "ana.b" || c.Number != "" || !c.Verified {
		t.Errorf("the contact is %+v", c)
	}
	if lines, err := r.Contacts.LinesOf(t.Context(), ours, []identity.Identity{personOf("w1", id)}); err != nil ||
		!slices.Equal(lines, []identity.Key{identity.User(id)}) {
		t.Errorf("its lines are %v, %v", lines, err)
	}
	if names, err := r.Contacts.NamesByID(t.Context(), ours, []string{id}); err != nil || names[id] != "@ana.b" {
		t.Errorf("its name is %v, %v", names, err)
	}
	if names, err := r.Contacts.NamesByID(t.Context(), theirs, []string{"US.none"}); err != nil || len(names) > 0 {
		t.Errorf("names of strangers: %v, %v", names, err)
	}
	for scope, want := range map[string]bool{"w1": false, "w2": false, "w3": true} {
		ids, err := r.Contacts.ForeignIDs(t.Context(), ours, scope, []string{id, "US.none"})
		if err != nil || ids[id] != want || ids["US.none"] {
			t.Errorf("of another account than %s: %v, %v", scope, ids, err)
		}
	}
	for company, want := range map[string]bool{ours: true, theirs: true, "nobody": false} {
		c, err := r.Chats.OfUser(t.Context(), company, identity.User(id))
		if err != nil || (c != nil) != want || want && c.CompanyID != company {
			t.Errorf("the conversation of a person of %s: %v, %v", company, c, err)
		}
	}
}

func numberAndIDBecomeOne(t *testing.T, r *rig) {
	id, number := personOf("w", "US.1"), line("525512345601")
	byNumber := r.meets(t, ours, []identity.Identity{number})
	both := r.meets(t, ours, []identity.Identity{line("5215512345601"), id})
	byID := r.meets(t, ours, []identity.Identity{id})
	if both.Contact.ID != byNumber.Contact.ID || byID.Contact.ID != byNumber.Contact.ID {
		t.Error("they are two contacts, the number first")
	}
	r.checkKnown(t, both.Contact.ID, "line 525512345601", "person w US.1")
	second, third := personOf("w", "US.2"), line("525512345602")
	byID = r.meets(t, ours, []identity.Identity{second})
	both = r.meets(t, ours, []identity.Identity{third, second})
	byNumber = r.meets(t, ours, []identity.Identity{line("5215512345602")})
	if both.Contact.ID != byID.Contact.ID || byNumber.Contact.ID != byID.Contact.ID || both.Contact.Number != "525512345602" {
		t.Error("they are two contacts, the id first")
	}
}

func contactsAreJoined(t *testing.T, r *rig) {
	id, number := personOf("w", "US.1"), line("34600111222")
	byNumber := r.meets(t, ours, []identity.Identity{number}, func(o *chats.Open) { o.Contact.Name = "Ana" })
	r.says(t, byNumber.Conversation.ID, chats.Visitor, "by number")
	byID := r.meets(t, ours, []identity.Identity{id}, func(o *chats.Open) { o.Contact.Username, o.Contact.UserID = "ana.r", "US.1" })
	r.says(t, byID.Conversation.ID, chats.Visitor, "by id")
	both := r.meets(t, ours, []identity.Identity{number, id})
	if both.Made || both.Contact.ID != byNumber.Contact.ID || both.Conversation.ID != byID.Conversation.ID {
		t.Fatalf("contact %s and conversation %s go on, of %s and %s", both.Contact.ID, both.Conversation.ID, byNumber.Contact.ID,
			byID.Conversation.ID)
	}
	if c := both.Contact; c.Name != "Ana" || c.Username != "ana.r" || c.UserID != "US.1" || c.Number != "34600111222" {
		t.Errorf("the contact is %+v", c)
	}
	older, err := r.Chats.Find(t.Context(), ours, byNumber.Conversation.ID)
	if err != nil || older.State != chats.Resolved || older.ContactID != both.Contact.ID || older.LastSeq != 2 {
		t.Errorf("the older conversation is %+v, %v", older, err)
	}
	if others, err := r.Chats.OfContact(t.Context(), ours, both.Contact.ID, "", 10); err != nil || len(others) != 2 {
		t.Errorf("it has %d conversations, %v", len(others), err)
	}
	if _, err := r.Contacts.ContactOf(t.Context(), ours, byID.Contact.ID); !carillon.IsCode(err, carillon.NotFound) {
		t.Errorf("the other contact is there: %v", err)
	}
	r.checkKnown(t, both.Contact.ID, "line 34600111222", "person w US.1")
}

func numberPassesOn(t *testing.T, r *rig) {
	first, second, number := personOf("w", "US.1"), personOf("w", "US.2"), line("525512345601")
	before := r.meets(t, ours, []identity.Identity{number, first}, func(o *chats.Open) { o.Contact.UserID = "US.1" })
	window := &chats.Window{
		CompanyID: ours, ConversationID: before.Conversation.ID, SenderUID: 7, Number: "5215512345601", UserID: "US.1",
		LastID: "wamid.1", Until: r.now.Add(time.Hour),
	}
	if err := r.Replies.SetWindow(t.Context(), window); err != nil {
		t.Fatal(err)
	}
	after := r.meets(t, ours, []identity.Identity{line("5215512345601"), second})
	if after.Contact.ID == before.Contact.ID || !after.Made {
		t.Fatal("the new owner of the number sees the conversation of the former one")
	}
	if byNumber := r.meets(t, ours, []identity.Identity{number}); byNumber.Contact.ID != after.Contact.ID {
		t.Error("the number is still the former owner's")
	}
	if byID := r.meets(t, ours, []identity.Identity{first}); byID.Contact.ID != before.Contact.ID || byID.Contact.Number != "" {
		t.Errorf("who had it is %+v", byID.Contact)
	}
	if w, err := r.Replies.Window(t.Context(), ours, before.Conversation.ID); err != nil || w.Number != "" || w.UserID != "US.1" ||
		!w.Until.After(r.now) {
		t.Errorf("the window of the former owner is %+v, %v", w, err)
	}
	// A late receipt of a message to the former owner.
	late := chats.Report{Number: "525512345601", As: "5215512345601", Person: &first}
	if err := r.Contacts.Learn(t.Context(), ours, []chats.Report{late}, r.now); err != nil {
		t.Fatal(err)
	}
	r.checkKnown(t, before.Contact.ID, "person w US.1")
	r.checkKnown(t, after.Contact.ID, "line 525512345601", "person w US.2")
	// One who is known by the number alone gets nothing any more.
	third, other := personOf("w", "US.3"), line("34600111222")
	alone := r.meets(t, ours, []identity.Identity{other})
	window.ConversationID, window.Number, window.UserID = alone.Conversation.ID, "34600111222", ""
	if err := r.Replies.SetWindow(t.Context(), window); err != nil {
		t.Fatal(err)
	}
	known := r.meets(t, ours, []identity.Identity{line("34600111333"), third})
	both := r.meets(t, ours, []identity.Identity{other, third})
	if both.Contact.ID != known.Contact.ID {
		t.Error("who has another number and gets this one is somebody else")
	}
	r.checkKnown(t, both.Contact.ID, "line 34600111222", "line 34600111333", "person w US.3")
	if w, err := r.Replies.Window(t.Context(), ours, alone.Conversation.ID); err != nil || w.Number != "" || w.Until.After(r.now) {
		t.Errorf("the window of the number alone is %+v, %v", w, err)
	}
}

// Before the first message of the new owner of a number is taken in, the other numbers of the former one say nothing about them.
func newcomerHasNoOtherLines(t *testing.T, r *rig) {
	first, second := personOf("w", "US.1"), personOf("w", "US.2")
	before := r.meets(t, ours, []identity.Identity{line("34600111222"), first})
	r.meets(t, ours, []identity.Identity{first}, func(o *chats.Open) { o.Shared = "34600111333" })
	r.checkKnown(t, before.Contact.ID, "line 34600111222", "line 34600111333", "person w US.1")
	for _, x := range []struct {
		who  string
		is   []identity.Identity
		want []string
	}{
		{"who had it", []identity.Identity{line("34600111222"), first}, []string{"34600111222", "US.1", "34600111333"}},
		{"who has it now", []identity.Identity{line("34600111222"), second}, []string{"34600111222", "US.2"}},
		{"somebody by the number alone", []identity.Identity{line("34600111222")}, []string{"34600111222", "34600111333", "US.1"}},
		{
			"an id of another account",
			[]identity.Identity{line("34600111222"), personOf("w2", "US.2")},
			[]string{"34600111222", "US.2", "34600111333", "US.1"},
		},
	} {
		lines, err := r.Contacts.LinesOf(t.Context(), ours, x.is)
		want := make([]identity.Key, 0, len(x.want))
		for _, address := range x.want {
			want = append(want, identity.Of(address))
		}
		if err != nil || !slices.Equal(lines, want) {
			t.Errorf("the lines of %s are %v, %v", x.who, lines, err)
		}
	}
}

func formerIsTheSame(t *testing.T, r *rig) {
	number, id := line("5215512345601"), personOf("w", "US.1")
	before := r.meets(t, ours, []identity.Identity{number, id}, func(o *chats.Open) { o.Contact.Number = "5215512345601" })
	changed := r.now
	r.meets(t, ours, []identity.Identity{number, id}, func(o *chats.Open) {
		o.Became = []identity.Identity{line("34600111222"), personOf("w", "US.2")}
		o.Contact.Number, o.Contact.UserID, o.At = "34600111222", "US.2", changed
	})
	moved := &chats.Address{Number: "34600111222", UserID: "US.2"}
	early, late := changed.Add(-time.Second), changed.Add(time.Second)
	for _, x := range []struct {
		company string
		known   []identity.Identity
		at      time.Time
		want    *chats.Address
	}{
		{ours, []identity.Identity{number, id}, early, moved},
		{ours, []identity.Identity{line("525512345601")}, early, &chats.Address{Number: "34600111222"}},
		{ours, []identity.Identity{id}, early, moved},
		{ours, []identity.Identity{id}, late, moved}, // an id is never another person's
		{ours, []identity.Identity{number, id}, late, moved},
		{ours, []identity.Identity{number, personOf("w", "US.2")}, early, moved},
		{ours, []identity.Identity{number}, late, nil},
		{ours, []identity.Identity{number}, changed, nil},
		{ours, []identity.Identity{number}, time.Time{}, nil},
		{ours, []identity.Identity{number, personOf("w", "US.3")}, late, nil},
		{ours, []identity.Identity{line("34600111222"), personOf("w", "US.2")}, early, nil},
		{ours, []identity.Identity{personOf("w2", "US.1")}, early, nil},
		{theirs, []identity.Identity{number, id}, early, nil},
		{ours, nil, early, nil},
	} {
		if got, err := r.Contacts.Present(t.Context(), x.company, x.known, x.at); err != nil || !cmp.Equal(got, x.want) {
			t.Errorf("of %s, %v at %s is now %v, not %v: %v", x.company, x.known, x.at, got, x.want, err)
		}
	}
	// A change that another node stores between the look-up and the open makes no second contact.
	o := &chats.Open{
		Contact: chats.Contact{ID: carillon.NewID(r.now), CompanyID: ours}, Known: []identity.Identity{id}, At: early, Now: r.now,
		Conversation: chats.Conversation{ID: carillon.NewID(r.now), Channel: "whatsapp", State: chats.Automated, Language: "en"},
	}
	if err := r.Chats.Open(t.Context(), o); !carillon.IsCode(err, carillon.ServiceUnavailable) {
		t.Errorf("an open by a former id: %v", err)
	}
	// A late receipt of a message to the former address teaches nothing.
	if err := r.Contacts.Learn(t.Context(), ours, []chats.Report{{Number: "5215512345601", Person: &id}}, r.now); err != nil {
		t.Fatal(err)
	}
	r.checkKnown(t, before.Contact.ID, "line 34600111222", "person w US.2")
	// The number is another person's now. Earlier messages are still its former owner's.
	owner := r.meets(t, ours, []identity.Identity{number, personOf("w", "US.4")}, func(o *chats.Open) { o.At = late })
	if owner.Contact.ID == before.Contact.ID {
		t.Error("who has the number now is its former owner")
	}
	if got, err := r.Contacts.Present(t.Context(), ours, []identity.Identity{number}, early); err != nil || got == nil ||
		got.Number != "34600111222" {
		t.Errorf("the former owner is now %v, %v", got, err)
	}
	// Two contacts that are joined have the former addresses of both.
	joined := r.meets(t, ours, []identity.Identity{personOf("w3", "US.5")})
	r.meets(t, ours, []identity.Identity{personOf("w3", "US.5")}, func(o *chats.Open) {
		o.Became = []identity.Identity{personOf("w3", "US.6")}
	})
	r.meets(t, ours, []identity.Identity{line("34600111222"), personOf("w3", "US.6")})
	if _, err := r.Contacts.ContactOf(t.Context(), ours, joined.Contact.ID); !carillon.IsCode(err, carillon.NotFound) {
		t.Fatalf("the contacts are not joined: %v", err)
	}
	if got, err := r.Contacts.Present(t.Context(), ours, []identity.Identity{personOf("w3", "US.5")}, early); err != nil ||
		!cmp.Equal(got, &chats.Address{Number: "34600111222", UserID: "US.6"}) {
		t.Errorf("the id of the joined contact is now %v, %v", got, err)
	}
}

// Reports of three changes of a person come in each order, with the number alone, the id alone, and both.
func changesInAnyOrder(t *testing.T, r *rig) {
	for i, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		for _, kinds := range []string{"line", "person", "line person"} {
			scope := fmt.Sprintf("w%d%s", i, kinds)
			of := func(n int) (all []identity.Identity) {
				if strings.Contains(kinds, "line") {
					all = append(all, line(fmt.Sprintf("346%d%d%06d", i, len(kinds)%10, n)))
				}
				if strings.Contains(kinds, "person") {
					all = append(all, personOf(scope, fmt.Sprintf("US.%d", n)))
				}
				return all
			}
			address := func(n int, o *chats.Open) {
				for _, x := range of(n) {
					if x.Kind == identity.Line {
						o.Contact.Number = x.Key.String()
					} else {
						o.Contact.UserID = x.Key.String()
					}
				}
			}
			first := r.meets(t, ours, of(0), func(o *chats.Open) { address(0, o) })
			begin := r.now
			r.now = r.now.Add(time.Second) // the first contact is the oldest
			for range 2 {                  // each is repeated later
				for _, n := range order {
					r.meets(t, ours, of(n), func(o *chats.Open) {
						o.Became, o.At = of(n+1), begin.Add(time.Duration(n)*time.Hour)
						address(n+1, o)
					})
				}
			}
			contact, err := r.Contacts.ContactOf(t.Context(), ours, first.Contact.ID)
			if err != nil {
				t.Fatal(err)
			}
			want := chats.Open{}
			address(3, &want)
			if n := len(r.knows(t, ours, first.Contact.ID)); n != len(of(3)) {
				t.Errorf("%s in order %v: the contact has %d identities", kinds, order, n)
			}
			if contact.Number != want.Contact.Number || contact.UserID != want.Contact.UserID {
				t.Errorf("%s in order %v: the contact has %q and %q", kinds, order, contact.Number, contact.UserID)
			}
			for n := range 3 {
				known := of(n)
				a, err := r.Contacts.Present(t.Context(), ours, known, begin.Add(-time.Minute))
				if err != nil || a == nil || a.Number != want.Contact.Number || a.UserID != want.Contact.UserID {
					t.Errorf("%s in order %v: %v are now %v: %v", kinds, order, known, a, err)
				}
			}
		}
	}
}

// A number that a person once had is another's after some time: a change to it joins them with neither a contact nor its address.
func changeLongAgo(t *testing.T, r *rig) {
	at := r.now
	for _, x := range []struct {
		later time.Duration
		one   bool
	}{{7 * 24 * time.Hour, true}, {8 * 24 * time.Hour, false}, {-time.Second, false}} {
		suffix := fmt.Sprintf("%03d", int(x.later.Hours())+1)
		number := func(n string) []identity.Identity { return []identity.Identity{line("346001" + n + suffix)} }
		change := func(from, to string, at time.Time) *chats.Open {
			return r.meets(t, ours, number(from), func(o *chats.Open) {
				o.Became, o.At, o.Contact.Number = number(to), at, "346001"+to+suffix
			})
		}
		first := r.meets(t, ours, number("01"))
		r.now = r.now.Add(time.Second) // it is the oldest
		other := change("02", "03", at.Add(x.later))
		if got := change("01", "02", at); got.Contact.ID != first.Contact.ID {
			t.Errorf("after %v the change is %s's, not %s's", x.later, got.Contact.ID, first.Contact.ID)
		}
		found, err := r.Contacts.ContactOf(t.Context(), ours, other.Contact.ID)
		if (err != nil) != x.one {
			t.Errorf("after %v the other contact is %v, %v", x.later, found, err)
		}
	}
}

func formerIsErased(t *testing.T, r *rig) {
	old := []identity.Identity{line("34600111222"), personOf("w", "US.1")}
	r.meets(t, ours, old, func(o *chats.Open) { o.Contact.Number = "34600111222" })
	r.meets(t, ours, old, func(o *chats.Open) {
		o.Became = []identity.Identity{line("34600111333"), personOf("w", "US.2")}
		o.Contact.Number, o.Contact.UserID, o.At = "34600111333", "US.2", r.now
	})
	keys := func() []string {
		p, err := people.Find(t.Context(), r.DB, ours, people.Query{Number: "34600111333"})
		if err != nil {
			t.Fatal(err)
		}
		return slices.Sorted(slices.Values(p.Keys))
	}
	if got := keys(); !slices.Equal(got, []string{"34600111222", "34600111333", "US.1", "US.2"}) {
		t.Errorf("the person is %v", got)
	}
	r.meets(t, ours, []identity.Identity{line("34600111222"), personOf("w", "US.3")})
	if got := keys(); !slices.Equal(got, []string{"34600111333", "US.1", "US.2"}) {
		t.Errorf("once the number is another's, the person is %v", got)
	}
}

func deletedMeanwhile(t *testing.T, r *rig) {
	known := []identity.Identity{line("34600111222"), personOf("w", "US.1")}
	before := r.meets(t, ours, known)
	var after *chats.Open
	r.meanwhile(t, func(ctx context.Context, tx *configure.Tx) error {
		_, err := tx.Exec(ctx, "DELETE FROM contact WHERE id = $1", before.Contact.ID)
		return err
	}, func() { after = r.meets(t, ours, known) })
	if after.Contact.ID == before.Contact.ID || !after.Made {
		t.Errorf("the contact is %+v", after.Contact)
	}
	r.checkKnown(t, after.Contact.ID, "line 34600111222", "person w US.1")
}

func contactBecomesAnother(t *testing.T, r *rig) {
	old := []identity.Identity{line("525512345601"), personOf("w", "US.1")}
	before := r.meets(t, ours, old, func(o *chats.Open) { o.Contact.UserID = "US.1" })
	window := &chats.Window{
		CompanyID: ours, ConversationID: before.Conversation.ID, SenderUID: 7, Number: "525512345601", UserID: "US.1",
		LastID: "wamid.1", Until: r.now.Add(time.Hour),
	}
	if err := r.Replies.SetWindow(t.Context(), window); err != nil {
		t.Fatal(err)
	}
	became := func(o *chats.Open) {
		o.Became = []identity.Identity{line("34600111222"), personOf("w", "US.9")}
		o.Contact.Number, o.Contact.UserID = "34600111222", "US.9"
	}
	for range 2 {
		after := r.meets(t, ours, old, became)
		if after.Contact.ID != before.Contact.ID || after.Contact.Number != "34600111222" || after.Contact.UserID != "US.9" {
			t.Fatalf("the contact is %+v", after.Contact)
		}
		r.checkKnown(t, before.Contact.ID, "line 34600111222", "person w US.9")
	}
	if w, err := r.Replies.Window(t.Context(), ours, before.Conversation.ID); err != nil || w.Number != "34600111222" ||
		w.UserID != "US.9" {
		t.Errorf("the window is %+v, %v", w, err)
	}
	stranger := r.meets(t, ours, []identity.Identity{line("5215512345601")})
	if stranger.Contact.ID == before.Contact.ID {
		t.Error("who has the old number now is the contact")
	}
	// The first message by the new id came before the report.
	early := r.meets(t, ours, []identity.Identity{personOf("w", "US.10")})
	r.says(t, early.Conversation.ID, chats.Visitor, "Hi")
	late := r.meets(t, ours, []identity.Identity{personOf("w", "US.9")}, func(o *chats.Open) {
		o.Became, o.Contact.UserID = []identity.Identity{personOf("w", "US.10")}, "US.10"
	})
	if late.Contact.ID != before.Contact.ID || late.Conversation.ID != early.Conversation.ID {
		t.Errorf("the contacts are %s and %s", late.Contact.ID, before.Contact.ID)
	}
	r.checkKnown(t, before.Contact.ID, "line 34600111222", "person w US.10")
	if err := r.Contacts.Renew(t.Context(), ours, []identity.Identity{personOf("w", "US.10")},
		[]identity.Identity{personOf("w", "US.11")}, r.now, r.now); err != nil {
		t.Fatal(err)
	}
	r.checkKnown(t, before.Contact.ID, "line 34600111222", "person w US.11")
	if err := r.Contacts.Renew(t.Context(), ours, []identity.Identity{personOf("w", "US.12")},
		[]identity.Identity{personOf("w", "US.13")}, r.now, r.now); err != nil {
		t.Fatal(err)
	}
	if c, err := r.Chats.OfPerson(t.Context(), ours, personOf("w", "US.13")); c != nil || err != nil {
		t.Errorf("of a stranger there is %v, %v", c, err)
	}
	// Of somebody who is not known a message about the number makes a contact.
	unknown := r.meets(t, ours, []identity.Identity{line("34600999000")}, func(o *chats.Open) {
		o.Became, o.Contact.Number = []identity.Identity{line("34600999001")}, "34600999001"
	})
	r.checkKnown(t, unknown.Contact.ID, "line 34600999001")
}

func numberIsShared(t *testing.T, r *rig) {
	id := personOf("w", "US.1")
	shares := func(number string) func(o *chats.Open) {
		return func(o *chats.Open) { o.Shared = number }
	}
	first := r.meets(t, ours, []identity.Identity{id}, shares("5215512345601"))
	if first.Contact.Number != "5215512345601" { // as it was given, for it is dialled
		t.Errorf("the contact is %+v", first.Contact)
	}
	r.checkKnown(t, first.Contact.ID, "line 525512345601", "person w US.1")
	other := r.meets(t, ours, []identity.Identity{line("34600111222")})
	again := r.meets(t, ours, []identity.Identity{id}, shares("34600111222"))
	if again.Contact.ID != first.Contact.ID || again.Contact.Number != "5215512345601" {
		t.Errorf("the contact is %+v", again.Contact)
	}
	r.checkKnown(t, other.Contact.ID, "line 34600111222")
}

func reportsAreLearned(t *testing.T, r *rig) {
	learn := func(x chats.Report) {
		t.Helper()
		r.now = r.now.Add(time.Millisecond)
		if err := r.Contacts.Learn(t.Context(), ours, []chats.Report{x}, r.now); err != nil {
			t.Fatal(err)
		}
	}
	id := personOf("w", "US.1")
	learn(chats.Report{Number: "34600111222", As: "34600111222", Person: &id})
	learn(chats.Report{Number: "525512345601", As: "5215512345601"})
	if lines, err := r.Contacts.LinesOf(t.Context(), ours, []identity.Identity{id}); err != nil || len(lines) != 1 {
		t.Errorf("of a stranger %v is known, %v", lines, err)
	}
	// A form that no rule knows of is kept before the person writes.
	learn(chats.Report{Number: "6281234567", As: "62081234567"})
	lines, err := r.Contacts.LinesOf(t.Context(), ours, []identity.Identity{line("62081234567")})
	if err != nil || !identity.Has(lines, "6281234567") {
		t.Errorf("the lines are %v, %v", lines, err)
	}
	wrote := r.meets(t, ours, []identity.Identity{id}, func(o *chats.Open) { o.Contact.UserID = "US.1" })
	learn(chats.Report{Number: "34600111222", Person: &id})
	r.checkKnown(t, wrote.Contact.ID, "line 34600111222", "person w US.1")
	number := r.meets(t, ours, []identity.Identity{line("34600111333")})
	second := personOf("w", "US.2")
	learn(chats.Report{Number: "34600111333", Person: &second})
	r.checkKnown(t, number.Contact.ID, "line 34600111333", "person w US.2")
}

func olderContactIsFound(t *testing.T, r *rig) {
	older := r.opened(t, ours, "tel:525512345601", func(o *chats.Open) {
		o.Contact.WidgetID, o.Contact.Verified, o.Contact.Number = "", true, "525512345601"
		o.Conversation.Channel, o.Conversation.WidgetID = "whatsapp", ""
	})
	now := r.meets(t, ours, []identity.Identity{line("5215512345601"), personOf("w", "US.1")})
	if now.Contact.ID != older.Contact.ID || now.Conversation.ID != older.Conversation.ID {
		t.Error("the contact is not found")
	}
	r.checkKnown(t, older.Contact.ID, "line 525512345601", "person w US.1")
}
