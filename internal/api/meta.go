package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"carillon"
	"carillon/internal/httpio"
	"carillon/internal/store"
)

// meta are the endpoints about the program itself; they need no credential.
type meta struct {
	store     *store.Store
	readiness func(ctx context.Context) (carillon.Details, error)
}

func (s meta) routes() []httpio.Route {
	return []httpio.Route{
		route("GET /healthz", "none", s.health),
		route("GET /readyz", "none", s.ready),
		route("GET /openapi.json", "none", s.openAPI),
	}
}

// health says that the program runs and answers, no more.
func (meta) health(w http.ResponseWriter, _ *http.Request) error {
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
func (s meta) ready(w http.ResponseWriter, r *http.Request) error {
	checks, err := s.readiness(r.Context())
	if err == nil {
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		defer cancel()
		told := readyAnswer{Status: "ready", Checks: checks}
		if at, _, err := s.store.RestoredAt(ctx); err == nil && !at.IsZero() {
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
func (meta) openAPI(w http.ResponseWriter, _ *http.Request) error {
	return httpio.Raw(w, http.StatusOK, OpenAPI())
}
