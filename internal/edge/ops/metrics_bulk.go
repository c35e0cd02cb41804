package ops

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"carillon/internal/store/messages"
)

// Files counts the rows of uploaded recipient files.
type Files struct{ rows *prometheus.CounterVec }

// Checked implements bulk.Observer.
func (x *Files) Checked(good, bad int) {
	x.rows.WithLabelValues("good").Add(float64(good))
	x.rows.WithLabelValues("refused").Add(float64(bad))
}

// Accepted implements bulk.Observer.
func (x *Files) Accepted(rows int) { x.rows.WithLabelValues("accepted").Add(float64(rows)) }

//nolint:gochecknoglobals // a description, read only
var filesDesc = desc("carillon_send_files", "Files of all companies that are being checked, sent or canceled, by state.", "state")

// ofFiles emits the gauges of files on each scrape.
func (g *Sources) ofFiles(gauge emit) {
	ctx, cancel := context.WithTimeout(context.Background(), statsTimeout)
	defer cancel()
	if states, err := g.Store.Bulk.Running(ctx); err == nil {
		for _, state := range []messages.JobState{messages.JobChecking, messages.JobSending, messages.JobCanceling} {
			gauge(filesDesc, float64(states[state]), string(state))
		}
	}
}
