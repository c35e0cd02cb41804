package ops

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Voice holds the metrics of spoken conversations.
type Voice struct {
	talks  prometheus.Gauge
	steps  *prometheus.HistogramVec
	failed *prometheus.CounterVec
}

// ofVoices registers the metrics of spoken conversations.
func (m *Metrics) ofVoices() {
	x := &Voice{
		talks: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "carillon_voice_talks", Help: "People who talk with an agent or a teammate on this node.",
		}),
		steps: m.histogramVec("carillon_voice_seconds", "Time of the steps of a turn: detect, transcribe, think, first_audio, "+
			"silence (from speech into the agent's words to their end).", prometheus.ExponentialBuckets(0.01, 2, 12), "step",
			"detect", "transcribe", "think", "first_audio", "silence"),
		failed: m.vec("carillon_voice_failures_total", "Failures of what a talk needs: speaker, transcriber, engine.", "what"),
	}
	each0(x.failed, "speaker", "transcriber", "engine")
	m.Registry.MustRegister(x.talks)
	m.Voice = x
}

// Talking implements voice.Observer.
func (x *Voice) Talking(change int) { x.talks.Add(float64(change)) }

// Took implements voice.Observer.
func (x *Voice) Took(step string, d time.Duration) {
	x.steps.WithLabelValues(step).Observe(d.Seconds())
}

// Failed implements voice.Observer.
func (x *Voice) Failed(what string) { x.failed.WithLabelValues(what).Inc() }

//nolint:gochecknoglobals // a description, read only
var sipDesc = desc("carillon_sip_refused_total", "Packets, connections, calls and requests refused at the SIP ports, by reason: "+
	"stranger, stranger_connection, line, rate, transactions, connections, handshake, unfinished, unreadable; "+
	"docs/guides/production.md says what to do about each.", "reason")

//nolint:gochecknoglobals // a description, read only
var registeredDesc = desc("carillon_sip_registrations",
	"Lines that this node registers at their trunks by state: registered, failed.", "state")

// ofSIP emits the registrations and refusals of the SIP user agent.
func (g *Sources) ofSIP(gauge, count emit) {
	registered, failed := g.SIP.Registrations()
	gauge(registeredDesc, float64(registered), "registered")
	gauge(registeredDesc, float64(failed), "failed")
	for reason, n := range g.SIP.Refusals() {
		count(sipDesc, float64(n), reason)
	}
}
