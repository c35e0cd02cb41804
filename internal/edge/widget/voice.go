package widget

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/agent"
	"carillon/internal/edge/httpio"
	"carillon/internal/store/chats"
	"carillon/internal/talk/conversation"
	"carillon/internal/voice"
)

// Voices runs voice conversations. *voice.Sessions implements it.
type Voices interface {
	Open(ctx context.Context, s voice.Start) (*voice.Session, error)
}

// spoken serves the routes of voice widgets, which require an access key or a conversation's token.
type spoken struct {
	host          *host
	chat          chat
	signer        signer
	conversations *conversation.Conversations
	voices        Voices
	knowledge     Search
	speaks        func(a *agent.Agent) (speech, hearing bool)
	checkEvery    time.Duration
	log           *slog.Logger
}

const (
	voiceChannel = "web_voice"
	voicePath    = prefix + "/voice-widget"
)

func (d spoken) routes() []httpio.Route {
	const key = "key:" + string(auth.WidgetUse)
	anyone := httpio.CORS{AnyOrigin: true, Methods: []string{http.MethodGet, http.MethodPost}}
	talk := func(pattern string, handle func(r *http.Request, t *talk) (any, error)) httpio.Route {
		return httpio.Route{
			Pattern: pattern, Access: "voice", CORS: anyone, MaxBody: chatBody,
			Handle: httpio.Value(func(r *http.Request) (any, error) {
				t, err := d.signer.talk(r)
				if err != nil {
					return nil, err
				}
				if err := d.host.mayCall(r, t.widget.company, t.Contact, true); err != nil {
					return nil, err
				}
				return handle(r, t)
			}),
		}
	}
	return []httpio.Route{
		{Pattern: "GET " + voicePath, Access: key, CORS: anyone, Handle: httpio.Value(d.configuration)},
		{Pattern: "GET " + voicePath + "/signed-url", Access: key, CORS: anyone, Handle: httpio.Value(d.signedURL)},
		talk("POST "+voicePath+"/search", d.search), talk("POST "+voicePath+"/handoff", d.handoff),
		talk("POST "+voicePath+"/handoff/end", d.endHandoff),
		talk("GET "+voicePath+"/chat-by-conversation", d.turns), talk("POST "+voicePath+"/feedback", d.rate),
		talk("POST /v1/convai/conversations/{id}/feedback", d.overall),
		{Pattern: "GET " + socketPath, Access: "voice", Stream: true, Handle: d.socket},
	}
}

// configuration returns the configuration for the embed script and the page.
func (d spoken) configuration(r *http.Request) (any, error) {
	q := r.URL.Query()
	if err := checkID("id_widget", q.Get("id_widget")); err != nil {
		return nil, err
	}
	f, _, err := d.host.keyed(r, "voice", "id_widget")
	if err != nil {
		return nil, err
	}
	x, err := d.voiceData(r.Context(), f, q.Get("language"))
	if err != nil {
		return nil, err
	}
	if q.Has("launcher") {
		x.Launcher = f.launcher(x.Language, cmp.Or(x.Texts["button"], x.Name))
	}
	d.host.saw(r.Context(), f, r.Header.Get("Origin"))
	return x, nil
}

// signedURL issues the address of a socket, for the conversation of the request's token or else for the visitor's.
func (d spoken) signedURL(r *http.Request) (any, error) {
	f, p, err := d.host.keyed(r, "voice", "id_widget")
	if err != nil {
		return nil, err
	}
	c, err := d.conversation(r, f)
	if err != nil {
		return nil, err
	}
	s := signing{conversation: c, keyID: p.KeyID, origin: r.Header.Get("Origin")}
	a, err := d.host.agentOf(r.Context(), f)
	if err != nil {
		return nil, err
	}
	if atElevenLabs(a) {
		return d.signer.signAtElevenLabs(r.Context(), a, s)
	}
	return d.signer.sign(r.Context(), s)
}

// conversation returns the conversation for a signed address.
func (d spoken) conversation(r *http.Request, f *companyWidget) (*chats.Conversation, error) {
	if r.URL.Query().Has("access_key") && r.Header.Get("Authorization") != "" {
		t, err := d.signer.talk(r)
		switch {
		case err != nil:
			return nil, err
		case t.Widget != f.ID:
			return nil, carillon.Denied("The conversation is another widget's")
		case hasEnded(t.conversation):
			return nil, carillon.InConflict("The conversation has ended")
		}
		return t.conversation, nil
	}
	start, visitor, err := d.visit(r, f)
	if err != nil {
		return nil, err
	}
	if _, err := d.host.limits.Allow(r.Context(), "visitor/"+f.company.ID+"/"+
		visitor, f.company.Limits.WidgetCallsPerMinute, 1); err != nil {
		return nil, err
	}
	c, _, err := d.conversations.Open(r.Context(), start)
	return c, err
}

// visit returns the start of a visitor's conversation.
func (d spoken) visit(r *http.Request, f *companyWidget) (start conversation.Start, visitor string, err error) {
	q := r.URL.Query()
	visitor = strings.ToLower(q.Get("customer_id"))
	if visitor == "" {
		visitor = carillon.NewID(time.Now())
	} else if err := checkID("customer_id", visitor); err != nil {
		return start, "", err
	}
	lang := canonical(q.Get("language"), f.Language)
	contact, err := f.contact(visitor, lang, q.Get("identity"))
	return conversation.Start{
		Channel: voiceChannel, AgentID: f.Agent, Language: lang, Page: webAddress(clip(q.Get("page"), maxPageLength)), Anew: true,
		Contact: contact,
	}, visitor, err
}

// hasEnded reports whether a conversation has ended for its contact.
func hasEnded(c *chats.Conversation) bool {
	return c.State == chats.Resolved || c.State == chats.WrapUp || c.State == chats.Abandoned
}
