package api

import (
	"net/http"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/account/limit"
	"carillon/internal/edge/httpio"
	"carillon/internal/send/notify"
	"carillon/internal/store"
	"carillon/internal/store/audit"
)

// sending serves the endpoints that accept notifications.
type sending struct {
	guard
	store  *store.Store
	limits *limit.Limits
	notify *notify.Notify

	accepted func(companyID string, a audit.AcceptedCall) // may be nil
}

func (s sending) routes() []httpio.Route {
	return []httpio.Route{
		s.keyRoute("POST "+prefix+"/notify", auth.NotifySend, s.send(carillon.Messaging, "notify")),
		s.keyRoute("POST "+prefix+"/notify/voice", auth.VoiceSend, s.send(carillon.Voice, "notify/voice")),
	}
}

// send returns the handler of `POST notify` or `POST notify/voice`.
func (s sending) send(ch carillon.Channel, name string) func(w http.ResponseWriter, r *http.Request, p *auth.Principal) error {
	return func(w http.ResponseWriter, r *http.Request, p *auth.Principal) error {
		if err := s.store.DB.Commits.Full(); err != nil {
			return err
		}
		key, err := httpio.IdempotencyKey(r)
		if err != nil {
			return err
		}
		sub := &notify.Submission{Company: p.Company, Route: name, IdempotencyKey: key}
		var body []byte
		if key != "" {
			if body, err = httpio.Body(r); err != nil {
				return err
			}
			sub.Hash = httpio.ContentHash(r.URL.Query(), body)
			a, done, err := s.notify.Repeat(r.Context(), p.Company.ID, name, key, sub.Hash)
			if err != nil {
				return err
			}
			defer done()
			if a.Replayed {
				return httpio.Repeatable(w, a.JSON, true)
			}
		}
		if _, err := s.limits.Allow(r.Context(), "send "+p.KeyID, p.Company.Limits.SendsPerMinute, 1); err != nil {
			return err
		}
		flat, err := unflatten(r)
		if err != nil {
			return err
		}
		if body == nil {
			if body, err = httpio.Body(r); err != nil {
				return err
			}
		}
		a, err := s.notify.AcceptBody(r.Context(), sub, ch, body, flat)
		if err != nil {
			return err
		}
		if s.accepted != nil && !a.Replayed {
			s.accepted(p.Company.ID, audit.AcceptedCall{
				At: time.Now(), RequestID: httpio.RequestID(r.Context()), KeyID: p.KeyID, NotificationID: a.ID, Voice: ch == carillon.Voice,
			})
		}
		return httpio.Repeatable(w, a.JSON, a.Replayed)
	}
}

// unflatten reads the query parameter: exactly `true` or `false`; false if absent.
func unflatten(r *http.Request) (bool, error) {
	q := r.URL.Query()
	if !q.Has("unflatten") {
		return false, nil
	}
	switch v := q.Get("unflatten"); v {
	case "true":
		return true, nil
	case "false":
		return false, nil
	default:
		return false, carillon.BadFormat("unflatten", v, "true or false", "true")
	}
}
