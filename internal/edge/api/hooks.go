package api

import (
	"net/http"
	"slices"

	"carillon/internal/account/auth"
	"carillon/internal/base/httpio"
	"carillon/internal/base/resource"
	"carillon/internal/event/hook"
)

// hooked are the endpoints of webhooks and events: what sends a company's programs what happened.
type hooked struct {
	guard
	hooks *hook.Deliverer
	kinds []resource.Kind
}

func (h hooked) routes() (all []httpio.Route) {
	for _, a := range slices.Concat(h.hooks.Resources(h.kinds), h.hooks.Actions()) {
		scope := auth.EventsRead
		if a.Write {
			scope = auth.WebhooksWrite
		}
		all = append(all, h.valueRoute(a.Method+" "+prefix+a.Path, scope, func(r *http.Request, p *auth.Principal) (any, error) {
			return a.Handle(r, p.Company.ID)
		}))
	}
	return all
}
