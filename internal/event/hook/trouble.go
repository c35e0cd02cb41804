package hook

import (
	"context"
	"net/url"
	"time"

	"carillon/internal/store/events"
)

// Trouble is an endpoint that receives no deliveries.
type Trouble struct {
	ID       string
	Host     string // only the host, because path and query may contain a secret
	Since    time.Time
	Disabled bool
	Gone     bool   // disabled because it responded 410
	Last     string // error of the last attempt
}

// StateOf returns the delivery state of an endpoint: active, paused, failing, down or disabled.
func StateOf(w *Webhook, e *events.Endpoint) string {
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

// minFailing is the time that an endpoint must fail before it is reported, unless it is down. A short failure may be a
// deployment.
const minFailing = 10 * time.Minute

// Troubles returns the endpoints of a company that are down or disabled, or have been failing for a while. Paused
// endpoints are not included, because they are paused on purpose.
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
		k := events.EndpointKey{CompanyID: companyID, WebhookID: w.ID}
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

func troubled(e *events.Endpoint, now time.Time) bool {
	return !e.DisabledAt.IsZero() || e.Failures >= downAfter || e.Failures > 0 && now.Sub(e.FailingSince) >= minFailing
}
