package api

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"

	"carillon"
	"carillon/internal/auth"
	"carillon/internal/httpio"
	"carillon/internal/limit"
	"carillon/internal/notify"
	"carillon/internal/store"
)

// sending are the endpoints that accept notifications.
type sending struct {
	guard
	store  *store.Store
	limits *limit.Limits
	notify *notify.Notify
}

func (s sending) routes() []httpio.Route {
	return []httpio.Route{
		s.keyRoute("POST "+prefix+"/notify", auth.NotifySend, s.send(carillon.Messaging, "notify")),
		s.keyRoute("POST "+prefix+"/notify/voice", auth.VoiceSend, s.send(carillon.Voice, "notify/voice")),
	}
}

const idempotencyHeader = "Idempotency-Key"

// send accepts a notification: `POST notify` and `POST notify/voice`.
func (s sending) send(ch carillon.Channel, name string) func(w http.ResponseWriter, r *http.Request, p *auth.Principal) error {
	return func(w http.ResponseWriter, r *http.Request, p *auth.Principal) error {
		if err := s.store.Full(); err != nil {
			return err
		}
		key, err := idempotencyKey(r)
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
		return writeAccepted(w, a)
	}
}

func writeAccepted(w http.ResponseWriter, a notify.Response) error {
	if a.Replayed {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	return httpio.Raw(w, http.StatusOK, a.JSON)
}

// repeat responds to a request whose idempotency key has a stored response. Otherwise it reserves the key until done.
func (s sending) repeat(w http.ResponseWriter, r *http.Request, sub *notify.Submission) (done func(), replayed bool, err error) {
	if sub.Body, err = httpio.Body(r); err != nil {
		return nil, false, err
	}
	sub.Hash = contentHash(r.URL.Query(), sub.Body)
	a, done, err := s.notify.Repeat(r.Context(), sub.Company.ID, sub.Route, sub.IdempotencyKey, sub.Hash)
	if err != nil {
		return nil, false, err
	}
	if a.Replayed {
		return nil, true, writeAccepted(w, a)
	}
	return done, false, nil
}

// idempotencyKey reads the header: 1 to 255 printable characters.
func idempotencyKey(r *http.Request) (string, error) {
	values := r.Header.Values(idempotencyHeader)
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	if len(values) > 1 || key == "" || len(key) > 255 || strings.ContainsFunc(key, func(c rune) bool { return c < 0x20 || c > 0x7e }) {
		return "", carillon.Invalid(idempotencyHeader, "One value of 1 to 255 printable ASCII characters")
	}
	return key, nil
}

// contentHash covers the body and the query without the access key, which may be replaced between repeats.
func contentHash(q url.Values, body []byte) string {
	q.Del("access_key")
	h := sha256.New()
	_, _ = h.Write([]byte(q.Encode()))
	_, _ = h.Write([]byte{'\n'})
	_, _ = h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
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
