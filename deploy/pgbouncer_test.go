package deploy_test

import (
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"carillon/e2e/instance"
	"carillon/internal/base/need"
	"carillon/internal/store/storetest"
)

// pooled runs PgBouncer with the shipped files in front of a database, in a mode, and returns the URL through it.
func pooled(t *testing.T, database, mode string) string {
	t.Helper()
	pgbouncer := tool(t, "pgbouncer", "pgbouncer")
	to, err := pgconn.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	// Not t.TempDir: PgBouncer refuses to run as root, and its user needs the folder.
	dir, err := os.MkdirTemp("/tmp", "carillon-pgbouncer-") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	address := instance.FreeAddress(t)
	_, port, _ := net.SplitHostPort(address)
	const password = "change-me"
	list := filepath.Join(dir, "userlist.txt")
	if err := os.WriteFile(list, []byte(strconv.Quote(to.User)+" "+strconv.Quote(password)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := example(t, dir, "pgbouncer/pgbouncer.ini", "carillon = host=127.0.0.1 port=5432 dbname=carillon",
		"carillon = host="+to.Host+" port="+strconv.Itoa(int(to.Port))+" dbname="+to.Database,
		"listen_port = 6432", "listen_port = "+port, "/etc/pgbouncer/userlist.txt", list, "/var/log/postgresql/", dir+"/",
		"/var/run/postgresql/", dir+"/", "pool_mode = session", "pool_mode = "+mode)
	cmd := exec.CommandContext(t.Context(), pgbouncer, file)
	owner, err := need.Unprivileged()
	if err != nil {
		t.Fatal(err)
	}
	if owner != nil {
		for _, name := range []string{dir, list, file} {
			if err := os.Chown(name, int(owner.Uid), int(owner.Gid)); err != nil {
				t.Fatal(err)
			}
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: owner}
	}
	p := start(t, cmd)
	dsn := (&url.URL{
		Scheme: "postgres", User: url.UserPassword(to.User, password), Host: address, Path: "/carillon", RawQuery: "sslmode=disable",
	}).String()
	p.await("let a client in", func() bool {
		c, err := pgx.Connect(t.Context(), dsn)
		if err != nil {
			return false
		}
		_ = c.Close(t.Context())
		return true
	})
	return dsn
}

// TestNodeWorksThroughPgBouncer runs the whole program through the shipped PgBouncer: it starts, accepts, delivers and
// listens.
func TestNodeWorksThroughPgBouncer(t *testing.T) {
	t.Parallel()
	need.Postgres(t)
	database := storetest.Postgres(t)
	dsn := pooled(t, database, "session")
	n := serve(t, "--database-url="+dsn, "--master-key-file="+storetest.MasterKey(t))
	n.ready()
	resp, body, err := notify(t, n.client(), "http://"+n.addr)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%v: %s", err, body)
	}
	c, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(t.Context()) }()
	n.await("deliver", func() bool {
		var open int
		return c.QueryRow(t.Context(), "SELECT count(*) FROM message WHERE q > 0").Scan(&open) == nil && open == 0
	})
	var listens int
	if err := c.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE 'LISTEN%'`).
		Scan(&listens); err != nil || listens == 0 {
		t.Errorf("no session listens: %v", err)
	}
}

// TestNodeRefusesAPoolerOfTransactions starts a node through PgBouncer in transaction mode. Its sessions would be lost between
// two transactions, so it ends with the reason.
func TestNodeRefusesAPoolerOfTransactions(t *testing.T) {
	t.Parallel()
	need.Postgres(t)
	dsn := pooled(t, storetest.Postgres(t), "transaction")
	n := serve(t, "--database-url="+dsn, "--master-key-file="+storetest.MasterKey(t))
	n.await("end or become ready", func() bool { return n.dead() || n.serves() })
	switch {
	case !n.dead():
		t.Error("the node serves, although its sessions are shared")
	case n.cmd.ProcessState.ExitCode() == 0 || !strings.Contains(n.text(), "transaction"):
		t.Errorf("it ended with %d and %s", n.cmd.ProcessState.ExitCode(), n.text())
	}
}
