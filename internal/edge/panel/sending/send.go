// Package sending serves everything that a company sends: notifications, jobs for the people in a file, campaigns,
// statistics, and suppressed numbers. Start reading with Send.
package sending

import (
	"cmp"
	"net/http"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/member"
	"carillon/internal/send/notify"
	"carillon/internal/send/request"
	"carillon/internal/store"
)

// Send accepts notifications from the panel's page for sending, with the checks and errors of `POST notify`, and of
// `POST notify/voice` for the channel voice.
type Send struct {
	Gate   *member.Gate
	Store  *store.Store
	Notify *notify.Notify
}

func (x Send) Routes() []httpio.Route {
	return []httpio.Route{
		x.Gate.Raw("POST", "/notifications", auth.MaySendNotifications, x.send).Giving(accepted{}),
	}
}

// accepted is the form of notify.Response.JSON.
type accepted struct {
	Success   bool   `json:"success"`
	Message   string `json:"message"`
	ID        string `json:"notification_id"`
	Scheduled string `json:"scheduled_time,omitempty"`
}

// send accepts a notification. The page uses one idempotency key per attempt, so that a second click sends nothing.
func (x Send) send(w http.ResponseWriter, r *http.Request, by member.Member) error {
	channel := carillon.Channel(cmp.Or(r.URL.Query().Get("channel"), string(carillon.Messaging)))
	if channel != carillon.Messaging && channel != carillon.Voice {
		return carillon.InvalidValue("channel", "One of messaging, voice", string(channel))
	}
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
	sub := &notify.Submission{Company: company, Route: "panel/notifications", IdempotencyKey: key}
	body, err := httpio.Body(r)
	if err != nil {
		return err
	}
	sub.Hash = httpio.ContentHash(r.URL.Query(), body)
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
	if a, err = x.Notify.AcceptBody(r.Context(), sub, channel, body, false); err != nil {
		return err
	}
	return httpio.Repeatable(w, a.JSON, a.Replayed)
}

// open returns a member's company if its messages can be accepted now.
func (x Send) open(r *http.Request, by member.Member) (*carillon.Company, error) {
	if err := notify.UnderMaintenance(r.Context(), x.Store); err != nil {
		return nil, err
	}
	if err := x.Store.DB.Commits.Full(); err != nil {
		return nil, err
	}
	return x.Store.Accounts.Company(r.Context(), by.CompanyID)
}

// Accept accepts a submission of a member of the company and returns the notification's id. If the submission has no
// request, Accept builds one from the draft.
func (x Send) Accept(r *http.Request, by member.Member, s *notify.Submission, d *request.Draft) (id string, err error) {
	if s.Company, err = x.open(r, by); err != nil {
		return "", err
	}
	if _, err := x.Gate.Limits.Allow(r.Context(), "send panel "+by.CompanyID, s.Company.Limits.SendsPerMinute, 1); err != nil {
		return "", err
	}
	if s.Request == nil {
		if s.Request, err = request.New(d, time.Now()); err != nil {
			return "", err
		}
		s.Hash = s.Request.Source()
	}
	a, err := x.Notify.Accept(r.Context(), s)
	return a.ID, err
}
