package panel

import (
	"net/http"

	"carillon/internal/account/auth"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/member"
	"carillon/internal/edge/webhooks"
)

// hookRoutes are what members do with the endpoints of webhooks, and the events of the company. The endpoints themselves are
// resources.
func hookRoutes(g *member.Gate, table []webhooks.Action) (all []httpio.Route) {
	for _, a := range table {
		if a.PanelPath == "" {
			continue
		}
		needed := auth.MayReadWebhooks
		if a.Write {
			needed = auth.MayWriteWebhooks
		}
		handle := func(r *http.Request, by member.Member) (any, error) { return a.Handle(r, by.CompanyID) }
		all = append(all, g.Route(a.Method, a.PanelPath, needed, handle))
	}
	return all
}
