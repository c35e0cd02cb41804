package panel

import (
	"net/http"
	"time"

	"carillon/internal/store/accounts"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/httpio"
)

// maintenance is the maintenance window in a response; both are null when none is set.
type maintenance struct {
	From  *string `json:"from"`
	Until *string `json:"until"`
}

func maintenanceOf(m accounts.Maintenance) maintenance {
	return maintenance{auth.TimeOrNull(m.From), auth.TimeOrNull(m.Until)}
}

// operator admits only owners of the installation's first company, because maintenance concerns every company.
func (p *Panel) operator(r *http.Request, by member) error {
	first, err := p.Store.Accounts.OldestCompany(r.Context())
	if err != nil {
		return err
	}
	if by.role != auth.Owner || by.companyID != first {
		return carillon.Denied("Only an owner of the installation's first company may do this")
	}
	return nil
}

func (p *Panel) showMaintenance(r *http.Request, _ member) (any, error) {
	m, err := p.Store.Accounts.Maintenance(r.Context())
	return maintenanceOf(m), err
}

// maxMaintenance is the limit of a window, so that a typing error does not close the interface for a year.
const maxMaintenance = 7 * 24 * time.Hour

func (p *Panel) startMaintenance(r *http.Request, by member) (any, error) {
	if err := p.operator(r, by); err != nil {
		return nil, err
	}
	o, err := httpio.Object(r)
	if err != nil {
		return nil, err
	}
	const field = "until"
	text, err := o.Find(field).Required(field)
	if err != nil {
		return nil, err
	}
	until, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, carillon.BadFormat(field, text, "RFC 3339 date-time", "2030-01-31T09:00:00Z")
	}
	now := time.Now()
	if !until.After(now) || until.Sub(now) > maxMaintenance {
		return nil, carillon.InvalidValue(field, "In the future and within seven days", text)
	}
	m := accounts.Maintenance{From: now, Until: until}
	return maintenanceOf(m), p.Store.Accounts.SetMaintenance(r.Context(), m)
}

func (p *Panel) endMaintenance(r *http.Request, by member) (any, error) {
	if err := p.operator(r, by); err != nil {
		return nil, err
	}
	return nil, p.Store.Accounts.SetMaintenance(r.Context(), accounts.Maintenance{})
}
