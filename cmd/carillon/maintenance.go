package main

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

type maintenanceCommand struct {
	On     maintenanceOn     `cmd:"" help:"Respond to requests with 503 and the window until then."`
	Off    maintenanceOff    `cmd:"" help:"End the window."`
	Status maintenanceStatus `cmd:"" help:"Show the window."`
}

// window is the maintenance window; both are nil when there is none.
type window struct {
	From  *string `json:"from"`
	Until *string `json:"until"`
}

func (w window) String() string {
	if w.Until == nil {
		return "no maintenance"
	}
	return "maintenance from " + text(w.From, "now") + " until " + *w.Until
}

type maintenanceOn struct {
	Until string `required:"" placeholder:"WHEN" help:"End of the window: an instant as 2030-01-31T09:00:00Z, or a duration from now as 30m."`
	administered
	credentials
	jsonFlag
}

// Run sets the window.
func (m *maintenanceOn) Run(ctx context.Context, env *environment) error {
	until, err := time.Parse(time.RFC3339, m.Until)
	if err != nil {
		d, derr := time.ParseDuration(m.Until)
		if derr != nil || d <= 0 {
			return usage("--until must be an instant such as 2030-01-31T09:00:00Z or a duration such as 30m")
		}
		until = time.Now().Add(d)
	}
	return m.call(ctx, env, m.credentials, m.JSON, http.MethodPost, map[string]string{"until": until.UTC().Format(time.RFC3339)})
}

type maintenanceOff struct {
	administered
	credentials
	jsonFlag
}

// Run ends the window.
func (m *maintenanceOff) Run(ctx context.Context, env *environment) error {
	return m.call(ctx, env, m.credentials, m.JSON, http.MethodDelete, nil)
}

type maintenanceStatus struct {
	administered
	credentials
	jsonFlag
}

// Run shows the window.
func (m *maintenanceStatus) Run(ctx context.Context, env *environment) error {
	return m.call(ctx, env, m.credentials, m.JSON, http.MethodGet, nil)
}

func (a *administered) call(ctx context.Context, env *environment, by credentials, asJSON bool, method string, body map[string]string) error {
	c, err := a.connect(ctx, env, by)
	if err != nil {
		return err
	}
	var w window
	call := a.panel(method, "maintenance")
	if call.Out = &w; body != nil {
		call.Body = body
	}
	if _, err := c.Do(ctx, call); err != nil {
		return err
	}
	return done(env, asJSON, w, fmt.Sprint(w))
}
