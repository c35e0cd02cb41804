package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"carillon"
	"carillon/internal/base/schedule"
	"carillon/internal/edge/httpio"
	"carillon/internal/store"
)

// meta serves the endpoints about the program itself, which need no credential.
type meta struct {
	store     *store.Store
	readiness func(ctx context.Context) (carillon.Details, error)
}

func (s meta) routes() []httpio.Route {
	return []httpio.Route{
		{Pattern: "GET /healthz", Access: "none", Probe: true, Handle: s.health},
		{Pattern: "GET /readyz", Access: "none", Probe: true, Handle: s.ready},
		route("GET /openapi.json", "none", s.openAPI),
	}
}

// health responds with 200 while the program runs. It checks nothing else.
func (meta) health(w http.ResponseWriter, _ *http.Request) error {
	return httpio.Raw(w, http.StatusOK, []byte(`{"status":"ok"}`))
}

type readyResponse struct {
	Status     string           `json:"status"`
	Checks     carillon.Details `json:"checks"`
	TimeZones  string           `json:"time_zones"` // release of the IANA database
	RestoredAt string           `json:"restored_at,omitempty"`
}

// ready reports whether this node should receive requests, check by check. A *carillon.Error of a check is shown. Any
// other error is only logged, because database errors contain hosts and users. A restored database is ready even while
// its messages are held, and the response says so.
func (s meta) ready(w http.ResponseWriter, r *http.Request) error {
	checks, err := s.readiness(r.Context())
	if err == nil {
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		defer cancel()
		response := readyResponse{Status: "ready", Checks: checks, TimeZones: schedule.Current().Version}
		if at, _, err := s.store.RestoredAt(ctx); err == nil && !at.IsZero() {
			response.RestoredAt = carillon.FormatTime(at)
		}
		return httpio.JSON(w, http.StatusOK, response)
	}
	if _, ok := errors.AsType[*carillon.Error](err); ok {
		return err
	}
	return &carillon.Error{
		Code: carillon.ServiceUnavailable, Message: "Not ready", RetryAfter: 1, Err: err,
		Details: carillon.Details{{Key: "reason", Value: "A part of the program does not answer; the log says which"}},
	}
}

// openAPI responds with the OpenAPI description.
func (meta) openAPI(w http.ResponseWriter, _ *http.Request) error {
	return httpio.Raw(w, http.StatusOK, OpenAPI())
}
