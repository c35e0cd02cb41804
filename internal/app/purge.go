package app

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"carillon/internal/purge"
	"carillon/internal/store"
)

// newPurge builds the purge of old data and its metrics.
func (a *App) newPurge() *purge.Purge {
	rows := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "carillon_purged_rows_total", Help: "Rows deleted after their retention, by table.",
	}, []string{"what"})
	held := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "carillon_purge_step_seconds", Help: "How long one step of deleting occupied the database's writer.",
		Buckets: prometheus.ExponentialBuckets(0.00025, 2, 12),
	}, []string{"what"})
	backlog := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "carillon_purge_backlog_seconds", Help: "How long the oldest ended notification is past its company's retention.",
	})
	a.metrics.registry.MustRegister(rows, held, backlog, a.restoredMetric())
	return purge.New(a.store, purge.Options{
		Step: func(what string, p store.Purged) {
			rows.WithLabelValues(what).Add(float64(p.Rows))
			held.WithLabelValues(what).Observe(p.Took.Seconds())
		},
		Backlog: func(age time.Duration) { backlog.Set(age.Seconds()) },
		Log:     a.log,
	})
}
