package app

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"carillon/internal/queue"
	"carillon/internal/store"
)

// metrics are what Prometheus reads. Labels are routes, statuses and closed lists: never a key, a number or an id.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	latency  *prometheus.HistogramVec
	ended    *prometheus.CounterVec
	late     prometheus.Histogram
	receipts prometheus.Counter
}

func newMetrics(a *App) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "carillon_http_requests_total", Help: "Answered requests by route and status.",
		}, []string{"route", "status"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "carillon_http_request_seconds", Help: "Time from the request's header to the end of its answer.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14),
		}, []string{"route"}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "carillon_attempts_total", Help: "Delivery attempts by how they ended (sent, failed, retry, unknown, held) and reason.",
		}, []string{"outcome", "reason"}),
		late: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "carillon_delivery_lateness_seconds", Help: "Time from when a message was due to the provider's answer.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 18),
		}),
		receipts: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "carillon_receipts_total", Help: "Receipts taken from providers.",
		}),
	}
	wal := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "carillon_sqlite_wal_bytes", Help: "Size of SQLite's write-ahead log.",
	}, func() float64 { return float64(a.store.LogSize()) })
	ready := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "carillon_ready", Help: "1 when /readyz answers 200.",
	}, func() float64 {
		if a.Ready(context.Background()) == nil {
			return 1
		}
		return 0
	})
	m.registry.MustRegister(m.requests, m.latency, m.ended, m.late, m.receipts, wal, ready,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

func (m *metrics) answered(pattern string, status int, took time.Duration) {
	m.requests.WithLabelValues(pattern, strconv.Itoa(status)).Inc()
	m.latency.WithLabelValues(pattern).Observe(took.Seconds())
}

func (m *metrics) received(n int) { m.receipts.Add(float64(n)) }

func (m *metrics) delivered(_ *queue.Job, late time.Duration, d *queue.Done) {
	m.late.Observe(late.Seconds())
	outcome := [...]string{store.MoveDone: "sent", store.MoveRetry: "retry", store.MoveUnknown: "unknown", store.MoveHold: "held"}[d.Result.Move]
	if d.Result.Move == store.MoveDone && d.Result.Reason != "" {
		outcome = "failed"
	}
	m.ended.WithLabelValues(outcome, string(d.Result.Reason)).Inc()
}
