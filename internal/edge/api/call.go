package api

import (
	"context"
	"net/http"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/edge/attachment"
	"carillon/internal/edge/httpio"
	"carillon/internal/send/notify"
	stored "carillon/internal/store/files"
	"carillon/internal/talk/files"
)

// Calls hangs up calls that are under way.
type Calls interface {
	// HangUp ends a notification's call, and reports the state it was in; empty: it is not under way. Errors: not_found.
	HangUp(ctx context.Context, companyID, notificationID string) (carillon.State, error)
}

// calls are the endpoints that read single calls.
type calls struct {
	guard
	calls notify.Calls
	files *files.Files
}

func (s calls) routes() []httpio.Route {
	return []httpio.Route{
		s.valueRoute("GET "+prefix+"/calls/{id}", auth.NotifyRead, s.show),
		s.keyRoute("GET "+prefix+"/calls/{id}/recording", auth.NotifyRead, s.recording),
	}
}

func (s calls) show(r *http.Request, p *auth.Principal) (any, error) {
	id, err := notificationID(r)
	if err != nil {
		return nil, carillon.Absent("Call")
	}
	return s.calls.Call(r.Context(), p.Company.ID, id)
}

// recording responds with the sound of a call.
func (s calls) recording(w http.ResponseWriter, r *http.Request, p *auth.Principal) error {
	id, err := notificationID(r)
	if err != nil {
		return carillon.Absent("Call")
	}
	file, conversation, err := s.calls.Recording(r.Context(), p.Company.ID, id)
	if err != nil {
		return err
	}
	return attachment.Serve(w, r, s.files, func(x *stored.File) bool {
		return x.CompanyID == p.Company.ID && x.ConversationID == conversation
	}, file)
}
