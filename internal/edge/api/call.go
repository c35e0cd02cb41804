package api

import (
	"context"
	"net/http"
	"strings"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/edge/attachment"
	"carillon/internal/edge/httpio"
	"carillon/internal/send/notify"
	"carillon/internal/store/chats"
	"carillon/internal/talk/files"
)

// Calls hangs up calls in progress.
type Calls interface {
	// HangUp ends a call and returns the state it was in, or "" if it is not in progress. Errors: not_found.
	HangUp(ctx context.Context, companyID, callID string) (carillon.State, error)
}

// calls serves the endpoints that read single calls.
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
	return s.calls.Call(r.Context(), p.Company.ID, strings.ToLower(r.PathValue("id")))
}

// recording responds with the audio of a call.
func (s calls) recording(w http.ResponseWriter, r *http.Request, p *auth.Principal) error {
	file, conversation, err := s.calls.Recording(r.Context(), p.Company.ID, strings.ToLower(r.PathValue("id")))
	if err != nil {
		return err
	}
	return attachment.Serve(w, r, s.files, func(x *chats.StoredFile) bool {
		return x.CompanyID == p.Company.ID && x.ConversationID == conversation
	}, file)
}
