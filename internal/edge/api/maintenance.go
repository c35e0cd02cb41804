package api

import (
	"net/http"

	"carillon/internal/base/httpio"
	"carillon/internal/send/notify"
	"carillon/internal/store"
)

// Gated responds with 503 while a maintenance window is set. The panel and the providers' callbacks stay open: the panel
// ends the window, and a callback must not be lost.
func Gated(s *store.Store, h httpio.Handler) httpio.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := notify.UnderMaintenance(r.Context(), s); err != nil {
			return err
		}
		return h(w, r)
	}
}
