package api

import (
	"context"
	"net/http"

	"carillon"
	"carillon/internal/auth"
	"carillon/internal/httpio"
	"carillon/internal/notify"
)

// Calls hangs up calls that are under way.
type Calls interface {
	// HangUp ends a notification's call, and reports the state it was in; empty: it is not under way. Errors: not_found.
	HangUp(ctx context.Context, companyID, notificationID string) (carillon.State, error)
}

// calls are the endpoints that read single calls.
type calls struct {
	guard
	notify *notify.Notify
}

func (s calls) routes() []httpio.Route {
	return []httpio.Route{
		s.keyRoute("GET "+prefix+"/calls/{id}", auth.NotifyRead, s.show),
		s.keyRoute("GET "+prefix+"/calls/{id}/recording", auth.NotifyRead, s.recording),
	}
}

func (s calls) find(r *http.Request, p *auth.Principal) (*notify.CallDetail, error) {
	id, err := notificationID(r)
	if err != nil {
		return nil, carillon.Absent("Call")
	}
	return s.notify.Call(r.Context(), p.Company.ID, id)
}

func (s calls) show(w http.ResponseWriter, r *http.Request, p *auth.Principal) error {
	c, err := s.find(r, p)
	if err != nil {
		return err
	}
	return httpio.JSON(w, http.StatusOK, c)
}

// recording responds as for every call without a recording: no line of this version carries speech.
func (s calls) recording(_ http.ResponseWriter, r *http.Request, p *auth.Principal) error {
	if _, err := s.find(r, p); err != nil {
		return err
	}
	return carillon.Absent("Recording")
}
