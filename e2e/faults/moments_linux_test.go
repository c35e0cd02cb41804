package faults

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// moment is a row whose write kills a node. A database trigger detects it, so that it is exact.
type moment struct {
	table string
	row   string // condition on NEW, in SQL for both engines
	after bool   // kill right after the commit of the row; otherwise within the open transaction
}

// mortal builds the program from its unchanged source, with SQLite functions that kill it (testdata/dies.go.txt).
var mortal = sync.OnceValues(func() (string, error) {
	here, err := filepath.Abs("testdata")
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(here, "..", "..", "..", "cmd", "carillon", "dies.go"): filepath.Join(here, "dies.go.txt"),
	}})
	if err != nil {
		return "", err
	}
	list, exe := filepath.Join(programDir, "dies.json"), filepath.Join(programDir, "carillon-mortal")
	if err := os.WriteFile(list, text, 0o600); err != nil {
		return "", err
	}
	// our own program
	if out, err := exec.Command("go", "build", "-overlay", list, "-o", exe, "carillon/cmd/carillon").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program that dies: %w\n%s", err, out)
	}
	return exe, nil
})

// fate kills nodes at moments.
type fate interface {
	// at arranges a node's death at a moment.
	at(m moment)
	// noting starts recording the node that writes a row.
	noting(m moment)
	// noted returns that node, or "" if there is none yet.
	noted() string
	// strike kills the node that has reached its moment and returns its name, or "" if none has.
	strike(nodes map[string]*node) string
	// off removes all arrangements.
	off()
}

// sqliteFate lets the only node kill itself.
type sqliteFate struct {
	t    *testing.T
	file string
	db   *sql.DB
}

func newSQLiteFate(t *testing.T, file string) *sqliteFate {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(20000)&_pragma=wal_autocheckpoint(0)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return &sqliteFate{t, file, db}
}

func (f *sqliteFate) exec(text string) {
	f.t.Helper()
	if _, err := f.db.ExecContext(f.t.Context(), text); err != nil {
		f.t.Fatalf("%s: %v", text, err)
	}
}

func (f *sqliteFate) at(m moment) {
	f.t.Helper()
	function := "die"
	if m.after {
		function = "die_next"
	}
	for _, what := range []string{"INSERT", "UPDATE"} {
		f.exec(fmt.Sprintf("CREATE TRIGGER faults_%s AFTER %[1]s ON %s WHEN %s BEGIN SELECT %s(); END", what, m.table, m.row, function))
	}
}

func (*sqliteFate) noting(moment) {}
func (*sqliteFate) noted() string { return "0" }

func (*sqliteFate) strike(nodes map[string]*node) string {
	for name, n := range nodes {
		if n.dead() {
			return name
		}
	}
	return ""
}

func (f *sqliteFate) off() {
	f.t.Helper()
	f.exec("DROP TRIGGER IF EXISTS faults_INSERT")
	f.exec("DROP TRIGGER IF EXISTS faults_UPDATE")
}

// postgresFate makes a transaction wait for a lock that is never released, kills the waiting node, and ends its
// session, so that a pipelined COMMIT is not executed.
type postgresFate struct {
	t  *testing.T
	db *sql.DB
}

const fatalLock = "4711"

func newPostgresFate(t *testing.T, source string) *postgresFate {
	t.Helper()
	db, err := sql.Open("pgx", source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	f := &postgresFate{t, db}
	holds, err := db.Conn(t.Context()) // this session holds the lock
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = holds.Close() })
	if _, err := holds.ExecContext(t.Context(), "SELECT pg_advisory_lock("+fatalLock+")"); err != nil {
		t.Fatal(err)
	}
	f.exec("CREATE TABLE faults_last (tx BIGINT)")
	f.exec("CREATE TABLE faults_noted (node TEXT)")
	f.exec(`CREATE FUNCTION faults_next() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF EXISTS (SELECT 1 FROM faults_last WHERE tx <> txid_current()) THEN PERFORM pg_advisory_xact_lock(` + fatalLock + `); END IF;
		RETURN NEW; END $$`)
	for _, table := range []string{"flow_run", "flow_entry", "turn", "reply", "conversation", "notification", "message", "call"} {
		f.exec("CREATE TRIGGER faults_next BEFORE INSERT OR UPDATE ON " + table + " FOR EACH ROW EXECUTE FUNCTION faults_next()")
	}
	f.off()
	for _, table := range watched {
		f.exec("CREATE TRIGGER faults_at AFTER INSERT OR UPDATE ON " + table + " FOR EACH ROW EXECUTE FUNCTION faults_" + table + "()")
	}
	return f
}

// watched are the tables of moments.
var watched = []string{"flow_run", "flow_entry", "notification"}

func (f *postgresFate) exec(text string) {
	f.t.Helper()
	if _, err := f.db.ExecContext(f.t.Context(), text); err != nil {
		f.t.Fatalf("%s: %v", text, err)
	}
}

func (f *postgresFate) does(table, what string) {
	f.t.Helper()
	f.exec("CREATE OR REPLACE FUNCTION faults_" + table + "() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " + what +
		" RETURN NULL; END $$")
}

func (f *postgresFate) at(m moment) {
	f.t.Helper()
	then := "PERFORM pg_advisory_xact_lock(" + fatalLock + ")"
	if m.after {
		then = "INSERT INTO faults_last VALUES (txid_current())"
	}
	f.does(m.table, "IF "+m.row+" THEN "+then+"; END IF;")
}

func (f *postgresFate) noting(m moment) {
	f.t.Helper()
	f.does(m.table, "IF "+m.row+" THEN INSERT INTO faults_noted VALUES (current_setting('application_name')); END IF;")
}

func (f *postgresFate) noted() (name string) {
	_ = f.db.QueryRowContext(f.t.Context(), "SELECT node FROM faults_noted").Scan(&name) // no rows: none yet
	return strings.TrimPrefix(name, "node")
}

func (f *postgresFate) strike(nodes map[string]*node) string {
	f.t.Helper()
	const waits = " FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE l.locktype = " +
		"'advisory' AND NOT l.granted AND l.objid = " + fatalLock +
		" AND a.datname = current_database()"
	var name string
	if err := f.db.QueryRowContext(f.t.Context(), "SELECT a.application_name"+waits+" LIMIT 1").Scan(&name); err != nil {
		return ""
	}
	name = strings.TrimPrefix(name, "node")
	nodes[name].kill()
	if !await(f.t.Context(), 20*time.Second, func() bool {
		f.exec("SELECT pg_terminate_backend(l.pid)" + waits)
		left := 1
		_ = f.db.QueryRowContext(f.t.Context(),
			"SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1", "node"+name).Scan(&left)
		return left == 0
	}) {
		f.t.Fatal("sessions of the node that was killed go on")
	}
	return name
}

func (f *postgresFate) off() {
	f.t.Helper()
	for _, table := range watched {
		f.does(table, "")
	}
	f.exec("DELETE FROM faults_last")
	f.exec("DELETE FROM faults_noted")
}
