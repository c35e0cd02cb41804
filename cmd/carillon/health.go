package main

import (
	"context"
	"net/http"
	"time"

	"carillon/client"
)

// healthCommand requests the health of a running program, for containers without a shell or curl.
type healthCommand struct {
	Ready  bool          `help:"Check whether requests should be sent to it (/readyz), not only whether it responds (/healthz)."`
	Within time.Duration `default:"5s" help:"Time limit of the request."`
	server
	jsonFlag
}

// status is the common part of both health responses.
type status struct {
	Status string `json:"status"`
}

// Run sends one request. Retries are left to the caller.
func (h *healthCommand) Run(ctx context.Context, env *environment) error {
	if h.Within <= 0 {
		return usage("--within must be a time such as 5s")
	}
	c, _, err := h.connect(env)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, h.Within)
	defer cancel()
	path := "/healthz"
	if h.Ready {
		path = "/readyz"
	}
	var s status
	if _, err := c.Do(ctx, client.Call{Method: http.MethodGet, Path: path, Once: true, Out: &s}); err != nil {
		return err
	}
	return h.done(env, s, s.Status)
}
