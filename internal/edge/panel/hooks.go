package panel

import (
	"net/http"

	"carillon/internal/account/auth"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/member"
	"carillon/internal/edge/webhooks"
)

// hookRoutes returns the routes for members' actions on webhooks, and for the company's events. The webhooks
// themselves are resources.
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
		all = append(all, member.Route(g, a.Method, a.PanelPath, needed, handle).Giving(a.Gives))
	}
	return all
}
