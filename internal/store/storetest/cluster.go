//go:build unix

package storetest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"carillon/internal/base/need"
)

// cluster is a running PostgreSQL that listens only on a socket in its own folder, so that several can run without choosing
// ports.
type cluster struct {
	dsn   string
	alive io.WriteCloser // kept open: the keeper stops when it is closed
}

// keeper is the shell script that creates, starts and stops a cluster. It has its own process group and waits for the end of
// its standard input, which is closed when the test process ends in any way.
const keeper = `
bin=$1 dir=$(mktemp -d "$3/carillon-pg-XXXXXX") || exit 1
export HOME="$dir"
data=$dir/data
end() { "$bin/pg_ctl" -D "$data" -m immediate stop >/dev/null 2>&1; cd / && rm -rf "$dir"; }
trap end EXIT
cd "$dir" || exit 1
"$bin/initdb" -D "$data" -U carillon -A trust -E UTF8 --no-locale --no-sync >log 2>&1 &&
cat >>"$data/postgresql.conf" <<-CONF &&
	listen_addresses = ''
	unix_socket_directories = '$dir'
	max_connections = 600
	max_prepared_transactions = 0
	$2
CONF
"$bin/pg_ctl" -D "$data" -w -t 300 -l "$dir/log" start >/dev/null 2>&1 || { tail -n 20 log; exit 1; }
echo "ready $dir"
exec 1>&-
cat >/dev/null
`

const (
	// throwAway is for tests: nothing needs to survive a power failure.
	throwAway = "fsync = off\nfull_page_writes = off\nshared_buffers = 64MB\nwal_level = minimal\nmax_wal_senders = 0"
	// durable is for benchmarks, which include the cost of commits.
	durable = "fsync = on\nsynchronous_commit = on\nfull_page_writes = on\nshared_buffers = 256MB\nmax_wal_size = 2GB"
	// maxThrowAway is the space needed by the clusters of a test run: one database for each concurrent test, and their
	// logs.
	maxThrowAway = 2 << 30
)

// inMemory is a folder in Linux's shared memory. On ext4 creating files is slow after many deletions, and a database
// has 700 files: on a disk this took more than half of the time of the databases.
const inMemory = "/dev/shm"

// parent returns the folder for the folder of a cluster. Its path is short, because a socket's path is limited to 107
// bytes, and every user has access to it.
func parent(conf string) string {
	var s syscall.Statfs_t
	if conf == throwAway && syscall.Statfs(inMemory, &s) == nil && s.Bavail*uint64(s.Bsize) >= maxThrowAway {
		return inMemory
	}
	return "/tmp"
}

// Durable starts a cluster with durable commits, for benchmarks, and returns the address of its empty database. stop ends it
// and removes its folder; it also ends with this process.
func Durable() (dsn string, stop func() error, err error) { return started(durable) }

// Shared starts a cluster for several test processes, which find it in CARILLON_TEST_POSTGRES. stop ends it and removes its folder; it also
// ends with this process.
func Shared() (dsn string, stop func() error, err error) { return started(throwAway) }

func started(conf string) (dsn string, stop func() error, err error) {
	c, err := startCluster(conf)
	if err != nil {
		return "", nil, err
	}
	return c.dsn, c.alive.Close, nil
}

// startCluster creates and starts a cluster in a temporary folder, with more lines of configuration. For root it runs as the
// user postgres or nobody, because PostgreSQL refuses to run as root.
func startCluster(conf string) (*cluster, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	owner, err := need.Unprivileged()
	if err != nil {
		return nil, fmt.Errorf("find a user to run PostgreSQL: %w", err)
	}
	cmd := exec.CommandContext(context.Background(), "/bin/sh", "-c", keeper, "sh", bin, conf, parent(conf))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: owner}
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	cmd.Dir = "/"
	alive, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	said, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the cluster's keeper: %w", err)
	}
	dir, err := awaitReady(said)
	if err != nil {
		alive.Close() // the keeper has ended
		return nil, err
	}
	return &cluster{dsn: "postgres://carillon@/postgres?sslmode=disable&host=" + url.QueryEscape(dir), alive: alive}, nil
}

// awaitReady reads the folder of the ready cluster from the keeper, or its error.
func awaitReady(said io.Reader) (dir string, err error) {
	var lines []string
	scan := bufio.NewScanner(said)
	for scan.Scan() {
		if dir, ready := strings.CutPrefix(scan.Text(), "ready "); ready {
			return dir, nil
		}
		lines = append(lines, scan.Text())
	}
	return "", fmt.Errorf("PostgreSQL did not start:\n%s", strings.Join(lines, "\n"))
}

// binaries returns the folder with initdb and pg_ctl: from PATH, or else the newest of the distribution's folders,
// which Debian does not add to PATH.
func binaries() (string, error) {
	if found, err := exec.LookPath("initdb"); err == nil {
		if found, err = filepath.EvalSymlinks(found); err == nil {
			return filepath.Dir(found), nil
		}
	}
	var found []string
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin/initdb", "/usr/pgsql-*/bin/initdb"} {
		matches, _ := filepath.Glob(pattern) // the patterns are well-formed
		found = append(found, matches...)
	}
	if len(found) == 0 {
		return "", errNoPostgres
	}
	return filepath.Dir(slices.Max(found)), nil
}
