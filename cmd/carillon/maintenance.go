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

// window is the maintenance window. Both fields are nil if none is set.
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
	Until string `required:"" placeholder:"WHEN" help:"End: an instant as 2030-01-31T09:00:00Z, or a duration as 30m."`
	memberFlags
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
	return m.window(ctx, env, http.MethodPost, map[string]string{"until": until.UTC().Format(time.RFC3339)})
}

type maintenanceOff struct{ memberFlags }

// Run ends the window.
func (m *maintenanceOff) Run(ctx context.Context, env *environment) error {
	return m.window(ctx, env, http.MethodDelete, nil)
}

type maintenanceStatus struct{ memberFlags }

// Run shows the window.
func (m *maintenanceStatus) Run(ctx context.Context, env *environment) error {
	return m.window(ctx, env, http.MethodGet, nil)
}

func (m *memberFlags) window(ctx context.Context, env *environment, method string, body any) error {
	var w window
	if err := m.do(ctx, env, method, "maintenance", body, &w); err != nil {
		return err
	}
	return m.done(env, w, fmt.Sprint(w))
}
