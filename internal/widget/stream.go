package widget

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/conversation"
	"carillon/internal/httpio"
	"carillon/internal/store/chats"
	"carillon/internal/store/events"
)

// aliveEvery is how often a contact in the queue is recorded as there.
const aliveEvery = 30 * time.Second

// stream sends a conversation to its contact: every turn after the seq in Last-Event-ID, then each as it comes; the state
// whenever it changes; and, without an id, who is writing and the pieces of the agent's answer.
func (d chat) stream(w http.ResponseWriter, r *http.Request) error {
	s, _, err := d.session(r)
	if err != nil {
		return err
	}
	httpio.SetCompany(r.Context(), s.Company)
	after := int64(0)
	if given := r.Header.Get("Last-Event-ID"); given != "" {
		if after, err = strconv.ParseInt(given, 10, 64); err != nil || after < 0 {
			return carillon.Invalid("Last-Event-ID", "Must be the seq of a turn, or 0")
		}
	}
	if _, err := d.Chats.Find(r.Context(), s.Company, s.Conversation); err != nil {
		return err
	}
	subscription, err := d.Events.Subscribe(s.Company, chats.Topic(s.Conversation), after)
	if err != nil {
		return err
	}
	defer subscription.Close()
	stream, err := httpio.OpenStream(w, r)
	if err != nil {
		return err
	}
	f := follower{chat: d, r: r, session: s}
	return stream.Serve(subscription.Ready(), func(ctx context.Context) ([]httpio.Event, error) {
		found, _, err := subscription.Next(ctx)
		if err != nil {
			return nil, err
		}
		return f.events(ctx, found)
	})
}

// follower is one stream of a conversation.
type follower struct {
	chat
	r       *http.Request
	session *session
	last    state
	checked time.Time
	alive   time.Time
}

func (f *follower) events(ctx context.Context, found []events.Event) (all []httpio.Event, err error) {
	if len(found) > 0 && time.Since(f.checked) > 2*time.Second {
		if _, _, err := f.chat.session(f.r); err != nil {
			return nil, err // the session ended, the widget went, the company was suspended
		}
		f.checked = time.Now()
	}
	stored := f.last.State == ""
	for i := range found {
		e, shown := f.event(&found[i])
		if shown {
			all = append(all, e)
		}
		stored = stored || found[i].Seq > 0
	}
	if !stored {
		return all, nil
	}
	c, err := f.Chats.Find(ctx, f.session.Company, f.session.Conversation)
	if err != nil {
		return nil, err
	}
	now, err := f.stateOf(f.r, c)
	if err != nil {
		return nil, err
	}
	if now != f.last {
		f.last = now
		text, _ := json.Marshal(now) // numbers and a word
		all = append(all, httpio.Event{Name: "state", Data: text})
	}
	if c.State == chats.Queued && time.Since(f.alive) > aliveEvery {
		f.alive = time.Now()
		err = f.Conversations.Alive(ctx, c)
	}
	return all, err
}

// event is an event of the topic as the contact gets it.
func (f *follower) event(e *events.Event) (x httpio.Event, shown bool) {
	switch e.Kind {
	case "turn":
		var view chats.TurnView
		if json.Unmarshal(e.Payload, &view) != nil || view.Note {
			return x, false
		}
		view.AccountID = ""
		text, err := json.Marshal(view)
		return httpio.Event{ID: strconv.FormatInt(e.Seq, 10), Name: "turn", Data: text}, err == nil
	case "typing", "delta":
		var what conversation.Ephemeral
		if json.Unmarshal(e.Payload, &what) != nil || what.Author == chats.Visitor {
			return x, false
		}
		what.Account = ""
		text, err := json.Marshal(what)
		return httpio.Event{Name: e.Kind, Data: text}, err == nil
	}
	return x, false
}
