package api

import (
	"net/http"
	"time"

	"carillon"
	"carillon/internal/httpio"
	"carillon/internal/store"
)

// Gated responds with 503 while a maintenance window is set. The panel and the providers' callbacks stay open: the panel
// ends the window, and a callback must not be lost.
func Gated(s *store.Store, h httpio.Handler) httpio.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		m, err := s.Maintenance(r.Context())
		if err != nil {
			return err
		}
		now := time.Now()
		if !m.On(now) {
			return h(w, r)
		}
		return &carillon.Error{
			Code: carillon.ServiceUnavailable, Message: "The service is under maintenance",
			Details: carillon.Details{{
				Key: "maintenance_window", Value: carillon.FormatTime(m.From) + "/" + carillon.FormatTime(m.Until),
			}},
			RetryAfter: httpio.SecondsUntil(m.Until, now),
		}
	}
}
