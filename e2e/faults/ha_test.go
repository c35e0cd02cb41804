package faults

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// beyondPatroni is the time for which the nodes may refuse requests after the database works again.
	beyondPatroni = 5 * time.Second
	// admission is the time in which a node has to report a database that went back in time.
	admission = 10 * time.Second
	// probeEvery is the interval of the requests by which outages are measured.
	probeEvery = 200 * time.Millisecond
	// maxManaged bounds the rounds of a scenario, each of which needs a minute or two.
	maxManaged = 2
	// managedPrefix begins the names of the scenarios.
	managedPrefix = "Patroni: "
)

// gap measures the longest time between two signs of life.
type gap struct {
	mu          sync.Mutex
	last        time.Time
	worst       time.Duration
	worstBefore time.Time // the end of the longest time
}

func (g *gap) hit(at time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.last.IsZero() && at.Sub(g.last) > g.worst {
		g.worst, g.worstBefore = at.Sub(g.last), at
	}
	if at.After(g.last) {
		g.last = at
	}
}

func (g *gap) since(at time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.last.After(at)
}

func (g *gap) longest() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.worst
}

// outage measures how long nothing is accepted, nothing is delivered, and no server of the database commits.
type outage struct {
	s                 *site
	accepted, commits gap
	begin             time.Time
	probes            []*ask
	used              atomic.Int64
}

// outage loads the nodes and calls f, which breaks something and returns when it is repaired. Then it waits until both
// the database and the nodes work again, and notes the outages.
func (s *site) outage(name string, f func(ctx context.Context)) *outage {
	s.t.Helper()
	const maxProbes = 2000
	o := &outage{s: s, begin: time.Now()}
	before := len(s.asks)
	o.probes = s.draw(name+" probe", maxProbes)
	s.asks = s.asks[:before]
	for _, a := range o.probes {
		a.key, a.lead, a.cancel, a.move, a.repeat = "", 0, false, false, false
	}
	ctx, stop := context.WithCancel(s.t.Context())
	var done sync.WaitGroup
	for _, m := range s.machines.members {
		done.Go(func() { o.commit(ctx, m) })
	}
	d := s.d.child()
	done.Go(func() { o.probe(ctx, d) })
	asks, callers := s.draw(name, 2*size), s.d.child()
	loading, unload := context.WithCancel(s.t.Context())
	defer unload()
	var loaded sync.WaitGroup
	loaded.Go(func() { load(loading, s.front, callers, asks, 20*time.Second) })
	pause(ctx, s.d.between(2*time.Second, 4*time.Second))
	begin := time.Now()
	f(ctx)
	o.end(begin, time.Now(), unload)
	loaded.Wait()
	stop()
	done.Wait()
	s.asks = append(s.asks, o.probes[:o.used.Load()]...)
	s.note(acceptingOut, o.accepted.longest())
	s.note(databaseOut, o.commits.longest())
	s.note(deliveringOut, o.deliveries())
	s.t.Log(worst(s.notes))
	return o
}

// end waits until the database commits and the nodes accept. If the nodes reported that the database went back, they may stop
// for good; then the load ends too.
func (o *outage) end(begin, repaired time.Time, unload func()) {
	o.s.t.Helper()
	ctx, within := o.s.t.Context(), hung
	if o.s.admitted {
		within = 30 * time.Second // in which nodes that found the newer server have gone on
	}
	works := await(ctx, within, func() bool { return o.commits.since(repaired) && o.accepted.since(repaired) })
	switch {
	case works:
		pause(ctx, 5*time.Second)
	case o.s.admitted:
		o.s.halted = true
		unload()
	default:
		o.s.t.Errorf("%s after the repair: the database commits: %v, the nodes accept: %v", within, o.commits.since(repaired),
			o.accepted.since(repaired))
		unload()
	}
	o.s.t.Logf("broken at %s, repaired after %s", begin.Format(time.TimeOnly), repaired.Sub(begin).Round(time.Millisecond))
}

// probe sends a request every 200 ms, each once, whether or not earlier ones have their response.
func (o *outage) probe(ctx context.Context, d dice) {
	web := &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 20}}
	defer web.CloseIdleConnections()
	var done sync.WaitGroup
	for _, a := range o.probes {
		c := &caller{http: web, nodes: o.s.front.all, d: d.child()}
		o.used.Add(1)
		done.Go(func() {
			a.write()
			c.post(o.s.t.Context(), a)
			if a.id != "" {
				o.accepted.hit(time.Now())
			}
			if a.id == "" && a.status == 0 {
				a.lost = true // nothing listened
			}
		})
		if pause(ctx, probeEvery); ctx.Err() != nil {
			break
		}
	}
	done.Wait()
}

// commit writes to one server all the time, as a client that knows it directly.
func (o *outage) commit(ctx context.Context, m *member) {
	for ctx.Err() == nil {
		o.write(ctx, m)
		pause(ctx, probeEvery)
	}
}

// write writes on one connection until a write fails.
func (o *outage) write(ctx context.Context, m *member) {
	dial, cancel := context.WithTimeout(ctx, time.Second)
	c, err := pgx.Connect(dial, m.url("postgres", superuserPassword, "postgres"))
	cancel()
	if err != nil {
		return
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = c.Close(end)
	}()
	for ctx.Err() == nil {
		// Longer than any wait for a new synchronous standby, so that a write that waits is not taken for a commit.
		try, cancel := context.WithTimeout(ctx, 30*time.Second)
		_, err := c.Exec(try, "INSERT INTO probe VALUES ($1)", time.Now().UnixMilli())
		cancel()
		if err != nil {
			return
		}
		o.commits.hit(time.Now())
		pause(ctx, probeEvery)
	}
}

// deliveries returns the longest time without a message at the channel.
func (o *outage) deliveries() time.Duration {
	var g gap
	for _, t := range o.s.postsAfter(o.begin) {
		g.hit(t)
	}
	return g.longest()
}

// postsAfter returns the times of the messages that the channel got after an instant, in order.
func (s *site) postsAfter(begin time.Time) (at []time.Time) {
	for _, p := range s.providers {
		for _, posts := range p.graph.All() {
			for _, x := range posts {
				if x.At.After(begin) {
					at = append(at, x.At)
				}
			}
		}
	}
	slices.SortFunc(at, time.Time.Compare)
	return at
}

// bounded checks that the nodes were out for hardly longer than the database.
func (o *outage) bounded() {
	o.s.t.Helper()
	if a, d := o.accepted.longest(), o.commits.longest(); a > d+beyondPatroni {
		o.s.t.Errorf("nothing was accepted for %s, and the database was out for %s", a.Round(time.Millisecond), d.Round(time.Millisecond))
	}
}

// moves waits until another machine is the primary.
func (h *machines) moves(ctx context.Context, from *member) {
	h.t.Helper()
	if !await(ctx, hung, func() bool {
		pause(ctx, 50*time.Millisecond)
		m := h.leaderOf(h.others(from))
		return m != nil
	}) {
		h.t.Errorf("no other machine became the primary")
	}
}

// ha is a scenario on machines that Patroni manages. It runs alone, because it measures.
func ha(t *testing.T, name string, setup func(s *site), round func(s *site, name string)) {
	t.Helper()
	scenario{
		name: managedPrefix + name, engines: []string{"postgres"}, quiet: true, most: maxManaged, rules: databaseRules, open: managed,
		setup: setup, round: round,
	}.run(t)
}

func TestHASwitchover(t *testing.T) {
	ha(t, "switchover", behind, func(s *site, name string) {
		h := s.machines
		s.outage(name, func(ctx context.Context) {
			from := h.leader()
			h.switchover(from)
			s.kills++
			h.moves(ctx, from)
		}).bounded()
		h.steady(3)
		s.alertsAskForPatronisMetrics()
	})
}

// alertsAskForPatronisMetrics checks that Patroni has the metrics of the alerts.
func (s *site) alertsAskForPatronisMetrics() {
	s.t.Helper()
	rules, err := os.ReadFile("../../deploy/prometheus/alerts.yml")
	if err != nil {
		s.t.Fatal(err)
	}
	page := s.machines.get(s.machines.members[0], "/metrics")
	names := regexp.MustCompile(`\bpatroni_[a-z_]+`).FindAllString(string(rules), -1)
	for _, name := range names {
		if !strings.Contains(page, "\n"+name+"{") {
			s.t.Errorf("Patroni has no metric %s", name)
		}
	}
	if len(names) < 4 {
		s.t.Errorf("only %d metrics are asked for", len(names))
	}
}

func TestHAServerKilled(t *testing.T) {
	ha(t, "server of the primary killed", behind, func(s *site, name string) { s.serverKilled(name).bounded() })
}

// serverKilled kills PostgreSQL of the primary. Its Patroni survives.
func (s *site) serverKilled(name string) *outage {
	s.t.Helper()
	h := s.machines
	o := s.outage(name, func(ctx context.Context) {
		from := h.leader()
		from.signal(syscall.SIGKILL)
		s.kills++
		h.moves(ctx, from)
	})
	h.steady(3)
	return o
}

func TestHAMachineKilled(t *testing.T) {
	ha(t, "machine of the primary killed", behind, func(s *site, name string) { s.machineKilled(name).bounded() })
}

func (s *site) machineKilled(name string) *outage {
	s.t.Helper()
	h := s.machines
	from := h.leader()
	o := s.outage(name, func(ctx context.Context) {
		from.lose()
		s.kills++
		h.moves(ctx, from)
	})
	from.patroni.start()
	h.steady(3)
	return o
}

// TestHASeveralHosts has nodes whose URL lists the machines. They find the new primary without HAProxy's help.
func TestHASeveralHosts(t *testing.T) {
	ha(t, "three hosts in the URL, server killed", listed, func(s *site, name string) {
		o := s.serverKilled(name)
		o.bounded()
		// The nodes find the new primary within 10 s, unless no server committed for longer.
		if a, d := o.accepted.longest(), o.commits.longest(); a > max(10*time.Second, d+time.Second) {
			s.t.Errorf("nothing was accepted for %s, and the database was out for %s", a.Round(time.Millisecond), d.Round(time.Millisecond))
		}
	})
}

func TestHASeveralHostsMachineKilled(t *testing.T) {
	ha(t, "three hosts in the URL, machine killed", listed, func(s *site, name string) { s.machineKilled(name).bounded() })
}

// TestHAFrozenAndFenced freezes the primary's machine, and kills it before it can wake up, as a watchdog does.
func TestHAFrozenAndFenced(t *testing.T) {
	ha(t, "primary frozen, fenced", behind, func(s *site, name string) {
		h := s.machines
		from := h.leader()
		s.outage(name, func(ctx context.Context) {
			from.freeze()
			s.kills++
			h.moves(ctx, from)
			from.lose()
		}).bounded()
		from.patroni.start()
		h.steady(3)
	})
}

func TestHAFrozenUnfenced(t *testing.T) {
	unfenced(t, "primary frozen, unfenced", behind, false)
}

func TestHAFrozenUnfencedSeveralHosts(t *testing.T) {
	unfenced(t, "primary frozen, unfenced, three hosts in the URL", listed, false)
}

// TestHAFrozenTakesTheLeadershipBack has the outcome that the others have by chance: the frozen primary leads again.
func TestHAFrozenTakesTheLeadershipBack(t *testing.T) {
	unfenced(t, "primary frozen, unfenced, leads again", listed, true)
}

// unfenced freezes the primary's machine for longer than Patroni waits, and thaws it while another primary works. Either
// the database kept its word and the ledger is exact, or the nodes stopped and said so.
func unfenced(t *testing.T, name string, setup func(s *site), back bool) {
	t.Helper()
	var mu sync.Mutex
	said := map[*node]string{}
	var refused time.Time
	scenario{
		name: managedPrefix + name, engines: []string{"postgres"}, quiet: true, most: maxManaged, rules: databaseRules, open: managed,
		setup: setup,
		round: func(s *site, name string) {
			h := s.machines
			from := h.leader()
			clear(said)
			var watch sync.WaitGroup
			o := s.outage(name, func(ctx context.Context) {
				from.freeze()
				s.kills++
				h.moves(ctx, from)
				pause(ctx, s.d.between(5*time.Second, 20*time.Second)) // requests are accepted by the new primary
				for _, n := range []*node{s.a, s.b} {
					watch.Go(func() {
						reason := n.admits(ctx, admission)
						mu.Lock()
						said[n] = reason
						mu.Unlock()
					})
				}
				if back {
					h.reinstate(from)
				}
				from.thaw()
				watch.Wait()
				s.admitted, refused = said[s.a] != "" && said[s.b] != "", time.Now()
			})
			if back && !s.halted {
				s.t.Errorf("the nodes went on with a database that lost commits")
			}
			if !s.halted {
				h.steady(3)
				o.bounded()
			} else if late := s.postsAfter(refused); len(late) > 0 {
				s.t.Errorf("%d messages were sent by nodes that had refused the database", len(late))
			}
			s.t.Logf("the nodes reported: %q, %q; they stopped: %v", said[s.a], said[s.b], s.halted)
		},
		check: func(s *site, l *ledger) {
			if len(l.faults) == 0 {
				return
			}
			for _, n := range []*node{s.a, s.b} {
				if said[n] == "" {
					l.fault("the database went back in time, and %s did not report it within %s", n.addr, admission)
				}
			}
			if said[s.a] != "" && said[s.b] != "" {
				s.t.Logf("the database did not keep its word; the nodes stopped: %s; %s", said[s.a], said[s.b])
				l.faults = nil
			}
		},
	}.run(t)
}

// backInTime matches the reports of a database that returned to an older state.
var backInTime = regexp.MustCompile(`(?i)went back|lost commits|is another|refused the database`)

// admits returns a node's report that the database went back in time: it is not ready, and its log has the reason. It is
// empty if there is none in time.
func (n *node) admits(ctx context.Context, within time.Duration) (reason string) {
	info, err := os.Stat(n.log)
	if err != nil {
		return ""
	}
	await(ctx, within, func() bool {
		pause(ctx, 250*time.Millisecond)
		status, body := n.readiness()
		log := backInTime.Find(n.loggedFrom(int(info.Size())))
		if status != http.StatusServiceUnavailable && !n.dead() || log == nil {
			return false
		}
		if n.dead() || backInTime.MatchString(body) {
			reason = fmt.Sprintf("%d %s", status, body)
		}
		return reason != ""
	})
	return reason
}

// TestHABothStandbysLost leaves the primary alone. In strict mode its commits wait, so nothing is accepted, until a standby
// is back.
func TestHABothStandbysLost(t *testing.T) {
	ha(t, "both standbys lost", behind, func(s *site, name string) {
		h := s.machines
		standbys := h.others(h.leader())
		o := s.outage(name, func(ctx context.Context) {
			for _, m := range standbys {
				m.lose()
				s.kills++
			}
			pause(ctx, s.d.between(12*time.Second, 20*time.Second))
			for _, m := range standbys {
				m.patroni.start()
			}
			h.steady(3)
		})
		if o.commits.longest() < 5*time.Second {
			s.t.Errorf("the database committed without a standby: it was out for %s only", o.commits.longest())
		}
		o.bounded()
	})
}

// TestHAEtcdAway ends etcd. The primary reaches both standbys, so it continues.
func TestHAEtcdAway(t *testing.T) {
	ha(t, "etcd away for 30 s", behind, func(s *site, name string) {
		h := s.machines
		from := h.leader()
		o := s.outage(name, func(ctx context.Context) {
			h.etcd.kill()
			s.kills++
			pause(ctx, 30*time.Second)
			h.etcd.start()
			h.steady(3)
		})
		if now := h.leader(); now != from {
			s.t.Errorf("the primary moved")
		}
		o.bounded()
	})
}

// TestHAProxyAway ends HAProxy, which leads callers to the nodes and the nodes to the database.
func TestHAProxyAway(t *testing.T) {
	ha(t, "HAProxy away", behind, func(s *site, name string) {
		h := s.machines
		var away time.Duration
		o := s.outage(name, func(ctx context.Context) {
			begin := time.Now()
			h.haproxy.kill()
			s.kills++
			pause(ctx, s.d.between(2*time.Second, 5*time.Second))
			h.haproxy.start()
			away = time.Since(begin)
		})
		s.note("HAProxy out", away)
		if a := o.accepted.longest(); a > away+beyondPatroni {
			s.t.Errorf("nothing was accepted for %s, and HAProxy was away for %s", a, away)
		}
	})
}
