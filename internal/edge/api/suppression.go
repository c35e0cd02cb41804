package api

import (
	"net/http"
	"time"
	"unicode/utf8"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/identity"
	"carillon/internal/edge/httpio"
	"carillon/internal/store"
	"carillon/internal/store/settings"
)

// suppressedByHand is the default reason of a suppression by a caller.
const suppressedByHand = "manual"

// maxSuppressionReason limits a caller's reason, in code points.
const maxSuppressionReason = 255

// suppressionList serves the endpoints of the company's suppressed numbers.
type suppressionList struct {
	guard
	store *store.Store
}

func (s suppressionList) routes() []httpio.Route {
	return []httpio.Route{
		route("GET "+prefix+"/suppressions", "key:"+string(auth.NotifyRead), httpio.Value(s.list)),
		s.valueRoute("POST "+prefix+"/suppressions", auth.SuppressionsWrite, s.suppress),
		s.valueRoute("DELETE "+prefix+"/suppressions/{number}", auth.SuppressionsWrite, s.unsuppress),
	}
}

type suppressionRow struct {
	Number    string `json:"number"` // empty if unknown
	Reason    string `json:"reason"`
	CreatedAt string `json:"created_at"`
	Type      string `json:"type"`
	UserID    string `json:"user_id,omitempty"` // the channel's id of the person
}

func rowOf(x settings.Suppression) suppressionRow {
	return suppressionRow{x.Number, x.Reason, carillon.FormatTime(x.CreatedAt), string(x.Type), x.UserID}
}

const suppressionCursor = "suppression"

// list requires the scope suppressions:write or notify:read.
func (s suppressionList) list(r *http.Request) (any, error) {
	p, err := s.principal(r, auth.SuppressionsWrite)
	if carillon.IsCode(err, carillon.Forbidden) {
		p, err = s.principal(r, auth.NotifyRead)
	}
	if err != nil {
		return nil, err
	}
	page, err := httpio.ReadPage(r.URL.Query(), suppressionCursor)
	if err != nil {
		return nil, err
	}
	found, err := s.store.Suppressions.Suppressions(r.Context(), p.Company.ID, page.After, page.Limit+1)
	return httpio.ListOf(page, suppressionCursor, found, func(x settings.Suppression) string { return x.Address() }, rowOf), err
}

// suppress adds a number, for all types. If the number is already suppressed for all types, in any form, it responds
// with the stored entry.
func (s suppressionList) suppress(r *http.Request, p *auth.Principal) (any, error) {
	number, reason, err := readSuppression(r)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	if err := s.store.Suppressions.Suppress(r.Context(), p.Company.ID, settings.SuppressAll, reason, now, number); err != nil {
		return nil, err
	}
	x, err := s.store.Suppressions.Suppression(r.Context(), p.Company.ID, identity.Number(number))
	switch {
	case carillon.IsCode(err, carillon.NotFound): // another request has removed it in the meantime
		x = &settings.Suppression{Number: number, Type: settings.SuppressAll, Reason: reason, CreatedAt: now}
	case err != nil:
		return nil, err
	}
	return rowOf(*x), nil
}

func readSuppression(r *http.Request) (number, reason string, err error) {
	o, err := httpio.Object(r)
	if err != nil {
		return "", "", err
	}
	number, present, err := o.String("number", "number")
	switch {
	case err != nil:
		return "", "", err
	case !present || number == "":
		return "", "", carillon.Missing("number")
	case !carillon.ValidNumber(number):
		return "", "", carillon.BadNumber("number", carillon.Shorten(number))
	}
	reason, _, err = o.String("reason", "reason")
	switch {
	case err != nil:
		return "", "", err
	case reason == "":
		reason = suppressedByHand
	case utf8.RuneCountInString(reason) > maxSuppressionReason:
		return "", "", carillon.Invalid("reason", "At most 255 characters")
	}
	return number, reason, nil
}

func (s suppressionList) unsuppress(r *http.Request, p *auth.Principal) (any, error) {
	address := r.PathValue("number")
	if !carillon.ValidNumber(address) && !identity.ValidUser(address) {
		return nil, carillon.Absent("Suppression")
	}
	removed, err := s.store.Suppressions.Unsuppress(r.Context(), p.Company.ID, identity.Of(address))
	if err == nil && !removed {
		err = carillon.Absent("Suppression")
	}
	return nil, err
}
