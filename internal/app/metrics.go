package app

import (
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"

	"carillon/internal/store/messages"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"carillon"
	"carillon/internal/base/config"
	"carillon/internal/base/httpio"
	"carillon/internal/base/provider"
	"carillon/internal/call"
	"carillon/internal/store/rank"
	"carillon/internal/store/work"
)

// metrics are what Prometheus reads (docs/metrics.md). Labels are routes, statuses and closed lists, never a key, a number
// or an id, except for at most a hundred senders whose circuit breaker is not closed.
type metrics struct {
	registry      *prometheus.Registry
	requests      *prometheus.CounterVec
	latency       *prometheus.HistogramVec
	refused       *prometheus.CounterVec
	callbacks     *prometheus.CounterVec
	notifications *prometheus.CounterVec
	messages      *prometheus.CounterVec
	ended         *prometheus.CounterVec
	late          prometheus.Histogram
	receipts      *prometheus.CounterVec
	calls         *prometheus.CounterVec
	dialLate      prometheus.Histogram
	talked        prometheus.Histogram
	writes        prometheus.Histogram
	commit        prometheus.Histogram
	chat          *chatMetrics
	voice         *voiceMetrics
	hooks         *hookMetrics
	files         *fileMetrics
}

func newMetrics(a *App) *metrics {
	m := &metrics{registry: prometheus.NewRegistry()}
	m.ofRequests()
	m.ofMessages()
	m.ofConversations()
	m.ofVoices()
	m.ofHooks(a)
	m.ofFiles()
	m.registry.MustRegister(&gauges{app: a}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "carillon_build_info", Help: "Always 1; its labels are the program's version, Go's version and the database engine.",
	}, []string{"version", "go", "engine"})
	m.registry.MustRegister(build)
	build.WithLabelValues(Version(), runtime.Version(), engineOf(a.cfg)).Set(1)
	return m
}

func (m *metrics) vec(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(v)
	return v
}

func (m *metrics) histogram(name, help string, buckets []float64) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	m.registry.MustRegister(h)
	return h
}

func (m *metrics) histogramVec(name, help string, buckets []float64, label string) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, []string{label})
	m.registry.MustRegister(v)
	return v
}

func (m *metrics) ofRequests() {
	m.requests = m.vec("carillon_http_requests_total", "Requests by route and status of the response; 499 where the client left before there was one.", "route", "status")
	m.latency = m.histogramVec("carillon_http_request_seconds", "Time from the request's header to the end of its response.",
		prometheus.ExponentialBuckets(0.0005, 2, 14), "route")
	m.refused = m.vec("carillon_http_refused_total",
		"Error responses by code: rate_limit_exceeded, quota_exceeded, service_unavailable (shed) and the others of the interface.", "code")
	m.callbacks = m.vec("carillon_callbacks_total", "Providers' callbacks: accepted; rejected, for an unknown sender or with a wrong signature; failed, to be repeated by the provider.", "result")
}

func (m *metrics) ofMessages() {
	m.notifications = m.vec("carillon_accepted_notifications_total", "Notifications accepted and durably stored.", "channel")
	m.messages = m.vec("carillon_accepted_messages_total", "Messages accepted: a notification has one for each recipient.", "channel")
	m.ended = m.vec("carillon_attempts_total", "Delivery attempts by outcome (sent, failed, skipped, retry, unknown, held) and reason. An unknown outcome counts again when the sender's policy decides it, as failed or retry with the reason outcome_unknown.", "outcome", "reason")
	m.late = m.histogram("carillon_delivery_lateness_seconds", "Time from when a message was due to the provider's response.",
		prometheus.ExponentialBuckets(0.001, 2, 18))
	m.receipts = m.vec("carillon_receipts_total", "Receipts of providers by state and reason, repeated ones included.", "state", "reason")
	m.writes = m.histogram("carillon_commit_writes", "Writes in one group commit: requests, callbacks, starts, results and postponed messages.", prometheus.ExponentialBuckets(1, 2, 14))
	m.calls = m.vec("carillon_call_attempts_total", "Attempts at calls that ended, by state and reason; an attempt that met a fault of the line counts as failed.", "state", "reason")
	m.dialLate = m.histogram("carillon_call_lateness_seconds", "Time from when a call was due until it was dialed.", prometheus.ExponentialBuckets(0.001, 4, 10))
	m.talked = m.histogram("carillon_call_seconds", "Time from the answer of a call to its end.", prometheus.ExponentialBuckets(1, 2, 12))
	m.commit = m.histogram("carillon_commit_seconds", "How long a group commit took.", prometheus.ExponentialBuckets(0.00025, 2, 15))
}

// CallEnded implements call.Observer.
func (m *metrics) CallEnded(e call.Ended) {
	m.calls.WithLabelValues(string(e.State), string(e.Reason)).Inc()
	m.dialLate.Observe(e.Late.Seconds())
	if e.Talked > 0 {
		m.talked.Observe(e.Talked.Seconds())
	}
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

func (m *metrics) observe(a httpio.Response) {
	m.requests.WithLabelValues(a.Pattern, strconv.Itoa(a.Status)).Inc()
	if !a.Stream {
		m.latency.WithLabelValues(a.Pattern).Observe(a.Duration.Seconds())
	}
	if a.Code != "" {
		m.refused.WithLabelValues(a.Code).Inc()
	}
	if strings.HasPrefix(a.Pattern, "POST /callbacks/") {
		m.callbacks.WithLabelValues(callbackResult(a.Status)).Inc()
	}
}

func callbackResult(status int) string {
	switch {
	case status < 300:
		return "accepted"
	case status < 500:
		return "rejected"
	}
	return "failed"
}

func (m *metrics) stored(n *messages.Notification) {
	m.notifications.WithLabelValues(string(n.Channel)).Inc()
	m.messages.WithLabelValues(string(n.Channel)).Add(float64(n.Total))
}

func (m *metrics) received(rs []provider.Receipt) {
	for i := range rs {
		m.receipts.WithLabelValues(string(rs[i].State), string(rs[i].Reason)).Inc()
	}
}

func (m *metrics) committed(writes int, took time.Duration) {
	m.writes.Observe(float64(writes))
	m.commit.Observe(took.Seconds())
}

func (m *metrics) delivered(outcome string, reason carillon.Reason, late time.Duration) {
	m.late.Observe(late.Seconds())
	m.ended.WithLabelValues(outcome, string(reason)).Inc()
}

// reconciled counts unknown outcomes that the senders' policies decided.
func (m *metrics) reconciled(retried, failed int) {
	m.ended.WithLabelValues("retry", string(carillon.ReasonOutcomeUnknown)).Add(float64(retried))
	m.ended.WithLabelValues("failed", string(carillon.ReasonOutcomeUnknown)).Add(float64(failed))
}

func outcomeOf(move work.Move, o messages.Outcome) string {
	switch {
	case move == work.MoveDone && o.Rank == rank.Skipped:
		return "skipped"
	case move == work.MoveDone && o.Reason != "":
		return "failed"
	}
	return [...]string{work.MoveDone: "sent", work.MoveRetry: "retry", work.MoveUnknown: "unknown", work.MoveHold: "held"}[move]
}

// engineOf returns the database engine that the settings select.
func engineOf(cfg config.Config) string {
	if cfg.DatabaseURL == "" {
		return "sqlite"
	}
	return "postgres"
}
