package faults

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/base/need"
	"carillon/internal/store/storetest"
)

const callsProvision = `companies:
  - id: 5f0c1d9e-2b7a-4c51-9f0e-3a2b1c0d9e01
    name: Calls
    limits: {sends_per_minute: 0, daily_recipients: 0, daily_calls: 0, daily_bytes: 0}
    keys: [{key: ` + accessKey + `, label: faults, scopes: ["*"]}]
    senders: [{id: line, number: "15555550101", channel: voice, provider: sandbox, default: true, max_concurrent: 10}]
    agents: [{id: 7b1a4c58-6f0d-4a5e-8a51-2f6b1c0d9e11, name: Agent, language: en}]
`

// callsSite creates the folders of two nodes with flags that provision one line, and returns the driver and source of
// their database.
func callsSite(t *testing.T, engine string) (dir string, flags []string, driver, source string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	provision := filepath.Join(dir, "provision.yaml")
	if err := os.WriteFile(provision, []byte(callsProvision), 0o600); err != nil {
		t.Fatal(err)
	}
	flags = []string{"--provision=" + provision, "--call-drain=30s", "--password-memory=8", "--password-passes=1"}
	if engine == "postgres" {
		source = storetest.Postgres(t)
		return dir, append(flags, "--database-url="+source, "--master-key-file="+storetest.MasterKey(t)), "pgx", source
	}
	return dir, flags, "sqlite", "file:" + filepath.Join(dir, "a", "carillon.db") + "?mode=ro&_pragma=busy_timeout(5000)"
}

// TestCallsInProgressEndBeforeAStop stops a node by SIGTERM while two calls are answered.
func TestCallsInProgressEndBeforeAStop(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			dir, flags, driver, source := callsSite(t, engine)
			n := newNode(t, filepath.Join(dir, "a"), flags...)
			n.start()
			db, err := sql.Open(driver, source)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			w := watchCalls(t, db)
			placed := 0
			w.await(hung, "two calls are answered", func() bool {
				for open := w.count("q > 0"); open >= 0 && open < 2; open++ { // another one, where one ended before the other was answered
					placed++
					w.place(n, fmt.Sprint(34600111000+placed))
				}
				return w.count("state = 'in_progress'") == 2
			})
			if code := n.stop(hung); code != 0 {
				t.Errorf("it stopped with %d", code)
			}
			if completed := w.count("q = 0 AND state = 'completed' AND ended_by = 'callee'"); completed != placed {
				t.Errorf("%d of %d calls came to their own end", completed, placed)
			}
		})
	}
}

// TestCallsOfALineStayWithinItsBoundOverAKill places forty calls on a line with a limit of ten, and kills the node
// with the calls in progress. On PostgreSQL another node has joined meanwhile: the line's shard may have moved to it,
// but the calls have not.
func TestCallsOfALineStayWithinItsBoundOverAKill(t *testing.T) {
	need.Sound(t)
	t.Parallel() // it mostly waits until nodes count as dead
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			dir, flags, driver, source := callsSite(t, engine)
			a := newNode(t, filepath.Join(dir, "a"), flags...)
			a.start()
			db, err := sql.Open(driver, source)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			w := watchCalls(t, db)
			var first string // ID of the node
			if err := db.QueryRow("SELECT DISTINCT owner FROM shard").Scan(&first); err != nil {
				t.Fatal(err)
			}
			for i := range 40 {
				w.place(a, fmt.Sprint(34600111000+i))
			}
			w.await(hung, "ten calls under way", func() bool { return w.underWay() == 10 })
			killed, survivor := a, a
			if engine == "postgres" {
				survivor = newNode(t, filepath.Join(dir, "b"), flags...)
				survivor.start()
				pause(t.Context(), 2*time.Second)
				if w.count("q = 2 AND node = '"+first+"'") < w.underWay()/2 {
					killed, survivor = survivor, killed
				}
			}
			killed.kill()
			if survivor == killed {
				survivor.start()
			}
			w.await(hung, "the end of all calls", func() bool { return w.count("q > 0") == 0 })
			interrupted, completed := w.count("state = 'failed' AND reason = 'interrupted'"), w.count("state = 'completed'")
			t.Logf("%d interrupted, %d completed, at most %d at once", interrupted, completed, w.most.Load())
			if interrupted < 1 || interrupted > 10 || interrupted+completed != 40 {
				t.Errorf("%d interrupted and %d completed of 40", interrupted, completed)
			}
			if most := w.most.Load(); most != 10 {
				t.Errorf("at most %d at once, want 10", most)
			}
			if n := w.count("q = 0 AND attempt > 1"); n != 0 {
				t.Errorf("%d calls were dialed again", n)
			}
			if code := survivor.stop(hung); code != 0 {
				t.Errorf("it stopped with %d", code)
			}
		})
	}
}

// watch observes the calls in the database.
type watch struct {
	t    *testing.T
	db   *sql.DB
	most atomic.Int64
}

// watchCalls counts calls in progress every few milliseconds until the test ends.
func watchCalls(t *testing.T, db *sql.DB) *watch {
	w := &watch{t: t, db: db}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if n := int64(w.underWay()); n > w.most.Load() {
				w.most.Store(n)
			}
			pause(ctx, 20*time.Millisecond)
		}
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	return w
}

func (w *watch) underWay() int { return w.count("q = 2") }

// count counts calls. It retries if the database is busy.
func (w *watch) count(where string) (n int) {
	for range 50 {
		err := w.db.QueryRow("SELECT COUNT(*) FROM call WHERE " + where).Scan(&n)
		if err == nil {
			return n
		}
		time.Sleep(20 * time.Millisecond)
	}
	return -1
}

func (w *watch) await(within time.Duration, what string, cond func() bool) {
	w.t.Helper()
	if !await(w.t.Context(), within, cond) {
		w.t.Fatalf("not in time: %s", what)
	}
}

func (w *watch) place(n *node, number string) {
	w.t.Helper()
	w.placeOn(n, "line", number)
}

// placeOn places a call on a line and returns the ID of its notification.
func (w *watch) placeOn(n *node, line, number string) (id string) {
	w.t.Helper()
	body, _ := json.Marshal(map[string]any{
		"contact": map[string]string{"number": number, "name": "Ana"}, "recipient_id": line,
		"agent_id":          "7b1a4c58-6f0d-4a5e-8a51-2f6b1c0d9e11",
		"notification_type": "transactional", "campaign_name": "calls",
	})
	resp, err := http.Post("http://"+n.addr+"/functions/v1/notify/voice?access_key="+accessKey, "application/json", bytes.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	var accepted struct {
		ID string `json:"notification_id"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&accepted); err != nil || resp.StatusCode != http.StatusOK {
		w.t.Fatalf("status %d, %v", resp.StatusCode, err)
	}
	return accepted.ID
}
