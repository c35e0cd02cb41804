package faults

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/store/storetest"
)

// site is a set of nodes with their database, provider and callers.
type site struct {
	t         *testing.T
	d         dice
	engine    string
	url       string // of PostgreSQL; empty on SQLite
	dir       string
	front     *front
	providers []*channelAccount
	books     *books
	wire      *tripwire
	numbers   atomic.Int64
	asks      []*ask
	mute      bool          // providers do not report all accepted messages
	back      time.Time     // time at which the database returned to an earlier state
	patience  time.Duration // time for everything to end; default hung

	x, a, b *node    // the only node, or the two nodes
	cluster *cluster // PostgreSQL of this scenario alone
	proxy   *proxy

	machines *machines // PostgreSQL managed by Patroni
	admitted bool      // the nodes reported that the database went back
	halted   bool      // and wait for an operator: nothing ends any more
	kills    int
	made     atomic.Int64             // faults injected by a provider
	paused   atomic.Bool              // the channel has paused the template
	notes    map[string]time.Duration // worst measured times
}

// size is the number of requests in a round.
const size = 60

// newSite returns a site on a new database: in the PostgreSQL of the tests, or SQLite.
func newSite(t *testing.T, name, engine string) *site {
	t.Helper()
	url := ""
	if engine == "postgres" {
		url = storetest.Postgres(t)
	}
	return newSiteOn(t, name, engine, t.TempDir(), url)
}

// newSiteOn returns a site on the given database.
func newSiteOn(t *testing.T, name, engine, dir, url string) *site {
	t.Helper()
	s := &site{
		t: t, d: newDice(t, name+" "+engine), engine: engine, dir: dir, url: url, wire: newTripwire(),
		patience: hung, notes: map[string]time.Duration{},
	}
	late := 5 * time.Second // longer than the wait for an unknown outcome
	if engine == "postgres" {
		late += 2 * time.Second
		if *rounds > 0 {
			late += 4 * time.Second // plus the time until a killed node's shards are taken over
		}
	}
	s.front = newFront(t)
	s.providers = newProviders(t, s.front, s.d.child(), late, s.wire)
	s.books = openBooks(t, s.dir, s.url)
	t.Cleanup(func() { _ = s.books.db.Close() })
	return s
}

// note keeps the worst of a measured time for the summary.
func (s *site) note(what string, d time.Duration) { s.notes[what] = max(s.notes[what], d) }

// node adds a node. It uses the site's database, at url if not empty.
func (s *site) node(url string) *node {
	s.t.Helper()
	dir := s.dir
	flags := []string{"--provision=" + provisionFile(s.t, s.t.TempDir(), s.providers...), "--password-memory=8", "--password-passes=1"}
	if s.url != "" {
		dir = s.t.TempDir()
		if url == "" {
			url = s.url
		}
		flags = append(flags, "--database-url="+url, "--master-key-file="+storetest.MasterKey(s.t))
	}
	return newNode(s.t, dir, flags...)
}

// draw creates n random requests.
func (s *site) draw(name string, n int) []*ask {
	number := func() string { return fmt.Sprintf("3460%07d", s.numbers.Add(1)) }
	asks := make([]*ask, n)
	for i := range asks {
		asks[i] = newAsk(s.d, fmt.Sprintf("%s-%d", name, i), number, s.providers)
	}
	s.asks = append(s.asks, asks...)
	return asks
}

// held waits until the nodes own all shards.
func (s *site) held() {
	s.t.Helper()
	if s.url == "" {
		return
	}
	if !await(s.t.Context(), hung, func() bool {
		var free int
		err := s.books.db.QueryRowContext(s.t.Context(),
			"SELECT COUNT(*) FROM shard WHERE owner IS NULL OR owner NOT IN (SELECT id FROM node)").Scan(&free)
		return err == nil && free == 0
	}) {
		s.t.Errorf("shards are still without an owner after %s", hung)
	}
}

// awaitAndBalance waits for the end of everything requested so far and checks it against the rules.
func (s *site) awaitAndBalance(name string, r rules) *ledger {
	s.t.Helper()
	ended := awaitEnd(s.t.Context(), s.books, s.patience, s.mute, s.back)
	// A notification is closed a moment after its last message.
	closed := await(s.t.Context(), hung, func() bool {
		var n int
		err := s.books.db.QueryRowContext(s.t.Context(), `SELECT COUNT(*) FROM notification WHERE open > 0 AND NOT EXISTS
			(SELECT 1 FROM message WHERE message.id >> 7 = notification.seq AND q > 0)`).Scan(&n)
		return err == nil && n == 0
	})
	if !await(s.t.Context(), hung, func() bool { return s.books.db.PingContext(s.t.Context()) == nil }) {
		s.t.Fatal("the database does not answer")
	}
	l := balance(s.t.Context(), s.t, name, s.books, s.asks, s.providers, r)
	if !ended {
		l.fault("not everything ended in time:%s", s.books.waiting(s.t.Context()))
	}
	if !closed {
		l.fault("notifications stay open though their messages have ended")
	}
	return l
}

// report prints a ledger and fails with its faults.
func (s *site) report(l *ledger) {
	s.t.Helper()
	s.t.Logf("\n%s\n%s", ledgerHead, l)
	for i, f := range l.faults {
		if i == 20 {
			s.t.Errorf("and %d faults more", len(l.faults)-i)
			break
		}
		s.t.Error(f)
	}
}

// TestFaults repeatedly kills the program at random while it accepts and delivers, on the same data.
func TestFaults(t *testing.T) {
	scenario{
		name: "killed", short: true, setup: alone,
		round: func(s *site, name string) { s.kills += s.killRound(s.x, name, size) },
	}.run(t)
}

// killRound loads the program and kills it one to three times: at a random time, during a post whose response is on
// its way, or sometimes while starting.
func (s *site) killRound(x *node, name string, size int) (kills int) {
	s.t.Helper()
	asks := s.draw(name, size)
	loaded := make(chan struct{})
	d := s.d.child()
	go func() {
		defer close(loaded)
		load(s.t.Context(), s.front, d, asks, 1500*time.Millisecond)
	}()
	for range 1 + s.d.IntN(3) {
		s.moment()
		x.kill()
		kills++
		x.spawn()
		if s.d.chance(25) {
			pause(s.t.Context(), s.d.between(0, 300*time.Millisecond))
			x.kill()
			kills++
			x.spawn()
		}
		x.awaitReady()
	}
	<-loaded
	s.held()
	return kills
}

// moment waits until it is time to kill.
func (s *site) moment() {
	limit := s.d.between(20*time.Millisecond, 1500*time.Millisecond)
	if s.d.chance(60) {
		s.wire.arm(1 + s.d.IntN(150))
		limit = 2 * time.Second
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.wire.hit:
	case <-s.t.Context().Done():
	}
}
