package faults

import (
	"database/sql"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/base/need"
	"carillon/internal/store/storetest"
)

// lines is a site whose voice lines use one exchange. With two nodes, each owns the shard of one line.
type lines struct {
	t        *testing.T
	db       *sql.DB
	exchange *exchange
	nodes    map[string]*node  // by the address of their calls
	sip      map[string]string // that address with its port, by address
	mute     *muteListener
	wave     int
	ids      map[string]string // of the calls' notifications, by number
	states   map[string]int    // of calls whose node was killed
}

// muteListener accepts connections and never responds: a call over TLS does not get as far as its INVITE.
type muteListener struct {
	net.Listener
	mu    sync.Mutex
	conns int
}

func newMuteListener(t *testing.T) *muteListener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &muteListener{Listener: l}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			m.mu.Lock()
			m.conns++
			m.mu.Unlock()
			t.Cleanup(func() { _ = c.Close() })
		}
	}()
	return m
}

func (m *muteListener) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.conns
}

func newLines(t *testing.T, engine string, addresses ...string) *lines {
	t.Helper()
	s := &lines{
		t: t, exchange: newExchange(t), mute: newMuteListener(t), nodes: map[string]*node{}, sip: map[string]string{},
		ids: map[string]string{}, states: map[string]int{},
	}
	text := callsProvision[:strings.Index(callsProvision, "    senders:")] + "    redial: {outcomes: [busy], attempts: 1, after: 1m}\n" +
		callsProvision[strings.Index(callsProvision, "    agents:"):] + "    senders:\n"
	for i := range 2 {
		for k, trunk := range []string{s.exchange.address(), "sip:" + s.mute.Addr().String() + ";transport=tls"} {
			text += fmt.Sprintf("      - {id: %s%d, number: \"155555%d%d001\", channel: voice, provider: sip, max_concurrent: 10, "+
				"ring_timeout: 10s, settings: {trunk: %q, agent: 7b1a4c58-6f0d-4a5e-8a51-2f6b1c0d9e11}}\n",
				[]string{"line", "mute"}[k], i, i, k, trunk)
		}
		// Two nodes own half of the shards each, and a sender's position in the list determines its shard.
		for k := range 30 {
			text += fmt.Sprintf("      - {id: idle%d-%d, number: \"1666555%d%03d\", channel: messaging, provider: sandbox}\n", i, k, i, k)
		}
	}
	dir := t.TempDir()
	provision := filepath.Join(dir, "provision.yaml")
	if err := os.WriteFile(provision, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--provision=" + provision, "--call-drain=30s", "--password-memory=8", "--password-passes=1"}
	driver, source := "sqlite", "file:"+filepath.Join(dir, addresses[0], "carillon.db")+"?mode=ro&_pragma=busy_timeout(5000)"
	if engine == "postgres" {
		driver, source = "pgx", storetest.Postgres(t)
		flags = append(flags, "--database-url="+source, "--master-key-file="+storetest.MasterKey(t))
	}
	for _, a := range addresses {
		if err := os.Mkdir(filepath.Join(dir, a), 0o700); err != nil {
			t.Fatal(err)
		}
		s.nodes[a] = newNode(t, filepath.Join(dir, a), append(slices.Clone(flags), "--sip-addr="+s.sipAddress(a))...)
		s.nodes[a].start()
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s.db = db
	s.share(len(addresses))
	return s
}

// sipAddress returns an address for a node's calls, which stays the same over restarts.
func (s *lines) sipAddress(host string) string {
	s.t.Helper()
	c, err := net.ListenPacket("udp4", host+":0")
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	s.sip[host] = c.LocalAddr().String()
	return s.sip[host]
}

// callers places a call from outside to each line at each node.
func (s *lines) callers() {
	s.t.Helper()
	for host := range s.nodes {
		for l := range 2 {
			s.wave++
			s.exchange.call(s.sip[host], fmt.Sprintf("155555%d0001", l), fmt.Sprint(l), fmt.Sprintf("3461%07d", s.wave))
		}
	}
}

// incoming returns the calls to lines, by caller: the node of a call in progress, or the result of an ended one.
func (s *lines) incoming() map[string]string {
	s.t.Helper()
	var all map[string]string
	s.await(20*time.Second, "the calls to lines in the database", func() bool {
		rows, err := s.db.Query("SELECT number, under_way, node, state || ' ' || reason FROM incoming_call")
		if err != nil {
			return false
		}
		defer rows.Close()
		all = map[string]string{}
		for rows.Next() {
			var number, node, end string
			var underWay bool
			if err := rows.Scan(&number, &underWay, &node, &end); err != nil {
				return false
			}
			if all[number] = end; underWay {
				all[number] = node
			}
		}
		return rows.Err() == nil
	})
	return all
}

// share waits until that many nodes share the shards.
func (s *lines) share(nodes int) {
	s.t.Helper()
	s.await(time.Minute, fmt.Sprintf("shards of %d nodes", nodes), func() bool {
		var owners, owned int
		err := s.db.QueryRow("SELECT COUNT(DISTINCT owner), COUNT(owner) FROM shard").Scan(&owners, &owned)
		return err == nil && owners == nodes && owned == 64
	})
}

func (s *lines) await(within time.Duration, what string, cond func() bool) {
	s.t.Helper()
	if !await(s.t.Context(), within, cond) {
		s.t.Fatalf("not in time: %s", what)
	}
}

// any returns a node that is alive.
func (s *lines) any() *node {
	for _, n := range s.nodes {
		if !n.dead() {
			return n
		}
	}
	s.t.Fatal("no node is alive")
	return nil
}

// place places calls of a kind on a line and returns their numbers.
func (s *lines) place(sender string, line int, kind byte, n int) (numbers []string) {
	s.t.Helper()
	w := &watch{t: s.t, db: s.db}
	for range n {
		s.wave++
		number := fmt.Sprintf("3460%d%c%06d", line, kind, s.wave)
		s.ids[number] = w.placeOn(s.any(), fmt.Sprintf("%s%d", sender, line), number)
		numbers = append(numbers, number)
	}
	return numbers
}

// callRow is a call in the database.
type callRow struct {
	number, state, reason, node      string
	q, attempts, interrupted, faulty int // attempts excludes those that failed because of a faulty line
}

// rows returns all calls. It retries, since the node may just have died.
func (s *lines) rows() map[string]callRow {
	s.t.Helper()
	var all map[string]callRow
	s.await(20*time.Second, "the calls in the database", func() bool {
		rows, err := s.db.Query(`SELECT number, state, reason, node, q, (SELECT COUNT(*) FROM call_attempt WHERE call = call.id
				AND NOT (reason = '' AND NOT counts AND ended_at > 0)),
			(SELECT COUNT(*) FROM call_attempt WHERE call = call.id AND reason = 'interrupted'),
			(SELECT COUNT(*) FROM call_attempt WHERE call = call.id AND reason = '' AND NOT counts AND ended_at > 0) FROM call`)
		if err != nil {
			return false
		}
		defer rows.Close()
		all = map[string]callRow{}
		for rows.Next() {
			var r callRow
			if err := rows.Scan(&r.number, &r.state, &r.reason, &r.node, &r.q, &r.attempts, &r.interrupted, &r.faulty); err != nil {
				return false
			}
			all[r.number] = r
		}
		return rows.Err() == nil
	})
	return all
}

// killAt loads all lines, kills the node with a line's call of a kind at that call's moment, and returns the calls in
// progress there. A single node is restarted; of two, the other one continues alone meanwhile.
func (s *lines) killAt(line int, moment byte) (lost map[string]callRow) {
	s.t.Helper()
	before := s.rows()
	s.callers()
	for l := range 2 {
		s.place("line", l, rings, 2)
		s.place("line", l, isTried, 2)
		s.place("line", l, busyFirst, 2)
		s.place("line", l, talks, 10)
	}
	killed := make(chan string, 1)
	s.exchange.at(moment, func(node string) {
		s.nodes[node].kill()
		killed <- node
	})
	pause(s.t.Context(), 2*time.Second)
	s.place("mute", line, talks, 2)
	hooked := s.place("line", line, moment, 1)[0]
	var address string
	select {
	case address = <-killed:
	case <-time.After(30 * time.Second):
		s.t.Fatal("the moment to kill at was not reached")
	}
	rows := s.rows()
	id := rows[hooked].node
	s.exchange.forget(address)
	called, with := s.incoming(), []string{}
	for number, node := range called {
		if node == id {
			with = append(with, number)
		}
	}
	if len(with) < 2 {
		s.t.Errorf("the node had %v of the calls to lines under way", with)
	}
	lost = map[string]callRow{}
	for number, r := range rows {
		if r.q == 2 && r.node == id {
			lost[number] = r
			s.states[r.state]++
		}
		if old, was := before[number]; was && old.q == 0 && old != r {
			s.t.Errorf("a call that had ended changed: %+v, then %+v", old, r)
		}
	}
	if lost[hooked].q != 2 {
		s.t.Errorf("the call at whose moment its node was killed is %+v", rows[hooked])
	}
	if len(s.nodes) == 1 {
		s.nodes[address].start()
	}
	s.await(90*time.Second, "the end of all calls that were under way", func() bool {
		for number, r := range s.rows() {
			if _, was := lost[number]; was && r.q != 0 {
				return false
			}
		}
		return true
	})
	s.await(90*time.Second, "the end of the calls to lines that were under way", func() bool {
		now := s.incoming()
		return !slices.ContainsFunc(with, func(number string) bool { return now[number] == id })
	})
	for number, end := range s.incoming() {
		if was := slices.Contains(with, number); was && end != "failed interrupted" ||
			!was && called[number] != "" && end != called[number] && end != "completed " {
			s.t.Errorf("the call of %s to a line is %q", number, end)
		}
	}
	if len(s.nodes) > 1 {
		s.nodes[address].start()
		s.share(len(s.nodes))
	}
	return lost
}

// judge waits for the end of all calls and compares their results with those of the exchange.
func (s *lines) judge(lost map[string]callRow) {
	s.t.Helper()
	s.await(2*time.Minute, "the end of all calls", func() bool {
		ended := true
		for number, r := range s.rows() {
			ended = ended && r.q == 0
			if r.q == 1 && r.faulty > 0 && s.exchange.invited(number) == 0 {
				s.cancel(s.ids[number]) // it would be retried at the mute exchange forever
			}
		}
		return ended
	})
	outcomes := map[string]int{}
	for number, r := range s.rows() {
		_, was := lost[number]
		interrupted := r.state == "failed" && r.reason == "interrupted"
		outcomes[r.state+" "+r.reason]++
		switch invites := s.exchange.invited(number); {
		case was != interrupted:
			s.t.Errorf("%+v; under way at a kill: %v", r, was)
		case r.state == "canceled":
		case invites > r.attempts+r.faulty || invites < r.attempts-r.interrupted:
			s.t.Errorf("%+v reached the exchange %d times", r, invites)
		case number[5] == busyFirst && r.attempts != 2-r.interrupted && r.attempts != 2, number[5] != busyFirst && r.attempts != 1:
			s.t.Errorf("%+v: %d attempts", r, r.attempts)
		}
	}
	s.t.Logf("killed while %v; %v; the mute exchange was reached %d times", s.states, outcomes, s.mute.count())
	for _, state := range []string{"dialing", "ringing", "in_progress"} {
		if s.states[state] == 0 {
			s.t.Errorf("no call was killed while %s", state)
		}
	}
	for l := range 2 { // every slot is free
		s.place("line", l, talks, 12)
	}
	for _, line := range []string{"0", "1"} {
		s.await(20*time.Second, "ten calls at once", func() bool { now, _ := s.exchange.atOnce(line); return now == 10 })
		if _, most := s.exchange.atOnce(line); most != 10 {
			s.t.Errorf("line %s had %d calls at once", line, most)
		}
	}
}

// cancel cancels a call unless it is just being dialed.
func (s *lines) cancel(id string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodDelete,
		"http://"+s.any().addr+"/functions/v1/notify/"+id+"?access_key="+accessKey, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusConflict {
		s.t.Errorf("cancel: %d %s", resp.StatusCode, text)
	}
}

// TestCallsAreDialedOnceOverKills kills nodes with calls at every stage: before the INVITE is sent, after it reached
// the exchange, while ringing, at the answer, during the call, between two attempts, and in incoming calls. Calls in
// progress count as interrupted, and no call is dialed twice.
func TestCallsAreDialedOnceOverKills(t *testing.T) {
	need.Sound(t)
	t.Parallel() // it mostly waits until nodes count as dead
	for _, c := range []struct {
		name, engine string
		addresses    []string
	}{
		{"sqlite", "sqlite", []string{"127.0.0.42"}},
		{"postgres", "postgres", []string{"127.0.0.42"}},
		{"postgres, two nodes", "postgres", []string{"127.0.0.42", "127.0.0.43"}},
	} {
		if *rounds == 0 && c.name == "postgres" {
			continue // two nodes cover it too, and a short run saves two minutes
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newLines(t, c.engine, c.addresses...)
			lost := s.killAt(0, atInvite)
			maps.Copy(lost, s.killAt(1, atAnswer))
			s.judge(lost)
		})
	}
}
