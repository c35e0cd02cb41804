package widget

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/base/share"
	"carillon/internal/edge/convai"
	"carillon/internal/edge/httpio"
	"carillon/internal/voice"
)

// checkTalks is the default interval of authorization checks, shorter than the wait of a company's export.
const checkTalks = 4 * time.Second

// socket runs a voice conversation on a WebSocket opened with a signed address.
func (d spoken) socket(w http.ResponseWriter, r *http.Request) error {
	if err := convai.Check(r); err != nil {
		return err
	}
	x, err := d.signer.redeem(r)
	if err != nil {
		return err
	}
	httpio.SetCompany(r.Context(), x.address.CompanyID)
	place, err := httpio.Follow(r, share.Holder{Company: x.address.CompanyID, Visitor: true})
	if err != nil {
		return err
	}
	defer place.Release()
	conn, err := convai.Accept(w, r, convai.Options{Log: httpio.Logger(r.Context(), d.log), Allowed: x.widget.overrides()})
	if err != nil {
		return err
	}
	defer conn.Close()
	return d.hold(r.Context(), conn, x, d.host.address(r))
}

// hold runs the conversation of a socket until it ends.
func (d spoken) hold(ctx context.Context, conn *convai.Conn, x *admitted, network string) error {
	i, err := conn.Initiation(ctx)
	if err != nil {
		return err
	}
	start := voice.Start{
		CompanyID: x.address.CompanyID, ConversationID: x.address.ConversationID, Client: network, Line: conn.Line(), Show: conn.Show,
		Greeting: i.FirstMessage, NoGreeting: i.NoGreeting, Language: i.Language, Variables: i.Variables, ClientTools: true,
	}
	if i.TextOnly {
		start.Line = nil
	}
	a, err := d.host.agentOf(ctx, x.widget)
	if err != nil {
		conn.Refuse(err)
		return err
	}
	by := d.hearing(x.widget.Widget, a, i)
	if by == convai.HearingBrowser {
		start.Browser = voice.NewBrowser(i.Hearing.Track)
	}
	conn.Begin(x.address.ConversationID, by)
	if start.Greeting == "" && !start.NoGreeting {
		start.Greeting = d.greeting(ctx, x, a, canonical(i.Language, x.conversation.Language))
	}
	start.Voice = voiceOf(a, i)
	s, err := d.voices.Open(ctx, start)
	if err != nil {
		conn.Refuse(err)
		return err
	}
	held, stop := context.WithCancel(ctx)
	defer stop()
	go d.watch(held, conn, x)
	client := convai.Client{
		Type: s.Type, Remark: s.Remark, Active: s.Active, ToolResult: s.ToolResult, End: s.End,
		Score: func(turn int64, score string) { d.score(ctx, x, turn, score) },
	}
	if start.Browser != nil {
		client.Hypothesis, client.Browser, client.Detected = s.Hypothesis, s.Browser, s.Detected
	}
	err = conn.Serve(ctx, s.Run, client)
	var e *carillon.Error
	if err != nil && !errors.As(err, &e) && !errors.Is(err, context.Canceled) {
		httpio.Logger(ctx, d.log).ErrorContext(ctx, "hold a talk", "conversation", x.address.ConversationID, "error", err)
	}
	return err
}

// hearing returns who recognizes the person's speech; "" for a client that does not offer its browser.
func (d spoken) hearing(w *Widget, a *agent.Agent, i *convai.Initiation) string {
	if i.Hearing == nil {
		return ""
	}
	_, server := d.speaks(a)
	switch {
	case i.TextOnly:
		return convai.HearingNone
	case server:
		return convai.HearingServer
	case i.Hearing.Local || w.Hearing == HearingBrowser:
		return convai.HearingBrowser
	}
	return convai.HearingNone
}

// watch ends a conversation whose company, widget or access key is no longer valid.
func (d spoken) watch(ctx context.Context, conn *convai.Conn, x *admitted) {
	tick := time.NewTicker(cmp.Or(d.checkEvery, checkTalks))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		f, err := d.signer.widgetOf(ctx, x.conversation)
		if err == nil && f.company.Refusal() != nil {
			conn.Refuse(f.company.Refusal())
			return
		}
		if err == nil {
			err = d.signer.checkAuthorization(ctx, x.address.KeyID, f)
		}
		var e *carillon.Error
		if errors.As(err, &e) && e.Code.Status() < http.StatusInternalServerError {
			conn.Refuse(err)
			return
		}
	}
}

// greeting returns the widget's welcome if the agent has no greeting in the language. It returns "" to use the agent's
// own greeting.
func (d spoken) greeting(ctx context.Context, x *admitted, a *agent.Agent, lang string) string {
	if a != nil && a.Greeting != "" && sameLanguage(a.Language, lang) {
		return ""
	}
	return d.host.welcome(ctx, x.widget.Widget, lang)
}

// voiceOf returns the agent's voice with the client's overrides, or nil if there are none.
func voiceOf(a *agent.Agent, i *convai.Initiation) *agent.Voice {
	if a == nil || i.Voice == "" && i.Speed == 0 {
		return nil
	}
	v := a.Voice.Settings()
	if i.Voice != "" {
		v.Name = i.Voice
	}
	if i.Speed != 0 {
		v.Speed = i.Speed
	}
	return v
}

// score records the visitor's like or dislike of a response.
func (d spoken) score(ctx context.Context, x *admitted, turn int64, score string) {
	if err := d.conversations.Score(ctx, x.address.CompanyID, x.address.ConversationID, turn, score); err != nil {
		httpio.Logger(ctx, d.log).WarnContext(ctx, "record how a response was found", "error", err)
	}
}

// overall records a visitor's rating of a conversation in the format of ElevenLabs' clients. Those clients send no
// credential, but the conversation's token is required nevertheless, because the id is not a credential.
func (d spoken) overall(r *http.Request, t *talk) (any, error) {
	if !strings.EqualFold(r.PathValue("id"), t.Conversation) {
		return nil, carillon.Denied("The session token is for another conversation")
	}
	body, err := httpio.Object(r)
	if err != nil {
		return nil, err
	}
	feedback, present, err := body.String("feedback", "feedback")
	if err != nil {
		return nil, err
	}
	rating := 0
	switch {
	case !present:
		return d.chat.rated(r, t.session, body)
	case feedback == "like":
		rating = best
	case feedback == "dislike":
		rating = worst
	default:
		return nil, carillon.Invalid("feedback", "Must be like or dislike")
	}
	return nil, d.conversations.Rate(r.Context(), t.Company, t.Conversation, rating, "")
}

const worst, best = 1, 5
