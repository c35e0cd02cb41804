package faults

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"carillon/internal/base/need"
	"carillon/internal/call/sip"
	"carillon/internal/store/storetest"
)

// desks is a telephone exchange whose callers ask for a transfer to a desk. The line of a call determines the phase in
// which its transfer stays: the desk rings, listens to the whisper, or took the call.
type desks struct {
	t      *testing.T
	engine *sip.Engine
	ctx    context.Context

	mu      sync.Mutex
	invites map[string]int // to the desk, by line
	ringing chan *sip.Incoming
	calls   chan *sip.Call // of all telephones
}

var phases = []string{"15555550001", "15555550002", "15555550003"} // lines

const desk = "34600999888"

func newDesks(t *testing.T) *desks {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	x := &desks{t: t, ctx: ctx, invites: map[string]int{}, ringing: make(chan *sip.Incoming, 1), calls: make(chan *sip.Call, 16)}
	var err error
	x.engine, err = sip.New(ctx, sip.Options{
		Address: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler), OnCall: func(in *sip.Incoming) { go x.take(in) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = x.engine.Close()
	})
	return x
}

func (x *desks) take(in *sip.Incoming) {
	line := sip.Number(in.From)
	x.mu.Lock()
	x.invites[line]++
	x.mu.Unlock()
	_ = in.Progress(180, "Ringing")
	if line == phases[0] {
		x.ringing <- in
		return
	}
	c, err := in.Answer(x.ctx, nil)
	if err != nil {
		x.t.Error(err)
		return
	}
	x.calls <- c
	if line == phases[2] {
		c.SendDigits("1")
	}
}

func (x *desks) invited(line string) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.invites[line]
}

// asks calls a line and presses the key that asks for a transfer until the desk is called.
func (x *desks) asks(node, line string) {
	x.t.Helper()
	c, err := x.engine.Dial(x.ctx, sip.Dial{Trunk: sip.Trunk{Host: node, Transport: "udp"}, To: line, From: "34600110077"})
	if err != nil {
		x.t.Fatal(err)
	}
	x.calls <- c
	pressed := time.Time{}
	if !await(x.t.Context(), hung, func() bool {
		if time.Since(pressed) > 2*time.Second {
			c.SendDigits("1")
			pressed = time.Now()
		}
		return x.invited(line) > 0
	}) {
		x.t.Fatal("the desk is not called for line ", line)
	}
}

// over waits for the end of all calls at the exchange, and answers the desk that still rings.
func (x *desks) over() {
	x.t.Helper()
	in := <-x.ringing
	if c, err := in.Answer(x.ctx, nil); err == nil {
		x.calls <- c
	}
	close(x.calls)
	for c := range x.calls {
		select {
		case <-c.Done():
		case <-time.After(hung):
			x.t.Error("somebody is left alone in silence")
		}
	}
}

// transferSite starts a site whose lines have one trunk each.
func transferSite(t *testing.T, trunks []string, engine string) (nodes []*node, address string, db *sql.DB) {
	t.Helper()
	text := callsProvision[:strings.Index(callsProvision, "    senders:")] + "    senders:\n"
	for i, line := range phases {
		text += fmt.Sprintf("      - {id: line%d, number: %q, channel: voice, provider: sip, max_concurrent: 4, "+
			"settings: {trunk: \"sip:%s\", agent: 7b1a4c58-6f0d-4a5e-8a51-2f6b1c0d9e11}}\n", i, line, trunks[i])
	}
	text += "    agents: [{id: 7b1a4c58-6f0d-4a5e-8a51-2f6b1c0d9e11, name: Agent, language: en, ask_callers: true, " +
		"result: [{name: desk, type: boolean, question: \"Do you want the desk?\"}], " +
		"transfer: {numbers: [\"" + desk + "\"], phrases: [\"yes\"]}}]\n"
	dir := t.TempDir()
	provision := filepath.Join(dir, "provision.yaml")
	if err := os.WriteFile(provision, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := net.ListenPacket("udp4", "127.0.0.42:0")
	if err != nil {
		t.Fatal(err)
	}
	address = c.LocalAddr().String()
	_ = c.Close()
	flags := []string{"--provision=" + provision, "--call-drain=1s", "--password-memory=8", "--password-passes=1"}
	driver, source, names := "sqlite", "file:"+filepath.Join(dir, "a", "carillon.db")+"?mode=ro&_pragma=busy_timeout(5000)", []string{"a"}
	if engine == "postgres" {
		driver, source, names = "pgx", storetest.Postgres(t), []string{"a", "b"}
		flags = append(flags, "--database-url="+source, "--master-key-file="+storetest.MasterKey(t))
	}
	for _, name := range names {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		n := newNode(t, filepath.Join(dir, name), flags...)
		if name == "a" {
			n.args = append(n.args, "--sip-addr="+address)
		}
		n.start()
		nodes = append(nodes, n)
	}
	if db, err = sql.Open(driver, source); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return nodes, address, db
}

// transferRows returns a row for each second leg: its line, outcome and end.
func transferRows(db *sql.DB) (all map[string]string) {
	rows, err := db.Query(`SELECT s.number, t.under_way, t.state, t.outcome, t.ended_at FROM call_transfer AS t
		JOIN sender AS s ON s.uid = t.sender`)
	if err != nil {
		return nil // the node may just have died
	}
	defer rows.Close()
	all = map[string]string{}
	for rows.Next() {
		var line, state, outcome string
		var underWay bool
		var ended int64
		if rows.Scan(&line, &underWay, &state, &outcome, &ended) != nil {
			return nil
		}
		all[line] += fmt.Sprintln(underWay, state, outcome, ended)
	}
	return all
}

// TestTransfersEndWithTheirNode kills and stops a node with a transfer in each phase. The legs end once in the records,
// none is dialed again, and all telephones hang up.
func TestTransfersEndWithTheirNode(t *testing.T) {
	need.Sound(t)
	t.Parallel() // it mostly waits until nodes and sound count as dead
	for _, c := range []struct {
		engine string
		by     syscall.Signal
		ends   []string // of the legs, by phase
	}{
		{"sqlite", syscall.SIGKILL, []string{"failed interrupted", "failed interrupted", "failed interrupted"}},
		{"postgres", syscall.SIGKILL, []string{"failed interrupted", "failed interrupted", "failed interrupted"}},
		{"sqlite", syscall.SIGTERM, []string{"canceled canceled", "canceled canceled", "completed taken"}},
		{"postgres", syscall.SIGTERM, []string{"canceled canceled", "canceled canceled", "completed taken"}},
	} {
		t.Run(c.engine+" "+c.by.String(), func(t *testing.T) {
			t.Parallel()
			x := newDesks(t)
			nodes, address, db := transferSite(t, slices.Repeat([]string{x.engine.Address().String()}, len(phases)), c.engine)
			for _, line := range phases {
				x.asks(address, line)
			}
			count := func(where string) (n int) {
				_ = db.QueryRow("SELECT COUNT(*) FROM call_transfer WHERE under_way AND " + where).Scan(&n)
				return n
			}
			if !await(t.Context(), hung, func() bool {
				return count("answered_at = 0") == 1 && count("answered_at > 0 AND taken_at = 0") == 1 && count("taken_at > 0") == 1
			}) {
				t.Fatalf("no transfer in each phase: %v", transferRows(db))
			}
			if c.by == syscall.SIGKILL {
				nodes[0].kill()
			} else if code := nodes[0].stop(hung); code != 0 {
				t.Errorf("it stopped with %d", code)
			}
			if len(nodes) == 1 {
				nodes[0].start()
			}
			if !await(t.Context(), hung, func() bool { return len(transferRows(db)) == len(phases) && count("sender > 0") == 0 }) {
				t.Fatalf("the legs do not end: %v", transferRows(db))
			}
			ends := transferRows(db)
			for i, line := range phases {
				if !strings.HasPrefix(ends[line], "false "+c.ends[i]+" ") || strings.Count(ends[line], "\n") != 1 {
					t.Errorf("the legs of line %d: %q", i, ends[line])
				}
			}
			x.over()
			for _, line := range phases {
				if now := transferRows(db)[line]; now != ends[line] || x.invited(line) != 1 {
					t.Errorf("line %s: %q, then %q; %d calls of the desk", line, ends[line], now, x.invited(line))
				}
			}
			var states string
			rows, err := db.Query("SELECT state, reason FROM incoming_call ORDER BY id")
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			for rows.Next() {
				var state, reason string
				if err := rows.Scan(&state, &reason); err != nil {
					t.Fatal(err)
				}
				states += strings.TrimSpace(state+" "+reason) + "\n"
			}
			want := strings.Repeat("failed interrupted\n", len(phases))
			if c.by == syscall.SIGTERM {
				want = strings.Repeat("completed\n", len(phases))
			}
			if rows.Err() != nil || states != want {
				t.Errorf("the calls: %q, %v", states, rows.Err())
			}
		})
	}
}

// TestATransferOutlivesTheOtherNode kills the node that does not hold the call.
func TestATransferOutlivesTheOtherNode(t *testing.T) {
	need.Sound(t)
	t.Parallel()
	x := newDesks(t)
	nodes, address, db := transferSite(t, slices.Repeat([]string{x.engine.Address().String()}, len(phases)), "postgres")
	line := phases[2]
	x.asks(address, line)
	count := func(query string) (n int) {
		_ = db.QueryRow("SELECT COUNT(*) FROM " + query).Scan(&n)
		return n
	}
	if !await(t.Context(), hung, func() bool { return count("call_transfer WHERE taken_at > 0") == 1 }) {
		t.Fatalf("the transfer is not taken: %v", transferRows(db))
	}
	caller, far := <-x.calls, <-x.calls
	nodes[1].kill()
	if !await(t.Context(), hung, func() bool { return count("node") == 1 }) {
		t.Fatal("the node does not count as dead")
	}
	for len(far.Digits()) > 0 { // pressed to ask for the transfer
		<-far.Digits()
	}
	caller.SendDigits("5")
	select {
	case d := <-far.Digits():
		if d != '5' {
			t.Errorf("the key %c", d)
		}
	case <-time.After(hung):
		t.Fatal("the sides are not connected any more")
	}
	caller.HangUp(t.Context())
	select {
	case <-far.Done():
	case <-time.After(hung):
		t.Error("the desk is left alone in silence")
	}
	if !await(t.Context(), hung, func() bool { return count("call_transfer WHERE under_way") == 0 }) {
		t.Fatalf("the leg does not end: %v", transferRows(db))
	}
	if row := transferRows(db)[line]; !strings.HasPrefix(row, "false completed taken ") || strings.Count(row, "\n") != 1 {
		t.Errorf("%q", row)
	}
}
