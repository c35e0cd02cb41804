package agents

import (
	"context"
	"net/http"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/edge/widget"
	"carillon/internal/store"
	"carillon/internal/talk/conversation"
)

// Trials open talks of teammates with agents.
type Trials interface {
	TalkTo(ctx context.Context, by widget.Teammate, agentID, language string) (*widget.Signed, error)
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
	teammate := widget.Teammate{CompanyID: by.CompanyID, AccountID: by.AccountID, Name: by.Name, Origin: r.Header.Get("Origin")}
	signed, err := x.Trials.TalkTo(r.Context(), teammate, a.ID, language)
	if err != nil {
		return nil, err
	}
	_, err = x.Conversations.Tag(r.Context(), by.CompanyID, signed.ConversationID, []string{testTag})
	return signed, err
}

// testTag marks conversations that a teammate holds with an agent to try it.
const testTag = "test"

func (x Trying) Routes() []httpio.Route {
	return []httpio.Route{x.Gate.Route("POST", "/agents/{id}/talk", auth.MayWriteResources, x.talkTo)}
}
