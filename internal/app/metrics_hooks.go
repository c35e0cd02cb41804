package app

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// hookMetrics are the metrics of events that are sent to endpoints.
type hookMetrics struct {
	attempts *prometheus.CounterVec
	took     prometheus.Histogram
}

// ofHooks adds the metrics of events that are sent to endpoints.
func (m *metrics) ofHooks(a *App) {
	m.hooks = &hookMetrics{
		attempts: m.vec("carillon_webhook_attempts_total", "Requests to endpoints of webhooks, by outcome: succeeded, failed.", "outcome"),
		took:     m.histogram("carillon_webhook_seconds", "Time from a request to an endpoint of webhooks to its response.", prometheus.ExponentialBuckets(0.005, 2, 13)),
	}
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "carillon_webhook_lanes", Help: "Endpoints of webhooks to which this node delivers right now.",
	}, func() float64 {
		if a.hooks == nil {
			return 0
		}
		return float64(a.hooks.Serving())
	}))
}

// hookAttempted counts a request to an endpoint.
func (m *metrics) hookAttempted(ok bool, took time.Duration) {
	outcome := "failed"
	if ok {
		outcome = "succeeded"
	}
	m.hooks.attempts.WithLabelValues(outcome).Inc()
	m.hooks.took.Observe(took.Seconds())
}
