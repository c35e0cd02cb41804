package faults

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// scenario is one way to break the program, repeated on the same site: nodes, database and data stay from round to
// round. After each round the ledger must balance.
type scenario struct {
	name    string
	short   bool     // `make test` runs one round; otherwise only `make faults` runs it
	engines []string // default: both
	most    int      // maximum number of rounds; 0 means no maximum
	wide    bool     // runs all its rounds in parallel, as one
	quiet   bool     // measures, so no other test runs meanwhile
	rules   rules
	open    func(t *testing.T, name, engine string) *site // default: newSite
	setup   func(s *site)                                 // starts the nodes
	round   func(s *site, name string)
	check   func(s *site, l *ledger) // additional checks of the ledger
}

const short = 1 // rounds of a scenario in `make test`

// run runs the scenario on its engines, in parallel with others.
func (c scenario) run(t *testing.T) {
	t.Helper()
	if !c.short {
		long(t)
	}
	if !c.quiet {
		t.Parallel() // it mostly waits
	}
	if c.engines == nil {
		c.engines = []string{"sqlite", "postgres"}
	}
	for _, engine := range c.engines {
		t.Run(engine, func(t *testing.T) {
			if !c.quiet {
				t.Parallel()
			}
			c.on(t, engine)
		})
	}
}

func (c scenario) on(t *testing.T, engine string) {
	begin := time.Now()
	if c.open == nil {
		c.open = newSite
	}
	s := c.open(t, c.name, engine)
	c.setup(s)
	n := *rounds
	if n == 0 {
		n = short
	}
	if c.most > 0 {
		n = min(n, c.most)
	}
	if c.wide {
		n = 1
	}
	row := result{scenario: c.name, engine: engine, notes: s.notes}
	defer func() { results.put(row, time.Since(begin), t.Failed()) }()
	for i := range n {
		name := fmt.Sprintf("%s %s %d", c.name, engine, i+1)
		c.round(s, name)
		if s.halted {
			row.rounds, row.stopped = i+1, true
			return
		}
		l := s.awaitAndBalance(name, c.rules)
		l.kills = s.kills
		if c.check != nil {
			c.check(s, l)
		}
		s.report(l)
		row.rounds, row.ledger = i+1, l
		if c.wide {
			row.rounds = max(*rounds, 3)
		}
		if t.Failed() {
			return
		}
	}
}

// alone starts a site's only node.
func alone(s *site) {
	s.t.Helper()
	s.x = s.node("")
	s.front.set(s.x)
	s.x.start()
	s.held()
}

// result is the result of a scenario on one engine.
type result struct {
	scenario, engine string
	rounds           int
	ledger           *ledger
	notes            map[string]time.Duration
	took             time.Duration
	failed           bool
	stopped          bool // the nodes stopped, because the database went back
}

// summary collects the results of the scenarios.
type summary struct {
	mu   sync.Mutex
	rows []result
}

var results summary

func (s *summary) put(r result, took time.Duration, failed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.took, r.failed = took, failed
	s.rows = append(s.rows, r)
}

// table returns one line per scenario and engine; empty if nothing was run.
func (s *summary) table() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.rows) == 0 {
		return ""
	}
	slices.SortFunc(s.rows, func(a, b result) int {
		return strings.Compare(a.scenario+" "+a.engine, b.scenario+" "+b.engine)
	})
	var b strings.Builder
	b.WriteString("| Scenario | Engine | Rounds | Faults made | Accepted | Messages | Read or delivered | Sent | Failed, with " +
		"reason | Canceled, skipped | Pending | Outcomes unknown | Doubles named | Lost | Measured | Took | |\n")
	b.WriteString("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|--:|---|\n")
	for _, r := range s.rows {
		verdict := "balances"
		switch {
		case r.failed, r.ledger == nil && !r.stopped:
			verdict = "**FAILS**"
		case r.stopped:
			verdict = "the database went back, and the nodes stopped"
		}
		l := r.ledger
		if l == nil {
			l = &ledger{}
		}
		failed := 0
		for _, n := range l.failed {
			failed += n
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %s | %s | %s |\n", r.scenario,
			r.engine, r.rounds, l.kills,
			l.answered, l.messages, l.read+l.delivered, l.sent, failed, l.canceled+l.skipped, l.pending, l.unknown, l.twice, l.missing,
			worst(r.notes), r.took.Round(time.Second), verdict)
	}
	return b.String()
}

// The measured times of scenarios with an outage.
const acceptingOut, deliveringOut, databaseOut = "accepting out", "delivering out", "database out"

// outages returns the table of the guide about failover; empty if nothing of it was run.
func (s *summary) outages() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, r := range s.rows {
		if _, measured := r.notes[databaseOut]; !measured {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("| Broken | Database out | Accepting out | Delivering out |\n|---|--:|--:|--:|\n")
		}
		fmt.Fprintf(&b, "| %s |", strings.TrimPrefix(r.scenario, managedPrefix))
		for _, what := range []string{databaseOut, acceptingOut, deliveringOut} {
			fmt.Fprintf(&b, " %.1f s |", r.notes[what].Seconds())
		}
		b.WriteString("\n")
	}
	return b.String()
}

func worst(notes map[string]time.Duration) string {
	parts := make([]string, 0, len(notes))
	for what, d := range notes {
		unit := time.Millisecond
		if d < 10*unit {
			unit = time.Microsecond
		}
		parts = append(parts, fmt.Sprintf("%s ≤ %s", what, d.Round(unit)))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// page returns the Markdown page with the table.
func (s *summary) page(table string) string {
	return "# Ledger of the fault suite\n\n<!-- Made by: make faults -->\n\n" +
		fmt.Sprintf("%s, seed %d, %d rounds of each scenario on each engine where it applies.\n\n",
			time.Now().UTC().Format(time.DateOnly), *seed, *rounds) +
		"A scenario's figures are the sums over its rounds, which share a database. Accepted are requests answered 200; lost are those\n" +
		"of them that are not stored any more. Doubles named are messages that the provider took twice: each is a message whose outcome\n" +
		"was unknown and whose sender's policy is to send again. A fault made is a kill, a stop, a cut, a full disk, a stepped " +
		"clock …\n\n" + table
}
