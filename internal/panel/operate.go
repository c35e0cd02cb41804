package panel

import (
	"net/http"
	"strings"
	"time"

	"carillon"
	"carillon/internal/auth"
	"carillon/internal/httpio"
	"carillon/internal/jsonbody"
	"carillon/internal/notify"
	"carillon/internal/store"
)

// timeline responds with the events of a notification as a whole; states of its messages are not among them.
func (p *Panel) timeline(w http.ResponseWriter, r *http.Request, by member) error {
	id := strings.ToLower(r.PathValue("id"))
	if !carillon.ValidUUID(id) {
		return carillon.Absent("Notification")
	}
	events, err := p.Notify.Timeline(r.Context(), by.companyID, id)
	if err != nil {
		return err
	}
	return httpio.JSON(w, http.StatusOK, struct {
		Data []notify.Event `json:"data"`
	}{events})
}

// maintenance is the maintenance window in a response; both are null when none is set.
type maintenance struct {
	From  *string `json:"from"`
	Until *string `json:"until"`
}

func maintenanceOf(m store.Maintenance) maintenance {
	if m.Until.IsZero() {
		return maintenance{}
	}
	from, until := carillon.FormatTime(m.From), carillon.FormatTime(m.Until)
	return maintenance{&from, &until}
}

// operator admits only owners of the installation's first company, because maintenance concerns every company.
func (p *Panel) operator(r *http.Request, by member) error {
	first, err := p.Store.OldestCompany(r.Context())
	if err != nil {
		return err
	}
	if by.role != auth.Owner || by.companyID != first {
		return carillon.Denied("Only an owner of the installation's first company may do this")
	}
	return nil
}

func (p *Panel) showMaintenance(w http.ResponseWriter, r *http.Request, _ member) error {
	m, err := p.Store.Maintenance(r.Context())
	if err != nil {
		return err
	}
	return httpio.JSON(w, http.StatusOK, maintenanceOf(m))
}

// maxMaintenance is the limit of a window, so that a typing error does not close the interface for a year.
const maxMaintenance = 7 * 24 * time.Hour

func (p *Panel) startMaintenance(w http.ResponseWriter, r *http.Request, by member) error {
	if err := p.operator(r, by); err != nil {
		return err
	}
	body, err := httpio.Body(w, r)
	if err != nil {
		return err
	}
	o, err := jsonbody.Parse(body)
	if err != nil {
		return err
	}
	const field = "until"
	text, given, err := o.String(field, field)
	if err != nil {
		return err
	}
	if !given || strings.TrimSpace(text) == "" {
		return carillon.Missing(field)
	}
	until, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return carillon.BadFormat(field, text, "RFC 3339 date-time", "2030-01-31T09:00:00Z")
	}
	now := time.Now()
	if !until.After(now) || until.Sub(now) > maxMaintenance {
		return carillon.InvalidValue(field, "In the future and within seven days", text)
	}
	m := store.Maintenance{From: now, Until: until}
	if err := p.Store.SetMaintenance(r.Context(), m); err != nil {
		return err
	}
	return httpio.JSON(w, http.StatusOK, maintenanceOf(m))
}

func (p *Panel) endMaintenance(w http.ResponseWriter, r *http.Request, by member) error {
	if err := p.operator(r, by); err != nil {
		return err
	}
	if err := p.Store.SetMaintenance(r.Context(), store.Maintenance{}); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
