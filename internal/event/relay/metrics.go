package relay

import (
	"github.com/prometheus/client_golang/prometheus"

	"carillon/internal/event/realtime"
)

// Metrics are the metrics of live events and of the relay, read on each Prometheus scrape.
type Metrics struct {
	Bus   *realtime.Bus
	Relay *Relay // nil if there is none
}

//nolint:gochecknoglobals // descriptions, read only
var (
	liveDesc = prometheus.NewDesc("carillon_live_events_total",
		"Events that are not stored (typing, viewing, presence, pieces of replies) between nodes: notified, sent over the "+
			"database; relayed, over NATS; received; dropped, beyond the share of their company; refused, unreadable or too long.",
		[]string{"result"}, nil)
	activeDesc = prometheus.NewDesc("carillon_nats_active",
		"1 while live events and teammates' sound go over NATS, 0 while they go over the database.", nil, nil)
	connectedDesc = prometheus.NewDesc("carillon_nats_connected", "1 while this node is connected to NATS.", nil, nil)
	lostDesc      = prometheus.NewDesc("carillon_nats_disconnects_total", "Connections to NATS that were lost.", nil, nil)
	messagesDesc  = prometheus.NewDesc("carillon_nats_messages_total",
		"Messages over NATS: sent; received; full, dropped beyond the share of their company; offline, dropped without a "+
			"connection; slow, dropped because this node was behind; refused, too long or not made by a node of this installation.",
		[]string{"result"}, nil)
)

// Describe implements prometheus.Collector.
func (m Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{liveDesc, activeDesc, connectedDesc, lostDesc, messagesDesc} {
		to <- d
	}
}

// Collect implements prometheus.Collector. Without NATS, its metrics are omitted.
func (m Metrics) Collect(to chan<- prometheus.Metric) {
	count := func(d *prometheus.Desc, n int64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	live := m.Bus.LiveCounts()
	count(liveDesc, live.Notified, "notified")
	count(liveDesc, live.Relayed, "relayed")
	count(liveDesc, live.Received, "received")
	count(liveDesc, live.Dropped, "dropped")
	count(liveDesc, live.Refused, "refused")
	if m.Relay == nil {
		return
	}
	gauge := func(d *prometheus.Desc, on bool) {
		value := 0.0
		if on {
			value = 1
		}
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value)
	}
	x := m.Relay.Counts()
	gauge(activeDesc, x.Active)
	gauge(connectedDesc, x.Connected)
	count(lostDesc, x.Disconnects)
	count(messagesDesc, x.Sent, "sent")
	count(messagesDesc, x.Received, "received")
	count(messagesDesc, x.Full, "full")
	count(messagesDesc, x.Offline, "offline")
	count(messagesDesc, x.Slow, "slow")
	count(messagesDesc, x.Refused, "refused")
}

// Counts are the state of a relay and its numbers of messages since the start.
type Counts struct {
	Active, Connected                                         bool
	Sent, Received, Full, Offline, Slow, Refused, Disconnects int64
}

// Counts returns the state and the numbers; Metrics describes them.
func (r *Relay) Counts() Counts {
	return Counts{
		Active: r.active.Load(), Connected: r.connected.Load(), Sent: r.sent.Load(), Received: r.received.Load(),
		Full: r.waiting.Dropped(), Offline: r.offline.Load(), Slow: r.subs.dropped(), Refused: r.refused.Load(),
		Disconnects: r.outages.Load(),
	}
}
