package faults

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"carillon/internal/base/need"
)

// The passwords of the example files.
const (
	superuserPassword = "change-me-superuser"
	restPassword      = "change-me-restapi"
	carillonPassword  = "change-me-carillon"
)

// machines are three machines with PostgreSQL and Patroni, one etcd, and HAProxy in front of the nodes and the database.
// All run with the files of the folder deploy, in which only addresses, paths and passwords are replaced.
type machines struct {
	t        *testing.T
	dir      string
	owner    *syscall.Credential
	etcd     *daemon
	keys     string // address of etcd
	members  []*member
	haproxy  *daemon
	database string // HAProxy's address of the primary
	public   string // HAProxy's address of the nodes
	web      *http.Client
}

// member is one machine with PostgreSQL and Patroni.
type member struct {
	name, dir, rest, postgres string
	patroni                   *daemon
}

// daemon is a program that runs until it is killed.
type daemon struct {
	t     *testing.T
	path  string
	args  []string
	env   []string
	owner *syscall.Credential
	log   string
	cmd   *exec.Cmd
	ended chan struct{}
}

func (d *daemon) start() {
	d.t.Helper()
	log, err := os.OpenFile(d.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(d.path, d.args...) // a program of Debian, for the test
	cmd.Dir = filepath.Dir(d.log)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "HOME=" + cmd.Dir}, d.env...)
	cmd.Stdout, cmd.Stderr = log, log
	dieWithUs(cmd)
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Credential = d.owner
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	d.cmd, d.ended = cmd, ended
}

func (d *daemon) signal(s syscall.Signal) {
	if d.cmd != nil {
		_ = d.cmd.Process.Signal(s)
	}
}

func (d *daemon) kill() {
	if d.cmd != nil {
		_ = d.cmd.Process.Kill()
		<-d.ended
	}
}

func (d *daemon) tail() {
	b, _ := os.ReadFile(d.log)
	d.t.Logf("end of %s:\n%s", d.log, b[max(0, len(b)-3000):])
}

// shipped returns a file of the folder deploy in which each old text is replaced by the new one after it. Each old text
// must occur.
func shipped(t *testing.T, name string, replace ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "deploy", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(text, replace[i]) {
			t.Fatalf("deploy/%s has no %q", name, replace[i])
		}
		text = strings.ReplaceAll(text, replace[i], replace[i+1])
	}
	return text
}

// program returns a program's path, which may be outside of the PATH of an ordinary user.
func program(t *testing.T, name, pkg string) string {
	t.Helper()
	for _, dir := range []string{"/usr/sbin", "/sbin"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return filepath.Join(dir, name)
		}
	}
	return need.Program(t, name, pkg)
}

// newMachines starts the machines and etcd, without HAProxy, and waits until both standbys follow.
func newMachines(t *testing.T) *machines {
	t.Helper()
	patroni, etcd := need.Program(t, "patroni", "patroni"), need.Program(t, "etcd", "etcd-server")
	program(t, "haproxy", "haproxy")
	c := emptyCluster(t, "")
	h := &machines{t: t, dir: c.dir, owner: c.owner, web: &http.Client{Timeout: time.Second}}
	t.Cleanup(h.end)
	client, peer := freeAddress(t), freeAddress(t)
	h.keys = client
	env := shipped(t, "patroni/etcd.env", ",http://127.0.0.1:2379", "", "10.0.0.11:2379", client, "10.0.0.11:2380", peer,
		",db2=http://10.0.0.12:2380,db3=http://10.0.0.13:2380", "", "/var/lib/etcd/carillon", filepath.Join(h.dir, "etcd"))
	h.etcd = &daemon{t: t, path: etcd, owner: h.owner, log: filepath.Join(h.dir, "etcd.log")}
	for line := range strings.SplitSeq(env, "\n") {
		if strings.HasPrefix(line, "ETCD_") {
			h.etcd.env = append(h.etcd.env, line)
		}
	}
	h.etcd.start()
	for i := range 3 {
		m := &member{name: fmt.Sprintf("db%d", i+1), rest: freeAddress(t), postgres: freeAddress(t)}
		m.dir = filepath.Join(h.dir, m.name)
		h.own(m.dir)
		config := filepath.Join(m.dir, "config.yml")
		text := shipped(t, "patroni/patroni.yml", "name: db1 ", "name: "+m.name+" ", "0.0.0.0:8008", m.rest, "10.0.0.11:8008", m.rest,
			"[10.0.0.11:2379, 10.0.0.12:2379, 10.0.0.13:2379]", "["+client+"]", "mode: required", "mode: 'off'",
			"0.0.0.0:5432", m.postgres, "10.0.0.11:5432", m.postgres, "/var/lib/postgresql/15/carillon", filepath.Join(m.dir, "data"),
			"/usr/lib/postgresql/15/bin", c.bin, "/var/lib/postgresql/.pgpass-patroni", filepath.Join(m.dir, "pgpass"),
			"unix_socket_directories: /var/run/postgresql", "unix_socket_directories: "+m.dir, "10.0.0.0/24", "127.0.0.0/8",
			"wal_keep_size: 1GB", "wal_keep_size: 128MB")
		h.write(config, text)
		m.patroni = &daemon{t: t, path: patroni, args: []string{config}, owner: h.owner, log: filepath.Join(m.dir, "patroni.log")}
		m.patroni.start()
		h.members = append(h.members, m)
	}
	h.steady(3)
	h.exec(h.leader(), "CREATE ROLE carillon LOGIN PASSWORD '"+carillonPassword+"'", "CREATE DATABASE carillon OWNER carillon",
		"GRANT pg_read_all_stats TO carillon", "CREATE TABLE probe (at BIGINT)")
	return h
}

// own creates a folder of the databases' owner.
func (h *machines) own(dir string) {
	h.t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		h.t.Fatal(err)
	}
	h.give(dir)
}

func (h *machines) write(name, text string) {
	h.t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
	h.give(name)
}

func (h *machines) give(name string) {
	h.t.Helper()
	if h.owner == nil {
		return
	}
	if err := os.Chown(name, int(h.owner.Uid), int(h.owner.Gid)); err != nil {
		h.t.Fatal(err)
	}
}

// end kills everything, PostgreSQL included.
func (h *machines) end() {
	for _, m := range h.members {
		if h.t.Failed() {
			m.patroni.tail()
		}
		m.patroni.kill()
		m.signal(syscall.SIGKILL)
	}
	h.etcd.kill()
	if h.haproxy != nil {
		if h.t.Failed() {
			h.haproxy.tail()
		}
		h.haproxy.kill()
	}
}

// processes returns the ids of a machine's PostgreSQL processes; none if it doesn't run.
func (m *member) processes() []int {
	b, err := os.ReadFile(filepath.Join(m.dir, "data", "postmaster.pid"))
	if err != nil {
		return nil
	}
	line, _, _ := strings.Cut(string(b), "\n")
	server, err := strconv.Atoi(line)
	if err != nil {
		return nil
	}
	if at, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", server)); err != nil || at != filepath.Join(m.dir, "data") {
		return nil // the file of an earlier run
	}
	all := []int{server}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well-formed
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(rest)
		if len(fields) > 1 && fields[1] == strconv.Itoa(server) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name))) // digits, by the pattern
			all = append(all, pid)
		}
	}
	return all
}

// signal sends a signal to all processes of a machine's PostgreSQL.
func (m *member) signal(s syscall.Signal) {
	for _, pid := range m.processes() {
		_ = syscall.Kill(pid, s)
	}
}

// freeze stops everything on a machine, as a hypervisor that pauses it.
func (m *member) freeze() {
	m.patroni.signal(syscall.SIGSTOP)
	m.signal(syscall.SIGSTOP)
}

func (m *member) thaw() {
	m.signal(syscall.SIGCONT)
	m.patroni.signal(syscall.SIGCONT)
}

// lose ends everything on a machine, as a reset or a loss of power.
func (m *member) lose() {
	m.patroni.kill()
	m.signal(syscall.SIGKILL)
}

// is reports whether a machine's Patroni confirms a role: primary, sync, replica.
func (h *machines) is(m *member, role string) bool {
	resp, err := h.web.Get("http://" + m.rest + "/" + role) //nolint:noctx // the client has a timeout
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode == http.StatusOK
}

// leader returns the machine with the primary; nil if there is none.
func (h *machines) leader() *member { return h.leaderOf(h.members) }

func (h *machines) leaderOf(members []*member) *member {
	for _, m := range members {
		if h.is(m, "primary") {
			return m
		}
	}
	return nil
}

// get returns a page of a machine's Patroni.
func (h *machines) get(m *member, path string) string {
	h.t.Helper()
	resp, err := h.web.Get("http://" + m.rest + path) //nolint:noctx // the client has a timeout
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return string(text)
}

// steady waits until there is a primary, a synchronous standby, and n machines in all.
func (h *machines) steady(n int) {
	h.t.Helper()
	if !await(h.t.Context(), hung, func() bool {
		pause(h.t.Context(), 100*time.Millisecond)
		counts := map[string]int{}
		for _, role := range []string{"primary", "sync", "replica"} {
			for _, m := range h.members {
				if h.is(m, role) {
					counts[role]++
				}
			}
		}
		return counts["primary"] == 1 && counts["sync"] > 0 && counts["replica"] == n-1 && h.streams() == n-1
	}) {
		h.t.Fatalf("not all %d machines of the database work", n)
	}
}

// streams returns the number of standbys that follow the primary.
func (h *machines) streams() (n int) {
	m := h.leader()
	if m == nil {
		return 0
	}
	ctx, cancel := context.WithTimeout(h.t.Context(), 2*time.Second)
	defer cancel()
	c, err := pgx.Connect(ctx, m.url("postgres", superuserPassword, "postgres"))
	if err != nil {
		return 0
	}
	defer func() { _ = c.Close(ctx) }()
	if c.QueryRow(ctx, "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'").Scan(&n) != nil {
		return 0
	}
	return n
}

func (m *member) url(user, password, database string) string {
	return "postgres://" + user + ":" + password + "@" + m.postgres + "/" + database + "?sslmode=disable&connect_timeout=2"
}

// direct returns the URL with all machines.
func (h *machines) direct() string {
	hosts := make([]string, 0, len(h.members))
	for _, m := range h.members {
		hosts = append(hosts, m.postgres)
	}
	return "postgres://carillon:" + carillonPassword + "@" + strings.Join(hosts, ",") +
		"/carillon?sslmode=disable&target_session_attrs=read-write"
}

// exec runs statements as the superuser.
func (h *machines) exec(m *member, statements ...string) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), hung)
	defer cancel()
	c, err := pgx.Connect(ctx, m.url("postgres", superuserPassword, "postgres"))
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = c.Close(ctx) }()
	for _, s := range statements {
		if _, err := c.Exec(ctx, s); err != nil {
			h.t.Fatal(err)
		}
	}
}

// proxy starts HAProxy in front of the database and of these nodes.
func (h *machines) proxy(nodes ...*node) {
	h.t.Helper()
	h.database, h.public = freeAddress(h.t), freeAddress(h.t)
	folder, err := filepath.Abs(filepath.Join("..", "..", "deploy", "haproxy", "errors"))
	if err != nil {
		h.t.Fatal(err)
	}
	replace := []string{
		"log /dev/log local0 info", "log stdout format raw local0 info", "maxconn 20000", "maxconn 2000",
		"    user haproxy\n    group haproxy\n", "",
		"/run/haproxy/admin.sock", filepath.Join(h.dir, "admin.sock"), "/etc/haproxy/errors", folder, "    bind :80\n", "",
		"bind :443 ssl crt /etc/haproxy/certs/carillon.pem alpn h2,http/1.1", "bind " + h.public,
		"    http-request redirect scheme https code 308 unless { ssl_fc }\n", "", "bind 127.0.0.1:5432", "bind " + h.database,
	}
	for i, n := range nodes {
		replace = append(replace, fmt.Sprintf("server node%d 10.0.0.2%d:8080", i+1, i+1), fmt.Sprintf("server node%d %s", i+1, n.addr))
	}
	for i, m := range h.members {
		_, port, _ := net.SplitHostPort(m.rest)
		replace = append(replace, fmt.Sprintf("server db%d 10.0.0.1%d:5432", i+1, i+1),
			fmt.Sprintf("server db%d %s port %s", i+1, m.postgres, port))
	}
	name := filepath.Join(h.dir, "haproxy.cfg")
	h.write(name, shipped(h.t, "haproxy/haproxy.cfg", replace...))
	h.haproxy = &daemon{
		t: h.t, path: program(h.t, "haproxy", "haproxy"), args: []string{"-db", "-f", name}, log: filepath.Join(h.dir, "haproxy.log"),
	}
	h.haproxy.start()
	// Until its first checks, HAProxy considers every server good, and leads to all of them in turn.
	row := 0
	if !await(h.t.Context(), hung, func() bool {
		pause(h.t.Context(), 100*time.Millisecond)
		ctx, cancel := context.WithTimeout(h.t.Context(), 5*time.Second)
		defer cancel()
		c, err := pgx.Connect(ctx, h.proxied())
		if err != nil {
			row = 0
			return false
		}
		defer func() { _ = c.Close(ctx) }()
		standby := true
		if row++; c.QueryRow(ctx, "SELECT pg_is_in_recovery()").Scan(&standby) != nil || standby {
			row = 0
		}
		return row == 10
	}) {
		h.t.Fatal("HAProxy does not lead to the primary")
	}
}

// proxied returns the URL of the primary through HAProxy.
func (h *machines) proxied() string {
	return "postgres://carillon:" + carillonPassword + "@" + h.database + "/carillon?sslmode=disable"
}

// switchover asks Patroni for another primary.
func (h *machines) switchover(from *member) {
	h.t.Helper()
	body := fmt.Sprintf(`{"leader":%q}`, from.name)
	r, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, "http://"+from.rest+"/switchover", strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	r.SetBasicAuth("patroni", restPassword)
	resp, err := (&http.Client{Timeout: hung}).Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK {
		h.t.Fatalf("switchover: %d %s", resp.StatusCode, text)
	}
}

// reinstate writes a machine's name into Patroni's leader key, as a primary does that wakes up after it had read that it leads.
func (h *machines) reinstate(m *member) {
	h.t.Helper()
	code := base64.StdEncoding.EncodeToString
	body := fmt.Sprintf(`{"key":%q,"value":%q}`, code([]byte("/service/carillon/leader")), code([]byte(m.name)))
	resp, err := h.web.Post("http://"+h.keys+"/v3/kv/put", "application/json", strings.NewReader(body)) //nolint:noctx // with a timeout
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK {
		h.t.Fatalf("etcd: %d %s", resp.StatusCode, text)
	}
}

// others returns the machines except one.
func (h *machines) others(m *member) []*member {
	return slices.DeleteFunc(slices.Clone(h.members), func(o *member) bool { return o == m })
}

// managed returns a site on these machines. Its own view of the database follows the primary.
func managed(t *testing.T, name, engine string) *site {
	t.Helper()
	h := newMachines(t)
	s := newSiteOn(t, name, engine, t.TempDir(), h.direct())
	s.machines = h
	return s
}

// behind starts two nodes behind HAProxy, which reach the database through it.
func behind(s *site) {
	s.t.Helper()
	s.between((*machines).proxied)
}

// listed starts two nodes behind HAProxy whose database URL lists all machines.
func listed(s *site) {
	s.t.Helper()
	s.between((*machines).direct)
}

func (s *site) between(url func(h *machines) string) {
	s.t.Helper()
	// The address of a node has to be known to HAProxy, and HAProxy's to the node.
	s.a, s.b = s.node("later"), s.node("later")
	s.machines.proxy(s.a, s.b)
	for _, n := range []*node{s.a, s.b} {
		for i, arg := range n.args {
			if arg == "--database-url=later" {
				n.args[i] = "--database-url=" + url(s.machines)
			}
		}
	}
	s.front.set(&node{t: s.t, addr: s.machines.public})
	s.a.start()
	s.b.start()
	s.owners(2)
	if !await(s.t.Context(), hung, func() bool {
		resp, err := s.machines.web.Get("http://" + s.machines.public + "/readyz") //nolint:noctx // the client has a timeout
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	}) {
		s.t.Fatal("HAProxy finds no ready node")
	}
}

// readiness returns the response of a node's /readyz.
func (n *node) readiness() (status int, body string) {
	resp, err := (&http.Client{Timeout: 5 * time.Second}).Get("http://" + n.addr + "/readyz") //nolint:noctx // the client has a timeout
	if err != nil {
		return 0, ""
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text)
}

// loggedFrom returns a node's log from an offset on.
func (n *node) loggedFrom(from int) []byte {
	b, _ := os.ReadFile(n.log)
	return bytes.Clone(b[min(from, len(b)):])
}
