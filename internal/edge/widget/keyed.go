package widget

import (
	"errors"
	"net/http"
	"strings"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/edge/httpio"
)

// keyed authenticates a request by its access key, and returns the widget whose id is in a parameter. Errors:
// unauthorized, forbidden, validation_failed, rate_limit_exceeded, not_found.
func (h *host) keyed(r *http.Request, kind, parameter string) (*companyWidget, *auth.Principal, error) {
	q := r.URL.Query()
	p, err := h.auth.Principal(
		r.Context(), auth.PresentedKey{Key: q.Get("access_key"), Present: q.Has("access_key")}, r.Header.Get("Authorization"),
	)
	if err != nil {
		if k, ok := errors.AsType[*auth.FormerKey](err); ok { // the company should see the use of a former key
			httpio.SetCompany(r.Context(), k.CompanyID)
			httpio.SetKey(r.Context(), k.ID)
		}
		return nil, nil, err
	}
	httpio.SetCompany(r.Context(), p.Company.ID)
	httpio.SetKey(r.Context(), p.KeyID)
	if err := p.Company.Refusal(); err != nil {
		return nil, nil, err
	}
	if !p.Allows(auth.WidgetUse) {
		return nil, nil, lacksScope()
	}
	if err := checkID(parameter, q.Get(parameter)); err != nil {
		return nil, nil, err
	}
	if _, err := h.limits.Allow(r.Context(), "widget/"+p.Company.ID+"/"+
		h.address(r), p.Company.Limits.WidgetCallsPerMinute, 1); err != nil {
		return nil, nil, err
	}
	f, err := h.find(r.Context(), "", strings.ToLower(q.Get(parameter)))
	switch {
	case err != nil:
		return nil, nil, err
	case f != nil && f.company.ID != p.Company.ID:
		return nil, nil, carillon.Denied("The widget belongs to another company")
	case f == nil || f.Kind != kind:
		return nil, nil, carillon.Absent(strings.ToUpper(kind[:1]) + kind[1:] + " widget")
	}
	return f, p, h.mayUse(r, f)
}

// checkID checks a required UUID.
func checkID(field, id string) error {
	switch {
	case id == "":
		return carillon.Missing(field)
	case !carillon.ValidUUID(id):
		return carillon.BadFormat(field, carillon.Shorten(id), "UUID", "1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e21")
	}
	return nil
}

func lacksScope() error {
	return carillon.Denied("The access key lacks the scope " + string(auth.WidgetUse))
}
