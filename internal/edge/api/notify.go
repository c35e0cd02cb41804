package api

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/account/limit"
	"carillon/internal/edge/httpio"
	"carillon/internal/send/notify"
	"carillon/internal/send/request"
	"carillon/internal/store"
)

// notifications serves the endpoints that list, show, cancel and reschedule notifications, and the company's usage.
type notifications struct {
	guard
	store  *store.Store
	limits *limit.Limits
	notify *notify.Notify
	calls  Calls
}

func (s notifications) routes() []httpio.Route {
	return []httpio.Route{
		s.keyRoute("GET "+prefix+"/notify", auth.NotifyRead, s.list),
		s.valueRoute("GET "+prefix+"/notify/{id}", auth.NotifyRead, s.show),
		s.valueRoute("DELETE "+prefix+"/notify/{id}", auth.NotifySend, s.cancel),
		s.valueRoute("PATCH "+prefix+"/notify/{id}", auth.NotifySend, s.move),
		s.valueRoute("GET "+prefix+"/usage", auth.UsageRead, s.usage),
	}
}

// notificationID reads the id from the path. Errors: not_found if it is not a UUID.
func notificationID(r *http.Request) (string, error) {
	id := strings.ToLower(r.PathValue("id"))
	if !carillon.ValidUUID(id) {
		return "", carillon.Absent("Notification")
	}
	return id, nil
}

func (s notifications) show(r *http.Request, p *auth.Principal) (any, error) {
	id, err := notificationID(r)
	if err != nil {
		return nil, err
	}
	page, err := httpio.ReadPage(r.URL.Query(), recipientsList)
	if err != nil {
		return nil, err
	}
	first := 0
	if page.After != "" {
		if first, err = strconv.Atoi(page.After); err != nil || first < 0 {
			return nil, httpio.BadCursor(r.URL.Query())
		}
	}
	v, next, err := notify.Sent{Store: s.store}.Find(r.Context(), p.Company.ID, id, first, page.Limit)
	if err == nil && next > 0 {
		v.NextCursor = httpio.EncodeCursor(recipientsList, strconv.Itoa(next))
	}
	return v, err
}

// Cursor kinds.
const (
	recipientsList    = "recipients"
	notificationsList = "notifications"
)

// list responds with a page of the company's notifications, subject to the rate limit of lists.
func (s notifications) list(w http.ResponseWriter, r *http.Request, p *auth.Principal) error {
	page, err := httpio.ReadPage(r.URL.Query(), notificationsList)
	if err != nil {
		return err
	}
	f, none, err := notify.ReadFilter(r.Context(), s.store, p.Company.ID, r.URL.Query())
	if err != nil {
		return err
	}
	if page.After != "" && !carillon.ValidUUID(page.After) {
		return httpio.BadCursor(r.URL.Query())
	}
	f.Limit, f.Before = page.Limit, page.After
	rate, err := s.limits.Allow(r.Context(), "lists/"+p.KeyID, p.Company.Limits.ListsPerMinute, 1)
	if err != nil {
		return err
	}
	httpio.MinuteHeaders(w.Header(), rate.Limit, rate.Remaining, rate.Seconds)
	if none {
		return httpio.JSON(w, http.StatusOK, httpio.Part[*notify.View](notificationsList, nil, ""))
	}
	views, next, err := notify.Sent{Store: s.store}.Views(r.Context(), p.Company.ID, f)
	if err != nil {
		return err
	}
	if fit := httpio.Fit(views); fit < len(views) {
		views, next = views[:fit], views[fit-1].ID
	}
	return httpio.JSON(w, http.StatusOK, httpio.Part(notificationsList, views, next))
}

func (s notifications) cancel(r *http.Request, p *auth.Principal) (any, error) {
	id, err := notificationID(r)
	if err != nil {
		return nil, err
	}
	hangUp := false
	switch v := r.URL.Query().Get("hangup"); v {
	case "", "false":
	case "true":
		hangUp = s.calls != nil
	default:
		return nil, carillon.InvalidValue("hangup", "One of true, false", v)
	}
	for retry := hangUp; ; retry = false {
		if hangUp {
			state, err := s.calls.HangUp(r.Context(), p.Company.ID, id)
			if err != nil || state != "" {
				return notify.HungUp(id, state), err
			}
		}
		c, err := s.notify.Cancel(r.Context(), p.Company.ID, id, hangUp)
		if !retry || !carillon.IsCode(err, carillon.Conflict) {
			return c, err
		}
		// The call may have started between HangUp and Cancel, so try once more.
	}
}

func (s notifications) move(r *http.Request, p *auth.Principal) (any, error) {
	id, err := notificationID(r)
	if err != nil {
		return nil, err
	}
	o, err := httpio.Object(r)
	if err != nil {
		return nil, err
	}
	due, given, err := request.Schedule(o, time.Now())
	if err != nil {
		return nil, err
	}
	if !given {
		return nil, carillon.Missing("datetime_sending")
	}
	return s.notify.Move(r.Context(), p.Company.ID, id, due)
}

func (s notifications) usage(r *http.Request, p *auth.Principal) (any, error) {
	return notify.UsageOf(r.Context(), s.store, p.Company)
}
