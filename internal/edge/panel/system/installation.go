package system

import (
	"net/http"
	"slices"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/member"
	"carillon/internal/send/notify"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
)

// maintenance is the maintenance window in a response. Both fields are null if none is set.
type maintenance struct {
	From  *string `json:"from"`
	Until *string `json:"until"`
}

func maintenanceOf(m accounts.Maintenance) maintenance {
	return maintenance{auth.TimeOrNull(m.From), auth.TimeOrNull(m.Until)}
}

// Installation serves the maintenance window and the decision after a restore, to the operator of the installation.
type Installation struct {
	Gate   *member.Gate
	Store  *store.Store
	Notify *notify.Notify
}

func (p Installation) Routes() []httpio.Route {
	return []httpio.Route{
		member.Route(p.Gate, "GET", "/maintenance", auth.MayReadInstallation, p.showMaintenance),
		member.Route(p.Gate, "POST", "/maintenance", auth.MayOperate, p.startMaintenance),
		member.Route(p.Gate, "DELETE", "/maintenance", auth.MayOperate, p.endMaintenance),
		member.Route(p.Gate, "GET", "/restored", auth.MayOperate, p.showRestored),
		member.Route(p.Gate, "POST", "/restored", auth.MayOperate, p.decideRestored),
	}
}

func (p Installation) showMaintenance(r *http.Request, _ member.Member) (maintenance, error) {
	m, err := p.Store.Accounts.Maintenance(r.Context())
	return maintenanceOf(m), err
}

// maxMaintenance limits a window, so that a typo cannot close the interface for a year.
const maxMaintenance = 7 * 24 * time.Hour

func (p Installation) startMaintenance(r *http.Request, by member.Member) (maintenance, error) {
	if err := member.Operator(r.Context(), p.Store, by); err != nil {
		return maintenance{}, err
	}
	o, err := httpio.Object(r)
	if err != nil {
		return maintenance{}, err
	}
	const field = "until"
	text, err := o.Find(field).Required(field)
	if err != nil {
		return maintenance{}, err
	}
	until, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return maintenance{}, carillon.BadFormat(field, text, "RFC 3339 date-time", "2030-01-31T09:00:00Z")
	}
	now := time.Now()
	if !until.After(now) || until.Sub(now) > maxMaintenance {
		return maintenance{}, carillon.InvalidValue(field, "In the future and within seven days", text)
	}
	m := accounts.Maintenance{From: now, Until: until}
	return maintenanceOf(m), p.Store.Accounts.SetMaintenance(r.Context(), m)
}

func (p Installation) endMaintenance(r *http.Request, by member.Member) (httpio.None, error) {
	if err := member.Operator(r.Context(), p.Store, by); err != nil {
		return nil, err
	}
	return nil, p.Store.Accounts.SetMaintenance(r.Context(), accounts.Maintenance{})
}

// restored is the state after a restore in a response. restored_at is null if there is nothing to decide.
type restored struct {
	At   *string    `json:"restored_at"`
	Held []heldBack `json:"held"`
}

type heldBack struct {
	Company  string `json:"company"`
	Name     string `json:"name"`
	Messages int    `json:"messages"`
}

func (p Installation) showRestored(r *http.Request, by member.Member) (restored, error) {
	if err := member.Operator(r.Context(), p.Store, by); err != nil {
		return restored{}, err
	}
	shown := restored{Held: []heldBack{}}
	x, err := p.Store.Restored(r.Context())
	if err != nil || x == nil {
		return shown, err
	}
	shown.At = auth.TimeOrNull(x.At)
	for _, h := range x.Held {
		c, err := p.Store.Accounts.Company(r.Context(), h.CompanyID)
		if err != nil {
			return restored{}, err
		}
		shown.Held = append(shown.Held, heldBack{h.CompanyID, c.Name, h.Messages})
	}
	return shown, nil
}

// decidedHeld counts the messages that a request decided, and those left.
type decidedHeld struct {
	Decided int `json:"decided"`
	Held    int `json:"held"`
}

// decideRestored sends or fails the held messages of one company or of all, for a few seconds per request. `held` in
// the response is the number left for further requests.
func (p Installation) decideRestored(r *http.Request, by member.Member) (decidedHeld, error) {
	if err := member.Operator(r.Context(), p.Store, by); err != nil {
		return decidedHeld{}, err
	}
	send, company, err := readRestoredDecision(r)
	if err != nil {
		return decidedHeld{}, err
	}
	x, err := p.Store.Restored(r.Context())
	if err != nil {
		return decidedHeld{}, err
	}
	if x == nil {
		return decidedHeld{}, carillon.InConflict("Nothing is held: the database was not restored, or all has been decided")
	}
	decided, more := 0, false
	for _, h := range heldOf(x.Held, company) {
		n, all, err := p.Notify.DecideRestored(r.Context(), h.CompanyID, send)
		if err != nil {
			return decidedHeld{}, err
		}
		if decided += n; !all {
			more = true
			break
		}
	}
	if !more {
		if _, err := p.Store.Unmark(r.Context()); err != nil {
			return decidedHeld{}, err
		}
	}
	left := 0
	if x, err = p.Store.Restored(r.Context()); err != nil {
		return decidedHeld{}, err
	}
	if x != nil {
		for _, h := range heldOf(x.Held, company) {
			left += h.Messages
		}
	}
	return decidedHeld{decided, left}, nil
}

// heldOf returns the companies affected by a decision: one, or all if company is empty.
func heldOf(all []store.HeldBack, company string) []store.HeldBack {
	if company == "" {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(h store.HeldBack) bool { return h.CompanyID != company })
}

func readRestoredDecision(r *http.Request) (send bool, company string, err error) {
	o, err := httpio.Object(r)
	if err != nil {
		return false, "", err
	}
	const field = "decision"
	text, given, err := o.String(field, field)
	if err == nil && !given {
		err = carillon.Missing(field)
	}
	if err == nil && text != "send" && text != "fail" {
		err = carillon.InvalidValue(field, "Must be send or fail", text)
	}
	if err != nil {
		return false, "", err
	}
	company, given, err = o.String("company", "company")
	if err == nil && given && !carillon.ValidUUID(company) {
		err = carillon.InvalidValue("company", "Must be the id of a company", company)
	}
	return text == "send", company, err
}
