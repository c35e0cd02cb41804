package panel

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/httpio"
	"carillon/internal/edge/convai"
	"carillon/internal/store/chats"
	"carillon/internal/voice"
)

// Talks are the talks that visitors hold; *voice.Sessions is one.
type Talks interface {
	Talking(companyID, conversationID string) bool // on this node
	Join(ctx context.Context, t voice.Teammate) error
}

// talks serves what teammates say aloud to visitors.
type talks struct {
	inbox
	checkEvery time.Duration // how often the caller's role is looked at again during a talk
}

const (
	voiceChannel    = "web_voice"
	roleCheckedEach = 20 * time.Second
)

func (x talks) routes() []httpio.Route {
	return []httpio.Route{
		{
			Pattern: "GET " + prefix + "/conversations/{id}/voice", Access: "panel", Permission: string(auth.MayAnswerConversations), Stream: true,
			Handle: x.join,
		},
	}
}

// join makes the request a socket on which the teammate talks with the visitor of a conversation, which is theirs from then on.
func (x talks) join(w http.ResponseWriter, r *http.Request) error {
	by, err := x.member(r, auth.MayAnswerConversations)
	if err != nil {
		return err
	}
	if err := x.ownSocket(r); err != nil {
		return err
	}
	c, err := x.find(r, by)
	if err != nil {
		return err
	}
	if err := convai.Check(r); err != nil {
		return err
	}
	if c.Channel != voiceChannel {
		return carillon.InConflict("The conversation is not held aloud")
	}
	from := r.URL.Query().Get("from")
	if _, err := x.changed(r.Context(), nil, c, x.taken(r.Context(), by, c.ID, from)); err != nil {
		return err
	}
	conn, err := convai.Accept(w, r, convai.Options{})
	if err != nil {
		return err
	}
	defer conn.Close()
	return x.hold(r, by, c.ID, conn)
}

func (x talks) taken(ctx context.Context, by member, id, from string) error {
	_, err := x.Conversations.Take(ctx, by.by(), id, from)
	return err
}

// ownSocket refuses sockets of other sites, which browsers open with the panel's cookie and without asking first.
func (x talks) ownSocket(r *http.Request) error {
	origin := r.Header.Get("Origin")
	if origin == "" && r.Header.Get("Authorization") != "" || origin != "" && x.ownOrigin(r, origin) {
		return nil
	}
	return carillon.Denied("The request comes from another site")
}

// hold has the teammate talk until they leave, the visitor does, or their role no longer allows it.
func (x talks) hold(r *http.Request, by member, id string, conn *convai.Conn) error {
	if _, err := conn.Initiation(r.Context()); err != nil {
		return err
	}
	begin := sync.OnceFunc(func() { conn.Begin(id) }) // once the visitor is there; else the first message is the error
	ctx, leave := context.WithCancel(r.Context())
	defer leave()
	var returned atomic.Pointer[error] // of giving the conversation back to the agent
	return conn.Serve(ctx, func(ctx context.Context) error {
		go x.watch(ctx, r, leave)
		err := x.Talks.Join(ctx, voice.Teammate{
			CompanyID: by.companyID, AccountID: by.accountID, Name: by.name, ConversationID: id, Line: conn.Line(),
			Show: func(e voice.Event) { begin(); conn.Show(e) },
		})
		switch {
		case err != nil:
			return err
		case returned.Load() != nil:
			return *returned.Load()
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the teammate has left
		}
		return x.broken(ctx, by, id)
	}, convai.Client{
		End: leave,
		ToAgent: func() { // before the teammate leaves, so that what the visitor says from then on is for the agent
			_, err := x.Conversations.Release(context.WithoutCancel(ctx), by.by(), id, true)
			returned.Store(&err)
			leave()
		},
	})
}

// broken is an error where the talk of a conversation that is still the teammate's ended: the visitor's connection broke, and they
// may come back. The page asks again then.
func (x talks) broken(ctx context.Context, by member, id string) error {
	c, err := x.chats().Find(ctx, by.companyID, id)
	if err == nil && c.State == chats.Active && c.Assignee == by.accountID && !x.Talks.Talking(by.companyID, id) {
		err = carillon.Absent("Talk")
	}
	return err
}

// watch ends a talk whose teammate may no longer answer.
func (x talks) watch(ctx context.Context, r *http.Request, leave func()) {
	tick := time.NewTicker(x.checkEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if _, err := x.member(r.WithContext(ctx), auth.MayAnswerConversations); err != nil && ctx.Err() == nil {
				leave()
				return
			}
		}
	}
}
