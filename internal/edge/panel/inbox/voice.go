package inbox

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/edge/convai"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/talk/conversation"
	"carillon/internal/voice"
)

// Talks are the spoken conversations of visitors. *voice.Sessions implements it.
type Talks interface {
	Talking(companyID, conversationID string) bool // reports whether the visitor is connected to this node
	Join(ctx context.Context, t voice.Teammate) error
}

// Voice lets teammates talk with visitors.
type Voice struct {
	Gate          *member.Gate
	Store         *store.Store
	Conversations *conversation.Conversations
	Talks         Talks
}

const (
	voiceChannel    = "web_voice"
	roleCheckedEach = 20 * time.Second
)

func (x Voice) Routes() []httpio.Route {
	return []httpio.Route{
		x.Gate.Stream("GET", "/conversations/{id}/voice", auth.MayAnswerConversations, x.join),
	}
}

// join upgrades the request to a socket on which the teammate talks with the visitor of a conversation. It assigns the
// conversation to the teammate.
func (x Voice) join(w http.ResponseWriter, r *http.Request, by member.Member) error {
	if err := x.ownSocket(r); err != nil {
		return err
	}
	c, err := find(r, x.Store, by)
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
	if _, err := changed(r.Context(), x.Store, nil, c, x.assign(r.Context(), by, c.ID, from)); err != nil {
		return err
	}
	conn, err := convai.Accept(w, r, convai.Options{})
	if err != nil {
		return err
	}
	defer conn.Close()
	return x.hold(r, by, c.ID, conn)
}

func (x Voice) assign(ctx context.Context, by member.Member, id, from string) error {
	_, err := x.Conversations.Desk.Take(ctx, by.Teammate(), id, from)
	return err
}

// ownSocket refuses sockets from other sites: browsers open them with the panel's cookie and without a CORS preflight.
func (x Voice) ownSocket(r *http.Request) error {
	origin := r.Header.Get("Origin")
	if origin == "" && r.Header.Get("Authorization") != "" || origin != "" && x.Gate.OwnOrigin(r, origin) {
		return nil
	}
	return carillon.Denied("The request comes from another site")
}

// hold keeps the teammate connected until they leave, the visitor leaves, or their role no longer allows it.
func (x Voice) hold(r *http.Request, by member.Member, id string, conn *convai.Conn) error {
	if _, err := conn.Initiation(r.Context()); err != nil {
		return err
	}
	begin := sync.OnceFunc(func() { conn.Begin(id, "") }) // called once the visitor is connected; otherwise the first message is the error
	ctx, leave := context.WithCancel(r.Context())
	defer leave()
	var returned atomic.Pointer[error] // result of giving the conversation back to the agent
	return conn.Serve(ctx, func(ctx context.Context) error {
		go x.watch(ctx, r, roleCheckedEach, leave)
		err := x.Talks.Join(ctx, voice.Teammate{
			CompanyID: by.CompanyID, AccountID: by.AccountID, Name: by.Name, ConversationID: id, Line: conn.Line(),
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
		return x.lostVisitor(ctx, by, id)
	}, convai.Client{
		End: leave,
		ToAgent: func() { // before the teammate leaves, so that the visitor's next words go to the agent
			_, err := x.Conversations.Desk.Release(context.WithoutCancel(ctx), by.Teammate(), id, true)
			returned.Store(&err)
			leave()
		},
	})
}

// lostVisitor returns an error if the visitor's connection was lost while the conversation was still the teammate's. The
// visitor may reconnect, so the page retries.
func (x Voice) lostVisitor(ctx context.Context, by member.Member, id string) error {
	c, err := x.Store.Chats.Find(ctx, by.CompanyID, id)
	if err == nil && c.State == chats.Active && c.Assignee == by.AccountID && !x.Talks.Talking(by.CompanyID, id) {
		err = carillon.Absent("Talk")
	}
	return err
}

// watch disconnects a teammate who may no longer answer.
func (x Voice) watch(ctx context.Context, r *http.Request, every time.Duration, leave func()) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if _, err := x.Gate.Member(r.WithContext(ctx), auth.MayAnswerConversations); err != nil && ctx.Err() == nil {
				leave()
				return
			}
		}
	}
}
