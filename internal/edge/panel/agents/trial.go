package agents

import (
	"context"
	"net/http"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/talk/conversation"
)

// Trial is who tries an agent aloud, from a page of that origin.
type Trial struct{ CompanyID, AccountID, Name, Origin string }

// Trials open talks of teammates with agents. The address is what the response shows.
type Trials interface {
	TalkTo(ctx context.Context, by Trial, agentID, language string) (address any, conversationID string, err error)
}

// Trying lets an administrator talk aloud with an agent as it is stored.
type Trying struct {
	Gate          *member.Gate
	Store         *store.Store
	Trials        Trials
	Conversations *conversation.Conversations
}

// talkTo gives out the address of a socket on which the caller talks with an agent as a visitor would.
func (x Trying) talkTo(r *http.Request, by member.Member) (any, error) {
	a, err := agentOf(r, x.Store, by)
	if err != nil {
		return nil, err
	}
	if a.Engine == "elevenlabs" {
		return nil, carillon.InConflict("The agent talks elsewhere")
	}
	o, err := form.Object(r, "language")
	if err != nil {
		return nil, err
	}
	language, err := form.Language(o, a.Language)
	if err != nil {
		return nil, err
	}
	address, id, err := x.Trials.TalkTo(r.Context(), Trial{by.CompanyID, by.AccountID, by.Name, r.Header.Get("Origin")}, a.ID, language)
	if err == nil {
		_, err = x.Conversations.Desk.Tag(r.Context(), by.CompanyID, id, []string{testTag})
	}
	return address, err
}

// testTag marks conversations that a teammate holds with an agent to try it.
const testTag = "test"

func (x Trying) Routes() []httpio.Route {
	return []httpio.Route{x.Gate.Route("POST", "/agents/{id}/talk", auth.MayWriteResources, x.talkTo)}
}
