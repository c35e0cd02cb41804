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
		s.valueRoute("GET "+prefix+"/calls/{id}", auth.NotifyRead, s.show),
		s.valueRoute("GET "+prefix+"/calls/{id}/recording", auth.NotifyRead, s.recording),
	}
}

func (s calls) show(r *http.Request, p *auth.Principal) (any, error) {
	id, err := notificationID(r)
	if err != nil {
		return nil, carillon.Absent("Call")
	}
	return s.notify.Call(r.Context(), p.Company.ID, id)
}

// recording responds as for every call without a recording: no line of this version carries speech.
func (s calls) recording(r *http.Request, p *auth.Principal) (any, error) {
	if _, err := s.show(r, p); err != nil {
		return nil, err
	}
	return nil, carillon.Absent("Recording")
}
