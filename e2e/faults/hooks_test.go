package faults

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/store/events"
	"carillon/internal/store/storetest"
)

const hooksProvision = `companies:
  - id: 5f0c1d9e-2b7a-4c51-9f0e-3a2b1c0d9e01
    name: Events
    limits: {sends_per_minute: 0, daily_recipients: 0, daily_bytes: 0}
    keys: [{key: ` + accessKey + `, label: faults, scopes: ["*"]}]
    senders: [{id: main, number: "15555550101", channel: messaging, provider: sandbox, default: true,
      unknown_outcome: {transactional: fail, utility: fail, marketing: fail, after: 3s}}]
    templates: [{sender: main, name: hello, language: en, category: UTILITY, status: approved, body: "Hello {{1}}, bye.",
      examples: {body: [Ana]}}]
    webhooks: [{url: "FREE"}, {url: "ORDERED", ordered: true}]
`

// taker is an endpoint that stores the events it receives.
type taker struct {
	*httptest.Server
	wire  *tripwire
	mu    sync.Mutex
	order []int64 // events in the order of their first request
	came  map[int64]int
	last  time.Time // arrival of the latest new event
}

func newTaker(t *testing.T) *taker {
	t.Helper()
	x := &taker{wire: newTripwire(), came: map[int64]int{}}
	x.Server = httptest.NewServer(x)
	t.Cleanup(x.Close)
	return x
}

// ServeHTTP accepts an event. It pauses before it responds, since its sender may be killed then.
func (x *taker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var b struct{ Sequence int64 }
	if err := json.NewDecoder(r.Body).Decode(&b); err != nil {
		return // its sender was killed: not delivered
	}
	x.mu.Lock()
	if x.came[b.Sequence]++; x.came[b.Sequence] == 1 {
		x.order, x.last = append(x.order, b.Sequence), time.Now()
	}
	x.mu.Unlock()
	x.wire.post()
	pause(r.Context(), 3*time.Millisecond)
	w.WriteHeader(http.StatusNoContent)
}

// hookSite is one or two nodes whose events go to two endpoints.
type hookSite struct {
	t             *testing.T
	db            *sql.DB
	nodes         []*node
	free, ordered *taker
	accepted      int
	numbers       int
	breaks        int // kills, and hand-overs between nodes: each may duplicate events
}

func newHookSite(t *testing.T, engine string, nodes int) *hookSite {
	t.Helper()
	s := &hookSite{t: t, free: newTaker(t), ordered: newTaker(t)}
	dir := t.TempDir()
	provision := filepath.Join(dir, "provision.yaml")
	text := strings.NewReplacer("FREE", s.free.URL, "ORDERED", s.ordered.URL).Replace(hooksProvision)
	if err := os.WriteFile(provision, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--provision=" + provision, "--media-allow-private=127.0.0.0/8", "--password-memory=8", "--password-passes=1"}
	driver, source := "sqlite", "file:"+filepath.Join(dir, "0", "carillon.db")+"?mode=ro&_pragma=busy_timeout(5000)"
	if engine == "postgres" {
		driver, source = "pgx", storetest.Postgres(t)
		flags = append(flags, "--database-url="+source, "--master-key-file="+storetest.MasterKey(t))
	}
	for i := range nodes {
		folder := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		s.nodes = append(s.nodes, newNode(t, folder, flags...))
		s.nodes[i].start()
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s.db = db
	s.share(nodes)
	return s
}

// share waits until the nodes share the shards on PostgreSQL. On SQLite the only node owns all.
func (s *hookSite) share(nodes int) {
	s.t.Helper()
	if len(s.nodes) == 1 {
		return
	}
	s.breaks++
	if !await(s.t.Context(), hung, func() bool {
		var owners, owned int
		err := s.db.QueryRowContext(s.t.Context(), "SELECT COUNT(DISTINCT owner), COUNT(owner) FROM shard").Scan(&owners, &owned)
		return err == nil && owners == nodes && owned == 64
	}) {
		s.t.Fatalf("the shards are not shared by %d nodes", nodes)
	}
}

// accept sends bulks of twenty messages to a node.
func (s *hookSite) accept(n *node, bulks int) {
	s.t.Helper()
	for range bulks {
		var contacts []string
		for range 20 {
			s.numbers++
			contacts = append(contacts, fmt.Sprintf(`{"number":"3460%07d","name":"Ana"}`, s.numbers))
		}
		body := `{"contacts":[` + strings.Join(contacts, ",") +
			`],"recipient_id":"main","name_template":"hello","language_template":"en",` +
			`"notification_type":"transactional","campaign_name":"events","components_push":{"body_text_0":"Ana"}}`
		req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost,
			"http://"+n.addr+"/functions/v1/notify?access_key="+accessKey, strings.NewReader(body))
		if err != nil {
			s.t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			s.t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			s.t.Fatalf("status %d: %s", resp.StatusCode, text)
		}
		s.accepted++
	}
}

// strike kills the first node in the middle of deliveries, restarts it, and records how long it took until events
// arrived again.
func (s *hookSite) strike(d dice) {
	s.t.Helper()
	victim := s.nodes[0]
	s.free.wire.arm(20 + d.IntN(100))
	s.accept(s.nodes[len(s.nodes)-1], 10)
	select {
	case <-s.free.wire.hit:
	case <-time.After(time.Minute):
		s.t.Fatal("no events come")
	}
	victim.kill()
	killed := time.Now()
	s.breaks++
	if len(s.nodes) == 1 {
		victim.start()
		s.finish()
	} else {
		s.accept(s.nodes[1], 2)
		s.share(1)
		shared := time.Since(killed)
		s.finish()
		s.t.Logf("a killed node's shards were taken over after %s", shared.Round(time.Millisecond))
		victim.start()
		s.share(2)
		s.nodes[0], s.nodes[1] = s.nodes[1], s.nodes[0]
	}
	for _, x := range []*taker{s.free, s.ordered} {
		x.mu.Lock()
		s.t.Logf("the last event came %s after the kill", x.last.Sub(killed).Round(time.Millisecond))
		x.mu.Unlock()
	}
}

// finish waits until all messages have ended and both endpoints have every event.
func (s *hookSite) finish() {
	s.t.Helper()
	var events, open, behind, waiting int
	if !await(s.t.Context(), hung, func() bool {
		err := s.db.QueryRowContext(s.t.Context(), `SELECT (SELECT COALESCE(SUM(events), 0) FROM event WHERE topic = 'notifications'),
			(SELECT COUNT(*) FROM notification WHERE open > 0), (SELECT COALESCE(SUM(t.seq - c.seq), 0) FROM hook_cursor AS c
			JOIN event_topic AS t ON t.company_id = c.company_id AND t.topic = c.topic), (SELECT COUNT(*) FROM hook_retry)`).Scan(
			&events, &open, &behind, &waiting)
		return err == nil && events >= s.accepted*21 && open == 0 && behind == 0 && waiting == 0
	}) {
		s.t.Fatalf("%d events, %d notifications are open, %d are behind, %d wait", events, open, behind, waiting)
	}
}

// inRound is the maximum number of events of one endpoint that were sent but not recorded: those read in two rounds.
const inRound = 200

// querier runs queries on a node's database.
type querier struct{ *sql.DB }

func (q querier) Row(ctx context.Context, dest []any, query string, args ...any) error {
	return q.QueryRowContext(ctx, query, args...).Scan(dest...)
}

// Query implements db.Querier.
func (q querier) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return q.QueryContext(ctx, query, args...)
}

// balance compares the events at the endpoints with those in the database.
func (s *hookSite) balance() {
	s.t.Helper()
	s.finish()
	var company string
	if err := s.db.QueryRowContext(s.t.Context(),
		"SELECT DISTINCT company_id FROM event WHERE topic = 'notifications'").Scan(&company); err != nil {
		s.t.Fatal(err)
	}
	all, err := events.After(s.t.Context(), querier{s.db}, company, events.Notifications, 0, s.accepted*100)
	if err != nil {
		s.t.Fatal(err)
	}
	subjects := map[int64]string{}
	for _, e := range all {
		subjects[e.Seq] = e.Subject
	}
	s.finish() // messages that had ended are read later: some of those events may just have been written
	for name, x := range map[string]*taker{"free": s.free, "ordered": s.ordered} {
		x.mu.Lock()
		doubles := 0
		for seq := range subjects {
			if x.came[seq] == 0 {
				s.t.Errorf("%s: event %d never came", name, seq)
			}
			doubles += max(0, x.came[seq]-1)
		}
		last := map[string]int64{}
		for _, seq := range x.order {
			if subject := subjects[seq]; x == s.ordered && subject != "" {
				if seq < last[subject] {
					s.t.Errorf("of %s event %d came after %d", subject, seq, last[subject])
				}
				last[subject] = seq
			}
		}
		s.t.Logf("%s: %d events came, %d of them twice, over %d kills and hand-overs", name, len(subjects), doubles, s.breaks)
		if doubles > s.breaks*inRound {
			s.t.Errorf("%s: %d doubles over %d kills and hand-overs", name, doubles, s.breaks)
		}
		x.mu.Unlock()
	}
}

// eventsOverKills kills nodes in the middle of deliveries.
func eventsOverKills(t *testing.T, kills int) {
	t.Helper()
	for engine, nodes := range map[string]int{"sqlite": 1, "postgres": 2} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			s, d := newHookSite(t, engine, nodes), newDice(t, "events "+engine)
			for range kills {
				s.strike(d)
			}
			s.balance()
		})
	}
}

// TestNoEventIsLostOverAKill is the short form of TestFaultsEventsOverKills.
func TestNoEventIsLostOverAKill(t *testing.T) { eventsOverKills(t, 1) }

// TestFaultsEventsOverKills repeatedly kills a node in the middle of webhook deliveries, with one node and with two.
// Each event arrives, those of one message in order if the endpoint wants that, and only events in progress arrive
// twice.
func TestFaultsEventsOverKills(t *testing.T) {
	long(t)
	eventsOverKills(t, min(*rounds, 10))
}
