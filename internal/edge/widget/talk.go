package widget

import (
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"carillon"
	"carillon/internal/agent/knowledge"
	"carillon/internal/edge/httpio"
	"carillon/internal/store/chats"
	"carillon/internal/talk/conversation"
)

const (
	maxQuery   = 500 // characters
	maxResults = 20
)

// talk is the voice conversation of a request's token.
type talk struct {
	*session
	conversation *chats.Conversation
	widget       *companyWidget
}

// talk returns the voice conversation of a request. Errors: unauthorized, also an hour after the conversation's end;
// forbidden.
func (g signer) talk(r *http.Request) (*talk, error) {
	s, err := g.host.claims(r, voiceAudience)
	if err != nil {
		return nil, err
	}
	httpio.SetCompany(r.Context(), s.Company)
	c, err := g.chats.Find(r.Context(), s.Company, s.Conversation)
	switch {
	case carillon.IsCode(err, carillon.NotFound):
		return nil, carillon.NoAccess("The conversation is gone", "revoked")
	case err != nil:
		return nil, err
	case hasEnded(c) && time.Since(c.StateAt) > keptAfter:
		return nil, carillon.NoAccess("The session token is expired", "expired")
	}
	f, err := g.widgetOf(r.Context(), c)
	if err != nil {
		return nil, err
	}
	return &talk{s, c, f}, g.host.mayUse(r, f)
}

// results is the response to a search.
type results struct {
	Results []result `json:"results"`
}

type result struct {
	Title string  `json:"title"`
	Text  string  `json:"text"`
	URL   string  `json:"url"`
	Score float64 `json:"score"`
}

// search searches the agent's knowledge.
func (d spoken) search(r *http.Request, t *talk) (any, error) {
	body, err := httpio.Object(r)
	if err != nil {
		return nil, err
	}
	text, _, err := body.String("query", "query")
	if err != nil {
		return nil, err
	}
	limit := 5
	if body.Find("limit").Present() {
		if limit, err = whole(body, "limit", maxResults); err != nil {
			return nil, err
		}
	}
	switch text = conversation.Clean(text); {
	case text == "":
		return nil, carillon.Missing("query")
	case utf8.RuneCountInString(text) > maxQuery:
		return nil, carillon.Invalid("query", "At most 500 characters")
	case limit == 0:
		return nil, carillon.Invalid("limit", "Must be a whole number from 1 to 20")
	}
	all := results{Results: []result{}}
	a, err := d.host.agentOf(r.Context(), t.widget)
	if err != nil || a == nil {
		return all, err
	}
	hits, err := d.knowledge.Find(r.Context(), knowledge.Query{
		CompanyID: t.Company, Knowledge: a.Knowledge, Text: text, Language: t.conversation.Language, Limit: limit,
	})
	for _, h := range hits {
		all.Results = append(all.Results, result{h.Title, h.Excerpt, h.URL, h.Score})
	}
	return all, err
}

// handoff requests a teammate. The teammate talks on the visitor's socket; there is no other channel.
func (d spoken) handoff(r *http.Request, t *talk) (any, error) {
	x, err := d.chat.ask(r, t.session, t.widget)
	return voiceState{x.State, x.Position}, err
}

// voiceState is the state of a voice conversation.
type voiceState struct {
	State    chats.State `json:"state"`
	Position int         `json:"position,omitempty"` // place in the queue, from 1
}

// endHandoff withdraws the request for a teammate, or takes the conversation back from one.
func (d spoken) endHandoff(r *http.Request, t *talk) (any, error) {
	c, err := d.conversations.CallOff(r.Context(), t.Company, t.Conversation)
	if err != nil {
		return nil, err
	}
	return voiceState{State: c.State}, nil
}

// turnsView is a conversation with its turns.
type turnsView struct {
	ConversationID string      `json:"conversation_id"`
	State          chats.State `json:"state"`
	Turns          []turnView  `json:"turns"`
}

// turns responds with the newest turns that the visitor may see.
func (d spoken) turns(r *http.Request, t *talk) (any, error) {
	switch id := strings.ToLower(r.URL.Query().Get("conversation_id")); id {
	case t.Conversation:
	case "":
		return nil, carillon.Missing("conversation_id")
	default:
		return nil, carillon.Denied("The session token is for another conversation")
	}
	turns, err := d.chat.history(r.Context(), t.conversation)
	for i := range turns {
		turns[i].Score = "" // part of the chat page's responses only
	}
	return turnsView{t.Conversation, t.conversation.State, turns}, err
}

// rate records the visitor's rating of the conversation.
func (d spoken) rate(r *http.Request, t *talk) (any, error) {
	return d.chat.rate(r, t.session, t.widget)
}
