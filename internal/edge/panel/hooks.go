package panel

import (
	"net/http"

	"carillon/internal/account/auth"
	"carillon/internal/base/httpio"
	"carillon/internal/edge/webhooks"
)

// hookRoutes are what members do with the endpoints of webhooks, and the events of the company. The endpoints themselves are
// resources.
func (p *Panel) hookRoutes() (all []httpio.Route) {
	for _, a := range webhooks.Table(p.Store, p.Hooks, p.Kinds) {
		if a.PanelPath == "" {
			continue
		}
		needed := auth.MayReadWebhooks
		if a.Write {
			needed = auth.MayWriteWebhooks
		}
		handle := func(r *http.Request, by member) (any, error) { return a.Handle(r, by.companyID) }
		all = append(all, p.route(a.Method, a.PanelPath, needed, handle))
	}
	return all
}
