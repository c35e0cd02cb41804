package hook

import (
	"context"
	"net/url"
	"time"

	"carillon/internal/store/hooks"
)

// Trouble is an endpoint to which nothing is delivered.
type Trouble struct {
	ID       string
	Host     string // its address may have a secret in its path or query
	Since    time.Time
	Disabled bool
	Gone     bool   // because it responded 410
	Last     string // why the last attempt failed
}

// StateOf is how delivery to an endpoint stands: active, paused, failing, down or disabled.
func StateOf(w *Webhook, e *hooks.Endpoint) string {
	switch {
	case !e.DisabledAt.IsZero():
		return "disabled"
	case w.Paused:
		return "paused"
	case e.Failures >= downAfter:
		return "down"
	case e.Failures > 0:
		return "failing"
	}
	return "active"
}

// minFailing is how long an endpoint fails until somebody should look after it, unless it is down: one failure may be an
// upgrade of the program there.
const minFailing = 10 * time.Minute

// Troubles returns the endpoints of a company that are down or disabled, or have been failing for a while. Paused ones are left
// alone on purpose.
func (d *Deliverer) Troubles(ctx context.Context, companyID string) (all []Trouble, err error) {
	listed, err := d.store.Resources.Listed(ctx, companyID, Kind())
	if err != nil {
		return nil, err
	}
	for _, x := range listed {
		w, ok := x.(*Webhook)
		if !ok || w.Paused {
			continue
		}
		k := hooks.Key{CompanyID: companyID, WebhookID: w.ID}
		e, err := d.store.Hooks.Endpoint(ctx, k)
		if err != nil {
			return nil, err
		}
		if e == nil || !troubled(e, d.o.Now()) {
			continue
		}
		t := Trouble{ID: w.ID, Since: e.FailingSince, Disabled: !e.DisabledAt.IsZero(), Gone: e.DisabledWhy == "gone"}
		if u, err := url.Parse(w.URL); err == nil {
			t.Host = u.Host
		}
		if t.Disabled {
			t.Since = e.DisabledAt
		}
		last, err := d.store.Hooks.Attempts(ctx, k, true, "", 1)
		if err != nil {
			return nil, err
		}
		if len(last) > 0 {
			t.Last = last[0].Error
		}
		all = append(all, t)
	}
	return all, nil
}

func troubled(e *hooks.Endpoint, now time.Time) bool {
	return !e.DisabledAt.IsZero() || e.Failures >= downAfter || e.Failures > 0 && now.Sub(e.FailingSince) >= minFailing
}
