package system

import (
	"net/http"
	"time"

	"carillon"
	"carillon/internal/base/httpio"
	"carillon/internal/edge/panel/member"
)

// firstStep is something that a new company does once, and whether it has been done.
type firstStep struct {
	Step string `json:"step"`
	Done bool   `json:"done"`
}

// firstSteps responds with the first steps of a company, as the database has them.
func (x Attention) firstSteps(r *http.Request, by member.Member) (any, error) {
	ctx, now := r.Context(), time.Now()
	senders, err := x.Store.Senders(ctx, by.CompanyID)
	if err != nil {
		return nil, err
	}
	approved := false
	for _, s := range senders {
		templates, err := x.Store.Templates(ctx, s.UID)
		if err != nil {
			return nil, err
		}
		for _, t := range templates {
			approved = approved || t.Status == carillon.TemplateApproved
		}
	}
	keys, err := x.Store.UsableKeys(ctx, by.CompanyID, now)
	if err != nil {
		return nil, err
	}
	delivered, err := x.Store.Stats().AnyDelivered(ctx, by.CompanyID)
	if err != nil {
		return nil, err
	}
	placed, err := x.Store.Chats().AnyVisitor(ctx, by.CompanyID)
	if err != nil {
		return nil, err
	}
	members, err := x.Store.Members(ctx, by.CompanyID, "", 2)
	if err != nil {
		return nil, err
	}
	return httpio.RowsOf([]firstStep{
		{"sender", len(senders) > 0}, {"template", approved}, {"key", len(keys) > 0}, {"delivered", delivered}, {"widget", placed}, {"teammate", len(members) > 1},
	}), nil
}
