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
	// aliveEvery is the interval at which a contact of teammates is recorded as present.
	aliveEvery = 30 * time.Second
	// visitorStreams is the limit of opened streams per visitor, as a multiple of the limit of calls: each stream
	// costs several queries.
	visitorStreams = 10
	// checkEvery is the interval of session checks of a busy stream.
	checkEvery = 2 * time.Second
)

// stream streams a conversation to its contact: first the turns after the seq in Last-Event-ID, then new turns, and
// the state whenever it changes. Typing indicators and parts of the agent's answer are sent without an id. If the seq
// is beyond the last turn, a reset makes the page reload the conversation.
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
	// The page has turns that the database lacks after a restore, so it must reload everything.
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
			return nil // the client has disconnected
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
	replied int64 // seq of the agent's last turn
	checked time.Time
	alive   time.Time
}

// events returns the stream events for the topic's events. It is also called at each heartbeat, without any: then it
// checks the session, sends a changed place in the queue, and records an idle contact as present, unless an agent answers.
func (f *follower) events(ctx context.Context, found []events.Event) (all []httpio.Event, err error) {
	// A new state always comes with a turn, but the place in the queue changes without one.
	stored := f.last.State == "" || len(found) == 0 && f.last.State != chats.Automated
	if len(found) == 0 || time.Since(f.checked) > checkEvery {
		if _, _, err := f.chat.session(f.r); err != nil {
			return nil, err // the session ended, the widget was removed, or the company was suspended
		}
		f.checked = time.Now()
	}
	for i := range found {
		e, shown, err := f.event(ctx, &found[i])
		if err != nil {
			return nil, err
		}
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

// state returns an event with the state if it differs from the last one sent.
func (f *follower) state(ctx context.Context) (e httpio.Event, changed bool, err error) {
	c, err := f.chat.chats.Find(ctx, f.session.Company, f.session.Conversation)
	if err != nil {
		return e, false, err
	}
	now, err := f.chat.stateOf(ctx, c)
	if err != nil {
		return e, false, err
	}
	if c.State != chats.Automated && time.Since(f.alive) > aliveEvery {
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

// event converts an event of the topic for the contact.
func (f *follower) event(ctx context.Context, e *events.Event) (x httpio.Event, shown bool, err error) {
	switch e.Kind {
	case "turn":
		var stored chats.TurnView
		if json.Unmarshal(e.Payload, &stored) != nil {
			return x, false, nil
		}
		if stored.Author == chats.Agent {
			f.replied = stored.Seq
		}
		view, shown, err := f.chat.show(ctx, f.session.Company, stored)
		if err != nil || !shown {
			return x, false, err
		}
		text, err := json.Marshal(view)
		return httpio.Event{ID: strconv.FormatInt(e.Seq, 10), Name: "turn", Data: text}, err == nil, err
	case "typing", "delta":
		var what conversation.Ephemeral
		if json.Unmarshal(e.Payload, &what) != nil || what.Author == chats.Visitor {
			return x, false, nil
		}
		if e.Kind == "delta" && f.replied > what.After {
			return x, false, nil // a piece from another node that came after its reply
		}
		what.Account, what.After = "", 0
		text, err := json.Marshal(what)
		return httpio.Event{Name: e.Kind, Data: text}, err == nil, err
	}
	return x, false, nil
}
