package panel

import (
	"net/http"

	"carillon/internal/account/auth"
	"carillon/internal/base/httpio"
)

// hookRoutes are what can be done with the endpoints of webhooks, and the events of the company; the endpoints themselves are resources. What
// whoever pulls asks for has the path of its own that it has in the interface, under /webhooks.
func (p *Panel) hookRoutes() (all []httpio.Route) {
	for _, a := range p.Hooks.Actions() {
		needed := auth.MayReadWebhooks
		if a.Write {
			needed = auth.MayWriteWebhooks
		}
		path := a.Path
		if len(path) >= 7 && path[:7] == "/events" { // /panel/v1/events is the stream of the panel's screens
			path = "/webhook-events" + path[7:]
		}
		all = append(all, p.route(a.Method, path, needed, func(r *http.Request, by member) (any, error) { return a.Handle(r, by.companyID) }))
	}
	return all
}
