package widget

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/base/share"
	"carillon/internal/edge/httpio"
	"carillon/internal/store/chats"
	"carillon/internal/store/events"
	"carillon/internal/talk/conversation"
)

const (
	// aliveEvery is how often a contact in the queue is recorded as there.
	aliveEvery = 30 * time.Second
	// visitorStreams is how often a visitor opens a stream, in calls of one visitor: each costs some queries.
	visitorStreams = 10
	// checkEvery is how often the session of a busy stream is checked.
	checkEvery = 2 * time.Second
)

// stream sends a conversation to its contact: every turn after the seq in Last-Event-ID, then each as it comes; the state
// whenever it changes; and, without an id, who is writing and the pieces of the agent's answer. A seq that is not there yet gets
// a reset: the page loads the conversation again.
func (d chat) stream(w http.ResponseWriter, r *http.Request) error {
	s, f, err := d.session(r)
	if err != nil {
		return err
	}
	httpio.SetCompany(r.Context(), s.Company)
	if _, err := d.host.limits.Allow(r.Context(), "streams/"+
		s.Contact, visitorStreams*f.company.Limits.WidgetCallsPerMinute, 1); err != nil {
		return err
	}
	after := int64(0)
	if given := r.Header.Get("Last-Event-ID"); given != "" {
		if after, err = strconv.ParseInt(given, 10, 64); err != nil || after < 0 {
			return carillon.Invalid("Last-Event-ID", "Must be the seq of a turn, or 0")
		}
	}
	place, err := httpio.Follow(r, share.Holder{Company: s.Company, Visitor: true, Session: s.Contact})
	if err != nil {
		return err
	}
	defer place.Release()
	c, err := d.chats.Find(r.Context(), s.Company, s.Conversation)
	if err != nil {
		return err
	}
	// A page that knows more than the database, which was restored, must load everything.
	gone := after > c.LastSeq
	if gone {
		after = c.LastSeq
	}
	subscription, err := d.events.Subscribe(s.Company, chats.Topic(s.Conversation), after)
	if err != nil {
		return err
	}
	defer subscription.Close()
	stream, err := httpio.OpenStream(w, r, place)
	if err != nil {
		return err
	}
	if gone {
		if err := stream.Send(httpio.Event{Name: "reset", Data: []byte("{}")}); err != nil {
			return nil // the client has left
		}
	}
	x := follower{chat: d, r: r, session: s}
	return stream.Serve(subscription.Ready(), func(ctx context.Context) ([]httpio.Event, error) {
		found, _, err := subscription.Next(ctx)
		if err != nil {
			return nil, err
		}
		return x.events(ctx, found)
	})
}

// follower is one stream of a conversation.
type follower struct {
	chat    chat
	r       *http.Request
	session *session
	last    state
	checked time.Time
	alive   time.Time
}

// events returns what to send for what the topic brought. It is called with each heartbeat too: then the session is checked,
// a place in the queue that moved is sent, and a contact who waits quietly is recorded as there.
func (f *follower) events(ctx context.Context, found []events.Event) (all []httpio.Event, err error) {
	// Another state comes with a turn; a place in the queue moves by itself.
	stored := f.last.State == "" || len(found) == 0 && f.last.State == chats.Queued
	if len(found) == 0 || time.Since(f.checked) > checkEvery {
		if _, _, err := f.chat.session(f.r); err != nil {
			return nil, err // the session ended, the widget went, the company was suspended
		}
		f.checked = time.Now()
	}
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
	e, changed, err := f.state(ctx)
	if changed {
		all = append(all, e)
	}
	return all, err
}

// state returns the event of a state that differs from the last one sent.
func (f *follower) state(ctx context.Context) (e httpio.Event, changed bool, err error) {
	c, err := f.chat.chats.Find(ctx, f.session.Company, f.session.Conversation)
	if err != nil {
		return e, false, err
	}
	now, err := f.chat.stateOf(ctx, c)
	if err != nil {
		return e, false, err
	}
	if c.State == chats.Queued && time.Since(f.alive) > aliveEvery {
		f.alive = time.Now()
		if err := f.chat.conversations.Alive(ctx, c); err != nil {
			return e, false, err
		}
	}
	if now == f.last {
		return e, false, nil
	}
	f.last = now
	text, err := json.Marshal(now)
	return httpio.Event{Name: "state", Data: text}, err == nil, err
}

// event is an event of the topic as the contact gets it.
func (f *follower) event(e *events.Event) (x httpio.Event, shown bool) {
	switch e.Kind {
	case "turn":
		var stored chats.TurnView
		if json.Unmarshal(e.Payload, &stored) != nil {
			return x, false
		}
		view, shown := f.chat.show(stored)
		if !shown {
			return x, false
		}
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
