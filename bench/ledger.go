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

// settleAccounts stops the nodes and counts.
func (s *soak) settleAccounts(ctx context.Context) (*ledger, error) {
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
func (s *soak) report(l *ledger) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Soak: %s on %s, %s\n\nMade by `go run ./bench -soak %s`. %s, commit %s, %d cores.\n\n",
		map[bool]string{false: "one node", true: "two nodes"}[s.e.postgres], s.e.name, s.lasts, s.lasts,
		time.Now().UTC().Format(time.DateOnly), commit(), runtime.NumCPU())
	fmt.Fprintf(&b, "Requests to one recipient, due at once, from %d senders, each with its own Idempotency-Key, come at random instants with %.0f/s on average\n"+
		"over %d connections", soakSenders, s.rate, soakConns)
	if s.measured[0] > 0 {
		fmt.Fprintf(&b, ": 60 %% of what the nodes, in a closed loop beforehand, accepted and delivered (%.0f/s; accepted alone %.0f/s)", s.measured[1], s.measured[0])
	}
	fmt.Fprintf(&b, ".\nThere are %s of such load, in %d stretches; after each nobody asks for anything until all is delivered and %s more have passed",
		s.lasts, s.stretches(), restOf)
	b.WriteString(".\nLatencies count from when a request was due to leave until it was accepted, with all its repeats on other nodes.\n" +
		s.whoRestarts() + "; the program, PostgreSQL, the clients and the channel share the machine.\n\n")
	fmt.Fprintf(&b, "![Over time](%s.svg)\n\n## Latency\n\n| | ms |\n|---|---|\n", filepath.Base(s.out))
	for _, q := range []struct {
		name string
		q    float64
	}{{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}, {"most", 1}} {
		fmt.Fprintf(&b, "| %s of all | %s |\n", q.name, show(s.took.Milliseconds(q.q)))
	}
	var p99s []float64
	var p50s [][2]float64
	for _, w := range s.windows {
		p50s, p99s = append(p50s, [2]float64{w.at.Seconds(), w.p50}), append(p99s, w.p99)
	}
	if len(p99s) > 1 {
		fmt.Fprintf(&b, "| p99 of ten seconds: median | %s |\n| p99 of ten seconds: worst | %s |\n", show(median(p99s)), show(slices.Max(p99s)))
		fmt.Fprintf(&b, "\nOver the run the p50 of ten seconds grew by %s.\n", growth(p50s))
	}
	fmt.Fprintf(&b, "\nAnswers: %s. On the way %d connections broke and %d answers were 503; all were repeated, %d requests were given up.\n",
		statusesOf(s.answers, s.gone), s.client.broken.Load(), s.client.refused.Load(), s.client.given.Load())
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
	fmt.Fprintf(b, "\n## Flat\n\nRequests in flight have goroutines and connections of their own, and there are more of them while the machine is slow. What a\n"+
		"node keeps for good it has at rest too: %s without a request after all was delivered, when idle connections are closed.\n"+
		"Growth is the median slope between all pairs of levels (Theil and Sen) from the first to the last, with its 95 %% interval\n"+
		"(Kendall). At rest, flat is at most %d %% from the first rest after load to the last.\n\n| At rest | Before |", restOf, maxGrowth)
	for i := range s.atRest[1:] {
		fmt.Fprintf(b, " %.3g min of load |", s.lasts.Minutes()*float64(i+1)/float64(s.stretches()))
	}
	fmt.Fprintf(b, " Growth (95 %%) | Flat |\n|---|---|%s---|---|\n", strings.Repeat("---|", len(s.atRest)-1))
	s.eachWatched(func(name string, node, which int) {
		fmt.Fprintf(b, "| %s |", name)
		for _, kept := range s.atRest {
			fmt.Fprintf(b, " %s |", show(kept[node].values[which]))
		}
		grown, verdict := s.judgeAtRest(node, which)
		fmt.Fprintf(b, " %s | %s |\n", grown, verdict)
	})
	fmt.Fprintf(b, "\nUnder load, the levels of a node that stays are those of the run's thirtieths, after a tenth at the beginning. Those of one that is\n"+
		"restarted are its lives' (their last halves), and growth within a life, which begins with empty caches, is from the second to the\n"+
		"last quarter. Flat is at most %d %% over the run, of memory by the estimate, of goroutines and descriptors by the lower end of\n"+
		"its interval, so that a queue that grows with the load would show, and at most %d %% within a life.\n\n"+
		"| Under load | Median | Least | Most | Growth (95 %%) | Within a life | Lives | Flat |\n|---|---|---|---|---|---|---|---|\n", maxGrowth, maxInLife)
	s.eachWatched(func(name string, node, which int) {
		u := s.judgeUnderLoad(node, which)
		within := "–"
		if u.lives > 1 {
			within = fmt.Sprintf("%+.1f %%", u.withinLife)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %d | %s |\n", name, show(u.median), show(u.least), show(u.highest), u.overRun, within, u.lives, u.verdict)
	})
}

// eachWatched names every value of every node.
func (s *soak) eachWatched(tell func(name string, node, which int)) {
	for node := range s.options {
		for which, name := range watched() {
			tell(fmt.Sprintf("Node %d: %s", node+1, name), node, which)
		}
	}
}

// reportMachine tells what the machine itself did meanwhile: latencies follow it.
func (s *soak) reportMachine(b *strings.Builder) {
	var speeds, withheld, flushes []float64
	for _, w := range s.windows {
		speeds, withheld, flushes = append(speeds, w.speed), append(withheld, w.withheld), append(flushes, w.flush)
	}
	if len(speeds) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## The machine\n\n| By ten seconds | Median | Least | Most |\n|---|---|---|---|\n")
	for _, v := range []struct {
		name   string
		values []float64
	}{{"SHA-256 on one processor, MB/s", speeds}, {"processor time withheld by its host, %", withheld}, {"fdatasync of 4 KiB appended, ms", flushes}} {
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
	half, most, quick, flush := series{name: "p50"}, series{name: "p99"}, series{name: "one processor"}, series{name: "a flush"}
	for i, w := range s.windows {
		at := minutes(w.at)
		if i > 0 && w.at-s.windows[i-1].at > restOf { // there was a rest between
			for _, line := range []*series{&rate, &half, &most, &quick, &flush} {
				line.x, line.y = append(line.x, at), append(line.y, math.NaN())
			}
		}
		rate.x, rate.y = append(rate.x, at), append(rate.y, w.rate)
		half.x, half.y = append(half.x, at), append(half.y, w.p50)
		most.x, most.y = append(most.x, at), append(most.y, w.p99)
		quick.x, quick.y = append(quick.x, at), append(quick.y, w.speed)
		flush.x, flush.y = append(flush.x, at), append(flush.y, w.flush)
	}
	charts := []chart{
		timeChart("Accepted, by ten seconds", "requests/s", s.ran, rate),
		timeChart("Latency, by ten seconds", "milliseconds", s.ran, half, most),
		timeChart("A processor of the machine: SHA-256, by ten seconds", "MB/s", s.ran, quick),
		timeChart("The machine's disk: fdatasync of 4 KiB appended, by ten seconds", "milliseconds", s.ran, flush),
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
		charts = append(charts, timeChart(title, cmp.Or(unit, "open"), s.ran, lines...))
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
