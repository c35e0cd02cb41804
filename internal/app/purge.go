package app

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"carillon/internal/store"
	"carillon/internal/store/purge"
)

// newPurge builds the purge of old data and its metrics.
func newPurge(s *store.Store, m *metrics, log *slog.Logger) *purge.Purge {
	rows := m.vec("carillon_purged_rows_total", "Rows deleted after their retention, by table.", "what")
	held := m.histogramVec("carillon_purge_step_seconds", "How long one step of deleting occupied the database's writer.",
		prometheus.ExponentialBuckets(0.00025, 2, 12), "what")
	backlog := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "carillon_purge_backlog_seconds", Help: "How long the oldest ended notification is past its company's retention.",
	})
	m.registry.MustRegister(backlog)
	return purge.New(s.Purges, s.Accounts, purge.Options{
		Step: func(what string, p purge.Purged) {
			rows.WithLabelValues(what).Add(float64(p.Rows))
			held.WithLabelValues(what).Observe(p.Took.Seconds())
		},
		Backlog: func(age time.Duration) { backlog.Set(age.Seconds()) },
		Log:     log,
	})
}
