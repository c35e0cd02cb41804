package main

import (
	"context"
	"net/http"
	"time"

	"carillon/cmd/carillon/client"
)

// healthCommand asks a running program how it is, once. Containers have no shell and no curl to ask with.
type healthCommand struct {
	Ready  bool          `help:"Ask whether requests should be sent to it (/readyz), not only whether it answers (/healthz)."`
	Within time.Duration `default:"5s" help:"How long the answer may take."`
	server
	jsonFlag
}

// status is the part of both probes' responses that says all is well.
type status struct {
	Status string `json:"status"`
}

// Run asks once: whoever probes has a rule of its own about repeating.
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
	return done(env, h.JSON, s, s.Status)
}
