package main

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/load"
)

// ledger is what became of everything that was accepted.
type ledger struct {
	told                     int // requests that were answered with 200
	absent                   int // of the told, not in the database
	stored                   int // messages in the database
	sent, unknown, failed    int
	pending                  int
	posts                    int // what the channel was sent
	missing, doubled, untold int // of the told, never at the channel; at the channel more than once; not told
	megabytes                float64
}

// adds tells whether the accounts agree: accepted = delivered + failed with a reason + pending, nothing lost, nothing
// twice. A message whose outcome is unknown may or may not be at the channel.
func (l *ledger) adds() bool {
	return l.stored == l.sent+l.unknown+l.failed+l.pending && l.absent == 0 && l.missing <= l.unknown+l.failed+l.pending && l.doubled == 0
}

// settleAccounts waits until nothing more is delivered, stops the nodes and counts.
func (s *soak) settleAccounts(ctx context.Context) (*ledger, error) {
	for last, quiet := -1, 0; quiet < 8; quiet++ {
		now, _, err := s.counted()
		if err != nil {
			return nil, err
		}
		if now != last {
			last, quiet = now, 0
		}
		if err := rest(ctx, time.Second); err != nil {
			return nil, err
		}
	}
	if err := s.lookAtRest(ctx, 1); err != nil {
		return nil, err
	}
	for _, n := range s.nodes {
		n.stop()
	}
	l := &ledger{told: len(s.told)}
	var err error
	if _, l.posts, err = s.counted(); err != nil {
		return nil, err
	}
	name, err := s.writeTold()
	if err != nil {
		return nil, err
	}
	if err := s.sink.tell("%s", name); err != nil {
		return nil, err
	}
	text, err := s.sink.hear()
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Sscan(text, &l.missing, &l.doubled, &l.untold); err != nil {
		return nil, err
	}
	return l, s.count(ctx, l)
}

// count reads the states of all messages from the database.
func (s *soak) count(ctx context.Context, l *ledger) error {
	from := &stock{e: s.e, dir: s.options[0].dir, database: "soak"}
	db, err := from.open(s.cluster)
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, "SELECT CASE WHEN q > 0 THEN -1 ELSE rank END AS state, COUNT(*) FROM message GROUP BY 1")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var state, n int
		if err := rows.Scan(&state, &n); err != nil {
			return err
		}
		l.stored += n
		switch carillon.Rank(state) {
		case -1:
			l.pending += n
		case carillon.RankFailedUnknown:
			l.unknown += n
		case carillon.RankSent, carillon.RankDelivered, carillon.RankRead:
			l.sent += n
		default:
			l.failed += n
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if l.absent, err = s.absent(ctx, db); err != nil {
		return err
	}
	size, err := from.size(ctx, s.cluster)
	l.megabytes = size / 1e6
	return err
}

// absent counts what clients were told is accepted and the database does not have.
func (s *soak) absent(ctx context.Context, db *sql.DB) (int, error) {
	told := slices.Compact(slices.Sorted(slices.Values(s.told)))
	rows, err := db.QueryContext(ctx, "SELECT id FROM notification")
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	absent := len(told)
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return 0, err
		}
		if _, found := slices.BinarySearch(told, messageKey(id, "0")); found {
			absent--
		}
	}
	return absent, rows.Err()
}

// report writes the page and the plots.
func (s *soak) report(r *load.Result, l *ledger) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Soak: %s on %s, %s\n\nMade by `go run ./bench -soak %s`. %s, commit %s, %d cores.\n\n",
		map[bool]string{false: "one node", true: "two nodes"}[s.e.postgres], s.e.name, s.lasts, s.lasts,
		time.Now().UTC().Format(time.DateOnly), commit(), runtime.NumCPU())
	fmt.Fprintf(&b, "Requests to one recipient, due at once, from %d senders, each with its own Idempotency-Key, come at random instants with %.0f/s on average\n"+
		"over %d connections", soakSenders, s.rate, soakConns)
	if s.measured[0] > 0 {
		fmt.Fprintf(&b, ": 60 %% of what the nodes, in a closed loop beforehand, accepted and delivered (%.0f/s; accepted alone %.0f/s)", s.measured[1], s.measured[0])
	}
	b.WriteString(".\nLatencies count from when a request was due to leave until it was accepted, with all its repeats on other nodes.\n" +
		s.whoRestarts() + "; the program, PostgreSQL, the clients and the channel share the machine.\n\n")
	fmt.Fprintf(&b, "![Over time](%s.svg)\n\n## Latency\n\n| | ms |\n|---|---|\n", filepath.Base(s.out))
	for _, q := range []struct {
		name string
		q    float64
	}{{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}, {"most", 1}} {
		fmt.Fprintf(&b, "| %s of all | %s |\n", q.name, show(r.OK.Milliseconds(q.q)))
	}
	var p99s []float64
	for _, w := range s.windows {
		p99s = append(p99s, w.p99)
	}
	if len(p99s) > 0 {
		fmt.Fprintf(&b, "| p99 of ten seconds: median | %s |\n| p99 of ten seconds: worst | %s |\n", show(median(p99s)), show(slices.Max(p99s)))
	}
	fmt.Fprintf(&b, "\nAnswers: %s. On the way %d connections broke and %d answers were 503; all were repeated, %d requests were given up.\n",
		statuses(r), s.client.broken.Load(), s.client.refused.Load(), s.client.given.Load())
	s.reportLedger(&b, l)
	s.reportFlatness(&b)
	s.reportRestarts(&b)
	s.reportMachine(&b)
	fmt.Fprint(os.Stdout, b.String())
	if err := os.WriteFile(s.out+".md", []byte(b.String()), 0o644); err != nil {
		return err
	}
	return draw(s.out+".svg", s.charts()...)
}

func (s *soak) reportLedger(b *strings.Builder, l *ledger) {
	verdict := "The accounts agree: nothing is lost, nothing was sent twice."
	if !l.adds() {
		verdict = "**The accounts do not agree.**"
	}
	fmt.Fprintf(b, "\n## Ledger\n\n| | |\n|---|---|\n| told accepted to a client | %d |\n| told and not stored | %d |\n| messages stored | %d |\n| sent | %d |\n"+
		"| failed, outcome unknown (in flight at a kill) | %d |\n| failed otherwise | %d |\n| pending | %d |\n| posts at the channel | %d |\n"+
		"| told and never at the channel | %d |\n| at the channel more than once | %d |\n| at the channel and not told | %d |\n| database, MB | %.0f |\n\n%s\n",
		l.told, l.absent, l.stored, l.sent, l.unknown, l.failed, l.pending, l.posts, l.missing, l.doubled, l.untold, l.megabytes, verdict)
}

func (s *soak) reportFlatness(b *strings.Builder) {
	fmt.Fprintf(b, "\n## Flat\n\nOf a node that stays, growth over the run is the median slope between the levels of its thirtieths, after a tenth at the\n"+
		"beginning. Of one that is restarted it is that between its lives (their last halves), and growth within a life, which begins\n"+
		"with empty caches, is from the second to the last quarter. The 95 %% interval of a slope is Kendall's. Flat is at most\n"+
		"%d %% over the run and %d %% within a life, by the estimates.\n\n"+
		"| | Median | Least | Most | Over the run (95 %%) | Within a life | Lives | Flat |\n|---|---|---|---|---|---|---|---|\n", maxOverRun, maxInLife)
	for node := range s.options {
		for i, name := range watched() {
			f := s.judge(node, i, name)
			within := "–"
			if f.lives > 1 {
				within = fmt.Sprintf("%+.1f %%", f.withinLife)
			}
			fmt.Fprintf(b, "| Node %d: %s | %s | %s | %s | %+.1f %% (%+.1f to %+.1f) | %s | %d | %s |\n", node+1, f.name, show(f.median), show(f.least), show(f.highest),
				f.overRun.mid, f.overRun.low, f.overRun.high, within, f.lives, map[bool]string{true: "ok", false: "no"}[f.flat])
		}
	}
	if s.restarting() == 0 {
		return // none stays
	}
	fmt.Fprintf(b, "\nRequests in flight have goroutines and connections of their own, and there are more of them while the machine is slow.\n"+
		"At rest, %s without a request, node 1 had:\n\n| | Before the load | After it |\n|---|---|---|\n", restOf)
	for i, name := range watched() {
		fmt.Fprintf(b, "| %s | %s | %s |\n", name, show(s.atRest[0].values[i]), show(s.atRest[1].values[i]))
	}
}

// reportMachine tells what the machine itself did meanwhile: latencies follow it.
func (s *soak) reportMachine(b *strings.Builder) {
	var speeds, withheld []float64
	for _, w := range s.windows {
		speeds, withheld = append(speeds, w.speed), append(withheld, w.withheld)
	}
	if len(speeds) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## The machine\n\n| By ten seconds | Median | Least | Most |\n|---|---|---|---|\n")
	for _, v := range []struct {
		name   string
		values []float64
	}{{"SHA-256 on one processor, MB/s", speeds}, {"processor time withheld by its host, %", withheld}} {
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", v.name, show(median(v.values)), show(slices.Min(v.values)), show(slices.Max(v.values)))
	}
}

func (s *soak) whoRestarts() string {
	if len(s.options) == 1 {
		return fmt.Sprintf("The node is restarted every %s", s.every())
	}
	return fmt.Sprintf("One node stays, the other is restarted every %s: its senders go over to the first, and half of all come back", s.every())
}

func (s *soak) reportRestarts(b *strings.Builder) {
	away := map[bool][]float64{}
	for _, r := range s.restarts {
		away[r.killed] = append(away[r.killed], r.away.Seconds())
	}
	b.WriteString("\n## Restarts\n\n| By | Count | Away, s, median | Away, s, most |\n|---|---|---|---|\n")
	for _, killed := range slices.SortedFunc(maps.Keys(away), func(a, _ bool) int { return map[bool]int{false: -1, true: 1}[a] }) {
		fmt.Fprintf(b, "| %s | %d | %s | %s |\n", map[bool]string{false: "SIGTERM", true: "kill -9"}[killed], len(away[killed]), show(median(away[killed])), show(slices.Max(away[killed])))
	}
}

// charts are the rate, the latency and what the nodes took, over time.
func (s *soak) charts() []chart {
	minutes := func(d time.Duration) float64 { return d.Minutes() }
	rate := series{name: "accepted"}
	half, most, quick := series{name: "p50"}, series{name: "p99"}, series{name: "one processor"}
	for _, w := range s.windows {
		at := minutes(w.at)
		rate.x, rate.y = append(rate.x, at), append(rate.y, w.rate)
		half.x, half.y = append(half.x, at), append(half.y, w.p50)
		most.x, most.y = append(most.x, at), append(most.y, w.p99)
		quick.x, quick.y = append(quick.x, at), append(quick.y, w.speed)
	}
	charts := []chart{
		timeChart("Accepted, by ten seconds", "requests/s", s.lasts, rate),
		timeChart("Latency, by ten seconds", "milliseconds", s.lasts, half, most),
		timeChart("A processor of the machine: SHA-256, by ten seconds", "MB/s", s.lasts, quick),
	}
	for which, name := range watched() {
		lines, lives := make([]series, len(s.options)), make([]int, len(s.options))
		for i := range lines {
			lines[i].name = fmt.Sprintf("node %d", i+1)
		}
		for _, x := range s.samples {
			line := &lines[x.node]
			if x.life != lives[x.node] { // the node was away
				lives[x.node] = x.life
				line.x, line.y = append(line.x, minutes(x.at)), append(line.y, math.NaN())
			}
			line.x, line.y = append(line.x, minutes(x.at)), append(line.y, x.values[which])
		}
		title, unit, _ := strings.Cut(name, ", ")
		charts = append(charts, timeChart(title, cmp.Or(unit, "open"), s.lasts, lines...))
	}
	return charts
}

func timeChart(title, unit string, lasts time.Duration, lines ...series) chart {
	end := series{x: []float64{lasts.Minutes()}}
	return chart{
		title: title, lines: lines,
		x: linear("minutes", []series{end}, func(s series) []float64 { return s.x }),
		y: linear(unit, lines, func(s series) []float64 { return s.y }),
	}
}
