package ops

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// ofHooks registers the metrics of webhook deliveries.
func (m *Metrics) ofHooks() {
	m.hooked = m.vec("carillon_webhook_attempts_total", "Requests to endpoints of webhooks, by outcome: succeeded, failed.", "outcome")
	from0(m.hooked, []string{"succeeded"}, []string{"failed"})
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
)
