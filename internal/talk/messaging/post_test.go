package messaging_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/store/chats"
	"carillon/internal/store/events"
	"carillon/internal/talk/freeform"
	"carillon/internal/talk/messaging"
)

// post submits a message of an application.
func (r *rig) post(companyID, body, key string) (*messaging.Response, error) {
	r.t.Helper()
	x, err := freeform.Read([]byte(body))
	if err != nil {
		r.t.Fatal(err)
	}
	return r.Accept(r.t.Context(), &messaging.Submission{
		CompanyID: companyID, KeyID: "key1", KeyName: "Bookings", Request: x, Route: "messages", IdempotencyKey: key, Hash: body,
	})
}

func textTo(number, text string) string {
	b, _ := json.Marshal(map[string]any{"to": map[string]string{"number": number}, "type": "text", "text": text})
	return string(b)
}

// stateOf returns the state of a message and its reason.
func (r *rig) stateOf(id string) string {
	r.t.Helper()
	v, err := r.Find(r.t.Context(), r.company.ID, id)
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.TrimSpace(string(v.State) + " " + v.Reason)
}

// closing returns the details of the 409 for a closed window.
func closing(t *testing.T, err error) (at any) {
	t.Helper()
	if !carillon.IsCode(err, carillon.Conflict) {
		t.Fatalf("error %v, want a conflict", err)
	}
	e, _ := errors.AsType[*carillon.Error](err)
	if e.Details.Find("send_instead") != "a template: POST /functions/v1/notify" {
		t.Errorf("details %v", e.Details)
	}
	return e.Details.Find("window_closed_at")
}

// A hundred messages are accepted and sent around the end of the window. None arrives at the channel outside it.
func TestAnApplicationAnswersWithinTheWindowOnly(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		until := map[string]time.Time{}
		var mu sync.Mutex
		r.channel.by(func(x post) *provider.Outcome {
			mu.Lock()
			defer mu.Unlock()
			if end := until[x.To]; x.Message != nil && !r.now().Before(end) {
				t.Errorf("a message to %s came at %s, after %s", x.To, r.now(), end)
			}
			return nil
		})
		people := make([]*person, 10)
		for i := range people {
			p := r.person(fmt.Sprintf("346008200%02d", i))
			people[i] = p
		}
		r.run()
		for _, p := range people {
			p.text("Hello")
			p.until("it is shown", func() bool { return slices.Contains(p.lines(), "> Hello") })
		}
		r.halt() // messages wait
		r.stand()
		window := func(p *person) time.Time {
			w, err := r.db.Replies.Window(t.Context(), r.company.ID, p.conversation().ID)
			if err != nil {
				t.Fatal(err)
			}
			return w.Until
		}
		for _, p := range people {
			until[p.number] = window(p)
		}
		first := until[people[0].number]
		r.pass(first.Sub(r.now()) - time.Minute)
		var ids []string
		for i := range 100 {
			a, err := r.post(r.company.ID, textTo(people[i%10].number, fmt.Sprint("m", i)), "")
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, a.ID)
		}
		r.pass(time.Hour) // they waited past the end
		for _, p := range people[:5] {
			p.text("I am back") // reopens the window
		}
		for _, p := range people[5:] {
			_, err := r.post(r.company.ID, textTo(p.number, "late"), "")
			if at := closing(t, err); at != carillon.FormatTime(until[p.number]) {
				t.Errorf("closed at %v, want %s", at, until[p.number])
			}
		}
		mu.Lock()
		for _, p := range people[:5] {
			until[p.number] = r.now().Add(messaging.Window)
		}
		mu.Unlock()
		r.build()
		r.run()
		for i, id := range ids {
			r.until("its state is final", func() bool { return !strings.HasPrefix(r.stateOf(id), "queued") && r.stateOf(id) != "sending" })
			state := r.stateOf(id)
			if i%10 >= 5 && state != "failed window_closed" || i%10 < 5 && state != "sent" && state != "failed window_closed" {
				t.Errorf("message %d: %s", i, state)
			}
		}
		for _, p := range people[:5] {
			p.until("the window is open", func() bool { return window(p).After(r.now()) })
			a, err := r.post(r.company.ID, textTo(p.number, "Welcome back"), "")
			if err != nil {
				t.Fatal(err)
			}
			r.until("it is sent", func() bool { return r.stateOf(a.ID) == "sent" })
		}
	})
}

func TestAMessageOfAnApplicationStandsInTheThreadAndItsStatesAreEvents(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		for _, topic := range events.Topics() {
			if err := r.db.Events.FollowPull(t.Context(), r.company.ID, topic); err != nil {
				t.Fatal(err)
			}
		}
		r.run()
		p := r.person("34600830001")
		p.text("Hello")
		p.until("it is shown", func() bool { return slices.Contains(p.lines(), "> Hello") })
		body := `{"to":{"number":"34600830001"},"type":"buttons","text":"Which pier?",` +
			`"buttons":[{"id":"p3","title":"Pier 3"},{"id":"p4","title":"Pier 4"}]}`
		a, err := r.post(r.company.ID, body, "k1")
		if err != nil {
			t.Fatal(err)
		}
		r.until("it is sent", func() bool { return r.stateOf(a.ID) == "sent" })
		again, err := r.post(r.company.ID, body, "k1")
		if err != nil || !again.Replayed || string(again.JSON) != string(a.JSON) {
			t.Errorf("a repeat: %+v, %v", again, err)
		}
		if _, err := r.post(r.company.ID, textTo("34600830001", "other"), "k1"); !carillon.IsCode(err, carillon.IdempotencyKeyReused) {
			t.Errorf("another body: %v", err)
		}
		sent := r.channel.of(p.number)
		if len(sent) != 1 || sent[0].Message == nil || sent[0].Message.Buttons[1].ID != "p4" {
			t.Fatalf("sent %+v", sent)
		}
		conversationID, seq, _ := chats.ParseMessageID(a.ID)
		turns, err := r.db.Chats.TurnsBefore(t.Context(), r.company.ID, conversationID, seq+1, 1)
		if err != nil || turns[0].Author != chats.Teammate || !turns[0].Extra.Application || turns[0].Extra.Name != "Bookings" ||
			turns[0].Text != "Which pier?" || !slices.Equal(turns[0].Extra.Choices, []string{"Pier 3", "Pier 4"}) {
			t.Errorf("the turn is %+v, %v", turns, err)
		}
		r.report(r.sender, sent[0], carillon.StateDelivered, carillon.StateRead, carillon.StateDelivered)
		if state := r.stateOf(a.ID); state != "read" {
			t.Error(state)
		}
		v, err := r.Find(t.Context(), r.company.ID, a.ID)
		if err != nil || v.SentAt == "" || v.DeliveredAt == "" || v.ReadAt == "" || v.Type != "buttons" || v.Number != p.number {
			t.Errorf("%+v, %v", v, err)
		}
		var kinds []string
		rows, err := r.db.Events.EventsAfter(t.Context(), r.company.ID, events.Notifications, 0, 100)
		for _, e := range rows {
			kinds = append(kinds, e.Kind)
			named := `"message_id":"` + a.ID + `","conversation_id":"` + conversationID + `","number":"34600830001"`
			if !strings.Contains(string(e.Payload), named) ||
				!strings.Contains(string(e.Payload), `"sender_id":"main"`) {
				t.Errorf("the event is %s", e.Payload)
			}
		}
		if want := []string{"message.sent", "message.delivered", "message.read"}; err != nil || !slices.Equal(kinds, want) {
			t.Errorf("events %v, %v", kinds, err)
		}
		// Messages of another company, and those that do not exist, are not found.
		for _, id := range []string{a.ID + "0", conversationID, conversationID + ".1", "x"} {
			if _, err := r.Find(t.Context(), r.company.ID, id); !carillon.IsCode(err, carillon.NotFound) {
				t.Errorf("%s: %v", id, err)
			}
		}
		if _, err := r.Find(t.Context(), carillon.NewID(r.now()), a.ID); !carillon.IsCode(err, carillon.NotFound) {
			t.Errorf("another company's: %v", err)
		}
	})
}

func TestPeopleWhoNeverWroteGetNoMessage(t *testing.T) {
	onSQLite(t, func(t *testing.T, r *rig) {
		r.run()
		_, err := r.post(r.company.ID, textTo("34600840001", "Hi"), "k")
		if at := closing(t, err); at != nil {
			t.Errorf("closed at %v", at)
		}
		p := r.person("34600840001")
		p.text("Hello")
		p.until("it is shown", func() bool { return slices.Contains(p.lines(), "> Hello") })
		if _, err := r.post(carillon.NewID(r.now()), textTo("34600840001", "Hi"), ""); err == nil {
			t.Error("another company reaches the person")
		}
		id := p.conversation().ID
		turns, err := r.db.Chats.Turns(t.Context(), r.company.ID, id, 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(turns, func(x chats.Turn) bool { return x.Author == chats.Visitor })
		of := chats.MessageID(id, turns[at].Seq)
		// The key of the refused request is free.
		reaction := `{"conversation_id":"` + id + `","type":"reaction","reaction":{"message_id":"` + of + `","emoji":"👍"}}`
		if _, err := r.post(r.company.ID, reaction, "k"); err != nil {
			t.Fatal(err)
		}
		r.until("it is sent", func() bool { return len(r.channel.of(p.number)) == 1 })
		if x := r.channel.of(p.number)[0].Message.Reaction; x.MessageID == of || x.MessageID == "" || x.Emoji != "👍" {
			t.Errorf("%+v", x)
		}
		if err := r.MarkRead(t.Context(), r.company.ID, of, true); err != nil || len(r.channel.marked()) == 0 {
			t.Errorf("%v", err)
		}
		if err := r.MarkRead(t.Context(), carillon.NewID(r.now()), of, true); !carillon.IsCode(err, carillon.NotFound) {
			t.Errorf("another company marks it: %v", err)
		}
	})
}
