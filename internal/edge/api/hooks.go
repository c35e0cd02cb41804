package api

import (
	"net/http"

	"carillon/internal/account/auth"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/webhooks"
)

// hookRoutes returns the routes of webhooks and events, which inform a company's programs of state changes.
func hookRoutes(g guard, d Deps) (all []httpio.Route) {
	for _, a := range webhooks.Table(d.Store, d.Hooks, d.Kinds) {
		scope := auth.EventsRead
		if a.Write {
			scope = auth.WebhooksWrite
		}
		all = append(all, g.valueRoute(a.Method+" "+prefix+a.Path, scope, func(r *http.Request, p *auth.Principal) (any, error) {
			return a.Handle(r, p.Company.ID)
		}))
	}
	return all
}
