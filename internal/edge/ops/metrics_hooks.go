package ops

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// ofHooks registers the metrics of webhook deliveries.
func (m *Metrics) ofHooks() {
	m.hooked = m.vec("carillon_webhook_attempts_total", "Requests to endpoints of webhooks, by outcome: succeeded, failed.", "outcome")
	each0(m.hooked, "succeeded", "failed")
	m.hookTook = m.histogram("carillon_webhook_seconds", "Time from a request to an endpoint of webhooks to its response.",
		prometheus.ExponentialBuckets(0.005, 2, 13))
}

// HookAttempted counts a request to a webhook endpoint.
func (m *Metrics) HookAttempted(ok bool, took time.Duration) {
	outcome := "failed"
	if ok {
		outcome = "succeeded"
	}
	m.hooked.WithLabelValues(outcome).Inc()
	m.hookTook.Observe(took.Seconds())
}

//nolint:gochecknoglobals // descriptions, read only
var (
	hookLanesDesc = desc("carillon_webhook_lanes", "Endpoints of webhooks to which this node delivers right now.")
	hookRateDesc  = desc("carillon_webhook_rate", "Events a second that this node delivers at most right now: fewer while its "+
		"processors are needed for requests, messages and calls.")
	hookBehindDesc = desc("carillon_webhook_waiting", "Events that an endpoint was not served yet, of the 100 endpoints that wait "+
		"longest; state: active, or failing if deliveries to it fail. Every node reports the same.", "company", "webhook", "state")
	hookOldestDesc = desc("carillon_webhook_oldest_seconds", "Age of the oldest event that was not served yet, over all endpoints, by "+
		"state: active, failing.", "state")
)

// maxBacklogs bounds the endpoints listed in the metrics.
const maxBacklogs = 100

// ofBacklogs reports the events that wait.
func (g *Sources) ofBacklogs(ctx context.Context, gauge emit) {
	ctx, cancel := context.WithTimeout(ctx, statsTimeout)
	defer cancel()
	all, err := g.Hooks.Backlogs(ctx)
	if err != nil {
		return // the database is away
	}
	oldest := map[string]float64{"active": 0, "failing": 0}
	for i, b := range all {
		state := "active"
		if b.Failing {
			state = "failing"
		}
		if i < maxBacklogs {
			gauge(hookBehindDesc, float64(b.Events), b.CompanyID, b.WebhookID, state)
		}
		if !b.Oldest.IsZero() {
			oldest[state] = max(oldest[state], time.Since(b.Oldest).Seconds())
		}
	}
	for state, age := range oldest {
		gauge(hookOldestDesc, age, state)
	}
}
