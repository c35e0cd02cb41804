package system

import (
	"net/http"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/member"
	"carillon/internal/send/notify"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
)

// maintenance is the maintenance window in a response; both are null when none is set.
type maintenance struct {
	From  *string `json:"from"`
	Until *string `json:"until"`
}

func maintenanceOf(m accounts.Maintenance) maintenance {
	return maintenance{auth.TimeOrNull(m.From), auth.TimeOrNull(m.Until)}
}

// Installation serves the maintenance window and the decision after a restore, to whoever runs the installation.
type Installation struct {
	Gate   *member.Gate
	Store  *store.Store
	Notify *notify.Notify
}

func (p Installation) Routes() []httpio.Route {
	return []httpio.Route{
		p.Gate.Route("GET", "/maintenance", auth.MayReadInstallation, p.showMaintenance),
		p.Gate.Route("POST", "/maintenance", auth.MayOperate, p.startMaintenance),
		p.Gate.Route("DELETE", "/maintenance", auth.MayOperate, p.endMaintenance),
		p.Gate.Route("GET", "/restored", auth.MayOperate, p.showRestored),
		p.Gate.Route("POST", "/restored", auth.MayOperate, p.decideRestored),
	}
}

func (p Installation) showMaintenance(r *http.Request, _ member.Member) (any, error) {
	m, err := p.Store.Accounts.Maintenance(r.Context())
	return maintenanceOf(m), err
}

// maxMaintenance is the limit of a window, so that a typing error does not close the interface for a year.
const maxMaintenance = 7 * 24 * time.Hour

func (p Installation) startMaintenance(r *http.Request, by member.Member) (any, error) {
	if err := member.Operator(r.Context(), p.Store, by); err != nil {
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

func (p Installation) endMaintenance(r *http.Request, by member.Member) (any, error) {
	if err := member.Operator(r.Context(), p.Store, by); err != nil {
		return nil, err
	}
	return nil, p.Store.Accounts.SetMaintenance(r.Context(), accounts.Maintenance{})
}
