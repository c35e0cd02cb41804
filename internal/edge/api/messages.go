package api

import (
	"context"
	"net/http"
	"time"

	"carillon/internal/account/auth"
	"carillon/internal/account/limit"
	"carillon/internal/edge/httpio"
	"carillon/internal/send/notify"
	"carillon/internal/store"
	"carillon/internal/store/audit"
	"carillon/internal/talk/freeform"
	"carillon/internal/talk/messaging"
)

// Window sends messages of applications to people who wrote within the last day.
type Window interface {
	Accept(ctx context.Context, s *messaging.Submission) (*messaging.Response, error)
	Find(ctx context.Context, companyID, id string) (*messaging.View, error)
	MarkRead(ctx context.Context, companyID, messageID string, typing bool) error
}

// freeForm serves the endpoints of messages within the window.
type freeForm struct {
	guard
	store  *store.Store
	limits *limit.Limits
	notify *notify.Notify
	window Window

	accepted func(companyID string, a audit.AcceptedCall) // may be nil
}

func (s freeForm) routes() []httpio.Route {
	return []httpio.Route{
		s.keyRoute("POST "+prefix+"/messages", auth.MessagesWrite, s.send),
		s.valueRoute("GET "+prefix+"/messages/{id}", auth.MessagesWrite, s.show),
	}
}

func (s freeForm) show(r *http.Request, p *auth.Principal) (any, error) {
	return s.window.Find(r.Context(), p.Company.ID, r.PathValue("id"))
}

// messagesRoute is the route of idempotency keys.
const messagesRoute = "messages"

func (s freeForm) send(w http.ResponseWriter, r *http.Request, p *auth.Principal) error {
	if err := s.store.DB.Commits.Full(); err != nil {
		return err
	}
	key, err := httpio.IdempotencyKey(r)
	if err != nil {
		return err
	}
	body, err := httpio.Body(r)
	if err != nil {
		return err
	}
	sub := &messaging.Submission{CompanyID: p.Company.ID, KeyID: p.KeyID, KeyName: p.Label, Route: messagesRoute, IdempotencyKey: key}
	if key != "" {
		sub.Hash = httpio.ContentHash(r.URL.Query(), body)
		a, done, err := s.notify.Repeat(r.Context(), p.Company.ID, messagesRoute, key, sub.Hash)
		if err != nil {
			return err
		}
		defer done()
		if a.Replayed {
			return respond(w, a.JSON, true)
		}
	}
	if _, err := s.limits.Allow(r.Context(), "send "+p.KeyID, p.Company.Limits.SendsPerMinute, 1); err != nil {
		return err
	}
	if sub.Request, err = freeform.Read(body); err != nil {
		return err
	}
	if sub.Request.Type == freeform.TypeRead {
		if err := s.window.MarkRead(r.Context(), p.Company.ID, sub.Request.MessageID, sub.Request.Typing); err != nil {
			return err
		}
		return httpio.JSON(w, http.StatusOK, marked{sub.Request.MessageID, "read"})
	}
	a, err := s.window.Accept(r.Context(), sub)
	if err != nil {
		return err
	}
	if s.accepted != nil && !a.Replayed {
		s.accepted(p.Company.ID, audit.AcceptedCall{
			At: time.Now(), RequestID: httpio.RequestID(r.Context()), KeyID: p.KeyID, NotificationID: a.ID,
		})
	}
	return respond(w, a.JSON, a.Replayed)
}

// marked is the response to a read mark, which stores nothing.
type marked struct {
	ID    string `json:"id"`
	State string `json:"state"`
}

// respond writes the response to an accepted message.
func respond(w http.ResponseWriter, body []byte, replayed bool) error {
	if replayed {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	return httpio.Raw(w, http.StatusAccepted, body)
}
