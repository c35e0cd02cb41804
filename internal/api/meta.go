package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"carillon"
	"carillon/internal/httpio"
)

// metaRoutes tell about the program itself, without a credential.
func (s *Server) metaRoutes() []httpio.Route {
	return []httpio.Route{
		route("GET /healthz", "none", s.health),
		route("GET /readyz", "none", s.ready),
		route("GET /openapi.json", "none", s.openAPI),
	}
}

// health says that the program runs and answers, no more.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) error {
	return httpio.Raw(w, http.StatusOK, []byte(`{"status":"ok"}`))
}

type readyAnswer struct {
	Status     string           `json:"status"`
	Checks     carillon.Details `json:"checks"`
	RestoredAt string           `json:"restored_at,omitempty"`
}

// ready says whether requests should be sent here, check by check. What Ready returns as a *carillon.Error is shown, all else is for the
// log alone: errors of the database name hosts and users. A restored database, of which messages are held until an operator
// decides, is ready, and said to be so.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) error {
	checks, err := s.Ready(r.Context())
	if err == nil {
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		defer cancel()
		told := readyAnswer{Status: "ready", Checks: checks}
		if at, _, err := s.Store.RestoredAt(ctx); err == nil && !at.IsZero() {
			told.RestoredAt = carillon.FormatTime(at)
		}
		return httpio.JSON(w, http.StatusOK, told)
	}
	if _, ok := errors.AsType[*carillon.Error](err); ok {
		return err
	}
	return &carillon.Error{
		Code: carillon.ServiceUnavailable, Message: "Not ready", RetryAfter: 1, Err: err,
		Details: carillon.Details{{Key: "reason", Value: "A part of the program does not answer; the log says which"}},
	}
}

// openAPI is the description of the interface.
func (s *Server) openAPI(w http.ResponseWriter, _ *http.Request) error {
	return httpio.Raw(w, http.StatusOK, OpenAPI())
}
