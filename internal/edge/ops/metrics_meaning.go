package ops

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Meaning holds the metrics of searches with embeddings servers.
type Meaning struct {
	asked  *prometheus.CounterVec
	took   *prometheus.HistogramVec
	sought *prometheus.CounterVec
	made   prometheus.Counter
}

// ofMeaning registers the metrics of searches with embeddings servers.
func (m *Metrics) ofMeaning() {
	m.Meaning = &Meaning{
		asked: m.vec("carillon_embeddings_requests_total",
			"Requests to embeddings servers, for a question or for passages, by result: ok, slow, unreachable, denied, refused, limited, "+
				"status, invalid.", "purpose", "result"),
		took: m.histogramVec("carillon_embeddings_seconds", "Duration of these requests, by purpose.",
			prometheus.ExponentialBuckets(0.005, 2, 14), "purpose", "question", "passages"),
		sought: m.vec("carillon_meaning_searches_total",
			"Searches of knowledge with an embeddings server: by meaning too (ok), or by words alone because of a fault of the server, or "+
				"because the vectors are being made or loaded (making, loading), cannot be read (failed), or too many questions are at "+
				"servers (busy).", "result"),
		made: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "carillon_embeddings_passages_total", Help: "Passages that got a vector of an embeddings server.",
		}),
	}
	from0(m.Meaning.asked, []string{"question", "ok"}, []string{"passages", "ok"})
	each0(m.Meaning.sought, "ok")
	m.Registry.MustRegister(m.Meaning.made)
}

// Asked implements meaning.Observer.
func (x *Meaning) Asked(purpose, result string, took time.Duration) {
	x.asked.WithLabelValues(purpose, result).Inc()
	x.took.WithLabelValues(purpose).Observe(took.Seconds())
}

// Sought implements meaning.Observer.
func (x *Meaning) Sought(result string) { x.sought.WithLabelValues(result).Inc() }

// Made implements meaning.Observer.
func (x *Meaning) Made(n int) { x.made.Add(float64(n)) }
