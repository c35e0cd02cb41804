package faults

import (
	"bytes"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"carillon/internal/base/need"
	"carillon/internal/store/storetest"
)

// cluster is a PostgreSQL of one scenario, which it may stop, fill, copy and promote. It listens only on a socket in
// its folder.
type cluster struct {
	t     *testing.T
	bin   string
	dir   string // of the socket and the log; the data is in dir/data
	owner *syscall.Credential
	cmd   *exec.Cmd
	ended chan struct{}
}

// newCluster creates and starts a cluster. PostgreSQL refuses to run as root; in that case it runs as the user
// postgres.
func newCluster(t *testing.T, dir string, conf ...string) *cluster {
	t.Helper()
	c := emptyCluster(t, dir)
	c.tool("initdb", "-D", c.data(), "-U", "carillon", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync", "--wal-segsize=4")
	c.configure(append([]string{
		"listen_addresses = ''", "max_connections = 100", "shared_buffers = 32MB", "fsync = off", "max_wal_size = 64MB",
		"unix_socket_directories = '" + c.dir + "'",
	}, conf...)...)
	c.start()
	return c
}

// emptyCluster returns a folder for a cluster. It is in /tmp because the path of a socket must be short.
func emptyCluster(t *testing.T, dir string) *cluster {
	t.Helper()
	storetest.Postgres(t) // skips, or fails if CI is set, without PostgreSQL
	found, err := exec.LookPath("initdb")
	if err == nil {
		found, err = filepath.EvalSymlinks(found)
	}
	if err != nil {
		matches, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is well-formed
		need.That(t, len(matches) > 0, "initdb of PostgreSQL, for a cluster of the test's own")
		found = slices.Max(matches)
	}
	if dir == "" {
		if dir, err = os.MkdirTemp("/tmp", "carillon-faults-pg-"); err != nil { //nolint:usetesting // short, open to another user
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
	}
	c := &cluster{t: t, bin: filepath.Dir(found), dir: dir}
	if c.owner, err = need.Unprivileged(); err != nil {
		t.Fatal(err)
	}
	if c.owner != nil {
		if err := os.Chown(dir, int(c.owner.Uid), int(c.owner.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { c.stop(syscall.SIGQUIT) })
	return c
}

func (c *cluster) data() string { return filepath.Join(c.dir, "data") }

func (c *cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.bin, name), args...) // PostgreSQL's own programs
	cmd.Dir, cmd.Env = c.dir, []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "HOME=" + c.dir}
	dieWithUs(cmd)
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Credential = c.owner
	return cmd
}

func (c *cluster) tool(name string, args ...string) {
	c.t.Helper()
	if out, err := c.command(name, args...).CombinedOutput(); err != nil {
		c.t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

func (c *cluster) configure(lines ...string) {
	c.t.Helper()
	f, err := os.OpenFile(filepath.Join(c.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	defer f.Close()
	for _, line := range lines {
		if _, err := fmt.Fprintln(f, line); err != nil {
			c.t.Fatal(err)
		}
	}
}

// start starts the cluster and waits until it responds.
func (c *cluster) start() {
	c.t.Helper()
	c.spawn()
	if !await(c.t.Context(), time.Minute, func() bool { return c.answers() || c.dead() }) || c.dead() {
		log, _ := os.ReadFile(filepath.Join(c.dir, "log"))
		c.t.Fatalf("PostgreSQL did not start:\n%s", log[max(0, len(log)-4000):])
	}
}

func (c *cluster) spawn() {
	c.t.Helper()
	log, err := os.OpenFile(filepath.Join(c.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	defer log.Close()
	cmd := c.command("postgres", "-D", c.data())
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	c.cmd, c.ended = cmd, ended
}

func (c *cluster) dead() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

func (c *cluster) answers() bool {
	return c.command("pg_isready", "-q", "-h", c.dir).Run() == nil
}

// stop ends it. SIGINT is PostgreSQL's fast shutdown; SIGQUIT is the immediate one, which requires recovery.
func (c *cluster) stop(how syscall.Signal) {
	if c.cmd == nil {
		return
	}
	_ = c.cmd.Process.Signal(how)
	select {
	case <-c.ended:
	case <-time.After(30 * time.Second):
		_ = c.cmd.Process.Kill()
		<-c.ended
	}
}

// url returns the address of the database for nodes.
func (c *cluster) url() string {
	return "postgres://carillon@/postgres?sslmode=disable&host=" + url.QueryEscape(c.dir)
}

// query returns one text from the cluster.
func (c *cluster) query(text string) (string, error) {
	var out bytes.Buffer
	cmd := c.command("psql", "-X", "-A", "-t", "-h", c.dir, "-U", "carillon", "-d", "postgres", "-c", text)
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return string(bytes.TrimSpace(out.Bytes())), err
}

// onCluster returns a site on a separate cluster.
func onCluster(t *testing.T, name, engine string) *site {
	t.Helper()
	c := newCluster(t, "")
	s := newSiteOn(t, name, engine, t.TempDir(), c.url())
	s.cluster = c
	return s
}

// reopen makes the books drop broken connections, or read another database.
func (s *site) reopen(driver, dsn string) {
	s.t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		s.t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	_ = s.books.db.Close()
	s.books.db = db
}
