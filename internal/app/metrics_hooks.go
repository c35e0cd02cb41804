package app

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"carillon/internal/event/hook"
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
	gauge := func(name, help string, value func(*hook.Deliverer) float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
			if a.hooks == nil {
				return 0
			}
			return value(a.hooks)
		}))
	}
	gauge("carillon_webhook_lanes", "Endpoints of webhooks to which this node delivers right now.", func(d *hook.Deliverer) float64 { return float64(d.Serving()) })
	gauge("carillon_webhook_rate", "Events a second that this node delivers at most right now: fewer while its processors are needed for requests, messages and calls.",
		(*hook.Deliverer).Rate)
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
