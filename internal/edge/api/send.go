package api

import (
	"net/http"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/account/limit"
	"carillon/internal/base/httpio"
	"carillon/internal/send/notify"
	"carillon/internal/store"
	"carillon/internal/store/apicalls"
)

// sending are the endpoints that accept notifications.
type sending struct {
	guard
	store  *store.Store
	limits *limit.Limits
	notify *notify.Notify

	accepted func(companyID string, a apicalls.Accepted) // nil: nobody is interested
}

func (s sending) routes() []httpio.Route {
	return []httpio.Route{
		s.keyRoute("POST "+prefix+"/notify", auth.NotifySend, s.send(carillon.Messaging, "notify")),
		s.keyRoute("POST "+prefix+"/notify/voice", auth.VoiceSend, s.send(carillon.Voice, "notify/voice")),
	}
}

// send accepts a notification: `POST notify` and `POST notify/voice`.
func (s sending) send(ch carillon.Channel, name string) func(w http.ResponseWriter, r *http.Request, p *auth.Principal) error {
	return func(w http.ResponseWriter, r *http.Request, p *auth.Principal) error {
		if err := s.store.DB.Commits.Full(); err != nil {
			return err
		}
		key, err := httpio.IdempotencyKey(r)
		if err != nil {
			return err
		}
		sub := &notify.Submission{Company: p.Company, Channel: ch, Route: name, IdempotencyKey: key}
		if key != "" {
			done, replayed, err := s.repeat(w, r, sub)
			if err != nil || replayed {
				return err
			}
			defer done()
		}
		if _, err := s.limits.Allow(r.Context(), "send "+p.KeyID, p.Company.Limits.SendsPerMinute, 1); err != nil {
			return err
		}
		if sub.Flat, err = unflatten(r); err != nil {
			return err
		}
		if sub.Body == nil {
			if sub.Body, err = httpio.Body(r); err != nil {
				return err
			}
		}
		a, err := s.notify.Accept(r.Context(), sub)
		if err != nil {
			return err
		}
		if s.accepted != nil && !a.Replayed {
			s.accepted(p.Company.ID, apicalls.Accepted{
				At: time.Now(), RequestID: httpio.RequestID(r.Context()), KeyID: p.KeyID, NotificationID: a.ID, Voice: ch == carillon.Voice,
			})
		}
		return httpio.Repeatable(w, a.JSON, a.Replayed)
	}
}

// repeat responds to a request whose idempotency key has a stored response. Otherwise it reserves the key until done.
func (s sending) repeat(w http.ResponseWriter, r *http.Request, sub *notify.Submission) (done func(), replayed bool, err error) {
	if sub.Body, err = httpio.Body(r); err != nil {
		return nil, false, err
	}
	sub.Hash = httpio.ContentHash(r.URL.Query(), sub.Body)
	a, done, err := s.notify.Repeat(r.Context(), sub.Company.ID, sub.Route, sub.IdempotencyKey, sub.Hash)
	if err != nil {
		return nil, false, err
	}
	if a.Replayed {
		return nil, true, httpio.Repeatable(w, a.JSON, a.Replayed)
	}
	return done, false, nil
}

// unflatten reads the query parameter: exactly `true` or `false`, false when absent.
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
