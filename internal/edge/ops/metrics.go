// Package ops provides monitoring for operators: metrics, readiness and profiles.
package ops

import (
	"net/http"
	"net/http/pprof"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"carillon"
	"carillon/internal/account/activity"
	"carillon/internal/call"
	"carillon/internal/edge/httpio"
	"carillon/internal/store/messages"
	"carillon/internal/store/purge"
	"carillon/internal/store/rank"
	"carillon/internal/store/work"
)

// Metrics are the Prometheus metrics (docs/metrics.md). Labels are routes, statuses and values from closed lists,
// never a key, a number or an id, except for the ids of up to a hundred senders whose circuit breaker is not closed.
type Metrics struct {
	Registry *prometheus.Registry
	Chat     *Chat
	Meaning  *Meaning
	Voice    *Voice
	Files    *Files

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
	fallbacks     *prometheus.CounterVec
	dialLate      prometheus.Histogram
	talked        prometheus.Histogram
	writes        prometheus.Histogram
	commit        prometheus.Histogram
	kept, dropped *prometheus.CounterVec
	hooked        *prometheus.CounterVec
	hookTook      prometheus.Histogram
	purged        *prometheus.CounterVec
	purgeStep     *prometheus.HistogramVec
	purgeBacklog  prometheus.Gauge
}

// NewMetrics returns the metrics that are counted as events happen. engine is the database engine.
func NewMetrics(version, engine string) *Metrics {
	m := &Metrics{Registry: prometheus.NewRegistry()}
	m.ofRequests()
	m.ofMessages()
	m.ofConversations()
	m.ofMeaning()
	m.ofVoices()
	m.ofHooks()
	m.ofPurge()
	m.Files = &Files{m.vec("carillon_send_file_rows_total",
		"Rows of files that are sent to: checked and good, checked and refused, accepted. What is checked again counts again.", "result")}
	each0(m.Files.rows, "good", "refused", "accepted")
	m.Registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "carillon_build_info", Help: "Always 1; its labels are the program's version, Go's version and the database engine.",
	}, []string{"version", "go", "engine"})
	m.Registry.MustRegister(build)
	build.WithLabelValues(version, runtime.Version(), engine).Set(1)
	return m
}

func (m *Metrics) vec(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.Registry.MustRegister(v)
	return v
}

// from0 makes series that alerts and the dashboard ask for, by their labels: without it the first event of a series is
// missing in its increase, and a panel is empty until then.
func from0(v *prometheus.CounterVec, series ...[]string) {
	for _, labels := range series {
		v.WithLabelValues(labels...)
	}
}

// each0 makes the series of a counter with one label.
func each0[T ~string](v *prometheus.CounterVec, values ...T) {
	for _, x := range values {
		v.WithLabelValues(string(x))
	}
}

func (m *Metrics) histogram(name, help string, buckets []float64) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	m.Registry.MustRegister(h)
	return h
}

// histogramVec registers histograms with one label. Those of the values exist from the start.
func (m *Metrics) histogramVec(name, help string, buckets []float64, label string, values ...string) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, []string{label})
	for _, x := range values {
		v.WithLabelValues(x)
	}
	m.Registry.MustRegister(v)
	return v
}

func (m *Metrics) ofRequests() {
	m.requests = m.vec("carillon_http_requests_total",
		"Requests by route and status of the response; 499 where the client left before there was one.", "route", "status")
	m.latency = m.histogramVec("carillon_http_request_seconds", "Time from the request's header to the end of its response.",
		prometheus.ExponentialBuckets(0.0005, 2, 14), "route")
	m.refused = m.vec("carillon_http_refused_total",
		"Error responses by code: rate_limit_exceeded, quota_exceeded, service_unavailable (shed) and the others of the interface.", "code")
	for c := carillon.ValidationFailed; c <= carillon.ServiceUnavailable; c++ {
		each0(m.refused, c.String())
	}
	m.kept = m.vec("carillon_api_calls_kept_total",
		"Calls of the interface that companies see in the panel: those that were refused or failed, and accepted requests to send.", "what")
	m.dropped = m.vec("carillon_api_calls_dropped_total", "Calls of the interface that the panel does not show, because too many "+
		"came at once or the database did not take them; they were served like others.", "what")
	m.callbacks = m.vec("carillon_callbacks_total", "Providers' callbacks: accepted; rejected, for an unknown sender or with a "+
		"wrong signature; failed, to be repeated by the provider.", "result")
	each0(m.kept, activity.KindRefused, activity.KindAccepted)
	each0(m.dropped, activity.KindRefused, activity.KindAccepted)
	each0(m.callbacks, "accepted", "rejected", "failed")
}

func (m *Metrics) ofPurge() {
	m.purged = m.vec("carillon_purged_rows_total", "Rows deleted after their retention, by table.", "what")
	m.purgeStep = m.histogramVec("carillon_purge_step_seconds", "How long one step of deleting occupied the database's writer.",
		prometheus.ExponentialBuckets(0.00025, 2, 12), "what")
	m.purgeBacklog = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "carillon_purge_backlog_seconds", Help: "How long the oldest ended notification is past its company's retention.",
	})
	m.Registry.MustRegister(m.purgeBacklog)
}

// Purged counts one step of deleting old data.
func (m *Metrics) Purged(what string, p purge.Purged) {
	m.purged.WithLabelValues(what).Add(float64(p.Rows))
	m.purgeStep.WithLabelValues(what).Observe(p.Took.Seconds())
}

// Backlog sets the age of the oldest data that is overdue for deletion.
func (m *Metrics) Backlog(age time.Duration) { m.purgeBacklog.Set(age.Seconds()) }

// Kept counts API calls that are stored for display in the panel.
func (m *Metrics) Kept(what string, n int) { m.kept.WithLabelValues(what).Add(float64(n)) }

// Dropped counts API calls that are not stored for the panel.
func (m *Metrics) Dropped(what string, n int) { m.dropped.WithLabelValues(what).Add(float64(n)) }

func (m *Metrics) ofMessages() {
	m.notifications = m.vec("carillon_accepted_notifications_total", "Notifications accepted and durably stored.", "channel")
	m.messages = m.vec("carillon_accepted_messages_total", "Messages accepted: a notification has one for each recipient.", "channel")
	each0(m.notifications, carillon.Messaging, carillon.Voice)
	each0(m.messages, carillon.Messaging, carillon.Voice)
	m.ended = m.vec("carillon_attempts_total", "Delivery attempts by outcome (sent, failed, skipped, retry, unknown, held) and "+
		"reason. An unknown outcome counts again when the sender's policy decides it, as failed or retry with the reason outcome_unknown.",
		"outcome", "reason")
	from0(m.ended, []string{"sent", ""}, []string{"retry", ""}, []string{"unknown", ""})
	m.late = m.histogram("carillon_delivery_lateness_seconds", "Time from when a message was due to the provider's response.",
		prometheus.ExponentialBuckets(0.001, 2, 18))
	m.receipts = m.vec("carillon_receipts_total", "Receipts of providers by state and reason, repeated ones included.", "state", "reason")
	for _, state := range []carillon.State{carillon.StateSent, carillon.StateDelivered, carillon.StateRead} {
		from0(m.receipts, []string{string(state), ""})
	}
	for _, reason := range []carillon.Reason{
		carillon.ReasonUndeliverable, carillon.ReasonProviderRefused, carillon.ReasonRecipientOptedOut, carillon.ReasonChannelLimited,
		carillon.ReasonTemplateRejected, carillon.ReasonMediaRejected, carillon.ReasonNumberRequired, carillon.ReasonExpired,
		carillon.ReasonAttemptsExhausted, carillon.ReasonOutcomeUnknown,
	} {
		from0(m.ended, []string{"failed", string(reason)})
		from0(m.receipts, []string{string(carillon.StateFailed), string(reason)})
	}
	m.writes = m.histogram("carillon_commit_writes",
		"Writes in one group commit: requests, callbacks, starts, results and postponed messages.", prometheus.ExponentialBuckets(1, 2, 14))
	m.calls = m.vec("carillon_call_attempts_total",
		"Attempts at calls that ended, by state and reason; an attempt that met a fault of the line counts as failed.", "state", "reason")
	from0(m.calls, []string{string(carillon.StateCompleted), ""}, []string{string(carillon.StateFailed), ""})
	m.fallbacks = m.vec("carillon_fallbacks_total", "Messages with a fallback by decision: called, not_needed (delivered in time), "+
		"skipped (the line was removed, or the company's calls of the day were used up) or canceled.", "state")
	each0(m.fallbacks, messages.FallbackCalled, messages.FallbackNotNeeded, messages.FallbackSkipped, messages.FallbackCanceled)
	m.dialLate = m.histogram("carillon_call_lateness_seconds", "Time from when a call was due until it was dialed.",
		prometheus.ExponentialBuckets(0.001, 4, 10))
	m.talked = m.histogram("carillon_call_seconds", "Time from the answer of a call to its end.", prometheus.ExponentialBuckets(1, 2, 12))
	m.commit = m.histogram("carillon_commit_seconds", "How long a group commit took.", prometheus.ExponentialBuckets(0.00025, 2, 15))
}

// CallEnded implements call.Observer.
func (m *Metrics) CallEnded(e call.Ended) {
	m.calls.WithLabelValues(string(e.State), string(e.Reason)).Inc()
	m.dialLate.Observe(e.Late.Seconds())
	if e.Talked > 0 {
		m.talked.Observe(e.Talked.Seconds())
	}
}

// Handler serves metrics and profiles on the private address.
func (m *Metrics) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.Registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

func (m *Metrics) observe(a httpio.Response) {
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

// Committed counts a group commit.
func (m *Metrics) Committed(writes int, took time.Duration) {
	m.writes.Observe(float64(writes))
	m.commit.Observe(took.Seconds())
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
