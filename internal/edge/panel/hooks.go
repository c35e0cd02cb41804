package panel

import (
	"net/http"

	"carillon/internal/account/auth"
	"carillon/internal/base/httpio"
	"carillon/internal/edge/panel/member"
	"carillon/internal/event/hook"
)

// hookRoutes are what can be done with the endpoints of webhooks, and the events of the company; the endpoints themselves are resources. What
// whoever pulls asks for has the path of its own that it has in the interface, under /webhooks.
func hookRoutes(g *member.Gate, hooks *hook.Deliverer) (all []httpio.Route) {
	for _, a := range hooks.Actions() {
		needed := auth.MayReadWebhooks
		if a.Write {
			needed = auth.MayWriteWebhooks
		}
		path := a.Path
		if len(path) >= 7 && path[:7] == "/events" { // /panel/v1/events is the stream of the panel's screens
			path = "/webhook-events" + path[7:]
		}
		all = append(all, g.Route(a.Method, path, needed, func(r *http.Request, by member.Member) (any, error) { return a.Handle(r, by.CompanyID) }))
	}
	return all
}
