package conversation

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/store/events"
	"carillon/internal/talk/flow"
	"carillon/internal/voice"
)

func TestTheTimelineNamesTheRunThatBegan(t *testing.T) {
	r := newRig(t, store.Options{})
	r.lay("word", flow.Trigger{Keywords: []string{"begin"}}, received)
	r.run()
	id := r.open()
	r.say(id, "1", "begin")
	r.waitState(id, flow.Asking)
	if got, want := r.began(id), []string{"word " + r.last(id).ID}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
	want := RunMark{r.last(id).ID, r.last(id).FlowID, id, string(flow.Asking)}
	r.within("who looks at runs learns of it", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return slices.ContainsFunc(r.passing, func(e events.Event) bool {
			var m RunMark
			return e.Kind == RunChanged && e.Topic == chats.InboxTopic && e.CompanyID == r.company &&
				json.Unmarshal(e.Payload, &m) == nil && m == want
		})
	})
}

// The pending state of a flow is visible to the voice call.
func TestATalkKnowsWhatItsFlowWaitsFor(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.lay("word", flow.Trigger{Keywords: []string{"begin"}},
			`[{"say": "Which?"}, {"ask": "x", "choices": ["a", "b"]}, {"say": "How many?"}, {"ask": "y", "accept": "number"},
			{"http": {"url": "https://acme.test/"}}, {"wait": "30s"}, {"wait": "1h"}, {"say": "done"}]`)
		a, id := NewAloud(r.Conversations), r.open()
		respond := func(text string) {
			t.Helper()
			if _, err := a.Say(t.Context(), r.company, id, aloud(text, "")); err != nil {
				t.Fatal(err)
			}
			if _, err := a.Respond(t.Context(), r.company, id, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
		work := func() {
			t.Helper()
			if _, err := r.Runner.work(t.Context()); err != nil {
				t.Error(err)
			}
		}
		var want *voice.Pending
		check := func() {
			t.Helper()
			talk, err := a.Begin(t.Context(), r.company, id)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, talk.Pending); diff != "" {
				t.Error(diff)
			}
		}
		check()
		respond("begin")
		want = &voice.Pending{Question: "Which?", Choices: []string{"a", "b"}}
		check()
		respond("b")
		want = &voice.Pending{Question: "How many?", Number: true, Accept: "number"}
		check()
		respond("three")
		want = &voice.Pending{Busy: true}
		check()
		work()
		check()
		r.pass(30 * time.Second)
		work()
		want = &voice.Pending{}
		check()
		if p, err := a.Pending(t.Context(), "other", id); p != nil || err != nil {
			t.Errorf("in another company %+v, %v", p, err)
		}
	})
}

// A caller who hangs up has stated a request: the call stays missed.
func TestACallForWhichNobodyWasThereStaysMissed(t *testing.T) {
	for channel, want := range map[string]chats.State{"phone": chats.Missed, "web_chat": chats.Resolved} {
		r := newRig(t, store.Options{})
		c, _, err := r.Open(t.Context(), Start{
			Contact: chats.Contact{CompanyID: r.company, VisitorID: "v"}, Channel: channel, AgentID: "a", Always: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.must(r.Ask(t.Context(), r.company, c.ID, "", true)).State; got != chats.Missed {
			t.Fatal(got)
		}
		if got := r.must(r.Leave(t.Context(), r.company, c.ID)).State; got != want {
			t.Errorf("on %s it is %s", channel, got)
		}
	}
}

// A caller with a certain number does not learn the data stored for that number. A person who was called at it, or
// wrote from it, does.
func TestWhatIsStoredOfANumberIsNotForCallers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		channel  string
		verified bool
		told     bool
	}{
		"a caller": {"phone", false, false}, "who was called": {"phone", true, true}, "who writes": {"whatsapp", true, true},
		"a visitor": {"web_chat", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, store.Options{})
			start := Start{Channel: c.channel, AgentID: "a", Language: "en", Always: c.channel == "phone", Contact: chats.Contact{
				CompanyID: r.company, VisitorID: "tel:34600110077", Verified: c.verified, Number: "34600110077",
			}}
			_, contact, err := r.Open(t.Context(), start)
			if err != nil {
				t.Fatal(err)
			}
			person, email := "Ana Diaz", "ana@example.com"
			if _, err := r.store.Contacts.EditContact(t.Context(), r.company, contact.ID,
				chats.ContactEdit{Name: &person, Email: &email}); err != nil {
				t.Fatal(err)
			}
			found, _, err := r.Open(t.Context(), start)
			if err != nil {
				t.Fatal(err)
			}
			values, err := r.Runner.values(t.Context(), found, &chats.Bound{})
			if err != nil {
				t.Fatal(err)
			}
			request, err := r.replies.request(t.Context(), found)
			if err != nil {
				t.Fatal(err)
			}
			talk, err := NewAloud(r.Conversations).talk(t.Context(), r.company, found.ID)
			if err != nil {
				t.Fatal(err)
			}
			want := flow.Values{"number": "34600110077", "language": "en", "channel": c.channel, "verified": "no"}
			if c.verified {
				want["verified"] = "yes"
			}
			asked := ""
			if c.told {
				want["name"], want["first_name"], want["email"], asked = person, "Ana", email, person
			}
			if d := cmp.Diff(want, values); d != "" {
				t.Error(d)
			}
			if request.ContactName != asked || talk.ContactName != asked {
				t.Errorf("the agent knows %q and %q", request.ContactName, talk.ContactName)
			}
		})
	}
}
