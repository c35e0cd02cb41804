package ops

import (
	"context"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/provider"
	"carillon/internal/base/share"
	"carillon/internal/call/rtp"
	"carillon/internal/call/sip"
	"carillon/internal/event/hook"
	"carillon/internal/event/realtime"
	"carillon/internal/queue"
	"carillon/internal/store"
	"carillon/internal/store/work"
)

// Sources are the components whose metrics are read on each Prometheus scrape.
type Sources struct {
	Store       *store.Store
	Queue       *queue.Queue
	Hub         *realtime.Hub
	Hooks       *hook.Deliverer
	Auth        *auth.Auth
	SIP         *sip.Engine
	Unheard     *rtp.Refused // audio packets that calls refused
	Shares      *share.Set
	Readiness   *Readiness
	Connections func() (open int, evicted map[string]int)
	Data        string // the data folder
}

// Read registers the metrics of these components.
func (m *Metrics) Read(from *Sources) { m.Registry.MustRegister(from) }

// statsTimeout bounds how long a scrape waits for values that need a query. Later values are omitted.
const statsTimeout = time.Second

//nolint:gochecknoglobals // descriptions, read only
var (
	readyDesc    = desc("carillon_ready", "1 when /readyz responds with 200.")
	maintainDesc = desc("carillon_maintenance",
		"1 during a maintenance window, in which the interface's requests are refused with service_unavailable.")
	restoredDesc = desc("carillon_restored", "1 while messages are held after a restore, until the operator sends or fails them.")
	connsDesc    = desc("carillon_connections", "Open connections of the public address.")
	evictedDesc  = desc("carillon_connections_evicted_total", "Connections closed at a limit by reason: idle, the longest idle one "+
		"of all; address, the longest idle one of an address with too many; refused, a new one of an address whose connections are "+
		"all in use.", "reason")
	hashesDesc = desc("carillon_password_hashes_total", "Password hashes computed.")
	checkDesc  = desc("carillon_ready_check", "1 for every check of /readyz that holds.", "check")
	walDesc    = desc("carillon_sqlite_wal_bytes", "Size of SQLite's write-ahead log.")
	freeDesc   = desc("carillon_data_free_bytes", "Free space for the program on the disk of the data folder.")
	backupDesc = desc("carillon_backup_timestamp_seconds",
		"Time of the last backup of SQLite by `carillon backup`; absent before the first.")
	checkedDesc = desc("carillon_integrity_checked_timestamp_seconds",
		"Time of the last daily check of SQLite's file; absent before the first.")
	damagedDesc   = desc("carillon_database_damaged", "1 if the last daily check of SQLite's file found damage.")
	syncDesc      = desc("carillon_database_synchronous", "1 while a synchronous standby of PostgreSQL confirms each commit.")
	standbyDesc   = desc("carillon_database_standbys", "Standbys that follow the PostgreSQL server.")
	untrustedDesc = desc("carillon_database_refused", "1 while the PostgreSQL server is refused: it went back to an older timeline, "+
		"lost confirmed commits, or is another one.")
	waitingDesc   = desc("carillon_commit_waiting", "Writes that wait for a group commit, and requests that wait for admission.")
	openDesc      = desc("carillon_db_connections", "Connections of a pool by state: in_use, idle.", "pool", "state")
	waitsDesc     = desc("carillon_db_waits_total", "How often a connection of a pool was waited for.", "pool")
	waitedDesc    = desc("carillon_db_wait_seconds_total", "How long connections of a pool were waited for.", "pool")
	searchLagDesc = desc("carillon_search_lag_seconds",
		"How long the oldest notification has been missing in the table by which lists search numbers and campaigns.")
	refusedDesc  = desc("carillon_search_refused_total", "Entries that the search table lacks because the database refused them.")
	statsLagDesc = desc("carillon_stats_lag_seconds", "How long the oldest change of a message has been missing in the counts that "+
		"the overview shows; while everything is counted again after an end without order, since that end.")
	shardsDesc = desc("carillon_shards_owned", "Shards that this node owns.")
	gainedDesc = desc("carillon_shards_gained_total", "Shards that this node acquired.")
	lostDesc   = desc("carillon_shards_lost_total", "Shards that this node released or lost.")
	lanesDesc  = desc("carillon_lanes", "Senders of this node with something waiting or under way, or with an interval or a "+
		"recent fault to remember, by kind of work: message, call.", "kind")
	deepDesc = desc("carillon_lanes_deep", "Lanes with more work due than they have read ahead, by kind.", "kind")
	dueDesc  = desc("carillon_lane_due", "Work due and read ahead, by kind and class; a lane reads at most 512 of a class, see "+
		"carillon_lanes_deep.", "kind", "class")
	oldestDesc = desc("carillon_lane_oldest_due_seconds",
		"How long the oldest work that is due has been so, by kind; senders whose circuit breaker is not closed are left out.", "kind")
	inFlightDesc = desc("carillon_in_flight",
		"Work under way, by kind: messages whose response is awaited, calls from dialing to their end.", "kind")
	unwrittenDesc = desc("carillon_results_unwritten", "Results that wait for their commit, by kind of work.", "kind")
	commitsDesc   = desc("carillon_queue_commits_total", "Commits of starts and results, by kind of work.", "kind")
	brokenDesc    = desc("carillon_breakers", "Senders of this node whose circuit breaker is not "+
		"closed, by class of fault and state.", "class", "state")
	changesDesc = desc("carillon_breaker_changes_total", "State changes of circuit breakers, by class of fault and new state.",
		"class", "state")
	breakerDesc = desc("carillon_breaker_state",
		"2: open, 1: half-open; closed ones are left out, and at most 100 senders are listed. sender is the id in the set-up.",
		"company", "sender", "class")
)

var unheardDesc = desc("carillon_call_packets_refused_total", //nolint:gochecknoglobals // a description, read only
	"Packets of sound that calls did not hear, by reason: foreign, from an address that the call's signalling does not name; "+
		"other_source, of another source at the right address; unauthenticated, encrypted with another key or repeated.", "reason")

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// Describe implements prometheus.Collector.
func (g *Sources) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		readyDesc, maintainDesc, restoredDesc, connsDesc, evictedDesc, hashesDesc, checkDesc, walDesc, freeDesc, backupDesc, checkedDesc,
		damagedDesc, syncDesc, standbyDesc,
		untrustedDesc, waitingDesc,
		openDesc,
		waitsDesc, waitedDesc, searchLagDesc, refusedDesc, statsLagDesc, shardsDesc, gainedDesc, lostDesc, lanesDesc, deepDesc,
		talkingDesc, filesDesc, streamsDesc, dueDesc, oldestDesc, inFlightDesc, unwrittenDesc, commitsDesc, brokenDesc, changesDesc,
		breakerDesc, sipDesc, registeredDesc, heldDesc, mostDesc,
		queuedDesc, deniedDesc, unheardDesc, hookLanesDesc, hookRateDesc, hookBehindDesc, hookOldestDesc,
	} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (g *Sources) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	count := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), readyWait)
	defer cancel()
	checks, err := g.Readiness.checks(ctx)
	gauge(readyDesc, oneIf(err == nil))
	if m, err := g.Store.Accounts.Maintenance(ctx); err == nil {
		gauge(maintainDesc, oneIf(m.On(time.Now())))
	}
	restored, _, err := g.Store.RestoredAt(ctx)
	gauge(restoredDesc, oneIf(err == nil && !restored.IsZero()))
	open, evicted := g.Connections()
	gauge(connsDesc, float64(open))
	for reason, n := range evicted {
		count(evictedDesc, float64(n), reason)
	}
	count(hashesDesc, float64(g.Auth.PasswordHashes()))
	for _, c := range checks {
		gauge(checkDesc, oneIf(c.fault == ""), c.name)
	}
	gauge(walDesc, float64(g.Store.DB.Health.LogSize()))
	var disk syscall.Statfs_t
	if syscall.Statfs(g.Data, &disk) == nil {
		gauge(freeDesc, float64(disk.Bavail)*float64(disk.Bsize))
	}
	if at, err := g.Store.BackedUpAt(ctx); err == nil && !at.IsZero() {
		gauge(backupDesc, float64(at.UnixMilli())/1000)
	}
	if g.Store.DB.SQLite() {
		at, fault := g.Store.Integrity.Last()
		gauge(damagedDesc, oneIf(fault != ""))
		if !at.IsZero() {
			gauge(checkedDesc, float64(at.UnixMilli())/1000)
		}
	} else {
		replication := g.Store.DB.Health.Replication()
		gauge(syncDesc, oneIf(replication.Synchronous))
		gauge(standbyDesc, float64(replication.Standbys))
		gauge(untrustedDesc, oneIf(g.Store.DB.Health.Refused() != ""))
	}
	gauge(waitingDesc, float64(g.Store.DB.Commits.Waiting()))
	for name, p := range g.Store.DB.Health.Pools() {
		gauge(openDesc, float64(p.InUse), name, "in_use")
		gauge(openDesc, float64(p.Idle), name, "idle")
		count(waitsDesc, float64(p.WaitCount), name)
		count(waitedDesc, p.WaitDuration.Seconds(), name)
	}
	if lag, err := g.Store.Search.Lag(ctx, time.Now()); err == nil {
		gauge(searchLagDesc, lag.Seconds())
	}
	count(refusedDesc, float64(g.Store.Search.Unsearchable()))
	if lag, err := g.Store.Stats.Lag(ctx, time.Now()); err == nil {
		gauge(statsLagDesc, lag.Seconds())
	}
	g.Unheard.Each(func(why rtp.Refusal, packets int64) { count(unheardDesc, float64(packets), why.String()) })
	gauge(hookLanesDesc, float64(g.Hooks.Serving()))
	gauge(hookRateDesc, g.Hooks.Rate())
	g.ofBacklogs(ctx, gauge)
	g.ofQueue(gauge, count)
	g.ofConversations(gauge)
	g.ofFiles(gauge)
	g.ofSIP(gauge, count)
	g.ofShares(gauge, count)
}

type emit func(d *prometheus.Desc, v float64, labels ...string)

func (g *Sources) ofQueue(gauge, count emit) {
	ctx, cancel := context.WithTimeout(context.Background(), statsTimeout)
	defer cancel()
	s, err := g.Queue.Stats(ctx)
	if err != nil {
		return // the queue has stopped
	}
	gauge(shardsDesc, float64(s.Shards))
	count(gainedDesc, float64(s.Gained))
	count(lostDesc, float64(s.Lost))
	for _, k := range s.Kinds {
		gauge(lanesDesc, float64(k.Lanes), k.Name)
		gauge(deepDesc, float64(k.Deep), k.Name)
		for c, n := range k.Waiting {
			gauge(dueDesc, float64(n), k.Name, carillon.Class(c).String())
		}
		gauge(oldestDesc, k.Oldest.Seconds(), k.Name)
		gauge(inFlightDesc, float64(k.InFlight), k.Name)
		gauge(unwrittenDesc, float64(k.Unwritten), k.Name)
		count(commitsDesc, float64(k.Commits), k.Name)
	}
	for _, f := range provider.Faults() {
		for _, state := range []work.BreakerState{work.BreakerOpen, work.BreakerHalfOpen, work.BreakerClosed} {
			k := queue.BreakerCount{Fault: f, State: state}
			count(changesDesc, float64(s.Changes[k]), string(f), string(state))
			if state != work.BreakerClosed {
				gauge(brokenDesc, float64(s.Broken[k]), string(f), string(state))
			}
		}
	}
	for _, b := range s.Breakers {
		if x, err := g.Store.Senders.Sender(ctx, b.SenderUID); err == nil {
			gauge(breakerDesc, 1+oneIf(b.State == work.BreakerOpen), x.CompanyID, x.ID, string(b.Fault))
		}
	}
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
