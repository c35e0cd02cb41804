// Package sending serves what a company sends: notifications, jobs that send to the people of a file, campaigns, figures, and the numbers
// that are skipped. Start with Send.
package sending

import (
	"encoding/json"
	"net/http"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/httpio"
	"carillon/internal/edge/panel/member"
	"carillon/internal/send/notify"
	"carillon/internal/store"
)

// Send accepts notifications from the page that sends one, with the checks and errors of `POST notify`.
type Send struct {
	Gate   *member.Gate
	Store  *store.Store
	Notify *notify.Notify
}

func (x Send) Routes() []httpio.Route {
	return []httpio.Route{
		x.Gate.Raw("POST", "/notifications", auth.MaySendNotifications, x.send),
	}
}

// send accepts a notification. The page gives each attempt an idempotency key of its own, so that a second click sends nothing.
func (x Send) send(w http.ResponseWriter, r *http.Request, by member.Member) error {
	company, err := x.open(r, by)
	if err != nil {
		return err
	}
	key, err := httpio.IdempotencyKey(r)
	if err != nil {
		return err
	}
	if key == "" {
		return carillon.Missing("Idempotency-Key")
	}
	sub := &notify.Submission{Company: company, Channel: carillon.Messaging, Route: "panel/notifications", IdempotencyKey: key}
	if sub.Body, err = httpio.Body(r); err != nil {
		return err
	}
	sub.Hash = httpio.ContentHash(r.URL.Query(), sub.Body)
	a, done, err := x.Notify.Repeat(r.Context(), company.ID, sub.Route, key, sub.Hash)
	if err != nil {
		return err
	}
	defer done()
	if a.Replayed {
		return httpio.Repeatable(w, a.JSON, true)
	}
	if _, err := x.Gate.Limits.Allow(r.Context(), "send panel "+by.CompanyID, company.Limits.SendsPerMinute, 1); err != nil {
		return err
	}
	if a, err = x.Notify.Accept(r.Context(), sub); err != nil {
		return err
	}
	return httpio.Repeatable(w, a.JSON, a.Replayed)
}

// open returns the company of a member whose messages may be accepted now.
func (x Send) open(r *http.Request, by member.Member) (*carillon.Company, error) {
	if err := notify.UnderMaintenance(r.Context(), x.Store); err != nil {
		return nil, err
	}
	if err := x.Store.Full(); err != nil {
		return nil, err
	}
	return x.Store.Company(r.Context(), by.CompanyID)
}

// Accept accepts what a member of the company sends, and returns the notification's id.
func (x Send) Accept(r *http.Request, by member.Member, s *notify.Submission) (id string, err error) {
	if err := notify.UnderMaintenance(r.Context(), x.Store); err != nil {
		return "", err
	}
	if s.Company, err = x.Store.Company(r.Context(), by.CompanyID); err != nil {
		return "", err
	}
	if err := x.Store.Full(); err != nil {
		return "", err
	}
	if _, err := x.Gate.Limits.Allow(r.Context(), "send panel "+by.CompanyID, s.Company.Limits.SendsPerMinute, 1); err != nil {
		return "", err
	}
	a, err := x.Notify.Accept(r.Context(), s)
	if err != nil {
		return "", err
	}
	var made struct {
		ID string `json:"notification_id"`
	}
	err = json.Unmarshal(a.JSON, &made)
	return made.ID, err
}
